//! One set of calls, compiled once against this package and once against the registry's ring: both build, and both
//! give the same bytes. What failure leaves in the buffer is where they may differ, so here only ours is looked at.

/// Bytes that depend on the seed only.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Enough for every pass width and the blocks around it.
const LONGEST: usize = 1100;

macro_rules! calls {
    ($library:ident) => {
        mod $library {
            use super::bytes;
            use $library::aead::chacha20_poly1305_openssh as openssh;
            use $library::aead::{
                Aad, Algorithm, BoundKey, CHACHA20_POLY1305, LessSafeKey, MAX_TAG_LEN, NONCE_LEN, Nonce, NonceSequence,
                OpeningKey, SealingKey, Tag, UnboundKey, quic,
            };
            use $library::error::Unspecified;

            #[derive(Debug)]
            struct Counter(u32);

            impl NonceSequence for Counter {
                fn advance(&mut self) -> Result<Nonce, Unspecified> {
                    self.0 = self.0.checked_add(1).ok_or(Unspecified)?;
                    let mut nonce = [0x55; NONCE_LEN];
                    nonce[..4].copy_from_slice(&self.0.to_be_bytes());
                    Nonce::try_assume_unique_for_key(&nonce)
                }
            }

            fn unbound(seed: u64) -> UnboundKey {
                UnboundKey::new(&CHACHA20_POLY1305, &bytes(seed, 32)).unwrap()
            }

            pub fn less_safe_key(len: usize) -> Vec<Vec<u8>> {
                let key = LessSafeKey::new(unbound(len as u64)).clone();
                let nonce = || Nonce::assume_unique_for_key(bytes(len as u64 + 1, 12).try_into().unwrap());
                let (text, aad) = (bytes(len as u64 + 2, len), bytes(len as u64 + 3, len % 50));

                let mut separate = text.clone();
                let tag: Tag = key.seal_in_place_separate_tag(nonce(), Aad::from(&aad), &mut separate).unwrap();
                let mut appended = text.clone();
                key.seal_in_place_append_tag(nonce(), Aad::from(&aad[..]), &mut appended).unwrap();
                let mut without_aad = text.clone();
                key.seal_in_place_append_tag(nonce(), Aad::empty(), &mut without_aad).unwrap();

                let mut opened = appended.clone();
                assert_eq!(key.open_in_place(nonce(), Aad::from(&aad), &mut opened).unwrap(), text);
                let mut within = [&b"header"[..], &appended].concat();
                assert_eq!(key.open_within(nonce(), Aad::from(&aad), &mut within, 6..).unwrap(), text);
                let mut detached = [&b"header"[..], &separate].concat();
                let again = Tag::try_from(tag.as_ref()).unwrap();
                let plaintext =
                    key.open_in_place_separate_tag(nonce(), Aad::from(&aad), again, &mut detached, 6..).unwrap();
                assert_eq!(plaintext, text);

                let mut forged = appended.clone();
                assert!(key.open_in_place(nonce(), Aad::empty(), &mut forged[1..]).is_err());
                assert!(key.open_within(nonce(), Aad::empty(), &mut forged, len + 17..).is_err());
                assert!(key.open_in_place_separate_tag(nonce(), Aad::empty(), tag, &mut forged, len + 17..).is_err());
                vec![separate, tag.as_ref().to_vec(), appended, without_aad]
            }

            pub fn bound_keys() -> Vec<Vec<u8>> {
                let mut sealing = SealingKey::new(unbound(7), Counter(0));
                let mut opening = OpeningKey::new(unbound(7), Counter(0));
                assert_eq!(sealing.algorithm(), opening.algorithm());
                let mut sealed: Vec<Vec<u8>> = (0..3).map(|i| bytes(i, 100)).collect();
                sealing.seal_in_place_append_tag(Aad::from([1, 2, 3]), &mut sealed[0]).unwrap();
                sealing.seal_in_place_append_tag(Aad::from(vec![1]), &mut sealed[1]).unwrap();
                let tag = sealing.seal_in_place_separate_tag(Aad::empty(), &mut sealed[2]).unwrap();
                sealed[2].extend(tag.as_ref());
                let mut packets = sealed.clone();
                assert_eq!(opening.open_in_place(Aad::from([1, 2, 3]), &mut packets[0]).unwrap(), bytes(0, 100));
                packets[1].splice(..0, [0; 4]);
                assert_eq!(opening.open_within(Aad::from([1]), &mut packets[1], 4..).unwrap(), bytes(1, 100));
                assert_eq!(opening.open_in_place(Aad::empty(), &mut packets[2]).unwrap(), bytes(2, 100));
                // A sequence at its end.
                let mut last = SealingKey::new(unbound(7), Counter(u32::MAX));
                assert_eq!(last.seal_in_place_append_tag(Aad::empty(), &mut packets[0]), Err(Unspecified));
                sealed
            }

            pub fn openssh_packet(len: usize) -> (Vec<u8>, [u8; openssh::TAG_LEN]) {
                let material: [u8; openssh::KEY_LEN] = bytes(len as u64, 64).try_into().unwrap();
                let (sealing, opening) = (openssh::SealingKey::new(&material), openssh::OpeningKey::new(&material));
                let sequence_number = u32::MAX - len as u32 * 99_991;
                let text = bytes(len as u64, openssh::PACKET_LENGTH_LEN + len);
                let (mut packet, mut tag) = (text.clone(), [0; openssh::TAG_LEN]);
                sealing.seal_in_place(sequence_number, &mut packet, &mut tag);
                let sealed = packet.clone();
                let length = opening.decrypt_packet_length(sequence_number, packet[..4].try_into().unwrap());
                assert_eq!(length, text[..4]);
                assert_eq!(opening.open_in_place(sequence_number, &mut packet, &tag).unwrap(), &text[4..]);
                packet.copy_from_slice(&sealed);
                assert!(opening.open_in_place(sequence_number ^ 1, &mut packet, &tag).is_err());
                (sealed, tag)
            }

            pub fn quic_mask(seed: u64) -> [u8; 5] {
                let key = quic::HeaderProtectionKey::new(&quic::CHACHA20, &bytes(seed, 32)).unwrap();
                assert!(key.new_mask(&[0; 15]).is_err() && key.new_mask(&[0; 17]).is_err());
                assert_eq!(key.algorithm().sample_len(), size_of::<quic::Sample>());
                assert!(quic::HeaderProtectionKey::new(&quic::CHACHA20, &[0; 31]).is_err());
                key.new_mask(&bytes(seed + 1, 16)).unwrap()
            }

            pub fn lengths() -> [usize; 7] {
                let algorithm: &'static Algorithm = &CHACHA20_POLY1305;
                for len in (0..70).filter(|len| *len != 32) {
                    assert!(UnboundKey::new(algorithm, &vec![0; len]).is_err());
                }
                for len in (0..40).filter(|len| *len != NONCE_LEN) {
                    assert!(Nonce::try_assume_unique_for_key(&vec![0; len]).is_err());
                }
                for len in (0..40).filter(|len| *len != MAX_TAG_LEN) {
                    assert!(Tag::try_from(&vec![0; len][..]).is_err());
                }
                let quic = &quic::CHACHA20;
                let own = [algorithm.key_len(), algorithm.tag_len(), algorithm.nonce_len()];
                [own[0], own[1], own[2], MAX_TAG_LEN, NONCE_LEN, quic.key_len(), quic.sample_len()]
            }

            #[allow(deprecated)]
            pub fn equal(a: &[u8], b: &[u8]) -> bool {
                $library::constant_time::verify_slices_are_equal(a, b).is_ok()
            }

            pub fn random() -> [u8; 16] {
                use $library::rand::{SecureRandom, SystemRandom};
                let mut random = [0; 16];
                SystemRandom::new().fill(&mut random).unwrap();
                random
            }

            pub fn shown() -> [String; 3] {
                [Unspecified.to_string(), format!("{Unspecified:?}"), format!("{CHACHA20_POLY1305:?}")]
            }
        }
    };
}
calls!(ring);
calls!(original);

