//! ChaCha20 (RFC 8439, section 2.3) in two shapes. *Lanes*: a vector holds one state word of eight blocks;
//! for full passes. *Rows*: a vector holds one row of the state of two blocks; for one to three such
//! groups, whose chains of dependent operations run side by side.

use crate::backend::Matrix;
use crate::overlap::{InOut, Regions};
use core::arch::x86_64::*;

/// Words 0 to 7 of a block and words 8 to 15.
pub(super) type Block = [__m256i; 2];

/// The state of eight blocks: `[word][lane]`.
pub(super) type Lanes = [__m256i; 16];

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are read, the length of the array; any alignment will do.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; 32], x: __m256i) {
    // SAFETY: 32 bytes are written, the length of the array; any alignment will do.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), x) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_row(words: &[u32; 4]) -> __m256i {
    // SAFETY: 16 bytes are read, the length of the array; any alignment will do.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_16(x: __m256i) -> __m256i {
    let bytes = _mm_set_epi64x(0x0d0c_0f0e_0908_0b0a, 0x0504_0706_0100_0302);
    _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_12(x: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi32::<12>(x), _mm256_srli_epi32::<20>(x))
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_8(x: __m256i) -> __m256i {
    let bytes = _mm_set_epi64x(0x0e0d_0c0f_0a09_080b, 0x0605_0407_0201_0003);
    _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_7(x: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi32::<7>(x), _mm256_srli_epi32::<25>(x))
}

/// Quarter rounds on independent sets of four words of `x`, a step of each at a time. A macro, since what the
/// compiler would not inline costs more than all else.
macro_rules! quarter_rounds {
    ($x:expr, $([$a:literal, $b:literal, $c:literal, $d:literal]),*) => {
        $($x[$a] = _mm256_add_epi32($x[$a], $x[$b]);)*
        $($x[$d] = rotate_16(_mm256_xor_si256($x[$d], $x[$a]));)*
        $($x[$c] = _mm256_add_epi32($x[$c], $x[$d]);)*
        $($x[$b] = rotate_12(_mm256_xor_si256($x[$b], $x[$c]));)*
        $($x[$a] = _mm256_add_epi32($x[$a], $x[$b]);)*
        $($x[$d] = rotate_8(_mm256_xor_si256($x[$d], $x[$a]));)*
        $($x[$c] = _mm256_add_epi32($x[$c], $x[$d]);)*
        $($x[$b] = rotate_7(_mm256_xor_si256($x[$b], $x[$c]));)*
    };
}

/// The start state of eight blocks, from the matrix's counter + `first` on.
#[inline]
#[target_feature(enable = "avx2")]
fn start(matrix: &Matrix, first: u32) -> Lanes {
    let mut start = [_mm256_setzero_si256(); 16];
    for (lanes, &word) in start.iter_mut().zip(matrix.words()) {
        *lanes = _mm256_set1_epi32(word as i32);
    }
    // Lanes past the last block may wrap; they are never served.
    let blocks = _mm256_add_epi32(_mm256_set1_epi32(first as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    start[12] = _mm256_add_epi32(start[12], blocks);
    start
}

/// The block function on eight lanes, each of which may have a key, nonce and counter of its own.
#[inline]
#[target_feature(enable = "avx2")]
fn rounds(start: &Lanes) -> Lanes {
    let mut x = *start;
    for _ in 0..10 {
        // Two at a time leave room for the words that the next two need.
        quarter_rounds!(x, [0, 4, 8, 12], [1, 5, 9, 13]);
        quarter_rounds!(x, [2, 6, 10, 14], [3, 7, 11, 15]);
        quarter_rounds!(x, [0, 5, 10, 15], [1, 6, 11, 12]);
        quarter_rounds!(x, [2, 7, 8, 13], [3, 4, 9, 14]);
    }
    for (word, start) in x.iter_mut().zip(start) {
        *word = _mm256_add_epi32(*word, *start);
    }
    x
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

/// Eight blocks of keystream from the matrix's counter + `first` on.
#[inline]
#[target_feature(enable = "avx2")]
fn eight_blocks(matrix: &Matrix, first: u32) -> [Block; 8] {
    let x = rounds(&start(matrix, first));
    let [a, b, c, d, e, f, g, h, ..] = x;
    let lo = transpose([a, b, c, d, e, f, g, h]);
    let [.., a, b, c, d, e, f, g, h] = x;
    let hi = transpose([a, b, c, d, e, f, g, h]);
    let mut blocks = [[lo[0]; 2]; 8];
    for i in 0..8 {
        blocks[i] = [lo[i], hi[i]];
    }
    blocks
}

/// `2 * N` blocks of keystream from the matrix's counter + `first` on.
#[inline]
#[target_feature(enable = "avx2")]
fn few_blocks<const N: usize>(matrix: &Matrix, first: u32) -> [[Block; 2]; N] {
    let (rows, _) = matrix.words().as_chunks();
    let mut start = [[load_row(&rows[0]), load_row(&rows[1]), load_row(&rows[2]), load_row(&rows[3])]; N];
    for (i, group) in start.iter_mut().enumerate() {
        let block = first.wrapping_add(2 * i as u32);
        group[3] = _mm256_add_epi32(group[3], _mm256_setr_epi32(block as i32, 0, 0, 0, 1 + block as i32, 0, 0, 0));
    }
    let mut x = start;
    for _ in 0..10 {
        for group in &mut x {
            quarter_rounds!(group, [0, 1, 2, 3]);
        }
        // To the diagonals: row b stays, since it is what the next quarter rounds wait for.
        for [a, _, c, d] in &mut x {
            *a = _mm256_shuffle_epi32::<0b10_01_00_11>(*a);
            *c = _mm256_shuffle_epi32::<0b00_11_10_01>(*c);
            *d = _mm256_shuffle_epi32::<0b01_00_11_10>(*d);
        }
        for group in &mut x {
            quarter_rounds!(group, [0, 1, 2, 3]);
        }
        for [a, _, c, d] in &mut x {
            *a = _mm256_shuffle_epi32::<0b00_11_10_01>(*a);
            *c = _mm256_shuffle_epi32::<0b10_01_00_11>(*c);
            *d = _mm256_shuffle_epi32::<0b01_00_11_10>(*d);
        }
    }
    let mut blocks = [[[start[0][0]; 2]; 2]; N];
    for ((pair, x), start) in blocks.iter_mut().zip(&x).zip(&start) {
        let [mut a, mut b, mut c, mut d] = *x;
        for (row, start) in [&mut a, &mut b, &mut c, &mut d].into_iter().zip(start) {
            *row = _mm256_add_epi32(*row, *start);
        }
        pair[0] = [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x20>(c, d)];
        pair[1] = [_mm256_permute2x128_si256::<0x31>(a, b), _mm256_permute2x128_si256::<0x31>(c, d)];
    }
    blocks
}

/// Hands the `count` blocks from the matrix's counter on to `serve(index, block)`.
#[inline]
#[target_feature(enable = "avx2")]
fn each_block(matrix: &Matrix, count: usize, mut serve: impl FnMut(usize, Block)) {
    let mut at = 0;
    // Seven blocks cost no more in lanes than in four groups of rows.
    while count - at > 6 {
        let blocks = eight_blocks(matrix, at as u32);
        for block in blocks.into_iter().take(count - at) {
            serve(at, block);
            at += 1;
        }
    }
    let left = count - at;
    let mut few = |blocks: &[[Block; 2]]| {
        for (i, &block) in blocks.as_flattened().iter().take(left).enumerate() {
            serve(at + i, block);
        }
    };
    match left {
        0 => {}
        1 | 2 => few(&few_blocks::<1>(matrix, at as u32)),
        3 | 4 => few(&few_blocks::<2>(matrix, at as u32)),
        _ => few(&few_blocks::<3>(matrix, at as u32)),
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn blocks(matrix: &Matrix, out: &mut [[u8; 64]]) {
    each_block(matrix, out.len(), |i, keystream| {
        let (halves, _) = out[i].as_chunks_mut();
        store(&mut halves[0], keystream[0]);
        store(&mut halves[1], keystream[1]);
    });
}

#[target_feature(enable = "avx2")]
pub(super) fn xor(matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
    let count = io.len();
    match io.regions() {
        Regions::InPlace(data) => each_block(matrix, count, |i, keystream| {
            for (half, key) in data[i].as_chunks_mut().0.iter_mut().zip(keystream) {
                store(half, _mm256_xor_si256(load(half), key));
            }
        }),
        Regions::Separate(src, dst) => each_block(matrix, count, |i, keystream| {
            let src = src[i].as_chunks().0;
            for ((out, half), key) in dst[i].as_chunks_mut().0.iter_mut().zip(src).zip(keystream) {
                store(out, _mm256_xor_si256(load(half), key));
            }
        }),
    }
}
