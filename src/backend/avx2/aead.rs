//! Sealing and opening whole messages (RFC 8439, section 2.8), Poly1305 beside ChaCha20.
//!
//! *Short* (to 320 bytes): the block of the one-time key and the data's in rows. *Longer*: passes of eight blocks
//! of data; the key's block runs in general registers beside the first, and each further pass authenticates
//! the 512 bytes before its own. Opening does the same with the keystream in a buffer; only once the tag is right
//! does it touch the output. Beyond that buffer it authenticates first and decrypts then.

use super::chacha20::{Block, Lanes, Passes, Rows, few_blocks, load_row, store};
use super::poly1305::absorb_any;
use super::rounds::{rounds, rounds_absorb, rounds_block};
use crate::backend::x86_64::message::{Data, Mac, Stream, load_partial, nonce_parts, store_partial, tag_bytes};
use crate::backend::x86_64::poly1305::{Key, absorb};
use crate::backend::{CONSTANTS, words};
use crate::overlap::InOut;
use crate::wipe::{Wipe, wipe};
use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// Bytes in a pass.
const PASS: usize = 512;

/// Bytes of keystream that opening keeps until it knows that the tag is right.
const AHEAD: usize = 4096;

/// Blocks of keystream, two in each group.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Keystream<const GROUPS: usize>([[[u8; 32]; 4]; GROUPS]);

impl<const GROUPS: usize> Wipe for Keystream<GROUPS> {
    const ZERO: Self = Keystream([[[0; 32]; 4]; GROUPS]);
}

impl<const GROUPS: usize> Keystream<GROUPS> {
    fn bytes(&self) -> &[u8] {
        self.0.as_flattened().as_flattened()
    }
}

/// Data by vectors of 32 bytes.
impl Data<'_> {
    /// Output = input ⊕ `keystream` from byte `at` on, as far as either goes. Needs AVX, like all that it is inlined into.
    #[inline(always)]
    fn xor(&mut self, at: usize, keystream: &[u8]) {
        let at = at.min(self.len);
        let len = keystream.len().min(self.len - at);
        let mut done = 0;
        // SAFETY: the input, the output and the keystream all hold `len` bytes from where the pointers start.
        // What is read or written ends at `done` + 32, `done` + 16 or `len`, not behind `len`.
        unsafe {
            let (src, dst, key) = (self.src.add(at), self.dst.add(at), keystream.as_ptr());
            while len - done >= 32 {
                let x = _mm256_xor_si256(
                    _mm256_loadu_si256(src.add(done).cast()),
                    _mm256_loadu_si256(key.add(done).cast()),
                );
                _mm256_storeu_si256(dst.add(done).cast(), x);
                done += 32;
            }
            if len - done >= 16 {
                let x = _mm_xor_si128(_mm_loadu_si128(src.add(done).cast()), _mm_loadu_si128(key.add(done).cast()));
                _mm_storeu_si128(dst.add(done).cast(), x);
                done += 16;
            }
            if len > done {
                let len = len - done;
                let x = load_partial(core::slice::from_raw_parts(src.add(done), len));
                let key = load_partial(core::slice::from_raw_parts(key.add(done), len));
                store_partial(core::slice::from_raw_parts_mut(dst.add(done), len), x ^ key);
            }
        }
    }

    /// Output = input ⊕ `keystream` for 32 bytes from byte `at` on.
    ///
    /// # Safety
    /// `at` + 32 must not be more than the length.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn xor_half(&mut self, at: usize, keystream: __m256i) {
        // SAFETY: the caller vouches for the 32 bytes, the regions for the rest.
        unsafe {
            let x = _mm256_xor_si256(_mm256_loadu_si256(self.src.add(at).cast()), keystream);
            _mm256_storeu_si256(self.dst.add(at).cast(), x);
        }
    }
}

impl Stream<'_> {
    /// Blocks 0 and 1 before the rounds. The last row is put together in a register: a vector can't be read at once
    /// from words just written.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn rows(self) -> Rows {
        let (key, _) = self.key.as_chunks();
        let (lo, hi) = nonce_parts(self.nonce);
        let last = _mm_set_epi64x((hi << 32 | lo >> 32) as i64, (lo << 32) as i64);
        [
            load_row(&CONSTANTS),
            load_row(&key[0]),
            load_row(&key[1]),
            _mm256_or_si256(_mm256_broadcastsi128_si256(last), _mm256_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0)),
        ]
    }

    fn passes(self) -> Passes {
        let [n0, n1, n2] = words(self.nonce);
        let mut start = [0; 16];
        start[..4].copy_from_slice(&CONSTANTS);
        start[4..12].copy_from_slice(self.key);
        start[12..].copy_from_slice(&[0, n0, n1, n2]);
        Passes::new(&start)
    }
}

