//! ring's names here: known answers, and what failure leaves. `examples/ring` compares every call with ring itself.
#![cfg(feature = "ring_compat")]

#[allow(dead_code)] // this suite needs some of its fields only
mod records;

use wireseal::ring_compat::aead::{
    Aad, BoundKey, CHACHA20_POLY1305, LessSafeKey, Nonce, NonceSequence, OpeningKey, SealingKey, Tag, UnboundKey,
    chacha20_poly1305_openssh as openssh, quic,
};
use wireseal::ring_compat::constant_time::verify_slices_are_equal;
use wireseal::ring_compat::error::Unspecified;

fn key(bytes: &[u8]) -> UnboundKey {
    UnboundKey::new(&CHACHA20_POLY1305, bytes).unwrap()
}

/// Gives out one nonce.
struct Once(Option<[u8; 12]>);

impl NonceSequence for Once {
    fn advance(&mut self) -> Result<Nonce, Unspecified> {
        self.0.take().map(Nonce::assume_unique_for_key).ok_or(Unspecified)
    }
}

#[test]
fn known_answers() {
    let records = records::parse(include_str!("../vectors/rfc8439.txt"));
    let mut seals = records.iter().filter(|record| record.text("op") == "seal").peekable();
    assert!(seals.peek().is_some());
    for record in seals {
        let [msg, aad, out] = ["msg", "aad", "out"].map(|name| record.bytes(name));
        let (bytes, nonce) = (record.bytes("key"), record.array("nonce"));
        let mut sealing = SealingKey::new(key(&bytes), Once(Some(nonce)));
        let mut opening = OpeningKey::new(key(&bytes), Once(Some(nonce)));
        let mut data = msg.clone();
        sealing.seal_in_place_append_tag(Aad::from(&aad), &mut data).unwrap();
        assert_eq!(data, out, "{record}");
        assert_eq!(sealing.seal_in_place_append_tag(Aad::from(&aad), &mut data), Err(Unspecified));
        assert_eq!(data, out, "no nonce, no change: {record}");
        data.splice(..0, *b"header");
        assert_eq!(opening.open_within(Aad::from(&aad), &mut data, 6..).unwrap(), msg, "{record}");

        let (ciphertext, tag) = out.split_at(msg.len());
        let mut data = [&b"header"[..], ciphertext].concat();
        let (key, nonce) = (LessSafeKey::new(key(&bytes)), Nonce::assume_unique_for_key(nonce));
        let tag = Tag::try_from(tag).unwrap();
        let opened = key.open_in_place_separate_tag(nonce, Aad::from(&aad), tag, &mut data, 6..);
        assert_eq!(opened.unwrap(), msg, "{record}");
    }
}

/// RFC 9001, appendix A.5.
#[test]
fn quic_header_protection() {
    let key = 0x25a282b9e82f06f21f488917a4fc8f1b_u128.to_be_bytes();
    let key = [key, 0x73573685608597d0efcb076b0ab7a7a4_u128.to_be_bytes()].concat();
    let key = quic::HeaderProtectionKey::new(&quic::CHACHA20, &key).unwrap();
    let sample: quic::Sample = 0x5e5cd55c41f69080575d7999c25a5bfb_u128.to_be_bytes();
    assert_eq!(key.new_mask(&sample), Ok([0xae, 0xfe, 0xfe, 0x7d, 0x03]));
    assert_eq!(key.new_mask(&sample[1..]), Err(Unspecified));
    assert_eq!(key.new_mask(&[&sample[..], &[0]].concat()), Err(Unspecified));
    assert_eq!(key.new_mask(&[]), Err(Unspecified));
}

#[test]
fn what_does_not_open_stays_as_it_was() {
    let key = LessSafeKey::new(key(&[1; 32]));
    let nonce = || Nonce::assume_unique_for_key([2; 12]);
    for len in [0, 15, 16, 17, 1000] {
        let before = vec![0x5a; len];
        let mut buffer = before.clone();
        assert!(key.open_in_place(nonce(), Aad::empty(), &mut buffer).is_err());
        assert!(key.open_within(nonce(), Aad::empty(), &mut buffer, len / 2..).is_err());
        assert!(key.open_within(nonce(), Aad::empty(), &mut buffer, len + 1..).is_err());
        let tag = Tag::from([0; 16]);
        assert!(key.open_in_place_separate_tag(nonce(), Aad::empty(), tag, &mut buffer, len / 2..).is_err());
        assert!(key.open_in_place_separate_tag(nonce(), Aad::empty(), tag, &mut buffer, len + 1..).is_err());
        assert!(openssh::OpeningKey::new(&[1; 64]).open_in_place(0, &mut buffer, &[0; 16]).is_err());
        assert_eq!(buffer, before, "{len} bytes");
    }
}

#[test]
#[should_panic = "the input is too short"]
fn an_ssh_packet_without_a_length_is_not_sent_in_the_clear() {
    openssh::SealingKey::new(&[1; 64]).seal_in_place(0, &mut [0; 3], &mut [0; 16]);
}

#[test]
fn secrets_compare() {
    assert_eq!(verify_slices_are_equal(b"mac", b"mac"), Ok(()));
    assert_eq!(verify_slices_are_equal(b"mac", b"mad"), Err(Unspecified));
    assert_eq!(verify_slices_are_equal(b"mac", b"ma"), Err(Unspecified));
}

#[test]
fn debug_shows_no_key() {
    let secret = [0xab; 32];
    let shown = [
        format!("{:?}", key(&secret)),
        format!("{:?}", LessSafeKey::new(key(&secret))),
        format!("{:?}", SealingKey::new(key(&secret), Once(None))),
        format!("{:?}", OpeningKey::new(key(&secret), Once(None))),
        format!("{:?}", openssh::SealingKey::new(&[0xab; 64])),
        format!("{:?}", quic::HeaderProtectionKey::new(&quic::CHACHA20, &secret).unwrap()),
    ];
    for shown in shown {
        assert!(!shown.contains("171") && !shown.contains("abab"), "{shown}");
    }
}
