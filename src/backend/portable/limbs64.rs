//! Poly1305 (RFC 8439, section 2.5) by schoolbook multiplication in radix 2⁶⁴, for targets with
//! 64-bit multiplication.
//!
//! r is clamped: its words, the first excepted, are multiples of 4 with four zero bits on top. So
//! s = r + r/4 = 5r/4 is exact, and what a product carries to 2¹³⁰ and above comes back as a multiple of s.

use crate::backend::split_key;
use crate::wipe::wipe;

/// h = h₀ + h₁·2⁶⁴ + h₂·2¹²⁸; tag = h + s. The kernels in `asm/ppc64le` know this order.
#[repr(C)]
pub(crate) struct Poly {
    h: [u64; 3],
    r: [u64; 2],
    s: [u64; 2],
}

impl Poly {
    pub(in crate::backend) fn new(key: &[u8; 32]) -> Self {
        let (r, s) = split_key(key);
        Poly { h: [0; 3], r: halves(r), s: halves(s) }
    }

    pub(in crate::backend) fn update(&mut self, blocks: &[[u8; 16]]) {
        for block in blocks {
            self.absorb(block, 1);
        }
    }

    /// h ← (h + block + `padbit`·2¹²⁸) · r, partially reduced: h₂ ≤ 4 before and after.
    ///
    /// With h₂ ≤ 6 after the addition, r₀, r₁ < 2⁶⁰ and s₁ < 1.25·2⁶⁰: d₀ < 2.25·2¹²⁴, d₁ < 2·2¹²⁴ + 2⁶⁴,
    /// d₂ < 6·2⁶⁰ + 2⁶¹ + 1. What of d₂ is at 2¹³⁰ and above, c = d₂ >> 2, comes back as 5c = 4c + c:
    /// below 5/4 · (2⁶³ + 1) < 2⁶⁴.
    #[inline(always)]
    fn absorb(&mut self, block: &[u8; 16], padbit: u64) {
        let [m0, m1] = halves(u128::from_le_bytes(*block));
        let [r0, r1] = self.r;
        let s1 = r1 + (r1 >> 2);
        let (h0, carry) = carry_add(self.h[0], m0, 0);
        let (h1, carry) = carry_add(self.h[1], m1, carry);
        let h2 = self.h[2] + padbit + carry;

        let d0 = wide(h0, r0) + wide(h1, s1);
        let d1 = wide(h0, r1) + wide(h1, r0) + wide(h2, s1) + (d0 >> 64);
        let d2 = h2 * r0 + (d1 >> 64) as u64;

        let (h0, carry) = carry_add(d0 as u64, (d2 & !3) + (d2 >> 2), 0);
        let (h1, carry) = carry_add(d1 as u64, 0, carry);
        self.h = [h0, h1, (d2 & 3) + carry];
    }

    pub(in crate::backend) fn finish(&mut self, partial: Option<&[u8; 16]>) -> [u8; 16] {
        if let Some(block) = partial {
            self.absorb(block, 0);
        }
        let [h0, h1, h2] = self.h;
        // h < 2p, so it is h or h − p = h + 5 − 2¹³⁰: the latter if h + 5 reaches 2¹³⁰.
        let (g0, carry) = carry_add(h0, 5, 0);
        let (g1, carry) = carry_add(h1, 0, carry);
        let reduce = ((h2 + carry) >> 2).wrapping_neg();
        let (t0, carry) = carry_add(h0 ^ (reduce & (h0 ^ g0)), self.s[0], 0);
        let (t1, _) = carry_add(h1 ^ (reduce & (h1 ^ g1)), self.s[1], carry);
        (u128::from(t1) << 64 | u128::from(t0)).to_le_bytes()
    }
}

impl Drop for Poly {
    fn drop(&mut self) {
        wipe(&mut self.h);
        wipe(&mut self.r);
        wipe(&mut self.s);
    }
}

fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

/// a + b + carry: low word and carry.
#[inline(always)]
fn carry_add(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    (sum as u64, (sum >> 64) as u64)
}

#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}
