//! Poly1305 (RFC 8439, section 2.5) of many blocks: radix 2⁴⁴, eight blocks in the lanes of a vector.
//!
//! A *group* is eight blocks, 128 bytes. All groups but the last are summed up by Horner's rule with r³², r²⁴, r¹⁶ and r⁸;
//! at the end each lane is multiplied by the power of r that it still lacks, whatever the number of blocks in the
//! last group: those powers are read from a table at an offset.

use super::chacha20::load;
use crate::backend::x86_64::poly1305::{Key, Limbs, Poly, absorb, absorb_all, add};
use crate::wipe::{Wipe, wipe};
use core::arch::asm;
use core::arch::x86_64::*;
use zeroize::optimization_barrier;

const MASK44: u64 = (1 << 44) - 1;
const MASK42: u64 = (1 << 42) - 1;

/// Limbs of eight numbers in lanes.
type Lanes = [__m512i; 3];

/// A partially reduced number in radix 2⁴⁴: the limbs are below 2⁴⁴, 2⁴⁴ and 2⁴³.
#[inline(always)]
fn split([h0, h1, h2]: Limbs) -> [u64; 3] {
    [h0 & MASK44, (h0 >> 44 | h1 << 20) & MASK44, h1 >> 24 | h2 << 40]
}

/// A number in each lane as a factor: limbs 0 to 2, and 20 times limbs 1 and 2 for what products carry to 2¹³² and above.
type Factors = [__m512i; 5];

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn factors([r0, r1, r2]: Lanes) -> Factors {
    let (zero, twenty) = (_mm512_setzero_si512(), _mm512_set1_epi64(20));
    [r0, r1, r2, _mm512_madd52lo_epu64(zero, r1, twenty), _mm512_madd52lo_epu64(zero, r2, twenty)]
}

/// The number of groups before the last one in `len` bytes.
#[inline(always)]
pub(super) fn groups_before_last(len: usize) -> usize {
    len.saturating_sub(1) / 128
}

/// The powers of r as factors, by limb.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Powers {
    /// r¹⁷ down to r², eight zeroes, then r³² and r²⁴ in turns.
    table: [[u64; 32]; 5],
}

/// Where in the table r⁸, r¹⁶, r²⁴ and r³² are.
const PAST: [usize; 4] = [9, 1, 25, 24];

impl Wipe for Powers {
    const ZERO: Self = Powers { table: [[0; 32]; 5] };
}

/// The powers on their way, so that each step can be put where something else waits.
pub(super) struct Steps {
    r: Factors,
    /// The same power of r in all lanes, or several, as the step has it.
    now: Lanes,
}

impl Steps {
    /// r and r².
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn start(key: &Key) -> Self {
        let r1 = split([key.r[0], key.r[1], 0]).map(|limb| _mm512_set1_epi64(limb as i64));
        let r = factors(r1);
        Steps { r, now: settled(multiply(&r1, &r)) }
    }

    /// r⁴, r³, r², r, twice.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reach_four(&mut self) {
        let [r0, r1, r2, ..] = self.r;
        let low = blend(0b1010_1010, &self.now, &[r0, r1, r2]);
        let high = multiply(&low, &factors(self.now));
        self.now = settled(blend(0b1100_1100, &high, &low));
    }

    /// r⁸ down to r.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reach_eight(&mut self) {
        let high = multiply(&self.now, &factors(broadcast::<0>(&self.now)));
        self.now = settled(blend(0b1111_0000, &high, &self.now));
    }

    /// r⁹ down to r², into the table; then the factor r⁸.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reach_nine(&mut self, powers: &mut Powers) {
        let r8 = broadcast::<0>(&self.now);
        self.now = settled(multiply(&self.now, &self.r));
        powers.store::<8>(&factors(self.now));
        self.r = factors(r8);
    }

    /// r¹⁷ down to r¹⁰.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reach_seventeen(&mut self, powers: &mut Powers) {
        self.now = settled(multiply(&self.now, &self.r));
        powers.store::<0>(&factors(self.now));
    }

    /// r²⁴ and r³².
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn reach_far(&mut self, powers: &mut Powers) {
        let [r0, r1, r2, ..] = self.r;
        let r16 = broadcast::<1>(&self.now);
        let far = multiply(&blend(0b1010_1010, &r16, &[r0, r1, r2]), &factors(r16));
        powers.store::<24>(&factors(far));
    }
}

