#!/usr/bin/env python3
"""Interval arithmetic over the steps of the assembly kernels: no accumulator overflows, and the bounds that their
comments state hold and are tight. One function per kernel, in the order of its instructions; every number is the
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
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
