//! Poly1305 (RFC 8439, section 2.5) of many blocks: radix 2²⁶ in four lanes of vectors, beside the general registers.

use crate::backend::x86_64::poly1305::{Limbs, Poly, absorb, absorb_all, add, halves, multiply};
use crate::wipe::{Wipe, wipe};
use core::arch::asm;
use core::arch::x86_64::*;
use zeroize::optimization_barrier;

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

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn update(poly: &mut Poly, blocks: &[[u8; 16]]) {
    let mut key = poly.key();
    poly.h = absorb_any(poly.h, &key.r, blocks);
    key.wipe();
}
