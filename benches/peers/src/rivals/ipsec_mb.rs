//! Intel's multi-buffer library: one job per packet, without its parameter checks. Its job computes the tag when
//! opening too and leaves the comparison to the caller, who then has the plaintext already.

use super::Library;
use crate::cases::Direction;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::hint::black_box;
use std::ptr::NonNull;

unsafe extern "C" {
    fn peers_ipsec_mb_new() -> Option<NonNull<c_void>>;
    fn peers_ipsec_mb_version() -> *const c_char;
    fn peers_ipsec_mb_run(
        manager: NonNull<c_void>,
        seal: c_int,
        key: &[u8; 32],
        nonce: &[u8; 12],
        aad: *const u8,
        aad_len: usize,
        src: *const u8,
        dst: *mut u8,
        len: usize,
        tag: &mut [u8; 16],
    ) -> c_int;
}

pub struct IpsecMb(NonNull<c_void>);

pub fn new() -> Option<IpsecMb> {
    // SAFETY: no arguments.
    unsafe { peers_ipsec_mb_new() }.map(IpsecMb)
}

impl IpsecMb {
    pub fn version(&self) -> String {
        // SAFETY: returns a static string.
        unsafe { CStr::from_ptr(peers_ipsec_mb_version()) }.to_string_lossy().into_owned()
    }

    unsafe fn open(
        &self,
        key: &[u8; 32],
        nonce: &[u8; 12],
        aad: &[u8],
        src: *const u8,
        dst: *mut u8,
        expected: &[u8; 16],
        len: usize,
    ) -> bool {
        let mut tag = [0; 16];
        // SAFETY: the caller vouches for `len` bytes at both; the manager is not shared.
        let done =
            unsafe { peers_ipsec_mb_run(self.0, 0, key, nonce, aad.as_ptr(), aad.len(), src, dst, len, &mut tag) };
        let different = u128::from_ne_bytes(tag) ^ u128::from_ne_bytes(*expected);
        done == 1 && black_box(different) == 0
    }
}

impl Library for IpsecMb {
    type Key = [u8; 32];

    fn key(&self, key: &[u8; 32], _: Direction) -> Self::Key {
        *key
    }

    fn seal_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        let (at, len) = (data.as_mut_ptr(), data.len());
        // SAFETY: in place.
        let done = unsafe { peers_ipsec_mb_run(self.0, 1, key, nonce, aad.as_ptr(), aad.len(), at, at, len, tag) };
        assert_eq!(done, 1, "ipsec-mb refused to seal");
    }

    fn open_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        let (at, len) = (data.as_mut_ptr(), data.len());
        // SAFETY: in place.
        unsafe { self.open(key, nonce, aad, at, at, tag, len) }
    }

    fn seal_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        let (src, dst, len) = (plaintext.as_ptr(), data[..plaintext.len()].as_mut_ptr(), plaintext.len());
        // SAFETY: of the same length.
        let done = unsafe { peers_ipsec_mb_run(self.0, 1, key, nonce, aad.as_ptr(), aad.len(), src, dst, len, tag) };
        assert_eq!(done, 1, "ipsec-mb refused to seal");
    }

    fn open_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        let (data, tag) = packet.split_last_chunk::<16>().unwrap();
        let out = &mut out[..data.len()];
        // SAFETY: of the same length.
        unsafe { self.open(key, nonce, aad, data.as_ptr(), out.as_mut_ptr(), tag, data.len()) }
    }
}
