#!/usr/bin/env python3
"""Interval arithmetic over the steps of every Poly1305: no accumulator overflows, and the bounds that the comments of
the MIPS kernels state hold and are tight. One function per kernel, in the order of its instructions; every number is the
largest value that its register can have. A loop is iterated until its state's bounds stand still.

    asm/bounds.py        checks all, exits 1 if a bound is wrong
"""
import math
import pathlib
import re
import sys

WORD = 2**32 - 1
CLAMP = [0x0fffffff, 0x0ffffffc, 0x0ffffffc, 0x0ffffffc]


class HiLo:
    """HI:LO of MIPS, with the peaks between two moves from LO."""

    def __init__(self):
        self.value, self.peaks = 0, []

    def multu(self, a, b):
        self.value = 0
        self.maddu(a, b)

    def maddu(self, a, b):
        assert a <= WORD and b <= WORD, 'an operand does not fit a register'
        self.value += a * b
        assert self.value < 2**64, 'HI:LO overflows'

    def mflo(self):
        self.peaks.append(self.value)
        return min(self.value, WORD)

    def mfhi(self):
        return self.value >> 32


def fixed_point(step, state):
    for _ in range(1000):
        new = max(state, step(state))
        if new == state:
            return state
        state = new
    raise AssertionError('the bounds grow without end')


