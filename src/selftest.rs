//! Known answers, for programs that want to see their own build compute rightly before they trust it
//! with packets: as kernels do at boot. The answers were computed with big integers, independently.

use crate::{Backend, ChaCha20, ChaCha20Poly1305, Poly1305, Tag};

/// The verdict on one backend: which of its primitives gave the known answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selftest {
    /// The backend that was tested.
    pub backend: Backend,
    /// ChaCha20, up to and including the last block of the 32-bit counter.
    pub chacha20: bool,
    /// Poly1305, at lengths around every SIMD boundary.
    pub poly1305: bool,
    /// ChaCha20-Poly1305, sealing, opening and refusing, at the same lengths.
    pub aead: bool,
}

impl Selftest {
    /// Whether everything gave the known answer.
    #[must_use]
    pub fn passed(self) -> bool {
        self.chacha20 && self.poly1305 && self.aead
    }
}

/// Tests every backend that this CPU can run, the fastest first.
///
/// ```
/// assert!(wireseal::selftest().all(|test| test.passed()));
/// ```
pub fn selftest() -> impl Iterator<Item = Selftest> {
    Backend::available().map(|backend| Selftest {
        backend,
        chacha20: chacha20(backend),
        poly1305: poly1305(backend),
        aead: aead(backend),
    })
}

const LONGEST: usize = 2500;

/// Empty, around 16 and 64 bytes, and around where kernels change from one path to the next.
const LENGTHS: [usize; 39] = [
    0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 319, 320, 321, 448, 449, 511, 512, 513,
    576, 960, 961, 1024, 1025, 1088, 1280, 1420, 1536, 1537, 2047, 2048, 2049, LONGEST,
];

fn key() -> [u8; 32] {
    core::array::from_fn(|i| i as u8)
}

fn nonce() -> [u8; 12] {
    core::array::from_fn(|i| 100 + i as u8)
}

fn message() -> [u8; LONGEST] {
    core::array::from_fn(|i| (7 * i + (i >> 8)) as u8)
}

/// The tag over the keystream of the last 40 blocks.
fn chacha20(backend: Backend) -> bool {
    let mut stream = ChaCha20::with_backend(&key(), &nonce(), backend);
    let mut keystream = [0; 40 * 64];
    stream.set_counter(u32::MAX - 39).is_ok()
        && stream.apply(&mut keystream).is_ok()
        && stream.apply(&mut [0]).is_err()
        && Poly1305::mac(&key(), &keystream) == KEYSTREAM
}

/// The tag over the tags of all lengths.
fn poly1305(backend: Backend) -> bool {
    let message = message();
    let mut all = Poly1305::new(&key());
    for len in LENGTHS {
        let mut poly = Poly1305::with_backend(&core::array::from_fn(|i| 255 - i as u8), backend);
        poly.update(&message[..len.min(LONGEST)]);
        all.update(poly.finish().as_ref());
    }
    all.finish() == MACS
}

/// The tag over the tags of all lengths, each with `len % 33` bytes of associated data.
fn aead(backend: Backend) -> bool {
    let message = message();
    let cipher = ChaCha20Poly1305::with_backend(&key(), backend);
    let mut buffer = [0; LONGEST];
    let mut all = Poly1305::new(&key());
    for len in LENGTHS {
        let len = len.min(LONGEST);
        let (data, aad) = (&mut buffer[..len], &message[..len % 33]);
        data.copy_from_slice(&message[..len]);
        let Ok(tag) = cipher.seal_in_place(&nonce(), aad, data) else { return false };
        let mut forged = *tag.as_bytes();
        forged[len % 16] ^= 1;
        if cipher.open_in_place(&nonce(), aad, data, &Tag::from(forged)).is_ok()
            || cipher.open_in_place(&nonce(), aad, data, &tag).is_err()
            || data != &message[..len]
        {
            return false;
        }
        all.update(tag.as_ref());
    }
    all.finish() == SEALED
}

const KEYSTREAM: Tag = Tag::from_bytes(0xb045_eaf1_9bed_5257_2783_d309_9983_49db_u128.to_be_bytes());
const MACS: Tag = Tag::from_bytes(0xf625_3685_b3f5_da04_3bfa_e0ce_3600_86f0_u128.to_be_bytes());
const SEALED: Tag = Tag::from_bytes(0xd761_aa0f_94a9_c7ed_db5b_a657_6417_3bab_u128.to_be_bytes());

#[cfg(test)]
mod tests {
    #[test]
    fn every_backend_gives_the_known_answers() {
        for test in super::selftest() {
            assert!(test.passed(), "{test:?}");
        }
    }
}
