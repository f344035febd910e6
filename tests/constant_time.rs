//! Constant time as valgrind sees it: keys, plaintext and one-time keys are marked as undefined memory, so every
//! branch and every address that depends on one is an error. The errors are counted around each call.
//!
//! Run by `tests/valgrind`, which builds this and asks for it with WIRESEAL_VALGRIND=1; elsewhere there is
//! nothing to see, so nothing is claimed.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]
#![allow(unsafe_code)]

use std::hint::black_box;
use wireseal::{Backend, ChaCha20, ChaCha20Poly1305, Packet, Poly1305, Tag, XChaCha20Poly1305, hchacha20};

/// Valgrind's client request: a sequence that does nothing on a CPU and that valgrind knows.
fn request(number: u64, address: *const u8, len: usize) -> u64 {
    let arguments = [number, address as u64, len as u64, 0, 0, 0];
    let result;
    // SAFETY: four rotations by 128 bits in total and an exchange of a register with itself change nothing.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &arguments, inout("rdx") 0_u64 => result, options(nostack),
        );
    }
    result
}

const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
const MAKE_MEM_UNDEFINED: u64 = 0x4d43_0001;
const MAKE_MEM_DEFINED: u64 = 0x4d43_0002;

fn on_valgrind() -> bool {
    let on = request(RUNNING_ON_VALGRIND, core::ptr::null(), 0) > 0;
    assert!(on || std::env::var_os("WIRESEAL_VALGRIND").is_none(), "valgrind was asked for and isn't there");
    on
}

fn errors() -> u64 {
    request(COUNT_ERRORS, core::ptr::null(), 0)
}

/// Marks bytes as secret. Works through a black box, so that the compiler can't know them either.
fn secret<const N: usize>(bytes: [u8; N]) -> [u8; N] {
    let bytes = black_box(bytes);
    request(MAKE_MEM_UNDEFINED, bytes.as_ptr(), N);
    bytes
}

fn secrets(len: usize) -> Vec<u8> {
    let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
    request(MAKE_MEM_UNDEFINED, bytes.as_ptr(), len);
    bytes
}

/// What comes out is public: ciphertext and tags.
fn publish(bytes: &[u8]) {
    request(MAKE_MEM_DEFINED, bytes.as_ptr(), bytes.len());
}

const LENGTHS: [usize; 19] = [0, 1, 15, 16, 17, 63, 64, 65, 128, 192, 193, 320, 448, 512, 960, 1024, 1420, 1537, 4099];

#[test]
fn a_secret_branch_is_an_error() {
    if on_valgrind() {
        let before = errors();
        let key = secret([1; 32]);
        if black_box(key[3]) & 1 == 1 {
            black_box(());
        }
        assert!(errors() > before, "valgrind does not see secrets");
    }
}

#[test]
fn a_secret_address_is_an_error() {
    if on_valgrind() {
        let before = errors();
        let table = black_box([7_u8; 256]);
        let key = secret([1; 32]);
        black_box(table[usize::from(key[3])]);
        assert!(errors() > before, "valgrind does not see secrets");
    }
}

#[test]
fn nothing_depends_on_secrets() {
    if !on_valgrind() {
        return;
    }
    for backend in Backend::available() {
        println!("backend: {backend}");
        for len in LENGTHS {
            let before = errors();
            let key = secret([7; 32]);
            let aad = [3; 13];

            let cipher = ChaCha20Poly1305::with_backend(&key, backend);
            let mut data = secrets(len);
            let tag = cipher.seal_in_place(&[1; 12], &aad, &mut data).unwrap();
            let mut sealed = vec![0; len + 16];
            cipher.seal_into(&[1; 12], &aad, &secrets(len), &mut sealed).unwrap();
            publish(&sealed);
            assert_eq!(errors(), before, "{backend}: sealing {len} bytes");

            let extended = XChaCha20Poly1305::with_backend(&key, backend);
            extended.seal_in_place(&[1; 24], &aad, &mut secrets(len)).unwrap();
            black_box(hchacha20(&key, &[1; 16]));
            let mut stream = ChaCha20::with_backend(&key, &[1; 12], backend);
            stream.apply(&mut secrets(len)).unwrap();
            stream.set_counter(1000).unwrap();
            stream.keystream(&mut vec![0; len]).unwrap();
            let mut mac = Poly1305::with_backend(&key, backend);
            mac.update(&secrets(len / 2));
            mac.update(&secrets(len - len / 2));
            black_box(mac.finish());
            assert_eq!(errors(), before, "{backend}: streams and tags over {len} bytes");

            // The verdict is public and the only thing that is: one branch on it.
            publish(&data);
            publish(tag.as_bytes());
            let verdicts = errors();
            cipher.open_in_place(&[1; 12], &aad, &mut data, &tag).unwrap();
            assert_eq!(errors() - verdicts, 1, "{backend}: opening {len} bytes");
            let mut forged = sealed.clone();
            forged[len] ^= 1;
            let verdicts = errors();
            let mut out = vec![0; len];
            cipher.open_into(&[1; 12], &aad, &forged, &mut out).unwrap_err();
            assert_eq!(errors() - verdicts, 1, "{backend}: refusing {len} bytes");
        }

        let cipher = ChaCha20Poly1305::with_backend(&secret([7; 32]), backend);
        for count in [1, 2, 5, 8, 16, 33] {
            let before = errors();
            let mut buffers: Vec<_> = (0..count).map(|i| secrets(LENGTHS[i % 12] + 16)).collect();
            let packets = buffers.iter_mut().enumerate();
            let mut packets: Vec<_> =
                packets.map(|(i, data)| Packet::attached(&[i as u8; 12], b"", data).unwrap()).collect();
            cipher.seal_batch(&mut packets).unwrap();
            assert_eq!(errors(), before, "{backend}: batch of {count}");
            buffers.iter().for_each(|data| publish(data));
            let packets = buffers.iter_mut().enumerate();
            let mut packets: Vec<_> =
                packets.map(|(i, data)| Packet::attached(&[i as u8; 12], b"", data).unwrap()).collect();
            let verdicts = errors();
            cipher.open_batch(&mut packets).unwrap();
            assert_eq!(errors() - verdicts, count as u64, "{backend}: opening a batch of {count}");
        }
    }
}

#[test]
fn comparing_tags_is_one_branch() {
    if on_valgrind() {
        let (a, b) = (Tag::from(secret([1; 16])), Tag::from(secret([2; 16])));
        let before = errors();
        let equal = black_box(a == b);
        assert_eq!(errors(), before);
        assert!(black_box(!equal));
        assert_eq!(errors(), before + 1);
    }
}
