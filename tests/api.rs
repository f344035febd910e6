//! The interface's promises: bad input of each kind is a clear error that writes nothing and does
//! not panic; a failed opening leaves the bytes as they were; `Debug` shows no secret; overlapping
//! regions are refused; secrets are gone after use.

#![allow(unsafe_code)]

mod sample;

use core::mem::MaybeUninit;
use core::ops::Range;
use sample::{array, bytes};
use wireseal::{
    Backend, ChaCha20, ChaCha20Poly1305, Error, InOut, MAX_PLAINTEXT_LEN, Packet, Poly1305, Tag, XChaCha20,
    XChaCha20Poly1305, overlap,
};

const KEY: [u8; 32] = *b"\x91key of thirty-two bytes secret\xe7";

fn aead(backend: Backend) -> (ChaCha20Poly1305, [u8; 12]) {
    (ChaCha20Poly1305::with_backend(&KEY, backend), array(1))
}

// --- bad input ---

#[test]
fn sealed_input_shorter_than_a_tag() {
    for backend in Backend::available() {
        let (aead, nonce) = aead(backend);
        for len in 0..16 {
            let (mut sealed, mut out) = (bytes(2, len), [0xa5; 16]);
            assert_eq!(aead.open_into(&nonce, &[], &sealed, &mut out), Err(Error::TooShort));
            assert_eq!(out, [0xa5; 16]);
            assert_eq!(aead.open_within(&nonce, &[], &mut sealed, 0..len), Err(Error::TooShort));
            assert_eq!(sealed, bytes(2, len));
        }
    }
}

#[test]
fn ranges_outside_the_datagram() {
    let (aead, nonce) = aead(Backend::detect());
    let mut datagram = bytes(3, 48);
    #[allow(clippy::reversed_empty_ranges)]
    let ranges: [Range<usize>; 7] = [0..49, 16..usize::MAX, 48..64, 49..49, usize::MAX..usize::MAX, 40..16, 48..48];
    for range in ranges {
        let opened = aead.open_within(&nonce, &[], &mut datagram, range.clone());
        assert_eq!(opened, Err(Error::TooShort), "{range:?}");
        assert_eq!(datagram, bytes(3, 48), "{range:?}");
    }
}

#[test]
fn output_buffers_one_byte_too_short() {
    for backend in Backend::available() {
        let (aead, nonce) = aead(backend);
        let xaead = XChaCha20Poly1305::with_backend(&KEY, backend);
        for len in [0, 1, 15, 16, 17, 63, 64, 65, 511, 512, 1420] {
            let text = bytes(4, len);
            let mut out = vec![0xa5; len + 15];
            assert_eq!(aead.seal_into(&nonce, &[], &text, &mut out), Err(Error::OutputTooShort));
            assert_eq!(aead.seal_gather(&nonce, &[], &[&text, &[]], &mut out), Err(Error::OutputTooShort));
            assert_eq!(xaead.seal_into(&array(5), &[], &text, &mut out), Err(Error::OutputTooShort));
            let sealed = bytes(6, len + 16);
            if let Some(short) = len.checked_sub(1) {
                let out = &mut out[..short];
                assert_eq!(aead.open_into(&nonce, &[], &sealed, out), Err(Error::OutputTooShort));
                assert_eq!(xaead.open_into(&array(5), &[], &sealed, out), Err(Error::OutputTooShort));
            }
            assert!(out.iter().all(|&byte| byte == 0xa5), "{len} bytes on {backend}");
        }
    }
}

#[test]
fn regions_of_different_lengths() {
    for backend in Backend::available() {
        for (src_len, dst_len) in [(0, 1), (1, 0), (63, 64), (64, 63), (100, 1000)] {
            let (src, mut dst) = (bytes(7, src_len), vec![0xa5; dst_len]);
            let mut stream = ChaCha20::with_backend(&KEY, &array(1), backend);
            assert_eq!(stream.apply_to(&src, &mut dst), Err(Error::LengthMismatch));
            assert_eq!(stream.position(), 0);
            assert_eq!(InOut::separate(&src, &mut dst).err(), Some(Error::LengthMismatch));
            assert!(dst.iter().all(|&byte| byte == 0xa5));
        }
    }
}

