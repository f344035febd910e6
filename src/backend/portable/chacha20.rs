//! ChaCha20 (RFC 8439, section 2.3), one block at a time: no compiler makes vectors of several blocks
//! written as arrays (rustc 1.95 measured, 120 ns a block for four, 100 ns for one).

use crate::backend::Matrix;
use crate::overlap::{InOut, Regions};

#[inline(always)]
fn quarter_round(x: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(16);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(12);
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(8);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(7);
}

/// The block `number` after the matrix's counter, as words.
#[inline(always)]
fn block(matrix: &Matrix, number: usize) -> [u32; 16] {
    let mut start = *matrix.words();
    start[12] = start[12].wrapping_add(number as u32);
    let mut x = start;
    for _ in 0..10 {
        quarter_round(&mut x, 0, 4, 8, 12);
        quarter_round(&mut x, 1, 5, 9, 13);
        quarter_round(&mut x, 2, 6, 10, 14);
        quarter_round(&mut x, 3, 7, 11, 15);
        quarter_round(&mut x, 0, 5, 10, 15);
        quarter_round(&mut x, 1, 6, 11, 12);
        quarter_round(&mut x, 2, 7, 8, 13);
        quarter_round(&mut x, 3, 4, 9, 14);
    }
    core::array::from_fn(|i| x[i].wrapping_add(start[i]))
}

pub(super) fn blocks(matrix: &Matrix, out: &mut [[u8; 64]]) {
    for (number, out) in out.iter_mut().enumerate() {
        for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(block(matrix, number)) {
            *bytes = word.to_le_bytes();
        }
    }
}

pub(super) fn xor(matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
    match io.regions() {
        Regions::InPlace(data) => {
            for (number, data) in data.iter_mut().enumerate() {
                for (bytes, word) in data.as_chunks_mut().0.iter_mut().zip(block(matrix, number)) {
                    *bytes = (u32::from_le_bytes(*bytes) ^ word).to_le_bytes();
                }
            }
        }
        Regions::Separate(src, dst) => {
            for (number, (src, dst)) in src.iter().zip(dst).enumerate() {
                let words = src.as_chunks().0.iter().zip(block(matrix, number));
                for (out, (bytes, word)) in dst.as_chunks_mut().0.iter_mut().zip(words) {
                    *out = (u32::from_le_bytes(*bytes) ^ word).to_le_bytes();
                }
            }
        }
    }
}
