//! RustCrypto compiled with `+avx2`: the library that the build script made, loaded at run time.

use super::Library;
use crate::cases::Direction;
use std::ffi::c_void;
use std::ptr::NonNull;

type Run<T> = unsafe extern "C" fn(NonNull<c_void>, &[u8; 12], *const u8, usize, *const u8, *mut u8, usize) -> T;

pub struct RustCryptoAvx2 {
    key: unsafe extern "C" fn(&[u8; 32]) -> NonNull<c_void>,
    rekey: unsafe extern "C" fn(NonNull<c_void>, &[u8; 32]),
    free: unsafe extern "C" fn(NonNull<c_void>),
    seal: Run<()>,
    open: Run<bool>,
}

pub struct Key {
    cipher: NonNull<c_void>,
    free: unsafe extern "C" fn(NonNull<c_void>),
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: made by `key` of the same library, not used again.
        unsafe { (self.free)(self.cipher) }
    }
}

pub fn load() -> Result<RustCryptoAvx2, String> {
    let path = option_env!("PEERS_RUSTCRYPTO_AVX2").ok_or("not compiled in")?;
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err("this CPU lacks avx2".into());
    }
    // SAFETY: our own library, whose functions have these types; it stays loaded.
    unsafe {
        let library = Box::leak(Box::new(libloading::Library::new(path).map_err(|error| error.to_string())?));
        let missing = |error: libloading::Error| error.to_string();
        Ok(RustCryptoAvx2 {
            key: *library.get(b"rustcrypto_key").map_err(missing)?,
            rekey: *library.get(b"rustcrypto_rekey").map_err(missing)?,
            free: *library.get(b"rustcrypto_free").map_err(missing)?,
            seal: *library.get(b"rustcrypto_seal").map_err(missing)?,
            open: *library.get(b"rustcrypto_open").map_err(missing)?,
        })
    }
}

impl Library for RustCryptoAvx2 {
    type Key = Key;

    fn key(&self, key: &[u8; 32], _: Direction) -> Key {
        // SAFETY: the function's type is right.
        Key { cipher: unsafe { (self.key)(key) }, free: self.free }
    }

    fn rekey(&self, state: &mut Key, key: &[u8; 32], _: Direction) {
        // SAFETY: a cipher that nobody else uses.
        unsafe { (self.rekey)(state.cipher, key) }
    }

    fn seal_in_place(&self, key: &mut Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
        let (data, len) = (packet.as_mut_ptr(), packet.len() - 16);
        // SAFETY: as long as it says, with 16 bytes behind.
        unsafe { (self.seal)(key.cipher, nonce, aad.as_ptr(), aad.len(), data, data, len) }
    }

    fn open_in_place(&self, key: &mut Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
        let (data, len) = (packet.as_mut_ptr(), packet.len() - 16);
        // SAFETY: as long as it says, with 16 bytes behind.
        unsafe { (self.open)(key.cipher, nonce, aad.as_ptr(), aad.len(), data, data, len) }
    }

    fn seal_apart(&self, key: &mut Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        assert_eq!(packet.len(), plaintext.len() + 16);
        let (src, dst, len) = (plaintext.as_ptr(), packet.as_mut_ptr(), plaintext.len());
        // SAFETY: `packet` has 16 bytes more.
        unsafe { (self.seal)(key.cipher, nonce, aad.as_ptr(), aad.len(), src, dst, len) }
    }

    fn open_apart(&self, key: &mut Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        let len = packet.len() - 16;
        let out = &mut out[..len];
        // SAFETY: `packet` has 16 bytes more.
        unsafe { (self.open)(key.cipher, nonce, aad.as_ptr(), aad.len(), packet.as_ptr(), out.as_mut_ptr(), len) }
    }
}
