//! Safe Rust for every target, and the oracle of the other backends. ChaCha20 goes block by block,
//! Poly1305 uses 64-bit limbs on 64-bit targets, else 32-bit ones.
#![forbid(unsafe_code)]

mod chacha20;
#[cfg(any(not(target_pointer_width = "64"), test))]
pub(super) mod limbs32;
#[cfg(any(target_pointer_width = "64", test))]
pub(super) mod limbs64;

use super::{Kernel, MAX_WIDTH, Matrix};
use crate::overlap::InOut;

/// No requirement, so no secret in its making.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

impl Kernel for Portable {
    const WIDTH: usize = 1;
    // The generic code around it keeps keystream for the widest backend there is.
    type Stack = [u8; 2048 + 64 * MAX_WIDTH];

    #[cfg(target_pointer_width = "64")]
    type Poly = limbs64::Poly;
    #[cfg(not(target_pointer_width = "64"))]
    type Poly = limbs32::Poly;

    fn detect() -> Option<Self> {
        Some(Portable)
    }

    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        chacha20::xor(matrix, io);
    }

    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        chacha20::blocks(matrix, out);
    }

    fn poly1305_new(self, key: &[u8; 32], _blocks: usize) -> Self::Poly {
        Self::Poly::new(key)
    }

    fn poly1305_update(self, poly: &mut Self::Poly, blocks: &[[u8; 16]]) {
        poly.update(blocks);
    }

    fn poly1305_finish(self, poly: &mut Self::Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
        poly.finish(partial)
    }
}
