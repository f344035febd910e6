//! x86-64 with AVX2 and BMI2, through `std::arch`: eight ChaCha20 blocks in a pass, or rows of two for
//! short input; Poly1305 in general registers, or four blocks at once where there are many.
//!
//! Each method of the seam is one call of a function that enables the features: only inside of those do
//! intrinsics become instructions.
#![allow(unsafe_code)]

mod aead;
mod chacha20;
mod poly1305;
mod rounds;

use super::{Kernel, Matrix, scrubbed};
use crate::backend::x86_64::message::Stream;
use crate::backend::x86_64::poly1305::Poly;
use crate::overlap::InOut;

cpufeatures::new!(features, "avx2", "bmi1", "bmi2");

/// Witness that the CPU has AVX2, BMI1 and BMI2: made by `detect` only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

/// The stack of the kernels; sealing and opening overwrite their own, as much as each length needs.
type Kernels = [u8; 4096];

/// The stack of the glue around them, and of all in an unoptimised build, where vectors go from function to function
/// through memory.
type Glue = [u8; if cfg!(debug_assertions) { 16384 } else { 512 }];

impl Kernel for Avx2 {
    const WIDTH: usize = 8;

    type Stack = Glue;

    type Poly = Poly;

    fn detect() -> Option<Self> {
        features::get().then_some(Avx2(()))
    }

    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        // SAFETY: `self` witnesses that the CPU has the features.
        scrubbed::<Kernels, _>(|| unsafe { chacha20::xor(matrix, io) })
    }

    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        // SAFETY: `self` witnesses that the CPU has the features.
        scrubbed::<Kernels, _>(|| unsafe { chacha20::blocks(matrix, out) })
    }

    fn poly1305_new(self, key: &[u8; 32], _blocks: usize) -> Self::Poly {
        Poly::new(key)
    }

    fn poly1305_update(self, poly: &mut Self::Poly, blocks: &[[u8; 16]]) {
        // SAFETY: `self` witnesses that the CPU has the features.
        scrubbed::<Kernels, _>(|| unsafe { poly1305::update(poly, blocks) })
    }

    fn poly1305_finish(self, poly: &mut Self::Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
        scrubbed::<Kernels, _>(|| poly.finish(partial))
    }

    fn seal_fused(self, key: &[u32; 8], nonce: &[u8; 12], aad: &[u8], io: &mut InOut<'_>) -> Option<[u8; 16]> {
        // SAFETY: `self` witnesses that the CPU has the features.
        Some(unsafe { aead::seal(Stream { key, nonce }, aad, io) })
    }

    fn open_fused(
        self,
        key: &[u32; 8],
        nonce: &[u8; 12],
        aad: &[u8],
        io: &mut InOut<'_>,
        tag: &[u8; 16],
    ) -> Option<bool> {
        // SAFETY: `self` witnesses that the CPU has the features.
        Some(unsafe { aead::open(Stream { key, nonce }, aad, io, tag) })
    }
}
