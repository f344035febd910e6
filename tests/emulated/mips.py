#!/usr/bin/env python3
"""The MIPS kernels by themselves, in the interpreter and pipeline model of mipscycles.py: right answers against the
big-integer oracle, constant time, no trace on the stack, sizes, and cycles not above those recorded here. The
interpreter itself makes an error of any access outside of the buffers, any callee-saved register or $gp that does not
come back, and of HI or LO used after they are lost.

    mips.py kernels [KERNEL [ENDIAN]]    both kernel sets and endiannesses unless named; assembled by gcc and by clang
    mips.py mutations                    shows that `kernels` notices each of a list of small mistakes in the sources
    mips.py packets KERNEL EXECUTABLE    cycles of the AEAD through the public API: see tests/emulated/run
"""
import itertools
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(ROOT / 'vectors')]

import gen  # noqa: E402
from mipscycles import Fault, Machine  # noqa: E402

P = 2**130 - 5
PREFIXES = {'big': 'mips-linux-gnu', 'little': 'mipsel-linux-gnu'}
COMPILERS = {'gcc': lambda prefix: [f'{prefix}-gcc'], 'clang': lambda prefix: ['clang', f'--target={prefix}']}
MAX_SIZE = {'chacha20': 6 * 1024, 'poly1305': 2560}

# Model cycles that may not be exceeded: what was reached when the kernels were written.
# Poly1305: per 16 bytes aligned and misaligned; whole message of 64, 1420, 4096 bytes, misaligned.
# ChaCha20: per 64 bytes with both aligned, both misaligned, only the source, only the destination misaligned;
# one block aligned; one block of keystream.
CYCLES = {
    ('mips32r2', 'little'): ([43.5, 47.5, 346, 4452, 12321], [1011, 1048, 1031, 1032, 1096, 1069]),
    ('mips32r2', 'big'): ([51.5, 56, 402, 5225, 14514], [1043, 1080, 1063, 1064, 1128, 1101]),
    ('mips32', 'little'): ([63, 63, 405, 5818, 16281], [1640, 1677, 1660, 1661, 1750, 1723]),
    ('mips32', 'big'): ([82, 82, 577, 7629, 21241], [1785, 1822, 1805, 1806, 1895, 1868]),
}


