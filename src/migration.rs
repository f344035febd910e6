//! Coming from another crate: which call becomes which, and what differs. One page for each.
//!
//! The difference that matters most is what a failed opening leaves in the caller's buffer:
//!
//! | Crate | In place, tag wrong |
//! |---|---|
//! | this one, under any of its names | as it was, bit for bit; the tag is checked before a byte is written |
//! | `ring` 0.17 | "may have been overwritten in an unspecified way"; observed with 0.17.14: the ciphertext is zeroes |
//! | `aws-lc-rs` 1 | "may have been overwritten in an unspecified way" |
//! | `chacha20poly1305` 0.10, 0.11 | not documented; observed with 0.10.1 and 0.11.0: as it was |
//!
//! So code that copied a packet before opening it, to try a second key, needn't any more. Code that took
//! a failed buffer for wiped must wipe it itself: it still holds the ciphertext.
//!
//! Everything here returns [`Error`](crate::Error), which says why; a caller that must not tell its peer can
//! treat every variant alike.

/// From `ring` 0.17.
///
/// # In one line
/// With the feature `ring_compat`, change the `use`:
///
/// ```
/// # #[cfg(feature = "ring_compat")]
/// # fn main() -> Result<(), wireseal::ring_compat::error::Unspecified> {
/// // use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
/// use wireseal::ring_compat::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
///
/// let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &[7; 32])?);
/// let mut packet = b"hello".to_vec();
/// key.seal_in_place_append_tag(Nonce::assume_unique_for_key([0; 12]), Aad::empty(), &mut packet)?;
/// let opened = key.open_in_place(Nonce::assume_unique_for_key([0; 12]), Aad::empty(), &mut packet)?;
/// assert_eq!(opened, b"hello");
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "ring_compat"))]
/// # fn main() {}
/// ```
///
/// A dependency that uses ring for nothing else changes over without an edit, through `[patch.crates-io]` and the package
/// `examples/ring` of this repository.
///
/// # Call by call
/// | ring | here |
/// |---|---|
/// | `UnboundKey::new(&CHACHA20_POLY1305, &key)?`, `LessSafeKey::new` | `ChaCha20Poly1305::new(&key)`, which can't fail: the length is in the type |
/// | `Nonce::assume_unique_for_key(nonce)` | `&nonce`, a `&[u8; 12]` |
/// | `Aad::from(aad)`, `Aad::empty()` | `aad`, `b""` |
/// | `seal_in_place_separate_tag` | `seal_in_place` |
/// | `seal_in_place_append_tag(.., &mut vec)` | `seal_in_place`, then append the tag; or `seal_into`, which needs no second buffer |
/// | `open_in_place(.., in_out)` | `open_within(.., in_out, 0..len)`; or `open_in_place` with the tag split off |
/// | `open_within(.., in_out, n..)` | `open_within(.., in_out, n..len)` |
/// | `open_in_place_separate_tag(.., tag, in_out, 0..)` | `open_in_place(.., in_out, &tag)` |
/// | `SealingKey`, `OpeningKey`, `NonceSequence` | `wireguard::Sender` and `Receiver` for WireGuard; else your counter |
/// | `chacha20_poly1305_openssh::{SealingKey, OpeningKey}` | [`openssh::PacketKey`](crate::openssh::PacketKey) |
/// | `quic::HeaderProtectionKey` with `CHACHA20` | the same in `ring_compat` |
/// | `constant_time::verify_slices_are_equal` | the same in `ring_compat`; tags compare with `==` in constant time |
/// | – | `seal_batch`, `open_batch`, `seal_gather`, from one buffer to another |
///
/// # What differs
/// - A failed opening leaves the buffer as it was: ring's documentation allows anything.
/// - ring keeps `CHACHA20_POLY1305` beside AES-GCM, digests, signatures and random numbers. Those are not here; a project
///   that uses them keeps ring and changes the `use` lines of its AEAD only.
/// - `seal_in_place` of an SSH packet without room for its length panics in ring and, under ring's names, here.
///   [`PacketKey::seal`](crate::openssh::PacketKey::seal) returns an error.
/// - ring builds with a C compiler. This crate needs one only where it assembles a backend (see the README).
pub mod from_ring {}

