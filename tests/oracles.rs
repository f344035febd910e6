//! Other people's implementations as oracles: the `chacha20poly1305` and `poly1305` crates, over
//! every length and over random chunkings, on every backend.

mod sample;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use proptest::prelude::*;
use sample::{array, bytes};
use wireseal::batch::{open_batch, seal_batch};
use wireseal::{
    Backend, ChaCha20, ChaCha20Poly1305, Error, InOut, Packet, Poly1305, Tag, XChaCha20, XChaCha20Poly1305,
};

/// Past two passes of the widest kernel, and past a page.
const LONGEST: usize = 4200;

/// Ciphertext and tag by the oracle.
fn oracle<A: KeyInit + AeadInOut>(key: &[u8; 32], nonce: &[u8], aad: &[u8], text: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let mut data = text.to_vec();
    let cipher = A::new_from_slice(key).unwrap();
    let tag = cipher.encrypt_inout_detached(nonce.try_into().unwrap(), aad, data.as_mut_slice().into()).unwrap();
    (data, tag[..].try_into().unwrap())
}

macro_rules! every_length {
    ($test:ident, $Aead:ident, $seed:literal) => {
        #[test]
        fn $test() {
            let text = bytes($seed, LONGEST);
            let aad = bytes($seed + 1, 300);
            for len in 0..=LONGEST {
                // Another key, nonce and aad length for each length.
                let (key, nonce) = (array(len as u64), array(!len as u64));
                let (text, aad) = (&text[..len], &aad[..len * 7 % 67]);
                let (ciphertext, tag) = oracle::<chacha20poly1305::$Aead>(&key, &nonce, aad, text);
                for backend in Backend::available() {
                    let aead = $Aead::with_backend(&key, backend);
                    let mut data = text.to_vec();
                    let sealed = aead.seal_in_place(&nonce, aad, &mut data);
                    assert_eq!(sealed, Ok(Tag::from(tag)), "{len} bytes on {backend}");
                    assert!(data == ciphertext, "{len} bytes on {backend}");
                    aead.open_in_place(&nonce, aad, &mut data, &Tag::from(tag)).unwrap();
                    assert!(data == text, "{len} bytes on {backend}");

                    let boxed = [&ciphertext[..], &tag].concat();
                    let mut out = vec![0xa5; len + 17];
                    assert!(aead.seal_into(&nonce, aad, text, &mut out).unwrap() == boxed, "{len} bytes on {backend}");
                    assert_eq!(out[len + 16], 0xa5, "{len} bytes on {backend}");
                    out.fill(0xa5);
                    assert!(aead.open_into(&nonce, aad, &boxed, &mut out).unwrap() == text, "{len} bytes on {backend}");
                    assert_eq!(out[len..], [0xa5; 17], "{len} bytes on {backend}");
                }
            }
        }
    };
}
every_length!(chacha20poly1305_every_length, ChaCha20Poly1305, 1);
every_length!(xchacha20poly1305_every_length, XChaCha20Poly1305, 2);

/// Around the pieces in which a long message is worked through, and past 16 bits of either length.
#[test]
fn long_messages() {
    let edges =
        [8192, 16384, 32768, 49152, 65536, 131_072].into_iter().flat_map(|len| [len - 1, len, len + 1, len + 65]);
    for (i, len) in edges.chain([200_000]).enumerate() {
        let (key, nonce) = (array(i as u64), array(!i as u64));
        let (text, aad) = (bytes(4, len), bytes(5, [0, 12, 17, 70_000][i % 4]));
        let (ciphertext, tag) = oracle::<chacha20poly1305::ChaCha20Poly1305>(&key, &nonce, &aad, &text);
        for backend in Backend::available() {
            let aead = ChaCha20Poly1305::with_backend(&key, backend);
            let mut data = text.clone();
            assert_eq!(aead.seal_in_place(&nonce, &aad, &mut data), Ok(Tag::from(tag)), "{len} bytes on {backend}");
            assert!(data == ciphertext, "{len} bytes on {backend}");
            aead.open_in_place(&nonce, &aad, &mut data, &Tag::from(tag)).unwrap();
            assert!(data == text, "{len} bytes on {backend}");
            data.fill(0xa5);
            let io = InOut::separate(&text, &mut data).unwrap();
            assert_eq!(aead.seal_inout(&nonce, &aad, io), Ok(Tag::from(tag)), "{len} bytes on {backend}");
            assert!(data == ciphertext, "{len} bytes on {backend}");
        }
    }
}

fn poly1305_oracle(key: &[u8; 32], message: &[u8]) -> [u8; 16] {
    poly1305::Poly1305::new(key.into()).compute_unpadded(message).into()
}

