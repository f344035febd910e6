//! The names and signatures of `ring` 0.17 that tunnels, SSH and QUIC use for ChaCha20-Poly1305, so that a project
//! changes over by a `use` line, or by a package named `ring` (`examples/ring`) without one. Written from
//! ring's documentation. What is not about ChaCha20-Poly1305 is not here.
//!
//! What differs is what failure leaves: ring may overwrite the buffer with anything, here it is as it was.

/// Errors, without details.
pub mod error {
    use core::fmt;

    /// What every call here returns when it refuses: nothing has been written.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Unspecified;

    impl fmt::Display for Unspecified {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("ring::error::Unspecified")
        }
    }

    impl core::error::Error for Unspecified {}

    impl From<crate::Error> for Unspecified {
        fn from(_: crate::Error) -> Self {
            Unspecified
        }
    }

    impl From<core::array::TryFromSliceError> for Unspecified {
        fn from(_: core::array::TryFromSliceError) -> Self {
            Unspecified
        }
    }
}

/// Comparison of secrets.
pub mod constant_time {
    use super::error::Unspecified;
    use subtle::ConstantTimeEq;

    /// Compares two slices in a time that depends on their lengths only.
    ///
    /// # Errors
    /// [`Unspecified`] if they differ, be it in length.
    pub fn verify_slices_are_equal(a: &[u8], b: &[u8]) -> Result<(), Unspecified> {
        if a.ct_eq(b).into() { Ok(()) } else { Err(Unspecified) }
    }
}

/// Authenticated encryption with associated data.
pub mod aead {
    use super::error::Unspecified;
    use crate::ChaCha20Poly1305;
    use core::fmt;
    use core::ops::RangeFrom;

    /// Length of a nonce in bytes.
    pub const NONCE_LEN: usize = ChaCha20Poly1305::NONCE_LEN;

    /// Length of the longest tag in bytes.
    pub const MAX_TAG_LEN: usize = crate::TAG_LEN;

    /// An AEAD algorithm. There is one: [`CHACHA20_POLY1305`].
    #[derive(PartialEq, Eq)]
    pub struct Algorithm(());

    /// ChaCha20-Poly1305 (RFC 8439).
    pub static CHACHA20_POLY1305: Algorithm = Algorithm(());

    impl Algorithm {
        /// Length of a key in bytes.
        #[must_use]
        pub fn key_len(&self) -> usize {
            crate::KEY_LEN
        }

        /// Length of a tag in bytes.
        #[must_use]
        pub fn tag_len(&self) -> usize {
            crate::TAG_LEN
        }

        /// Length of a nonce in bytes.
        #[must_use]
        pub fn nonce_len(&self) -> usize {
            NONCE_LEN
        }
    }

