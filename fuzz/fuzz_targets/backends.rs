//! Every backend against portable: AEAD, stream and MAC over the same bytes.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use wireseal::{Backend, ChaCha20, ChaCha20Poly1305, Poly1305};

#[derive(Arbitrary, Debug)]
struct Input {
    key: [u8; 32],
    nonce: [u8; 12],
    counter: u32,
    cut: u16,
    aad: Vec<u8>,
    data: Vec<u8>,
}

type Output = (Vec<u8>, [u8; 16], Option<Vec<u8>>, [u8; 16]);

fn run(input: &Input, backend: Backend) -> Output {
    let mut sealed = input.data.clone();
    let cipher = ChaCha20Poly1305::with_backend(&input.key, backend);
    let tag = cipher.seal_in_place(&input.nonce, &input.aad, &mut sealed).unwrap();
    let mut opened = sealed.clone();
    cipher.open_in_place(&input.nonce, &input.aad, &mut opened, &tag).unwrap();
    assert_eq!(opened, input.data);

    let mut stream = ChaCha20::with_backend(&input.key, &input.nonce, backend);
    stream.set_counter(input.counter).unwrap();
    let mut streamed = input.data.clone();
    let streamed = stream.apply(&mut streamed).ok().map(|()| streamed);

    let mut mac = Poly1305::with_backend(&input.key, backend);
    let (a, b) = input.data.split_at(usize::from(input.cut).min(input.data.len()));
    mac.update(a);
    mac.update(b);
    (sealed, tag.into(), streamed, mac.finish().into())
}

fuzz_target!(|input: Input| {
    let expected = run(&input, Backend::named("portable").unwrap());
    for backend in Backend::available() {
        assert_eq!(run(&input, backend), expected, "{backend}");
    }
});
