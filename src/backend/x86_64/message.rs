//! One message to seal or open: where its data is, its key and nonce, and the authenticator that ends with its lengths
//! (RFC 8439, section 2.8).

use super::poly1305::{Key, Limbs, absorb_all, absorb_number};
use crate::overlap::{InOut, Regions};
use core::arch::asm;
use core::arch::x86_64::*;
use core::hint::black_box;
use core::marker::PhantomData;

/// Where data comes from and where it goes: the same region or disjoint ones, of one length.
pub(in crate::backend) struct Data<'a> {
    pub(in crate::backend) src: *const u8,
    pub(in crate::backend) dst: *mut u8,
    pub(in crate::backend) len: usize,
    regions: PhantomData<InOut<'a>>,
}

impl<'a> Data<'a> {
    #[inline(always)]
    pub(in crate::backend) fn new(io: &'a mut InOut<'_>) -> Self {
        let len = io.len();
        let (src, dst) = match io.reborrow().regions() {
            Regions::InPlace(data) => {
                let dst = data.as_mut_ptr();
                (dst.cast_const(), dst)
            }
            Regions::Separate(src, dst) => (src.as_ptr(), dst.as_mut_ptr()),
        };
        Data { src, dst, len, regions: PhantomData }
    }

    #[inline(always)]
    pub(in crate::backend) fn input(&self) -> &[u8] {
        // SAFETY: `new` took the pointer and the length from a slice that is borrowed as long as `self`.
        unsafe { core::slice::from_raw_parts(self.src, self.len) }
    }

    #[inline(always)]
    pub(in crate::backend) fn output(&self) -> &[u8] {
        // SAFETY: as for the input.
        unsafe { core::slice::from_raw_parts(self.dst, self.len) }
    }
}

/// Up to 15 bytes, little-endian.
#[inline(never)]
pub(in crate::backend) fn load_partial(bytes: &[u8]) -> u128 {
    let shift = |len: usize| 8 * (bytes.len() - len) as u32;
    // From 4 and from 8 bytes on, two reads that may overlap.
    if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u128::from(u64::from_le_bytes(first)) | u128::from(u64::from_le_bytes(last)) << shift(8)
    } else if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u128::from(u32::from_le_bytes(first)) | u128::from(u32::from_le_bytes(last)) << shift(4)
    } else {
        bytes.iter().rev().fold(0, |x, &byte| x << 8 | u128::from(byte))
    }
}

/// Up to 15 bytes of `x`, little-endian.
#[inline(never)]
pub(in crate::backend) fn store_partial(bytes: &mut [u8], x: u128) {
    let len = bytes.len();
    if len >= 8 {
        if let Some(first) = bytes.first_chunk_mut() {
            *first = (x as u64).to_le_bytes();
        }
        if let Some(last) = bytes.last_chunk_mut() {
            *last = ((x >> (8 * (len - 8))) as u64).to_le_bytes();
        }
    } else if len >= 4 {
        if let Some(first) = bytes.first_chunk_mut() {
            *first = (x as u32).to_le_bytes();
        }
        if let Some(last) = bytes.last_chunk_mut() {
            *last = ((x >> (8 * (len - 4))) as u32).to_le_bytes();
        }
    } else {
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = (x >> (8 * i)) as u8;
        }
    }
}

/// The authenticator of one message.
pub(in crate::backend) struct Mac {
    pub(in crate::backend) key: Key,
    pub(in crate::backend) h: Limbs,
}

impl Mac {
    #[inline(always)]
    pub(in crate::backend) fn new(key: Key, aad: &[u8]) -> Self {
        let h = if aad.is_empty() { [0; 3] } else { absorb_aad(&key, aad) };
        Mac { key, h }
    }

    /// A few bytes, padded with zeroes.
    #[inline(always)]
    pub(in crate::backend) fn absorb_padded(&mut self, bytes: &[u8]) {
        let (blocks, tail) = bytes.as_chunks();
        self.h = absorb_all(self.h, &self.key.r, blocks);
        if !tail.is_empty() {
            self.h = absorb_number(self.h, &self.key.r, load_partial(tail));
        }
    }

    /// Ends with both lengths.
    #[inline(always)]
    pub(in crate::backend) fn tag(&mut self, aad: usize, text: usize) -> u128 {
        self.key.tag(absorb_number(self.h, &self.key.r, lengths(aad, text)))
    }

    #[inline(always)]
    pub(in crate::backend) fn verify(&mut self, aad: usize, text: usize, expected: &[u8; 16]) -> bool {
        verify(self.tag(aad, text), expected)
    }
}

/// The last block: the lengths of both in bytes.
#[inline(always)]
pub(in crate::backend) fn lengths(aad: usize, text: usize) -> u128 {
    u128::from(aad as u64) | u128::from(text as u64) << 64
}

/// Compares all bits of the tags at once.
#[inline(always)]
pub(in crate::backend) fn verify(tag: u128, expected: &[u8; 16]) -> bool {
    if tag == u128::from_le_bytes(*expected) { true } else { refused() }
}

#[inline(never)]
fn absorb_aad(key: &Key, aad: &[u8]) -> Limbs {
    let mut mac = Mac { key: *key, h: [0; 3] };
    mac.absorb_padded(aad);
    mac.h
}

/// Bytes that can be read as a whole at once: what was stored in halves can't.
#[inline]
#[target_feature(enable = "avx")]
pub(in crate::backend) fn tag_bytes(tag: u128) -> [u8; 16] {
    let mut vector = _mm_set_epi64x((tag >> 64) as i64, tag as i64);
    let mut bytes = [0; 16];
    // SAFETY: no instruction, but the compiler must take the vector for one; then 16 bytes are written, the length
    // of the array.
    unsafe {
        asm!("/* {} */", inout(xmm_reg) vector, options(pure, nomem, nostack, preserves_flags));
        _mm_storeu_si128(bytes.as_mut_ptr().cast(), vector);
    }
    bytes
}

/// The verdict on a forgery. In a function of its own, so that the one branch on the tags decides, and not a value
/// made from them.
#[cold]
#[inline(never)]
fn refused() -> bool {
    black_box(false)
}

/// The first 8 bytes of a nonce and the last 4, as they are likely to have been stored: other pieces of it could not be
/// read at once.
#[inline(always)]
pub(in crate::backend) fn nonce_parts(nonce: &[u8; 12]) -> (u64, u64) {
    let [.., a, b, c, d] = *nonce;
    let lo = nonce.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    (lo, u32::from_le_bytes([a, b, c, d]).into())
}

/// A key and a nonce.
#[derive(Clone, Copy)]
pub(in crate::backend) struct Stream<'a> {
    pub(in crate::backend) key: &'a [u32; 8],
    pub(in crate::backend) nonce: &'a [u8; 12],
}
