//! The operations that both benches measure, at the sizes of WireGuard's kernel benchmarks. Each run
//! writes from one buffer to another, so that opening finds a sealed message every time.

use std::hint::black_box;
use wireseal::{Backend, ChaCha20, ChaCha20Poly1305, Poly1305};

/// Does the operation so many times.
pub type Run = Box<dyn FnMut(u64)>;

pub struct Operation {
    pub name: &'static str,
    /// Bytes of message.
    pub sizes: &'static [usize],
    pub prepare: fn(Backend, usize) -> Run,
}

const AEAD_SIZES: &[usize] = &[1, 16, 64, 128, 576, 1280, 1420, 1440, 4096];

/// Seal and open with a warm key and no associated data; Poly1305 and ChaCha20 with their key set-up.
pub const OPERATIONS: [Operation; 4] = [
    Operation { name: "encrypt", sizes: AEAD_SIZES, prepare: encrypt },
    Operation { name: "decrypt", sizes: AEAD_SIZES, prepare: decrypt },
    Operation { name: "poly1305", sizes: &[0, 1, 16, 64, 576, 1280, 1408, 1420, 1440, 1536, 4096], prepare: poly1305 },
    Operation { name: "chacha20", sizes: &[32, 63, 64, 256, 1024, 1350, 65536], prepare: chacha20 },
];

const KEY: [u8; 32] = [7; 32];
const NONCE: [u8; 12] = [9; 12];

fn message(len: usize) -> Vec<u8> {
    (0..len).map(|i| i as u8).collect()
}

fn encrypt(backend: Backend, len: usize) -> Run {
    let cipher = ChaCha20Poly1305::with_backend(&KEY, backend);
    let (plaintext, mut sealed) = (message(len), vec![0; len + 16]);
    Box::new(move |times| {
        for _ in 0..times {
            black_box(cipher.seal_into(black_box(&NONCE), &[], black_box(&plaintext), &mut sealed).unwrap());
        }
    })
}

fn decrypt(backend: Backend, len: usize) -> Run {
    let cipher = ChaCha20Poly1305::with_backend(&KEY, backend);
    let (mut sealed, mut plaintext) = (vec![0; len + 16], vec![0; len]);
    cipher.seal_into(&NONCE, &[], &message(len), &mut sealed).unwrap();
    Box::new(move |times| {
        for _ in 0..times {
            black_box(cipher.open_into(black_box(&NONCE), &[], black_box(&sealed), &mut plaintext).unwrap());
        }
    })
}

fn poly1305(backend: Backend, len: usize) -> Run {
    let message = message(len);
    Box::new(move |times| {
        for _ in 0..times {
            let mut mac = Poly1305::with_backend(black_box(&KEY), backend);
            mac.update(black_box(&message));
            black_box(mac.finish());
        }
    })
}

fn chacha20(backend: Backend, len: usize) -> Run {
    let (message, mut out) = (message(len), vec![0; len]);
    Box::new(move |times| {
        for _ in 0..times {
            let mut stream = ChaCha20::with_backend(black_box(&KEY), &NONCE, backend);
            stream.apply_to(black_box(&message), black_box(&mut out)).unwrap();
        }
    })
}
