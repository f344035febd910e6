//! ChaCha20 (RFC 8439, section 2.3) in two shapes. *Lanes*: a vector holds one state word of eight blocks;
//! for full passes, their rounds in `rounds.rs`. *Rows*: a vector holds one row of the state of two blocks;
//! for one to three such groups, whose chains of dependent operations run side by side.

use super::rounds::{ROTATIONS, Spill, rounds};
use crate::backend::Matrix;
use crate::overlap::{InOut, Regions};
use crate::wipe::{Wipe, wipe};
use core::arch::x86_64::*;

/// Words 0 to 7 of a block and words 8 to 15.
pub(super) type Block = [__m256i; 2];

/// The state of two blocks: a row in each half of a vector.
pub(super) type Rows = [__m256i; 4];

/// The state of eight blocks: `[word][lane]`.
pub(super) type Lanes = [__m256i; 16];

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are read, the length of the array; any alignment will do.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(bytes: &mut [u8; 32], x: __m256i) {
    // SAFETY: 32 bytes are written, the length of the array; any alignment will do.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), x) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_words(words: &[u32; 8]) -> __m256i {
    // SAFETY: 32 bytes are read, the length of the array; any alignment will do.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_words(words: &mut [u32; 8], x: __m256i) {
    // SAFETY: 32 bytes are written, the length of the array; any alignment will do.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), x) }
}

/// A row of the state, twice.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_row(words: &[u32; 4]) -> __m256i {
    // SAFETY: 16 bytes are read, the length of the array; any alignment will do.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
}

/// The shuffles that rotate words by 16 and by 8. The compiler must not know what they are: it would make more
/// instructions of each than the one that is wanted.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rotations() -> [__m256i; 2] {
    let [mut by_16, mut by_8] = [load(&ROTATIONS.0[0]), load(&ROTATIONS.0[1])];
    // SAFETY: no instruction at all.
    unsafe {
        core::arch::asm!("/* {} {} */", inout(ymm_reg) by_16, inout(ymm_reg) by_8,
            options(pure, nomem, nostack, preserves_flags));
    }
    [by_16, by_8]
}

/// Quarter rounds on independent sets of four words of `x`, a step of each at a time. A macro, since a function
/// that the compiler would not inline costs more than all else.
macro_rules! quarter_rounds {
    ($rotations:ident, $x:expr, $([$a:literal, $b:literal, $c:literal, $d:literal]),*) => {
        $($x[$a] = _mm256_add_epi32($x[$a], $x[$b]);)*
        $($x[$d] = _mm256_shuffle_epi8(_mm256_xor_si256($x[$d], $x[$a]), $rotations[0]);)*
        $($x[$c] = _mm256_add_epi32($x[$c], $x[$d]);)*
        $($x[$b] = _mm256_xor_si256($x[$b], $x[$c]);)*
        $($x[$b] = _mm256_or_si256(_mm256_slli_epi32::<12>($x[$b]), _mm256_srli_epi32::<20>($x[$b]));)*
        $($x[$a] = _mm256_add_epi32($x[$a], $x[$b]);)*
        $($x[$d] = _mm256_shuffle_epi8(_mm256_xor_si256($x[$d], $x[$a]), $rotations[1]);)*
        $($x[$c] = _mm256_add_epi32($x[$c], $x[$d]);)*
        $($x[$b] = _mm256_xor_si256($x[$b], $x[$c]);)*
        $($x[$b] = _mm256_or_si256(_mm256_slli_epi32::<7>($x[$b]), _mm256_srli_epi32::<25>($x[$b]));)*
    };
}

/// A double round on each of some groups of rows.
macro_rules! double_round_rows {
    ($rotations:ident, $x:expr) => {
        for group in &mut $x {
            quarter_rounds!($rotations, group, [0, 1, 2, 3]);
        }
        // To the diagonals: row b stays, since it is what the next quarter rounds wait for.
        for [a, _, c, d] in &mut $x {
            *a = _mm256_shuffle_epi32::<0b10_01_00_11>(*a);
            *c = _mm256_shuffle_epi32::<0b00_11_10_01>(*c);
            *d = _mm256_shuffle_epi32::<0b01_00_11_10>(*d);
        }
        for group in &mut $x {
            quarter_rounds!($rotations, group, [0, 1, 2, 3]);
        }
        for [a, _, c, d] in &mut $x {
            *a = _mm256_shuffle_epi32::<0b00_11_10_01>(*a);
            *c = _mm256_shuffle_epi32::<0b10_01_00_11>(*c);
            *d = _mm256_shuffle_epi32::<0b01_00_11_10>(*d);
        }
    };
}

