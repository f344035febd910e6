//! The guest side of `tests/emulated/count`: does one operation on one backend a number of times, and prints
//! nothing, so that two runs differ by the operation's instructions alone. Without arguments: names the backends.

use std::hint::black_box;
use wireseal::{Backend, ChaCha20, ChaCha20Poly1305, Poly1305};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [backend, operation, len, times] = arguments.as_slice() else {
        return Backend::available().for_each(|backend| println!("{backend}"));
    };
    let backend = Backend::named(backend).expect("no such backend here");
    let mut data = vec![0; len.parse().expect("the length in bytes")];
    let times: u32 = times.parse().expect("how many times");
    let (key, nonce) = (black_box([1; 32]), black_box([2; 12]));
    let cipher = ChaCha20Poly1305::with_backend(&key, backend);
    match operation.as_str() {
        "chacha20" => repeat(times, || {
            ChaCha20::with_backend(&key, &nonce, backend).apply(black_box(&mut data)).expect("enough keystream");
        }),
        "poly1305" => repeat(times, || {
            let mut poly = Poly1305::with_backend(&key, backend);
            poly.update(black_box(&data));
            black_box(poly.finish());
        }),
        "seal" => repeat(times, || {
            black_box(cipher.seal_in_place(&nonce, &[], black_box(&mut data)).expect("short enough"));
        }),
        // From one region to another, so that the sealed bytes are there for the next time.
        "open" => {
            let tag = cipher.seal_in_place(&nonce, &[], &mut data).expect("short enough");
            let mut out = data.clone();
            repeat(times, || {
                let io = wireseal::InOut::separate(black_box(&data), black_box(&mut out)).expect("same length");
                cipher.open_inout(&nonce, &[], io, &tag).expect("authentic");
            });
        }
        _ => panic!("chacha20, poly1305, seal or open"),
    }
}

fn repeat(times: u32, mut operation: impl FnMut()) {
    (0..times).for_each(|_| operation());
}
