#!/usr/bin/env python3
"""Big-integer oracle for the files in this folder, and their generator.

Written from RFC 8439, draft-irtf-cfrg-xchacha-03 and the WireGuard paper, for
clarity and not for speed: words are Python ints, Poly1305 is one line of
arithmetic mod 2^130 - 5. It shares no code and no trick with the crate.

    gen.py --check    every record of every *.txt is right, generated.txt is
                      what this file writes (exit status 1 and a list if not)
    gen.py --write    writes generated.txt anew (deterministic, no randomness)

The format of the files is described in README.md.
"""

import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent

# --- RFC 8439 ---------------------------------------------------------------

P = 2**130 - 5
CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
LAST_BLOCK = 2**32 - 1
MAX_PLAINTEXT = LAST_BLOCK * 64  # the AEAD's data starts at block 1


def rotl(x, n):
    return (x << n | x >> 32 - n) & 0xFFFFFFFF


def quarter_round(s, a, b, c, d):
    """Section 2.1, on four words of the state `s`."""
    for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = s[x] + s[y] & 0xFFFFFFFF
        s[z] = rotl(s[z] ^ s[x], n)


def words(b):
    return [int.from_bytes(b[i : i + 4], "little") for i in range(0, len(b), 4)]


def unwords(ws):
    return b"".join(w.to_bytes(4, "little") for w in ws)


