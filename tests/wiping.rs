//! What calls leave behind: each runs on a thread whose stack is memory of ours, which is then searched for words
//! of the key, the one-time key, the keystream and the plaintext. Meant for an optimised build:
//! `cargo test --release --test wiping`.
#![cfg(all(unix, not(miri)))]
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use wireseal::{Backend, ChaCha20, ChaCha20Poly1305, Packet, Poly1305, Tag, XChaCha20Poly1305, hchacha20};

const STACK: usize = 256 * 1024;
const NONCE: [u8; 12] = [0x31; 12];

/// What a thread runs, and how it and the searcher wait for each other without a call that would cover
/// the traces.
struct Run<'a> {
    call: &'a mut dyn FnMut(),
    called: AtomicBool,
    searched: AtomicBool,
}

extern "C" fn enter(run: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: the pointer is to the `Run` of `stack_after`, which outlives this thread; only its atomics are
    // touched by both.
    let run = unsafe { &mut *run.cast::<Run<'_>>() };
    (run.call)();
    run.called.store(true, Ordering::Release);
    while !run.searched.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
    ptr::null_mut()
}

/// Runs `call` on a stack of zeroes and returns that stack as words. It is copied while the thread is alive: the C
/// library discards the pages of a stack when its thread ends.
fn stack_after(call: &mut dyn FnMut()) -> Vec<u32> {
    let mut run = Run { call, called: AtomicBool::new(false), searched: AtomicBool::new(false) };
    let run = &raw mut run;
    // SAFETY: plain calls of the C library; the stack is a fresh mapping of STACK bytes (any bytes are words), used by
    // one thread that only spins while it is copied, and is joined before the mapping is given back.
    unsafe {
        let (read_write, anonymous) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let stack = libc::mmap(ptr::null_mut(), STACK, read_write, anonymous, -1, 0);
        assert_ne!(stack, libc::MAP_FAILED);
        let mut attributes = std::mem::zeroed();
        assert_eq!(libc::pthread_attr_init(&raw mut attributes), 0);
        assert_eq!(libc::pthread_attr_setstack(&raw mut attributes, stack, STACK), 0);
        let mut thread = std::mem::zeroed();
        assert_eq!(libc::pthread_create(&raw mut thread, &raw const attributes, enter, run.cast()), 0);
        while !(*run).called.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let words = std::slice::from_raw_parts(stack.cast::<u32>(), STACK / 4).to_vec();
        (*run).searched.store(true, Ordering::Release);
        assert_eq!(libc::pthread_join(thread, ptr::null_mut()), 0);
        libc::pthread_attr_destroy(&raw mut attributes);
        libc::munmap(stack, STACK);
        words
    }
}

/// Bytes without a pattern, the same in every run.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The words to look for, and what they are.
struct Secrets(HashMap<u32, &'static str>);

impl Secrets {
    fn new(key: &[u8; 32], plaintext: &[u8]) -> Self {
        let mut secrets = Secrets(HashMap::new());
        secrets.add("key", key);
        let mut stream = ChaCha20::with_backend(key, &NONCE, Backend::named("portable").unwrap());
        let mut keystream = vec![0; plaintext.len().next_multiple_of(64) + 64];
        stream.keystream(&mut keystream).unwrap();
        secrets.add("one-time key", &keystream[..32]);
        secrets.add("keystream", &keystream[64..]);
        secrets.add("plaintext", plaintext);
        let r = u128::from_le_bytes(keystream[..16].try_into().unwrap()) & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff;
        secrets.add("r", &r.to_le_bytes());
        for (bits, limbs) in [(26, 5), (44, 3)] {
            for i in 0..limbs {
                let limb = (r >> (bits * i)) as u64 & ((1 << bits) - 1);
                secrets.add("limb of r", &limb.to_le_bytes()[..4]);
            }
        }
        secrets
    }

    fn add(&mut self, what: &'static str, bytes: &[u8]) {
        for word in bytes.as_chunks().0.iter().map(|&bytes| u32::from_ne_bytes(bytes)) {
            // Small words are everywhere.
            if word > 0xffff {
                self.0.insert(word, what);
            }
        }
        // A big-endian machine has the words of the state the other way round.
        for word in bytes.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)) {
            if word > 0xffff {
                self.0.insert(word, what);
            }
        }
    }

    fn found_in(&self, stack: &[u32]) -> HashMap<&'static str, usize> {
        let mut found = HashMap::new();
        for what in stack.iter().filter_map(|word| self.0.get(word)) {
            *found.entry(*what).or_default() += 1;
        }
        found
    }

    fn assert_none(&self, what: &str, call: &mut dyn FnMut()) {
        let stack = stack_after(call);
        assert!(stack.iter().any(|&word| word != 0), "the call did not run on the stack that was searched");
        let found = self.found_in(&stack);
        let places: Vec<_> = stack
            .iter()
            .enumerate()
            .filter(|(_, word)| self.0.contains_key(word))
            .map(|(i, _)| STACK - 4 * i)
            .collect();
        let depth = places.iter().min().zip(places.iter().max());
        assert!(found.is_empty(), "{what} left {found:?}, {depth:?} bytes below the top");
    }
}

