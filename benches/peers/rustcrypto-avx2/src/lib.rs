//! RustCrypto's `chacha20poly1305` behind a C interface, so that the same source can be compiled with
//! other flags than the rest of the process.

use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};
use std::slice::from_raw_parts;

#[unsafe(no_mangle)]
pub extern "C" fn rustcrypto_key(key: &[u8; 32]) -> Box<ChaCha20Poly1305> {
    Box::new(ChaCha20Poly1305::new(&(*key).into()))
}

#[unsafe(no_mangle)]
pub extern "C" fn rustcrypto_rekey(cipher: &mut ChaCha20Poly1305, key: &[u8; 32]) {
    *cipher = ChaCha20Poly1305::new(&(*key).into());
}

#[unsafe(no_mangle)]
pub extern "C" fn rustcrypto_free(_: Box<ChaCha20Poly1305>) {}

/// Seals `len` bytes from `src` to `dst`, which may be the same, and writes the tag behind them.
///
/// # Safety
/// `aad` is readable for `aad_len` bytes, `src` for `len`, `dst` writable for `len` + 16; `src` and `dst`
/// are the same or don't overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rustcrypto_seal(
    cipher: &ChaCha20Poly1305,
    nonce: &[u8; 12],
    aad: *const u8,
    aad_len: usize,
    src: *const u8,
    dst: *mut u8,
    len: usize,
) {
    // SAFETY: promised by the caller.
    let (aad, data, tag) =
        unsafe { (from_raw_parts(aad, aad_len), InOutBuf::from_raw(src, dst, len), &mut *dst.add(len).cast::<[u8; 16]>()) };
    *tag = cipher.encrypt_inout_detached(&(*nonce).into(), aad, data).unwrap().into();
}

/// The reverse, with the tag behind `src`.
///
/// # Safety
/// `aad` is readable for `aad_len` bytes, `src` for `len` + 16, `dst` writable for `len`; `src` and `dst`
/// are the same or don't overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rustcrypto_open(
    cipher: &ChaCha20Poly1305,
    nonce: &[u8; 12],
    aad: *const u8,
    aad_len: usize,
    src: *const u8,
    dst: *mut u8,
    len: usize,
) -> bool {
    // SAFETY: promised by the caller.
    let (aad, data, tag) =
        unsafe { (from_raw_parts(aad, aad_len), InOutBuf::from_raw(src, dst, len), *src.add(len).cast::<[u8; 16]>()) };
    cipher.decrypt_inout_detached(&(*nonce).into(), aad, data, &tag.into()).is_ok()
}
