//! Every way to damage a sealed packet: each truncation, each single bit of tag, associated data and nonce, and
//! every seventh of the data. Always refused, and the buffer stays as it was, on every backend.

use wireseal::{Backend, ChaCha20Poly1305, Error, Packet, Tag, XChaCha20Poly1305};

const LENGTHS: [usize; 7] = [0, 1, 15, 16, 17, 64, 1420];
const AAD: [u8; 21] = *b"twenty-one bytes long";

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 37 + len) as u8).collect()
}

fn flipped<const N: usize>(bytes: [u8; N], bit: usize) -> [u8; N] {
    let mut bytes = bytes;
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

/// Opens `sealed` in every form there is; all must refuse it and leave everything as it was.
fn assert_refused(cipher: &ChaCha20Poly1305, nonce: &[u8; 12], aad: &[u8], sealed: &[u8], what: &str) {
    let mut out = vec![0x55; sealed.len() + 1];
    let expected = if sealed.len() < 16 { Error::TooShort } else { Error::Unauthentic };
    assert_eq!(cipher.open_into(nonce, aad, sealed, &mut out), Err(expected), "{what}");
    assert!(out.iter().all(|&byte| byte == 0x55), "{what}");

    let mut datagram = [b"header", sealed, b"trailer"].concat();
    let before = datagram.clone();
    let range = 6..6 + sealed.len();
    assert_eq!(cipher.open_within(nonce, aad, &mut datagram, range), Err(expected), "{what}");
    assert_eq!(datagram, before, "{what}");

    if let Some((data, tag)) = sealed.split_last_chunk() {
        let mut in_place = data.to_vec();
        assert_eq!(cipher.open_in_place(nonce, aad, &mut in_place, &Tag::from(*tag)), Err(expected), "{what}");
        assert_eq!(in_place, data, "{what}");
    }

    let mut batch = [sealed.to_vec(), sealed.to_vec(), sealed.to_vec()];
    let mut packets: Vec<_> = batch.iter_mut().filter_map(|sealed| Packet::attached(nonce, aad, sealed).ok()).collect();
    assert!(packets.is_empty() == (sealed.len() < 16));
    cipher.open_batch(&mut packets).unwrap();
    assert!(packets.iter_mut().all(|packet| packet.data() == Err(Error::Unauthentic)), "{what}");
    assert!(batch.iter().all(|packet| packet == sealed), "{what}");
}

#[test]
fn damage_is_always_refused() {
    for backend in Backend::available() {
        let cipher = ChaCha20Poly1305::with_backend(&[0x42; 32], backend);
        let nonce = [7; 12];
        for len in LENGTHS {
            let mut sealed = vec![0; len + 16];
            cipher.seal_into(&nonce, &AAD, &bytes(len), &mut sealed).unwrap();
            for short in 0..sealed.len() {
                assert_refused(&cipher, &nonce, &AAD, &sealed[..short], &format!("{backend} {len}: cut to {short}"));
            }
            let data = (0..8 * len).step_by(7);
            for bit in data.chain(8 * len..8 * sealed.len()) {
                let mut damaged = sealed.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_refused(&cipher, &nonce, &AAD, &damaged, &format!("{backend} {len}: bit {bit}"));
            }
            for bit in 0..8 * AAD.len() {
                let aad = flipped(AAD, bit);
                assert_refused(&cipher, &nonce, &aad, &sealed, &format!("{backend} {len}: bit {bit} of the AAD"));
            }
            for short in 0..AAD.len() {
                assert_refused(&cipher, &nonce, &AAD[..short], &sealed, &format!("{backend} {len}: AAD of {short}"));
            }
            for bit in 0..96 {
                let nonce = flipped(nonce, bit);
                assert_refused(&cipher, &nonce, &AAD, &sealed, &format!("{backend} {len}: bit {bit} of the nonce"));
            }
            for bit in 0..256 {
                let cipher = ChaCha20Poly1305::with_backend(&flipped([0x42; 32], bit), backend);
                assert_refused(&cipher, &nonce, &AAD, &sealed, &format!("{backend} {len}: bit {bit} of the key"));
            }
            let mut out = vec![0; len];
            assert_eq!(cipher.open_into(&nonce, &AAD, &sealed, &mut out).unwrap(), bytes(len), "undamaged");
        }
    }
}

#[test]
fn damaged_extended_nonces_are_refused() {
    for backend in Backend::available() {
        let cipher = XChaCha20Poly1305::with_backend(&[0x42; 32], backend);
        let mut sealed = [0; 33];
        cipher.seal_into(&[7; 24], &AAD, &bytes(17), &mut sealed).unwrap();
        for bit in 0..192 {
            let mut out = [0x55; 17];
            let nonce = flipped([7; 24], bit);
            assert_eq!(cipher.open_into(&nonce, &AAD, &sealed, &mut out), Err(Error::Unauthentic));
            assert_eq!(out, [0x55; 17]);
        }
    }
}
