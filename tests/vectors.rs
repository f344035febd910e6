//! Every record of `vectors/` (see its README) through the public interface, on every backend that
//! this machine can run. The files are compiled in: nothing here needs a file system, so the suite
//! also runs under emulation.

mod records;

use records::Record;
use wireseal::openssh::PacketKey;
use wireseal::wireguard::{
    HEADER_LEN, REJECT_AFTER_MESSAGES, Receiver, ReplayWindow, Sender, padded_len, receiver_index,
};
use wireseal::{
    Backend, ChaCha20, ChaCha20Poly1305, Error, MAX_PLAINTEXT_LEN, Packet, Poly1305, Tag, XChaCha20, XChaCha20Poly1305,
    hchacha20, overlap,
};

const FILES: [&str; 10] = [
    include_str!("../vectors/rfc8439.txt"),
    include_str!("../vectors/xchacha.txt"),
    include_str!("../vectors/chacha20.txt"),
    include_str!("../vectors/poly1305.txt"),
    include_str!("../vectors/aead.txt"),
    include_str!("../vectors/bounds.txt"),
    include_str!("../vectors/wireguard.txt"),
    include_str!("../vectors/replay.txt"),
    include_str!("../vectors/batch.txt"),
    include_str!("../vectors/generated.txt"),
];

/// The records of one operation; a test on none would prove nothing.
fn records(op: &str) -> Vec<Record> {
    let mut records: Vec<_> = FILES.into_iter().flat_map(records::parse).collect();
    records.retain(|record| record.text("op") == op);
    assert!(!records.is_empty(), "no records of {op}");
    records
}

/// Each record of one operation on each backend.
fn each(op: &str, test: impl Fn(&Record, Backend)) {
    for record in records(op) {
        Backend::available().for_each(|backend| test(&record, backend));
    }
}

/// What the project's cases call an error.
fn named(error: Error) -> &'static str {
    match error {
        Error::Unauthentic => "AuthFail",
        Error::TooShort => "TooShort",
        Error::OutputTooShort => "OutputTooShort",
        Error::KeystreamExhausted => "CounterOverflow",
        Error::Overlap => "Overlap",
        Error::WrongType => "BadType",
        Error::UnknownReceiver => "BadIndex",
        Error::CounterLimit => "CounterLimit",
        Error::Replayed => "replay",
        Error::TooOld => "old",
        other => panic!("unexpected: {other:?}"),
    }
}

fn error<T>(result: Result<T, Error>) -> &'static str {
    result.map_or_else(named, |_| "none")
}

#[test]
fn every_operation_has_a_test() {
    let source = include_str!("vectors.rs");
    for record in FILES.into_iter().flat_map(records::parse) {
        let op = record.text("op");
        assert!(source.contains(&format!("(\"{op}\"")), "{op} of {record} is tested nowhere");
    }
}

// --- ChaCha20 ---

fn stream_at(record: &Record, backend: Backend) -> ChaCha20 {
    let key = record.array("key");
    let mut stream = match record.text("op") {
        "xstream" => XChaCha20::with_backend(&key, &record.array("nonce"), backend).into(),
        _ => ChaCha20::with_backend(&key, &record.array("nonce"), backend),
    };
    stream.set_counter(record.number("counter")).unwrap();
    stream
}

#[test]
fn block() {
    each("block", |record, backend| {
        let mut out = [0xa5; 64];
        stream_at(record, backend).keystream(&mut out).unwrap();
        assert_eq!(out, record.array("out"), "{record} on {backend}");
    });
}

#[test]
fn key_gen() {
    each("key_gen", |record, backend| {
        let mut out = [0xa5; 32];
        ChaCha20::with_backend(&record.array("key"), &record.array("nonce"), backend).keystream(&mut out).unwrap();
        assert_eq!(out, record.array("out"), "{record} on {backend}");
    });
}

