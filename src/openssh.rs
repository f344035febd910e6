//! Packets of the SSH cipher `chacha20-poly1305@openssh.com` (OpenSSH's PROTOCOL.chacha20poly1305): the length of
//! a packet is encrypted under a key of its own, because its receiver needs it before it has the packet to
//! authenticate. The document's original ChaCha20 has a 64-bit counter and a 64-bit nonce; no packet reaches
//! the counter's upper half, so to RFC 8439's layout that half is the first four bytes of the nonce.

use crate::aead::check_len;
use crate::backend::{Backend, Kernel, Op, words};
use crate::chacha20::{Key, Keystream, Mask};
use crate::wipe::wipe;
use crate::{Error, Tag};
use core::fmt;

/// Length in bytes of the key material of one direction.
pub const KEY_LEN: usize = 64;

/// Length in bytes of the `packet_length` field (RFC 4253, section 6).
pub const LENGTH_LEN: usize = 4;

/// The two keys of one direction of a connection.
///
/// A packet is `packet_length ‖ padding_length ‖ payload ‖ random padding` (RFC 4253, section 6); its tag follows it.
///
/// ```
/// use wireseal::openssh::PacketKey;
///
/// let key = PacketKey::new(&[7; 64]);
/// let mut packet = *b"\x00\x00\x00\x08\x06\x15random";
/// let tag = key.seal(3, &mut packet)?;
///
/// let length = key.packet_length(3, [packet[0], packet[1], packet[2], packet[3]]);
/// assert_eq!(length, 8); // not to be trusted yet: check it against a maximum, then read that many bytes and the tag
/// assert_eq!(key.open(3, &mut packet, &tag)?, b"\x06\x15random");
/// # Ok::<(), wireseal::Error>(())
/// ```
///
/// # Security
/// The sequence number is the nonce: never seal two packets under one, so exchange keys before the 2³² numbers
/// are used up, and take another key for the other direction.
#[derive(Clone)]
pub struct PacketKey {
    /// K_2, for `padding_length ‖ payload ‖ padding` and the tag.
    main: Key,
    /// K_1, for `packet_length`.
    header: Key,
    backend: Backend,
}

impl PacketKey {
    /// Makes the keys from a direction's key material as SSH derives it (RFC 4253, section 7.2): K_2 ‖ K_1.
    #[must_use]
    pub fn new(key: &[u8; KEY_LEN]) -> Self {
        Self::with_backend(key, Backend::detect())
    }

    /// The same on a backend of choice, for tests and benchmarks.
    #[must_use]
    pub fn with_backend(key: &[u8; KEY_LEN], backend: Backend) -> Self {
        let mut words: [u32; 16] = words(key);
        let [main, header] = [0, 8].map(|at| Key(core::array::from_fn(|i| words[at + i])));
        wipe(&mut words);
        PacketKey { main, header, backend }
    }

    /// Encrypts `packet`, from its `packet_length` on, in place and returns the tag to send behind it.
    ///
    /// # Errors
    /// [`Error::TooShort`] if there is no room for `packet_length`, [`Error::TooLong`]; then nothing is written.
    pub fn seal(&self, sequence_number: u32, packet: &mut [u8]) -> Result<Tag, Error> {
        let (length, data) = packet.split_first_chunk_mut().ok_or(Error::TooShort)?;
        check_len(data.len() as u64)?;
        *length = self.mask_length(sequence_number, *length);
        self.backend.with(Seal { key: &self.main, nonce: &nonce(sequence_number), packet })
    }

    /// Decrypts the first four bytes of a packet to its `packet_length`: how many more bytes there are before the
    /// 16 of the tag.
    ///
    /// # Security
    /// It is **not** authenticated: whoever can change the packet can choose it. Refuse what is longer than the protocol
    /// allows, and show nothing of it but how many bytes you go on to read.
    #[must_use]
    pub fn packet_length(&self, sequence_number: u32, encrypted: [u8; LENGTH_LEN]) -> u32 {
        u32::from_be_bytes(self.mask_length(sequence_number, encrypted))
    }

