//! Poly1305, the one-time authenticator (RFC 8439, section 2.5).

use crate::backend::{Backend, Kernel, Poly, scrubbed};
use crate::{Error, Tag};
use core::fmt;
use zeroize::Zeroizing;

/// Poly1305 (RFC 8439, section 2.5): a 16-byte tag over a message, under a 32-byte key used **once**.
///
/// Feed the message in pieces of any size; finishing consumes the authenticator, so a key can't be used
/// for a second message by mistake.
///
/// # Security
/// Two messages under one key reveal it. In the AEADs a fresh key comes from every nonce.
///
/// The state is wiped where it is finished or dropped. A move, like any in Rust, leaves the bytes it moved from.
pub struct Poly1305 {
    poly: Poly,
    /// The start of a block that is not complete yet.
    partial: Zeroizing<[u8; 16]>,
    /// How many bytes of it, 0 to 15.
    filled: usize,
}

impl Poly1305 {
    /// Starts a tag under a 32-byte one-time key, r ‖ s.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self::with_backend(key, Backend::detect())
    }

    /// The same on a backend of choice, for tests and benchmarks.
    #[must_use]
    pub fn with_backend(key: &[u8; 32], backend: Backend) -> Self {
        Poly1305 { poly: Poly::new(backend, key), partial: Zeroizing::new([0; 16]), filled: 0 }
    }

    /// The tag of one message in one call.
    #[must_use]
    pub fn mac(key: &[u8; 32], message: &[u8]) -> Tag {
        // 1 KiB: the moves of the state, a tenth of that.
        scrubbed::<[u8; 1024], _>(|| {
            let mut poly = Self::new(key);
            poly.update(message);
            poly.finish()
        })
    }

    /// Adds the next piece of the message, of any length.
    pub fn update(&mut self, mut message: &[u8]) {
        if self.filled > 0 {
            let take = message.len().min(16 - self.filled);
            let (now, rest) = message.split_at(take);
            for (byte, new) in self.partial.iter_mut().skip(self.filled).zip(now) {
                *byte = *new;
            }
            self.filled += take;
            message = rest;
            if self.filled < 16 {
                return;
            }
            self.poly.update(&[*self.partial]);
        }
        let (blocks, tail) = message.as_chunks();
        if !blocks.is_empty() {
            self.poly.update(blocks);
        }
        self.partial[..tail.len()].copy_from_slice(tail);
        self.filled = tail.len();
    }

    /// The tag of everything added.
    #[must_use]
    pub fn finish(mut self) -> Tag {
        let tag = match self.partial.get_mut(self.filled..) {
            Some([first, rest @ ..]) if self.filled > 0 => {
                *first = 1;
                rest.fill(0);
                self.poly.finish(Some(&self.partial))
            }
            _ => self.poly.finish(None),
        };
        tag.into()
    }

    /// Compares the tag of everything added with the expected one, in constant time.
    ///
    /// # Errors
    /// [`Error::Unauthentic`] if they differ.
    pub fn verify(self, expected: &Tag) -> Result<(), Error> {
        if self.finish() == *expected { Ok(()) } else { Err(Error::Unauthentic) }
    }
}

impl zeroize::ZeroizeOnDrop for Poly1305 {}

/// Shows neither key nor state.
impl fmt::Debug for Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poly1305").finish_non_exhaustive()
    }
}

/// The authenticator of the AEAD construction (RFC 8439, section 2.8): associated data and ciphertext, each
/// padded with zeroes to 16 bytes, then both lengths. So it only ever has whole blocks.
pub(crate) struct AeadMac<K: Kernel> {
    kernel: K,
    poly: K::Poly,
    aad_len: usize,
}

impl<K: Kernel> AeadMac<K> {
    /// Starts with the associated data; `len` is the length of the ciphertext to come.
    pub(crate) fn new(kernel: K, key: &[u8; 32], aad: &[u8], len: usize) -> Self {
        let blocks = aad.len().div_ceil(16).saturating_add(len.div_ceil(16)).saturating_add(1);
        let mut mac = AeadMac { kernel, poly: kernel.poly1305_new(key, blocks), aad_len: aad.len() };
        let (blocks, tail) = aad.as_chunks();
        if !blocks.is_empty() {
            mac.update(blocks);
        }
        if !tail.is_empty() {
            mac.update(&[padded(tail)]);
        }
        mac
    }

    pub(crate) fn update(&mut self, blocks: &[[u8; 16]]) {
        self.kernel.poly1305_update(&mut self.poly, blocks);
    }

    /// Adds the ciphertext, or what of it follows the blocks already added, and the lengths; `len` is that of
    /// all the ciphertext.
    pub(crate) fn finish(mut self, ciphertext: &[u8], len: usize) -> [u8; 16] {
        let (blocks, tail) = ciphertext.as_chunks();
        if !blocks.is_empty() {
            self.update(blocks);
        }
        let mut lengths = [0; 16];
        lengths[..8].copy_from_slice(&(self.aad_len as u64).to_le_bytes());
        lengths[8..].copy_from_slice(&(len as u64).to_le_bytes());
        if tail.is_empty() {
            self.update(&[lengths]);
        } else {
            self.update(&[padded(tail), lengths]);
        }
        self.kernel.poly1305_finish(&mut self.poly, None)
    }
}

fn padded(tail: &[u8]) -> [u8; 16] {
    let mut block = [0; 16];
    block[..tail.len()].copy_from_slice(tail);
    block
}
