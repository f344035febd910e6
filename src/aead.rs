//! AEAD_CHACHA20_POLY1305 (RFC 8439, section 2.8) and AEAD_XCHACHA20_POLY1305 (draft-irtf-cfrg-xchacha-03):
//! sealing, opening, and the rules around them: lengths first, tag before plaintext.

use crate::backend::{Backend, Kernel, Op, words};
use crate::chacha20::{Key, Keystream, extend_nonce};
use crate::overlap::InOut;
use crate::poly1305::AeadMac;
use crate::tag::TAG_LEN;
use crate::wipe::wipe;
use crate::{Error, Tag};
use core::fmt;
use core::ops::Range;

/// Length of a key in bytes.
pub const KEY_LEN: usize = 32;

/// The longest plaintext in bytes: 2³² − 1 blocks of 64, since block 0 keys Poly1305 (RFC 8439, section 2.8).
pub const MAX_PLAINTEXT_LEN: u64 = 274_877_906_880;

/// Bytes sealed between two passes over them, so that Poly1305 finds a long message's ciphertext in the
/// first-level cache.
const CHUNK: usize = 16 * 1024;

pub(crate) fn check_len(len: u64) -> Result<(), Error> {
    if len <= MAX_PLAINTEXT_LEN { Ok(()) } else { Err(Error::TooLong) }
}

/// A key and the nonce of one message.
pub(crate) struct Message<'a> {
    pub(crate) key: &'a [u32; 8],
    pub(crate) nonce: &'a [u8; 12],
    pub(crate) aad: &'a [u8],
}

pub(crate) struct Seal<'a, 'b>(pub(crate) Message<'a>, pub(crate) InOut<'b>);

impl Op for Seal<'_, '_> {
    type Out = Result<Tag, Error>;

    fn run<K: Kernel>(self, kernel: K) -> Self::Out {
        let Seal(Message { key, nonce, aad }, mut io) = self;
        if let Some(tag) = kernel.seal_fused(key, nonce, aad, &mut io) {
            return Ok(tag.into());
        }
        let len = io.len();
        let (mut keystream, mut mac) = start(kernel, key, nonce, aad, len);
        loop {
            let (mut now, rest) = io.split_at(CHUNK);
            keystream.xor(kernel, now.reborrow())?;
            if rest.is_empty() {
                return Ok(mac.finish(now.output(), len).into());
            }
            mac.update(now.output().as_chunks().0);
            io = rest;
        }
    }
}