/// The one-time key from the first half of block 0.
#[inline]
#[target_feature(enable = "avx2")]
fn one_time_key(half: __m256i) -> Key {
    let (r, s) = (_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half));
    let number = |x: __m128i| {
        let (lo, hi) = (_mm_cvtsi128_si64(x) as u64, _mm_extract_epi64::<1>(x) as u64);
        u128::from(lo) | u128::from(hi) << 64
    };
    Key::new(number(r), number(s))
}

/// Output = input ⊕ `2 * N` blocks less the first, as far as the data goes.
#[inline]
#[target_feature(enable = "avx2")]
fn xor_rows<const N: usize>(data: &mut Data<'_>, blocks: &[[Block; 2]; N]) {
    let mut at = 0;
    for &key in blocks.as_flattened().as_flattened().iter().skip(2) {
        if data.len - at < 32 {
            let mut keystream = [0; 32];
            store(&mut keystream, key);
            return data.xor(at, &keystream);
        }
        // SAFETY: 32 bytes are left.
        unsafe { data.xor_half(at, key) };
        at += 32;
    }
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn seal_rows<const N: usize>(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>) -> u128 {
    let blocks = few_blocks::<N>(&stream.rows(), 0);
    let mut mac = Mac::new(one_time_key(blocks[0][0][0]), aad);
    xor_rows(&mut data, &blocks);
    mac.absorb_padded(data.output());
    mac.tag(aad.len(), data.len)
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn open_rows<const N: usize>(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>, tag: &[u8; 16]) -> bool {
    let blocks = few_blocks::<N>(&stream.rows(), 0);
    let mut mac = Mac::new(one_time_key(blocks[0][0][0]), aad);
    mac.absorb_padded(data.input());
    let authentic = mac.verify(aad.len(), data.len, tag);
    if authentic {
        xor_rows(&mut data, &blocks);
    }
    authentic
}

/// The first pass, blocks 1 to 8, with block 0, the one-time key, beside it.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn first_pass(passes: &mut Passes) -> (Key, Lanes) {
    let mut x = passes.begin(1);
    let block = passes.first_block();
    let words = rounds_block(&mut x, &mut passes.spill, &block);
    let number = |at: usize| {
        let words = [0, 1, 2, 3].map(|i| words[at + i].wrapping_add(passes.start[at + i]));
        words.into_iter().rev().fold(0, |x, word| x << 32 | u128::from(word))
    };
    (Key::new(number(0), number(4)), x)
}

/// A further pass, with 512 bytes authenticated beside it.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn next_pass(passes: &mut Passes, first: u32, mac: &mut Mac, m: &[[u8; 16]; PASS / 16]) -> Lanes {
    let mut x = passes.begin(first);
    rounds_absorb(&mut x, &mut passes.spill, &mut mac.h, &mac.key.r, m);
    let [.., a, b, c, d] = m;
    for block in [a, b, c, d] {
        mac.h = absorb(mac.h, &mac.key.r, block);
    }
    x
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn seal_passes(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>) -> u128 {
    let mut passes = stream.passes();
    let (key, mut x) = first_pass(&mut passes);
    let mut mac = Mac::new(key, aad);
    let mut keystream = Keystream::<4>::ZERO;
    let mut first = 1_u32;
    let mut at = 0;
    loop {
        if data.len - at < PASS {
            passes.end(first, &x, |half, key| store(&mut keystream.0.as_flattened_mut()[half], key));
            data.xor(at, keystream.bytes());
            break;
        }
        // SAFETY: 512 bytes are left, in 16 halves of blocks.
        passes.end(first, &x, |half, key| unsafe { data.xor_half(at + 32 * half, key) });
        if data.len - at == PASS {
            break;
        }
        let Some(m) = data.output().get(at..).and_then(|m| m.as_chunks().0.first_chunk()) else { break };
        first = first.wrapping_add(8);
        at += PASS;
        x = next_pass(&mut passes, first, &mut mac, m);
    }
    mac.absorb_padded(data.output().get(at..).unwrap_or_default());
    mac.tag(aad.len(), data.len)
}

/// Keystream of passes, of which the first are made.
type Ahead = [MaybeUninit<Keystream<4>>; AHEAD / PASS];

/// Authenticates a message, with the keystream for its beginning made meanwhile. Gives the verdict and how many passes
/// were made.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn authenticate(stream: Stream<'_>, aad: &[u8], text: &[u8], tag: &[u8; 16], ahead: &mut Ahead) -> (bool, usize) {
    let mut passes = stream.passes();
    let (key, mut x) = first_pass(&mut passes);
    let mut mac = Mac::new(key, aad);
    let mut first = 1_u32;
    let mut made = 0;
    let mut rest = text;
    for keystream in ahead {
        let halves: *mut [u8; 32] = keystream.as_mut_ptr().cast();
        // SAFETY: a pass is 16 halves of blocks, and so is the buffer: all of it is written.
        passes.end(first, &x, |half, key| store(unsafe { &mut *halves.add(half) }, key));
        made += 1;
        let Some((m, after)) = rest.split_first_chunk::<PASS>() else { break };
        let Some(m) = m.as_chunks().0.first_chunk().filter(|_| made < AHEAD / PASS && !after.is_empty()) else { break };
        first = first.wrapping_add(8);
        rest = after;
        x = next_pass(&mut passes, first, &mut mac, m);
    }
    let (many, few) = rest.split_at(rest.len() & !15);
    mac.h = absorb_any(mac.h, &mac.key.r, many.as_chunks().0);
    mac.absorb_padded(few);
    (mac.verify(aad.len(), text.len(), tag), made)
}