#[test]
fn positions_that_can_not_be() {
    const END: u64 = 1 << 38;
    for backend in Backend::available() {
        let mut stream = ChaCha20::with_backend(&KEY, &array(1), backend);
        stream.apply(&mut [0; 65]).unwrap();
        for position in [0, 1, 64] {
            assert_eq!(stream.set_position(position), Err(Error::CounterBehind));
        }
        for counter in [0, 1] {
            assert_eq!(stream.set_counter(counter), Err(Error::CounterBehind));
        }
        for position in [END + 1, u64::MAX] {
            assert_eq!(stream.set_position(position), Err(Error::KeystreamExhausted));
        }
        assert_eq!((stream.position(), stream.remaining()), (65, END - 65));
        stream.set_position(END).unwrap();
        assert_eq!(stream.remaining(), 0);
        let mut byte = [0xa5];
        assert_eq!(stream.apply(&mut byte), Err(Error::KeystreamExhausted));
        assert_eq!(stream.keystream(&mut byte), Err(Error::KeystreamExhausted));
        assert_eq!(byte, [0xa5]);
        stream.apply(&mut []).unwrap();
        assert_eq!(stream.set_counter(u32::MAX), Err(Error::CounterBehind));
    }
}

/// The last byte of the last block, alone, and from a leftover: served; the next: refused.
#[test]
fn the_last_byte_of_the_keystream() {
    for backend in Backend::available() {
        let mut whole = [0; 64];
        let mut stream = ChaCha20::with_backend(&KEY, &array(1), backend);
        stream.set_counter(u32::MAX).unwrap();
        stream.keystream(&mut whole).unwrap();
        for before in 0..64 {
            let mut stream = ChaCha20::with_backend(&KEY, &array(1), backend);
            stream.set_position((1 << 38) - 64 + before as u64).unwrap();
            let mut tail = vec![0; 64 - before];
            stream.keystream(&mut tail).unwrap();
            assert_eq!(tail, whole[before..], "{backend}");
            assert_eq!(stream.apply(&mut tail[..1]), Err(Error::KeystreamExhausted), "{backend}");
        }
    }
}

/// One byte more than the greatest length, on memory that can't even be read: refused before anything else.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn one_byte_more_than_the_greatest_length() {
    let len = MAX_PLAINTEXT_LEN as usize + 1;
    // SAFETY: address space of our own, checked. No byte of it is ever read or written, or the test crashes: were it
    // readable, a lost check would eat the machine's memory before it showed.
    let data = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
        let map = libc::mmap(core::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0);
        assert_ne!(map, libc::MAP_FAILED, "256 GiB of address space");
        core::slice::from_raw_parts_mut(map.cast::<u8>(), len)
    };
    for backend in Backend::available() {
        let (aead, nonce) = aead(backend);
        let xaead = XChaCha20Poly1305::with_backend(&KEY, backend);
        let tag = Tag::from([0; 16]);
        assert_eq!(aead.seal_in_place(&nonce, &[], data), Err(Error::TooLong));
        assert_eq!(aead.open_in_place(&nonce, &[], data, &tag), Err(Error::TooLong));
        assert_eq!(xaead.seal_in_place(&array(1), &[], data), Err(Error::TooLong));
        assert_eq!(xaead.open_in_place(&array(1), &[], data, &tag), Err(Error::TooLong));
        // Not too long, so the next check is reached: there is no room.
        assert_eq!(aead.seal_into(&nonce, &[], &data[..len - 1], &mut []), Err(Error::OutputTooShort));
        let too_long = aead.seal_gather(&nonce, &[], &[&data[..len / 2], &data[len / 2..]], &mut []);
        assert_eq!(too_long, Err(Error::TooLong));
        let mut tag = [0; 16];
        let mut packets = [Packet::detached(&nonce, &[], &mut *data, &mut tag)];
        assert_eq!(aead.seal_batch(&mut packets), Err(Error::TooLong));
        assert_eq!(aead.open_batch(&mut packets), Err(Error::TooLong));
    }
    // SAFETY: the mapping made above, not used after this.
    unsafe { libc::munmap(data.as_mut_ptr().cast(), len) };
}

/// Many parts, each short, that are too long together: on 32-bit targets more than an address space.
#[test]
fn parts_that_are_too_long_together() {
    let part = vec![0u8; 1 << 20];
    let (aead, nonce) = aead(Backend::detect());
    let parts = vec![&part[..]; (MAX_PLAINTEXT_LEN >> 20) as usize + 1];
    let mut out = [0xa5; 64];
    let result = aead.seal_gather(&nonce, &[], &parts, &mut out).map(|sealed| sealed.len());
    assert_eq!(result, Err(Error::TooLong));
    assert_eq!(out, [0xa5; 64]);
}

// --- failed opening ---

