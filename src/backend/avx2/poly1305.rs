//! Poly1305 (RFC 8439, section 2.5): in radix 2⁶⁴ in general registers for few blocks, in radix 2²⁶ in four lanes
//! of vectors for many.

use super::rounds::absorb;
use crate::backend::{CLAMP, split_key};
use crate::wipe::{Wipe, wipe};
use core::arch::asm;
use core::arch::x86_64::*;
use zeroize::optimization_barrier;

/// h₀ + h₁·2⁶⁴ + h₂·2¹²⁸, partially reduced: h₂ ≤ 4.
pub(super) type Limbs = [u64; 3];

/// The one-time key.
#[derive(Clone, Copy)]
pub(super) struct Key {
    /// r₀, r₁ and s₁ = 5r₁/4. r is clamped: r₁ is a multiple of 4, so this is exact, and what a product carries
    /// to 2¹³⁰ and above comes back as a multiple of it.
    pub(super) r: [u64; 3],
    s: [u64; 2],
}

impl Key {
    #[inline(always)]
    pub(super) fn new(r: u128, s: u128) -> Self {
        let [r0, r1] = halves(r & CLAMP);
        Key { r: [r0, r1, r1 + (r1 >> 2)], s: halves(s) }
    }

    /// h + s mod 2¹²⁸ for the accumulator h mod p.
    #[inline(always)]
    pub(super) fn tag(&self, [h0, h1, h2]: Limbs) -> u128 {
        // h < 2p, so it is h or h − p = h + 5 − 2¹³⁰: the latter if h + 5 reaches 2¹³⁰.
        let h = join(h0, h1);
        let (g, carry) = h.overflowing_add(5);
        let reduce = u128::from((h2 + u64::from(carry)) >> 2).wrapping_neg();
        (h ^ (reduce & (h ^ g))).wrapping_add(join(self.s[0], self.s[1]))
    }

    pub(super) fn wipe(&mut self) {
        wipe(&mut self.r);
        wipe(&mut self.s);
    }
}

/// (h + m + 2¹²⁸) · r, partially reduced. Needs BMI2, like all that it is inlined into.
///
/// With h₂ ≤ 6 after the addition, r₀, r₁ < 2⁶⁰ and s₁ < 1.25·2⁶⁰, the sums of products are below 2.25·2¹²⁴ (at 1),
/// 2·2¹²⁴ + 2⁶⁷ (at 2⁶⁴) and 6·2⁶⁰ + 2⁶¹ + 1 (at 2¹²⁸). What of the last is at 2¹³⁰ and above, c, comes back as
/// 5c < 5/4·2⁶³.
#[inline(always)]
pub(super) fn absorb(h: Limbs, r: &[u64; 3], m: &[u8; 16]) -> Limbs {
    let [mut h0, mut h1, mut h2] = h;
    // SAFETY: reads 16 bytes at `m` and three words at `r`, the lengths of the arrays.
    unsafe {
        asm!(
            absorb!(0),
            m = in(reg) m.as_ptr(), r = in(reg) r.as_ptr(),
            h0 = inout(reg) h0, h1 = inout(reg) h1, h2 = inout(reg) h2,
            d0 = out(reg) _, d1 = out(reg) _, d2 = out(reg) _, t = out(reg) _, out("rdx") _,
            options(pure, readonly, nostack),
        );
    }
    [h0, h1, h2]
}

/// The same with a block from registers.
#[inline(always)]
pub(super) fn absorb_number(h: Limbs, r: &[u64; 3], m: u128) -> Limbs {
    let [mut h0, mut h1, mut h2] = h;
    let [m0, m1] = halves(m);
    // SAFETY: reads three words at `r`, the length of the array.
    unsafe {
        asm!(
            absorb!("{m0}", "{m1}"),
            m0 = in(reg) m0, m1 = in(reg) m1, r = in(reg) r.as_ptr(),
            h0 = inout(reg) h0, h1 = inout(reg) h1, h2 = inout(reg) h2,
            d0 = out(reg) _, d1 = out(reg) _, d2 = out(reg) _, t = out(reg) _, out("rdx") _,
            options(pure, readonly, nostack),
        );
    }
    [h0, h1, h2]
}

