//! A batch against the same packets one by one, under one key and under several, with forgeries among them.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use wireseal::{Backend, ChaCha20Poly1305, Error, Packet, batch};

#[derive(Arbitrary, Debug)]
struct Part {
    key: u8,
    len: u16,
    aad: u8,
    forge: Option<(u16, u8)>,
}

#[derive(Arbitrary, Debug)]
struct Input {
    counter: u64,
    one_key: bool,
    parts: Vec<Part>,
}

fuzz_target!(|input: Input| {
    let parts = &input.parts[..input.parts.len().min(80)];
    let nonce = |i: usize| {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&input.counter.wrapping_add(i as u64).to_le_bytes());
        nonce
    };
    let aad = [7; 255];
    for backend in Backend::available() {
        let ciphers: Vec<_> = (0..4).map(|i| ChaCha20Poly1305::with_backend(&[i; 32], backend)).collect();
        let cipher = |part: &Part| &ciphers[if input.one_key { 0 } else { usize::from(part.key) % 4 }];
        let plain: Vec<_> = parts.iter().map(|part| vec![part.key; usize::from(part.len) % 1600]).collect();
        let mut expected = plain.clone();
        for (i, (part, data)) in parts.iter().zip(&mut expected).enumerate() {
            let tag = cipher(part).seal_in_place(&nonce(i), &aad[..part.aad.into()], data).unwrap();
            data.extend(tag.as_ref());
        }

        let mut sealed: Vec<_> = plain.iter().map(|data| [&data[..], &[0; 16]].concat()).collect();
        let run = |buffers: &mut [Vec<u8>], seal: bool| -> Vec<Result<(), Error>> {
            let packets = buffers.iter_mut().zip(parts).enumerate();
            let mut packets: Vec<_> = packets
                .map(|(i, (data, part))| {
                    (cipher(part), Packet::attached(&nonce(i), &aad[..part.aad.into()], data).unwrap())
                })
                .collect();
            if input.one_key {
                let mut packets: Vec<_> = packets.into_iter().map(|(_, packet)| packet).collect();
                if seal { ciphers[0].seal_batch(&mut packets) } else { ciphers[0].open_batch(&mut packets) }.unwrap();
                packets.iter().map(Packet::verdict).collect()
            } else {
                if seal { batch::seal_batch(&mut packets) } else { batch::open_batch(&mut packets) }.unwrap();
                packets.iter().map(|(_, packet)| packet.verdict()).collect()
            }
        };
        run(&mut sealed, true);
        assert_eq!(sealed, expected, "{backend}");

        for (part, data) in parts.iter().zip(&mut sealed) {
            if let Some((at, flip)) = part.forge {
                let at = usize::from(at) % data.len();
                data[at] ^= flip;
            }
        }
        let before = sealed.clone();
        let verdicts = run(&mut sealed, false);
        for (i, verdict) in verdicts.into_iter().enumerate() {
            if before[i] == expected[i] {
                assert_eq!(verdict, Ok(()));
                assert_eq!(sealed[i][..plain[i].len()], plain[i]);
            } else {
                assert_eq!(verdict, Err(Error::Unauthentic));
                assert_eq!(sealed[i], before[i]);
            }
        }
    }
});