/// From `aws-lc-rs` 1.
///
/// Its `aead` has ring's names, so [the page on ring](from_ring) applies, `ring_compat` included, with these
/// exceptions.
///
/// | aws-lc-rs | here |
/// |---|---|
/// | `LessSafeKey::open_in_place_separate_tag(nonce, aad, tag, in_out)` with `tag: &[u8]` | ring's signature: `tag: Tag`, and the range of the ciphertext as the last argument |
/// | `open_separate_gather(.., ciphertext, tag, plaintext_out)` | `open_inout(.., InOut::separate(ciphertext, plaintext_out)?, &tag)` |
/// | `seal_out_of_place_scatter(.., plaintext, out, &[], tag_out)` | `seal_inout(.., InOut::separate(plaintext, out)?)`, which returns the tag |
/// | `seal_in_place_scatter(.., in_out, extra_in, extra_out_and_tag)` | `seal_gather(.., &[data, extra], out)` where the result may be one piece |
/// | `RandomizedNonceKey` | it has no ChaCha20-Poly1305; [`XChaCha20Poly1305`](crate::XChaCha20Poly1305) takes random nonces of 24 bytes |
/// | `prepare_nonce` | the nonce is an argument: look at it before the call |
/// | `seal_in_place` (deprecated) | `seal_in_place_append_tag` |
///
/// ```
/// use wireseal::{ChaCha20Poly1305, Error, InOut};
///
/// let key = ChaCha20Poly1305::new(&[7; 32]);
/// let (mut sealed, mut opened) = ([0; 5], [0; 5]);
/// let tag = key.seal_inout(&[0; 12], b"header", InOut::separate(b"hello", &mut sealed)?)?;
/// key.open_inout(&[0; 12], b"header", InOut::separate(&sealed, &mut opened)?, &tag)?;
/// assert_eq!(&opened, b"hello");
/// # Ok::<(), Error>(())
/// ```
///
/// # What differs
/// - A failed opening leaves the buffer, in place or separate, as it was: aws-lc-rs's documentation allows anything.
/// - aws-lc-rs builds a C library. This crate needs no C compiler except where it assembles a backend (see the README).
/// - It is validated under FIPS 140 in some builds. This crate is not, and ChaCha20-Poly1305 is not a FIPS algorithm.
pub mod from_aws_lc_rs {}

/// From `chacha20poly1305` 0.10.
///
/// With the feature `aead05` both AEADs implement the same traits, those of `aead` 0.5, so generic code does not change:
///
/// ```
/// # #[cfg(all(feature = "aead05", feature = "alloc"))] {
/// // use chacha20poly1305::{ChaCha20Poly1305, aead::{Aead, KeyInit, Payload}};
/// use wireseal::{ChaCha20Poly1305, traits::aead05::{Aead, KeyInit, Payload}};
///
/// let key = ChaCha20Poly1305::new_from_slice(&[7; 32]).unwrap();
/// let sealed = key.encrypt(&[0; 12].into(), Payload { msg: b"hello", aad: b"header" }).unwrap();
/// assert_eq!(key.decrypt(&[0; 12].into(), Payload { msg: &sealed, aad: b"header" }).unwrap(), b"hello");
/// # }
/// ```
///
/// | chacha20poly1305 0.10 | here |
/// |---|---|
/// | `ChaCha20Poly1305::new(&key)`, a `GenericArray` | `ChaCha20Poly1305::new(&bytes)`, a `[u8; 32]`: the type's own `new` comes before the trait's. For a `GenericArray`: `KeyInit::new(&key)` or `new(&key.into())` |
/// | `Key`, `Nonce`, `XNonce`, `Tag` | `traits::aead05::{Key, Nonce, Tag}` with the AEAD as parameter; without the traits plain arrays and [`Tag`](crate::Tag) |
/// | `encrypt_in_place_detached(&nonce, aad, &mut data)` | the same; without the traits `seal_in_place` |
/// | `decrypt_in_place_detached(&nonce, aad, &mut data, &tag)` | the same; without the traits `open_in_place` |
/// | `encrypt`, `decrypt` into a `Vec` | the same with feature `alloc`; without it `seal_into`, `open_into` |
/// | features `alloc`, `getrandom`, `rand_core` | the same, off by default; also `bytes`, `arrayvec` |
/// | features `stream`, `heapless` | enable them on `aead` 0.5 itself |
/// | `ChaCha8Poly1305`, `ChaCha12Poly1305` (`reduced-round`) | not here |
///
/// # What differs
/// - A failed opening leaves the buffer as it was. 0.10.1 was seen to do so too, but does not promise it.
/// - `--cfg` switches such as `chacha20_force_soft` do nothing here; `--cfg wireseal_backend="portable"` does.
pub mod from_chacha20poly1305_0_10 {}