#[inline(always)]
pub(super) fn absorb_all(mut h: Limbs, r: &[u64; 3], blocks: &[[u8; 16]]) -> Limbs {
    for block in blocks {
        h = absorb(h, r, block);
    }
    h
}

/// a · b, partially reduced, for partially reduced factors.
///
/// At 2¹²⁸ the sum is below 2¹²⁸ + 2·4·2⁶⁴ + 2⁶⁴ and overflows no more than the rest: it is cut at 2¹³⁰ with the top words,
/// c = a·b >> 130 < 2¹³⁰·(5/4)², and comes back as 5c < 2¹³³.
#[inline]
#[target_feature(enable = "bmi2")]
pub(super) fn multiply(a: Limbs, b: Limbs) -> Limbs {
    let d0 = wide(a[0], b[0]);
    let (d1, carry) = wide(a[0], b[1]).overflowing_add(wide(a[1], b[0]));
    let (d1, carry1) = d1.overflowing_add(d0 >> 64);
    // a₂, b₂ ≤ 4: these products have 67 bits at most, and small·small 5.
    let d2 = wide(a[1], b[1]);
    let (d2, carry2) = d2.overflowing_add(wide(a[0], b[2]) + wide(a[2], b[0]) + (d1 >> 64));
    let d2_carry = u64::from(carry) + u64::from(carry1);
    let (d2, carry3) = d2.overflowing_add(u128::from(d2_carry) << 64);
    let d3 = wide(a[1], b[2]) + wide(a[2], b[1]) + (d2 >> 64) + (u128::from(u8::from(carry2) + u8::from(carry3)) << 64);
    let d4 = a[2] * b[2] + (d3 >> 64) as u64;

    // a·b = low + c·2¹³⁰ ≡ low + 5c = low + c + 4c.
    let low = [d0 as u64, d1 as u64, d2 as u64 & 3];
    let (c0, c1, c2) = ((d2 as u64 >> 2) | (d3 as u64) << 62, (d3 as u64 >> 2) | d4 << 62, d4 >> 2);
    let (e0, e1, e2) = (d2 as u64 & !3, d3 as u64, d4);
    let (sum, carry) = join(low[0], low[1]).overflowing_add(join(c0, c1));
    let (sum, carry1) = sum.overflowing_add(join(e0, e1));
    let h2 = low[2] + c2 + e2 + u64::from(carry) + u64::from(carry1);
    let (sum, carry) = sum.overflowing_add(u128::from(5 * (h2 >> 2)));
    let [h0, h1] = halves(sum);
    [h0, h1, (h2 & 3) + u64::from(carry)]
}

/// a + b, partially reduced.
#[inline(always)]
pub(super) fn add(a: Limbs, b: Limbs) -> Limbs {
    let (sum, carry) = join(a[0], a[1]).overflowing_add(join(b[0], b[1]));
    let h2 = a[2] + b[2] + u64::from(carry);
    let (sum, carry) = sum.overflowing_add(u128::from(5 * (h2 >> 2)));
    let [h0, h1] = halves(sum);
    [h0, h1, (h2 & 3) + u64::from(carry)]
}

/// Five limbs in radix 2²⁶, of one number or of four in lanes.
type Limbs26<T> = [T; 5];

const MASK: u64 = (1 << 26) - 1;

/// The same number in radix 2²⁶; the top limb is below 2²⁴·5, the others below 2²⁶.
#[inline(always)]
fn split([h0, h1, h2]: Limbs) -> Limbs26<u64> {
    [h0 & MASK, h0 >> 26 & MASK, (h0 >> 52 | h1 << 12) & MASK, h1 >> 14 & MASK, h1 >> 40 | h2 << 24]
}

/// The number Σ dᵢ·2²⁶ⁱ, partially reduced, for dᵢ < 2⁶¹.
#[inline(always)]
fn unite(mut d: Limbs26<u64>) -> Limbs {
    for i in 0..4 {
        d[i + 1] += d[i] >> 26;
        d[i] &= MASK;
    }
    d[0] += 5 * (d[4] >> 26);
    d[4] &= MASK;
    // d₀ < 2⁵⁰ still, so these sums carry.
    let low = u128::from(d[0]) + (u128::from(d[1]) << 26) + (u128::from(d[2]) << 52) + (u128::from(d[3]) << 78);
    let (sum, carry) = low.overflowing_add(u128::from(d[4]) << 104);
    let [h0, h1] = halves(sum);
    [h0, h1, (d[4] >> 24) + u64::from(carry)]
}

