//! Batches: packets share the passes of ChaCha20, and each is a lane of Poly1305 (RFC 8439).
//!
//! A pass of 32 blocks takes 680 cycles on Zen 5, of up to 16 blocks 480, whichever packets they belong to: first come those
//! that hold the Poly1305 keys, then all the data's. Poly1305 goes over two times eight packets side by side, each by
//! Horner's rule with its own r in radix 2⁴⁴.

use super::chacha20::{Rows, blocks_of};
use super::rounds::rounds;
use crate::Error;
use crate::backend::{CLAMP, CONSTANTS, Job, Packet, words};
use core::arch::asm;
use core::arch::x86_64::*;

/// Packets that go together.
const PACKETS: usize = 16;

/// Blocks of a full pass.
const PASS: usize = 32;

/// Bytes up to which data is worth sharing passes for: longer packets fill the passes by themselves.
pub(super) const LONGEST: usize = 1536;

/// How many of these jobs, sorted by length, are worth doing together: those up to about double the length of the
/// first, if they are enough to be faster than one by one.
#[inline(always)]
pub(super) fn worth(jobs: &[Option<Job<'_, '_>>]) -> usize {
    let mut lens = jobs.iter().flatten().take(PACKETS).map(|job| job.packet.data.len());
    let Some(first) = lens.next() else { return 0 };
    let count = 1 + lens.take_while(|&len| len <= 2 * first + 128).count();
    let least = match first {
        0..=256 => 3,
        257..=640 => 4,
        _ => 6,
    };
    if count < least { 0 } else { count }
}

/// Seals or opens as many as are worth it, and returns how many.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
pub(super) fn run<const SEALING: bool>(jobs: &mut [Option<Job<'_, '_>>]) -> usize {
    let mut done = 0;
    loop {
        let rest = jobs.get_mut(done..).unwrap_or(&mut []);
        let count = worth(rest);
        let Some(rest) = rest.get_mut(..count) else { return done };
        match count {
            0 => return done,
            1..=8 => together::<1, SEALING>(rest),
            _ => together::<2, SEALING>(rest),
        }
        done += count;
    }
}

/// A packet.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Lane<'a> {
    key: &'a [u32; 8],
    /// A row of the state, but for the counter.
    nonce: [u32; 4],
    aad: &'a [u8],
    data: *mut u8,
    len: usize,
}

impl<'a> Lane<'a> {
    #[inline(always)]
    fn of(job: &mut Job<'a, '_>) -> Self {
        let Packet { nonce, aad, data, .. } = &mut *job.packet;
        let [n0, n1, n2] = words(nonce);
        Lane { key: job.key, nonce: [0, n0, n1, n2], aad, data: data.as_mut_ptr(), len: data.len() }
    }
}

/// A block of keystream: whose, and its number. Number 0 holds the packet's Poly1305 key.
#[derive(Clone, Copy, Default)]
struct Block {
    lane: usize,
    counter: u32,
}

/// The blocks of the data, packet after packet.
struct Blocks(Block);

impl Blocks {
    /// The next ones, and how many there are.
    #[inline]
    fn fill(&mut self, lanes: &[Lane<'_>], room: &mut [Block]) -> usize {
        let mut places = room.iter_mut();
        let mut filled = 0;
        while let Some(lane) = lanes.get(self.0.lane) {
            let left = (1 + lane.len.div_ceil(64)).saturating_sub(self.0.counter as usize);
            let now = left.min(places.len());
            for place in places.by_ref().take(now) {
                *place = self.0;
                self.0.counter += 1;
            }
            filled += now;
            if now < left {
                break;
            }
            self.0 = Block { lane: self.0.lane + 1, counter: 1 };
        }
        filled
    }
}

/// All of these, of which there are 1 to `8 * N`. The lanes that are left do the first packet's tag again.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn together<const N: usize, const SEALING: bool>(jobs: &mut [Option<Job<'_, '_>>]) {
    let Some(Some(first)) = jobs.first_mut() else { return };
    let mut lanes = [Lane::of(first); PACKETS];
    let mut blocks = [Block::default(); PASS];
    let mut count = 0;
    for ((lane, block), job) in lanes.iter_mut().zip(&mut blocks).zip(jobs.iter_mut().flatten()) {
        *lane = Lane::of(job);
        block.lane = count;
        count += 1;
    }
    let count = count.min(PACKETS);