/// The lanes, computed before what comes next in the program: the compiler would move it to where it is used.
#[inline]
#[target_feature(enable = "avx512f")]
fn settled([mut h0, mut h1, mut h2]: Lanes) -> Lanes {
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {} {} {} */", inout(zmm_reg) h0, inout(zmm_reg) h1, inout(zmm_reg) h2, options(nomem, nostack)) };
    [h0, h1, h2]
}

/// Of `a` the lanes that have their bit set, of `b` the others. Bit 0 is the last power of r, which is the last lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn blend(bits: u8, a: &Lanes, b: &Lanes) -> Lanes {
    let mask = bits.reverse_bits();
    [0, 1, 2].map(|i| _mm512_mask_blend_epi64(mask, b[i], a[i]))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast<const LANE: i64>(x: &Lanes) -> Lanes {
    x.map(|limb| _mm512_permutexvar_epi64(_mm512_set1_epi64(LANE), limb))
}

/// A shift. The compiler must not know: it would multiply by five in three instructions where this is added.
#[inline]
#[target_feature(enable = "avx512f")]
fn times_4(x: __m512i) -> __m512i {
    let mut shifted = _mm512_slli_epi64::<2>(x);
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {} */", inout(zmm_reg) shifted, options(pure, nomem, nostack, preserves_flags)) };
    shifted
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply(h: &Lanes, factors: &Factors) -> Lanes {
    let mut product = Sum::zero();
    product.multiply_add(h, factors);
    product.carry()
}

impl Powers {
    /// All at once: what sums over `before` groups and a last one take.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn set(&mut self, key: &Key, before: usize) {
        let mut steps = Steps::start(key);
        steps.reach_four();
        steps.reach_eight();
        steps.reach_nine(self);
        if before > 0 {
            steps.reach_seventeen(self);
        }
        if before > 3 {
            steps.reach_far(self);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store<const AT: usize>(&mut self, power: &Factors) {
        const { assert!(AT <= 24) };
        for (to, limb) in self.table.iter_mut().zip(power) {
            // SAFETY: 8 of 32 words are written, from `AT` ≤ 24 on; any alignment will do.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().add(AT).cast(), *limb) }
        }
    }

    /// Factors for blocks as `blocks` has them, which is another order than the table's, from `at` ≤ 16 on.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn lanes(&self, at: usize) -> Factors {
        let order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
        let mut power = [order; 5];
        for (limb, from) in power.iter_mut().zip(&self.table) {
            // SAFETY: 8 of 32 words are read, from `at` on, which is cut to 16; any alignment will do.
            let x = unsafe { _mm512_loadu_si512(from.as_ptr().add(at.min(16)).cast()) };
            *limb = _mm512_permutexvar_epi64(order, x);
        }
        power
    }

    /// r to the power of 8·`groups`, of which there are 1 to 4.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn past(&self, groups: usize) -> Factors {
        let at = PAST[(groups - 1) % 4] % 32;
        let [a, b, c, d, e] = &self.table;
        [
            _mm512_set1_epi64(a[at] as i64),
            _mm512_set1_epi64(b[at] as i64),
            _mm512_set1_epi64(c[at] as i64),
            _mm512_set1_epi64(d[at] as i64),
            _mm512_set1_epi64(e[at] as i64),
        ]
    }
}

/// Sums of products: the lower 52 bits of each at 2⁴⁴ⁱ, the upper at 2⁴⁴ⁱ⁺⁵².
struct Sum {
    lo: Lanes,
    hi: Lanes,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zero() -> Self {
        Sum { lo: [_mm512_setzero_si512(); 3], hi: [_mm512_setzero_si512(); 3] }
    }

