//! ChaCha20 (RFC 8439, section 2.3) in rows: a vector holds one row of the state of four blocks.
//!
//! Instructions of vectors have a latency of two cycles on Zen 5: one group of four blocks waits for itself most of the
//! time, so up to eight groups, whose chains run side by side, cost little more.

use super::rounds::rounds;
use crate::backend::Matrix;
use crate::overlap::{InOut, Regions};
use core::arch::x86_64::*;

/// The state of four blocks: a row of each in every vector.
pub(super) type Rows = [__m512i; 4];

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes are read, the length of the array; any alignment will do.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(bytes: &mut [u8; 64], x: __m512i) {
    // SAFETY: 64 bytes are written, the length of the array; any alignment will do.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), x) }
}

/// A row of the state, four times.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_row(words: &[u32; 4]) -> __m512i {
    // SAFETY: 16 bytes are read, the length of the array; any alignment will do.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
}

/// The four blocks from the matrix's counter on, before the rounds.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn rows(matrix: &Matrix) -> Rows {
    let (rows, _) = matrix.words().as_chunks();
    let count = _mm512_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0);
    [load_row(&rows[0]), load_row(&rows[1]), load_row(&rows[2]), _mm512_add_epi32(load_row(&rows[3]), count)]
}

/// `N` groups of rows from that group's counter + `first` on.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn groups<const N: usize>(rows: &Rows, first: u32) -> [Rows; N] {
    let mut start = [*rows; N];
    for (i, group) in start.iter_mut().enumerate() {
        let block = _mm_cvtsi32_si128(first.wrapping_add(4 * i as u32) as i32);
        group[3] = _mm512_add_epi32(group[3], _mm512_broadcast_i32x4(block));
    }
    start
}

/// `4 * N` blocks of keystream from the counter of `rows` + `first` on.
#[inline]
#[target_feature(enable = "avx512f")]
fn keystream<const N: usize>(rows: &Rows, first: u32) -> [[__m512i; 4]; N] {
    let start = groups::<N>(rows, first);
    let mut x = start;
    rounds(&mut x, 10);
    for (group, start) in x.iter_mut().zip(&start) {
        *group = blocks_of(group, start);
    }
    x
}

/// The keystream of the four blocks in a group of rows.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn blocks_of(x: &Rows, start: &Rows) -> [__m512i; 4] {
    let mut sum = *x;
    for (row, start) in sum.iter_mut().zip(start) {
        *row = _mm512_add_epi32(*row, *start);
    }
    let [a, b, c, d] = sum;
    let (ab, cd) = (_mm512_shuffle_i32x4::<0b01_00_01_00>(a, b), _mm512_shuffle_i32x4::<0b01_00_01_00>(c, d));
    let (ef, gh) = (_mm512_shuffle_i32x4::<0b11_10_11_10>(a, b), _mm512_shuffle_i32x4::<0b11_10_11_10>(c, d));
    [
        _mm512_shuffle_i32x4::<0b10_00_10_00>(ab, cd),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(ab, cd),
        _mm512_shuffle_i32x4::<0b10_00_10_00>(ef, gh),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(ef, gh),
    ]
}

/// Hands the `count` blocks from the matrix's counter on, and maybe some more, to `serve(block, keystream)`.
#[inline]
#[target_feature(enable = "avx512f")]
fn each_block(matrix: &Matrix, count: usize, mut serve: impl FnMut(usize, __m512i)) {
    let rows = rows(matrix);
    let mut at = 0;
    macro_rules! pass {
        ($groups:literal) => {{
            let keystream = keystream::<$groups>(&rows, at as u32);
            for (i, &block) in keystream.as_flattened().iter().enumerate() {
                serve(at + i, block);
            }
            at += 4 * $groups;
        }};
    }
    while at < count {
        match count - at {
            0..=4 => pass!(1),
            5..=8 => pass!(2),
            9..=16 => pass!(4),
            17..=24 => pass!(6),
            _ => pass!(8),
        }
    }
}

#[target_feature(enable = "avx512f")]
pub(super) fn blocks(matrix: &Matrix, out: &mut [[u8; 64]]) {
    each_block(matrix, out.len(), |block, keystream| {
        if let Some(out) = out.get_mut(block) {
            store(out, keystream);
        }
    });
}

#[target_feature(enable = "avx512f")]
pub(super) fn xor(matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
    let count = io.len();
    match io.regions() {
        Regions::InPlace(data) => each_block(matrix, count, |block, keystream| {
            if let Some(data) = data.get_mut(block) {
                store(data, _mm512_xor_si512(load(data), keystream));
            }
        }),
        Regions::Separate(src, dst) => each_block(matrix, count, |block, keystream| {
            if let (Some(src), Some(dst)) = (src.get(block), dst.get_mut(block)) {
                store(dst, _mm512_xor_si512(load(src), keystream));
            }
        }),
    }
}