/// Factors of lanes: the limbs of a power of r, and five times its limbs 1 to 4 for what products carry to 2¹³⁰ and
/// above. Below 2²⁹, each in the lower half of a lane.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Factors([[u64; 4]; 9]);

impl Wipe for Factors {
    const ZERO: Self = Factors([[0; 4]; 9]);
}

impl Factors {
    /// The product of the lower halves of lanes. In words of our own: the compiler takes the intrinsic for a
    /// multiplication of 64 bits and finds three instructions to do it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn times<const I: usize>(&self, x: __m256i) -> __m256i {
        let product;
        const { assert!(I < 9) };
        // SAFETY: reads 32 bytes of the outer array, at its element `I`.
        unsafe {
            asm!("vpmuludq {}, {}, [{} + {}]", out(ymm_reg) product, in(ymm_reg) x, in(reg) &self.0, const 32 * I,
                options(pure, readonly, nostack, preserves_flags));
        }
        product
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn set(&mut self, i: usize, x: __m256i) {
        // SAFETY: 32 bytes are written, the length of the inner array; any alignment will do.
        unsafe { _mm256_storeu_si256(self.0[i].as_mut_ptr().cast(), x) }
    }

    /// From a partially reduced number in each lane, by its words.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn set_lanes(&mut self, h0: __m256i, h1: __m256i, h2: __m256i) {
        let mask = _mm256_set1_epi64x(MASK as i64);
        let limbs = [
            h0,
            _mm256_srli_epi64::<26>(h0),
            _mm256_or_si256(_mm256_srli_epi64::<52>(h0), _mm256_slli_epi64::<12>(h1)),
            _mm256_srli_epi64::<14>(h1),
            _mm256_or_si256(_mm256_srli_epi64::<40>(h1), _mm256_slli_epi64::<24>(h2)),
        ];
        for (i, limb) in limbs.into_iter().enumerate() {
            // The top limb may have 27 bits.
            let limb = if i < 4 { _mm256_and_si256(limb, mask) } else { limb };
            self.set(i, limb);
            if i > 0 {
                self.set(4 + i, _mm256_add_epi64(limb, _mm256_slli_epi64::<2>(limb)));
            }
        }
    }

    /// The same number in all lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn set_same(&mut self, [h0, h1, h2]: Limbs) {
        self.set_lanes(_mm256_set1_epi64x(h0 as i64), _mm256_set1_epi64x(h1 as i64), _mm256_set1_epi64x(h2 as i64));
    }
}

/// The powers of r by which lanes are multiplied.
#[derive(Clone, Copy)]
struct Powers<const STEPS: usize> {
    /// r⁴ in all lanes, r⁸, r¹², r¹⁶.
    steps: [Factors; STEPS],
    /// What the blocks of the last step still lack, in the order of `load_four`.
    last: Factors,
}

impl<const STEPS: usize> Wipe for Powers<STEPS> {
    const ZERO: Self = Powers { steps: [Factors::ZERO; STEPS], last: Factors::ZERO };
}

impl<const STEPS: usize> Powers<STEPS> {
    /// Sets all but the later steps; gives r³ and r⁴.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn set(&mut self, r: &[u64; 3]) -> [Limbs; 2] {
        let r1 = [r[0], r[1], 0];
        let r2 = multiply(r1, r1);
        let r3 = multiply(r2, r1);
        let r4 = multiply(r2, r2);
        self.last.set_lanes(
            _mm256_setr_epi64x(r4[0] as i64, r2[0] as i64, r3[0] as i64, r1[0] as i64),
            _mm256_setr_epi64x(r4[1] as i64, r2[1] as i64, r3[1] as i64, r1[1] as i64),
            _mm256_setr_epi64x(r4[2] as i64, r2[2] as i64, r3[2] as i64, r1[2] as i64),
        );
        self.steps[0].set_same(r4);
        [r3, r4]
    }
}

