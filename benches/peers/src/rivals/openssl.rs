//! OpenSSL's EVP interface, twice: the one built from source with us, and the system's shared library.
//! A context lives as long as its key; a packet costs a new nonce. EVP writes plaintext before it has checked the tag.

use super::Library;
use crate::cases::Direction;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

type Cipher = *const c_void;
type Context = *mut c_void;
type Engine = *mut c_void;

const SET_TAG: c_int = 0x11;
const GET_TAG: c_int = 0x10;

macro_rules! interface {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions used, from either library.
        #[allow(non_snake_case)]
        pub struct OpenSsl {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        /// The one built from source.
        #[cfg(feature = "openssl")]
        pub fn vendored() -> OpenSsl {
            use openssl_sys as _; // links it
            unsafe extern "C" {
                $(fn $name($(_: $argument),*) $(-> $result)?;)*
            }
            OpenSsl { $($name,)* }
        }

        /// The one that the system's programs use.
        pub fn system() -> Result<OpenSsl, String> {
            let names = ["libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.3.dylib"];
            // SAFETY: OpenSSL's functions have had these types since 1.1.1; it stays loaded.
            unsafe {
                let library = names.iter().find_map(|name| libloading::Library::new(*name).ok());
                let library = Box::leak(Box::new(library.ok_or_else(|| format!("none of {}", names.join(", ")))?));
                Ok(OpenSsl {
                    $($name: *library.get(stringify!($name).as_bytes()).map_err(|error| error.to_string())?,)*
                })
            }
        }
    };
}

interface! {
    OpenSSL_version: fn(c_int) -> *const c_char;
    EVP_CIPHER_CTX_new: fn() -> Context;
    EVP_CIPHER_CTX_free: fn(Context);
    EVP_CIPHER_CTX_ctrl: fn(Context, c_int, c_int, *mut c_void) -> c_int;
    EVP_chacha20_poly1305: fn() -> Cipher;
    EVP_CipherInit_ex: fn(Context, Cipher, Engine, *const u8, *const u8, c_int) -> c_int;
    EVP_CipherUpdate: fn(Context, *mut u8, *mut c_int, *const u8, c_int) -> c_int;
    EVP_CipherFinal_ex: fn(Context, *mut u8, *mut c_int) -> c_int;
}

pub struct Key {
    context: Context,
    free: unsafe extern "C" fn(Context),
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: made by the same library, not used again.
        unsafe { (self.free)(self.context) }
    }
}

impl OpenSsl {
    pub fn version(&self) -> String {
        // SAFETY: returns a static string. "OpenSSL 3.0.19 27 Jan 2026"
        let text = unsafe { CStr::from_ptr((self.OpenSSL_version)(0)) }.to_string_lossy().into_owned();
        text.split(' ').nth(1).unwrap_or(&text).to_owned()
    }

    /// From `src` to `dst`, which may be the same, `len` bytes each; up to where the tag is due.
    unsafe fn run(&self, key: &Key, nonce: &[u8; 12], aad: &[u8], src: *const u8, dst: *mut u8, len: usize) -> bool {
        let (context, mut written) = (key.context, 0);
        // SAFETY: a context with cipher and key; the caller vouches for the pointers.
        unsafe {
            (self.EVP_CipherInit_ex)(context, null(), null_mut(), null(), nonce.as_ptr(), -1) == 1
                && (aad.is_empty()
                    || (self.EVP_CipherUpdate)(context, null_mut(), &mut written, aad.as_ptr(), aad.len() as c_int)
                        == 1)
                && (len == 0 || (self.EVP_CipherUpdate)(context, dst, &mut written, src, len as c_int) == 1)
        }
    }

    unsafe fn seal(&self, key: &Key, nonce: &[u8; 12], aad: &[u8], src: *const u8, packet: &mut [u8]) {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        let (mut written, mut none) = (0, [0; 16]);
        // SAFETY: the caller vouches for `src`; the others are slices.
        let done = unsafe {
            self.run(key, nonce, aad, src, data.as_mut_ptr(), data.len())
                && (self.EVP_CipherFinal_ex)(key.context, none.as_mut_ptr(), &mut written) == 1
                && (self.EVP_CIPHER_CTX_ctrl)(key.context, GET_TAG, 16, tag.as_mut_ptr().cast()) == 1
        };
        assert!(done, "OpenSSL refused to seal");
    }

    unsafe fn open(&self, key: &Key, nonce: &[u8; 12], aad: &[u8], src: *const u8, dst: *mut u8, len: usize) -> bool {
        let (mut written, mut none) = (0, [0; 16]);
        // SAFETY: the caller vouches for `len` + 16 bytes at `src` and `len` at `dst`.
        unsafe {
            let tag = src.add(len).cast_mut().cast();
            self.run(key, nonce, aad, src, dst, len)
                && (self.EVP_CIPHER_CTX_ctrl)(key.context, SET_TAG, 16, tag) == 1
                && (self.EVP_CipherFinal_ex)(key.context, none.as_mut_ptr(), &mut written) == 1
        }
    }
}

impl Library for OpenSsl {
    type Key = Key;

    fn key(&self, key: &[u8; 32], direction: Direction) -> Key {
        let seal = (direction == Direction::Seal) as c_int;
        // SAFETY: a fresh context, a static cipher, a key of the right length, no nonce yet.
        unsafe {
            let context = (self.EVP_CIPHER_CTX_new)();
            let cipher = (self.EVP_chacha20_poly1305)();
            assert_eq!((self.EVP_CipherInit_ex)(context, cipher, null_mut(), key.as_ptr(), null(), seal), 1);
            Key { context, free: self.EVP_CIPHER_CTX_free }
        }
    }

    fn rekey(&self, state: &mut Key, key: &[u8; 32], _: Direction) {
        // SAFETY: as above, with the cipher it has.
        assert_eq!(unsafe { (self.EVP_CipherInit_ex)(state.context, null(), null_mut(), key.as_ptr(), null(), -1) }, 1);
    }

    fn seal_in_place(&self, key: &mut Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
        // SAFETY: in place.
        unsafe { self.seal(key, nonce, aad, packet.as_ptr(), packet) }
    }

    fn open_in_place(&self, key: &mut Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
        let (data, len) = (packet.as_mut_ptr(), packet.len() - 16);
        // SAFETY: in place, with the tag behind.
        unsafe { self.open(key, nonce, aad, data, data, len) }
    }

    fn seal_apart(&self, key: &mut Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        assert_eq!(packet.len(), plaintext.len() + 16);
        // SAFETY: of the same length.
        unsafe { self.seal(key, nonce, aad, plaintext.as_ptr(), packet) }
    }

    fn open_apart(&self, key: &mut Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        let len = packet.len() - 16;
        let out = &mut out[..len];
        // SAFETY: of the same length, with the tag behind `packet`.
        unsafe { self.open(key, nonce, aad, packet.as_ptr(), out.as_mut_ptr(), len) }
    }
}
