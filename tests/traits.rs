//! The RustCrypto faces: those libraries' own test helpers over the text vectors, and the
//! `chacha20poly1305` crate through the same traits.

#[cfg(any(feature = "aead", feature = "aead05", feature = "cipher"))]
#[allow(dead_code)] // this suite needs some of its fields only
mod records;

#[cfg(any(feature = "aead", feature = "aead05", feature = "cipher"))]
fn records(op: &str) -> Vec<records::Record> {
    let files = [
        include_str!("../vectors/rfc8439.txt"),
        include_str!("../vectors/xchacha.txt"),
        include_str!("../vectors/chacha20.txt"),
        include_str!("../vectors/aead.txt"),
    ];
    let all = files.into_iter().flat_map(records::parse);
    let found: Vec<_> = all.filter(|record| record.text("op") == op).collect();
    assert!(!found.is_empty(), "no record of {op}");
    found
}

#[cfg(feature = "aead")]
mod aead06 {
    use super::records;
    use aead::dev::{TestVector, fail_test, pass_test};
    use aead::{Aead, AeadInOut, Buffer, KeyInit, Payload};
    use wireseal::{ChaCha20Poly1305, XChaCha20Poly1305};

    fn passes<A: AeadInOut + KeyInit>(op: &str) {
        for record in records(op).iter().filter(|record| record.get("out").is_some()) {
            let [key, nonce, aad, plaintext, ciphertext] =
                ["key", "nonce", "aad", "msg", "out"].map(|name| &*record.bytes(name).leak());
            assert_eq!(pass_test::<A>(&TestVector { key, nonce, aad, plaintext, ciphertext }), Ok(()), "{record}");
        }
    }

    #[test]
    fn the_traits_own_tests_pass() {
        passes::<ChaCha20Poly1305>("seal");
        passes::<XChaCha20Poly1305>("xseal");
    }

    #[test]
    fn the_traits_own_tests_fail_where_they_must() {
        for record in records("open_fail") {
            let [key, nonce, aad, ciphertext] = ["key", "nonce", "aad", "msg"].map(|name| &*record.bytes(name).leak());
            let vector = TestVector { key, nonce, aad, plaintext: &[], ciphertext };
            assert_eq!(fail_test::<ChaCha20Poly1305>(&vector), Ok(()), "{record}");
        }
    }

    /// What one seals the other opens, and both seal alike.
    fn agree<A: AeadInOut + KeyInit, B: AeadInOut<NonceSize = A::NonceSize> + KeyInit>() {
        let text: Vec<u8> = (0..700_u32).map(|i| (i * i / 3) as u8).collect();
        for len in 0..=text.len() {
            let (ours, theirs) = (A::new_from_slice(&[len as u8; 32]), B::new_from_slice(&[len as u8; 32]));
            let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
            let nonce = (0..).map(|i| (len * 3 + i) as u8);
            let nonce = &aead::Nonce::<A>::from_iter(nonce.take(aead::Nonce::<A>::default().len()));
            let payload = || Payload { msg: &text[..len], aad: &text[..len % 40] };
            let sealed = ours.encrypt(nonce, payload()).unwrap();
            assert_eq!(sealed, theirs.encrypt(nonce, payload()).unwrap(), "{len} bytes");
            let sealed = || Payload { msg: &sealed, aad: payload().aad };
            assert_eq!(theirs.decrypt(nonce, sealed()).unwrap(), payload().msg, "{len} bytes");
            assert_eq!(ours.decrypt(nonce, sealed()).unwrap(), payload().msg, "{len} bytes");
        }
    }

    #[test]
    fn agrees_with_the_chacha20poly1305_crate() {
        agree::<ChaCha20Poly1305, chacha20poly1305::ChaCha20Poly1305>();
        agree::<XChaCha20Poly1305, chacha20poly1305::XChaCha20Poly1305>();
    }

    fn buffer(mut buffer: impl Buffer) {
        let (key, nonce) = (<ChaCha20Poly1305 as KeyInit>::new(&[1; 32].into()), &[2; 12].into());
        buffer.extend_from_slice(b"in a buffer").unwrap();
        AeadInOut::encrypt_in_place(&key, nonce, b"aad", &mut buffer).unwrap();
        let sealed = buffer.as_ref().to_vec();
        assert_eq!(sealed, key.encrypt(nonce, Payload { msg: b"in a buffer", aad: b"aad" }).unwrap());
        assert!(AeadInOut::decrypt_in_place(&key, nonce, b"AAD", &mut buffer).is_err());
        assert_eq!(buffer.as_ref(), sealed, "as it was");
        AeadInOut::decrypt_in_place(&key, nonce, b"aad", &mut buffer).unwrap();
        assert_eq!(buffer.as_ref(), b"in a buffer");
    }

    #[test]
    fn buffers() {
        buffer(Vec::new());
        #[cfg(feature = "arrayvec")]
        buffer(aead::arrayvec::ArrayVec::<u8, 27>::new());
        #[cfg(feature = "bytes")]
        buffer(aead::bytes::BytesMut::new());
    }