    /// Adds h · `factors`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn multiply_add(&mut self, h: &Lanes, &[r0, r1, r2, s1, s2]: &Factors) {
        let [h0, h1, h2] = *h;
        for (i, factors) in [[r0, s2, s1], [r1, r0, s2], [r2, r1, r0]].into_iter().enumerate() {
            for (limb, factor) in [h0, h1, h2].into_iter().zip(factors) {
                self.lo[i] = _mm512_madd52lo_epu64(self.lo[i], limb, factor);
                self.hi[i] = _mm512_madd52hi_epu64(self.hi[i], limb, factor);
            }
        }
    }

    /// Limbs small enough to be factors again.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn carry(&self) -> Lanes {
        let [mask44, mask42] = [MASK44, MASK42].map(|mask| _mm512_set1_epi64(mask as i64));
        let [d0, d1, d2] = self.lo;
        let d1 = _mm512_add_epi64(d1, _mm512_slli_epi64::<8>(self.hi[0]));
        let d2 = _mm512_add_epi64(d2, _mm512_slli_epi64::<8>(self.hi[1]));
        let d1 = _mm512_add_epi64(d1, _mm512_srli_epi64::<44>(d0));
        let d2 = _mm512_add_epi64(d2, _mm512_srli_epi64::<44>(d1));
        let c = _mm512_add_epi64(_mm512_slli_epi64::<10>(self.hi[2]), _mm512_srli_epi64::<42>(d2));
        let c = _mm512_add_epi64(c, times_4(c));
        let h0 = _mm512_add_epi64(_mm512_and_si512(d0, mask44), c);
        let h1 = _mm512_add_epi64(_mm512_and_si512(d1, mask44), _mm512_srli_epi64::<44>(h0));
        [_mm512_and_si512(h0, mask44), h1, _mm512_and_si512(d2, mask42)]
    }

    /// The sum over all lanes, partially reduced.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn unite(&self) -> Limbs {
        let [d0, d1, d2] = self.lo;
        let d1 = _mm512_add_epi64(d1, _mm512_slli_epi64::<8>(self.hi[0]));
        let d2 = _mm512_add_epi64(d2, _mm512_slli_epi64::<8>(self.hi[1]));
        let [d0, mut d1, mut d2, d3] = [d0, d1, d2, self.hi[2]].map(|x| _mm512_reduce_add_epi64(x) as u64);
        d1 += d0 >> 44;
        d2 += d1 >> 44;
        // At 2¹³⁰.
        let c = (d2 >> 42) + (d3 << 10);
        let low = u128::from(d0 & MASK44) | u128::from(d1 & MASK44) << 44 | u128::from(d2 & MASK42) << 88;
        let (low, carry) = low.overflowing_add(5 * u128::from(c));
        [low as u64, (low >> 64) as u64, ((d2 & MASK42) >> 40) + u64::from(carry)]
    }
}

/// Eight blocks, each with its bit 2¹²⁸, in lanes 0, 2, 4, 6, 1, 3, 5, 7.
#[inline]
#[target_feature(enable = "avx512f")]
fn blocks(a: __m512i, b: __m512i) -> Lanes {
    let mask = _mm512_set1_epi64(MASK44 as i64);
    let (lo, hi) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    [
        _mm512_and_si512(lo, mask),
        _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64::<44>(lo), _mm512_slli_epi64::<20>(hi)), mask),
        _mm512_or_si512(_mm512_srli_epi64::<24>(hi), _mm512_set1_epi64(1 << 40)),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn group(bytes: &[u8; 128]) -> Lanes {
    let (halves, _) = bytes.as_chunks();
    blocks(load(&halves[0]), load(&halves[1]))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add_lanes(a: &Lanes, b: &Lanes) -> Lanes {
    [_mm512_add_epi64(a[0], b[0]), _mm512_add_epi64(a[1], b[1]), _mm512_add_epi64(a[2], b[2])]
}

/// The accumulator in the lane of the first block.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_lane(h: Limbs) -> Lanes {
    split(h).map(|limb| _mm512_zextsi128_si512(_mm_cvtsi64_si128(limb as i64)))
}