def mips_block(h4, in_d0, in_d3):
    """The peaks of d0 .. d3 and what d3 carries to 2^128. `in_d0` and `in_d3` are the factors of what a kernel adds to
    these columns for h4*r0."""
    r, s = CLAMP, [0] + [x + x // 4 for x in CLAMP[1:]]
    assert all(x % 4 == 0 for x in CLAMP[1:]), 's = 5r/4 is not exact'
    acc, carry = HiLo(), 0
    columns = (r[0], s[3], s[2], s[1]), (r[1], r[0], s[3], s[2]), (r[2], r[1], r[0], s[3]), (r[3], r[2], r[1], r[0])
    for k, (first, *others) in enumerate(columns):
        acc.multu(WORD, first)
        for other in others:
            acc.maddu(WORD, other)
        acc.maddu(h4, s[k])
        acc.maddu(carry, 1)
        acc.maddu(WORD, 1)  # the next block's message word
        acc.maddu(*{0: in_d0, 3: in_d3}.get(k, (0, 0)))
        acc.mflo()
        carry = acc.mfhi()
    return acc.peaks, carry


def mips32r2():
    """h4 as it is multiplied: not reduced, with 2^128 and the carry of a call's first block."""
    def block(h4):
        return mips_block(h4, (h4 >> 2, 5 * CLAMP[0]), (3 << 30, CLAMP[0] << 2))

    h4 = fixed_point(lambda h4: block(h4)[1] + 1 + 1, 0)
    emit(h4)
    return dict(zip(('d0', 'd1', 'd2', 'd3', 'h4'), (*block(h4)[0], h4)))


def mips32():
    """h4 as it is after the partial reduction. 2^128 and the carry of a call's first block come on top."""
    def block(h4):
        assert h4 + 2 < 16, 'h4<<28 loses bits'
        return mips_block(h4 + 2, (0, 0), (h4 + 2 << 28, CLAMP[0] << 4))

    def reduced(h4):
        assert 5 * (block(h4)[1] + 1 >> 2) <= WORD, '5*(h4>>2) does not fit'
        return 3 + 1  # what is left, and the carry of h0 .. h3

    h4 = fixed_point(reduced, 0)
    emit(h4)
    return dict(zip(('d0', 'd1', 'd2', 'd3', 'h4'), (*block(h4)[0], h4)))


def emit(h4):
    """v = h%2^130 + 5*(h4>>2) must be below 2p, and 5*(h4>>2) + 5 a word."""
    c5 = 5 * (h4 >> 2)
    assert c5 + 5 <= WORD, '5*(h4>>2) + 5 does not fit'
    assert 2**130 - 1 + c5 < 2 * (2**130 - 5), 'one subtraction of p is not enough'


R64, WORD64 = [0x0ffffffc0fffffff, 0x0ffffffc0ffffffc], 2**64 - 1


def below(limit, value, what):
    assert value < limit, f'{what} overflows: 2^{math.log2(value):.2f}'
    return value


def radix64():
    """Radix 2^64 as the scalar code of all backends of 64 bits has it: portable, x86-64, neon, and vsx."""
    r0, r1 = R64
    assert r1 % 4 == 0, 's = 5r/4 is not exact'
    s1, peaks = r1 + r1 // 4, {}

    def block(h2):
        h2 += 1 + 1  # 2^128 and the carry of h1
        d0 = below(2**128, WORD64 * r0 + WORD64 * s1, 'd0')
        top = below(2**64, h2 * s1 + (d0 >> 64), 'h2*s1 + (d0 >> 64)')  # neon's word; no others' is larger
        d1 = below(2**128, WORD64 * r1 + WORD64 * r0 + top, 'd1')
        d2 = below(2**64, h2 * r0 + (d1 >> 64), 'd2')
        c5 = below(2**64, 5 * (d2 >> 2), '5c')
        assert 2**130 - 1 + c5 < 2 * (2**130 - 5), 'one subtraction of p is not enough'
        peaks.update(d0=d0, d1=d1, d2=d2, c5=c5)
        return 3 + 1  # what is left, and the carry of h0, h1

    return {'h2': fixed_point(block, 0), **peaks}


def radix64_powers():
    """A product of two numbers of radix 2^64 that are only partially reduced, and a sum (x86-64)."""
    h2 = 4
    square = WORD64 * WORD64
    middle = below(2**128, 2 * WORD64 * h2 + WORD64, 'a0*b2 + a2*b0 + (d1 >> 64)')
    d3 = below(2**128, 2 * WORD64 * h2 + WORD64 + (2 << 64), 'd3')
    assert square < 2**128
    d4 = below(2**64, h2 * h2 + (d3 >> 64), 'd4')
    top = below(2**64, 3 + (d4 >> 2) + d4 + 2, 'h2')
    assert 2**130 - 1 + 5 * (max(top, 2 * h2 + 1) >> 2) < 2 * (2**130 - 5), 'not partially reduced'
    return {'d2': middle, 'd3': d3, 'd4': d4, 'h2': top}


def limbs32():
    """Portable, radix 2^32."""
    r, peaks = CLAMP, {}
    s1, s2, s3 = (x + x // 4 for x in r[1:])

    def block(h4):
        h4 += 1 + 1
        d0 = below(2**64, WORD * (r[0] + s3 + s2 + s1), 'd0')
        d1 = below(2**64, WORD * (r[1] + r[0] + s3 + s2) + h4 * s1 + (d0 >> 32), 'd1')
        d2 = below(2**64, WORD * (r[2] + r[1] + r[0] + s3) + h4 * s2 + (d1 >> 32), 'd2')
        d3 = below(2**64, WORD * sum(r) + h4 * s3 + (d2 >> 32), 'd3')
        d4 = below(2**32, h4 * r[0] + (d3 >> 32), 'd4')
        below(2**32, 5 * (d4 >> 2), '5*(d4 >> 2)')
        peaks.update(d0=d0, d1=d1, d2=d2, d3=d3, d4=d4)
        return 3 + 1

    return {'h4': fixed_point(block, 0), **peaks}


def radix26():
    """AVX2, radix 2^26 in four lanes. Up to four products per column before a carry, lanes of one united at the end."""
    mask = 2**26 - 1
    number = [mask] * 4 + [5 * 2**24 - 1]  # split and set_lanes, of a partially reduced number
    message = [mask] * 4 + [2**25 - 1]
    peaks = {}

    def multiply_add(d, h):
        for i in range(5):
            for j in range(5):
                factor = number[i - j] if j <= i else 5 * number[5 + i - j]
                d[i] += below(2**32, h[j], 'a limb of h') * below(2**32, factor, 'a factor')
        return d

    def step(h):
        d = multiply_add([0] * 5, [a + b for a, b in zip(h, message)])
        for _ in range(3):
            multiply_add(d, message)
        for i, column in enumerate(d):
            peaks[f'd{i}'] = below(2**64, column, f'd{i}')
        d0, d1, d2, d3, d4 = d
        d1 = below(2**64, d1 + (d0 >> 26), 'd1')
        d4 = below(2**64, d4 + (d3 >> 26), 'd4')
        d0 = d3 = mask
        d2 = below(2**64, d2 + (d1 >> 26), 'd2')
        d0 = below(2**64, d0 + 5 * (d4 >> 26), 'd0')
        d1 = d4 = mask
        d3 += d2 >> 26
        d1 += d0 >> 26
        d2 = d0 = mask
        d4 += d3 >> 26
        return [d0, d1, d2, mask, d4]

    h = number
    while (new := [max(a, b) for a, b in zip(h, step(h))]) != h:
        h = new
    d = [4 * column for column in multiply_add([0] * 5, [a + b for a, b in zip(h, message)])]
    for i in range(4):
        peaks[f'united{i}'] = below(2**64, d[i], 'a united column')
        d[i + 1] = below(2**64, d[i + 1] + (d[i] >> 26), 'a united column')
    # d4 is at most the mask then, so its bits from 2^128 on are at most 3, and a carry.
    below(2**64, mask + 5 * (d[4] >> 26), 'd0')
    return {f'h{i}': limb for i, limb in enumerate(h)} | peaks


def multiply52(h, r, s):
    """Sums of the lower and the upper 52 bits of the products of limbs, by column, and nothing cut off a factor."""
    lo, hi = [0] * 3, [0] * 3
    for i, factors in enumerate([(r[0], s[1], s[0]), (r[1], r[0], s[1]), (r[2], r[1], r[0])]):
        for limb, factor in zip(h, factors):
            product = below(2**52, limb, 'a limb') * below(2**52, factor, 'a factor')
            lo[i] += min(product, 2**52 - 1)
            hi[i] += product >> 52
    return lo, hi


def radix44():
    """AVX-512, blocks of one message in eight lanes: up to four products before a carry, two and all lanes at the end."""
    mask44, mask42 = 2**44 - 1, 2**42 - 1
    message = [mask44, mask44, 2**41 - 1]
    key = [mask44, mask44, 2**43 - 1]  # split, of a partially reduced number
    peaks = {}

    def product(factors, count):
        power, state = factors
        sums = [(0, 0)] * 3
        for h in [state] + [message] * (count - 1):
            sums = [(a + lo, b + hi) for (a, b), lo, hi in
                    zip(sums, *multiply52(h, power, [20 * power[1], 20 * power[2]]))]
        return sums

    def carry(sums):
        (d0, e0), (d1, e1), (d2, e2) = sums
        d1 = below(2**64, d1 + (e0 << 8), 'd1')
        d2 = below(2**64, d2 + (e1 << 8), 'd2')
        d1 = below(2**64, d1 + (d0 >> 44), 'd1')
        d2 = below(2**64, d2 + (d1 >> 44), 'd2')
        c = below(2**64, 5 * ((e2 << 10) + (d2 >> 42)), 'five times what is carried')
        h0 = below(2**64, mask44 + c, 'h0')
        return [mask44, mask44 + (h0 >> 44), mask42]

    # A power is a carried product, or a number that was split; so is what Horner's rule starts with.
    h = key
    while True:
        power = [max(a, b) for a, b in zip(h, key)]
        state = [a + b for a, b in zip(power, message)]
        new = [max(a, b) for a, b in zip(power, carry(product((power, state), 4)))]
        if new == h:
            break
        h = new
    last = [a + b for a, b in zip(message, key)]
    sums = [(8 * (a + c), 8 * (b + d)) for (a, b), (c, d) in
            zip(product((power, state), 1), product((power, last), 1))]
    (d0, _), (d1, _), (d2, d3) = [(d + (e << 8 if i else 0), hi) for i, ((d, hi), e) in
                                  enumerate(zip(sums, [0, sums[0][1], sums[1][1]]))]
    d1 = below(2**64, d1 + (d0 >> 44), 'd1 of all lanes')
    d2 = below(2**64, d2 + (d1 >> 44), 'd2 of all lanes')
    c = below(2**64, (d2 >> 42) + (d3 << 10), 'what the lanes carry to 2^130')
    peaks['c'] = c
    # Below 2^128 two carries at most, and what d2 has from there on: partially reduced.
    below(2**128, 5 * c, 'five times that')
    below(5, (mask42 >> 40) + 1, 'h2')
    return {f'h{i}': limb for i, limb in enumerate(h)} | peaks


def radix44_packets():
    """AVX-512, a packet in each lane: one product before a carry."""
    mask = 2**44 - 1
    r = [mask, mask, 2**40 - 1]
    s = [20 * r[1], 20 * r[2]]

    def step(h):
        h = [h[0] + mask, h[1] + mask, h[2] + 2**41 - 1]
        (d0, d1, d2), (e0, e1, e2) = multiply52(h, r, s)
        below(2**52, e2 * (20 << 8), 'e2, of which a product keeps 52 bits')
        d0 = below(2**64, d0 + e2 * (20 << 8), 'd0')
        d1 = below(2**64, d1 + (e0 << 8), 'd1')
        d2 = below(2**64, d2 + (e1 << 8), 'd2')
        return [mask + 20 * (d2 >> 44), mask + (d0 >> 44), mask + (d1 >> 44)]

    h = [0, 0, 0]
    while (new := [max(a, b) for a, b in zip(h, step(h))]) != h:
        h = new
    return {f'h{i}': limb for i, limb in enumerate(h)}


# What is proven by no overflow alone: name and program. The bounds in these files' comments are in prose.
OTHERS = {'portable, x86-64, neon, vsx: radix 2^64': radix64, 'x86-64: powers, radix 2^64': radix64_powers,
          'portable: radix 2^32': limbs32, 'avx2: radix 2^26': radix26,
          'avx512: radix 2^44': radix44, 'avx512, batches: radix 2^44': radix44_packets}


def stated(path):
    """The bounds in a kernel's comment: `d0 < 4.92 * 2^60`, `h4 < 2^31.05`, `h4 <= 4`."""
    text = (pathlib.Path(__file__).parent / path).read_text()
    bounds = {name: float(factor) * 2.0**int(power)
              for name, factor, power in re.findall(r'\b(d\d) < ([\d.]+) \* 2\^(\d+)', text)}
    bounds |= {name: 2.0**float(power) for name, power in re.findall(r'\b(h4) < 2\^([\d.]+)', text)}
    bounds |= {name: int(most) + 1 for name, most in re.findall(r'\b(h4) <= (\d+)', text)}
    return bounds


def main():
    ok = True
    for path, kernel in (('mips32r2/poly1305.S', mips32r2), ('mips32/poly1305.S', mips32)):
        proven, claimed = kernel(), stated(path)
        for name in sorted(proven.keys() | claimed.keys()):
            p, c = proven.get(name, 0), claimed.get(name, 0)
            good = 0 < p < c <= 1.05 * p + 1
            print(f'{path}: {name} is at most {p}, 2^{math.log2(p or 1):.3f}, stated below 2^{math.log2(c or 1):.3f}'
                  + ('' if good else '  WRONG'))
            ok &= good
    for name, kernel in OTHERS.items():
        print(f'{name}: ' + ', '.join(f'{limb} < 2^{math.log2(most + 1):.2f}' for limb, most in kernel().items()))
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