#[test]
fn poly1305_every_length() {
    let message = bytes(3, LONGEST);
    for len in 0..=LONGEST {
        // Every other key with a heavy r, so that limbs are full.
        let mut key: [u8; 32] = array(len as u64);
        if len % 2 == 0 {
            key[..16].fill(0xff);
        }
        let tag = poly1305_oracle(&key, &message[..len]);
        for backend in Backend::available() {
            let mut poly = Poly1305::with_backend(&key, backend);
            poly.update(&message[..len]);
            assert_eq!(poly.finish(), Tag::from(tag), "{len} bytes on {backend}");
        }
    }
}

/// Blocks all ones or nearly so, where carries run far.
#[test]
fn poly1305_heavy_blocks() {
    for fill in [0x00, 0x01, 0xfb, 0xfe, 0xff] {
        for len in 0..1100 {
            let message = vec![fill; len];
            let mut key: [u8; 32] = array(len as u64);
            key[..16].fill([0xff, 0x00, 0xfc, 0x0f][len % 4]);
            key[16..].fill(0xff);
            let tag = poly1305_oracle(&key, &message);
            for backend in Backend::available() {
                let mut poly = Poly1305::with_backend(&key, backend);
                poly.update(&message);
                assert_eq!(poly.finish(), Tag::from(tag), "{len} bytes of {fill:02x} on {backend}");
            }
        }
    }
}

/// The keystream from block 1 on, which is what the AEAD's oracle encrypts with.
fn keystream(key: &[u8; 32], nonce: &[u8; 12], len: usize) -> Vec<u8> {
    oracle::<chacha20poly1305::ChaCha20Poly1305>(key, nonce, &[], &vec![0; len]).0
}

#[derive(Clone, Debug)]
enum Call {
    InPlace(usize),
    Apart(usize),
    Keystream(usize),
    /// Blocks forward from the one that holds the next byte.
    SetCounter(u32),
    /// Bytes forward.
    Seek(u64),
    /// Blocks back.
    Back(u32),
}

fn call() -> impl Strategy<Value = Call> {
    // Short calls, calls around a block, and calls of several passes.
    let len = || prop_oneof![0..20usize, 40..90usize, 0..700usize, 900..2200usize];
    prop_oneof![
        3 => len().prop_map(Call::InPlace),
        3 => len().prop_map(Call::Apart),
        1 => len().prop_map(Call::Keystream),
        1 => (0..40u32).prop_map(Call::SetCounter),
        1 => (0..3000u64).prop_map(Call::Seek),
        1 => (1..40u32).prop_map(Call::Back),
    ]
}