class Wrong(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Wrong(what)


IN_PLACE = object()  # an argument: the same buffer as the first


class Kernels:
    """One kernel set, assembled, and buffers for its calls."""

    def __init__(self, kernel, endian, compiler, asm, directory):
        self.kernel, self.endian, self.text = kernel, endian, {}
        command = COMPILERS[compiler](PREFIXES[endian]) + [f'-march={kernel}', '-c']
        self.machines = {}
        for name in ('chacha20', 'poly1305'):
            out = directory / f'{name}-{kernel}-{endian}-{compiler}.o'
            subprocess.run([*command, asm / kernel / f'{name}.S', '-o', out], check=True)
            machine = self.machines[name] = Machine(str(out), r2=kernel == 'mips32r2')
            text, flags = (next(machine.elf.data[s['off']:][:s['size']] for s in machine.elf.sec if s['name'] == wanted)
                           for wanted in ('.text', '.MIPS.abiflags'))
            self.text[name] = text.rstrip(b'\0')
            check(len(text) <= MAX_SIZE[name], f'{name} has {len(text)} bytes')
            check(compiler != 'gcc' or flags[7] == 0, f'{name} is for one kind of floating point only')
            machine.clean = len(machine.mem.regions)

    def call(self, function, *args):
        """`args`: numbers, or (bytes, alignment): a buffer of its own. Returns the result and the buffers' contents."""
        machine = self.machines[function.split('_')[0]]
        del machine.mem.regions[machine.clean:]
        machine.mem.last = machine.mem.regions[0]
        machine.heap = 0x500000
        buffers = [(machine.alloc(len(a[0]), *a), len(a[0])) if isinstance(a, tuple) else None for a in args]
        where = [b[0] if b else a for a, b in zip(args, buffers)]
        where = [where[0] if a is IN_PLACE else w for a, w in zip(args, where)]
        result = machine.call(f'wireseal_0_1_{function}_{self.kernel}', *where)
        return result, [machine.read(*b) if b else None for b in buffers]

    def words(self, ws):
        return b''.join(w.to_bytes(4, self.endian) for w in ws)

    # -- the interface
    def matrix(self, key, counter, nonce):
        return self.words(gen.SIGMA + gen.words(key) + [counter] + gen.words(nonce))

    def xor(self, matrix, text, dst_at, src_at, in_place):
        n = len(text) // 64
        if in_place:
            _, (out, *_) = self.call('chacha20_xor', (text, dst_at), IN_PLACE, n, (matrix, 0))
        else:
            _, (out, src, _, m) = self.call('chacha20_xor', (bytes(len(text)), dst_at), (text, src_at), n, (matrix, 0))
            check(src == text and m == matrix, 'the input is changed')
        return out

    def blocks(self, matrix, n, at):
        return self.call('chacha20_blocks', (bytes(64 * n), at), n, (matrix, 0))[1][0]

    def mac(self, key, calls, at=0, h=None):
        """The tag after calls (message, padbit), and all results."""
        results = []

        def call(function, *args):
            result, out = self.call(function, *args)
            results.append(result)
            return result, out

        result, (context, _) = call('poly1305_init', (b'\xa5' * 192, 0), (key[:16], at))
        check(result.v0 == 0, 'init does not return 0')
        if h is not None:
            context = self.words([h >> 32 * i & 0xffffffff for i in range(4)] + [h >> 128]) + context[20:]
        for message, padbit in calls:
            _, (context, *_) = call('poly1305_blocks', (context, 0), (message, at), len(message), padbit)
        nonce = self.words(gen.words(key[16:]))
        _, (after, tag, _) = call('poly1305_emit', (context, 0), (bytes(16), at), (nonce, at if self.kernel == 'mips32r2' else 0))
        check(after == context, 'emit changes the context')
        return tag, results


def mac_oracle(key, calls, h=0):
    r = int.from_bytes(key[:16], 'little') & gen.CLAMP
    for message, padbit in calls:
        for i in range(0, len(message), 16):
            h = (h + int.from_bytes(message[i:i + 16], 'little') + (padbit << 128)) * r % P
    return ((h % P + int.from_bytes(key[16:], 'little')) % 2**128).to_bytes(16, 'little')


def chacha20_is_right(k, rng):
    key, nonce = rng.randbytes(32), rng.randbytes(12)

    def compare(n, counter, dst_at, src_at, in_place=False):
        text, matrix = rng.randbytes(64 * n), k.matrix(key, counter, nonce)
        expected = gen.chacha20(key, counter, nonce, text)
        what = f'{n} blocks from {counter:#x}, alignments {dst_at} {src_at}'
        check(k.xor(matrix, text, dst_at, src_at, in_place) == expected, what)

    for dst_at, src_at in itertools.product(range(16), range(16)):
        compare(1 + (dst_at + src_at) % 2, 7, dst_at, src_at)
    for n in range(6):
        for at in range(4):
            compare(n, 2**32 - max(n, 1), at, at, in_place=True)
            expected = gen.keystream(key, 3, nonce, 64 * n)
            check(k.blocks(k.matrix(key, 3, nonce), n, at) == expected, f'{n} blocks of keystream')
    for counter in (0, 0xff, 0xfffe, 0x7fffffff, 2**32 - 2):
        compare(2, counter, 0, 0)


def poly1305_is_right(k, rng):
    ones, seventeen = b'\xff' * 16, b'\x11' * 16
    keys = [b'\xff' * 32, bytes(16) + b'\xff' * 16, (1).to_bytes(16, 'little') + b'\xff' * 16, rng.randbytes(32)]

    def compare(key, calls, at=0, h=None):
        what = f'{[(len(m), p) for m, p in calls]}, key {key.hex()}, alignment {at}, h {h}'
        check(k.mac(key, calls, at, h)[0] == mac_oracle(key, calls, h or 0), what)

    for n in (*range(14), 89):
        for at in (range(16) if n < 3 else range(4)):
            key = keys[n % 4]
            compare(key, [(ones * n, 1)], at)
            compare(key, [(rng.randbytes(16 * n), at & 1), (ones * (at % 3), 1)], at)
    # Accumulators that messages hardly ever reach, up to the bound of h4.
    top = 2**30 if k.kernel == 'mips32r2' else 4
    starts = [0, 1, P - 1, P, P + 1, 2**128 - 1, 2**128, 2**130 - 1, 2**130, (top << 128) + 2**128 - 1, (top << 128) + P % 2**128]
    blocks = [ones, bytes(16), (P % 2**128).to_bytes(16, 'little'), seventeen, rng.randbytes(16)]
    for h, key in itertools.product(starts, keys):
        compare(key, [], 0, h)
        for block in blocks:
            for n in (1, 2, 3, 5):
                compare(key, [(block * n, n & 1)], n % 2, h)
    # No key: only h is cleared.
    context = rng.randbytes(192)
    _, (cleared, _) = k.call('poly1305_init', (context, 0), 0)
    check(cleared == bytes(20) + context[20:], 'init without a key')


def secrets_leave_no_trace(k, rng):
    """Equal instructions and addresses, and an equal stack afterwards, whatever the secrets are."""
    public = []
    # The first run decodes, which reads the code.
    for secret in (bytes(64), rng.randbytes(64), b'\xff' * 64, rng.randbytes(64)):
        key, text = secret[:32], (secret + rng.randbytes(64)) * 2
        seen = []
        for name, calls in {
            'chacha20': [lambda n=n, at=at: k.xor(k.matrix(key, 1, bytes(12)), text[:64 * n], at, at // 2, False)
                         for n in (1, 2, 3) for at in range(4)]
                        + [lambda n=n: k.blocks(k.matrix(key, 1, bytes(12)), n, n) for n in (1, 2)],
            'poly1305': [lambda n=n: k.mac(key, [(text[:16 * n], 1), (text[:16], 0)], n) for n in range(8)],
        }.items():
            machine = k.machines[name]
            for call in calls:
                machine.mem.trace = []
                call()
                seen.append((machine.mem.trace, machine.read(machine.stack_top - 0x2000, 0x1000)))
                machine.mem.trace = None
        public.append(seen)
    for other in public[2:]:
        for (trace, stack), (other_trace, other_stack) in zip(public[1], other):
            check(trace == other_trace, 'instructions or addresses depend on a secret')
            check(stack == other_stack, 'a secret is left on the stack')


def cycles(k, rng):
    """The two rows of CYCLES."""
    def warm(run):
        for _ in range(3):
            results = run()
        return results

    def mac(calls, at):
        return sum(r.cycles for r in warm(lambda: k.mac(bytes(range(32)), calls, at)[1]))

    def loop(at):
        return (mac([(bytes(16 * 241), 1)], at) - mac([(bytes(16 * 41), 1)], at)) / 200

    poly = [loop(0), loop(1)] + [mac(c, 1) for c in ([(bytes(64), 1)], [(bytes(1408), 1), (bytes(16), 0)], [(bytes(4096), 1)])]

    def chacha(function, n, *ats):
        args = [(bytes(64 * n), at) for at in ats] + [n, (bytes(64), 0)]
        return warm(lambda: [k.call(f'chacha20_{function}', *args)[0]])[0].cycles

    def block(*ats):
        return (chacha('xor', 24, *ats) - chacha('xor', 14, *ats)) / 10

    rows = [block(0, 0), block(1, 1), block(0, 1), block(1, 0), chacha('xor', 1, 0, 0), chacha('blocks', 1, 0)]
    return poly, rows


def kernels(*which, asm=ROOT / 'asm', quick=False):
    rows = [row for row in CYCLES if set(which) <= set(row)]
    check(rows, f'there is no {" ".join(which)}')
    with tempfile.TemporaryDirectory() as directory:
        for kernel, endian in rows:
            rng = random.Random(f'{kernel} {endian}')
            k, *others = [Kernels(kernel, endian, compiler, asm, pathlib.Path(directory))
                          for compiler in list(COMPILERS)[:1 if quick else None]]
            check(all(o.text == k.text for o in others), 'gcc and clang disagree')
            chacha20_is_right(k, rng)
            poly1305_is_right(k, rng)
            if quick:
                continue
            secrets_leave_no_trace(k, rng)
            print(f'{kernel} {endian}-endian: right, constant time, {" ".join(f"{n} {len(t)} bytes" for n, t in k.text.items())}')
            for name, got, most in zip(('Poly1305', 'ChaCha20'), cycles(k, rng), CYCLES[kernel, endian]):
                print(f'  {name} cycles', *got, flush=True)
                check(all(g <= m for g, m in zip(got, most)), f'more cycles than recorded, {most}')


# The same for a packet of 64 and 1420 bytes through the public API, sealed and opened in place, aligned. There is a
# compiler in between, so these are not what was reached but what has to be.
PACKETS = {
    ('mips32r2', 'little'): [3500, 3500, 30400, 30400],
    ('mips32r2', 'big'): [3600, 3600, 32000, 32000],
    ('mips32', 'little'): [4900, 4900, 47500, 47500],
    ('mips32', 'big'): [5400, 5400, 53000, 53000],
}


def packets(kernel, path):
    machine = Machine(path)
    machine.keeps_gp = False
    clean = len(machine.mem.regions)
    rng = random.Random(1)
    key, nonce = rng.randbytes(32), rng.randbytes(12)
    aligned = []
    for length, at in itertools.product((0, 64, 576, 1420), (0, 1)):
        text = rng.randbytes(length)
        expected = gen.seal(key, nonce, b'', text)
        for _ in range(3):
            del machine.mem.regions[clean:]
            machine.mem.last = machine.mem.regions[0]
            cipher, k, n = machine.alloc(256), machine.alloc(32, key), machine.alloc(12, nonce)
            data, tag = machine.alloc(length, text, at), machine.alloc(16)
            machine.call('key_new', cipher, k)
            sealed = machine.call('seal', cipher, n, data, length, tag)
            check(machine.read(data, length) + machine.read(tag, 16) == expected, 'seal')
            opened = machine.call('open', cipher, n, data, length, tag)
            check(opened.v0 == 1 and machine.read(data, length) == text, 'open')
        print(f'{length} bytes{", misaligned" * at}: seal {sealed.cycles}, open {opened.cycles} cycles')
        if length in (64, 1420) and not at:
            aligned += [sealed.cycles, opened.cycles]
    most = PACKETS[kernel, 'big' if machine.be else 'little']
    check(all(g <= m for g, m in zip(aligned, most)), f'more cycles than recorded, {most}')


# Small mistakes: file, what stands there (its first occurrence), what is put there.
MUTATIONS = [
    ('mips32/chacha20.S', 'arx\t16, X0, X4, X12', 'arx\t17, X0, X4, X12'),
    ('mips32/chacha20.S', 'sll\tU, \\x, 32 - \\k', 'sll\tU, \\x, 31 - \\k'),
    ('mips32/chacha20.S', 'rotate\tX4, 25', 'rotate\tX4, 24'),
    ('mips32/chacha20.S', 'arx\t16, I1, X5, X13', 'arx\t16, I1, X5, X14'),
    ('mips32/chacha20.S', 'addu\tI2, I2, X7', 'addu\tI2, I2, X6'),
    ('mips32/chacha20.S', 'lw\tT, 40(MATRIX)', 'lw\tT, 44(MATRIX)'),
    ('mips32/chacha20.S', 'addiu\tCTR, CTR, 1', 'addiu\tCTR, CTR, 2'),
    ('mips32/chacha20.S', 'addu\tX12, X12, CTR', 'nop'),
    ('mips32/chacha20.S', '.rept\t8', '.rept\t7'),
    ('mips32/chacha20.S', 'li\tT, 3', 'li\tT, 2'),
    ('mips32/chacha20.S', 'xor_words \\src, \\dst, 24, X6, T, X7, X0, X8, X1', 'xor_words \\src, \\dst, 24, X7, T, X6, X0, X8, X1'),
    ('mips32/chacha20.S', 'load\t1, \\src, X0, -4, SRC', 'nop'),
    ('mips32/chacha20.S', 'sw\tX15, HOISTED + 32($sp)', 'sw\tX14, HOISTED + 32($sp)'),
    ('mips32/chacha20.S', 'lw\t$gp, SAVED + 32($sp)', 'nop'),
    ('mips32/chacha20.S', 'sw\tX15, -4(DST)', 'sw\tX15, 0(DST)'),
    ('mips32/chacha20.S', 'sll\tX0, $a2, 6', 'sll\tX0, $a2, 5'),
    ('mips32/words.h', 'lwl\t\\x, ((\\offset) + 3 - 3 * BE)', 'lwl\t\\x, ((\\offset) + 2 - 3 * BE)'),
    ('mips32/words.h', 'swr\t\\x', 'swl\t\\x'),
    ('mips32/words.h', 'rotr\t\\x, \\x, 16', 'nop'),
    ('mips32/words.h', 'andi\t\\u, \\x, 0xff00', 'andi\t\\u, \\x, 0xff'),
    ('mips32/poly1305.h', 'addiu\t$t5, $t4, -3', 'addiu\t$t5, $t4, -1'),
    ('mips32/poly1305.h', 'addiu\t$v1, $v1, 5', 'addiu\t$v1, $v1, 4'),
    ('mips32/poly1305.h', 'sltu\t$v0, $t2, $t7', 'move\t$v0, $zero'),
    ('mips32/poly1305.h', 'srl\t$t5, $t2, 2', 'srl\t$t5, $t2, 3'),
    ('mips32/poly1305.h', 'andi\t$t4, $t4, 3', 'andi\t$t4, $t4, 1'),
    ('mips32r2/poly1305.S', 'maddu\tC, Q0', 'nop'),
    ('mips32r2/poly1305.S', 'maddu\tM, Z0', 'nop'),
    ('mips32r2/poly1305.S', 'sll\tM, H4, 30', 'sll\tM, H4, 31'),
    ('mips32r2/poly1305.S', 'addu\tH4, H4, PAD', 'addiu\tH4, H4, 1'),
    ('mips32r2/poly1305.S', 'maddu\tC, ONE', 'nop'),
    ('mips32r2/poly1305.S', 'sltu\tB3, A3, B3', 'move\tB3, $zero'),
    ('mips32r2/poly1305.S', 'sltu\tC, A2, C', 'move\tC, $zero'),
    ('mips32r2/poly1305.S', 'column\t\\next, (\\at) + 8, \\x0, R2, \\x1, R1', 'column\t\\next, (\\at) + 8, \\x0, R1, \\x1, R2'),
    ('mips32r2/poly1305.S', 'addiu\tP, P, -32', 'addiu\tP, P, -16'),
    ('mips32r2/poly1305.S', 'move\tB2, A2', 'move\tB2, A1'),
    ('mips32r2/poly1305.S', 'andi\tC, END, 48', 'andi\tC, END, 32'),
    ('mips32r2/poly1305.S', 'lw\t$s6, 24($sp)', 'nop'),
    ('mips32/poly1305.S', 'maddu\tH4, Z0', 'nop'),
    ('mips32/poly1305.S', 'sltu\tC, H2, C', 'move\tC, $zero'),
    ('mips32/poly1305.S', 'andi\tH4, H4, 3', 'andi\tH4, H4, 7'),
    ('mips32/poly1305.S', 'addu\tC, C, M', 'nop'),
    ('mips32/poly1305.S', 'lui\tK24, 1 << 8', 'lui\tK24, 1 << 7'),
    ('mips32/poly1305.S', 'addu\tH4, H4, PAD', 'addiu\tH4, H4, 1'),
    ('mips32/poly1305.S', 'lw\t$fp, 32($sp)', 'nop'),
]


def mutations():
    missed = 0
    for file, there, instead in MUTATIONS:
        with tempfile.TemporaryDirectory() as directory:
            asm = pathlib.Path(directory) / 'asm'
            shutil.copytree(ROOT / 'asm', asm)
            source = (asm / file).read_text()
            if there not in source:
                raise Wrong(f'{file} has no {there!r}')
            (asm / file).write_text(source.replace(there, instead, 1))
            caught = 'NOT NOTICED'
            try:
                kernels(asm=asm, quick=True)
                missed += 1
            except (Wrong, Fault) as error:
                caught = str(error)[:150]
            print(f'{file}: {there!r} -> {instead!r}: {caught}', flush=True)
    check(not missed, f'{missed} mutations not noticed')


def main():
    match sys.argv[1:]:
        case ['kernels', *which]:
            kernels(*which)
        case ['mutations']:
            mutations()
        case ['packets', kernel, path]:
            packets(kernel, path)
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except (Wrong, Fault) as error:
        sys.exit(f'WRONG: {error}')
