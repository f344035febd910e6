//! `openssh`: what a damaged packet leaves, and every length against the stream and the authenticator
//! that it is made of. Known answers are in `vectors.rs`.

mod sample;

use sample::{array, bytes};
use wireseal::openssh::PacketKey;
use wireseal::{Backend, ChaCha20, Error, Poly1305, Tag};

const SEQUENCE: u32 = 0x0102_0304;

/// The document's construction from its parts.
fn compose(key: &[u8; 64], packet: &mut [u8]) -> Tag {
    let nonce = [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    let (main, header) = key.split_at(32);
    let mut main = ChaCha20::new(main.try_into().unwrap(), &nonce);
    ChaCha20::new(header.try_into().unwrap(), &nonce).apply(&mut packet[..4]).unwrap();
    let mut one_time_key = [0; 32];
    main.keystream(&mut one_time_key).unwrap();
    main.set_counter(1).unwrap();
    main.apply(&mut packet[4..]).unwrap();
    Poly1305::mac(&one_time_key, packet)
}

#[test]
fn every_length() {
    let (key, text) = (array(1), bytes(2, 2100));
    for len in 4..=text.len() {
        let mut expected = text[..len].to_vec();
        let tag = compose(&key, &mut expected);
        for backend in Backend::available() {
            let key = PacketKey::with_backend(&key, backend);
            let mut packet = text[..len].to_vec();
            assert_eq!(key.seal(SEQUENCE, &mut packet), Ok(tag), "{len} bytes on {backend}");
            assert!(packet == expected, "{len} bytes on {backend}");
            assert_eq!(key.open(SEQUENCE, &mut packet, &tag).unwrap(), &text[4..len], "{len} bytes on {backend}");
            assert!(packet == text[..len], "{len} bytes on {backend}");
        }
    }
}

#[test]
fn what_is_damaged_stays_as_it_was() {
    let key = PacketKey::new(&array(1));
    for len in [4, 5, 20, 100] {
        let mut sealed = bytes(2, len);
        let tag = key.seal(SEQUENCE, &mut sealed).unwrap();
        for bit in 0..8 * (len + 16) {
            let (mut packet, mut tag) = (sealed.clone(), *tag.as_bytes());
            let byte = if bit / 8 < len { &mut packet[bit / 8] } else { &mut tag[bit / 8 - len] };
            *byte ^= 1 << (bit % 8);
            let damaged = packet.clone();
            assert_eq!(
                key.open(SEQUENCE, &mut packet, &tag.into()),
                Err(Error::Unauthentic),
                "bit {bit} of {len} bytes"
            );
            assert_eq!(packet, damaged);
        }
        assert_eq!(key.open(SEQUENCE + 1, &mut sealed.clone(), &tag), Err(Error::Unauthentic));
        assert!(key.open(SEQUENCE, &mut sealed[..len - 1].to_vec(), &tag).is_err());
        assert!(key.open(SEQUENCE, &mut sealed, &tag).is_ok());
    }
}

#[test]
fn too_short_for_a_length() {
    let key = PacketKey::new(&array(1));
    for len in 0..4 {
        let mut packet = bytes(2, len);
        assert_eq!(key.seal(SEQUENCE, &mut packet), Err(Error::TooShort));
        assert_eq!(key.open(SEQUENCE, &mut packet, &[0; 16].into()), Err(Error::TooShort));
        assert_eq!(packet, bytes(2, len));
    }
}

#[test]
fn debug_shows_no_key() {
    let shown = format!("{:?}", PacketKey::new(&[0xab; 64]));
    assert!(shown.starts_with("PacketKey { backend: ") && !shown.contains("171") && !shown.contains("abab"), "{shown}");
}
