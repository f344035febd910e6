#!/usr/bin/env python3
"""mipscycles - exact instruction counts and modelled cycles for MIPS32r2 routines.

No dependencies beyond Python 3.8.  It loads an ELF file (a bare relocatable .o,
or a static non-PIE executable; either endianness, o32), calls functions in it
with an interpreter of its own, and scores the executed instruction stream with
an in-order single-issue model of the MIPS 24K / 34K / 1004K pipeline.

USAGE
  mipscycles.py FILE --call 'SYM(ARG, ...)' [--call ...] [options]

  ARG is an integer (1420, 0x10, -1), @NAME or @NAME+OFF (a buffer's address), or
  &SYMBOL (an address in the ELF).  Arguments past the fourth go on the stack.
  Calls run in order and share memory, so init/blocks/emit can be chained.

  --buf NAME=SIZE[:INIT][%ALIGN]  allocate a buffer.  INIT is zero (default),
                     hex=HEXDIGITS, str=TEXT, inc (00 01 02 ..), rand[=SEED],
                     le32=w,w,.. or word=w,w,.. (native-endian 32-bit words).
                     %ALIGN puts it ALIGN bytes past a 64-byte boundary
                     (so %0 aligned, %1..%3 misaligned).
  --dump NAME[:N]    print the buffer's (first N) bytes in hex after the calls
  --expect NAME=HEX  exit 1 unless the buffer starts with these bytes
  --passes N         run the whole call list N times (default 3; memory is reset,
                     the branch predictor is kept) and report the last = warm
  --loops            report the hot loops: iterations, instructions and cycles
                     per iteration, and the instruction mix of one iteration
  --annotate         per-instruction listing with execution and stall counts
  --set P=V          override a model parameter (see PARAMS below / --params)
  --no-r2 / --dsp    forbid MIPS32r2-only / allow DSP-ASE instructions
                     (by default r2 is allowed and DSP instructions are an error)
  --max N            give up after N instructions (default 20 million)
  --json             machine-readable output

EXAMPLE
  mipscycles.py poly.o --buf ctx=192 --buf key=32:hex=85d6be78... \
      --buf msg=34:str='Cryptographic Forum Research Group' --buf mac=16 \
      --call 'poly1305_init_mips(@ctx,@key)' \
      --call 'poly1305_blocks_mips(@ctx,@msg,32,1)' --loops

The same is usable as a module:
  m = Machine('poly.o'); ctx = m.alloc(192); r = m.call('poly1305_init_mips', ctx, key)
  r.instrs, r.cycles, r.mix, r.stalls, r.loops()
  m.mem.trace = []     from here on every pc and every (address, bytes) accessed, in order

WHAT IS CHECKED WHILE RUNNING
  Callee-saved registers, $sp and $gp must come back unchanged; a load or store
  outside an allocated buffer, the stack or the ELF's sections is an error, as is
  a misaligned lw/sw/lh/sh; HI/LO are poisoned by MUL (they are UNPREDICTABLE
  after it in MIPS32r2); a branch in a delay slot is an error.

THE MODEL, AND WHAT IT LEAVES OUT
  In order, one instruction issued per cycle, full bypassing, all memory accesses
  hit L1, instruction fetch never starves, no second hardware thread competing.
  Latencies are "cycles from the producer's issue to the earliest consumer issue".
  Sources: GCC's public 24k.md pipeline description (written by MIPS engineers from
  the "MIPS32 24K Processor Core Family Software User's Manual" rev 3.04; GCC uses
  it for 24K, 34K and 1004K).  Branch costs are not in that file: those were set by
  calibration against published MT7621 timings and are marked (cal) or (guess).
"""
import argparse
import collections
import json
import random
import re
import struct
import sys

PARAMS = {
    # name: (default, meaning and source)
    'alu_lat':        (1, 'ALU result to next ALU use (24k.md)'),
    'load_lat':       (2, 'load to ALU use: one stall if used by the next instruction (24k.md)'),
    'agen_extra':     (1, 'extra when the consumer uses it as load/store base: ALU->base 2, load->base 3 (24k.md)'),
    'lwlr_merge_lat': (1, 'lwl -> lwr of the same register (guess: merged in the load aligner, no stall; 2 or 3 = pessimistic)'),
    'store_data_lat_cut': (0, 'cycles later than an ALU op at which a store needs its data (24k.md: 0)'),
    'mul_lat':        (5, 'MUL to register use (24k.md)'),
    'mult_acc_lat':   (1, 'MULT/MADD to a dependent MADD/MFHI/MFLO on the same accumulator (24k.md: fully pipelined)'),
    'mdu_issue':      (1, 'cycles between two MDU instructions (24k.md: 1; 2 = area-optimised MDU option)'),
    'mf_lat':         (5, 'MFHI/MFLO to register use (24k.md)'),
    'mt_acc_lat':     (2, 'MTHI/MTLO to MADD (24k.md: 2)'),
    'div_lat':        (36, 'DIV (24k.md, 32-bit worst case), blocks the MDU'),
    'taken_bubble':   (0, 'extra for a correctly predicted taken branch or j/jal/b, beyond its delay slot (cal)'),
    'mispredict':     (5, 'mispredicted conditional branch (guess)'),
    'jr_ra_bubble':   (0, 'jr $ra, return-stack hit (guess)'),
    'jr_bubble':      (5, 'jr of any other register: fetch waits for it (guess)'),
    'dsp_lat':        (1, 'ADDSC/ADDWC result, and carry flag to next ADDWC (guess)'),
}

M32 = 0xffffffff
REG = ['zero', 'at', 'v0', 'v1', 'a0', 'a1', 'a2', 'a3', 't0', 't1', 't2', 't3', 't4', 't5', 't6', 't7',
       's0', 's1', 's2', 's3', 's4', 's5', 's6', 's7', 't8', 't9', 'k0', 'k1', 'gp', 'sp', 'fp', 'ra']