    #[cfg(feature = "getrandom")]
    #[test]
    fn keys_and_nonces_are_generated() {
        use aead::Generate;
        let (key, nonce) = (aead::Key::<ChaCha20Poly1305>::generate(), aead::Nonce::<ChaCha20Poly1305>::generate());
        let sealed = <ChaCha20Poly1305 as KeyInit>::new(&key).encrypt(&nonce, &b"msg"[..]).unwrap();
        assert_eq!(ChaCha20Poly1305::new(&key.into()).decrypt(&nonce, &sealed[..]).unwrap(), b"msg");
    }
}

#[cfg(feature = "aead05")]
mod aead05 {
    use super::records;
    // The name by which the helper's macro calls its crate.
    use ::aead05 as aead;
    use aead::{Aead, AeadInPlace, KeyInit, Payload};
    use wireseal::{ChaCha20Poly1305, XChaCha20Poly1305};

    aead::new_test!(the_traits_own_test_passes, "chacha20poly1305", ChaCha20Poly1305);
    aead::new_test!(the_traits_own_test_passes_for_xchacha, "xchacha20poly1305", XChaCha20Poly1305);

    fn blob(ops: &[(&str, &str, &[u8])]) -> Vec<u8> {
        let mut fields = Vec::new();
        for &(op, out, verdict) in ops {
            for record in records(op) {
                // Short ones only, to keep the files small.
                if record.get(out).is_none() || record.bytes(out).len() + record.bytes("aad").len() > 160 {
                    continue;
                }
                fields.extend(["key", "nonce", "aad"].map(|name| record.bytes(name)));
                // What opens is the second field. A box that must not has no plaintext.
                fields.push(if out == "out" { record.bytes("msg") } else { Vec::new() });
                fields.push(record.bytes(out));
                fields.push(verdict.to_vec());
            }
        }
        aead::dev::blobby::encode_blobs(&fields).0
    }

    /// That macro takes its vectors from a binary file only.
    #[test]
    fn its_blobs_are_the_text_vectors() {
        let chacha = blob(&[("seal", "out", &[1]), ("open_fail", "msg", &[0])]);
        let xchacha = blob(&[("xseal", "out", &[1])]);
        for (name, blob, file) in [
            ("chacha20poly1305.blb", chacha, &include_bytes!("data/chacha20poly1305.blb")[..]),
            ("xchacha20poly1305.blb", xchacha, &include_bytes!("data/xchacha20poly1305.blb")[..]),
        ] {
            if blob != file {
                let made = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
                std::fs::write(&made, blob).unwrap();
                panic!("tests/data/{name} is not what the text vectors make: see {}", made.display());
            }
        }
    }

    /// What one seals the other opens, and both seal alike.
    fn agree<A: AeadInPlace + KeyInit, B: AeadInPlace<NonceSize = A::NonceSize> + KeyInit>() {
        let text: Vec<u8> = (0..700_u32).map(|i| (i * i / 3) as u8).collect();
        for len in 0..=text.len() {
            let (ours, theirs) = (A::new_from_slice(&[len as u8; 32]), B::new_from_slice(&[len as u8; 32]));
            let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
            let nonce = (0..).map(|i| (len * 3 + i) as u8);
            let nonce = &nonce.take(aead::Nonce::<A>::default().len()).collect();
            let payload = || Payload { msg: &text[..len], aad: &text[..len % 40] };
            let sealed = ours.encrypt(nonce, payload()).unwrap();
            assert_eq!(sealed, theirs.encrypt(nonce, payload()).unwrap(), "{len} bytes");
            let sealed = || Payload { msg: &sealed, aad: payload().aad };
            assert_eq!(theirs.decrypt(nonce, sealed()).unwrap(), payload().msg, "{len} bytes");
            assert_eq!(ours.decrypt(nonce, sealed()).unwrap(), payload().msg, "{len} bytes");
        }
    }

    #[test]
    fn agrees_with_the_chacha20poly1305_crate() {
        agree::<ChaCha20Poly1305, chacha20poly1305_0_10::ChaCha20Poly1305>();
        agree::<XChaCha20Poly1305, chacha20poly1305_0_10::XChaCha20Poly1305>();
    }

    #[test]
    fn a_buffer_that_does_not_open_stays_as_it_was() {
        let (key, nonce) = (<ChaCha20Poly1305 as KeyInit>::new(&[1; 32].into()), &[2; 12].into());
        let mut buffer = b"in a buffer".to_vec();
        AeadInPlace::encrypt_in_place(&key, nonce, b"aad", &mut buffer).unwrap();
        let sealed = buffer.clone();
        assert!(AeadInPlace::decrypt_in_place(&key, nonce, b"AAD", &mut buffer).is_err());
        assert_eq!(buffer, sealed);
        AeadInPlace::decrypt_in_place(&key, nonce, b"aad", &mut buffer).unwrap();
        assert_eq!(buffer, b"in a buffer");
    }

