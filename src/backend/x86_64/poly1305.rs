//! Poly1305 (RFC 8439, section 2.5) in radix 2⁶⁴ in general registers.

use crate::backend::{CLAMP, split_key};
use crate::wipe::wipe;
use core::arch::asm;

/// Poly1305's step over 16 bytes at `offset`: h ← (h + m + 2¹²⁸)·r, as the function `absorb` explains it.
/// The chain from h to h is 15 cycles long on Zen 3, of which the order here hides what can be.
macro_rules! absorption {
    ($offset:literal) => {
        absorption!(concat!("[{m} + ", $offset, "]"), concat!("[{m} + ", $offset, " + 8]"))
    };
    ($m0:expr, $m1:expr) => {
        concat!(
            "add {h0}, ",
            $m0,
            "\nadc {h1}, ",
            $m1,
            "\n",
            "adc {h2}, 1\n",
            "mov rdx, {h1}\n",
            "mulx {d0}, {t}, [{r} + 16]\n",
            "mulx {d2}, {d1}, [{r}]\n",
            "mov rdx, {h0}\n",
            "mulx {h1}, {h0}, [{r}]\n",
            "add {h0}, {t}\n",
            "adc {d0}, {h1}\n",
            "mulx {t}, {h1}, [{r} + 8]\n",
            "add {h1}, {d1}\n",
            "adc {d2}, {t}\n",
            "mov {t}, [{r} + 16]\n",
            "imul {t}, {h2}\n",
            "imul {h2}, [{r}]\n",
            "add {h1}, {t}\n",
            "adc {d2}, {h2}\n",
            "add {h1}, {d0}\n",
            "adc {d2}, 0\n",
            "mov {t}, {d2}\n",
            "mov {h2}, {d2}\n",
            "shr {t}, 2\n",
            "and {h2}, 3\n",
            "lea {t}, [{t} + 4*{t}]\n",
            "add {h0}, {t}\n",
            "adc {h1}, 0\n",
            "adc {h2}, 0\n",
        )
    };
}
pub(in crate::backend) use absorption;

/// h₀ + h₁·2⁶⁴ + h₂·2¹²⁸, partially reduced: h₂ ≤ 4.
pub(in crate::backend) type Limbs = [u64; 3];

/// The one-time key.
#[derive(Clone, Copy)]
pub(in crate::backend) struct Key {
    /// r₀, r₁ and s₁ = 5r₁/4. r is clamped: r₁ is a multiple of 4, so this is exact, and what a product carries
    /// to 2¹³⁰ and above comes back as a multiple of it.
    pub(in crate::backend) r: [u64; 3],
    s: [u64; 2],
}

impl Key {
    #[inline(always)]
    pub(in crate::backend) fn new(r: u128, s: u128) -> Self {
        let [r0, r1] = halves(r & CLAMP);
        Key { r: [r0, r1, r1 + (r1 >> 2)], s: halves(s) }
    }

    /// h + s mod 2¹²⁸ for the accumulator h mod p.
    #[inline(always)]
    pub(in crate::backend) fn tag(&self, [h0, h1, h2]: Limbs) -> u128 {
        // h < 2p, so it is h or h − p = h + 5 − 2¹³⁰: the latter if h + 5 reaches 2¹³⁰.
        let h = join(h0, h1);
        let (g, carry) = h.overflowing_add(5);
        let reduce = u128::from((h2 + u64::from(carry)) >> 2).wrapping_neg();
        (h ^ (reduce & (h ^ g))).wrapping_add(join(self.s[0], self.s[1]))
    }