    // The keys first, and as much of the data as the pass has room for.
    let mut keystream = [[0; 64]; PASS];
    let mut rest = Blocks(Block { lane: 0, counter: 1 });
    let mut end = count + rest.fill(&lanes[..count], &mut blocks[count..]);
    pass(&lanes, &blocks, end, &mut keystream);
    let mut macs = [Mac::new(&keystream, 0); N];
    if let Some(second) = macs.get_mut(1) {
        *second = Mac::new(&keystream, 8);
    }

    if !SEALING {
        let tags = authenticate(&macs, &lanes);
        for ((jobs, lanes), tags) in jobs.chunks_mut(4).zip(lanes.chunks_mut(4)).zip(tags.as_flattened()) {
            let mut expected = [_mm_setzero_si128(); 4];
            for (expected, job) in expected.iter_mut().zip(jobs.iter().flatten()) {
                // SAFETY: 16 bytes are read, the length of the array.
                *expected = unsafe { _mm_loadu_si128(job.packet.tag.as_ptr().cast()) };
            }
            // Two bits for each.
            let mut equal = _mm512_cmpeq_epi64_mask(*tags, unite(expected));
            for (job, lane) in jobs.iter_mut().flatten().zip(lanes) {
                if equal & 3 == 3 {
                    job.packet.verdict = Ok(());
                } else {
                    job.packet.verdict = Err(Error::Unauthentic);
                    // Nothing to decrypt.
                    lane.len = 0;
                }
                equal >>= 2;
            }
        }
    }

    let mut start = count;
    while start < end {
        for (block, keystream) in blocks.iter().zip(&keystream).take(end).skip(start) {
            xor(&lanes[block.lane % PACKETS], block.counter, keystream);
        }
        start = 0;
        end = rest.fill(&lanes[..count], &mut blocks);
        pass(&lanes, &blocks, end, &mut keystream);
    }
    if SEALING {
        for (jobs, tags) in jobs.chunks_mut(4).zip(authenticate(&macs, &lanes).as_flattened()) {
            for (job, tag) in jobs.iter_mut().flatten().zip(quarters(*tags)) {
                // SAFETY: 16 bytes are written, the length of the array.
                unsafe { _mm_storeu_si128(job.packet.tag.as_mut_ptr().cast(), tag) }
                job.packet.verdict = Ok(());
            }
        }
    }
}