/// Four blocks, each with its bit 2¹²⁸, in lanes 0, 2, 1, 3.
#[inline]
#[target_feature(enable = "avx2")]
fn load_four(blocks: &[[u8; 16]; 4]) -> Limbs26<__m256i> {
    let mask = _mm256_set1_epi64x(MASK as i64);
    // SAFETY: 32 bytes are read twice, the length of the array; any alignment will do.
    let (a, b) =
        unsafe { (_mm256_loadu_si256(blocks.as_ptr().cast()), _mm256_loadu_si256(blocks[2..].as_ptr().cast())) };
    let lo = _mm256_unpacklo_epi64(a, b);
    let hi = _mm256_unpackhi_epi64(a, b);
    let middle = _mm256_or_si256(_mm256_srli_epi64::<52>(lo), _mm256_slli_epi64::<12>(hi));
    [
        _mm256_and_si256(lo, mask),
        _mm256_and_si256(_mm256_srli_epi64::<26>(lo), mask),
        _mm256_and_si256(middle, mask),
        _mm256_and_si256(_mm256_srli_epi64::<14>(hi), mask),
        _mm256_or_si256(_mm256_srli_epi64::<40>(hi), _mm256_set1_epi64x(1 << 24)),
    ]
}

/// `sum` + h · `factors`, without carries.
///
/// With the limbs of h below 2²⁸ and the factors below 2²⁹, each of the five products is below 2⁵⁷. Four calls
/// stay below 2⁶².
#[inline]
#[target_feature(enable = "avx2")]
fn multiply_add(sum: &mut Limbs26<__m256i>, h: &Limbs26<__m256i>, factors: &Factors) {
    macro_rules! column {
        ($i:literal: $($j:literal $factor:literal),*) => {
            $(sum[$i] = _mm256_add_epi64(sum[$i], factors.times::<$factor>(h[$j]));)*
        };
    }
    // hⱼ times limb i − j of the power; five times limb 5 + i − j where that is negative.
    column!(0: 0 0, 1 8, 2 7, 3 6, 4 5);
    column!(1: 0 1, 1 0, 2 8, 3 7, 4 6);
    column!(2: 0 2, 1 1, 2 0, 3 8, 4 7);
    column!(3: 0 3, 1 2, 2 1, 3 0, 4 8);
    column!(4: 0 4, 1 3, 2 2, 3 1, 4 0);
}