/// The sum h·r¹⁺ⁿ + m₁·r¹⁺ⁿ + m₂·rⁿ + … + mₙ·r² over n ≥ 1 blocks, the last padded with zeroes: what is still to be
/// added is the length block times r. `tail` holds what `data` has behind its last 64 whole bytes, then zeroes.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
pub(super) fn absorb_data(h: Limbs, powers: &Powers, data: &[u8], tail: __m512i) -> Limbs {
    let (groups, rest) = data.split_at_checked(128 * groups_before_last(data.len())).unwrap_or((&[], data));
    let (groups, _) = groups.as_chunks::<128>();
    let mut sum = Sum::zero();

    let count = rest.len().div_ceil(16);
    let (a, b) = match rest.len() {
        0..64 => (tail, _mm512_setzero_si512()),
        64..128 => (rest.first_chunk().map_or(tail, |chunk| load(chunk)), tail),
        _ => {
            (rest.first_chunk().map_or(tail, |chunk| load(chunk)), rest.last_chunk().map_or(tail, |chunk| load(chunk)))
        }
    };
    // What isn't there meets zeroes of the table.
    let mut last = blocks(a, b);
    let at = 16_usize.saturating_sub(count);
    if groups.is_empty() {
        last = add_lanes(&last, &first_lane(h));
        sum.multiply_add(&last, &powers.lanes(at));
        return sum.unite();
    }
    sum.multiply_add(&last, &powers.lanes(at));

    let lead = (groups.len() - 1) % 4 + 1;
    let (lead, steps) = groups.split_at(lead.min(groups.len()));
    let mut start = Sum::zero();
    let Some((last, others)) = lead.split_last() else { return sum.unite() };
    let mut first = first_lane(h);
    let mut left = others.len();
    for bytes in others {
        left -= 1;
        start.multiply_add(&add_lanes(&group(bytes), &first), &powers.past(left + 1));
        first = [_mm512_setzero_si512(); 3];
    }
    let mut lanes = add_lanes(&group(last), &first);
    if !others.is_empty() {
        lanes = add_lanes(&lanes, &start.carry());
    }
    let (steps, _) = steps.as_chunks::<4>();
    for four in steps {
        let mut sum = Sum::zero();
        sum.multiply_add(&group(&four[0]), &powers.past(3));
        sum.multiply_add(&group(&four[1]), &powers.past(2));
        sum.multiply_add(&group(&four[2]), &powers.past(1));
        sum.multiply_add(&lanes, &powers.past(4));
        lanes = add_lanes(&sum.carry(), &group(&four[3]));
    }
    sum.multiply_add(&lanes, &powers.lanes(at - 8));
    sum.unite()
}

/// Absorbs blocks with the powers that they take.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,bmi2")]
pub(super) fn absorb_many(h: Limbs, r: &[u64; 3], powers: &Powers, blocks: &[[u8; 16]]) -> Limbs {
    // The sum over the lanes lacks the last block, times r.
    match blocks.split_last() {
        Some((last, many)) if !many.is_empty() => {
            let data = many.as_flattened();
            add(absorb_data(h, powers, data, tail(data)), absorb([0; 3], r, last))
        }
        _ => absorb_all(h, r, blocks),
    }
}

/// From here on, in blocks, setting powers of r and uniting the lanes pays.
const MANY: usize = 24;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
pub(super) fn update(poly: &mut Poly, blocks: &[[u8; 16]]) {
    let mut key = poly.key();
    if blocks.len() < MANY {
        poly.h = absorb_all(poly.h, &key.r, blocks);
    } else {
        let mut powers = Powers::ZERO;
        powers.set(&key, groups_before_last(16 * (blocks.len() - 1)));
        optimization_barrier(&powers);
        poly.h = absorb_many(poly.h, &key.r, &powers, blocks);
        wipe(&mut powers);
    }
    key.wipe();
}

/// What `data` has behind its last 64 whole bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(super) fn tail(data: &[u8]) -> __m512i {
    let (_, tail) = data.as_chunks::<64>();
    let mask = _bzhi_u64(u64::MAX, tail.len() as u32);
    // SAFETY: the mask has as many bits as `tail` bytes, and no others are read.
    unsafe { _mm512_maskz_loadu_epi8(mask, tail.as_ptr().cast()) }
}
