//! Sealing and opening whole messages (RFC 8439, section 2.8): data in vectors from block 1 on, and block 0, the
//! one-time key, in general registers beside its first pass.
//!
//! *To 256 bytes*: one group of four blocks, Poly1305 in general registers. *To 1536*: one pass of as many groups as it
//! takes; powers of r are computed in its second half. *Longer*: the same, then passes of eight groups.
//! Opening keeps the keystream of its first pass until the tag is right, and decrypts what is behind it only then.

use super::chacha20::{Rows, blocks_of, groups, load_row};
use super::poly1305::{Powers, Steps, absorb_data, absorb_many, groups_before_last, tail};
use super::rounds::{Spill, rounds, rounds_ahead, rounds_beside, rounds_paced};
use crate::backend::CONSTANTS;
use crate::backend::x86_64::message::{Data, Mac, Stream, lengths, tag_bytes, verify};
use crate::backend::x86_64::poly1305::{Key, Limbs, absorb, absorb_number, add, multiply};
use crate::overlap::InOut;
use crate::wipe::Wipe;
use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// Blocks of keystream, four in each group.
type Groups<const N: usize> = [[__m512i; 4]; N];

/// Bytes sealed between two passes over them, so that Poly1305 finds a long message's ciphertext in the
/// first-level cache.
const CHUNK: usize = 16 * 1024;

impl Stream<'_> {
    /// Blocks 1 to 4 before the rounds. The last row is put together in a register: a vector can't be read at once
    /// from words just written.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn rows_512(self) -> Rows {
        let (key, _) = self.key.as_chunks();
        let last: __m128i;
        // SAFETY: reads the 12 bytes of the nonce.
        unsafe {
            asm!(
                "vmovd {last}, [{nonce}]",
                "vpinsrd {last}, {last}, [{nonce} + 4], 1",
                "vpinsrd {last}, {last}, [{nonce} + 8], 2",
                "vpslldq {last}, {last}, 4",
                last = out(xmm_reg) last, nonce = in(reg) self.nonce, options(pure, readonly, nostack, preserves_flags),
            );
        }
        let count = _mm512_setr_epi32(1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0);
        [
            load_row(&CONSTANTS),
            load_row(&key[0]),
            load_row(&key[1]),
            _mm512_add_epi32(_mm512_broadcast_i32x4(last), count),
        ]
    }

    /// The one-time key, from words 0 to 7 of block 0 after the rounds.
    #[inline(always)]
    fn one_time_key(self, words: &[u32; 8]) -> Key {
        let number = |x: &[u32; 4], start: &[u32; 4]| {
            let [a, b, c, d] = core::array::from_fn(|i| u128::from(x[i].wrapping_add(start[i])));
            a | b << 32 | c << 64 | d << 96
        };
        let (x, _) = words.as_chunks();
        let (key, _) = self.key.as_chunks();
        Key::new(number(&x[0], &CONSTANTS), number(&x[1], &key[0]))
    }
}

/// Data by vectors of 64 bytes.
impl Data<'_> {
    /// The input from byte `at` on: 64 bytes, or what there is and zeroes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    fn load_64(&self, at: usize) -> __m512i {
        // SAFETY: the mask has as many bits, at most, as there are bytes from `at` on; no others are read.
        unsafe { _mm512_maskz_loadu_epi8(self.mask(at), self.src.wrapping_add(at).cast()) }
    }

    #[inline]
    #[target_feature(enable = "bmi2")]
    fn mask(&self, at: usize) -> u64 {
        let left = self.len.saturating_sub(at);
        if left < 64 { _bzhi_u64(u64::MAX, left as u32) } else { u64::MAX }
    }

    /// Output = input ⊕ `keystream` from byte `at` on, as far as the data goes. If that is less than 64 bytes, gives the
    /// output, then zeroes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    fn xor_64(&mut self, at: usize, keystream: __m512i) -> Option<__m512i> {
        // SAFETY: of the 64 bytes from `at` on, those are read and written that the data has, as the mask says where it
        // has less.
        unsafe {
            let (src, dst) = (self.src.wrapping_add(at), self.dst.wrapping_add(at));
            if self.len.saturating_sub(at) >= 64 {
                _mm512_storeu_si512(dst.cast(), _mm512_xor_si512(_mm512_loadu_si512(src.cast()), keystream));
                None
            } else {
                let mask = self.mask(at);
                let x = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, src.cast()), keystream);
                _mm512_mask_storeu_epi8(dst.cast(), mask, x);
                Some(_mm512_maskz_mov_epi8(mask, x))
            }
        }
    }

    /// The same with keystream for many blocks, or for all that is left.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    fn xor_groups<const N: usize>(&mut self, at: usize, keystream: &Groups<N>) -> __m512i {
        for (i, &block) in keystream.as_flattened().iter().enumerate() {
            if let Some(tail) = self.xor_64(at + 64 * i, block) {
                return tail;
            }
        }
        _mm512_setzero_si512()
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn end<const N: usize>(x: &[Rows; N], start: &[Rows; N]) -> Groups<N> {
    let mut keystream = *x;
    for (group, start) in keystream.iter_mut().zip(start) {
        *group = blocks_of(group, start);
    }
    keystream
}