/// The keystream of the first `count` blocks, and maybe of some more.
#[inline]
#[target_feature(enable = "avx512f")]
fn pass(lanes: &[Lane<'_>; PACKETS], blocks: &[Block; PASS], count: usize, out: &mut [[u8; 64]; PASS]) {
    let one_key = lanes.iter().all(|lane| core::ptr::eq(lane.key, lanes[0].key));
    match (count, one_key) {
        (0, _) => {}
        (1..=8, _) => groups::<2, false>(lanes, blocks, out),
        (9..=16, _) => groups::<4, false>(lanes, blocks, out),
        (17..=24, _) => groups::<6, false>(lanes, blocks, out),
        (_, false) => groups::<8, false>(lanes, blocks, out),
        (_, true) => groups::<8, true>(lanes, blocks, out),
    }
}

/// The keystream of `4 * N` blocks.
#[inline(never)]
#[target_feature(enable = "avx512f")]
fn groups<const N: usize, const ONE_KEY: bool>(
    lanes: &[Lane<'_>; PACKETS],
    blocks: &[Block; PASS],
    out: &mut [[u8; 64]; PASS],
) {
    // SAFETY: 16 bytes are read, the length of the array.
    let row = |words: &[u32; 4]| unsafe { _mm_loadu_si128(words.as_ptr().cast()) };
    let half = |lane: &Lane<'_>, half: usize| {
        // SAFETY: `half` is 0 or 1: 16 of 32 bytes are read.
        unsafe { _mm_loadu_si128(lane.key.as_ptr().cast::<__m128i>().wrapping_add(half)) }
    };
    let mut start = [[_mm512_broadcast_i32x4(row(&CONSTANTS)); 4]; N];
    for (group, [i, j, k, l]) in start.iter_mut().zip(blocks.as_chunks().0) {
        let [a, b, c, d] = [i, j, k, l].map(|block| &lanes[block.lane % PACKETS]);
        for h in 0..2 {
            group[1 + h] = if ONE_KEY {
                _mm512_broadcast_i32x4(half(&lanes[0], h))
            } else {
                unite([half(a, h), half(b, h), half(c, h), half(d, h)])
            };
        }
        let last = |lane: &Lane<'_>, block: &Block| _mm_insert_epi32::<0>(row(&lane.nonce), block.counter as i32);
        group[3] = unite([last(a, i), last(b, j), last(c, k), last(d, l)]);
    }
    let mut x: [Rows; N] = start;
    rounds(&mut x, 10);
    for ((x, start), out) in x.iter().zip(&start).zip(out.as_chunks_mut::<4>().0) {
        for (out, block) in out.iter_mut().zip(blocks_of(x, start)) {
            // SAFETY: 64 bytes are written, the length of the array.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), block) }
        }
    }
}

/// XORs a block of keystream into the data that is left of it, if any.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn xor(lane: &Lane<'_>, counter: u32, keystream: &[u8; 64]) {
    let at = 64 * (counter as usize - 1);
    let left = lane.len.saturating_sub(at);
    // SAFETY: the mask covers no more than the `left` bytes that the data has at `at`; where there are none, none are
    // touched. The keystream is 64 bytes.
    unsafe {
        let data: *mut i8 = lane.data.wrapping_add(at).cast();
        let keystream = _mm512_loadu_si512(keystream.as_ptr().cast());
        if left >= 64 {
            _mm512_storeu_si512(data.cast(), _mm512_xor_si512(_mm512_loadu_si512(data.cast()), keystream));
        } else {
            let mask = _bzhi_u64(u64::MAX, left as u32);
            let text = _mm512_maskz_loadu_epi8(mask, data);
            _mm512_mask_storeu_epi8(data, mask, _mm512_xor_si512(text, keystream));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn quarters(x: __m512i) -> [__m128i; 4] {
    [
        _mm512_extracti32x4_epi32::<0>(x),
        _mm512_extracti32x4_epi32::<1>(x),
        _mm512_extracti32x4_epi32::<2>(x),
        _mm512_extracti32x4_epi32::<3>(x),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn unite([a, b, c, d]: [__m128i; 4]) -> __m512i {
    let x = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
    _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(x, c), d)
}

/// Sixteen bytes at each of four addresses.
///
/// # Safety
/// They can be read.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn four(at: [*const u8; 4]) -> __m512i {
    // SAFETY: the caller vouches for it.
    unite(at.map(|at| unsafe { _mm_loadu_si128(at.cast()) }))
}

/// Limbs of eight numbers, radix 2⁴⁴, in the order of packets 0, 4, 1, 5, 2, 6, 3, 7.
type Limbs = [__m512i; 3];

const MASK: i64 = (1 << 44) - 1;

#[inline]
#[target_feature(enable = "avx512f")]
fn limbs(lo: __m512i, hi: __m512i) -> Limbs {
    let mask = _mm512_set1_epi64(MASK);
    [
        _mm512_and_si512(lo, mask),
        _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64::<44>(lo), _mm512_slli_epi64::<20>(hi)), mask),
        _mm512_srli_epi64::<24>(hi),
    ]
}

/// Poly1305 of eight packets.
#[derive(Clone, Copy)]
struct Mac {
    h: Limbs,
    r: Limbs,
    /// 20 times limbs 1 and 2 of r, for what products carry to 2¹³² and above.
    r20: [__m512i; 2],
    s: [__m512i; 2],
}

impl Mac {
    /// With the keys in eight blocks of keystream from `first` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn new(keystream: &[[u8; 64]; PASS], first: usize) -> Self {
        let half = |lane: usize, at: usize| {
            let block = |i: usize| &keystream[(first + lane + i) % PASS];
            // SAFETY: `at` is 0 or 16, and there are 64 bytes.
            unsafe { four([0, 1, 2, 3].map(|i| block(i).as_ptr().wrapping_add(at))) }
        };
        let clamp = |mask| _mm512_set1_epi64(mask as i64);
        let (a, b) = (half(0, 0), half(4, 0));
        let lo = _mm512_and_si512(_mm512_unpacklo_epi64(a, b), clamp(CLAMP as u64));
        let hi = _mm512_and_si512(_mm512_unpackhi_epi64(a, b), clamp((CLAMP >> 64) as u64));
        let r = limbs(lo, hi);
        let times20 = |x| _mm512_slli_epi64::<2>(_mm512_add_epi64(x, _mm512_slli_epi64::<2>(x)));
        let (a, b) = (half(0, 16), half(4, 16));
        Mac {
            h: [_mm512_setzero_si512(); 3],
            r,
            r20: [times20(r[1]), times20(r[2])],
            s: [_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)],
        }
    }

    /// h ← (h + m)·r for a block of each packet: packets 0 to 3 and 4 to 7. `pad` has the bits 2¹²⁸.
    ///
    /// The limbs of h are below 2⁴⁴ + 2¹⁵, those of m below 2⁴⁴, so the factors below 2⁴⁵⁺, 2⁴⁴ and 2⁴⁸·⁴ (20r₁). Sums of three
    /// upper parts are below 2⁴³, and e₂, which has no factor of 20, below 2³⁹: times 20·2⁸ it fits in 52 bits.
    /// So d < 2⁵⁴, what it carries is below 2¹⁰, and 20 times that below 2¹⁵.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn absorb(&mut self, a: __m512i, b: __m512i, pad: __m512i) {
        let [m0, m1, m2] = limbs(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
        let h0 = _mm512_add_epi64(self.h[0], m0);
        let h1 = _mm512_add_epi64(self.h[1], m1);
        let h2 = _mm512_add_epi64(self.h[2], _mm512_or_si512(m2, pad));
        let ([r0, r1, r2], [s1, s2]) = (self.r, self.r20);
        let zero = _mm512_setzero_si512();
        let lo = |a, b, c| {
            let x = _mm512_madd52lo_epu64(zero, h0, a);
            _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(x, h1, b), h2, c)
        };
        let hi = |a, b, c| {
            let x = _mm512_madd52hi_epu64(zero, h0, a);
            _mm512_madd52hi_epu64(_mm512_madd52hi_epu64(x, h1, b), h2, c)
        };
        let (e0, e1, e2) = (hi(r0, s2, s1), hi(r1, r0, s2), hi(r2, r1, r0));
        let (d0, d1, d2) = (lo(r0, s2, s1), lo(r1, r0, s2), lo(r2, r1, r0));
        let d0 = _mm512_madd52lo_epu64(d0, e2, _mm512_set1_epi64(20 << 8));
        let d1 = _mm512_add_epi64(d1, _mm512_slli_epi64::<8>(e0));
        let d2 = _mm512_add_epi64(d2, _mm512_slli_epi64::<8>(e1));
        let mask = _mm512_set1_epi64(MASK);
        let c2 = _mm512_srli_epi64::<44>(d2);
        self.h = [
            _mm512_madd52lo_epu64(_mm512_and_si512(d0, mask), c2, _mm512_set1_epi64(20)),
            _mm512_add_epi64(_mm512_and_si512(d1, mask), _mm512_srli_epi64::<44>(d0)),
            _mm512_add_epi64(_mm512_and_si512(d2, mask), _mm512_srli_epi64::<44>(d1)),
        ];
    }

    /// The tags of packets 0 to 3 and 4 to 7.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn tags(&self) -> [__m512i; 2] {
        let mask = _mm512_set1_epi64(MASK);
        let mask42 = _mm512_set1_epi64(MASK >> 2);
        let [mut h0, mut h1, mut h2] = self.h;
        // Below 2¹³² carries at 2¹³⁰ are a few; with five times that, h stays below 2¹³⁰ + 32.
        h1 = _mm512_add_epi64(h1, _mm512_srli_epi64::<44>(h0));
        h0 = _mm512_and_si512(h0, mask);
        h2 = _mm512_add_epi64(h2, _mm512_srli_epi64::<44>(h1));
        h1 = _mm512_and_si512(h1, mask);
        h0 = _mm512_madd52lo_epu64(h0, _mm512_srli_epi64::<42>(h2), _mm512_set1_epi64(5));
        h2 = _mm512_and_si512(h2, mask42);
        h1 = _mm512_add_epi64(h1, _mm512_srli_epi64::<44>(h0));
        h0 = _mm512_and_si512(h0, mask);
        h2 = _mm512_add_epi64(h2, _mm512_srli_epi64::<44>(h1));
        h1 = _mm512_and_si512(h1, mask);
        // h or h − p = h + 5 − 2¹³⁰: the latter if h + 5 reaches 2¹³⁰.
        let g0 = _mm512_add_epi64(h0, _mm512_set1_epi64(5));
        let g1 = _mm512_add_epi64(h1, _mm512_srli_epi64::<44>(g0));
        let g2 = _mm512_add_epi64(h2, _mm512_srli_epi64::<44>(g1));
        let reduce = _mm512_cmpgt_epu64_mask(g2, mask42);
        h0 = _mm512_mask_and_epi64(h0, reduce, g0, mask);
        h1 = _mm512_mask_and_epi64(h1, reduce, g1, mask);
        h2 = _mm512_mask_blend_epi64(reduce, h2, g2);
        // + s mod 2¹²⁸.
        let lo = _mm512_or_si512(h0, _mm512_slli_epi64::<44>(h1));
        let hi = _mm512_or_si512(_mm512_srli_epi64::<20>(h1), _mm512_slli_epi64::<24>(h2));
        let lo = _mm512_add_epi64(lo, self.s[0]);
        let carry = _mm512_cmplt_epu64_mask(lo, self.s[0]);
        let hi = _mm512_add_epi64(hi, self.s[1]);
        let hi = _mm512_mask_add_epi64(hi, carry, hi, _mm512_set1_epi64(1));
        [_mm512_unpacklo_epi64(lo, hi), _mm512_unpackhi_epi64(lo, hi)]
    }
}