/// Limbs below 2²⁶ + 2¹¹ again, from limbs below 2⁶².
#[inline]
#[target_feature(enable = "avx2")]
fn carry(d: Limbs26<__m256i>) -> Limbs26<__m256i> {
    let mask = _mm256_set1_epi64x(MASK as i64);
    let [mut d0, mut d1, mut d2, mut d3, mut d4] = d;
    // Two chains side by side: 0 → 1 → 2 → 3 and 3 → 4 → 0 → 1, then 3 → 4.
    d1 = _mm256_add_epi64(d1, _mm256_srli_epi64::<26>(d0));
    d4 = _mm256_add_epi64(d4, _mm256_srli_epi64::<26>(d3));
    d0 = _mm256_and_si256(d0, mask);
    d3 = _mm256_and_si256(d3, mask);
    d2 = _mm256_add_epi64(d2, _mm256_srli_epi64::<26>(d1));
    let c = _mm256_srli_epi64::<26>(d4);
    d0 = _mm256_add_epi64(d0, _mm256_add_epi64(c, _mm256_slli_epi64::<2>(c)));
    d1 = _mm256_and_si256(d1, mask);
    d4 = _mm256_and_si256(d4, mask);
    d3 = _mm256_add_epi64(d3, _mm256_srli_epi64::<26>(d2));
    d1 = _mm256_add_epi64(d1, _mm256_srli_epi64::<26>(d0));
    d2 = _mm256_and_si256(d2, mask);
    d0 = _mm256_and_si256(d0, mask);
    d4 = _mm256_add_epi64(d4, _mm256_srli_epi64::<26>(d3));
    d3 = _mm256_and_si256(d3, mask);
    [d0, d1, d2, d3, d4]
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_lanes(a: &Limbs26<__m256i>, b: &Limbs26<__m256i>) -> Limbs26<__m256i> {
    let mut sum = *a;
    for i in 0..5 {
        sum[i] = _mm256_add_epi64(a[i], b[i]);
    }
    sum
}

/// From here on, in blocks, setting powers of r and uniting the lanes pays.
const MANY: usize = 48;

/// From here on, r⁸, r¹² and r¹⁶ pay, which save three carries of four.
const VERY_MANY: usize = 128;

/// Blocks that go through the general registers for every 16 blocks in lanes.
const BESIDE: usize = 5;

/// How many blocks of so many go through the general registers: a number that makes r to its power cheap, 2ᵏ or
/// 3·2ᵏ, or none if the power costs more than they save.
fn beside(blocks: usize) -> usize {
    let most = BESIDE * (blocks / (16 + BESIDE)).saturating_sub(1);
    if most < 48 {
        return 0;
    }
    let power_of_two = 1 << most.ilog2();
    if most >= power_of_two / 2 * 3 { power_of_two / 2 * 3 } else { power_of_two }
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
pub(super) fn absorb_any(h: Limbs, r: &[u64; 3], blocks: &[[u8; 16]]) -> Limbs {
    match blocks.len() {
        ..MANY => absorb_all(h, r, blocks),
        MANY..VERY_MANY => absorb_many(h, r, blocks),
        VERY_MANY.. => absorb_very_many(h, r, blocks),
    }
}

/// Absorbs blocks four at a time.
#[target_feature(enable = "avx2,bmi2")]
fn absorb_many(h: Limbs, r: &[u64; 3], blocks: &[[u8; 16]]) -> Limbs {
    let (steps, tail) = blocks.as_chunks();
    let Some((last, steps)) = steps.split_last() else { return absorb_all(h, r, blocks) };
    let mut powers = Powers::<1>::ZERO;
    powers.set(r);
    optimization_barrier(&powers);
    let mut lanes = first_lane(h);
    for step in steps {
        let mut sum = [_mm256_setzero_si256(); 5];
        multiply_add(&mut sum, &add_lanes(&lanes, &load_four(step)), &powers.steps[0]);
        lanes = carry(sum);
    }
    let h = unite_lanes(&lanes, last, &powers.last);
    wipe(&mut powers);
    absorb_all(h, r, tail)
}

/// Absorbs blocks sixteen at a time, and some in the general registers beside them.
#[target_feature(enable = "avx2,bmi2")]
fn absorb_very_many(h: Limbs, r: &[u64; 3], blocks: &[[u8; 16]]) -> Limbs {
    let beside = beside(blocks.len());
    let lanes = (blocks.len() - beside) & !3;
    let Some((steps, rest)) = blocks.split_at_checked(lanes) else { return absorb_all(h, r, blocks) };
    let Some((beside, tail)) = rest.split_at_checked(beside) else { return absorb_all(h, r, blocks) };
    let (steps, _) = steps.as_chunks();
    let Some((last, steps)) = steps.split_last() else { return absorb_all(h, r, blocks) };
    let (fours, ones) = steps.as_chunks::<4>();
    let (fives, few) = beside.as_chunks::<BESIDE>();

    let mut powers = Powers::<4>::ZERO;
    let [r3, r4] = powers.set(r);
    let r8 = multiply(r4, r4);
    powers.steps[1].set_same(r8);
    powers.steps[2].set_same(multiply(r8, r4));
    powers.steps[3].set_same(multiply(r8, r8));
    optimization_barrier(&powers);

    let mut lanes = first_lane(h);
    let mut g = [0; 3];
    let (shared, alone) = fours.split_at(fives.len().min(fours.len()));
    for (four, five) in shared.iter().zip(fives) {
        let mut sum = [_mm256_setzero_si256(); 5];
        g = absorb(g, r, &five[0]);
        multiply_add(&mut sum, &add_lanes(&lanes, &load_four(&four[0])), &powers.steps[3]);
        g = absorb(g, r, &five[1]);
        multiply_add(&mut sum, &load_four(&four[1]), &powers.steps[2]);
        g = absorb(g, r, &five[2]);
        multiply_add(&mut sum, &load_four(&four[2]), &powers.steps[1]);
        g = absorb(g, r, &five[3]);
        multiply_add(&mut sum, &load_four(&four[3]), &powers.steps[0]);
        g = absorb(g, r, &five[4]);
        lanes = carry(sum);
    }
    for four in alone {
        let mut sum = [_mm256_setzero_si256(); 5];
        multiply_add(&mut sum, &add_lanes(&lanes, &load_four(&four[0])), &powers.steps[3]);
        multiply_add(&mut sum, &load_four(&four[1]), &powers.steps[2]);
        multiply_add(&mut sum, &load_four(&four[2]), &powers.steps[1]);
        multiply_add(&mut sum, &load_four(&four[3]), &powers.steps[0]);
        lanes = carry(sum);
    }
    for one in ones {
        let mut sum = [_mm256_setzero_si256(); 5];
        multiply_add(&mut sum, &add_lanes(&lanes, &load_four(one)), &powers.steps[0]);
        lanes = carry(sum);
    }
    let mut h = unite_lanes(&lanes, last, &powers.last);
    wipe(&mut powers);
    if !beside.is_empty() {
        g = absorb_all(g, r, fives.get(shared.len()..).unwrap_or_default().as_flattened());
        g = absorb_all(g, r, few);
        let mut power = if beside.len().is_multiple_of(3) { r3 } else { [r[0], r[1], 0] };
        for _ in 0..beside.len().trailing_zeros() {
            power = multiply(power, power);
        }
        h = add(multiply(h, power), g);
    }
    absorb_all(h, r, tail)
}

/// The accumulator goes on in the lane of the first block.
#[inline]
#[target_feature(enable = "avx2")]
fn first_lane(h: Limbs) -> Limbs26<__m256i> {
    let mut lanes = [_mm256_setzero_si256(); 5];
    for (lane, limb) in lanes.iter_mut().zip(split(h)) {
        *lane = _mm256_set_epi64x(0, 0, 0, limb as i64);
    }
    lanes
}

/// Absorbs the last four blocks, and unites the lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn unite_lanes(lanes: &Limbs26<__m256i>, step: &[[u8; 16]; 4], last: &Factors) -> Limbs {
    let mut sum = [_mm256_setzero_si256(); 5];
    multiply_add(&mut sum, &add_lanes(lanes, &load_four(step)), last);
    let mut d = [0; 5];
    for (limb, lanes) in d.iter_mut().zip(sum) {
        let pair = _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
        *limb = _mm_cvtsi128_si64(_mm_add_epi64(pair, _mm_unpackhi_epi64(pair, pair))) as u64;
    }
    unite(d)
}

/// Poly1305 in progress.
pub(crate) struct Poly {
    h: Limbs,
    r: [u64; 2],
    s: [u64; 2],
}

impl Poly {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let (r, s) = split_key(key);
        Poly { h: [0; 3], r: halves(r), s: halves(s) }
    }

    #[inline(always)]
    fn key(&self) -> Key {
        Key::new(join(self.r[0], self.r[1]), join(self.s[0], self.s[1]))
    }
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn update(poly: &mut Poly, blocks: &[[u8; 16]]) {
    let mut key = poly.key();
    poly.h = absorb_any(poly.h, &key.r, blocks);
    key.wipe();
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn finish(poly: &mut Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
    let mut key = poly.key();
    if let Some(block) = partial {
        // Without the bit 2¹²⁸, which `absorb` adds.
        let [h0, h1, h2] = poly.h;
        poly.h = absorb([h0, h1, h2.wrapping_sub(1)], &key.r, block);
    }
    let tag = key.tag(poly.h);
    key.wipe();
    tag.to_le_bytes()
}

impl Drop for Poly {
    fn drop(&mut self) {
        wipe(&mut self.h);
        wipe(&mut self.r);
        wipe(&mut self.s);
    }
}

#[inline(always)]
fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

#[inline(always)]
fn join(lo: u64, hi: u64) -> u128 {
    u128::from(hi) << 64 | u128::from(lo)
}

#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}