/// Every kind of damage, at several lengths, through every way to open: refused, all memory as it was.
#[test]
fn a_failed_opening_changes_nothing() {
    for backend in Backend::available() {
        let (cipher, nonce) = aead(backend);
        for len in (0..=130).chain([192, 255, 256, 257, 448, 511, 512, 513, 1024, 1420, 1537, 4096, 20_000]) {
            let aad = bytes(8, len % 20);
            let mut sealed = vec![0; len + 16];
            cipher.seal_into(&nonce, &aad, &bytes(9, len), &mut sealed).unwrap();
            for damage in 0..6 {
                let (mut nonce, mut aad, mut sealed, mut cipher) = (nonce, aad.clone(), sealed.clone(), cipher.clone());
                match damage {
                    0 => sealed[0] ^= 1,
                    1 => sealed[len / 2] ^= 0x80,
                    2 => sealed[len + 15] ^= 0x80,
                    3 => nonce[11] ^= 1,
                    4 => aad.push(0),
                    _ => cipher = ChaCha20Poly1305::with_backend(&[0; 32], backend),
                }
                let context = format!("{len} bytes, damage {damage}, on {backend}");
                let (ciphertext, tag) = sealed.split_last_chunk().unwrap();
                let tag = Tag::from(*tag);

                let mut data = ciphertext.to_vec();
                assert_eq!(cipher.open_in_place(&nonce, &aad, &mut data, &tag), Err(Error::Unauthentic), "{context}");
                assert!(data == ciphertext, "{context}");
                let mut out = vec![0xa5; len];
                assert_eq!(cipher.open_into(&nonce, &aad, &sealed, &mut out), Err(Error::Unauthentic), "{context}");
                let io = InOut::separate(ciphertext, &mut out).unwrap();
                assert_eq!(cipher.open_inout(&nonce, &aad, io, &tag), Err(Error::Unauthentic), "{context}");
                assert!(out.iter().all(|&byte| byte == 0xa5), "{context}");
                let datagram = [b"sixteen-byte hdr", &sealed[..], b"behind"].concat();
                let mut same = datagram.clone();
                let opened = cipher.open_within(&nonce, &aad, &mut same, 16..len + 32);
                assert_eq!(opened, Err(Error::Unauthentic), "{context}");
                assert!(same == datagram, "{context}");
            }
        }
    }
}

/// A key is as good after an error as before.
#[test]
fn usable_after_an_error() {
    for backend in Backend::available() {
        let (aead, nonce) = aead(backend);
        let mut data = bytes(10, 100);
        let tag = aead.seal_in_place(&nonce, b"aad", &mut data).unwrap();
        assert!(aead.open_in_place(&nonce, b"", &mut data, &tag).is_err());
        assert!(aead.seal_into(&nonce, &[], &[1], &mut []).is_err());
        aead.open_in_place(&nonce, b"aad", &mut data, &tag).unwrap();
        assert_eq!(data, bytes(10, 100));
    }
}

// --- regions ---

#[test]
fn overlap_of_raw_regions() {
    const LEN: usize = 1500;
    let mut memory = vec![0u8; 3 * LEN + 200];
    for backend in Backend::available() {
        let offsets = [1, 15, 16, 63, 64, 255, 256, 257, LEN - 1, LEN, LEN + 1, LEN + 64].map(|n| n as isize);
        for offset in offsets.into_iter().chain(offsets.map(|n| -n)).chain([0]) {
            memory.copy_from_slice(&bytes(11, 3 * LEN + 200));
            let before = memory.clone();
            let src_at = LEN + 100;
            let dst_at = src_at.wrapping_add_signed(offset);
            let base = memory.as_mut_ptr();
            // SAFETY: both regions lie inside `memory`, which nothing else uses meanwhile.
            let io = unsafe { InOut::from_raw(base.add(src_at), base.add(dst_at), LEN) };
            let legal = offset == 0 || offset.unsigned_abs() >= LEN;
            assert_eq!(io.as_ref().err(), (!legal).then_some(&Error::Overlap), "{offset}");
            if let Ok(io) = io {
                ChaCha20::with_backend(&KEY, &array(1), backend).apply_inout(io).unwrap();
                let mut right = before[src_at..][..LEN].to_vec();
                ChaCha20::with_backend(&KEY, &array(1), backend).apply(&mut right).unwrap();
                assert!(memory[dst_at..][..LEN] == right, "{offset} on {backend}");
                assert!(memory[..dst_at] == before[..dst_at], "{offset} on {backend}");
                assert!(memory[dst_at + LEN..] == before[dst_at + LEN..], "{offset} on {backend}");
            } else {
                assert!(memory == before, "{offset} on {backend}");
            }
        }
    }
}