#[test]
fn hchacha20_and_what_xchacha20_makes_of_it() {
    each("hchacha20", |record, backend| {
        let (key, nonce, subkey): (_, [u8; 16], _) = (record.array("key"), record.array("nonce"), record.array("out"));
        assert_eq!(hchacha20(&key, &nonce), subkey, "{record}");
        // The subkey of a given backend shows in the stream that it starts.
        let tail = *b"\x01\x23\x45\x67\x89\xab\xcd\xef";
        let long: Vec<_> = [&nonce[..], &tail].concat();
        let short: Vec<_> = [&[0; 4][..], &tail].concat();
        let (mut extended, mut inner) = ([0; 96], [0; 96]);
        XChaCha20::with_backend(&key, &long.try_into().unwrap(), backend).keystream(&mut extended).unwrap();
        ChaCha20::with_backend(&subkey, &short.try_into().unwrap(), backend).keystream(&mut inner).unwrap();
        assert_eq!(extended, inner, "{record} on {backend}");
    });
}

/// In the record's chunks and in one call; in place, from one buffer to another, and raw keystream.
fn stream(record: &Record, backend: Backend) {
    let (msg, out) = (record.bytes("msg"), record.bytes("out"));
    for chunks in [record.chunks(msg.len()), vec![msg.len()]] {
        let [mut in_place, mut apart, mut raw] = [(); 3].map(|()| stream_at(record, backend));
        let (mut data, mut dst, mut keys) = (msg.clone(), vec![0xa5; msg.len()], vec![0xa5; msg.len()]);
        let mut at = 0;
        for n in chunks {
            let now = at..at + n;
            in_place.apply(&mut data[now.clone()]).unwrap();
            apart.apply_to(&msg[now.clone()], &mut dst[now.clone()]).unwrap();
            raw.keystream(&mut keys[now]).unwrap();
            at += n;
        }
        keys.iter_mut().zip(&msg).for_each(|(key, byte)| *key ^= byte);
        assert!(data == out && dst == out && keys == out, "{record} on {backend}");
        let position = 64 * record.number::<u64>("counter") + msg.len() as u64;
        assert_eq!(in_place.position(), position, "{record} on {backend}");
        assert_eq!(in_place.remaining(), (1 << 38) - position, "{record} on {backend}");
    }
}

#[test]
fn chacha20_stream() {
    each("stream", stream);
}

#[test]
fn xchacha20_stream() {
    each("xstream", stream);
}

#[test]
fn one_byte_too_many_is_refused_before_any_output() {
    each("stream_err", |record, backend| {
        let msg = record.bytes("msg");
        let mut stream = stream_at(record, backend);
        let (mut data, mut dst, mut raw) = (msg.clone(), vec![0xa5; msg.len()], msg.clone());
        for result in [stream.apply(&mut data), stream.apply_to(&msg, &mut dst), stream.keystream(&mut raw)] {
            assert_eq!(error(result), record.text("error"), "{record} on {backend}");
        }
        assert!(data == msg && raw == msg && dst.iter().all(|&byte| byte == 0xa5), "{record} on {backend}");
        // Nothing was consumed: all but the last byte still works, the last still does not.
        assert_eq!(stream.remaining(), msg.len() as u64 - 1, "{record} on {backend}");
        stream.apply(&mut data[1..]).unwrap();
        assert_eq!(error(stream.apply(&mut data[..1])), record.text("error"), "{record} on {backend}");
    });
}

#[test]
fn calls_in_order() {
    each("stream_ops", |record, backend| {
        let mut stream = stream_at(record, backend);
        let mut data = record.bytes("msg");
        let mut at = 0;
        for op in record.text("ops").split(", ") {
            let (name, n) = op.split_once(' ').unwrap();
            let before = stream.position();
            match name {
                "xor" => {
                    let n: usize = n.parse().unwrap();
                    stream.apply(&mut data[at..at + n]).unwrap();
                    at += n;
                }
                "xor_err" => {
                    let mut same = vec![0x77; n.parse().unwrap()];
                    assert_eq!(error(stream.apply(&mut same)), "CounterOverflow", "{record} on {backend}");
                    assert!(
                        same.iter().all(|&byte| byte == 0x77) && stream.position() == before,
                        "{record} on {backend}"
                    );
                }
                "set_counter" => stream.set_counter(n.parse().unwrap()).unwrap(),
                "set_counter_err" => {
                    assert_eq!(
                        stream.set_counter(n.parse().unwrap()),
                        Err(Error::CounterBehind),
                        "{record} on {backend}"
                    );
                    assert_eq!(stream.position(), before, "{record} on {backend}");
                }
                other => panic!("{other} in {record}"),
            }
        }
        assert_eq!(data, record.bytes("out"), "{record} on {backend}");
    });
}