#[test]
fn less_safe_keys() {
    for len in 0..LONGEST {
        assert!(ring::less_safe_key(len) == original::less_safe_key(len), "{len} bytes");
    }
}

#[test]
fn bound_keys() {
    assert_eq!(ring::bound_keys(), original::bound_keys());
}

#[test]
fn openssh_packets() {
    for len in 0..LONGEST {
        assert!(ring::openssh_packet(len) == original::openssh_packet(len), "{len} bytes");
    }
}

#[test]
fn quic_masks() {
    for seed in 0..500 {
        assert_eq!(ring::quic_mask(seed), original::quic_mask(seed));
    }
}

#[test]
fn the_rest() {
    assert_eq!(ring::lengths(), original::lengths());
    assert_eq!(ring::shown(), original::shown());
    for (a, b) in [("", ""), ("a", "a"), ("a", "b"), ("a", ""), ("ab", "a"), ("abc", "abc")] {
        assert_eq!(ring::equal(a.as_bytes(), b.as_bytes()), original::equal(a.as_bytes(), b.as_bytes()), "{a} {b}");
    }
    assert_ne!(ring::random(), ring::random());
    assert_ne!(ring::random(), original::random());
}

#[test]
fn what_does_not_open_stays_as_it_was() {
    use ::ring::aead::chacha20_poly1305_openssh as openssh;
    use ::ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, Tag, UnboundKey};
    let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &[1; 32]).unwrap());
    let nonce = || Nonce::assume_unique_for_key([2; 12]);
    for len in [0, 15, 16, 17, 100, 1000] {
        let before = bytes(len as u64, len);
        let mut buffer = before.clone();
        assert!(key.open_in_place(nonce(), Aad::empty(), &mut buffer).is_err());
        assert!(key.open_within(nonce(), Aad::empty(), &mut buffer, len / 2..).is_err());
        let tag = Tag::from([0; 16]);
        assert!(key.open_in_place_separate_tag(nonce(), Aad::empty(), tag, &mut buffer, len / 2..).is_err());
        assert!(openssh::OpeningKey::new(&[1; 64]).open_in_place(0, &mut buffer, &[0; 16]).is_err());
        assert_eq!(buffer, before, "{len} bytes");
    }
}