/// The ciphertext of a short message, padded with zeroes, and room for the block with both lengths behind it.
#[repr(align(64))]
struct Short(MaybeUninit<[[u8; 64]; 5]>);

impl Short {
    /// Sets 64 bytes; `i` is below 4.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn set(&mut self, i: usize, x: __m512i) {
        // SAFETY: writes the 64 bytes of a vector at a multiple of 64, which `self` is aligned to, within it: `i` is cut.
        unsafe { self.0.as_mut_ptr().cast::<__m512i>().add(i.min(3)).write(x) }
    }
}

/// Absorbs blocks in two chains, the second of which has 2ᵏ.
#[inline]
#[target_feature(enable = "bmi2")]
fn absorb_two(h: Limbs, r: &[u64; 3], blocks: &[[u8; 16]]) -> Limbs {
    let mut h = h;
    if blocks.len() < 5 {
        for block in blocks {
            h = absorb(h, r, block);
        }
        return h;
    }
    let doublings = (2 * blocks.len() / 3).ilog2();
    let (a, b) = blocks.split_at(blocks.len().saturating_sub(1 << doublings));
    let mut power = [r[0], r[1], 0];
    for _ in 0..doublings {
        power = multiply(power, power);
    }
    let mut g = [0; 3];
    for (a, b) in a.iter().zip(b) {
        h = absorb(h, r, a);
        g = absorb(g, r, b);
    }
    for a in a.iter().skip(b.len()) {
        h = absorb(h, r, a);
    }
    for b in b.iter().skip(a.len()) {
        g = absorb(g, r, b);
    }
    add(multiply(h, power), g)
}