// --- Poly1305 ---

fn tag_of(key: &[u8; 32], chunks: &[&[u8]], backend: Backend) -> [u8; 16] {
    let mut poly = Poly1305::with_backend(key, backend);
    chunks.iter().for_each(|chunk| poly.update(chunk));
    poly.finish().into()
}

#[test]
fn poly1305() {
    each("poly1305", |record, backend| {
        let (key, msg, tag) = (record.array("key"), record.bytes("msg"), record.array("tag"));
        let whole = || {
            let mut poly = Poly1305::with_backend(&key, backend);
            poly.update(&msg);
            poly
        };
        assert_eq!(<[u8; 16]>::from(whole().finish()), tag, "{record} on {backend}");

        let mut rest = &msg[..];
        let chunks: Vec<_> = record.chunks(msg.len()).into_iter().map(|n| rest.split_off(..n).unwrap()).collect();
        assert_eq!(tag_of(&key, &chunks, backend), tag, "{record} in chunks on {backend}");
        // Every cut of a short message, those near the ends of a long one.
        for cut in (0..=msg.len()).filter(|&cut| msg.len() <= 641 || cut < 40 || cut + 40 > msg.len()) {
            let (head, tail) = msg.split_at(cut);
            assert_eq!(tag_of(&key, &[head, tail], backend), tag, "{record} cut at {cut} on {backend}");
        }

        assert_eq!(whole().verify(&Tag::from(tag)), Ok(()), "{record} on {backend}");
        for bit in 0..128 {
            if msg.len() < 20 || bit % 37 == 0 {
                let mut wrong = tag;
                wrong[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(
                    whole().verify(&Tag::from(wrong)),
                    Err(Error::Unauthentic),
                    "{record}, bit {bit} on {backend}"
                );
            }
        }
    });
}

#[test]
fn a_second_key_in_the_same_memory() {
    each("poly1305_reuse", |record, backend| {
        let msg = record.bytes("msg");
        let (first, second) =
            ((record.array("key"), record.array("tag")), (record.array("key2"), record.array("tag2")));
        for order in [[first, second], [second, first]] {
            let mut poly = Poly1305::with_backend(&[0xff; 32], backend);
            poly.update(&[0xff; 700]);
            for (key, tag) in order {
                let before = core::mem::replace(&mut poly, Poly1305::with_backend(&key, backend));
                drop(before);
                poly.update(&msg);
                let done = core::mem::replace(&mut poly, Poly1305::with_backend(&[0xff; 32], backend));
                assert_eq!(<[u8; 16]>::from(done.finish()), tag, "{record} on {backend}");
            }
        }
    });
}

/// `Poly1305` can't be cloned (a copy would outlive its one use), so two states run side by side
/// and are fed in turns: neither may see the other.
#[test]
fn two_states_side_by_side() {
    each("poly1305_clone", |record, backend| {
        let (key, msg, tag) = (record.array("key"), record.bytes("msg"), record.array("tag"));
        for cut in record.text("cuts").split(' ').map(|cut| cut.parse().unwrap()) {
            let mut states = [(); 2].map(|()| Poly1305::with_backend(&key, backend));
            states.iter_mut().for_each(|state| state.update(&msg[..cut]));
            states.iter_mut().for_each(|state| state.update(&msg[cut..]));
            for state in states {
                assert_eq!(<[u8; 16]>::from(state.finish()), tag, "{record} cut at {cut} on {backend}");
            }
        }
    });
}

// --- the AEADs ---

/// A header in front of and bytes behind what is sealed; neither may change.
const AROUND: usize = 16;

macro_rules! check_seal {
    ($op:literal, $test:ident, $Aead:ident) => {
        #[test]
        fn $test() {
            each($op, |record, backend| {
                let aead = $Aead::with_backend(&record.array("key"), backend);
                let (nonce, aad, msg) = (record.array("nonce"), record.bytes("aad"), record.bytes("msg"));
                let context = format!("{record} on {backend}");

                let mut data = msg.clone();
                let tag = aead.seal_in_place(&nonce, &aad, &mut data).unwrap();
                let sealed = [&data[..], tag.as_ref()].concat();
                if record.get("out").is_some() {
                    assert!(sealed == record.bytes("out"), "{context}");
                } else {
                    // The tag, at the end of the tail, vouches for what lies between.
                    let (head, tail) = (record.bytes("out_head"), record.bytes("out_tail"));
                    assert_eq!(sealed.len(), record.number("out_len"), "{context}");
                    assert!(sealed.starts_with(&head) && sealed.ends_with(&tail), "{context}");
                }

                let mut out = vec![0xa5; sealed.len() + AROUND];
                assert_eq!(aead.seal_into(&nonce, &aad, &msg, &mut out).unwrap(), sealed, "{context}");
                assert_eq!(out[sealed.len()..], [0xa5; AROUND], "{context}");
                let parts = [&msg[..msg.len() / 3], &[], &msg[msg.len() / 3..]];
                let mut out = vec![0xa5; sealed.len() + AROUND];
                assert_eq!(aead.seal_gather(&nonce, &aad, &parts, &mut out).unwrap(), sealed, "{context}");
                assert_eq!(out[sealed.len()..], [0xa5; AROUND], "{context}");

                aead.open_in_place(&nonce, &aad, &mut data, &tag).unwrap();
                assert!(data == msg, "{context}");
                let mut out = vec![0xa5; msg.len() + AROUND];
                assert!(aead.open_into(&nonce, &aad, &sealed, &mut out).unwrap() == msg, "{context}");
                assert_eq!(out[msg.len()..], [0xa5; AROUND], "{context}");
                for header in [0, AROUND] {
                    let mut datagram = [&vec![0xa5; header][..], &sealed, &[0xa5; 3]].concat();
                    let opened = aead.open_within(&nonce, &aad, &mut datagram, header..header + sealed.len());
                    assert!(opened.unwrap() == msg, "{context}");
                }

                for at in [0, sealed.len() / 2, sealed.len() - 1] {
                    let mut wrong = sealed.clone();
                    wrong[at] ^= 0x10;
                    refused(|data, tag| aead.open_in_place(&nonce, &aad, data, tag), &wrong, &context);
                }
            });
        }
    };
}
check_seal!("seal", chacha20poly1305, ChaCha20Poly1305);
check_seal!("xseal", xchacha20poly1305, XChaCha20Poly1305);

/// Opening this ciphertext ‖ tag fails and changes nothing.
fn refused(open: impl FnOnce(&mut [u8], &Tag) -> Result<(), Error>, sealed: &[u8], context: &str) {
    let (ciphertext, tag) = sealed.split_last_chunk().unwrap();
    let mut data = ciphertext.to_vec();
    assert_eq!(open(&mut data, &Tag::from(*tag)), Err(Error::Unauthentic), "{context}");
    assert!(data == ciphertext, "{context}: a failed opening changed the buffer");
}

#[test]
fn what_must_not_open() {
    each("open_fail", |record, backend| {
        let aead = ChaCha20Poly1305::with_backend(&record.array("key"), backend);
        let (nonce, aad, sealed) = (record.array("nonce"), record.bytes("aad"), record.bytes("msg"));
        let context = format!("{record} on {backend}");
        let mut out = vec![0xa5; sealed.len()];
        assert_eq!(error(aead.open_into(&nonce, &aad, &sealed, &mut out)), record.text("error"), "{context}");
        assert!(out.iter().all(|&byte| byte == 0xa5), "{context}");
        let datagram = [&[7; AROUND][..], &sealed].concat();
        let mut same = datagram.clone();
        let range = AROUND..datagram.len();
        assert_eq!(error(aead.open_within(&nonce, &aad, &mut same, range)), record.text("error"), "{context}");
        assert!(same == datagram, "{context}");
        if sealed.len() >= 16 {
            refused(|data, tag| aead.open_in_place(&nonce, &aad, data, tag), &sealed, &context);
        }
    });
}

// --- lengths and regions ---

#[test]
fn output_buffers_of_other_sizes() {
    each("seal_into", |record, backend| {
        let aead = ChaCha20Poly1305::with_backend(&record.array("key"), backend);
        let (nonce, aad, msg) = (record.array("nonce"), record.bytes("aad"), record.bytes("msg"));
        let mut out = vec![0xa5; record.number("out_len")];
        assert_eq!(error(aead.seal_into(&nonce, &aad, &msg, &mut out)), record.text("error"), "{record}");
        assert_eq!(error(aead.seal_gather(&nonce, &aad, &[&msg], &mut out)), record.text("error"), "{record}");
        assert!(out.iter().all(|&byte| byte == 0xa5), "{record} on {backend}");
    });
    each("open_into", |record, backend| {
        let aead = ChaCha20Poly1305::with_backend(&record.array("key"), backend);
        let (nonce, aad, sealed) = (record.array("nonce"), record.bytes("aad"), record.bytes("msg"));
        let mut out = vec![0xa5; record.number("out_len")];
        assert_eq!(error(aead.open_into(&nonce, &aad, &sealed, &mut out)), record.text("error"), "{record}");
        let text = if record.get("out").is_some() { record.bytes("out") } else { vec![] };
        assert_eq!(out[..text.len()], text, "{record} on {backend}");
        assert!(out[text.len()..].iter().all(|&byte| byte == 0xa5), "{record} on {backend}");
    });
}

/// Keys and nonces are arrays here, so their lengths are the compiler's business; this is the door
/// from slices, which neither pads nor cuts.
#[test]
fn keys_and_nonces_of_other_lengths() {
    for record in records("api_len") {
        let (key, nonce) = (record.bytes("key"), record.bytes("nonce"));
        let result = match (<&[u8; 32]>::try_from(&key[..]), <&[u8; 12]>::try_from(&nonce[..])) {
            (Err(_), _) => "InvalidKeyLength",
            (_, Err(_)) => "InvalidNonceLength",
            _ => "none",
        };
        assert_eq!(result, record.text("error"), "{record}");
        #[cfg(feature = "aead")]
        {
            use aead::{KeyInit, Nonce};
            let key = ChaCha20Poly1305::new_from_slice(&key).is_ok() && XChaCha20Poly1305::new_from_slice(&key).is_ok();
            assert_eq!(key, result != "InvalidKeyLength", "{record}");
            let nonce = Nonce::<ChaCha20Poly1305>::try_from(&nonce[..]).is_ok();
            assert_eq!(nonce, result != "InvalidNonceLength", "{record}");
        }
    }
}

#[test]
fn overlapping_regions() {
    for record in records("overlap") {
        let len: usize = record.number("len");
        let dst_len = record.get("dst_len").map_or(len, |text| text.parse().unwrap());
        let memory = vec![0u8; 8192];
        let src = memory[4096..].as_ptr();
        let dst = src.wrapping_offset(record.number("offset"));
        let inexact = overlap::inexact_overlap(src, len, dst, dst_len);
        assert_eq!(inexact, record.text("error") == "Overlap", "{record}");
        assert_eq!(inexact, overlap::inexact_overlap(dst, dst_len, src, len), "{record}");
        assert_eq!(inexact || src == dst, overlap::any_overlap(src, len, dst, dst_len), "{record}");
    }
}

#[test]
fn greatest_length() {
    for record in records("max_len") {
        assert_eq!(MAX_PLAINTEXT_LEN, record.number("max_plaintext"), "{record}");
    }
}

// --- batches ---

/// Counter, aad, msg, sealed.
type Fields = (u64, Vec<u8>, Vec<u8>, Vec<u8>);

fn packets(record: &Record) -> Vec<Fields> {
    let packet = |line: &str| {
        let fields: Vec<_> = line.split(';').map(str::trim).collect();
        let bytes = |i: usize| fields.get(i).map_or(vec![], |text| record.value(text));
        (fields[0].parse().unwrap(), bytes(1), bytes(2), bytes(3))
    };
    record.all("packet").map(packet).collect()
}

fn wireguard_nonce(counter: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&counter.to_le_bytes());
    nonce
}

