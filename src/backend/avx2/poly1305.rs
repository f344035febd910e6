//! Poly1305 (RFC 8439, section 2.5) in radix 2⁶⁴ in general registers: one chain for a few blocks, two side by
//! side for more, and four lanes of vectors in radix 2²⁶ for many.

use crate::backend::split_key;
use crate::wipe::wipe;

/// h = h₀ + h₁·2⁶⁴ + h₂·2¹²⁸; tag = h + s.
pub(crate) struct Poly {
    h: [u64; 3],
    r: [u64; 2],
    s: [u64; 2],
}

impl Poly {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let (r, s) = split_key(key);
        Poly { h: [0; 3], r: halves(r), s: halves(s) }
    }
}

#[target_feature(enable = "bmi1,bmi2")]
pub(super) fn update(poly: &mut Poly, blocks: &[[u8; 16]]) {
    for block in blocks {
        poly.h = absorb(poly.h, u128::from_le_bytes(*block), 1, poly.r);
    }
}

#[target_feature(enable = "bmi1,bmi2")]
pub(super) fn finish(poly: &mut Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
    if let Some(block) = partial {
        poly.h = absorb(poly.h, u128::from_le_bytes(*block), 0, poly.r);
    }
    tag(poly.h, poly.s)
}

/// (h + m + `padbit`·2¹²⁸) · r, partially reduced: h₂ ≤ 4 before and after.
///
/// r is clamped: its upper word is a multiple of 4, so s₁ = 5r₁/4 is exact, and both words are below 2⁶⁰. With
/// h₂ ≤ 6 after the addition: d₀ < 2.25·2¹²⁴, d₁ < 2·2¹²⁴ + 2⁶⁴, d₂ < 6·2⁶⁰ + 2⁶¹ + 1. What of d₂ is at 2¹³⁰
/// and above, c = d₂ >> 2, comes back as 5c < 5/4 · 2⁶³.
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn absorb(h: [u64; 3], m: u128, padbit: u64, [r0, r1]: [u64; 2]) -> [u64; 3] {
    let s1 = r1 + (r1 >> 2);
    let (sum, carry) = join(h[0], h[1]).overflowing_add(m);
    let [h0, h1] = halves(sum);
    let h2 = h[2] + padbit + u64::from(carry);

    let d0 = wide(h0, r0) + wide(h1, s1);
    let d1 = wide(h0, r1) + wide(h1, r0) + u128::from(h2 * s1) + (d0 >> 64);
    let d2 = h2 * r0 + (d1 >> 64) as u64;

    let (sum, carry) = join(d0 as u64, d1 as u64).overflowing_add(u128::from(5 * (d2 >> 2)));
    let [h0, h1] = halves(sum);
    [h0, h1, (d2 & 3) + u64::from(carry)]
}

/// h mod p, plus s, mod 2¹²⁸.
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn tag([h0, h1, h2]: [u64; 3], [s0, s1]: [u64; 2]) -> [u8; 16] {
    // h < 2p, so it is h or h − p = h + 5 − 2¹³⁰: the latter if h + 5 reaches 2¹³⁰.
    let h = join(h0, h1);
    let (g, carry) = h.overflowing_add(5);
    let reduce = u128::from((h2 + u64::from(carry)) >> 2).wrapping_neg();
    (h ^ (reduce & (h ^ g))).wrapping_add(join(s0, s1)).to_le_bytes()
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