/// The tag over `len` bytes of ciphertext, of which all 64 begun have been set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn short_tag(key: Key, aad: &[u8], ciphertext: &mut Short, len: usize) -> u128 {
    let count = len.div_ceil(16).min(16);
    // SAFETY: of the 20 blocks there is room for, the first `count` ≤ 16 have been set, and now the next one is.
    let blocks = unsafe {
        let blocks = ciphertext.0.as_mut_ptr().cast::<[u8; 16]>();
        blocks.add(count).write(lengths(aad.len(), len).to_le_bytes());
        core::slice::from_raw_parts(blocks, count + 1)
    };
    let mac = Mac::new(key, aad);
    mac.key.tag(absorb_two(mac.h, &mac.key.r, blocks))
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn seal_empty(stream: Stream<'_>, aad: &[u8]) -> u128 {
    let mut spill = Spill::new();
    let words = rounds_beside(&mut [], stream, &mut spill);
    Mac::new(stream.one_time_key(&words), aad).tag(aad.len(), 0)
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn seal_short(stream: Stream<'_>, aad: &[u8], data: Data<'_>, paced: bool) -> u128 {
    let start = [stream.rows_512()];
    let mut spill = Spill::new();
    let mut x = start;
    let words =
        if paced { rounds_paced(&mut x, stream, &mut spill) } else { rounds_beside(&mut x, stream, &mut spill) };
    let key = stream.one_time_key(&words);
    let mut ciphertext = Short(MaybeUninit::uninit());
    for (i, &block) in end(&x, &start)[0].iter().enumerate() {
        if data.len <= 64 * i {
            break;
        }
        let x = _mm512_xor_si512(data.load_64(64 * i), block);
        let mask = data.mask(64 * i);
        ciphertext.set(i, _mm512_maskz_mov_epi8(mask, x));
        // SAFETY: of the 64 bytes from 64·i on, those are written that the data has, as the mask says.
        unsafe { _mm512_mask_storeu_epi8(data.dst.add(64 * i).cast(), mask, x) };
    }
    short_tag(key, aad, &mut ciphertext, data.len)
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn open_short(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>, tag: &[u8; 16], paced: bool) -> bool {
    let start = [stream.rows_512()];
    let mut spill = Spill::new();
    let mut x = start;
    let words =
        if paced { rounds_paced(&mut x, stream, &mut spill) } else { rounds_beside(&mut x, stream, &mut spill) };
    let key = stream.one_time_key(&words);
    let mut ciphertext = Short(MaybeUninit::uninit());
    for i in 0..data.len.div_ceil(64) {
        ciphertext.set(i, data.load_64(64 * i));
    }
    let authentic = verify(short_tag(key, aad, &mut ciphertext, data.len), tag);
    if authentic {
        data.xor_groups(0, &end(&x, &start));
    }
    authentic
}

/// A pass over blocks 1 to 4·N, and the one-time key and the powers of r meanwhile: those for `before` groups and a
/// last one. A macro, since a function would give the keystream back through memory.
macro_rules! first_pass {
    ($N:ident, $stream:ident, $before:expr, $powers:ident) => {{
        let start = groups::<$N>(&$stream.rows_512(), 0);
        let mut spill = Spill::new();
        let mut x = start;
        let words = rounds_ahead(&mut x, $stream, &mut spill);
        let key = $stream.one_time_key(&words);
        let mut steps = Steps::start(&key);
        rounds(&mut x, 1);
        steps.reach_four();
        rounds(&mut x, 1);
        steps.reach_eight();
        rounds(&mut x, 1);
        steps.reach_nine(&mut $powers);
        rounds(&mut x, 1);
        if $before > 0 {
            steps.reach_seventeen(&mut $powers);
        }
        rounds(&mut x, 1);
        if $before > 3 {
            steps.reach_far(&mut $powers);
        }
        (key, end(&x, &start))
    }};
}

/// The tag, from what `absorb_data` gives.
#[inline(always)]
fn finish(key: &Key, sum: Limbs, aad: usize, text: usize) -> u128 {
    key.tag(add(sum, absorb_number([0; 3], &key.r, lengths(aad, text))))
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn seal_pass<const N: usize>(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>) -> u128 {
    let mut powers = Powers::ZERO;
    let (key, keystream) = first_pass!(N, stream, groups_before_last(data.len), powers);
    let tail = data.xor_groups(0, &keystream);
    let mac = Mac::new(key, aad);
    let sum = absorb_data(mac.h, &powers, data.output(), tail);
    finish(&mac.key, sum, aad.len(), data.len)
}

/// Keystream that waits for a verdict.
#[repr(align(64))]
struct Kept<const N: usize>(Groups<N>);

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn open_pass<const N: usize>(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>, expected: &[u8; 16]) -> bool {
    let mut powers = Powers::ZERO;
    let (key, keystream) = first_pass!(N, stream, groups_before_last(data.len), powers);
    let kept = Kept(keystream);
    zeroize::optimization_barrier(&kept);
    let mac = Mac::new(key, aad);
    let sum = absorb_data(mac.h, &powers, data.input(), tail(data.input()));
    let authentic = verify(finish(&mac.key, sum, aad.len(), data.len), expected);
    if authentic {
        data.xor_groups(0, &kept.0);
    }
    authentic
}

/// Output = input ⊕ keystream from `at`, a multiple of 64, to `until`; gives what `xor_64` gives of the last block.
/// `until` is where the data ends or a multiple of 512 from `at` on that passes of eight groups and one of two make up: only
/// the end of the data stops a pass.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn xor_from(rows: &Rows, data: &mut Data<'_>, mut at: usize, until: usize) -> __m512i {
    let mut tail = _mm512_setzero_si512();
    macro_rules! pass {
        ($groups:literal) => {{
            let start = groups::<$groups>(rows, (at / 64) as u32);
            let mut x = start;
            rounds(&mut x, 10);
            tail = data.xor_groups(at, &end(&x, &start));
            at += 256 * $groups;
        }};
    }
    while at < until {
        match until - at {
            0..=512 => pass!(2),
            513..=1024 => pass!(4),
            1025..=1536 => pass!(6),
            _ => pass!(8),
        }
    }
    tail
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn seal_passes(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>) -> u128 {
    let mut powers = Powers::ZERO;
    const N: usize = 6;
    let (key, keystream) = first_pass!(N, stream, usize::MAX, powers);
    data.xor_groups(0, &keystream);
    let mac = Mac::new(key, aad);
    let rows = stream.rows_512();
    let (mut h, mut done, mut at) = (mac.h, 0, 1536);
    loop {
        let until = data.len.min(done + CHUNK);
        let tail = xor_from(&rows, &mut data, at, until);
        let text = data.output().get(done..until).unwrap_or_default();
        if until == data.len {
            return finish(&mac.key, absorb_data(h, &powers, text, tail), aad.len(), data.len);
        }
        h = absorb_many(h, &mac.key.r, &powers, text.as_chunks().0);
        (done, at) = (until, until);
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn open_passes(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>, expected: &[u8; 16]) -> bool {
    let mut powers = Powers::ZERO;
    const N: usize = 6;
    let (key, keystream) = first_pass!(N, stream, usize::MAX, powers);
    let kept = Kept(keystream);
    zeroize::optimization_barrier(&kept);
    let mac = Mac::new(key, aad);
    let sum = absorb_data(mac.h, &powers, data.input(), tail(data.input()));
    let authentic = verify(finish(&mac.key, sum, aad.len(), data.len), expected);
    if authentic {
        data.xor_groups(0, &kept.0);
        let len = data.len;
        xor_from(&stream.rows_512(), &mut data, 1536, len);
    }
    authentic
}

/// Overwrites the stack below the caller, where it calls the functions above too.
#[inline(never)]
#[target_feature(enable = "avx512f")]
fn scrub<const VECTORS: usize>() {
    #[repr(align(64))]
    struct Frame<const VECTORS: usize>([[u8; 64]; VECTORS]);
    let mut stack = MaybeUninit::<Frame<VECTORS>>::uninit();
    // SAFETY: writes `stack`, all of it, which is aligned to 64 bytes.
    unsafe {
        asm!(
            "vpxor {zero:x}, {zero:x}, {zero:x}",
            ".set wireseal_offset, 0",
            ".rept {count}",
            "vmovdqa64 [{stack} + wireseal_offset], {zero}",
            ".set wireseal_offset, wireseal_offset + 64",
            ".endr",
            zero = out(zmm_reg) _, stack = in(reg) &mut stack, count = const VECTORS,
            options(nostack, preserves_flags),
        );
    }
}

/// The result of a function that keeps its secrets on the stack, which is then overwritten.
macro_rules! scrubbed {
    ($size:expr, $call:expr) => {{
        let out = $call;
        scrub::<{ $size }>();
        out
    }};
}

/// How much stack the functions above may have used, in 64 bytes: for short messages, passes of two, four and six groups,
/// and more than one pass. `tests/wiping.rs` finds out if it is more.
const STACK: [usize; 5] = [26, 52, 68, 90, 134];

/// Seals a message of any length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
pub(super) fn seal(stream: Stream<'_>, aad: &[u8], io: &mut InOut<'_>, paced: bool) -> [u8; 16] {
    let data = Data::new(io);
    tag_bytes(match data.len {
        0 => scrubbed!(STACK[0], seal_empty(stream, aad)),
        1..=256 => scrubbed!(STACK[0], seal_short(stream, aad, data, paced)),
        257..=512 => scrubbed!(STACK[1], seal_pass::<2>(stream, aad, data)),
        513..=1024 => scrubbed!(STACK[2], seal_pass::<4>(stream, aad, data)),
        1025..=1536 => scrubbed!(STACK[3], seal_pass::<6>(stream, aad, data)),
        _ => scrubbed!(STACK[4], seal_passes(stream, aad, data)),
    })
}

/// Opens a message of any length, if the tag is right.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
pub(super) fn open(stream: Stream<'_>, aad: &[u8], io: &mut InOut<'_>, tag: &[u8; 16], paced: bool) -> bool {
    let data = Data::new(io);
    match data.len {
        0 => verify(scrubbed!(STACK[0], seal_empty(stream, aad)), tag),
        1..=256 => scrubbed!(STACK[0], open_short(stream, aad, data, tag, paced)),
        257..=512 => scrubbed!(STACK[1], open_pass::<2>(stream, aad, data, tag)),
        513..=1024 => scrubbed!(STACK[2], open_pass::<4>(stream, aad, data, tag)),
        1025..=1536 => scrubbed!(STACK[3], open_pass::<6>(stream, aad, data, tag)),
        _ => scrubbed!(STACK[4], open_passes(stream, aad, data, tag)),
    }
}