/// Packets over these buffers (text or ciphertext, then 16 bytes), in both forms by turns.
fn over<'a>(buffers: &'a mut [Vec<u8>], fields: &'a [Fields]) -> Vec<Packet<'a>> {
    let packet = |(buffer, field): (&'a mut Vec<u8>, &'a Fields)| {
        let nonce = wireguard_nonce(field.0);
        if field.0 % 2 == 0 {
            return Packet::attached(&nonce, &field.1, buffer).unwrap();
        }
        let (data, tag) = buffer.split_last_chunk_mut().unwrap();
        Packet::detached(&nonce, &field.1, data, tag)
    };
    buffers.iter_mut().zip(fields).map(packet).collect()
}

#[test]
fn batches() {
    each("batch", |record, backend| {
        let (key, fields) = (record.array("key"), packets(record));
        if let Some(refusal) = record.get("error") {
            // The AEAD knows no such limit, a WireGuard sender does: all or nothing.
            let mut sender = Sender::with_backend(&key, 1, backend);
            sender.skip_to(fields[0].0).unwrap();
            let reserved = sender.reserve(fields.len()).map(|counters| counters.left());
            assert_eq!(error(reserved), refusal, "{record}");
            assert_eq!(sender.reserve(2).unwrap().left(), 2, "{record}");
            assert_eq!(error(sender.keepalive()), refusal, "{record}");
            return;
        }
        let context = format!("{record} on {backend}");
        let aead = ChaCha20Poly1305::with_backend(&key, backend);
        let texts: Vec<_> = fields.iter().map(|field| [&field.2[..], &[0xa5; 16]].concat()).collect();
        let sealed: Vec<_> = fields.iter().map(|field| field.3.clone()).collect();

        let mut buffers = texts.clone();
        aead.seal_batch(&mut over(&mut buffers, &fields)).unwrap();
        assert!(buffers == sealed, "{context}");
        let mut packets = over(&mut buffers, &fields);
        aead.open_batch(&mut packets).unwrap();
        for (packet, field) in packets.iter_mut().zip(&fields) {
            assert_eq!(packet.data().unwrap(), field.2, "{context}");
        }

        // One by one, and with each packet in turn forged.
        for ((counter, aad, msg, sealed), text) in fields.iter().zip(texts) {
            let mut out = text;
            let one = aead.seal_into(&wireguard_nonce(*counter), aad, msg, &mut out);
            assert!(one.unwrap() == sealed, "{context}");
        }
        for bad in 0..fields.len() {
            let mut buffers = sealed.clone();
            buffers[bad][fields[bad].2.len() / 2] ^= 4;
            let before = buffers[bad].clone();
            let mut packets = over(&mut buffers, &fields);
            aead.open_batch(&mut packets).unwrap();
            for (i, (packet, field)) in packets.iter_mut().zip(&fields).enumerate() {
                let opened = packet.data().map(|text| text.to_vec());
                assert_eq!(opened, if i == bad { Err(Error::Unauthentic) } else { Ok(field.2.clone()) }, "{context}");
            }
            assert!(buffers[bad] == before, "{context}");
        }
    });
}

