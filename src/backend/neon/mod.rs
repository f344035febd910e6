//! AArch64 with NEON, which every such target with floating point has: ChaCha20 four blocks at a time,
//! Poly1305 in general registers and, for long messages, in vectors. Little-endian only: see `table.rs`.
#![allow(unsafe_code)]

mod chacha20;
mod poly1305;

use super::{Kernel, Matrix};
use crate::overlap::InOut;

/// The target has NEON, or this would not be compiled in: `needs` in `table.rs`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neon(());

const _: () = assert!(cfg!(all(target_feature = "neon", target_endian = "little")));

impl Kernel for Neon {
    const WIDTH: usize = chacha20::LANES;

    type Stack = [u8; 4096];

    type Poly = poly1305::Poly;

    fn detect() -> Option<Self> {
        Some(Neon(()))
    }

    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        // SAFETY: `self` exists, so the CPU has NEON.
        unsafe { chacha20::xor(matrix, io) }
    }

    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        // SAFETY: as above.
        unsafe { chacha20::blocks(matrix, out) }
    }

    fn poly1305_new(self, key: &[u8; 32], _blocks: usize) -> Self::Poly {
        poly1305::Poly::new(key)
    }

    fn poly1305_update(self, poly: &mut Self::Poly, blocks: &[[u8; 16]]) {
        poly.update(blocks);
    }

    fn poly1305_finish(self, poly: &mut Self::Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
        poly.finish(partial)
    }
}
