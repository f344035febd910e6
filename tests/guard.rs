//! What the kernels may touch: guard pages on both sides of everything a call reads or writes (a
//! byte too far is a crash), canaries around what it writes, and every alignment of every argument.

#![allow(unsafe_code)]

mod sample;

use sample::{array, bytes};
use wireseal::{Backend, ChaCha20, ChaCha20Poly1305, InOut, Packet, Poly1305, Tag, XChaCha20Poly1305};

/// What each call should give, computed in ordinary memory by the backend under test (that it is
/// right is the business of `vectors.rs` and `oracles.rs`).
struct Expected {
    ciphertext: Vec<u8>,
    tag: Tag,
    xtag: Tag,
    stream: Vec<u8>,
    mac: Tag,
}

const COUNTER: u32 = 7;

fn expected(key: &[u8; 32], nonce: &[u8; 24], aad: &[u8], text: &[u8], backend: Backend) -> Expected {
    let short = nonce.first_chunk().unwrap();
    let (mut ciphertext, mut stream) = (text.to_vec(), text.to_vec());
    let tag = ChaCha20Poly1305::with_backend(key, backend).seal_in_place(short, aad, &mut ciphertext).unwrap();
    let xtag = XChaCha20Poly1305::with_backend(key, backend).seal_in_place(nonce, aad, &mut text.to_vec()).unwrap();
    let mut cipher = ChaCha20::with_backend(key, short, backend);
    cipher.set_counter(COUNTER).unwrap();
    cipher.apply(&mut stream).unwrap();
    let mut poly = Poly1305::with_backend(key, backend);
    poly.update(text);
    Expected { ciphertext, tag, xtag, stream, mac: poly.finish() }
}

/// Everything that a call is given, wherever it lies.
struct Arguments<'a> {
    key: &'a [u8; 32],
    nonce: &'a [u8; 24],
    aad: &'a [u8],
    text: &'a [u8],
    /// As long as the text.
    dst: &'a mut [u8],
    /// Ciphertext ‖ tag.
    sealed: &'a mut [u8],
}

/// Every entry once, on these arguments.
fn call_all(args: Arguments<'_>, right: &Expected, backend: Backend, context: &str) {
    let Arguments { key, nonce, aad, text, dst, sealed } = args;
    let short = nonce.first_chunk().unwrap();
    let aead = ChaCha20Poly1305::with_backend(key, backend);

    dst.copy_from_slice(text);
    assert_eq!(aead.seal_in_place(short, aad, dst), Ok(right.tag), "{context}");
    assert!(dst == right.ciphertext, "{context}");
    assert!(aead.open_in_place(short, aad, dst, &Tag::from([0x5a; 16])).is_err(), "{context}");
    assert!(dst == right.ciphertext, "{context}");
    aead.open_in_place(short, aad, dst, &right.tag).unwrap();
    assert!(dst == text, "{context}");

    aead.seal_into(short, aad, text, sealed).unwrap();
    assert!(sealed.starts_with(&right.ciphertext) && sealed.ends_with(right.tag.as_ref()), "{context}");
    dst.fill(0xa5);
    aead.open_into(short, aad, sealed, dst).unwrap();
    assert!(dst == text, "{context}");
    aead.seal_gather(short, aad, &[text], sealed).unwrap();
    assert!(sealed.starts_with(&right.ciphertext) && sealed.ends_with(right.tag.as_ref()), "{context}");
    let all = 0..sealed.len();
    assert!(aead.open_within(short, aad, sealed, all).unwrap() == text, "{context}");

    let xaead = XChaCha20Poly1305::with_backend(key, backend);
    dst.fill(0xa5);
    let io = InOut::separate(text, dst).unwrap();
    assert_eq!(xaead.seal_inout(nonce, aad, io), Ok(right.xtag), "{context}");
    xaead.open_in_place(nonce, aad, dst, &right.xtag).unwrap();
    assert!(dst == text, "{context}");

    let mut stream = ChaCha20::with_backend(key, short, backend);
    stream.set_counter(COUNTER).unwrap();
    dst.fill(0xa5);
    stream.apply_to(text, dst).unwrap();
    assert!(dst == right.stream, "{context}");
    let mut stream = ChaCha20::with_backend(key, short, backend);
    stream.set_counter(COUNTER).unwrap();
    let (head, tail) = dst.split_at_mut(text.len() / 3);
    stream.apply(head).unwrap();
    stream.apply(tail).unwrap();
    assert!(dst == text, "{context}");
    let mut stream = ChaCha20::with_backend(key, short, backend);
    stream.set_counter(COUNTER).unwrap();
    stream.keystream(dst).unwrap();
    assert!(dst.iter().zip(text).zip(&right.stream).all(|((key, text), out)| key ^ text == *out), "{context}");

    let mut poly = Poly1305::with_backend(key, backend);
    poly.update(text);
    assert_eq!(poly.finish(), right.mac, "{context}");
}

/// Memory between two pages that may not be touched.
#[cfg(unix)]
struct Guarded {
    start: *mut u8,
    len: usize,
    page: usize,
}