// --- OpenSSH ---

#[test]
fn ssh_seal() {
    each("ssh_seal", |record, backend| {
        let (packet, out) = (record.bytes("msg"), record.bytes("out"));
        let key = PacketKey::with_backend(&record.array("key"), backend);
        let sequence = record.number("sequence");
        let mut data = packet.clone();
        let tag = key.seal(sequence, &mut data).unwrap();
        assert_eq!([&data, &tag.as_bytes()[..]].concat(), out, "{record} on {backend}");

        let (length, _) = out.split_first_chunk().unwrap();
        assert_eq!(key.packet_length(sequence, *length) as usize, packet.len() - 4, "{record} on {backend}");
        assert_eq!(key.open(sequence, &mut data, &tag).unwrap(), &packet[4..], "{record} on {backend}");
        assert_eq!(data, packet, "{record} on {backend}");
    });
}

// --- WireGuard ---

#[test]
fn wireguard_messages_sealed() {
    each("wg_seal", |record, backend| {
        let (key, receiver, mtu) = (record.array("key"), record.number("receiver"), record.number("mtu"));
        let (msg, context) = (record.bytes("msg"), format!("{record} on {backend}"));
        let mut sender = Sender::with_backend(&key, receiver, backend);
        let mut datagram = [&[0xa5; HEADER_LEN][..], &msg, &[0xa5; 64]].concat();
        if let Some(refusal) = record.get("error") {
            assert_eq!(sender.skip_to(record.number("counter")), Err(Error::CounterBehind), "{context}");
            sender.skip_to(REJECT_AFTER_MESSAGES).unwrap();
            let before = datagram.clone();
            for _ in 0..3 {
                assert_eq!(error(sender.seal(&mut datagram, msg.len(), mtu)), refusal, "{context}");
                assert!(datagram == before, "{context}");
            }
            return;
        }
        let out = record.bytes("out");
        sender.skip_to(record.number("counter")).unwrap();
        assert!(sender.seal(&mut datagram, msg.len(), mtu).unwrap() == out, "{context}");
        assert!(datagram[out.len()..].iter().all(|&byte| byte == 0xa5), "{context}");
        assert_eq!(receiver_index(&datagram), Ok(receiver), "{context}");

        let mut receiver = Receiver::with_backend(&key, receiver, backend);
        let text = receiver.open(&mut datagram[..out.len()]).unwrap();
        assert!(text.starts_with(&msg) && text[msg.len()..].iter().all(|&byte| byte == 0), "{context}");
        assert_eq!(text.len(), padded_len(msg.len(), mtu), "{context}");
    });
}