const LENGTHS: [usize; 14] = [0, 1, 16, 64, 100, 128, 192, 256, 320, 512, 576, 1024, 1420, 4096];

fn on_every_backend(test: impl Fn(Backend, usize, &[u8; 32], &[u8], &Secrets)) {
    for backend in Backend::available() {
        for len in LENGTHS {
            let key: [u8; 32] = noise(32, 1 + len as u64).try_into().unwrap();
            let plaintext = noise(len, 1000 + len as u64);
            test(backend, len, &key, &plaintext, &Secrets::new(&key, &plaintext));
        }
    }
}

#[test]
fn the_search_finds_what_is_left() {
    let key = noise(32, 7);
    let secrets = Secrets::new(key.as_slice().try_into().unwrap(), &[]);
    let stack = stack_after(&mut || {
        let mut copy = [0_u8; 32];
        copy.copy_from_slice(&key);
        std::hint::black_box(&copy);
    });
    assert!(secrets.found_in(&stack)["key"] >= 8);
}

#[test]
fn aead_leaves_nothing() {
    on_every_backend(|backend, len, key, plaintext, secrets| {
        let cipher = ChaCha20Poly1305::with_backend(key, backend);
        let mut data = plaintext.to_vec();
        let mut tag = Tag::from([0; 16]);
        secrets.assert_none(&format!("{backend}: sealing {len}"), &mut || {
            tag = cipher.seal_in_place(&NONCE, b"aad", &mut data).unwrap();
        });
        secrets.assert_none(&format!("{backend}: refusing {len}"), &mut || {
            cipher.open_in_place(&NONCE, b"AAD", &mut data, &tag).unwrap_err();
        });
        secrets.assert_none(&format!("{backend}: opening {len}"), &mut || {
            cipher.open_in_place(&NONCE, b"aad", &mut data, &tag).unwrap();
        });
        assert_eq!(data, plaintext);
    });
}

#[test]
fn making_and_dropping_leaves_nothing() {
    on_every_backend(|backend, len, key, plaintext, secrets| {
        let mut data = plaintext.to_vec();
        secrets.assert_none(&format!("{backend}: a key for {len} bytes"), &mut || {
            let cipher = ChaCha20Poly1305::with_backend(key, backend);
            cipher.seal_in_place(&NONCE, b"", &mut data).unwrap();
        });
        let mut data = plaintext.to_vec();
        secrets.assert_none(&format!("{backend}: an extended nonce for {len} bytes"), &mut || {
            let cipher = XChaCha20Poly1305::with_backend(key, backend);
            cipher.seal_in_place(&[9; 24], b"", &mut data).unwrap();
        });
        let mut data = plaintext.to_vec();
        secrets.assert_none(&format!("{backend}: a stream of {len}"), &mut || {
            let mut stream = ChaCha20::with_backend(key, &NONCE, backend);
            stream.set_counter(1).unwrap();
            stream.apply(&mut data).unwrap();
            stream.apply(&mut [0]).unwrap();
        });
        let mut mac = Box::new(Poly1305::with_backend(key, backend));
        secrets.assert_none(&format!("{backend}: part of a tag, over {len}"), &mut || {
            mac.update(plaintext);
        });
        // The tag of nothing is half the key.
        if len > 0 {
            secrets.assert_none(&format!("a tag over {len}"), &mut || {
                std::hint::black_box(Poly1305::mac(key, plaintext));
            });
        }
    });
    let key: [u8; 32] = noise(32, 99).try_into().unwrap();
    Secrets::new(&key, &[]).assert_none("HChaCha20", &mut || {
        std::hint::black_box(hchacha20(&key, &[1; 16]));
    });
}

#[test]
fn batches_leave_nothing() {
    on_every_backend(|backend, len, key, plaintext, secrets| {
        let cipher = ChaCha20Poly1305::with_backend(key, backend);
        let mut buffers = vec![[plaintext, &[0; 16]].concat(); 9];
        for seal in [true, false] {
            let mut packets: Vec<_> =
                buffers.iter_mut().map(|data| Packet::attached(&NONCE, b"", data).unwrap()).collect();
            secrets.assert_none(&format!("{backend}: nine packets of {len}, sealing: {seal}"), &mut || {
                if seal { cipher.seal_batch(&mut packets) } else { cipher.open_batch(&mut packets) }.unwrap();
            });
        }
        assert!(buffers.iter().all(|data| data[..len] == *plaintext));
    });
}