/// From `chacha20poly1305` 0.11.
///
/// With the feature `aead`, on by default, both AEADs implement the same traits, those of `aead` 0.6:
///
/// ```
/// # #[cfg(feature = "aead")] {
/// // use chacha20poly1305::{ChaCha20Poly1305, aead::{AeadInOut, KeyInit}};
/// use wireseal::{ChaCha20Poly1305, traits::aead06::{AeadInOut, KeyInit}};
///
/// let key = ChaCha20Poly1305::new_from_slice(&[7; 32]).unwrap();
/// let mut data = *b"hello";
/// let tag = key.encrypt_inout_detached(&[0; 12].into(), b"header", data.as_mut_slice().into()).unwrap();
/// key.decrypt_inout_detached(&[0; 12].into(), b"header", data.as_mut_slice().into(), &tag).unwrap();
/// assert_eq!(&data, b"hello");
/// # }
/// ```
///
/// | chacha20poly1305 0.11 | here |
/// |---|---|
/// | `ChaCha20Poly1305::new(&key)`, an `Array` | `ChaCha20Poly1305::new(&bytes)`, a `[u8; 32]`: the type's own `new` comes before the trait's. For an `Array`: `KeyInit::new(&key)` or `new(&key.into())` |
/// | `Key`, `Nonce`, `XNonce`, `Tag` | `traits::aead06::{Key, Nonce, Tag}` with the AEAD as parameter; without the traits plain arrays and [`Tag`](crate::Tag) |
/// | `Key::generate()` | `Key::<ChaCha20Poly1305>::generate()`, with feature `getrandom` |
/// | `encrypt_inout_detached(&nonce, aad, buffer)` | the same; without the traits `seal_inout`, which an `InOutBuf` converts for |
/// | `decrypt_inout_detached(&nonce, aad, buffer, &tag)` | the same; without the traits `open_inout` |
/// | `encrypt`, `decrypt` into a `Vec` | the same with feature `alloc`; without it `seal_into`, `open_into` |
/// | features `alloc`, `arrayvec`, `bytes`, `getrandom`, `rand_core` | the same, off by default |
/// | feature `zeroize` | always on |
/// | `ChaCha8Poly1305`, `ChaCha12Poly1305` (`reduced-round`) | not here |
/// | the streams `chacha20::{ChaCha20, XChaCha20}` | [`ChaCha20`](crate::ChaCha20), [`XChaCha20`](crate::XChaCha20), with feature `cipher` under the same traits |
///
/// # What differs
/// - A failed opening leaves the buffer, in place or separate, as it was. 0.11.0 was seen to do so too, but does not
///   promise it.
/// - The stream gives out all 2³² blocks; traits of `cipher` allow an implementation to withhold the last.
pub mod from_chacha20poly1305_0_11 {}
