//! ChaCha20 (RFC 8439, section 2.3) over lanes of blocks with consecutive counters.

use crate::backend::Matrix;
use crate::overlap::{InOut, Regions};

/// Blocks at once: as many as fill the vectors that every CPU of the target has.
pub(super) const LANES: usize =
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "powerpc64")) { 4 } else { 1 };

/// One state word of every lane.
type Lanes<const N: usize> = [u32; N];

#[inline(always)]
fn quarter_round<const N: usize>(x: &mut [Lanes<N>; 16], [a, b, c, d]: [usize; 4]) {
    let mut step = |a: usize, b: usize, d: usize, rotate: u32| {
        for i in 0..N {
            x[a][i] = x[a][i].wrapping_add(x[b][i]);
        }
        for i in 0..N {
            x[d][i] = (x[d][i] ^ x[a][i]).rotate_left(rotate);
        }
    };
    step(a, b, d, 16);
    step(c, d, b, 12);
    step(a, b, d, 8);
    step(c, d, b, 7);
}

/// The `N` blocks from the matrix's counter on, as words: `[word][lane]`.
#[inline(always)]
fn rounds<const N: usize>(matrix: &Matrix, block: u32) -> [Lanes<N>; 16] {
    let mut start = matrix.words().map(|word| [word; N]);
    for (i, counter) in start[12].iter_mut().enumerate() {
        // Lanes past the last block may wrap; they are never served.
        *counter = counter.wrapping_add(block).wrapping_add(i as u32);
    }
    let mut x = start;
    for _ in 0..10 {
        quarter_round(&mut x, [0, 4, 8, 12]);
        quarter_round(&mut x, [1, 5, 9, 13]);
        quarter_round(&mut x, [2, 6, 10, 14]);
        quarter_round(&mut x, [3, 7, 11, 15]);
        quarter_round(&mut x, [0, 5, 10, 15]);
        quarter_round(&mut x, [1, 6, 11, 12]);
        quarter_round(&mut x, [2, 7, 8, 13]);
        quarter_round(&mut x, [3, 4, 9, 14]);
    }
    for (word, start) in x.iter_mut().zip(&start) {
        for i in 0..N {
            word[i] = word[i].wrapping_add(start[i]);
        }
    }
    x
}

/// Hands `N` blocks at a time, then one at a time, to `serve(first block, words)`.
#[inline(always)]
fn pass<const N: usize>(matrix: &Matrix, from: usize, to: usize, mut serve: impl FnMut(usize, &[u32; 16])) {
    for block in (from..to).step_by(N) {
        let x = rounds::<N>(matrix, block as u32);
        for i in 0..N.min(to - block) {
            serve(block + i, &core::array::from_fn(|word| x[word][i]));
        }
    }
}

#[inline(always)]
fn each_block(matrix: &Matrix, blocks: usize, mut serve: impl FnMut(usize, &[u32; 16])) {
    // A lone block costs less by itself than as one of four lanes.
    let lanes = if blocks % LANES == 1 { blocks - 1 } else { blocks };
    pass::<LANES>(matrix, 0, lanes, &mut serve);
    pass::<1>(matrix, lanes, blocks, &mut serve);
}

pub(super) fn blocks(matrix: &Matrix, out: &mut [[u8; 64]]) {
    each_block(matrix, out.len(), |i, words| {
        for (bytes, word) in out[i].as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    });
}

pub(super) fn xor(matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
    let blocks = io.len();
    match io.regions() {
        Regions::InPlace(data) => each_block(matrix, blocks, |i, words| {
            for (bytes, word) in data[i].as_chunks_mut().0.iter_mut().zip(words) {
                *bytes = (u32::from_le_bytes(*bytes) ^ word).to_le_bytes();
            }
        }),
        Regions::Separate(src, dst) => each_block(matrix, blocks, |i, words| {
            let src = src[i].as_chunks().0;
            for ((out, bytes), word) in dst[i].as_chunks_mut().0.iter_mut().zip(src).zip(words) {
                *out = (u32::from_le_bytes(*bytes) ^ word).to_le_bytes();
            }
        }),
    }
}