/// The tags over associated data, data and both lengths (section 2.8). A packet that has fewer blocks than another
/// starts later: until then it adds zero to zero.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn authenticate<const N: usize>(macs: &[Mac; N], lanes: &[Lane<'_>; PACKETS]) -> [[__m512i; 2]; N] {
    let mut macs = *macs;
    let (mut at, mut most, mut least, mut partial) = ([core::ptr::null::<u8>(); PACKETS], 0, usize::MAX, 0);
    for lane in lanes {
        partial |= lane.len % 16;
        most = most.max(lane.aad.len().div_ceil(16) + lane.len.div_ceil(16));
        least = least.min(lane.len.div_ceil(16));
    }
    for (at, lane) in at.iter_mut().zip(lanes) {
        *at = lane.data.wrapping_sub(16 * (most - lane.len.div_ceil(16)));
    }
    let pad = _mm512_set1_epi64(1 << 40);

    let mut step = 0;
    while step < most - least {
        absorb_pieces(&mut macs, lanes, step, most);
        step += 1;
    }
    // Now all are in their data, and before the last step it is whole blocks.
    while step + usize::from(partial > 0) < most {
        let mut offset = 16 * step;
        // SAFETY: no instruction at all. The compiler would keep sixteen pointers and move each on.
        unsafe { asm!("/* {} */", inout(reg) offset, options(pure, nomem, nostack, preserves_flags)) };
        for (mac, at) in macs.iter_mut().zip(at.as_chunks::<8>().0) {
            let [a, b, c, d, e, f, g, h] = at.map(|at: *const u8| at.wrapping_add(offset));
            // SAFETY: at `most` is the end of the data, padded: here are 16 bytes of it.
            let (a, b) = unsafe { (four([a, b, c, d]), four([e, f, g, h])) };
            mac.absorb(a, b, pad);
        }
        step += 1;
    }
    if step < most {
        absorb_pieces(&mut macs, lanes, step, most);
    }

    let mut tags = [[pad; 2]; N];
    for ((mac, lanes), tags) in macs.iter_mut().zip(lanes.as_chunks::<8>().0).zip(&mut tags) {
        let lengths = |i: usize| _mm_set_epi64x(lanes[i].len as i64, lanes[i].aad.len() as i64);
        let (a, b) = ([0, 1, 2, 3].map(lengths), [4, 5, 6, 7].map(lengths));
        mac.absorb(unite(a), unite(b), pad);
        *tags = mac.tags();
    }
    tags
}

