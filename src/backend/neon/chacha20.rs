//! ChaCha20 (RFC 8439, section 2.3) in two layouts. Four blocks: a vector holds one state word of each,
//! so a round needs no shuffles, and a transposition follows. Up to three: a vector holds a row of one block.

use crate::backend::Matrix;
use crate::overlap::{InOut, Regions};
use crate::wipe::wipe;
use core::arch::aarch64::*;

/// Blocks in a full pass.
pub(super) const LANES: usize = 4;

/// The rows of a block: four words each.
type Rows = [uint32x4_t; 4];

/// Rotates every word by 16, 12, 8, 7 to the left, in one or two instructions: halves swapped, bytes permuted,
/// or shift left and insert what was shifted out.
macro_rules! rotate_left {
    ($x:expr, 16) => {
        vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32($x)))
    };
    ($x:expr, 8) => {
        vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32($x), left_8()))
    };
    ($x:expr, $by:literal) => {{
        let x = $x;
        vsriq_n_u32::<{ 32 - $by }>(vshlq_n_u32::<$by>(x), x)
    }};
}

#[inline]
#[target_feature(enable = "neon")]
fn left_8() -> uint8x16_t {
    let bytes: [u8; 16] = [3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14];
    // SAFETY: reads 16 bytes, the array's length.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// On `$x[$a]`, …: four words of as many blocks, or four columns of one.
macro_rules! quarter_round {
    ($x:expr, $a:expr, $b:expr, $c:expr, $d:expr) => {
        $x[$a] = vaddq_u32($x[$a], $x[$b]);
        quarter_round_after_add!($x, $a, $b, $c, $d);
    };
}

/// The quarter round but for its first addition.
macro_rules! quarter_round_after_add {
    ($x:expr, $a:expr, $b:expr, $c:expr, $d:expr) => {
        $x[$d] = rotate_left!(veorq_u32($x[$d], $x[$a]), 16);
        $x[$c] = vaddq_u32($x[$c], $x[$d]);
        $x[$b] = rotate_left!(veorq_u32($x[$b], $x[$c]), 12);
        $x[$a] = vaddq_u32($x[$a], $x[$b]);
        $x[$d] = rotate_left!(veorq_u32($x[$d], $x[$a]), 8);
        $x[$c] = vaddq_u32($x[$c], $x[$d]);
        $x[$b] = rotate_left!(veorq_u32($x[$b], $x[$c]), 7);
    };
}

macro_rules! column_round {
    ($x:expr) => {
        quarter_round!($x, 0, 4, 8, 12);
        quarter_round!($x, 1, 5, 9, 13);
        quarter_round!($x, 2, 6, 10, 14);
        quarter_round!($x, 3, 7, 11, 15);
    };
}

macro_rules! diagonal_round {
    ($x:expr) => {
        quarter_round!($x, 0, 5, 10, 15);
        quarter_round!($x, 1, 6, 11, 12);
        quarter_round!($x, 2, 7, 8, 13);
        quarter_round!($x, 3, 4, 9, 14);
    };
}

/// Passes of four blocks under one key and nonce.
pub(super) struct Four {
    /// The matrix of the next pass's first block, by rows.
    start: Rows,
    /// The state after the first column round, which is the same in every block but for column 0; there,
    /// the state after the first addition.
    after_column_round: [[u32; 4]; 4],
}

impl Four {
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn new(start: Rows) -> Self {
        let mut x = start;
        x[0] = vaddq_u32(x[0], x[1]);
        let first_sum = x[0];
        quarter_round_after_add!(x, 0, 1, 2, 3);
        x[0] = vcopyq_laneq_u32::<0, 0>(x[0], first_sum);
        for i in 1..4 {
            x[i] = vcopyq_laneq_u32::<0, 0>(x[i], start[i]);
        }
        let mut after_column_round = [[0; 4]; 4];
        for (row, x) in after_column_round.iter_mut().zip(x) {
            // SAFETY: writes four words, the array's length.
            unsafe { vst1q_u32(row.as_mut_ptr(), x) }
        }
        Four { start, after_column_round }
    }

    /// The next four blocks, by rows.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn next(&mut self) -> [Rows; 4] {
        let mut x = [self.start[0]; 16];
        for (i, row) in self.after_column_round.iter().enumerate() {
            // SAFETY: reads four words, the array's length.
            let words = unsafe { vld4q_dup_u32(row.as_ptr()) };
            [x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]] = [words.0, words.1, words.2, words.3];
        }
        x[12] = vaddq_u32(vdupq_laneq_u32::<0>(self.start[3]), vector([0, 1, 2, 3]));
        quarter_round_after_add!(x, 0, 4, 8, 12);
        for _ in 0..9 {
            diagonal_round!(x);
            column_round!(x);
        }
        diagonal_round!(x);
        let mut blocks = transpose(&x);
        for block in &mut blocks {
            for (row, start) in block.iter_mut().zip(self.start) {
                *row = vaddq_u32(*row, start);
            }
            self.start[3] = vaddq_u32(self.start[3], vector([1, 0, 0, 0]));
        }
        blocks
    }
}

impl Drop for Four {
    fn drop(&mut self) {
        wipe(&mut self.after_column_round);
    }
}