/// Go's definition, over every pair of small regions, byte by byte.
#[test]
fn overlap_by_definition() {
    let memory = [0u8; 32];
    let regions = || (0..9usize).flat_map(|start| (0..6usize).map(move |len| start..start + len));
    for (a, b) in regions().flat_map(|a| regions().map(move |b| (a.clone(), b))) {
        let shared = a.clone().any(|byte| b.contains(&byte));
        let at = |range: &Range<usize>| memory[range.start..].as_ptr();
        assert_eq!(overlap::any_overlap(at(&a), a.len(), at(&b), b.len()), shared, "{a:?} {b:?}");
        let inexact = shared && a.start != b.start;
        assert_eq!(overlap::inexact_overlap(at(&a), a.len(), at(&b), b.len()), inexact, "{a:?} {b:?}");
    }
    // At the ends of the address space nothing wraps.
    let at = |address: usize| core::ptr::without_provenance(address);
    assert!(!overlap::any_overlap(at(usize::MAX - 15), 16, at(0), 16));
    assert!(!overlap::any_overlap(at(16), 16, at(usize::MAX - 15), 16));
    assert!(overlap::any_overlap(at(usize::MAX - 15), 16, at(usize::MAX), 1));
    assert!(overlap::any_overlap(at(1), usize::MAX, at(usize::MAX - 15), 1));
}

/// Headers of every length in front, so that the plaintext moves by every distance.
#[test]
fn open_within_moves_the_plaintext_to_the_front() {
    for backend in Backend::available() {
        let (aead, nonce) = aead(backend);
        for len in [0, 1, 16, 31, 64, 100, 513, 1420] {
            let text = bytes(12, len);
            for (header, trailer) in (0..=40).flat_map(|header| [0, 5].map(|trailer| (header, trailer))) {
                let mut datagram = bytes(13, header + len + 16 + trailer);
                let sealed = header..header + len + 16;
                aead.seal_into(&nonce, &[], &text, &mut datagram[sealed.clone()]).unwrap();
                let opened = aead.open_within(&nonce, &[], &mut datagram, sealed).unwrap();
                assert!(opened == text, "{len} bytes behind {header} on {backend}");
                assert!(datagram.starts_with(&text), "{len} bytes behind {header} on {backend}");
            }
        }
    }
}

// --- types and what they show ---

#[test]
fn types_are_send_sync_clone() {
    fn send_sync<T: Send + Sync + 'static>() {}
    fn clone<T: Clone>() {}
    send_sync::<ChaCha20Poly1305>();
    send_sync::<XChaCha20Poly1305>();
    send_sync::<ChaCha20>();
    send_sync::<Poly1305>();
    send_sync::<Backend>();
    send_sync::<Error>();
    clone::<ChaCha20Poly1305>();
    clone::<XChaCha20Poly1305>();

    let (aead, nonce) = aead(Backend::detect());
    let copy = aead.clone();
    let (mut one, mut two) = ([7; 50], [7; 50]);
    let tag = aead.seal_in_place(&nonce, &[], &mut one);
    drop(aead); // wipes its own key only
    assert_eq!(copy.seal_in_place(&nonce, &[], &mut two), tag);
    assert_eq!(one, two);
}

/// No byte of the key in decimal or hex, whatever the form of printing.
#[test]
fn debug_shows_no_secret() {
    let key = [0xd7; 32]; // 215
    let mut stream = ChaCha20::new(&key, &array(1));
    stream.apply(&mut [0; 10]).unwrap();
    let mut poly = Poly1305::new(&key);
    poly.update(&key);
    let shown = [
        format!("{:?} {:#?}", ChaCha20Poly1305::new(&key), ChaCha20Poly1305::new(&key)),
        format!("{:?} {:#?}", XChaCha20Poly1305::new(&key), XChaCha20Poly1305::new(&key)),
        format!("{stream:?} {stream:#?}"),
        format!("{:?}", XChaCha20::new(&key, &array(2))),
        format!("{poly:?} {poly:#?}"),
    ];
    let mut keystream = [0; 64];
    ChaCha20::new(&key, &array(1)).keystream(&mut keystream).unwrap();
    let first_unused = keystream[10].to_string();
    for shown in shown {
        assert!(!shown.is_empty());
        let numbers: Vec<_> = shown.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        for secret in ["215", "d7", "0xd7", "D7", "3621246935", "d7d7d7d7", first_unused.as_str()] {
            assert!(!numbers.contains(&secret), "{shown}");
        }
    }
}