#[cfg(unix)]
impl Guarded {
    fn new(len: usize) -> Self {
        // SAFETY: a fresh anonymous mapping and its own first and last page are all that is touched.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let len = len.next_multiple_of(page);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            let map =
                libc::mmap(core::ptr::null_mut(), len + 2 * page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let start = map.cast::<u8>();
            for guard in [start, start.add(page + len)] {
                assert_eq!(libc::mprotect(guard.cast(), page, libc::PROT_NONE), 0);
            }
            Guarded { start: start.add(page), len, page }
        }
    }

    /// `len` bytes that end at the last page, or start at the first.
    fn slice(&mut self, len: usize, at_end: bool) -> &mut [u8] {
        assert!(len <= self.len);
        let skip = if at_end { self.len - len } else { 0 };
        // SAFETY: inside the mapping, which zeroes initialised; borrowed from `self` for as long as the slice lives.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(skip), len) }
    }

    fn copy(&mut self, bytes: &[u8], at_end: bool) -> &[u8] {
        let slice = self.slice(bytes.len(), at_end);
        slice.copy_from_slice(bytes);
        slice
    }
}

#[cfg(unix)]
impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`, to which no slice is left.
        unsafe { libc::munmap(self.start.sub(self.page).cast(), self.len + 2 * self.page) };
    }
}

#[cfg(unix)]
#[test]
fn guard_pages() {
    const LONGEST: usize = 1600;
    let (key, nonce): ([u8; 32], [u8; 24]) = (array(1), array(2));
    let (text, aad) = (bytes(3, 5000), bytes(4, 64));
    let mut pages = [32, 24, 64, 5000, 5000, 5016].map(Guarded::new);
    for backend in Backend::available() {
        for len in (0..=LONGEST).chain([2047, 2048, 2049, 4096, 4159, 5000]) {
            let (text, aad) = (&text[..len], &aad[..len % 35]);
            let right = expected(&key, &nonce, aad, text, backend);
            for at_end in [true, false] {
                let [key_page, nonce_page, aad_page, text_page, dst, sealed] = &mut pages;
                let args = Arguments {
                    key: key_page.copy(&key, at_end).try_into().unwrap(),
                    nonce: nonce_page.copy(&nonce, at_end).try_into().unwrap(),
                    aad: aad_page.copy(aad, at_end),
                    text: text_page.copy(text, at_end),
                    dst: dst.slice(len, at_end),
                    sealed: sealed.slice(len + 16, at_end),
                };
                call_all(args, &right, backend, &format!("{len} bytes, at the end: {at_end}, on {backend}"));
            }
        }
    }
}

/// A wrong 12-byte nonce read shows only where the nonce itself ends at a page.
#[cfg(unix)]
#[test]
fn guard_pages_of_short_arguments() {
    let (key, nonce, tag): ([u8; 32], [u8; 12], [u8; 16]) = (array(1), array(2), array(3));
    let mut pages = [32, 12, 16, 3, 9].map(Guarded::new);
    for backend in Backend::available() {
        for at_end in [true, false] {
            let [key_page, nonce_page, tag_page, header, data] = &mut pages;
            let key: &[u8; 32] = key_page.copy(&key, at_end).try_into().unwrap();
            let nonce: &[u8; 12] = nonce_page.copy(&nonce, at_end).try_into().unwrap();
            let aead = ChaCha20Poly1305::with_backend(key, backend);
            let data = data.slice(9, at_end);
            let right = aead.seal_in_place(nonce, header.copy(b"aad", at_end), data).unwrap();
            aead.open_in_place(nonce, b"aad", data, &right).unwrap();
            let wrong = <&[u8; 16]>::try_from(tag_page.copy(&tag, at_end)).unwrap();
            assert!(aead.open_in_place(nonce, b"aad", data, &Tag::from(*wrong)).is_err());
        }
    }
}

/// Packets of a batch that share passes, each between its own guard pages.
#[cfg(unix)]
#[test]
fn guard_pages_of_batches() {
    let (key, text): ([u8; 32], _) = (array(14), bytes(15, 1500));
    let mut pages = [(); 20].map(|()| Guarded::new(1600));
    for backend in Backend::available() {
        let aead = ChaCha20Poly1305::with_backend(&key, backend);
        // All of one length, and mixed so that lanes finish at different times.
        for (len, step) in (0..=300).step_by(3).flat_map(|len| [(len, 0), (len, 37)]).chain([(1420, 0), (700, 40)]) {
            for at_end in [true, false] {
                let len = |i: usize| (len + i * step) % 1501;
                let place = |(i, page): (usize, &mut Guarded)| {
                    let buffer = page.slice(len(i) + 16, at_end);
                    buffer[..len(i)].copy_from_slice(&text[..len(i)]);
                };
                pages.iter_mut().enumerate().for_each(place);
                let packets = pages.iter_mut().enumerate();
                let packet = |(i, page): (usize, _)| {
                    Packet::attached(&array(i as u64), b"aad", Guarded::slice(page, len(i) + 16, at_end)).unwrap()
                };
                let mut packets: Vec<_> = packets.map(packet).collect();
                aead.seal_batch(&mut packets).unwrap();
                aead.open_batch(&mut packets).unwrap();
                for (i, mut packet) in packets.into_iter().enumerate() {
                    assert!(packet.data().unwrap() == &text[..len(i)], "packet {i} on {backend}");
                }
            }
        }
    }
}

/// A buffer with 64 bytes on both sides that must stay as they are.
struct Canaries(Vec<u8>);

impl Canaries {
    const SIDE: usize = 64;

    fn new(len: usize) -> Self {
        Canaries(vec![0xc5; len + 2 * Self::SIDE])
    }

    fn inner(&mut self) -> &mut [u8] {
        let end = self.0.len() - Self::SIDE;
        &mut self.0[Self::SIDE..end]
    }

    fn alive(&self) -> bool {
        let (head, tail) = (&self.0[..Self::SIDE], &self.0[self.0.len() - Self::SIDE..]);
        head.iter().chain(tail).all(|&byte| byte == 0xc5)
    }
}

#[test]
fn canaries() {
    let (key, nonce) = (array(5), array(6));
    let text = bytes(7, 2100);
    for backend in Backend::available() {
        for len in (0..=1100).chain([1408, 1420, 1500, 2047, 2048, 2100]) {
            let (mut dst, mut sealed) = (Canaries::new(len), Canaries::new(len + 16));
            let right = expected(&key, &nonce, b"aad", &text[..len], backend);
            let args = Arguments {
                key: &key,
                nonce: &nonce,
                aad: b"aad",
                text: &text[..len],
                dst: dst.inner(),
                sealed: sealed.inner(),
            };
            call_all(args, &right, backend, &format!("{len} bytes on {backend}"));
            assert!(dst.alive() && sealed.alive(), "{len} bytes on {backend}");
        }
    }
}

/// Objects and tags with canaries around them: no call writes past its own state.
#[test]
fn canaries_around_objects() {
    #[repr(C)]
    struct Around<T>([u8; 64], T, [u8; 64]);
    fn around<T>(object: T) -> Around<T> {
        Around([0xc5; 64], object, [0xc5; 64])
    }
    fn alive<T>(around: &Around<T>) -> bool {
        around.0 == [0xc5; 64] && around.2 == [0xc5; 64]
    }
    let (key, nonce): ([u8; 32], [u8; 12]) = (array(8), array(9));
    for backend in Backend::available() {
        let aead = around(ChaCha20Poly1305::with_backend(&key, backend));
        let mut stream = around(ChaCha20::with_backend(&key, &nonce, backend));
        let mut poly = around(Poly1305::with_backend(&key, backend));
        let mut tag = around(Tag::from([0; 16]));
        for len in 0..700 {
            let mut data = vec![0x3c; len];
            tag.1 = aead.1.seal_in_place(&nonce, &[], &mut data).unwrap();
            aead.1.open_in_place(&nonce, &[], &mut data, &tag.1).unwrap();
            stream.1.apply(&mut data).unwrap();
            poly.1.update(&data);
            let intact = alive(&aead) && alive(&stream) && alive(&poly) && alive(&tag);
            assert!(intact, "{len} bytes on {backend}");
        }
    }
}

/// Source and destination at all 17 × 17 offsets; key, nonce and aad go through theirs beside them.
#[test]
fn alignment() {
    const OFFSETS: usize = 17;
    let (key, nonce): ([u8; 32], [u8; 24]) = (array(10), array(11));
    let (text, aad) = (bytes(12, 1500), bytes(13, 20));
    let mut buffers = [32, 24, 20, 1500, 1500, 1516].map(|len| vec![0u8; len + OFFSETS]);
    for backend in Backend::available() {
        for len in [0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 65, 128, 255, 256, 257, 512, 1500] {
            let text = &text[..len];
            let right = expected(&key, &nonce, &aad, text, backend);
            for (src, dst) in (0..OFFSETS).flat_map(|src| (0..OFFSETS).map(move |dst| (src, dst))) {
                let [key_buffer, nonce_buffer, aad_buffer, text_buffer, dst_buffer, sealed_buffer] = &mut buffers;
                let place = |buffer: &'_ mut Vec<u8>, offset: usize, bytes: &[u8]| {
                    buffer[offset..][..bytes.len()].copy_from_slice(bytes);
                    offset..offset + bytes.len()
                };
                let key_at = place(key_buffer, (src * 3 + dst) % OFFSETS, &key);
                let nonce_at = place(nonce_buffer, (src + dst * 5) % OFFSETS, &nonce);
                let aad_at = place(aad_buffer, (src * 7 + dst * 2) % OFFSETS, &aad);
                let text_at = place(text_buffer, src, text);
                let args = Arguments {
                    key: key_buffer[key_at].try_into().unwrap(),
                    nonce: nonce_buffer[nonce_at].try_into().unwrap(),
                    aad: &aad_buffer[aad_at],
                    text: &text_buffer[text_at],
                    dst: &mut dst_buffer[dst..dst + len],
                    sealed: &mut sealed_buffer[(dst + 1) % OFFSETS..][..len + 16],
                };
                call_all(args, &right, backend, &format!("{len} bytes, offsets {src} and {dst}, on {backend}"));
            }
        }
    }
}