def rounds(state):
    s = list(state)
    for _ in range(10):
        for i in range(4):  # columns
            quarter_round(s, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):  # diagonals
            quarter_round(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return s


SIGMA = words(b"expand 32-byte k")


def chacha20_block(key, counter, nonce):
    """Section 2.3: 64 bytes of keystream."""
    assert len(key) == 32 and len(nonce) == 12 and 0 <= counter <= LAST_BLOCK
    state = SIGMA + words(key) + [counter] + words(nonce)
    return unwords([a + b & 0xFFFFFFFF for a, b in zip(state, rounds(state))])


def hchacha20(key, nonce):
    """draft-irtf-cfrg-xchacha-03, section 2.2: no feed-forward."""
    assert len(key) == 32 and len(nonce) == 16
    s = rounds(SIGMA + words(key) + words(nonce))
    return unwords(s[:4] + s[12:])


def x_parts(key, nonce):
    """Key and nonce of the inner cipher of an XChaCha construction."""
    assert len(nonce) == 24
    return hchacha20(key, nonce[:16]), bytes(4) + nonce[16:]


def keystream(key, counter, nonce, n):
    blocks = (n + 63) // 64
    assert counter + blocks <= 2**32, "past the last block"
    return b"".join(chacha20_block(key, counter + i, nonce) for i in range(blocks))[:n]


def xor(a, b):
    assert len(a) == len(b)
    return bytes(x ^ y for x, y in zip(a, b))


def chacha20(key, counter, nonce, data):
    """Section 2.4."""
    return xor(data, keystream(key, counter, nonce, len(data)))


def poly1305_hash(r, msg, h=0):
    """The accumulator, reduced, before `s` is added; starts at `h`."""
    for i in range(0, len(msg), 16):
        h = (h + int.from_bytes(msg[i : i + 16] + b"\1", "little")) * r % P
    return h


def poly1305(key, msg):
    """Section 2.5."""
    assert len(key) == 32
    r = int.from_bytes(key[:16], "little") & CLAMP
    s = int.from_bytes(key[16:], "little")
    return ((poly1305_hash(r, msg) + s) % 2**128).to_bytes(16, "little")


def pad16(b):
    return b + bytes(-len(b) % 16)


def seal(key, nonce, aad, plaintext):
    """Section 2.8: ciphertext, then tag."""
    ct = chacha20(key, 1, nonce, plaintext)
    lengths = len(aad).to_bytes(8, "little") + len(ct).to_bytes(8, "little")
    return ct + poly1305(keystream(key, 0, nonce, 32), pad16(aad) + pad16(ct) + lengths)


def open_(key, nonce, aad, box):
    """The plaintext, or the name of the error."""
    if len(box) < 16:
        return "TooShort"
    text = chacha20(key, 1, nonce, box[:-16])
    return text if seal(key, nonce, aad, text) == box else "AuthFail"


def ssh_seal(key, sequence, packet):
    """OpenSSH's PROTOCOL.chacha20poly1305: packet, then tag. Its ChaCha20 has a 64-bit
    counter, which stays below 2^32, and a 64-bit nonce."""
    main, header, nonce = key[:32], key[32:], bytes(4) + sequence.to_bytes(8, "big")
    ct = chacha20(header, 0, nonce, packet[:4]) + chacha20(main, 1, nonce, packet[4:])
    return ct + poly1305(keystream(main, 0, nonce, 32), ct)


# --- WireGuard data messages ------------------------------------------------

WINDOW = 8128
COUNTER_LIMIT = 2**64 - 2**13 - 1  # REJECT_AFTER_MESSAGES: this one is refused


def wg_nonce(counter):
    return bytes(4) + counter.to_bytes(8, "little")


def wg_padded_len(inner, mtu):
    """To a multiple of 16, never past the MTU (0: no MTU). Above the MTU, as for
    a packet that is segmented later, only the last piece is rounded."""
    if mtu == 0:
        return inner + -inner % 16
    last = inner % mtu if inner > mtu else inner
    return inner - last + min(last + -last % 16, mtu)


def wg_seal(key, receiver, counter, mtu, inner):
    if counter >= COUNTER_LIMIT:
        return "CounterLimit"
    header = b"\4\0\0\0" + receiver.to_bytes(4, "little") + counter.to_bytes(8, "little")
    text = inner + bytes(wg_padded_len(len(inner), mtu) - len(inner))
    return header + seal(key, wg_nonce(counter), b"", text)


def wg_open(key, receiver, packet):
    if len(packet) < 32:
        return "TooShort"
    if packet[:4] != b"\4\0\0\0":
        return "BadType"
    if packet[4:8] != receiver.to_bytes(4, "little"):
        return "BadIndex"
    counter = int.from_bytes(packet[8:16], "little")
    if counter >= COUNTER_LIMIT:
        return "CounterLimit"
    return open_(key, wg_nonce(counter), b"", packet[16:])


class Replay:
    """The window by its definition: the set of all counters accepted."""

    def __init__(self):
        self.seen, self.top = set(), 0

    def receive(self, counter, genuine):
        assert 0 <= counter < 2**64
        if counter >= COUNTER_LIMIT:
            return "limit"
        if counter + WINDOW < self.top:
            return "old"
        if counter in self.seen:
            return "replay"
        if not genuine:
            return "forged"
        self.seen.add(counter)
        self.top = max(self.top, counter)
        return "ok"


# --- regions ----------------------------------------------------------------


def overlap(src_len, offset, dst_len):
    """dst = src + offset. Legal: the same start, or nothing in common."""
    disjoint = offset >= src_len or -offset >= dst_len
    return None if offset == 0 or disjoint or not src_len or not dst_len else "Overlap"


# --- the text format --------------------------------------------------------


class Record(dict):
    """One record; `packets` collects the repeated `packet` lines."""

    def __init__(self, place):
        super().__init__()
        self.place, self.packets = place, []


def value(text, names):
    """`+` joins pieces: hex, `repeat:HEX*TIMES` or `NAME[FROM..TO]`."""
    out = b""
    for piece in text.split("+"):
        piece = piece.strip()
        if m := re.fullmatch(r"repeat:([0-9a-f]+)\*([0-9]+)", piece):
            out += bytes.fromhex(m[1]) * int(m[2])
        elif m := re.fullmatch(r"([a-z]\w*)\[([0-9]+)\.\.([0-9]+)\]", piece):
            part = names[m[1]][int(m[2]) : int(m[3])]
            assert len(part) == int(m[3]) - int(m[2]), piece
            out += part
        else:
            out += bytes.fromhex(piece)
    return out


BYTES = {"key", "nonce", "aad", "msg", "out", "out_head", "out_tail", "sha256", "tag",
         "packet", "text", "key2", "tag2", "tag_cut"}
INTS = {"counter", "sequence", "len", "offset", "dst_len", "out_len", "receiver", "mtu", "inner_len",
        "padded_len"}


def sizes(text):
    """`64*3 1` is 64, 64, 64, 1."""
    out = []
    for item in text.split():
        size, _, times = item.partition("*")
        out += [int(size)] * int(times or 1)
    return out


def load(path):
    """The records of a file. A `define NAME = value` line names bytes for the
    lines after it; `#` starts a comment line."""
    names, records, record = {}, [], None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("#"):
            continue
        if not line:
            record = None
            continue
        k, _, v = (s.strip() for s in line.partition("="))
        if k.startswith("define "):
            names[k[7:]] = value(v, names)
            continue
        if record is None:
            record = Record(f"{path.name}:{number}")
            records.append(record)
        if k == "packet" and ";" in v:
            counter, *fields = v.split(";")
            record.packets.append((int(counter), *(value(f, names) for f in fields)))
        else:
            assert k not in record, f"{path.name}:{number}: {k} twice"
            record[k] = (value(v, names) if k in BYTES else int(v) if k in INTS
                         else sizes(v) if k == "chunks" else v)
    return records


# --- checks: one function an operation, true when the record is right -------


def check_block(r):
    return r["out"] == chacha20_block(r["key"], r["counter"], r["nonce"])


def check_hchacha20(r):
    return r["out"] == hchacha20(r["key"], r["nonce"])


def check_stream(r):
    assert sum(r.get("chunks", [len(r["msg"])])) == len(r["msg"])
    return r["out"] == chacha20(r["key"], r["counter"], r["nonce"], r["msg"])


def check_xstream(r):
    key, nonce = x_parts(r["key"], r["nonce"])
    return check_stream(r | {"key": key, "nonce": nonce})


def check_stream_err(r):
    return r["error"] == "CounterOverflow" and r["counter"] * 64 + len(r["msg"]) > 2**38


def check_stream_ops(r):
    """`position` is in bytes of the whole keystream; all of `msg` is used."""
    position, msg, out = r["counter"] * 64, r["msg"], b""
    for op in r["ops"].split(","):
        name, n = op.split()
        n = int(n)
        if name == "xor":
            first, skip = divmod(position, 64)
            stream = keystream(r["key"], first, r["nonce"], skip + n) if n else bytes(skip)
            out += xor(msg[:n], stream[skip:])
            position, msg = position + n, msg[n:]
        elif name == "xor_err":
            assert n and position + n > 2**38
        elif name == "set_counter":
            assert n * 64 >= position
            position = n * 64
        elif name == "set_counter_err":
            assert n * 64 < position
        else:
            return False
    return r["out"] == out and not msg


def check_poly1305(r):
    assert sum(r.get("chunks", [len(r["msg"])])) == len(r["msg"])
    return r["tag"] == poly1305(r["key"], r["msg"])


def check_poly1305_reuse(r):
    return check_poly1305(r) and r["tag2"] == poly1305(r["key2"], r["msg"])


def check_poly1305_clone(r):
    return check_poly1305(r) and max(sizes(r["cuts"])) <= len(r["msg"])


def check_key_gen(r):
    return r["out"] == keystream(r["key"], 0, r["nonce"], 32)


def check_seal(r):
    box = seal(r["key"], r["nonce"], r["aad"], r["msg"])
    if "out" in r:
        return r["out"] == box
    return (r["out_len"] == len(box) and r["out_head"] == box[:64] and r["out_tail"] == box[-64:]
            and r["sha256"] == hashlib.sha256(box).digest())


def check_xseal(r):
    key, nonce = x_parts(r["key"], r["nonce"])
    return check_seal(r | {"key": key, "nonce": nonce})


def check_open_fail(r):
    return r["error"] == open_(r["key"], r["nonce"], r["aad"], r["msg"])


def check_api_len(r):
    if "tag_cut" in r:  # what a build that keeps the last 12 bytes would accept
        assert open_(r["key"], r["nonce"][-12:], r["aad"], r["msg"]) == r["tag_cut"]
    bad_key, bad_nonce = len(r["key"]) != 32, len(r["nonce"]) not in (12, 24)
    return r["error"] == "InvalidKeyLength" * bad_key + "InvalidNonceLength" * bad_nonce


def check_seal_into(r):
    short = r["out_len"] < len(r["msg"]) + 16
    return short == (r["error"] == "OutputTooShort")


def check_open_into(r):
    text = open_(r["key"], r["nonce"], r["aad"], r["msg"])
    if r["error"] != "none":
        return r["error"] == "OutputTooShort" and r["out_len"] < len(text)
    return r["out"] == text and r["out_len"] >= len(text)


def check_overlap(r):
    return r["error"] == str(overlap(r["len"], r["offset"], r.get("dst_len", r["len"]))).replace(
        "None", "none")


def check_max_len(r):
    return int(r["max_plaintext"]) == MAX_PLAINTEXT


def check_ssh_seal(r):
    return r["out"] == ssh_seal(r["key"], r["sequence"], r["msg"])


def check_wg_seal(r):
    sealed = wg_seal(r["key"], r["receiver"], r["counter"], r["mtu"], r["msg"])
    return sealed == (r["error"] if "error" in r else r["out"])


def check_wg_open(r):
    opened = wg_open(r["key"], r["receiver"], r["msg"])
    return opened == (r["error"] if "error" in r else r["out"])


def check_wg_padding(r):
    return r["padded_len"] == wg_padded_len(r["inner_len"], r["mtu"])


def check_replay(r):
    window = Replay()
    for op in r["ops"].split(","):
        counter, kind, verdict = op.split()
        assert window.receive(int(counter), {"ok": True, "forged": False}[kind]) == verdict, op
    return True


def check_batch(r):
    if "error" in r:
        return r["error"] == "CounterLimit" and any(c >= COUNTER_LIMIT for c, *_ in r.packets)
    return all(out == seal(r["key"], wg_nonce(c), aad, msg) for c, aad, msg, out in r.packets)


def check_arithmetic():
    """Section 2.1.1 and 2.2.1: a quarter round on its own and in a state."""
    s = [0x11111111, 0x01020304, 0x9B8D6F43, 0x01234567]
    quarter_round(s, 0, 1, 2, 3)
    assert s == [0xEA2A92F4, 0xCB1CF8CE, 0x4581472E, 0x5881C4BB]
    s = [0x879531E0, 0xC5ECF37D, 0x516461B1, 0xC9A62F8A, 0x44C20EF3, 0x3390AF7F, 0xD9FC690B,
         0x2A5F714C, 0x53372767, 0xB00A5631, 0x974C541A, 0x359E9963, 0x5C971061, 0x3D631689,
         0x2098D9D6, 0x91DBD320]
    t = list(s)
    quarter_round(t, 2, 7, 8, 13)
    assert (t[2], t[7], t[8], t[13]) == (0xBDB886DC, 0xCFACAFD2, 0xE46BEA80, 0xCCC07C79)
    assert [i for i in range(16) if s[i] != t[i]] == [2, 7, 8, 13]


def check():
    check_arithmetic()
    wrong, count, ids = [], 0, set()
    for path in sorted(HERE.glob("*.txt")):
        for r in load(path):
            count += 1
            try:
                right = r["id"] not in ids and globals()["check_" + r["op"]](r)
            except (AssertionError, KeyError, TypeError) as e:
                right = print(f"{r.place}: {e!r}")
            ids.add(r.get("id"))
            if not right:
                wrong.append(f"{r.place}: {r.get('id')} ({r.get('op')}) is wrong")
    if (HERE / "generated.txt").read_text() != generated():
        wrong.append("generated.txt is not what gen.py writes: run gen.py --write")
    print(*wrong, f"{count - len(wrong)} records passed, {len(wrong)} failed", sep="\n")
    return bool(wrong) or not count


# --- generated.txt ----------------------------------------------------------


def data(seed, n):
    """n bytes that depend on nothing but the seed."""
    blocks = (hashlib.sha256(f"{seed} {i}".encode()).digest() for i in range((n + 31) // 32))
    return b"".join(blocks)[:n]


def number(seed, n):
    """A number below n."""
    return int.from_bytes(data(seed, 16), "little") % n


def generated():
    out = ["# Written by gen.py --write from nothing but its own code; do not edit."]

    def define(name, b):
        out.append(f"\ndefine {name} = {b.hex()}")

    def record(op, id_, **fields):
        out.append(f"\nop = {op}\nid = {id_}")
        out.extend(f"{k} = {v.hex() if isinstance(v, bytes) else v}".rstrip() for k, v in fields.items())

    message = data("message", 2048)
    define("m", message)

    # The last blocks of the keystream, for passes of every width up to 32, whole and
    # cut: all 2^32 blocks are good, the byte after them is an error.
    key, nonce = data("last key", 32), data("last nonce", 12)
    define("last", keystream(key, 2**32 - 32, nonce, 2048))
    for blocks in range(1, 33):
        n, counter = 64 * blocks, 2**32 - blocks
        fields = dict(key=key, nonce=nonce, counter=counter)
        record("stream", f"G-last-{blocks}", **fields, msg=f"repeat:00*{n}",
               out=f"last[{2048 - n}..2048]")
        cut = number(f"cut {blocks}", n - 1) + 1
        record("stream", f"G-last-cut-{blocks}", **fields, chunks=f"{cut} {n - cut}",
               msg=f"repeat:00*{n}", out=f"last[{2048 - n}..2048]")
        record("stream_err", f"G-past-{blocks}", **fields, msg=f"repeat:a5*{n + 1}",
               error="CounterOverflow")

    # Poly1305, an accumulator chosen to be `target` after `blocks` blocks, under a new
    # key each. With more blocks after it, a backend must carry on from an edge.
    edges = {"0": 0, "1": 1, "4": 4, "5": 5, "p-1": P - 1, "p-2": P - 2, "p-5": P - 5,
             "2^128": 2**128, "2^128-1": 2**128 - 1, "2^129-1": 2**129 - 1,
             "2^104-1": 2**104 - 1, "2^88-1": 2**88 - 1, "2^78": 2**78, "2^52-1": 2**52 - 1,
             "2^44-1": 2**44 - 1, "2^26-1": 2**26 - 1, "2^32-1": 2**32 - 1,
             "limbs26": sum((2**26 - 1) << i for i in (26, 78)),
             "limbs44": (2**44 - 1) << 44}
    for i, (name, target) in enumerate(edges.items()):
        for blocks in (1, 3, 4, 8, 16, 33, 64):
            seed = f"{name} {blocks}"
            # The block that leads there is (target / r - h) mod p; it is one only if it
            # lies in [2^128, 2^129), so try keys (and with them h) until it does. One
            # block can't lead to 0.
            if blocks == 1 and target == 0:
                continue
            for attempt in range(1000):
                key = data(f"{seed} {attempt}", 32)
                r = int.from_bytes(key[:16], "little") & CLAMP
                start = 16 * (blocks - 1)
                last = (target * pow(r, -1, P) - poly1305_hash(r, message[:start])) % P
                if last >> 128 == 1:
                    break
            last = (last - 2**128).to_bytes(16, "little")
            assert poly1305_hash(r, message[:start] + last) == target
            for after in (0, (1, 4, 15, 33)[(i + blocks) % 4]):
                whole = message[:start] + last + message[: 16 * after]
                head = f"m[0..{start}] + " if start else ""
                tail = f" + m[0..{16 * after}]" if after else ""
                record("poly1305", f"G-acc-{name}-b{blocks}+{after}", key=key,
                       msg=head + last.hex() + tail, tag=poly1305(key, whole))

    # Poly1305 with a new key for each length: nothing cached may outlive its key.
    for n in list(range(0, 130)) + [255, 256, 257, 511, 513, 767, 1023, 1025, 2047]:
        key = data(f"mac {n}", 32)
        record("poly1305", f"G-mac-{n}", key=key, msg=f"m[0..{n}]", tag=poly1305(key, message[:n]))

    # AEAD: text and aad lengths around every block edge, a new key and nonce for each.
    for n in (0, 1, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 191, 192, 255, 257, 319, 448, 511):
        for a in (0, 1, 16, 31):
            key, nonce = data(f"seal key {n} {a}", 32), data(f"seal nonce {n} {a}", 12)
            if n > 130 and a not in (0, 31):
                continue
            record("seal", f"G-seal-{n}-{a}", key=key, nonce=nonce, aad=f"m[0..{a}]" if a else "",
                   msg=f"m[0..{n}]" if n else "", out=seal(key, nonce, message[:a], message[:n]))
    for n in (0, 1, 63, 64, 65, 300):
        key, nonce = data(f"xseal key {n}", 32), data(f"xseal nonce {n}", 24)
        record("xseal", f"G-xseal-{n}", key=key, nonce=nonce, aad="m[0..13]", msg=f"m[0..{n}]",
               out=seal(*x_parts(key, nonce), message[:13], message[:n]))

    # SSH packets: lengths as above with the four bytes of the length field in front, and
    # sequence numbers whose bytes all count.
    for n in (0, 1, 8, 12, 15, 16, 60, 61, 63, 64, 65, 124, 128, 252, 255, 300, 508, 512, 1000):
        key, sequence = data(f"ssh key {n}", 64), (3, 2**32 - 1, 0x01020304)[n % 3]
        packet = n.to_bytes(4, "big") + message[:n]
        record("ssh_seal", f"G-ssh-{n}", key=key, sequence=sequence,
               msg=f"{n:08x} + m[0..{n}]" if n else f"{n:08x}", out=ssh_seal(key, sequence, packet))

    # HChaCha20 with asymmetric words.
    for i in range(8):
        key, nonce = data(f"hchacha key {i}", 32), data(f"hchacha nonce {i}", 16)
        record("hchacha20", f"G-hchacha-{i}", key=key, nonce=nonce, out=hchacha20(key, nonce))

    # Replay window: long histories that wander forward with steps of every size.
    for history in range(6):
        window, top, ops = Replay(), number(f"replay {history}", 9000), []
        for i in range(200):
            seed = f"replay {history} {i}"
            step = number(seed + " step", 2 ** number(seed + " size", (5, 9, 14, 15, 17, 40)[history]))
            back = (step, WINDOW - 64 + number(seed + " edge", 129))[number(seed + " back", 3) == 0]
            forward = number(seed + " way", 3) == 0
            counter = top + step if forward else max(0, top - back)
            genuine = number(seed + " genuine", 5) > 0
            verdict = window.receive(counter, genuine)
            top = max(top, counter) if verdict == "ok" else top
            ops.append(f"{counter} {'ok' if genuine else 'forged'} {verdict}")
        record("replay", f"G-replay-{history}", ops=", ".join(ops))

    # Two rounds of the ring with a bit set in each word of it: a word that is entered again must
    # have forgotten the bit of the round before, however far the jump into it was.
    for jump in (1, 2, 3, 64, 126, 127, 128, 129):
        window, ops = Replay(), []

        def receive(counter):
            ops.append(f"{counter} ok {window.receive(counter, True)}")

        for word in range(128):
            receive(64 * word + 5)
        newest = 127 + jump
        receive(64 * newest + 1)
        for word in range(max(0, newest - 130), newest + 1, 1 if jump < 4 else 9):
            receive(64 * word + 5)
            receive(64 * word + 6)
        record("replay", f"G-replay-ring-{jump}", ops=", ".join(ops))

    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    elif sys.argv[1:] == ["--write"]:
        (HERE / "generated.txt").write_text(generated())
    else:
        sys.exit(__doc__)