#[test]
fn errors_say_what_they_are() {
    let all = [Error::Unauthentic, Error::TooLong, Error::TooShort, Error::OutputTooShort, Error::LengthMismatch];
    let all = all.into_iter().chain([Error::Overlap, Error::KeystreamExhausted, Error::CounterBehind]);
    let mut seen = std::collections::HashSet::new();
    for error in all {
        let text = error.to_string();
        assert!(text.len() > 10 && seen.insert(text), "{error:?}");
        let _: &dyn core::error::Error = &error;
    }
}

#[test]
fn tags() {
    let bytes: [u8; 16] = array(14);
    let tag = Tag::from(bytes);
    assert_eq!(<[u8; 16]>::from(tag), bytes);
    assert_eq!((tag.as_bytes(), tag.as_ref()), (&bytes, &bytes[..]));
    for bit in 0..128 {
        let mut other = bytes;
        other[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(tag, Tag::from(other), "bit {bit}");
    }
    // Differences that cancel in a sum or an exclusive or.
    for (a, b) in (0..16).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let mut other = bytes;
        other[a] ^= 0x80;
        other[b] ^= 0x80;
        assert_ne!(tag, Tag::from(other), "bytes {a} and {b}");
    }
}

#[test]
fn backends() {
    let names: Vec<_> = Backend::available().map(Backend::name).collect();
    assert!(names.contains(&"portable"));
    for backend in Backend::available() {
        assert_eq!(Backend::named(backend.name()), Some(backend));
        assert_eq!(ChaCha20Poly1305::with_backend(&KEY, backend).backend(), backend);
        assert_eq!((format!("{backend}"), format!("{backend:?}")), (backend.name().into(), backend.name().into()));
    }
    assert!(names.contains(&Backend::detect().name()));
    assert_eq!(Backend::named("no such backend"), None);
}

// --- wiping ---

/// The memory of a dropped object.
fn after_drop<T>(object: T) -> Vec<u8> {
    let mut place = MaybeUninit::new(object);
    // SAFETY: `place` holds a valid object, dropped once; after that its bytes are only read as what
    // they are, each by a volatile load that the compiler can't relate to the object.
    unsafe {
        core::ptr::drop_in_place(place.as_mut_ptr());
        let bytes = place.as_ptr().cast::<u8>();
        (0..size_of::<T>()).map(|i| bytes.add(i).read_volatile()).collect()
    }
}

/// That no four bytes of `secret` in a row, in either byte order, are left in `memory`.
fn gone(memory: &[u8], secret: &[u8], context: &str) {
    for word in secret.windows(4) {
        let reversed: Vec<u8> = word.iter().rev().copied().collect();
        let found = memory.windows(4).any(|bytes| bytes == word || bytes == reversed);
        assert!(!found, "{context}: {word:02x?} is still there");
    }
}

#[test]
fn wiped_on_drop() {
    let key: [u8; 32] = array(15);
    for backend in Backend::available() {
        gone(&after_drop(ChaCha20Poly1305::with_backend(&key, backend)), &key, "ChaCha20Poly1305");
        gone(&after_drop(XChaCha20Poly1305::with_backend(&key, backend)), &key, "XChaCha20Poly1305");

        let mut keystream = [0; 2048];
        ChaCha20::with_backend(&key, &array(16), backend).keystream(&mut keystream).unwrap();
        let mut stream = ChaCha20::with_backend(&key, &array(16), backend);
        stream.keystream(&mut [0; 70]).unwrap();
        let memory = after_drop(stream);
        gone(&memory, &key, "ChaCha20's key");
        gone(&memory, &keystream, "ChaCha20's leftover keystream");

        // r, its clamped form, s, and a partial block.
        let mut poly = Poly1305::with_backend(&key, backend);
        let message: [u8; 77] = array(17);
        poly.update(&message);
        let memory = after_drop(poly);
        gone(&memory, &key, "Poly1305's key");
        gone(&memory, &message[64..], "Poly1305's partial block");
        let mut clamped: [u8; 16] = *key.first_chunk().unwrap();
        for i in [3, 7, 11, 15] {
            clamped[i] &= 15;
        }
        for i in [4, 8, 12] {
            clamped[i] &= 252;
        }
        gone(&memory, &clamped, "Poly1305's clamped r");
    }
}

/// The probe of the test above finds what is not wiped.
#[test]
fn wiping_can_be_seen() {
    struct Careless {
        key: [u8; 32],
    }
    impl Drop for Careless {
        fn drop(&mut self) {
            core::hint::black_box(&mut self.key);
        }
    }
    let key: [u8; 32] = array(15);
    let memory = after_drop(Careless { key });
    assert!(std::panic::catch_unwind(|| gone(&memory, &key, "Careless")).is_err());
}
