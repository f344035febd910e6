//! Anything into a WireGuard receiver: bytes from nowhere, and real messages damaged, repeated and reordered.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;
use wireseal::wireguard::{HEADER_LEN, OVERHEAD, Receiver, Sender, padded_len};

#[derive(Arbitrary, Debug)]
enum Event {
    Raw(Vec<u8>),
    Send { len: u16, mtu: u16 },
    Deliver { which: u8, damage: Option<(u16, u8)> },
}

fuzz_target!(|events: Vec<Event>| {
    let (sender, mut receiver) = (Sender::new(&[5; 32], 0x0102_0304), Receiver::new(&[5; 32], 0x0102_0304));
    let mut sent: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut received = HashSet::new();
    for event in events.into_iter().take(200) {
        match event {
            Event::Raw(mut bytes) => {
                let before = bytes.clone();
                assert!(receiver.open(&mut bytes).is_err(), "a message from nowhere was accepted");
                assert_eq!(bytes, before);
            }
            Event::Send { len, mtu } => {
                let (len, mtu) = (usize::from(len) % 1600, usize::from(mtu) % 1600);
                let mut datagram = vec![0x5a; len + OVERHEAD + 16];
                let message = sender.seal(&mut datagram, len, mtu).unwrap();
                assert_eq!(message.len(), padded_len(len, mtu) + OVERHEAD);
                sent.push((len, message.to_vec()));
            }
            Event::Deliver { which, damage } => {
                if sent.is_empty() {
                    continue;
                }
                let which = usize::from(which) % sent.len();
                let (len, message) = &sent[which];
                let mut datagram = message.clone();
                if let Some((at, flip)) = damage {
                    let at = usize::from(at) % datagram.len();
                    datagram[at] ^= flip;
                }
                let (damaged, before) = (datagram != *message, datagram.clone());
                match receiver.open(&mut datagram) {
                    Ok(text) => {
                        assert!(!damaged && received.insert(which), "forged or replayed");
                        assert!(text[..*len].iter().all(|&byte| byte == 0x5a));
                        assert!(text[*len..].iter().all(|&byte| byte == 0));
                        assert_eq!(text.len(), before.len() - HEADER_LEN - 16);
                    }
                    Err(_) => {
                        assert!(damaged || received.contains(&which), "a good message was refused");
                        assert_eq!(datagram, before);
                    }
                }
            }
        }
    }
});