/// `N` blocks from the matrix's counter on, by rows, which cost least for a few.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn few<const N: usize>(start: Rows) -> [Rows; N] {
    let mut start = [start; N];
    for i in 1..N {
        start[i][3] = vaddq_u32(start[i - 1][3], vector([1, 0, 0, 0]));
    }
    let mut x = start;
    for _ in 0..10 {
        for x in &mut x {
            quarter_round!(x, 0, 1, 2, 3);
            // Diagonals become columns.
            x[1] = vextq_u32::<1>(x[1], x[1]);
            x[2] = vextq_u32::<2>(x[2], x[2]);
            x[3] = vextq_u32::<3>(x[3], x[3]);
        }
        for x in &mut x {
            quarter_round!(x, 0, 1, 2, 3);
            x[1] = vextq_u32::<3>(x[1], x[1]);
            x[2] = vextq_u32::<2>(x[2], x[2]);
            x[3] = vextq_u32::<1>(x[3], x[3]);
        }
    }
    for (x, start) in x.iter_mut().zip(start) {
        for (row, start) in x.iter_mut().zip(start) {
            *row = vaddq_u32(*row, start);
        }
    }
    x
}

/// `x[word]` of four blocks to the rows of each.
#[inline]
#[target_feature(enable = "neon")]
fn transpose(x: &[uint32x4_t; 16]) -> [Rows; 4] {
    let mut blocks = [[x[0]; 4]; 4];
    for i in 0..4 {
        let [a, b, c, d] = [x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]];
        let ab = [vtrn1q_u32(a, b), vtrn2q_u32(a, b)];
        let cd = [vtrn1q_u32(c, d), vtrn2q_u32(c, d)];
        for j in 0..2 {
            let (ab, cd) = (vreinterpretq_u64_u32(ab[j]), vreinterpretq_u64_u32(cd[j]));
            blocks[j][i] = vreinterpretq_u32_u64(vtrn1q_u64(ab, cd));
            blocks[j + 2][i] = vreinterpretq_u32_u64(vtrn2q_u64(ab, cd));
        }
    }
    blocks
}

#[inline]
#[target_feature(enable = "neon")]
fn vector(words: [u32; 4]) -> uint32x4_t {
    // SAFETY: reads four words, the array's length.
    unsafe { vld1q_u32(words.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn rows(matrix: &Matrix) -> Rows {
    // SAFETY: reads sixteen words, the array's length.
    let rows = unsafe { vld1q_u32_x4(matrix.words().as_ptr()) };
    [rows.0, rows.1, rows.2, rows.3]
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 64]) -> Rows {
    // SAFETY: reads 64 bytes, the array's length.
    let rows = unsafe { vld1q_u8_x4(bytes.as_ptr()) };
    [rows.0, rows.1, rows.2, rows.3].map(|row| vreinterpretq_u32_u8(row))
}

#[inline]
#[target_feature(enable = "neon")]
fn store(bytes: &mut [u8; 64], rows: Rows) {
    let [a, b, c, d] = rows.map(|row| vreinterpretq_u8_u32(row));
    // SAFETY: writes 64 bytes, the array's length.
    unsafe { vst1q_u8_x4(bytes.as_mut_ptr(), uint8x16x4_t(a, b, c, d)) }
}

#[inline]
#[target_feature(enable = "neon")]
fn xor_block(a: Rows, b: Rows) -> Rows {
    [veorq_u32(a[0], b[0]), veorq_u32(a[1], b[1]), veorq_u32(a[2], b[2]), veorq_u32(a[3], b[3])]
}

/// `io`, which has `N` blocks, ^= keystream.
#[inline]
#[target_feature(enable = "neon")]
fn xor_blocks<const N: usize>(io: InOut<'_, [u8; 64]>, keystream: [Rows; N]) {
    match io.regions() {
        Regions::InPlace(data) => {
            for (bytes, rows) in data.iter_mut().zip(keystream) {
                store(bytes, xor_block(load(bytes), rows));
            }
        }
        Regions::Separate(src, dst) => {
            for ((src, dst), rows) in src.iter().zip(dst).zip(keystream) {
                store(dst, xor_block(load(src), rows));
            }
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_blocks<const N: usize>(out: &mut [[u8; 64]], keystream: [Rows; N]) {
    for (bytes, rows) in out.iter_mut().zip(keystream) {
        store(bytes, rows);
    }
}

#[target_feature(enable = "neon")]
pub(super) fn xor(matrix: &Matrix, mut io: InOut<'_, [u8; 64]>) {
    let mut start = rows(matrix);
    if io.len() >= LANES {
        let mut four = Four::new(start);
        while io.len() >= LANES {
            let (now, rest) = io.split_at(LANES);
            xor_blocks(now, four.next());
            io = rest;
        }
        start = four.start;
    }
    match io.len() {
        1 => xor_blocks(io, few::<1>(start)),
        2 => xor_blocks(io, few::<2>(start)),
        3 => xor_blocks(io, few::<3>(start)),
        _ => {}
    }
}

#[target_feature(enable = "neon")]
pub(super) fn blocks(matrix: &Matrix, out: &mut [[u8; 64]]) {
    let mut start = rows(matrix);
    let (fours, rest) = out.as_chunks_mut::<LANES>();
    if !fours.is_empty() {
        let mut four = Four::new(start);
        for out in fours {
            store_blocks(out, four.next());
        }
        start = four.start;
    }
    match rest.len() {
        1 => store_blocks(rest, few::<1>(start)),
        2 => store_blocks(rest, few::<2>(start)),
        3 => store_blocks(rest, few::<3>(start)),
        _ => {}
    }
}