    /// Checks the tag of `packet`, from its `packet_length` on, decrypts it in place and returns what follows
    /// `packet_length`.
    ///
    /// # Errors
    /// [`Error::Unauthentic`] if the tag is wrong, [`Error::TooShort`] if there is no `packet_length`,
    /// [`Error::TooLong`]; then `packet` is as it was.
    pub fn open<'p>(&self, sequence_number: u32, packet: &'p mut [u8], tag: &Tag) -> Result<&'p mut [u8], Error> {
        check_len(packet.len().checked_sub(LENGTH_LEN).ok_or(Error::TooShort)? as u64)?;
        self.backend.with(Open { key: &self.main, nonce: &nonce(sequence_number), packet: &mut *packet, tag })?;
        let (length, data) = packet.split_first_chunk_mut().ok_or(Error::TooShort)?;
        *length = self.mask_length(sequence_number, *length);
        Ok(data)
    }

    /// Encrypts or decrypts a `packet_length`.
    fn mask_length(&self, sequence_number: u32, length: [u8; LENGTH_LEN]) -> [u8; LENGTH_LEN] {
        let mask: [u8; LENGTH_LEN] = self.backend.with(Mask(&self.header.0, 0, &nonce(sequence_number)));
        core::array::from_fn(|i| length[i] ^ mask[i])
    }
}

impl zeroize::ZeroizeOnDrop for PacketKey {}

/// Shows the backend, not the keys.
impl fmt::Debug for PacketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketKey").field("backend", &self.backend).finish_non_exhaustive()
    }
}

fn nonce(sequence_number: u32) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&u64::from(sequence_number).to_be_bytes());
    nonce
}

struct Seal<'a> {
    key: &'a Key,
    nonce: &'a [u8; 12],
    packet: &'a mut [u8],
}

impl Op for Seal<'_> {
    type Out = Result<Tag, Error>;

    fn run<K: Kernel>(self, kernel: K) -> Self::Out {
        let (mut keystream, mut one_time_key) = start(kernel, self.key, self.nonce, self.packet.len());
        let data = self.packet.get_mut(LENGTH_LEN..).unwrap_or_default();
        let tag = keystream.xor(kernel, data.into()).map(|()| mac(kernel, &one_time_key, self.packet));
        wipe(&mut one_time_key);
        tag
    }
}

struct Open<'a> {
    key: &'a Key,
    nonce: &'a [u8; 12],
    packet: &'a mut [u8],
    tag: &'a Tag,
}

impl Op for Open<'_> {
    type Out = Result<(), Error>;

    fn run<K: Kernel>(self, kernel: K) -> Self::Out {
        let (mut keystream, mut one_time_key) = start(kernel, self.key, self.nonce, self.packet.len());
        let tag = mac(kernel, &one_time_key, self.packet);
        wipe(&mut one_time_key);
        if tag != *self.tag {
            return Err(Error::Unauthentic);
        }
        keystream.xor(kernel, self.packet.get_mut(LENGTH_LEN..).unwrap_or_default().into())
    }
}

/// The keystream from block 1 on, and the Poly1305 key from block 0.
#[inline(always)]
fn start<K: Kernel>(kernel: K, key: &Key, nonce: &[u8; 12], len: usize) -> (Keystream, [u8; 32]) {
    let mut keystream = Keystream::for_message(&key.0, nonce, len.saturating_sub(LENGTH_LEN));
    let one_time_key = keystream.one_time_key(kernel);
    (keystream, one_time_key)
}

/// Poly1305 over the packet as it is sent: without RFC 8439's padding and lengths.
fn mac<K: Kernel>(kernel: K, key: &[u8; 32], packet: &[u8]) -> Tag {
    let (blocks, tail) = packet.as_chunks();
    let mut poly = kernel.poly1305_new(key, packet.len().div_ceil(16));
    if !blocks.is_empty() {
        kernel.poly1305_update(&mut poly, blocks);
    }
    let partial = (!tail.is_empty()).then(|| {
        let mut block = [0; 16];
        for (byte, from) in block.iter_mut().zip(tail.iter().chain(&[1])) {
            *byte = *from;
        }
        block
    });
    kernel.poly1305_finish(&mut poly, partial.as_ref()).into()
}
