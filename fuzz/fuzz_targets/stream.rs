//! Chunkings and seeks of the stream against one long keystream from its start, near both ends of the counter.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use wireseal::{Backend, ChaCha20, Error};

#[derive(Arbitrary, Debug)]
enum Step {
    Apply(u16),
    Keystream(u16),
    Seek(u16),
    SetCounter(u8),
}

#[derive(Arbitrary, Debug)]
struct Input {
    key: [u8; 32],
    at_the_end: bool,
    steps: Vec<Step>,
}

const END: u64 = 64 << 32;
const SPAN: usize = 8192;

fuzz_target!(|input: Input| {
    // The window of SPAN bytes that the steps move in, and its keystream block by block.
    let base = if input.at_the_end { END - SPAN as u64 } else { 0 };
    let mut expected = vec![0; SPAN];
    for (i, block) in expected.chunks_mut(64).enumerate() {
        let mut stream = ChaCha20::with_backend(&input.key, &[3; 12], Backend::named("portable").unwrap());
        stream.set_counter((base / 64) as u32 + i as u32).unwrap();
        stream.apply(block).unwrap();
    }
    for backend in Backend::available() {
        let mut stream = ChaCha20::with_backend(&input.key, &[3; 12], backend);
        stream.seek(base).unwrap();
        let mut at = 0;
        for step in input.steps.iter().take(64) {
            match step {
                Step::Apply(len) | Step::Keystream(len) => {
                    let len = usize::from(*len) % 2048;
                    let mut data = vec![0; len];
                    let result = match step {
                        Step::Apply(_) => stream.apply(&mut data),
                        _ => stream.keystream(&mut data),
                    };
                    if at + len <= SPAN {
                        assert_eq!(result, Ok(()));
                        assert_eq!(data, expected[at..at + len]);
                        at += len;
                    } else if input.at_the_end {
                        assert_eq!(result, Err(Error::KeystreamExhausted));
                        assert!(data.iter().all(|&byte| byte == 0));
                    } else {
                        break;
                    }
                }
                Step::Seek(to) => {
                    let to = usize::from(*to) % SPAN;
                    let result = stream.seek(base + to as u64);
                    assert_eq!(result.is_ok(), to >= at);
                    at = at.max(to);
                }
                Step::SetCounter(block) => {
                    let to = 64 * (usize::from(*block) % (SPAN / 64));
                    let result = stream.set_counter(((base + to as u64) / 64) as u32);
                    assert_eq!(result.is_ok(), to >= at);
                    at = at.max(to);
                }
            }
            assert_eq!(stream.position(), base + at as u64);
        }
    }
});