    impl fmt::Debug for Algorithm {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("CHACHA20_POLY1305")
        }
    }

    /// A nonce, used up by sealing or opening one message.
    pub struct Nonce([u8; NONCE_LEN]);

    impl Nonce {
        /// Takes `value` for a nonce that its key has not seen yet.
        ///
        /// # Errors
        /// [`Unspecified`] unless it is [`NONCE_LEN`] bytes long.
        pub fn try_assume_unique_for_key(value: &[u8]) -> Result<Self, Unspecified> {
            Ok(Nonce(value.try_into()?))
        }

        /// Takes `value` for a nonce that its key has not seen yet.
        #[must_use]
        pub fn assume_unique_for_key(value: [u8; NONCE_LEN]) -> Self {
            Nonce(value)
        }
    }

    impl AsRef<[u8; NONCE_LEN]> for Nonce {
        fn as_ref(&self) -> &[u8; NONCE_LEN] {
            &self.0
        }
    }

    impl fmt::Debug for Nonce {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_tuple("Nonce").field(&self.0).finish()
        }
    }

    /// Where a bound key gets its nonces from.
    pub trait NonceSequence {
        /// The next nonce; never one that it gave out before.
        ///
        /// # Errors
        /// [`Unspecified`] once there is none left.
        fn advance(&mut self) -> Result<Nonce, Unspecified>;
    }

    /// Associated data: authenticated, not encrypted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Aad<A>(A);

    impl<A: AsRef<[u8]>> Aad<A> {
        /// Associated data of these bytes.
        #[must_use]
        pub fn from(aad: A) -> Self {
            Aad(aad)
        }
    }

    impl Aad<[u8; 0]> {
        /// No associated data.
        #[must_use]
        pub fn empty() -> Self {
            Aad([])
        }
    }

    impl<A: AsRef<[u8]>> AsRef<[u8]> for Aad<A> {
        fn as_ref(&self) -> &[u8] {
            self.0.as_ref()
        }
    }

    /// A tag, not yet compared with anything. It can't be compared with `==` by its user.
    #[derive(Clone, Copy, Debug)]
    pub struct Tag(crate::Tag);

    impl AsRef<[u8]> for Tag {
        fn as_ref(&self) -> &[u8] {
            self.0.as_ref()
        }
    }

    impl From<[u8; MAX_TAG_LEN]> for Tag {
        fn from(tag: [u8; MAX_TAG_LEN]) -> Self {
            Tag(tag.into())
        }
    }

    impl TryFrom<&[u8]> for Tag {
        type Error = Unspecified;
        fn try_from(tag: &[u8]) -> Result<Self, Unspecified> {
            Ok(<[u8; MAX_TAG_LEN]>::try_from(tag)?.into())
        }
    }

    /// A key that is not yet for sealing or for opening. Wiped on drop, as are the keys made of it.
    pub struct UnboundKey(ChaCha20Poly1305);

    impl UnboundKey {
        /// Makes a key.
        ///
        /// # Errors
        /// [`Unspecified`] unless `key_bytes` are as many as the algorithm's [`key_len`](Algorithm::key_len).
        pub fn new(_: &'static Algorithm, key_bytes: &[u8]) -> Result<Self, Unspecified> {
            Ok(UnboundKey(ChaCha20Poly1305::new(key_bytes.try_into()?)))
        }

        /// The key's algorithm.
        #[must_use]
        pub fn algorithm(&self) -> &'static Algorithm {
            &CHACHA20_POLY1305
        }
    }

    /// A key whose nonces its user chooses.
    #[derive(Clone)]
    pub struct LessSafeKey(ChaCha20Poly1305);

    impl LessSafeKey {
        /// Makes a key of an unbound one.
        #[must_use]
        pub fn new(key: UnboundKey) -> Self {
            LessSafeKey(key.0)
        }

        /// The key's algorithm.
        #[must_use]
        pub fn algorithm(&self) -> &'static Algorithm {
            &CHACHA20_POLY1305
        }

        /// Encrypts `in_out` in place and returns the tag.
        ///
        /// # Errors
        /// [`Unspecified`] if it is longer than [`MAX_PLAINTEXT_LEN`](crate::MAX_PLAINTEXT_LEN); then it is as it was.
        pub fn seal_in_place_separate_tag<A: AsRef<[u8]>>(
            &self,
            nonce: Nonce,
            aad: Aad<A>,
            in_out: &mut [u8],
        ) -> Result<Tag, Unspecified> {
            Ok(Tag(self.0.seal_in_place(&nonce.0, aad.as_ref(), in_out)?))
        }

        /// Encrypts `in_out` in place and appends the tag.
        ///
        /// # Errors
        /// As [`seal_in_place_separate_tag`](Self::seal_in_place_separate_tag).
        pub fn seal_in_place_append_tag<A, InOut>(
            &self,
            nonce: Nonce,
            aad: Aad<A>,
            in_out: &mut InOut,
        ) -> Result<(), Unspecified>
        where
            A: AsRef<[u8]>,
            InOut: AsMut<[u8]> + for<'in_out> Extend<&'in_out u8>,
        {
            let tag = self.seal_in_place_separate_tag(nonce, aad, in_out.as_mut())?;
            in_out.extend(tag.as_ref());
            Ok(())
        }

        /// Opens ciphertext ‖ tag in place and returns the plaintext.
        ///
        /// # Errors
        /// [`Unspecified`] if the tag is wrong or missing; then `in_out` is as it was.
        pub fn open_in_place<'in_out, A: AsRef<[u8]>>(
            &self,
            nonce: Nonce,
            aad: Aad<A>,
            in_out: &'in_out mut [u8],
        ) -> Result<&'in_out mut [u8], Unspecified> {
            self.open_within(nonce, aad, in_out, 0..)
        }

        /// Opens the ciphertext ‖ tag at the end of `in_out` in place and moves the plaintext to the front.
        ///
        /// # Errors
        /// [`Unspecified`] if the tag is wrong or missing, or the range begins past the end; then `in_out` is as it was.
        pub fn open_within<'in_out, A: AsRef<[u8]>>(
            &self,
            nonce: Nonce,
            aad: Aad<A>,
            in_out: &'in_out mut [u8],
            ciphertext_and_tag: RangeFrom<usize>,
        ) -> Result<&'in_out mut [u8], Unspecified> {
            let sealed = ciphertext_and_tag.start..in_out.len();
            Ok(self.0.open_within(&nonce.0, aad.as_ref(), in_out, sealed)?)
        }

        /// Opens the ciphertext at the end of `in_out`, whose tag is elsewhere, in place and moves the plaintext to the
        /// front.
        ///
        /// # Errors
        /// [`Unspecified`] if the tag is wrong, or the range begins past the end; then `in_out` is as it was.
        pub fn open_in_place_separate_tag<'in_out, A: AsRef<[u8]>>(
            &self,
            nonce: Nonce,
            aad: Aad<A>,
            tag: Tag,
            in_out: &'in_out mut [u8],
            ciphertext: RangeFrom<usize>,
        ) -> Result<&'in_out mut [u8], Unspecified> {
            let data = in_out.get_mut(ciphertext.clone()).ok_or(Unspecified)?;
            let len = data.len();
            self.0.open_in_place(&nonce.0, aad.as_ref(), data, &tag.0)?;
            in_out.copy_within(ciphertext, 0);
            in_out.get_mut(..len).ok_or(Unspecified)
        }
    }

    /// A key bound to a sequence of nonces.
    pub trait BoundKey<N: NonceSequence>: fmt::Debug {
        /// Binds a key to its nonces.
        fn new(key: UnboundKey, nonce_sequence: N) -> Self;

        /// The key's algorithm.
        fn algorithm(&self) -> &'static Algorithm;
    }

    /// A key for sealing that takes its nonces from a sequence.
    pub struct SealingKey<N: NonceSequence> {
        key: LessSafeKey,
        nonce_sequence: N,
    }

    /// A key for opening that takes its nonces from a sequence. A message that does not open uses up its nonce.
    pub struct OpeningKey<N: NonceSequence> {
        key: LessSafeKey,
        nonce_sequence: N,
    }

    impl<N: NonceSequence> BoundKey<N> for SealingKey<N> {
        fn new(key: UnboundKey, nonce_sequence: N) -> Self {
            SealingKey { key: LessSafeKey::new(key), nonce_sequence }
        }

        fn algorithm(&self) -> &'static Algorithm {
            &CHACHA20_POLY1305
        }
    }

    impl<N: NonceSequence> BoundKey<N> for OpeningKey<N> {
        fn new(key: UnboundKey, nonce_sequence: N) -> Self {
            OpeningKey { key: LessSafeKey::new(key), nonce_sequence }
        }

        fn algorithm(&self) -> &'static Algorithm {
            &CHACHA20_POLY1305
        }
    }

    impl<N: NonceSequence> SealingKey<N> {
        /// [`LessSafeKey::seal_in_place_separate_tag`] with the next nonce.
        ///
        /// # Errors
        /// As there, and if there is no nonce left.
        pub fn seal_in_place_separate_tag<A: AsRef<[u8]>>(
            &mut self,
            aad: Aad<A>,
            in_out: &mut [u8],
        ) -> Result<Tag, Unspecified> {
            self.key.seal_in_place_separate_tag(self.nonce_sequence.advance()?, aad, in_out)
        }

        /// [`LessSafeKey::seal_in_place_append_tag`] with the next nonce.
        ///
        /// # Errors
        /// As there, and if there is no nonce left.
        pub fn seal_in_place_append_tag<A, InOut>(&mut self, aad: Aad<A>, in_out: &mut InOut) -> Result<(), Unspecified>
        where
            A: AsRef<[u8]>,
            InOut: AsMut<[u8]> + for<'in_out> Extend<&'in_out u8>,
        {
            self.key.seal_in_place_append_tag(self.nonce_sequence.advance()?, aad, in_out)
        }
    }

    impl<N: NonceSequence> OpeningKey<N> {
        /// [`LessSafeKey::open_in_place`] with the next nonce.
        ///
        /// # Errors
        /// As there, and if there is no nonce left.
        pub fn open_in_place<'in_out, A: AsRef<[u8]>>(
            &mut self,
            aad: Aad<A>,
            in_out: &'in_out mut [u8],
        ) -> Result<&'in_out mut [u8], Unspecified> {
            self.key.open_in_place(self.nonce_sequence.advance()?, aad, in_out)
        }

        /// [`LessSafeKey::open_within`] with the next nonce.
        ///
        /// # Errors
        /// As there, and if there is no nonce left.
        pub fn open_within<'in_out, A: AsRef<[u8]>>(
            &mut self,
            aad: Aad<A>,
            in_out: &'in_out mut [u8],
            ciphertext_and_tag: RangeFrom<usize>,
        ) -> Result<&'in_out mut [u8], Unspecified> {
            self.key.open_within(self.nonce_sequence.advance()?, aad, in_out, ciphertext_and_tag)
        }
    }

    macro_rules! debug_shows_the_algorithm {
        ($($Key:ident $(<$N:ident>)?),*) => {$(
            impl$(<$N: NonceSequence>)? fmt::Debug for $Key$(<$N>)? {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.debug_struct(stringify!($Key)).field("algorithm", self.algorithm()).finish()
                }
            }
        )*};
    }
    debug_shows_the_algorithm!(UnboundKey, LessSafeKey, SealingKey<N>, OpeningKey<N>);

    /// Packets of the SSH cipher `chacha20-poly1305@openssh.com`: [`openssh`](crate::openssh) under ring's names.
    pub mod chacha20_poly1305_openssh {
        use super::super::error::Unspecified;
        use crate::openssh::PacketKey;

        /// Length in bytes of a direction's key material.
        pub const KEY_LEN: usize = crate::openssh::KEY_LEN;

        /// Length in bytes of the `packet_length` field.
        pub const PACKET_LENGTH_LEN: usize = crate::openssh::LENGTH_LEN;

        /// Length in bytes of a tag.
        pub const TAG_LEN: usize = crate::TAG_LEN;

        /// A key for sealing packets.
        #[derive(Debug)]
        pub struct SealingKey(PacketKey);

        impl SealingKey {
            /// Makes the keys from the key material, K_2 ‖ K_1.
            #[must_use]
            pub fn new(key_material: &[u8; KEY_LEN]) -> Self {
                SealingKey(PacketKey::new(key_material))
            }

            /// Encrypts a packet, from its `packet_length` on, in place and writes its tag.
            ///
            /// # Panics
            /// If there is no room for `packet_length`, or the packet is longer than ChaCha20-Poly1305 allows: ring's
            /// signature has no way to refuse, and returning would send plaintext.
            /// [`PacketKey::seal`] returns an error.
            pub fn seal_in_place(
                &self,
                sequence_number: u32,
                plaintext_in_ciphertext_out: &mut [u8],
                tag_out: &mut [u8; TAG_LEN],
            ) {
                match self.0.seal(sequence_number, plaintext_in_ciphertext_out) {
                    Ok(tag) => *tag_out = tag.into(),
                    Err(error) => panic!("{error}"),
                }
            }
        }

        /// A key for opening packets.
        #[derive(Debug)]
        pub struct OpeningKey(PacketKey);

        impl OpeningKey {
            /// Makes the keys from the key material, K_2 ‖ K_1.
            #[must_use]
            pub fn new(key_material: &[u8; KEY_LEN]) -> Self {
                OpeningKey(PacketKey::new(key_material))
            }

            /// The decrypted `packet_length`, **not** authenticated: see [`PacketKey::packet_length`].
            #[must_use]
            pub fn decrypt_packet_length(
                &self,
                sequence_number: u32,
                encrypted_packet_length: [u8; PACKET_LENGTH_LEN],
            ) -> [u8; PACKET_LENGTH_LEN] {
                self.0.packet_length(sequence_number, encrypted_packet_length).to_be_bytes()
            }

            /// Checks the tag of a packet, from its `packet_length` on, decrypts it in place and returns what follows
            /// `packet_length`.
            ///
            /// # Errors
            /// [`Unspecified`] if the tag is wrong or the packet too short; then it is as it was.
            pub fn open_in_place<'a>(
                &self,
                sequence_number: u32,
                ciphertext_in_plaintext_out: &'a mut [u8],
                tag: &[u8; TAG_LEN],
            ) -> Result<&'a [u8], Unspecified> {
                Ok(self.0.open(sequence_number, ciphertext_in_plaintext_out, &(*tag).into())?)
            }
        }
    }

    /// QUIC header protection with ChaCha20 (RFC 9001, section 5.4.4).
    pub mod quic {
        use super::super::error::Unspecified;
        use crate::Backend;
        use crate::backend::words;
        use crate::chacha20::{Key, Mask};
        use core::fmt;

        /// A sample of a packet's ciphertext.
        pub type Sample = [u8; 16];

        /// A header protection algorithm. There is one: [`CHACHA20`].
        #[derive(PartialEq, Eq)]
        pub struct Algorithm(());

        /// ChaCha20.
        pub static CHACHA20: Algorithm = Algorithm(());

        impl Algorithm {
            /// Length of a key in bytes.
            #[must_use]
            pub fn key_len(&self) -> usize {
                crate::KEY_LEN
            }

            /// Length of a sample in bytes.
            #[must_use]
            pub fn sample_len(&self) -> usize {
                size_of::<Sample>()
            }
        }

        impl fmt::Debug for Algorithm {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("CHACHA20")
            }
        }

        /// A key that makes masks for headers. Wiped on drop.
        pub struct HeaderProtectionKey {
            key: Key,
            backend: Backend,
        }

        impl HeaderProtectionKey {
            /// Makes a key.
            ///
            /// # Errors
            /// [`Unspecified`] unless `key_bytes` are as many as the algorithm's [`key_len`](Algorithm::key_len).
            pub fn new(_: &'static Algorithm, key_bytes: &[u8]) -> Result<Self, Unspecified> {
                let key: &[u8; crate::KEY_LEN] = key_bytes.try_into()?;
                Ok(HeaderProtectionKey { key: Key(words(key)), backend: Backend::detect() })
            }

            /// The mask for the header of the packet that `sample` is from.
            ///
            /// # Errors
            /// [`Unspecified`] unless `sample` is 16 bytes long.
            pub fn new_mask(&self, sample: &[u8]) -> Result<[u8; 5], Unspecified> {
                let (counter, nonce) = sample.split_first_chunk().ok_or(Unspecified)?;
                Ok(self.backend.with(Mask(&self.key.0, u32::from_le_bytes(*counter), nonce.try_into()?)))
            }

            /// The key's algorithm.
            #[must_use]
            pub fn algorithm(&self) -> &'static Algorithm {
                &CHACHA20
            }
        }

        impl fmt::Debug for HeaderProtectionKey {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("HeaderProtectionKey").field("algorithm", self.algorithm()).finish()
            }
        }
    }
}