#[test]
fn wireguard_messages_opened() {
    each("wg_open", |record, backend| {
        let mut receiver = Receiver::with_backend(&record.array("key"), record.number("receiver"), backend);
        let packet = record.bytes("msg");
        let mut datagram = packet.clone();
        match receiver.open(&mut datagram) {
            Ok(text) => assert_eq!(text, record.bytes("out"), "{record} on {backend}"),
            Err(error) => {
                assert_eq!(named(error), record.text("error"), "{record} on {backend}");
                assert!(datagram == packet, "{record} on {backend}");
            }
        }
    });
}

#[test]
fn wireguard_padding() {
    for record in records("wg_padding") {
        let padded = padded_len(record.number("inner_len"), record.number("mtu"));
        assert_eq!(padded, record.number("padded_len"), "{record}");
    }
}

/// Each history through a receiver, with real messages, and through the window alone.
#[test]
fn replays() {
    each("replay", |record, backend| {
        const KEY: [u8; 32] = [0x4b; 32];
        let aead = ChaCha20Poly1305::with_backend(&KEY, backend);
        let mut receiver = Receiver::with_backend(&KEY, 0xfedc_ba98, backend);
        let mut window = ReplayWindow::new();
        for op in record.text("ops").split(", ") {
            let [counter, kind, verdict] = op.split(' ').collect::<Vec<_>>()[..] else { panic!("{record}: {op}") };
            let counter: u64 = counter.parse().unwrap();
            let genuine = kind == "ok";
            let name = |error| match named(error) {
                "AuthFail" => "forged",
                "CounterLimit" => "limit",
                other => other,
            };

            let header = [&[4, 0, 0, 0, 0x98, 0xba, 0xdc, 0xfe][..], &counter.to_le_bytes()].concat();
            let mut message = [&header[..], &[0; 32]].concat();
            aead.seal_into(&wireguard_nonce(counter), &[], &[7; 16], &mut message[HEADER_LEN..]).unwrap();
            message[20] ^= u8::from(!genuine);
            let opened = receiver.open(&mut message).map_or_else(name, |_| "ok");
            assert_eq!(opened, verdict, "{record}: {op} on {backend}");

            let fresh = window.check(counter);
            let alone = match fresh {
                Ok(()) if !genuine => "forged",
                Ok(()) => window.accept(counter).map_or_else(name, |()| "ok"),
                Err(error) => name(error),
            };
            assert_eq!(alone, verdict, "{record}: {op}");
        }
    });
    assert_eq!(ReplayWindow::LEN, 8128);
}