    #[cfg(feature = "getrandom")]
    #[test]
    fn keys_and_nonces_are_generated() {
        use aead::{AeadCore, OsRng};
        let key = ChaCha20Poly1305::generate_key(OsRng);
        let nonce = ChaCha20Poly1305::generate_nonce(OsRng);
        let sealed = <ChaCha20Poly1305 as KeyInit>::new(&key).encrypt(&nonce, &b"msg"[..]).unwrap();
        assert_eq!(ChaCha20Poly1305::new(&key.into()).decrypt(&nonce, &sealed[..]).unwrap(), b"msg");
    }
}

#[cfg(feature = "cipher")]
mod cipher05 {
    use super::records;
    use cipher::dev::stream::{TestVector, stream_cipher_test};
    use cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
    use wireseal::{ChaCha20, XChaCha20};

    cipher::stream_cipher_seek_test!(the_traits_own_seek_test_passes, ChaCha20);
    cipher::stream_cipher_seek_test!(the_traits_own_seek_test_passes_for_xchacha, XChaCha20);

    fn passes<C: KeyIvInit + StreamCipher + StreamCipherSeek>(op: &str) {
        let mut from_zero = 0;
        for record in records(op) {
            let [key, iv, plaintext, ciphertext] =
                ["key", "nonce", "msg", "out"].map(|name| &*record.bytes(name).leak());
            let counter: u64 = record.number("counter");
            if counter == 0 {
                let vector = TestVector { key, iv, plaintext, ciphertext };
                assert_eq!(stream_cipher_test::<C>(&vector), Ok(()), "{record}");
                from_zero += 1;
            }
            let mut stream = C::new_from_slices(key, iv).unwrap();
            let mut out = vec![0; plaintext.len()];
            stream.seek(64 * counter);
            stream.apply_keystream_b2b(plaintext, &mut out);
            assert_eq!(out, ciphertext, "{record}");
        }
        assert!(from_zero > 0);
    }

    #[test]
    fn the_traits_own_tests_pass() {
        passes::<ChaCha20>("stream");
        passes::<XChaCha20>("xstream");
    }

    fn stream() -> ChaCha20 {
        ChaCha20::new(&[3; 32], &[4; 12])
    }

    #[test]
    fn seeks_back_and_forth() {
        let mut keystream = [0; 3000];
        stream().write_keystream(&mut keystream);
        let mut seeking = stream();
        for i in 0..2000_usize {
            let (position, len) = (i * 1009 % 2500, i * 31 % 500);
            seeking.seek(position);
            let mut out = vec![0xaa; len];
            seeking.write_keystream(&mut out);
            assert_eq!(out, keystream[position..][..len], "{len} bytes at {position}");
            assert_eq!(seeking.current_pos::<u64>(), (position + len) as u64);
        }
    }

    const END: u64 = 1 << 38;

    #[test]
    fn every_position_converts() {
        let mut stream = stream();
        for position in [0, 1, 63, 64, i32::MAX - 1, i32::MAX] {
            stream.seek(position);
            assert_eq!(stream.current_pos::<i32>(), position);
        }
        stream.seek(u32::MAX);
        assert_eq!(stream.current_pos::<u32>(), u32::MAX);
        assert!(stream.try_current_pos::<i32>().is_err());
        assert!(stream.try_seek(-1).is_err());
        assert!(stream.try_seek(-64).is_err());
        assert!(stream.try_seek(END + 1).is_err());
        assert!(stream.try_seek(u128::MAX).is_err());
        assert_eq!(stream.current_pos::<u32>(), u32::MAX, "as it was");
        stream.seek(END);
        assert_eq!(stream.current_pos::<u64>(), END);
        assert!(stream.try_current_pos::<u32>().is_err());
    }

    #[test]
    fn the_end_is_an_error_before_anything_is_written() {
        let mut stream = stream();
        stream.seek(END - 70);
        let mut data = [0xaa; 71];
        assert!(stream.check_remaining(70).is_ok());
        assert!(stream.check_remaining(71).is_err());
        assert!(stream.try_apply_keystream(&mut data).is_err());
        assert!(stream.try_write_keystream(&mut data).is_err());
        assert_eq!(data, [0xaa; 71]);
        stream.apply_keystream(&mut data[..70]);
        assert!(stream.try_apply_keystream(&mut data[..1]).is_err());
        assert!(stream.try_apply_keystream(&mut []).is_ok());
        // And back again.
        stream.seek(END - 70);
        stream.apply_keystream(&mut data[..70]);
        assert_eq!(data, [0xaa; 71]);
    }

    #[test]
    #[should_panic = "end of keystream"]
    fn unchecked_does_not_repeat_keystream() {
        let mut stream = stream();
        stream.seek(END);
        stream.unchecked_apply_keystream(&mut [0]);
    }

    #[test]
    #[should_panic = "end of keystream"]
    fn unchecked_does_not_write_keystream_twice() {
        let mut stream = stream();
        stream.seek(END);
        stream.unchecked_write_keystream(&mut [0]);
    }
}