pub(crate) struct Open<'a, 'b>(pub(crate) Message<'a>, pub(crate) InOut<'b>, pub(crate) &'a Tag);

impl Op for Open<'_, '_> {
    type Out = Result<(), Error>;

    fn run<K: Kernel>(self, kernel: K) -> Self::Out {
        let Open(Message { key, nonce, aad }, mut io, tag) = self;
        let authentic = match kernel.open_fused(key, nonce, aad, &mut io, tag.as_bytes()) {
            Some(authentic) => authentic,
            None => {
                let (mut keystream, mac) = start(kernel, key, nonce, aad, io.len());
                let authentic = Tag::from(mac.finish(io.input(), io.len())) == *tag;
                if authentic {
                    keystream.xor(kernel, io)?;
                }
                authentic
            }
        };
        if authentic { Ok(()) } else { Err(Error::Unauthentic) }
    }
}

/// The first keystream pass, whose block 0 keys the authenticator and whose surplus awaits the data.
#[inline(always)]
fn start<K: Kernel>(kernel: K, key: &[u32; 8], nonce: &[u8; 12], aad: &[u8], len: usize) -> (Keystream, AeadMac<K>) {
    let mut keystream = Keystream::for_message(key, nonce, len);
    let mut one_time_key = keystream.one_time_key(kernel);
    let mac = AeadMac::new(kernel, &one_time_key, aad, len);
    wipe(&mut one_time_key);
    (keystream, mac)
}

/// What both AEADs are made of: a key and how its nonces become ChaCha20's.
#[derive(Clone)]
struct Cipher {
    key: Key,
    backend: Backend,
}

impl Cipher {
    fn new(key: &[u8; KEY_LEN], backend: Backend) -> Self {
        Cipher { key: Key(words(key)), backend }
    }
}

macro_rules! aead {
    (
        $(#[$doc:meta])* $Aead:ident, $NONCE_LEN:literal,
        |$cipher:ident, $nonce:ident| $expand:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $Aead(Cipher);

        impl $Aead {
            /// Length of a nonce in bytes.
            pub const NONCE_LEN: usize = $NONCE_LEN;

            /// Makes a key: a copy of 32 bytes, and the choice of the fastest backend.
            #[must_use]
            pub fn new(key: &[u8; KEY_LEN]) -> Self {
                Self::with_backend(key, Backend::detect())
            }

            /// The same on a backend of choice, for tests and benchmarks.
            #[must_use]
            pub fn with_backend(key: &[u8; KEY_LEN], backend: Backend) -> Self {
                Self(Cipher::new(key, backend))
            }

            /// The backend that this key uses.
            #[must_use]
            pub fn backend(&self) -> Backend {
                self.0.backend
            }

            /// Encrypts `data` in place and returns the tag over it and `aad`.
            ///
            /// # Errors
            /// [`Error::TooLong`] if `data` is longer than [`MAX_PLAINTEXT_LEN`]; then it is as it was.
            ///
            /// # Security
            /// Never seal two messages under one key and nonce.
            pub fn seal_in_place(
                &self,
                nonce: &[u8; $NONCE_LEN],
                aad: &[u8],
                data: &mut [u8],
            ) -> Result<Tag, Error> {
                self.seal_inout(nonce, aad, data.into())
            }

            /// Decrypts `data` in place if `tag` is right for it and `aad`.
            ///
            /// # Errors
            /// [`Error::Unauthentic`] if it is not, [`Error::TooLong`] if `data` is longer than
            /// [`MAX_PLAINTEXT_LEN`]; then `data` is as it was.
            pub fn open_in_place(
                &self,
                nonce: &[u8; $NONCE_LEN],
                aad: &[u8],
                data: &mut [u8],
                tag: &Tag,
            ) -> Result<(), Error> {
                self.open_inout(nonce, aad, data.into(), tag)
            }

            /// Encrypts from one region to another, or in place: see [`InOut`]. Returns the tag.
            ///
            /// # Errors
            /// [`Error::TooLong`]; then nothing is written.
            pub fn seal_inout(
                &self,
                nonce: &[u8; $NONCE_LEN],
                aad: &[u8],
                io: InOut<'_>,
            ) -> Result<Tag, Error> {
                check_len(io.len() as u64)?;
                let ($cipher, $nonce) = (&self.0, nonce);
                let (key, nonce) = $expand;
                self.0.backend.with(Seal(Message { key: &key.0, nonce: &nonce, aad }, io))
            }

            /// Decrypts from one region to another, or in place, if the tag is right.
            ///
            /// # Errors
            /// [`Error::Unauthentic`], [`Error::TooLong`]; then nothing is written.
            pub fn open_inout(
                &self,
                nonce: &[u8; $NONCE_LEN],
                aad: &[u8],
                io: InOut<'_>,
                tag: &Tag,
            ) -> Result<(), Error> {
                check_len(io.len() as u64)?;
                let ($cipher, $nonce) = (&self.0, nonce);
                let (key, nonce) = $expand;
                self.0.backend.with(Open(Message { key: &key.0, nonce: &nonce, aad }, io, tag))
            }

            /// Writes ciphertext ‖ tag, 16 bytes more than `plaintext`, to the front of `out` and returns that part.
            /// What lies behind it is not touched.
            ///
            /// # Errors
            /// [`Error::OutputTooShort`] if it does not fit, [`Error::TooLong`]; then nothing is written.
            pub fn seal_into<'o>(
                &self,
                nonce: &[u8; $NONCE_LEN],
                aad: &[u8],
                plaintext: &[u8],
                out: &'o mut [u8],
            ) -> Result<&'o mut [u8], Error> {
                let sealed = sealed_part(plaintext.len(), out)?;
                let (data, tag) = sealed.split_last_chunk_mut().ok_or(Error::OutputTooShort)?;
                *tag = self.seal_inout(nonce, aad, InOut::separate(plaintext, data)?)?.into();
                Ok(sealed)
            }

            /// Opens `sealed` = ciphertext ‖ tag, writes the plaintext, 16 bytes less, to the front of `out` and
            /// returns that part. What lies behind it is not touched.
            ///
            /// # Errors
            /// [`Error::TooShort`] if `sealed` has fewer than 16 bytes, [`Error::OutputTooShort`] if the plaintext does not
            /// fit, [`Error::Unauthentic`], [`Error::TooLong`]; then nothing is written.
            pub fn open_into<'o>(
                &self,
                nonce: &[u8; $NONCE_LEN],
                aad: &[u8],
                sealed: &[u8],
                out: &'o mut [u8],
            ) -> Result<&'o mut [u8], Error> {
                let (ciphertext, tag) = sealed.split_last_chunk().ok_or(Error::TooShort)?;
                let plaintext = out.get_mut(..ciphertext.len()).ok_or(Error::OutputTooShort)?;
                self.open_inout(nonce, aad, InOut::separate(ciphertext, plaintext)?, &Tag::from(*tag))?;
                Ok(plaintext)
            }

            /// Opens the range `sealed` = ciphertext ‖ tag of a datagram in place, moves the plaintext to the front
            /// of the datagram and returns it: for messages with a header before the ciphertext.
            /// What else the datagram holds is unspecified afterwards.
            ///
            /// # Errors
            /// [`Error::TooShort`] if the range has fewer than 16 bytes or reaches past the datagram,
            /// [`Error::Unauthentic`], [`Error::TooLong`]; then the datagram is as it was.
            pub fn open_within<'d>(
                &self,
                nonce: &[u8; $NONCE_LEN],
                aad: &[u8],
                datagram: &'d mut [u8],
                sealed: Range<usize>,
            ) -> Result<&'d mut [u8], Error> {
                let start = sealed.start;
                let part = datagram.get_mut(sealed).ok_or(Error::TooShort)?;
                let (data, tag) = part.split_last_chunk_mut().ok_or(Error::TooShort)?;
                let len = data.len();
                self.open_in_place(nonce, aad, data, &Tag::from(*tag))?;
                datagram.copy_within(start..start + len, 0);
                datagram.get_mut(..len).ok_or(Error::TooShort)
            }

            /// Seals the concatenation of `parts`: writes ciphertext ‖ tag to the front of `out` and returns that part.
            ///
            /// # Errors
            /// [`Error::OutputTooShort`] if it does not fit, [`Error::TooLong`]; then nothing is written.
            pub fn seal_gather<'o>(
                &self,
                nonce: &[u8; $NONCE_LEN],
                aad: &[u8],
                parts: &[&[u8]],
                out: &'o mut [u8],
            ) -> Result<&'o mut [u8], Error> {
                let len = parts.iter().try_fold(0usize, |sum, part| sum.checked_add(part.len()));
                let len = len.ok_or(Error::TooLong)?;
                check_len(len as u64)?;
                let sealed = sealed_part(len, out)?;
                let (data, tag) = sealed.split_last_chunk_mut().ok_or(Error::OutputTooShort)?;
                let mut room = &mut *data;
                for part in parts {
                    let len = part.len().min(room.len());
                    let (now, after) = room.split_at_mut(len);
                    now.copy_from_slice(&part[..len]);
                    room = after;
                }
                *tag = self.seal_in_place(nonce, aad, data)?.into();
                Ok(sealed)
            }
        }

        impl zeroize::ZeroizeOnDrop for $Aead {}

        /// Shows the backend, not the key.
        impl fmt::Debug for $Aead {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Aead)).field("backend", &self.0.backend).finish_non_exhaustive()
            }
        }
    };
}