/// What the passes under one key and nonce share.
pub(super) struct Passes {
    /// The state before the rounds.
    pub(super) start: [u32; 16],
    /// The same after the first column round in columns 1 to 3, which have no counter in them.
    ahead: [u32; 16],
    pub(super) spill: Spill,
}

impl Passes {
    pub(super) fn new(start: &[u32; 16]) -> Self {
        let start = *start;
        let mut ahead = start;
        for column in 1..4 {
            quarter_round(&mut ahead, column);
        }
        Passes { start, ahead, spill: Spill::ZERO }
    }

    /// Block 0 of the message after its first column round.
    pub(super) fn first_block(&self) -> [u32; 16] {
        let mut block = self.ahead;
        quarter_round(&mut block, 0);
        block
    }

    /// The counters of eight lanes. Lanes past the last block may wrap; they are never served.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn counters(&self, first: u32) -> __m256i {
        let first = self.start[12].wrapping_add(first) as i32;
        _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
    }

    /// Eight blocks past their first column round, from the matrix's counter + `first` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn begin(&self, first: u32) -> Lanes {
        let mut x = [_mm256_setzero_si256(); 16];
        for (lanes, &word) in x.iter_mut().zip(&self.ahead) {
            *lanes = _mm256_set1_epi32(word as i32);
        }
        x[12] = self.counters(first);
        let rotations = rotations();
        quarter_rounds!(rotations, x, [0, 4, 8, 12]);
        x
    }

    /// The keystream, once the rounds are done, half a block at a time, to `serve(half, keystream)`: those of words 0
    /// to 7, which have even numbers, then the others.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn end(&self, first: u32, x: &Lanes, mut serve: impl FnMut(usize, __m256i)) {
        let mut sum = *x;
        for (word, (lanes, &start)) in sum.iter_mut().zip(&self.start).enumerate() {
            let start = if word == 12 { self.counters(first) } else { _mm256_set1_epi32(start as i32) };
            *lanes = _mm256_add_epi32(*lanes, start);
        }
        let [a, b, c, d, e, f, g, h, ..] = sum;
        for (block, half) in transpose([a, b, c, d, e, f, g, h]).into_iter().enumerate() {
            serve(2 * block, half);
        }
        let [.., a, b, c, d, e, f, g, h] = sum;
        for (block, half) in transpose([a, b, c, d, e, f, g, h]).into_iter().enumerate() {
            serve(2 * block + 1, half);
        }
    }
}

impl Drop for Passes {
    fn drop(&mut self) {
        wipe(&mut self.start);
        wipe(&mut self.ahead);
        wipe(&mut self.spill);
    }
}

/// One quarter round of the first column round.
#[inline(always)]
fn quarter_round(x: &mut [u32; 16], column: usize) {
    let [mut a, mut b, mut c, mut d] = [0, 4, 8, 12].map(|row| x[row + column]);
    a = a.wrapping_add(b);
    d = (d ^ a).rotate_left(16);
    c = c.wrapping_add(d);
    b = (b ^ c).rotate_left(12);
    a = a.wrapping_add(b);
    d = (d ^ a).rotate_left(8);
    c = c.wrapping_add(d);
    b = (b ^ c).rotate_left(7);
    (x[column], x[4 + column], x[8 + column], x[12 + column]) = (a, b, c, d);
}

/// Eight words of eight lanes to eight lanes of eight words.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(x: [__m256i; 8]) -> [__m256i; 8] {
    let mut y = x;
    for i in [0, 2, 4, 6] {
        y[i] = _mm256_unpacklo_epi32(x[i], x[i + 1]);
        y[i + 1] = _mm256_unpackhi_epi32(x[i], x[i + 1]);
    }
    // Lanes 0, 4; 1, 5; 2, 6; 3, 7 of words 0 to 3, then of words 4 to 7.
    let mut z = y;
    for i in [0, 4] {
        z[i] = _mm256_unpacklo_epi64(y[i], y[i + 2]);
        z[i + 1] = _mm256_unpackhi_epi64(y[i], y[i + 2]);
        z[i + 2] = _mm256_unpacklo_epi64(y[i + 1], y[i + 3]);
        z[i + 3] = _mm256_unpackhi_epi64(y[i + 1], y[i + 3]);
    }
    let mut out = z;
    for i in 0..4 {
        out[i] = _mm256_permute2x128_si256::<0x20>(z[i], z[i + 4]);
        out[i + 4] = _mm256_permute2x128_si256::<0x31>(z[i], z[i + 4]);
    }
    out
}