/// A step out of `most` in which not all packets may have begun, or have a whole block.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
fn absorb_pieces<const N: usize>(macs: &mut [Mac; N], lanes: &[Lane<'_>; PACKETS], step: usize, most: usize) {
    for (mac, lanes) in macs.iter_mut().zip(lanes.as_chunks::<8>().0) {
        let (mut pieces, mut begun) = ([_mm_setzero_si128(); 8], 0);
        for (i, (piece, lane)) in pieces.iter_mut().zip(lanes).enumerate() {
            let aad = lane.aad.len().div_ceil(16);
            let Some(block) = (step + aad + lane.len.div_ceil(16)).checked_sub(most) else { continue };
            begun |= 1 << ((2 * i) % 8 + i / 4);
            let (from, len) = if block < aad {
                (lane.aad.as_ptr().wrapping_add(16 * block), lane.aad.len() - 16 * block)
            } else {
                (lane.data.cast_const().wrapping_add(16 * (block - aad)), lane.len - 16 * (block - aad))
            };
            let mask = _bzhi_u32(0xffff, len.min(16) as u32);
            // SAFETY: of the `len` bytes left at `from`, up to 16 are read.
            *piece = unsafe { _mm_maskz_loadu_epi8(mask as __mmask16, from.cast()) };
        }
        let [a, b, c, d, e, f, g, h] = pieces;
        let pad = _mm512_maskz_set1_epi64(begun, 1 << 40);
        mac.absorb(unite([a, b, c, d]), unite([e, f, g, h]), pad);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Kernel;
    use crate::backend::avx512::Avx512;
    use crate::backend::portable::Portable;
    use crate::backend::tests::poly1305_edges;
    use std::vec::Vec;

    /// The edges that random packets never reach, eight at a time.
    #[test]
    fn lanes_of_poly1305_agree_with_portable() {
        if Avx512::detect().is_none() {
            return;
        }
        let edges: Vec<_> = poly1305_edges().collect();
        for edges in edges.as_chunks::<8>().0 {
            let mut keystream = [[0; 64]; PASS];
            for (block, (key, _)) in keystream.iter_mut().zip(edges) {
                block[..32].copy_from_slice(key);
            }
            for count in 0..70 {
                // SAFETY: the CPU has the features; blocks are 16 bytes.
                let tags = unsafe {
                    let mut mac = Mac::new(&keystream, 0);
                    let at = |i: usize| edges[i].1.as_ptr();
                    for _ in 0..count {
                        let (a, b) = (four([0, 1, 2, 3].map(at)), four([4, 5, 6, 7].map(at)));
                        mac.absorb(a, b, _mm512_set1_epi64(1 << 40));
                    }
                    mac.tags().map(|tags| core::mem::transmute::<__m512i, [[u8; 16]; 4]>(tags))
                };
                for ((key, block), tag) in edges.iter().zip(tags.as_flattened()) {
                    let mut poly = Portable.poly1305_new(key, count);
                    Portable.poly1305_update(&mut poly, &std::vec![*block; count]);
                    assert_eq!(*tag, Portable.poly1305_finish(&mut poly, None), "{count} blocks");
                }
            }
        }
    }
}