aead! {
    /// ChaCha20-Poly1305 (RFC 8439): a 32-byte key, 12-byte nonces, a 16-byte tag.
    ///
    /// Opening checks the tag before it writes a single byte of plaintext. The key is wiped on drop.
    ChaCha20Poly1305, 12,
    |cipher, nonce| (&cipher.key, *nonce)
}

aead! {
    /// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): as [`ChaCha20Poly1305`] with 24-byte nonces, long enough
    /// to be chosen at random.
    XChaCha20Poly1305, 24,
    |cipher, nonce| extend_nonce(&cipher.key.0, nonce, cipher.backend)
}

impl ChaCha20Poly1305 {
    pub(crate) fn key(&self) -> &[u32; 8] {
        &self.0.key.0
    }
}

/// The front of `out`: room for `len` bytes of ciphertext and the tag.
fn sealed_part(len: usize, out: &mut [u8]) -> Result<&mut [u8], Error> {
    let len = len.checked_add(TAG_LEN).ok_or(Error::TooLong)?;
    out.get_mut(..len).ok_or(Error::OutputTooShort)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::tests::{Counting, noise};
    use std::vec::Vec;

    fn message<'a>(key: &'a [u32; 8], nonce: &'a [u8; 12]) -> Message<'a> {
        Message { key, nonce, aad: b"associated" }
    }

    /// Every block once, in order, and no more passes than 1 + ⌈n/64⌉ blocks need.
    fn assert_frugal<const W: usize>(len: usize) {
        let (mut next, mut passes) = (0, 0);
        let calls = Counting::<W>::take();
        for &(first, blocks) in &calls {
            assert_eq!(first, next, "blocks out of order or twice, {len} bytes, width {W}: {calls:?}");
            next += blocks as u32;
            passes += blocks.div_ceil(W);
        }
        let blocks = 1 + len.div_ceil(64);
        assert_eq!(next as usize, blocks, "{len} bytes, width {W}");
        assert!(passes <= blocks.div_ceil(W), "{passes} passes for {len} bytes, width {W}: {calls:?}");
    }

    fn no_block_twice<const W: usize>() {
        let (key, nonce) = (&[7; 8], &[9; 12]);
        let plaintext = noise(4200, 1);
        let mut expected = Vec::new();
        for len in 0..=4200 {
            let mut data = plaintext[..len].to_vec();
            let tag = Seal(message(key, nonce), data.as_mut_slice().into()).run(Counting::<W>).unwrap();
            assert_frugal::<W>(len);
            // The stream is one: a longer message starts with the ciphertext of a shorter one.
            assert_eq!(data[..expected.len()], expected);
            Open(message(key, nonce), data.as_mut_slice().into(), &tag).run(Counting::<W>).unwrap();
            assert_frugal::<W>(len);
            assert_eq!(data, plaintext[..len]);
            if len % 64 == 1 {
                Seal(message(key, nonce), data.as_mut_slice().into()).run(Counting::<W>).unwrap();
                Counting::<W>::take();
                expected = data;
            }
        }
    }

    #[test]
    fn no_block_is_computed_twice() {
        no_block_twice::<1>();
        no_block_twice::<2>();
        no_block_twice::<4>();
        no_block_twice::<8>();
        no_block_twice::<16>();
    }

    #[test]
    fn forgeries_cost_no_keystream_beyond_the_first_pass() {
        let mut data = noise(4200, 1);
        let open = Open(message(&[7; 8], &[9; 12]), data.as_mut_slice().into(), &Tag::from([0; 16]));
        assert_eq!(open.run(Counting::<4>), Err(Error::Unauthentic));
        assert_eq!(Counting::<4>::take(), [(0, 4)]);
        assert_eq!(data, noise(4200, 1));
    }

    #[test]
    fn the_length_limit_is_exact() {
        assert_eq!(check_len(274_877_906_880), Ok(()));
        assert_eq!(check_len(274_877_906_881), Err(Error::TooLong));
        assert_eq!(check_len(u64::MAX), Err(Error::TooLong));
    }
}
