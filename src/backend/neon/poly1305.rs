//! Poly1305 (RFC 8439, section 2.5), block by block in general registers, radix 2⁶⁴.

use crate::backend::split_key;
use crate::wipe::wipe;

/// h·r so far, in general registers: h = h₀ + h₁·2⁶⁴ + h₂·2¹²⁸.
#[derive(Clone, Copy)]
pub(super) struct Horner {
    h: [u64; 3],
    r: [u64; 2],
}

impl Horner {
    /// h ← (h + block + `padbit`·2¹²⁸) · r, partially reduced: h₂ ≤ 4 before and after.
    ///
    /// r is clamped: its upper word is a multiple of 4, so s₁ = 5r₁/4 is exact, and both words are below 2⁶⁰. With
    /// h₂ ≤ 6 after the addition: d₀ < 2.25·2¹²⁴, h₂·s₁ + (d₀ >> 64) < 7.5·2⁶⁰ + 2.25·2⁶⁰, d₁ < 2·2¹²⁴ + 2⁶⁴,
    /// d₂ < 6·2⁶⁰ + 2⁶¹ + 1. What of d₂ is at 2¹³⁰ and above, c = d₂ >> 2, comes back as 5c = 4c + c < 5/4 · 2⁶³.
    #[inline(always)]
    pub(super) fn absorb(&mut self, block: &[u8; 16], padbit: u64) {
        let [r0, r1] = self.r;
        let s1 = r1 + (r1 >> 2);
        let [m0, m1] = halves(u128::from_le_bytes(*block));
        let (h0, carry) = carry_add(self.h[0], m0, false);
        let (h1, carry) = carry_add(self.h[1], m1, carry);
        let h2 = self.h[2] + padbit + u64::from(carry);

        let d0 = wide(h0, r0) + wide(h1, s1);
        let d1 = wide(h0, r1) + wide(h1, r0) + u128::from(h2 * s1 + (d0 >> 64) as u64);
        let d2 = h2 * r0 + (d1 >> 64) as u64;

        let (h0, carry) = carry_add(d0 as u64, (d2 & !3) + (d2 >> 2), false);
        let (h1, carry) = carry_add(d1 as u64, 0, carry);
        self.h = [h0, h1, (d2 & 3) + u64::from(carry)];
    }
}

/// Keyed, with what has been absorbed; wiped on drop.
pub(crate) struct Poly {
    horner: Horner,
    s: [u64; 2],
}

impl Poly {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let (r, s) = split_key(key);
        Poly { horner: Horner { h: [0; 3], r: halves(r) }, s: halves(s) }
    }

    #[inline]
    pub(super) fn update(&mut self, blocks: &[[u8; 16]]) {
        let mut horner = self.horner;
        for block in blocks {
            horner.absorb(block, 1);
        }
        self.horner = horner;
    }

    #[inline]
    pub(super) fn finish(&mut self, partial: Option<&[u8; 16]>) -> [u8; 16] {
        if let Some(block) = partial {
            self.horner.absorb(block, 0);
        }
        // h < 2p, so it is h or h − p = h + 5 − 2¹³⁰: the latter if h + 5 reaches 2¹³⁰.
        let [h0, h1, h2] = self.horner.h;
        let h = join(h0, h1);
        let (g, carry) = h.overflowing_add(5);
        let reduce = u128::from((h2 + u64::from(carry)) >> 2).wrapping_neg();
        (h ^ (reduce & (h ^ g))).wrapping_add(join(self.s[0], self.s[1])).to_le_bytes()
    }
}

impl Drop for Poly {
    fn drop(&mut self) {
        wipe(&mut self.horner.h);
        wipe(&mut self.horner.r);
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

#[inline(always)]
fn carry_add(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry.into());
    (sum, first | second)
}