/// Sizes that add up to a message.
fn chunks() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![4 => 0..40usize, 2 => 60..70usize, 1 => 0..600usize], 0..24)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn poly1305_in_chunks(key: [u8; 32], sizes in chunks(), seed: u64) {
        let message = bytes(seed, sizes.iter().sum());
        let tag = poly1305_oracle(&key, &message);
        for backend in Backend::available() {
            let mut poly = Poly1305::with_backend(&key, backend);
            let mut rest = &message[..];
            for &size in &sizes {
                poly.update(rest.split_off(..size).unwrap());
            }
            prop_assert_eq!(poly.finish(), Tag::from(tag), "on {}", backend);
        }
    }

    #[test]
    fn seal_gather_of_any_parts(key: [u8; 32], nonce: [u8; 12], sizes in chunks(), aad in 0..40usize, seed: u64) {
        let (message, aad) = (bytes(seed, sizes.iter().sum()), bytes(!seed, aad));
        let (ciphertext, tag) = oracle::<chacha20poly1305::ChaCha20Poly1305>(&key, &nonce, &aad, &message);
        let mut rest = &message[..];
        let parts: Vec<_> = sizes.iter().map(|&size| rest.split_off(..size).unwrap()).collect();
        for backend in Backend::available() {
            let aead = ChaCha20Poly1305::with_backend(&key, backend);
            let mut out = vec![0; message.len() + 16];
            let sealed = aead.seal_gather(&nonce, &aad, &parts, &mut out).unwrap();
            prop_assert!(sealed.starts_with(&ciphertext) && sealed.ends_with(&tag), "on {}", backend);
        }
    }

    /// Any mix of calls gives what one long keystream says, wherever the leftover lies.
    #[test]
    fn chacha20_in_any_calls(key: [u8; 32], nonce: [u8; 12], calls in prop::collection::vec(call(), 1..24), seed: u64) {
        let whole = keystream(&key, &nonce, calls.len() * 3100);
        let data = bytes(seed, 2200);
        let xored = |at: usize, len: usize| -> Vec<u8> {
            whole[at..at + len].iter().zip(&data).map(|(key, byte)| key ^ byte).collect()
        };
        for backend in Backend::available() {
            let mut stream = ChaCha20::with_backend(&key, &nonce, backend);
            stream.set_counter(1).unwrap();
            let mut at = 0; // in `whole`, which starts at block 1
            for call in &calls {
                match *call {
                    Call::InPlace(len) => {
                        let mut out = data[..len].to_vec();
                        stream.apply(&mut out).unwrap();
                        prop_assert_eq!(&out, &xored(at, len), "at {} on {}", at, backend);
                        at += len;
                    }
                    Call::Apart(len) => {
                        let mut out = vec![0xa5; len];
                        stream.apply_to(&data[..len], &mut out).unwrap();
                        prop_assert_eq!(&out, &xored(at, len), "at {} on {}", at, backend);
                        at += len;
                    }
                    Call::Keystream(len) => {
                        let mut out = vec![0xa5; len];
                        stream.keystream(&mut out).unwrap();
                        prop_assert_eq!(&out, &whole[at..at + len], "at {} on {}", at, backend);
                        at += len;
                    }
                    Call::SetCounter(blocks) => {
                        let block = at.div_ceil(64) as u32 + blocks;
                        stream.set_counter(1 + block).unwrap();
                        at = 64 * block as usize;
                    }
                    Call::Seek(skip) => {
                        stream.set_position(64 + at as u64 + skip).unwrap();
                        at += skip as usize;
                    }
                    Call::Back(blocks) => {
                        let block = (1 + at.div_ceil(64) as u32).saturating_sub(blocks);
                        let before = stream.position();
                        if u64::from(block) * 64 < before {
                            prop_assert_eq!(stream.set_counter(block), Err(Error::CounterBehind));
                        }
                        prop_assert_eq!(stream.position(), before);
                    }
                }
                prop_assert_eq!(stream.position(), 64 + at as u64);
            }
        }
    }

    #[test]
    fn xchacha20_in_chunks(key: [u8; 32], nonce: [u8; 24], sizes in chunks(), seed: u64) {
        let message = bytes(seed, sizes.iter().sum());
        let expected = oracle::<chacha20poly1305::XChaCha20Poly1305>(&key, &nonce, &[], &message).0;
        for backend in Backend::available() {
            let mut stream = XChaCha20::with_backend(&key, &nonce, backend);
            stream.set_counter(1).unwrap();
            let mut data = message.clone();
            let mut rest = &mut data[..];
            for &size in &sizes {
                stream.apply(rest.split_off_mut(..size).unwrap()).unwrap();
            }
            prop_assert_eq!(&data, &expected, "on {}", backend);
        }
    }

    /// Batches of any mix of lengths, under one key and each packet under its own.
    #[test]
    fn batches_of_any_lengths(
        keys: [[u8; 32]; 3],
        lens in prop::collection::vec(prop_oneof![3 => 0..70usize, 2 => 60..600usize, 1 => 1000..1500usize], 0..40),
        seed: u64,
    ) {
        let texts: Vec<_> = lens.iter().enumerate().map(|(i, &len)| bytes(seed ^ i as u64, len)).collect();
        let nonces: Vec<[u8; 12]> = (0..lens.len()).map(|i| array(seed ^ i as u64)).collect();
        let aad = |i: usize| &texts[i][..i.min(texts[i].len())];
        for many in [false, true] {
            let key = |i: usize| &keys[if many { i % 3 } else { 0 }];
            let sealed: Vec<_> = (0..lens.len()).map(|i| {
                let (mut out, tag) = oracle::<chacha20poly1305::ChaCha20Poly1305>(key(i), &nonces[i], aad(i), &texts[i]);
                out.extend(tag);
                out
            }).collect();
            for backend in Backend::available() {
                let ciphers = keys.map(|key| ChaCha20Poly1305::with_backend(&key, backend));
                let run = |buffers: &mut [Vec<u8>], seal: bool| {
                    let packets = buffers.iter_mut().enumerate();
                    let packets = packets.map(|(i, buffer)| Packet::attached(&nonces[i], aad(i), buffer).unwrap());
                    if many {
                        let mut packets: Vec<_> = ciphers.iter().cycle().zip(packets).collect();
                        (if seal { seal_batch } else { open_batch })(&mut packets).unwrap();
                    } else {
                        let mut packets: Vec<_> = packets.collect();
                        let cipher = &ciphers[0];
                        if seal { cipher.seal_batch(&mut packets) } else { cipher.open_batch(&mut packets) }.unwrap();
                    }
                };
                let mut buffers: Vec<_> = texts.iter().map(|text| [&text[..], &[0; 16]].concat()).collect();
                run(&mut buffers, true);
                prop_assert!(buffers == sealed, "on {}", backend);
                run(&mut buffers, false);
                let opened = buffers.iter().zip(&texts).all(|(buffer, text)| buffer.starts_with(text));
                prop_assert!(opened, "on {}", backend);
            }
        }
    }
}