/// Decrypts what is behind the keystream made ahead.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn decrypt(stream: Stream<'_>, data: &mut Data<'_>) {
    let mut passes = stream.passes();
    let mut keystream = Keystream::<4>::ZERO;
    for at in (AHEAD..data.len).step_by(PASS) {
        let first = (at / 64 + 1) as u32;
        let mut x = passes.begin(first);
        rounds(&mut x, &mut passes.spill);
        if data.len - at < PASS {
            passes.end(first, &x, |half, key| store(&mut keystream.0.as_flattened_mut()[half], key));
            data.xor(at, keystream.bytes());
        } else {
            // SAFETY: 512 bytes are left, in 16 halves of blocks.
            passes.end(first, &x, |half, key| unsafe { data.xor_half(at + 32 * half, key) });
        }
    }
}

/// How much stack the functions above may have used, in 128 bytes: one to three groups of rows, and passes.
/// `tests/wiping.rs` finds out if it is more.
const STACK: [usize; 4] = [5, 7, 9, 16];

/// Overwrites the stack below the caller, where it calls the functions above too.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn scrub<const SIZE: usize>() {
    let mut stack = MaybeUninit::<Keystream<SIZE>>::uninit();
    // SAFETY: writes `stack`, all of it, which is aligned to 32 bytes.
    unsafe {
        asm!(
            "vpxor {zero:x}, {zero:x}, {zero:x}",
            ".set wireseal_offset, 0",
            ".rept {count}",
            "vmovdqa [{stack} + wireseal_offset], {zero}",
            ".set wireseal_offset, wireseal_offset + 32",
            ".endr",
            zero = out(ymm_reg) _, stack = in(reg) &mut stack, count = const size_of::<Keystream<SIZE>>() / 32,
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

#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn open_passes(stream: Stream<'_>, aad: &[u8], mut data: Data<'_>, tag: &[u8; 16]) -> bool {
    let mut ahead = [const { MaybeUninit::uninit() }; AHEAD / PASS];
    let (authentic, made) = scrubbed!(STACK[3], authenticate(stream, aad, data.input(), tag, &mut ahead));
    for (i, keystream) in ahead.iter_mut().take(made).enumerate() {
        // SAFETY: the first `made` passes were written in full.
        let keystream = unsafe { keystream.assume_init_mut() };
        if authentic {
            data.xor(PASS * i, keystream.bytes());
        }
        wipe(keystream);
    }
    if authentic && data.len > AHEAD {
        scrubbed!(STACK[3], decrypt(stream, &mut data));
    }
    authentic
}

/// Seals a message of any length.
#[target_feature(enable = "avx2,bmi2")]
pub(super) fn seal(stream: Stream<'_>, aad: &[u8], io: &mut InOut<'_>) -> [u8; 16] {
    let data = Data::new(io);
    tag_bytes(match data.len {
        0..=64 => scrubbed!(STACK[0], seal_rows::<1>(stream, aad, data)),
        65..=192 => scrubbed!(STACK[1], seal_rows::<2>(stream, aad, data)),
        193..=320 => scrubbed!(STACK[2], seal_rows::<3>(stream, aad, data)),
        _ => scrubbed!(STACK[3], seal_passes(stream, aad, data)),
    })
}

/// Opens a message of any length, if the tag is right.
#[target_feature(enable = "avx2,bmi2")]
pub(super) fn open(stream: Stream<'_>, aad: &[u8], io: &mut InOut<'_>, tag: &[u8; 16]) -> bool {
    let data = Data::new(io);
    match data.len {
        0..=64 => scrubbed!(STACK[0], open_rows::<1>(stream, aad, data, tag)),
        65..=192 => scrubbed!(STACK[1], open_rows::<2>(stream, aad, data, tag)),
        193..=320 => scrubbed!(STACK[2], open_rows::<3>(stream, aad, data, tag)),
        _ => open_passes(stream, aad, data, tag),
    }
}