/// The state of both blocks of a group before the rounds, from the matrix's counter on.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rows(matrix: &Matrix) -> Rows {
    let (rows, _) = matrix.words().as_chunks();
    let mut start = [load_row(&rows[0]), load_row(&rows[1]), load_row(&rows[2]), load_row(&rows[3])];
    start[3] = _mm256_add_epi32(start[3], _mm256_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0));
    start
}

/// `N` groups of rows from that group's counter + `first` on.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn groups<const N: usize>(rows: &Rows, first: u32) -> [Rows; N] {
    let mut start = [*rows; N];
    for (i, group) in start.iter_mut().enumerate() {
        let block = _mm_cvtsi32_si128(first.wrapping_add(2 * i as u32) as i32);
        group[3] = _mm256_add_epi32(group[3], _mm256_broadcastsi128_si256(block));
    }
    start
}

/// The keystream of the two blocks in a group of rows.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn end_rows(start: &Rows, x: &Rows) -> [Block; 2] {
    let mut sum = *x;
    for (row, start) in sum.iter_mut().zip(start) {
        *row = _mm256_add_epi32(*row, *start);
    }
    let [a, b, c, d] = sum;
    [
        [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x20>(c, d)],
        [_mm256_permute2x128_si256::<0x31>(a, b), _mm256_permute2x128_si256::<0x31>(c, d)],
    ]
}

/// `2 * N` blocks of keystream from the counter of `rows` + `first` on.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn few_blocks<const N: usize>(rows: &Rows, first: u32) -> [[Block; 2]; N] {
    let rotations = rotations();
    let start = groups::<N>(rows, first);
    let mut x = start;
    for _ in 0..10 {
        double_round_rows!(rotations, x);
    }
    let mut blocks = [[[start[0][0]; 2]; 2]; N];
    for ((pair, x), start) in blocks.iter_mut().zip(&x).zip(&start) {
        *pair = end_rows(start, x);
    }
    blocks
}

/// Hands the `count` blocks from the matrix's counter on, and maybe some more, to `serve(half, keystream)`, half a block
/// at a time.
#[inline]
#[target_feature(enable = "avx2")]
fn each_half(matrix: &Matrix, count: usize, mut serve: impl FnMut(usize, __m256i)) {
    let mut at = 0;
    // Seven blocks cost no more in lanes than in four groups of rows.
    if count > 6 {
        let mut passes = Passes::new(matrix.words());
        while count.saturating_sub(at) > 6 {
            let mut x = passes.begin(at as u32);
            rounds(&mut x, &mut passes.spill);
            passes.end(at as u32, &x, |half, keystream| serve(2 * at + half, keystream));
            at += 8;
        }
    }
    let mut few = |blocks: &[[Block; 2]]| {
        for (half, &keystream) in blocks.as_flattened().as_flattened().iter().enumerate() {
            serve(2 * at + half, keystream);
        }
    };
    match count.saturating_sub(at) {
        0 => {}
        1 | 2 => few(&few_blocks::<1>(&rows(matrix), at as u32)),
        3 | 4 => few(&few_blocks::<2>(&rows(matrix), at as u32)),
        _ => few(&few_blocks::<3>(&rows(matrix), at as u32)),
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn blocks(matrix: &Matrix, out: &mut [[u8; 64]]) {
    let count = out.len();
    let (out, _) = out.as_flattened_mut().as_chunks_mut();
    each_half(matrix, count, |half, keystream| {
        if let Some(out) = out.get_mut(half) {
            store(out, keystream);
        }
    });
}

#[target_feature(enable = "avx2")]
pub(super) fn xor(matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
    let count = io.len();
    match io.regions() {
        Regions::InPlace(data) => {
            let (data, _) = data.as_flattened_mut().as_chunks_mut();
            each_half(matrix, count, |half, keystream| {
                if let Some(data) = data.get_mut(half) {
                    store(data, _mm256_xor_si256(load(data), keystream));
                }
            });
        }
        Regions::Separate(src, dst) => {
            let (src, _) = src.as_flattened().as_chunks();
            let (dst, _) = dst.as_flattened_mut().as_chunks_mut();
            each_half(matrix, count, |half, keystream| {
                if let (Some(src), Some(dst)) = (src.get(half), dst.get_mut(half)) {
                    store(dst, _mm256_xor_si256(load(src), keystream));
                }
            });
        }
    }
}