    pub(in crate::backend) fn wipe(&mut self) {
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
pub(in crate::backend) fn absorb(h: Limbs, r: &[u64; 3], m: &[u8; 16]) -> Limbs {
    let [mut h0, mut h1, mut h2] = h;
    // SAFETY: reads 16 bytes at `m` and three words at `r`, the lengths of the arrays.
    unsafe {
        asm!(
            absorption!(0),
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
pub(in crate::backend) fn absorb_number(h: Limbs, r: &[u64; 3], m: u128) -> Limbs {
    let [mut h0, mut h1, mut h2] = h;
    let [m0, m1] = halves(m);
    // SAFETY: reads three words at `r`, the length of the array.
    unsafe {
        asm!(
            absorption!("{m0}", "{m1}"),
            m0 = in(reg) m0, m1 = in(reg) m1, r = in(reg) r.as_ptr(),
            h0 = inout(reg) h0, h1 = inout(reg) h1, h2 = inout(reg) h2,
            d0 = out(reg) _, d1 = out(reg) _, d2 = out(reg) _, t = out(reg) _, out("rdx") _,
            options(pure, readonly, nostack),
        );
    }
    [h0, h1, h2]
}

#[inline(always)]
pub(in crate::backend) fn absorb_all(mut h: Limbs, r: &[u64; 3], blocks: &[[u8; 16]]) -> Limbs {
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
pub(in crate::backend) fn multiply(a: Limbs, b: Limbs) -> Limbs {
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
pub(in crate::backend) fn add(a: Limbs, b: Limbs) -> Limbs {
    let (sum, carry) = join(a[0], a[1]).overflowing_add(join(b[0], b[1]));
    let h2 = a[2] + b[2] + u64::from(carry);
    let (sum, carry) = sum.overflowing_add(u128::from(5 * (h2 >> 2)));
    let [h0, h1] = halves(sum);
    [h0, h1, (h2 & 3) + u64::from(carry)]
}

/// Poly1305 in progress.
pub(crate) struct Poly {
    pub(in crate::backend) h: Limbs,
    r: [u64; 2],
    s: [u64; 2],
}

impl Poly {
    pub(in crate::backend) fn new(key: &[u8; 32]) -> Self {
        let (r, s) = split_key(key);
        Poly { h: [0; 3], r: halves(r), s: halves(s) }
    }

    #[inline(always)]
    pub(in crate::backend) fn key(&self) -> Key {
        Key::new(join(self.r[0], self.r[1]), join(self.s[0], self.s[1]))
    }

    /// The tag, once the last partial block is absorbed.
    #[inline(always)]
    pub(in crate::backend) fn finish(&mut self, partial: Option<&[u8; 16]>) -> [u8; 16] {
        let mut key = self.key();
        if let Some(block) = partial {
            // Without the bit 2¹²⁸, which `absorb` adds.
            let [h0, h1, h2] = self.h;
            self.h = absorb([h0, h1, h2.wrapping_sub(1)], &key.r, block);
        }
        let tag = key.tag(self.h);
        key.wipe();
        tag.to_le_bytes()
    }
}

impl Drop for Poly {
    fn drop(&mut self) {
        wipe(&mut self.h);
        wipe(&mut self.r);
        wipe(&mut self.s);
    }
}

#[inline(always)]
pub(in crate::backend) fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

#[inline(always)]
pub(in crate::backend) fn join(lo: u64, hi: u64) -> u128 {
    u128::from(hi) << 64 | u128::from(lo)
}

#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a · b from sums only.
    fn by_addition(a: Limbs, b: Limbs) -> Limbs {
        (0..192).rev().fold([0; 3], |sum, bit| {
            let sum = add(sum, sum);
            if b[bit / 64] >> (bit % 64) & 1 == 1 { add(sum, a) } else { sum }
        })
    }

    #[test]
    fn products_are_sums() {
        if !std::is_x86_feature_detected!("bmi2") {
            return;
        }
        let zero = Key::new(0, 0);
        // Among the pairs is one whose carry at 2¹⁹² comes from d₀ alone, as random numbers hardly ever have it.
        let words = [0, 1, 3, 1 << 63, u64::MAX - 1, u64::MAX];
        for i in 0..(words.len() * words.len()).pow(2) * 25 {
            let word = |place: u32| words[i / 25 / words.len().pow(place) % words.len()];
            let (a, b) = ([word(0), word(1), i as u64 % 5], [word(2), word(3), i as u64 / 5 % 5]);
            // SAFETY: the CPU has BMI2.
            let product = unsafe { multiply(a, b) };
            assert!(product[2] <= 4, "{a:x?} {b:x?}");
            assert_eq!(zero.tag(product), zero.tag(by_addition(a, b)), "{a:x?} {b:x?}");
        }
    }
}