ACC = 32          # timing resources 32..35: accumulators ac0..ac3 (ac0 is HI/LO)
CARRY = 36        # DSPControl carry flag
STOP = 0x0badf000  # return address that ends a call
CLASSES = ['mul', 'mfhilo', 'load', 'store', 'add', 'slt', 'logic', 'branch', 'nop', 'other']


class Fault(Exception):
    pass


def s32(x):
    return x - (1 << 32) if x & 0x80000000 else x


def s16(x):
    return x - (1 << 16) if x & 0x8000 else x


# --------------------------------------------------------------------------- ELF
class Elf:
    """Just enough of ELF32 MIPS: sections, symbols, REL relocations."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            d = self.data = f.read()
        if d[:4] != b'\x7fELF' or d[4] != 1:
            raise Fault('%s: not an ELF32 file' % path)
        self.be = d[5] == 2
        e = self.e = '>' if self.be else '<'
        (self.type, self.machine) = struct.unpack_from(e + 'HH', d, 16)
        (self.phoff, self.shoff) = struct.unpack_from(e + 'II', d, 28)
        (self.phentsize, self.phnum, self.shentsize, self.shnum, self.shstrndx) = struct.unpack_from(e + 'HHHHH', d, 42)
        if self.machine != 8:
            raise Fault('%s: not MIPS' % path)
        self.sec = []
        for i in range(self.shnum):
            f = struct.unpack_from(e + '10I', d, self.shoff + i * self.shentsize)
            self.sec.append(dict(zip(('name', 'type', 'flags', 'addr', 'off', 'size', 'link', 'info', 'align', 'entsize'), f)))
        if self.shnum:
            st = self.sec[self.shstrndx]
            for s in self.sec:
                s['name'] = self.cstr(st['off'] + s['name'])

    def cstr(self, o):
        return self.data[o:self.data.index(b'\0', o)].decode('latin1')

    def symbols(self):
        """[(name, value, size, info, shndx)], in symbol-table order."""
        for want in (2, 11):
            for s in self.sec:
                if s['type'] == want:
                    st = self.sec[s['link']]
                    out = []
                    for i in range(s['size'] // 16):
                        n, v, sz, info, _o, shn = struct.unpack_from(self.e + 'IIIBBH', self.data, s['off'] + 16 * i)
                        out.append((self.cstr(st['off'] + n), v, sz, info, shn))
                    return out
        return []

    def load(self, mem, base):
        """Place the image in mem; returns {symbol: address}, [(lo, hi)] loaded."""
        e, d = self.e, self.data
        spans, syms = [], {}
        if self.type == 2:                                        # ET_EXEC
            for i in range(self.phnum):
                t, off, va, _pa, fsz, msz, _fl, _al = struct.unpack_from(e + '8I', d, self.phoff + i * self.phentsize)
                if t == 1:
                    mem.add(va, msz)
                    mem.poke(va, d[off:off + fsz])
                    spans.append((va, va + msz))
            for n, v, _s, _i, shn in self.symbols():
                if n and shn:
                    syms[n] = v
            return syms, spans
        if self.type != 1:
            raise Fault('need a relocatable .o or a static non-PIE executable (ELF type %d)' % self.type)
        addr = base
        for s in self.sec:                                        # ET_REL: lay out SHF_ALLOC sections
            if s['flags'] & 2 and s['size']:
                al = max(s['align'], 64)
                addr = (addr + al - 1) & -al
                s['addr'] = addr
                mem.add(addr, s['size'])
                if s['type'] != 8:
                    mem.poke(addr, d[s['off']:s['off'] + s['size']])
                spans.append((addr, addr + s['size']))
                addr += s['size']
        table = self.symbols()

        def value(i):
            n, v, _s, _i, shn = table[i]
            if 0 < shn < 0xff00:
                return (self.sec[shn]['addr'] + v) & M32
            if shn == 0xfff1:
                return v
            if i == 0:
                return 0
            raise Fault('undefined symbol %s' % n)

        for i, (n, v, _s, _i, shn) in enumerate(table):
            if n and 0 < shn < 0xff00:
                syms[n] = value(i)
        for s in self.sec:
            if s['type'] != 9 or not self.sec[s['info']]['flags'] & 2:
                continue
            tgt = self.sec[s['info']]['addr']
            pend = []
            for k in range(s['size'] // 8):
                off, info = struct.unpack_from(e + 'II', d, s['off'] + 8 * k)
                typ, sym, p = info & 0xff, info >> 8, tgt + off
                w = mem.r32(p)
                if typ == 0:
                    continue
                elif typ == 2:                                    # R_MIPS_32
                    w = (w + value(sym)) & M32
                elif typ == 4:                                    # R_MIPS_26
                    a = ((w & 0x3ffffff) << 2) | (p & 0xf0000000)
                    w = (w & 0xfc000000) | (((a if table[sym][3] & 15 == 3 else (w & 0x3ffffff) << 2) + value(sym)) >> 2 & 0x3ffffff)
                elif typ == 5:                                    # R_MIPS_HI16: waits for its LO16
                    pend.append((p, sym))
                    continue
                elif typ == 6:                                    # R_MIPS_LO16
                    lo = s16(w & 0xffff)
                    for hp, hs in pend:
                        if hs == sym:
                            hw = mem.r32(hp)
                            full = ((hw & 0xffff) << 16) + lo + value(sym)
                            mem.w32(hp, (hw & 0xffff0000) | (((full + 0x8000) >> 16) & 0xffff))
                    pend = [x for x in pend if x[1] != sym]
                    w = (w & 0xffff0000) | ((value(sym) + lo) & 0xffff)
                elif typ == 10:                                   # R_MIPS_PC16
                    w = (w & 0xffff0000) | (((value(sym) + (s16(w & 0xffff) << 2) - p) >> 2) & 0xffff)
                elif typ == 248:                                  # R_MIPS_PC32
                    w = (w + value(sym) - p) & M32
                else:
                    raise Fault('relocation type %d is not supported; link to a static executable first' % typ)
                mem.w32(p, w)
        return syms, spans


# ------------------------------------------------------------------------ memory
class Memory:
    """Sparse memory of separately bounds-checked regions."""

    def __init__(self, be):
        self.be = be
        self.regions = []        # (lo, hi, bytearray)
        self.last = (0, 0, bytearray())
        self.trace = None        # a list that gets (address, bytes) of every access
        self._w = struct.Struct('>I' if be else '<I')
        self._h = struct.Struct('>H' if be else '<H')

    def add(self, lo, size):
        self.regions.append((lo, lo + size, bytearray(size)))

    def find(self, a, n):
        if self.trace is not None:
            self.trace.append((a, n))
        r = self.last
        if r[0] <= a and a + n <= r[1]:
            return r
        for r in self.regions:
            if r[0] <= a and a + n <= r[1]:
                self.last = r
                return r
        raise Fault('access of %d byte(s) at %#x is outside every buffer' % (n, a))

    def poke(self, a, b):
        if b:
            r = self.find(a, len(b))
            r[2][a - r[0]:a - r[0] + len(b)] = b

    def peek(self, a, n):
        r = self.find(a, n)
        return bytes(r[2][a - r[0]:a - r[0] + n])

    def r8(self, a):
        r = self.find(a, 1)
        return r[2][a - r[0]]

    def w8(self, a, v):
        r = self.find(a, 1)
        r[2][a - r[0]] = v & 0xff

    def r16(self, a):
        if a & 1:
            raise Fault('misaligned halfword access at %#x' % a)
        r = self.find(a, 2)
        return self._h.unpack_from(r[2], a - r[0])[0]

    def w16(self, a, v):
        if a & 1:
            raise Fault('misaligned halfword access at %#x' % a)
        r = self.find(a, 2)
        self._h.pack_into(r[2], a - r[0], v & 0xffff)

    def r32(self, a):
        if a & 3:
            raise Fault('misaligned word access at %#x' % a)
        r = self.find(a, 4)
        return self._w.unpack_from(r[2], a - r[0])[0]

    def w32(self, a, v):
        if a & 3:
            raise Fault('misaligned word access at %#x' % a)
        r = self.find(a, 4)
        self._w.pack_into(r[2], a - r[0], v & M32)

    def part(self, a, left):
        """Bytes an lwl/lwr/swl/swr at address a touches: (first address, count)."""
        n = a & 3
        if self.be:
            return (a, 4 - n) if left else (a - n, n + 1)
        return (a - n, n + 1) if left else (a, 4 - n)

    def lwlr(self, a, old, left):
        p, k = self.part(a, left)
        v = int.from_bytes(self.peek(p, k), 'big' if self.be else 'little')
        if left:
            sh = 8 * (4 - k)
            return ((v << sh) | (old & ((1 << sh) - 1))) & M32
        return ((old >> (8 * k) << (8 * k)) | v) & M32 if k < 4 else v

    def swlr(self, a, v, left):
        p, k = self.part(a, left)
        v = (v >> (8 * (4 - k))) if left else (v & ((1 << (8 * k)) - 1))
        self.poke(p, v.to_bytes(k, 'big' if self.be else 'little'))


# ------------------------------------------------------------- decode to closures
class Insn:
    """One decoded instruction: a closure to run it and its timing facts."""
    __slots__ = ('pc', 'text', 'run', 'kind', 'cls', 'ex', 'ag', 'dst', 'merge', 'store', 'cond', 'link_ra', 'likely',
                 'count', 'stall', 'isbr')

    def __init__(self, pc, text, run, kind, cls, ex=(), ag=(), dst=None, merge=None, store=None):
        self.pc, self.text, self.run, self.kind, self.cls = pc, text, run, kind, cls
        self.ex = tuple(r for r in ex if r)
        self.ag = tuple(r for r in ag if r)
        self.dst = dst if dst else None
        self.merge = merge
        self.store = store
        self.cond = self.likely = self.isbr = False
        self.count = self.stall = 0


class Result:
    def __init__(self, name):
        self.name = name
        self.instrs = self.cycles = 0
        self.mix = collections.Counter()
        self.stalls = collections.Counter()
        self.edges = {}
        self.v0 = self.v1 = 0

    def loops(self, least=3):
        """[(target, branch, count, instrs, cycles, mix)] of the usual iteration of each loop."""
        out = []
        for (src, dst), rec in self.edges.items():
            if sum(rec.values()) >= least:
                (ins, cyc, mix), _n = rec.most_common(1)[0]
                out.append((dst, src, sum(rec.values()), ins, cyc, dict(zip(CLASSES, mix))))
        out.sort(key=lambda x: -x[2] * x[3])
        return out


class Machine:
    def __init__(self, path, params=None, dsp=False, r2=True, limit=20000000):
        self.elf = Elf(path)
        self.be = self.elf.be
        self.mem = Memory(self.be)
        self.syms, self.spans = self.elf.load(self.mem, 0x00400000)
        self.dsp, self.r2, self.limit = dsp, r2, limit
        self.keeps_gp = True     # o32 compilers need not
        self.p = {k: v[0] for k, v in PARAMS.items()}
        self.p.update(params or {})
        top = max(h for _l, h in self.spans)
        self.heap = (top + 0xffff) & ~0xffff
        self.stack_top = 0x7fff0000
        self.mem.add(self.stack_top - 0x10000, 0x10000)
        self.r = [0] * 32
        self.hi, self.lo = [0] * 4, [0] * 4
        self.carry = 0
        self.cache = {}
        self.pred = {}
        self.last_pc = 0

    # -- public helpers
    def alloc(self, size, data=b'', align=0):
        a = ((self.heap + 63) & ~63) + 64 + align
        self.mem.add(a, max(size, 1))
        self.mem.poke(a, bytes(data))
        self.heap = a + size + 128
        return a

    def write(self, a, data):
        self.mem.poke(a, bytes(data))

    def read(self, a, n):
        return self.mem.peek(a, n)

    def words(self, ws):
        return b''.join(struct.pack('>I' if self.be else '<I', w & M32) for w in ws)

    def call(self, sym, *args):
        """Run one function; returns its Result."""
        pc = self.syms[sym] if isinstance(sym, str) else sym
        rng = random.Random(1)
        r = self.r
        for i in range(1, 32):
            r[i] = rng.getrandbits(32)
        sp = self.stack_top - 0x1000
        r[29] = sp
        r[28] = self.syms.get('_gp', 0x1234560)
        r[25], r[31] = pc, STOP
        for i, a in enumerate(args):
            if i < 4:
                r[4 + i] = a & M32
            else:
                self.mem.w32(sp + 4 * i, a)
        saved = {i: r[i] for i in list(range(16, 24)) + [28] * self.keeps_gp + [29, 30]}
        res = Result(sym if isinstance(sym, str) else hex(sym))
        try:
            self.execute(pc, res)
        except Fault as e:
            raise Fault('%s (in %s, at pc %#x%s)' % (e, res.name, self.last_pc, self.where(self.last_pc)))
        for i, v in saved.items():
            if r[i] != v:
                raise Fault('%s does not preserve $%s' % (res.name, REG[i]))
        res.v0, res.v1 = r[2], r[3]
        return res

    def where(self, pc):
        best = None
        for n, v in self.syms.items():
            if v <= pc and (best is None or v > self.syms[best]):
                best = n
        return '' if best is None else ' = %s+%#x' % (best, pc - self.syms[best])

    # -- the run loop: executes and times
    def execute(self, pc, res):
        P, cache, pred = self.p, self.cache, self.pred
        lat = {'alu': P['alu_lat'], 'load': P['load_lat'], 'lwlr': P['load_lat'], 'mul': P['mul_lat'], 'mf': P['mf_lat'],
               'mult': P['mult_acc_lat'], 'mt': P['mt_acc_lat'], 'div': P['div_lat'], 'dsp': P['dsp_lat'], 'link': 1,
               'store': 1, 'br': 1, 'nop': 1}
        agx, cut, mdu_gap = P['agen_extra'], P['store_data_lat_cut'], P['mdu_issue']
        tb, mp, jrra, jrb = P['taken_bubble'], P['mispredict'], P['jr_ra_bubble'], P['jr_bubble']
        mdu_kinds = ('mul', 'mult', 'mf', 'mt', 'div')
        ready = [0] * 40
        byload, bymul = [False] * 40, [False] * 40
        merge_ready = [0] * 40
        t, mdu_free, bubble = 0, 0, 0
        n = 0
        mix, stalls = res.mix, res.stalls
        arrivals = {}
        counts = [0] * len(CLASSES)
        index = {c: i for i, c in enumerate(CLASSES)}
        pending = pend_src = None         # target and address of the branch whose delay slot runs next
        in_slot, slot_bubble = False, 0
        while True:
            if pc == STOP:
                break
            self.last_pc = pc
            if self.mem.trace is not None:
                self.mem.trace.append(pc)
            ins = cache.get(pc)
            if ins is None:
                ins = cache[pc] = self.decode(pc)
            n += 1
            if n > self.limit:
                raise Fault('more than %d instructions' % self.limit)
            # ---- when can it issue?
            base = t + 1 + bubble
            if bubble:
                stalls['branch'] += bubble
                bubble = 0
            at, why = base, None
            for r in ins.ex:
                if r == ins.merge:
                    v = merge_ready[r]
                else:
                    v = ready[r]
                if v > at:
                    at, why = v, r
            if ins.store is not None and ins.store:
                v = ready[ins.store] - cut
                if v > at:
                    at, why = v, ins.store
            for r in ins.ag:
                v = ready[r] + agx if ready[r] else 0
                if v > at:
                    at, why = v, r
            kind = ins.kind
            if kind in mdu_kinds:
                if mdu_free > at:
                    at, why = mdu_free, ACC
                mdu_free = at + (P['div_lat'] if kind == 'div' else mdu_gap)
            if at > base:
                st = at - base
                ins.stall += st
                stalls['mdu' if (why >= ACC or bymul[why]) else 'load' if byload[why] else 'agen'] += st
            t = at
            ins.count += 1
            mix[ins.cls] += 1
            counts[index[ins.cls]] += 1
            # ---- run it
            out = ins.run()
            d = ins.dst
            if d is not None:
                ready[d] = t + lat[kind]
                if kind == 'lwlr':
                    merge_ready[d] = t + P['lwlr_merge_lat']
                else:
                    merge_ready[d] = ready[d]
                byload[d] = kind in ('load', 'lwlr')
                bymul[d] = kind in ('mul', 'mf', 'mt', 'div')
            # ---- control flow
            if in_slot:
                if ins.isbr:
                    raise Fault('branch in a delay slot')
                in_slot, bubble, slot_bubble = False, slot_bubble, 0
                if pending is None:
                    pc = pc + 4
                    continue
                dst, pending = pending, None
                if dst <= pend_src:       # backward: a loop edge
                    key = (pend_src, dst)
                    now = (n, t + bubble, tuple(counts))
                    old = arrivals.get(key)
                    if old is not None:
                        rec = res.edges.setdefault(key, collections.Counter())
                        rec[(n - old[0], now[1] - old[1], tuple(x - y for x, y in zip(counts, old[2])))] += 1
                    arrivals[key] = now
                pc = dst
                continue
            if ins.isbr:
                taken = out is not None
                if ins.cond:
                    c = pred.get(pc, 1)
                    pred[pc] = min(3, c + 1) if taken else max(0, c - 1)
                    slot_bubble = mp if (c >= 2) != taken else tb if taken else 0
                elif ins.link_ra is None:         # jr, jalr
                    slot_bubble = jrra if ins.ag == (31,) else jrb
                else:
                    slot_bubble = tb
                ins.stall += slot_bubble          # it falls after the delay slot
                pending, pend_src = out, pc
                if ins.likely and not taken:
                    t += 1                        # nullified slot
                    stalls['nullified'] += 1
                    bubble, slot_bubble = slot_bubble, 0
                    pc = pc + 8
                    continue
                in_slot = True
            pc = pc + 4
        res.instrs, res.cycles = n, t + bubble

    # -- decoding
    def decode(self, pc):
        if not any(l <= pc < h for l, h in self.spans):
            raise Fault('jump to %#x, outside the image' % pc)
        w = self.mem.r32(pc)
        R, mem = self.r, self.mem
        op, rs, rt, rd, sa, fn = w >> 26, w >> 21 & 31, w >> 16 & 31, w >> 11 & 31, w >> 6 & 31, w & 63
        imm, simm = w & 0xffff, s16(w & 0xffff)

        def need_r2(what):
            if not self.r2:
                raise Fault('%s needs MIPS32r2' % what)

        def need_dsp(what):
            if not self.dsp:
                raise Fault('%s needs the DSP ASE (--dsp)' % what)

        def wr(i, v):
            if i:
                R[i] = v & M32

        def alu3(name, f, cls):
            def run():
                wr(rd, f(R[rs], R[rt]))
            return Insn(pc, '%-7s$%s,$%s,$%s' % (name, REG[rd], REG[rs], REG[rt]), run, 'alu', cls, (rs, rt), (), rd)

        def alui(name, f, cls, k):
            def run():
                wr(rt, f(R[rs], k))
            return Insn(pc, '%-7s$%s,$%s,%d' % (name, REG[rt], REG[rs], k), run, 'alu', cls, (rs,), (), rt)

        def shift(name, f):
            def run():
                wr(rd, f(R[rt], sa))
            return Insn(pc, '%-7s$%s,$%s,%d' % (name, REG[rd], REG[rt], sa), run, 'alu', 'logic', (rt,), (), rd)

        def shiftv(name, f):
            def run():
                wr(rd, f(R[rt], R[rs] & 31))
            return Insn(pc, '%-7s$%s,$%s,$%s' % (name, REG[rd], REG[rt], REG[rs]), run, 'alu', 'logic', (rs, rt), (), rd)

        def branch(name, test, target, regs, likely=False, link=False):
            def run():
                go = test()
                if link:
                    R[31] = pc + 8
                return target if go else None
            i = Insn(pc, '%-7s%s' % (name, ','.join(['$' + REG[x] for x in regs] + ['%#x' % target])), run,
                     'link' if link else 'br', 'branch', regs, (), 31 if link else None)
            i.isbr, i.likely, i.link_ra = True, likely, link
            uncond = name == 'beq' and regs[0] == regs[1] or name == 'bgezal' and regs[0] == 0 or name == 'bgez' and regs[0] == 0
            i.cond = not uncond
            return i

        def ror(x, k):
            return ((x >> k) | (x << (32 - k))) & M32 if k else x

        def bt():
            return (pc + 4 + (simm << 2)) & M32

        def macc(name, f, add, ac, signed=False):
            def run():
                a, b = (s32(R[rs]), s32(R[rt])) if signed else (R[rs], R[rt])
                v = (self.hi[ac] << 32 | self.lo[ac])
                v = f(v, a * b) & 0xffffffffffffffff
                self.hi[ac], self.lo[ac] = v >> 32, v & M32
            if ac:
                need_dsp(name + ' on ac%d' % ac)
            return Insn(pc, '%-7s%s$%s,$%s' % (name, '$ac%d,' % ac if ac else '', REG[rs], REG[rt]), run, 'mult', 'mul',
                        (rs, rt) + ((ACC + ac,) if add else ()), (), ACC + ac)

        if w == 0 or w == 0x40:
            return Insn(pc, 'nop', lambda: None, 'nop', 'nop')
        if op == 0:
            if fn == 0x00:
                return shift('sll', lambda x, k: x << k)
            if fn == 0x02:
                if rs == 1:
                    need_r2('rotr')
                    return shift('rotr', ror)
                return shift('srl', lambda x, k: x >> k)
            if fn == 0x03:
                return shift('sra', lambda x, k: s32(x) >> k)
            if fn == 0x04:
                return shiftv('sllv', lambda x, k: x << k)
            if fn == 0x06:
                if sa == 1:
                    need_r2('rotrv')
                    return shiftv('rotrv', ror)
                return shiftv('srlv', lambda x, k: x >> k)
            if fn == 0x07:
                return shiftv('srav', lambda x, k: s32(x) >> k)
            if fn in (0x08, 0x09):
                def run():
                    t = R[rs]
                    if fn == 9 and rd:
                        R[rd] = pc + 8
                    return t
                i = Insn(pc, ('jr     $%s' if fn == 8 else 'jalr   $%s') % REG[rs], run, 'br' if fn == 8 else 'link', 'branch',
                         (), (rs,), rd if fn == 9 else None)
                i.isbr, i.link_ra = True, None
                return i
            if fn in (0x0a, 0x0b):
                def run():
                    if (R[rt] == 0) == (fn == 0x0a):
                        wr(rd, R[rs])
                return Insn(pc, '%-7s$%s,$%s,$%s' % ('movz' if fn == 0x0a else 'movn', REG[rd], REG[rs], REG[rt]), run, 'alu',
                            'logic', (rs, rt, rd), (), rd)
            if fn == 0x0f:
                return Insn(pc, 'sync', lambda: None, 'nop', 'other')
            if fn in (0x10, 0x12):
                ac = w >> 21 & 3
                if ac:
                    need_dsp('mfhi/mflo on ac%d' % ac)

                def run():
                    wr(rd, (self.hi if fn == 0x10 else self.lo)[ac])
                return Insn(pc, '%-7s$%s%s' % ('mfhi' if fn == 0x10 else 'mflo', REG[rd], ',$ac%d' % ac if ac else ''), run,
                            'mf', 'mfhilo', (ACC + ac,), (), rd)
            if fn in (0x11, 0x13):
                ac = rd & 3
                if ac:
                    need_dsp('mthi/mtlo on ac%d' % ac)

                def run():
                    (self.hi if fn == 0x11 else self.lo)[ac] = R[rs]
                return Insn(pc, '%-7s$%s%s' % ('mthi' if fn == 0x11 else 'mtlo', REG[rs], ',$ac%d' % ac if ac else ''), run,
                            'mt', 'mfhilo', (rs,), (), ACC + ac)
            if fn == 0x18:
                return macc('mult', lambda v, p: p, False, rd & 3, True)
            if fn == 0x19:
                return macc('multu', lambda v, p: p, False, rd & 3)
            if fn in (0x1a, 0x1b):
                def run():
                    a, b = (s32(R[rs]), s32(R[rt])) if fn == 0x1a else (R[rs], R[rt])
                    if b == 0:
                        raise Fault('division by zero')
                    q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
                    self.lo[0], self.hi[0] = q & M32, (a - q * b) & M32
                return Insn(pc, '%-7s$%s,$%s' % ('div' if fn == 0x1a else 'divu', REG[rs], REG[rt]), run, 'div', 'mul',
                            (rs, rt), (), ACC)
            if fn in (0x20, 0x21):
                return alu3('addu', lambda a, b: a + b, 'add')
            if fn in (0x22, 0x23):
                return alu3('subu', lambda a, b: a - b, 'add')
            if fn == 0x24:
                return alu3('and', lambda a, b: a & b, 'logic')
            if fn == 0x25:
                return alu3('or', lambda a, b: a | b, 'logic')
            if fn == 0x26:
                return alu3('xor', lambda a, b: a ^ b, 'logic')
            if fn == 0x27:
                return alu3('nor', lambda a, b: ~(a | b), 'logic')
            if fn == 0x2a:
                return alu3('slt', lambda a, b: int(s32(a) < s32(b)), 'slt')
            if fn == 0x2b:
                return alu3('sltu', lambda a, b: int(a < b), 'slt')
            if fn == 0x34:
                def run():
                    if R[rs] == R[rt]:
                        raise Fault('teq trap')
                return Insn(pc, 'teq', run, 'alu', 'other', (rs, rt))
        elif op == 1:
            cond = {0: ('bltz', lambda: R[rs] >> 31, 0, 0), 1: ('bgez', lambda: not R[rs] >> 31, 0, 0),
                    2: ('bltzl', lambda: R[rs] >> 31, 1, 0), 3: ('bgezl', lambda: not R[rs] >> 31, 1, 0),
                    16: ('bltzal', lambda: R[rs] >> 31, 0, 1), 17: ('bgezal', lambda: not R[rs] >> 31, 0, 1)}.get(rt)
            if cond:
                return branch(cond[0], cond[1], bt(), (rs,), bool(cond[2]), bool(cond[3]))
            if rt == 31:
                return Insn(pc, 'synci', lambda: None, 'nop', 'other', (), (rs,))
        elif op in (2, 3):
            target = (pc + 4 & 0xf0000000) | (w & 0x3ffffff) << 2

            def run():
                if op == 3:
                    R[31] = pc + 8
                return target
            i = Insn(pc, '%-7s%#x' % ('j' if op == 2 else 'jal', target), run, 'link' if op == 3 else 'br', 'branch', (), (),
                     31 if op == 3 else None)
            i.isbr, i.link_ra = True, op == 3
            return i
        elif op in (4, 20):
            return branch('beq' if op == 4 else 'beql', lambda: R[rs] == R[rt], bt(), (rs, rt), op == 20)
        elif op in (5, 21):
            return branch('bne' if op == 5 else 'bnel', lambda: R[rs] != R[rt], bt(), (rs, rt), op == 21)
        elif op in (6, 22):
            return branch('blez' if op == 6 else 'blezl', lambda: s32(R[rs]) <= 0, bt(), (rs,), op == 22)
        elif op in (7, 23):
            return branch('bgtz' if op == 7 else 'bgtzl', lambda: s32(R[rs]) > 0, bt(), (rs,), op == 23)
        elif op in (8, 9):
            return alui('addiu', lambda a, k: a + k, 'add', simm)
        elif op == 10:
            return alui('slti', lambda a, k: int(s32(a) < k), 'slt', simm)
        elif op == 11:
            return alui('sltiu', lambda a, k: int(a < (k & M32)), 'slt', simm)
        elif op == 12:
            return alui('andi', lambda a, k: a & k, 'logic', imm)
        elif op == 13:
            return alui('ori', lambda a, k: a | k, 'logic', imm)
        elif op == 14:
            return alui('xori', lambda a, k: a ^ k, 'logic', imm)
        elif op == 15:
            def run():
                wr(rt, imm << 16)
            return Insn(pc, '%-7s$%s,%#x' % ('lui', REG[rt], imm), run, 'alu', 'logic', (), (), rt)
        elif op == 28:
            ac = rd & 3
            if fn == 0x00:
                return macc('madd', lambda v, p: v + p, True, ac, True)
            if fn == 0x01:
                return macc('maddu', lambda v, p: v + p, True, ac)
            if fn == 0x04:
                return macc('msub', lambda v, p: v - p, True, ac, True)
            if fn == 0x05:
                return macc('msubu', lambda v, p: v - p, True, ac)
            if fn == 0x02:
                def run():
                    v = s32(R[rs]) * s32(R[rt])
                    wr(rd, v)
                    self.hi[0], self.lo[0] = 0xdeadbeef, 0xfeedface      # UNPREDICTABLE after MUL
                return Insn(pc, '%-7s$%s,$%s,$%s' % ('mul', REG[rd], REG[rs], REG[rt]), run, 'mul', 'mul', (rs, rt), (), rd)
            if fn in (0x20, 0x21):
                def run():
                    x = R[rs] if fn == 0x20 else R[rs] ^ M32
                    wr(rd, 32 - x.bit_length())
                return Insn(pc, '%-7s$%s,$%s' % ('clz' if fn == 0x20 else 'clo', REG[rd], REG[rs]), run, 'alu', 'logic', (rs,), (), rd)
        elif op == 31:
            if fn == 0x00:
                need_r2('ext')
                m = (1 << (rd + 1)) - 1

                def run():
                    wr(rt, R[rs] >> sa & m)
                return Insn(pc, '%-7s$%s,$%s,%d,%d' % ('ext', REG[rt], REG[rs], sa, rd + 1), run, 'alu', 'logic', (rs,), (), rt)
            if fn == 0x04:
                need_r2('ins')
                m = ((1 << (rd - sa + 1)) - 1) << sa

                def run():
                    wr(rt, R[rt] & ~m | R[rs] << sa & m)
                return Insn(pc, '%-7s$%s,$%s,%d,%d' % ('ins', REG[rt], REG[rs], sa, rd - sa + 1), run, 'alu', 'logic', (rs, rt), (), rt)
            if fn == 0x20 and sa in (0x02, 0x10, 0x18):
                need_r2('bshfl')
                name = {2: 'wsbh', 16: 'seb', 24: 'seh'}[sa]

                def run():
                    x = R[rt]
                    if sa == 2:
                        wr(rd, (x & 0x00ff00ff) << 8 | (x >> 8 & 0x00ff00ff))
                    elif sa == 16:
                        wr(rd, (x & 0xff) - (x << 1 & 0x100))
                    else:
                        wr(rd, s16(x & 0xffff))
                return Insn(pc, '%-7s$%s,$%s' % (name, REG[rd], REG[rt]), run, 'alu', 'logic', (rt,), (), rd)
            if fn == 0x3b:
                return Insn(pc, 'rdhwr', lambda: wr(rt, 0), 'alu', 'other', (), (), rt)
            if fn == 0x10 and sa in (0x10, 0x11):                       # DSP: addsc, addwc
                need_dsp('addsc/addwc')

                def run():
                    v = R[rs] + R[rt] + (self.carry if sa == 0x11 else 0)
                    if sa == 0x10:
                        self.carry = v >> 32
                    wr(rd, v)
                i = Insn(pc, '%-7s$%s,$%s,$%s' % ('addsc' if sa == 0x10 else 'addwc', REG[rd], REG[rs], REG[rt]), run, 'dsp', 'add',
                         (rs, rt), (), rd)
                return i
            if fn == 0x0a and sa == 0:                                   # DSP: lwx
                need_dsp('lwx')

                def run():
                    wr(rd, mem.r32((R[rs] + R[rt]) & M32))
                return Insn(pc, 'lwx', run, 'load', 'load', (), (rs, rt), rd)
            if fn == 0x38 and sa in (0x1a, 0x1f):                        # DSP: shilo, mthlip
                need_dsp('shilo/mthlip')
                ac = rd & 3
                k = w >> 20 & 0x3f
                k = k - 64 if k & 0x20 else k

                def run():
                    v = self.hi[ac] << 32 | self.lo[ac]
                    if sa == 0x1f:
                        v = (v << 32 | R[rs]) & (1 << 64) - 1
                    else:
                        v = v >> k if k >= 0 else v << -k & (1 << 64) - 1
                    self.hi[ac], self.lo[ac] = v >> 32, v & M32
                return Insn(pc, 'shilo' if sa == 0x1a else 'mthlip', run, 'mult', 'mfhilo',
                            (ACC + ac,) + ((rs,) if sa == 0x1f else ()), (), ACC + ac)
        elif 32 <= op <= 38 or op == 48:
            name = {32: 'lb', 33: 'lh', 34: 'lwl', 35: 'lw', 36: 'lbu', 37: 'lhu', 38: 'lwr', 48: 'll'}[op]
            get = {32: lambda a: (mem.r8(a) ^ 0x80) - 0x80, 33: lambda a: s16(mem.r16(a)), 35: mem.r32, 36: mem.r8, 37: mem.r16,
                   48: mem.r32}.get(op)
            left = op == 34
            if op in (34, 38):
                def run():
                    wr(rt, mem.lwlr((R[rs] + simm) & M32, R[rt], left))
                return Insn(pc, '%-7s$%s,%d($%s)' % (name, REG[rt], simm, REG[rs]), run, 'lwlr', 'load', (rt,), (rs,), rt, merge=rt)

            def run():
                wr(rt, get((R[rs] + simm) & M32))
            return Insn(pc, '%-7s$%s,%d($%s)' % (name, REG[rt], simm, REG[rs]), run, 'load', 'load', (), (rs,), rt)
        elif 40 <= op <= 43 or op in (46, 56):
            name = {40: 'sb', 41: 'sh', 42: 'swl', 43: 'sw', 46: 'swr', 56: 'sc'}[op]
            put = {40: mem.w8, 41: mem.w16, 43: mem.w32, 56: mem.w32}.get(op)
            left = op == 42
            if op in (42, 46):
                def run():
                    mem.swlr((R[rs] + simm) & M32, R[rt], left)
            else:
                def run():
                    put((R[rs] + simm) & M32, R[rt])
                    if op == 56:
                        wr(rt, 1)
            return Insn(pc, '%-7s$%s,%d($%s)' % (name, REG[rt], simm, REG[rs]), run, 'store', 'store', (), (rs,),
                        rt if op == 56 else None, store=rt)
        elif op in (47, 51):
            return Insn(pc, 'cache' if op == 47 else 'pref', lambda: None, 'nop', 'other', (), (rs,))
        raise Fault('instruction %08x is not supported' % w)


# ------------------------------------------------------------------ command line
def parse_buf(m, spec):
    name, _, rest = spec.partition('=')
    align = 0
    k = re.search(r'%(\d+)$', rest)
    if k:
        align, rest = int(k.group(1)), rest[:k.start()]
    size, _, init = rest.partition(':')
    size = int(size, 0)
    kind, _, val = init.partition('=')
    if kind in ('', 'zero'):
        data = b''
    elif kind == 'hex':
        data = bytes.fromhex(val.replace(':', ''))
    elif kind == 'str':
        data = val.encode()
    elif kind == 'inc':
        data = bytes(i & 255 for i in range(size))
    elif kind == 'rand':
        data = bytes(random.Random(int(val or 1)).getrandbits(8) for _ in range(size))
    elif kind in ('word', 'le32'):
        ws = [int(x, 0) & M32 for x in val.split(',')]
        data = m.words(ws) if kind == 'word' else struct.pack('<%dI' % len(ws), *ws)
    else:
        raise Fault('unknown buffer init %r' % kind)
    if len(data) > size:
        raise Fault('initial data of %s is longer than %d bytes' % (name, size))
    return name, size, data, align


def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('file', nargs='?')
    ap.add_argument('--call', action='append', default=[])
    ap.add_argument('--buf', action='append', default=[])
    ap.add_argument('--dump', action='append', default=[])
    ap.add_argument('--expect', action='append', default=[])
    ap.add_argument('--passes', type=int, default=3)
    ap.add_argument('--loops', action='store_true')
    ap.add_argument('--annotate', action='store_true')
    ap.add_argument('--set', action='append', default=[])
    ap.add_argument('--params', action='store_true')
    ap.add_argument('--dsp', action='store_true')
    ap.add_argument('--no-r2', action='store_true')
    ap.add_argument('--max', type=int, default=20000000)
    ap.add_argument('--json', action='store_true')
    a = ap.parse_args(argv)
    if a.params:
        for k, (v, why) in PARAMS.items():
            print('%-20s %3d  %s' % (k, v, why))
        return 0
    if not a.file or not a.call:
        ap.error('need FILE and at least one --call')
    over = {}
    for s in a.set:
        k, _, v = s.partition('=')
        if k not in PARAMS:
            ap.error('no parameter %s' % k)
        over[k] = int(v)
    m = Machine(a.file, over, a.dsp, not a.no_r2, a.max)
    bufs = {}
    for b in a.buf:
        name, size, data, align = parse_buf(m, b)
        bufs[name] = (m.alloc(size, data, align), size, data)

    def arg(x):
        x = x.strip()
        k = re.match(r'@(\w+)(?:\s*\+\s*(\w+))?$', x)
        if k:
            if k.group(1) not in bufs:
                raise Fault('no buffer %s' % k.group(1))
            return bufs[k.group(1)][0] + int(k.group(2) or '0', 0)
        if x.startswith('&'):
            return m.syms[x[1:]]
        return int(x, 0)

    results = []
    for _pass in range(max(1, a.passes)):
        for addr, size, data in bufs.values():
            m.write(addr, data + bytes(size - len(data)))
        for i in m.cache.values():
            i.count = i.stall = 0
        results = []
        for c in a.call:
            k = re.match(r'\s*([\w.$]+)\s*\((.*)\)\s*$', c)
            if not k:
                raise Fault('cannot parse --call %r' % c)
            if k.group(1) not in m.syms:
                raise Fault('no symbol %s in %s' % (k.group(1), a.file))
            args = [arg(x) for x in k.group(2).split(',')] if k.group(2).strip() else []
            results.append(m.call(k.group(1), *args))
    ok = True
    dumps = {}
    for d in a.dump:
        name, _, n = d.partition(':')
        dumps[name] = m.read(bufs[name][0], int(n, 0) if n else bufs[name][1]).hex()
    for x in a.expect:
        name, _, want = x.partition('=')
        want = bytes.fromhex(want.replace(':', ''))
        got = m.read(bufs[name][0], len(want))
        if got != want:
            ok = False
            print('MISMATCH %s: got %s, want %s' % (name, got.hex(), want.hex()), file=sys.stderr)
    tot_i, tot_c = sum(r.instrs for r in results), sum(r.cycles for r in results)
    if a.json:
        print(json.dumps({'file': a.file, 'endian': 'big' if m.be else 'little', 'instrs': tot_i, 'cycles': tot_c,
                          'calls': [{'call': c, 'instrs': r.instrs, 'cycles': r.cycles, 'mix': r.mix, 'stalls': r.stalls,
                                     'v0': r.v0,
                                     'loops': [dict(zip(('target', 'branch', 'count', 'instrs', 'cycles', 'mix'), l)) for l in r.loops()]}
                                    for c, r in zip(a.call, results)], 'dump': dumps, 'ok': ok}, indent=1))
        return 0 if ok else 1
    print('%s  %s-endian  %s' % (a.file, 'big' if m.be else 'little', ' '.join('%s=%d' % kv for kv in over.items())))
    for c, r in zip(a.call, results):
        st = ' '.join('%s:%d' % kv for kv in r.stalls.items() if kv[1]) or 'none'
        print('%-48s %8d instrs %8d cycles   stalls %s' % (c, r.instrs, r.cycles, st))
        print('    ' + ' '.join('%s:%d' % (k, r.mix[k]) for k in CLASSES if r.mix[k]))
        if a.loops:
            for dst, src, cnt, ins, cyc, mix in r.loops():
                print('    loop %#x..%#x%s: %d x %d instrs, %d cycles; %s' % (
                    dst, src, m.where(dst), cnt + 1, ins, cyc, ' '.join('%s:%d' % (k, mix[k]) for k in CLASSES if mix[k])))
    if len(results) > 1:
        print('%-48s %8d instrs %8d cycles' % ('total', tot_i, tot_c))
    for name, h in dumps.items():
        print('%s = %s' % (name, h))
    if a.annotate:
        for pc in sorted(m.cache):
            i = m.cache[pc]
            if i.count:
                print('%08x%-32s %-34s x%-7d%s' % (pc, m.where(pc), i.text, i.count, ' stall %d' % i.stall if i.stall else ''))
    return 0 if ok else 1


if __name__ == '__main__':
    try:
        sys.exit(main())
    except (Fault, OSError) as e:
        print('mipscycles: %s' % e, file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(0)
