//! Seal, damage, open: refused with everything as it was, unless the damage was none.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use wireseal::{Backend, ChaCha20Poly1305, Error, XChaCha20Poly1305};

#[derive(Arbitrary, Debug)]
struct Input {
    key: [u8; 32],
    nonce: [u8; 24],
    header: u8,
    aad: Vec<u8>,
    data: Vec<u8>,
    damage: Vec<(u16, u8)>,
    cut: u8,
}

fuzz_target!(|input: Input| {
    let header = usize::from(input.header);
    for backend in Backend::available() {
        let cipher = ChaCha20Poly1305::with_backend(&input.key, backend);
        let extended = XChaCha20Poly1305::with_backend(&input.key, backend);
        let short: &[u8; 12] = input.nonce.last_chunk().unwrap();
        for form in 0..2 {
            let mut datagram = vec![0xaa; header + input.data.len() + 16];
            let out = &mut datagram[header..];
            match form {
                0 => cipher.seal_into(short, &input.aad, &input.data, out),
                _ => extended.seal_into(&input.nonce, &input.aad, &input.data, out),
            }
            .unwrap();
            let sealed = datagram.clone();
            for (at, flip) in &input.damage {
                let at = header + usize::from(*at) % (datagram.len() - header);
                datagram[at] ^= flip;
            }
            datagram.truncate(datagram.len() - usize::from(input.cut) % 18 % (datagram.len() - header + 1));
            let before = datagram.clone();
            let range = header..datagram.len();
            let opened = match form {
                0 => cipher.open_within(short, &input.aad, &mut datagram, range),
                _ => extended.open_within(&input.nonce, &input.aad, &mut datagram, range),
            };
            match opened {
                Ok(plaintext) => {
                    assert_eq!(plaintext, input.data);
                    assert_eq!(before, sealed);
                }
                Err(error) => {
                    assert!(matches!(error, Error::Unauthentic | Error::TooShort));
                    assert_eq!(datagram, before);
                    assert_ne!(before, sealed);
                }
            }
        }
    }
});
