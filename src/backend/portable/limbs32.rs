//! Poly1305 (RFC 8439, section 2.5) by schoolbook multiplication in radix 2³², for targets without
//! 64-bit multiplication.
//!
//! r is clamped: its words, the first excepted, are multiples of 4 with four zero bits on top. So
//! s = r + r/4 = 5r/4 is exact, and what a product carries to 2¹³⁰ and above comes back as a multiple of s.

use crate::backend::{split_key, words};
use crate::wipe::wipe;

/// h = Σ hᵢ·2³²ⁱ; tag = h + s.
pub(crate) struct Poly {
    h: [u32; 5],
    r: [u32; 4],
    s: [u32; 4],
}

impl Poly {
    pub(in crate::backend) fn new(key: &[u8; 32]) -> Self {
        let (r, s) = split_key(key);
        Poly { h: [0; 5], r: quarters(r), s: quarters(s) }
    }

    pub(in crate::backend) fn update(&mut self, blocks: &[[u8; 16]]) {
        for block in blocks {
            self.absorb(block, 1);
        }
    }

    /// h ← (h + block + `padbit`·2¹²⁸) · r, partially reduced: h₄ ≤ 4 before and after.
    ///
    /// With hᵢ < 2³², h₄ ≤ 6 after the addition, rᵢ < 2²⁸ and sᵢ < 1.25·2²⁸: d₀, d₁, d₂ < 5·2⁶⁰ + 2³³ and
    /// d₃ < 4·2⁶⁰ + 2³³, so d₄ < 6·2²⁸ + 2³⁰ + 2, and 5/4 of that is below 2³².
    #[inline(always)]
    fn absorb(&mut self, block: &[u8; 16], padbit: u32) {
        let [r0, r1, r2, r3] = self.r;
        let [s1, s2, s3] = [r1, r2, r3].map(|r| r + (r >> 2));
        let m: [u32; 4] = words(block);
        let mut h = self.h;
        let mut carry = 0;
        for i in 0..4 {
            (h[i], carry) = carry_add(h[i], m[i], carry);
        }
        let [h0, h1, h2, h3, _] = h;
        let h4 = h[4] + padbit + carry;

        let d0 = wide(h0, r0) + wide(h1, s3) + wide(h2, s2) + wide(h3, s1);
        let d1 = wide(h0, r1) + wide(h1, r0) + wide(h2, s3) + wide(h3, s2) + wide(h4, s1) + (d0 >> 32);
        let d2 = wide(h0, r2) + wide(h1, r1) + wide(h2, r0) + wide(h3, s3) + wide(h4, s2) + (d1 >> 32);
        let d3 = wide(h0, r3) + wide(h1, r2) + wide(h2, r1) + wide(h3, r0) + wide(h4, s3) + (d2 >> 32);
        let d4 = h4 * r0 + (d3 >> 32) as u32;

        // What is at 2¹³⁰ and above comes back times 5.
        let mut carry = (d4 & !3) + (d4 >> 2);
        for (limb, d) in self.h.iter_mut().zip([d0, d1, d2, d3]) {
            let (sum, overflow) = (d as u32).overflowing_add(carry);
            *limb = sum;
            carry = u32::from(overflow);
        }
        self.h[4] = (d4 & 3) + carry;
    }

    pub(in crate::backend) fn finish(&mut self, partial: Option<&[u8; 16]>) -> [u8; 16] {
        if let Some(block) = partial {
            self.absorb(block, 0);
        }
        // h < 2p, so it is h or h − p = h + 5 − 2¹³⁰: the latter if h + 5 reaches 2¹³⁰.
        let mut g = [0; 4];
        let mut carry = 5;
        for i in 0..4 {
            (g[i], carry) = carry_add(self.h[i], 0, carry);
        }
        let reduce = ((self.h[4] + carry) >> 2).wrapping_neg();
        let mut tag = [0; 16];
        let mut carry = 0;
        for (i, bytes) in tag.as_chunks_mut().0.iter_mut().enumerate() {
            let word;
            (word, carry) = carry_add(self.h[i] ^ (reduce & (self.h[i] ^ g[i])), self.s[i], carry);
            *bytes = word.to_le_bytes();
        }
        tag
    }
}

impl Drop for Poly {
    fn drop(&mut self) {
        wipe(&mut self.h);
        wipe(&mut self.r);
        wipe(&mut self.s);
    }
}

fn quarters(x: u128) -> [u32; 4] {
    words(&x.to_le_bytes())
}

/// a + b + carry: low word and carry.
#[inline(always)]
fn carry_add(a: u32, b: u32, carry: u32) -> (u32, u32) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, (sum >> 32) as u32)
}

#[inline(always)]
fn wide(a: u32, b: u32) -> u64 {
    u64::from(a) * u64::from(b)
}
