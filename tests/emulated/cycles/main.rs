//! The AEAD behind a C interface, in a static executable without an operating system: tests/emulated/mips.py calls its
//! functions in the pipeline model and counts what a packet costs through the public API.
#![no_std]
#![no_main]

use core::mem::MaybeUninit;
use wireseal::{ChaCha20Poly1305, Tag};

#[unsafe(no_mangle)]
extern "C" fn key_new(cipher: &mut MaybeUninit<ChaCha20Poly1305>, key: &[u8; 32]) -> usize {
    cipher.write(ChaCha20Poly1305::new(key));
    size_of::<ChaCha20Poly1305>()
}

/// In place: `len` bytes at `data`.
///
/// # Safety
/// That many bytes are the caller's to change.
#[unsafe(no_mangle)]
unsafe extern "C" fn seal(cipher: &ChaCha20Poly1305, nonce: &[u8; 12], data: *mut u8, len: usize, tag: &mut [u8; 16]) {
    // SAFETY: the caller's duty.
    let data = unsafe { core::slice::from_raw_parts_mut(data, len) };
    match cipher.seal_in_place(nonce, &[], data) {
        Ok(sealed) => *tag = sealed.into(),
        Err(_) => *tag = [0; 16],
    }
}

/// The reverse; whether the tag was right.
///
/// # Safety
/// As for `seal`.
#[unsafe(no_mangle)]
unsafe extern "C" fn open(cipher: &ChaCha20Poly1305, nonce: &[u8; 12], data: *mut u8, len: usize, tag: &[u8; 16]) -> bool {
    // SAFETY: the caller's duty.
    let data = unsafe { core::slice::from_raw_parts_mut(data, len) };
    cipher.open_in_place(nonce, &[], data, &Tag::from_bytes(*tag)).is_ok()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
