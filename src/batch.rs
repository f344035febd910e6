//! Many packets at once. A short packet fills only a few lanes of a vector; here the blocks of several
//! packets, each with its own nonce and if need be its own key, share one pass.

use crate::aead::{ChaCha20Poly1305, Message, Open, Seal, check_len};
use crate::backend::{Backend, Kernel, Lane, Op, scrubbed, words};
use crate::overlap::InOut;
use crate::poly1305::AeadMac;
use crate::wipe::{wipe, wipe_slice};
use crate::{Error, Tag};
use core::fmt;

/// One packet of a batch: nonce, associated data, data in place, and the 16 bytes of its tag, which are
/// written by sealing and read by opening.
pub struct Packet<'a> {
    nonce: [u8; 12],
    aad: &'a [u8],
    data: &'a mut [u8],
    tag: &'a mut [u8; 16],
    verdict: Result<(), Error>,
}

impl<'a> Packet<'a> {
    /// A packet whose tag is kept apart from its data.
    #[must_use]
    pub fn detached(nonce: &[u8; 12], aad: &'a [u8], data: &'a mut [u8], tag: &'a mut [u8; 16]) -> Self {
        Packet { nonce: *nonce, aad, data, tag, verdict: Err(Error::Unauthentic) }
    }

    /// A packet whose tag is the last 16 bytes of `sealed`, behind the data.
    ///
    /// # Errors
    /// [`Error::TooShort`] if there are fewer than 16 bytes.
    pub fn attached(nonce: &[u8; 12], aad: &'a [u8], sealed: &'a mut [u8]) -> Result<Self, Error> {
        let (data, tag) = sealed.split_last_chunk_mut().ok_or(Error::TooShort)?;
        Ok(Self::detached(nonce, aad, data, tag))
    }

    /// After opening: the plaintext, if this packet's tag was right. After sealing: the ciphertext.
    ///
    /// # Errors
    /// [`Error::Unauthentic`] if the tag was wrong, or no batch has seen the packet; its bytes are as they were.
    pub fn data(&mut self) -> Result<&mut [u8], Error> {
        self.verdict.map(|()| &mut *self.data)
    }

    /// As [`data`](Self::data), for as long as the bytes live.
    pub(crate) fn into_data(self) -> Result<&'a mut [u8], Error> {
        self.verdict.map(|()| self.data)
    }

    /// Whether the packet was sealed, or was authentic and is now open.
    ///
    /// # Errors
    /// As [`data`](Self::data).
    pub fn verdict(&self) -> Result<(), Error> {
        self.verdict
    }

    /// Blocks of keystream it needs, the one for the Poly1305 key included.
    fn blocks(&self) -> usize {
        1 + self.data.len().div_ceil(64)
    }
}

/// Shows lengths and the verdict, not the data.
impl fmt::Debug for Packet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("aad_len", &self.aad.len())
            .field("len", &self.data.len())
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}

impl ChaCha20Poly1305 {
    /// Seals every packet: the same as one by one, faster.
    ///
    /// # Errors
    /// [`Error::TooLong`] if any packet is longer than [`MAX_PLAINTEXT_LEN`](crate::MAX_PLAINTEXT_LEN); then
    /// nothing has been written to any.
    pub fn seal_batch(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        check_lens(packets.iter())?;
        self.seal_packets(packets.iter_mut())
    }

    /// Opens every packet that is authentic, the same as one by one, faster. The verdict on each is in the packet
    /// ([`Packet::data`]); a forged one does not stop the others and its bytes are as they were.
    ///
    /// # Errors
    /// [`Error::TooLong`] if any packet is longer than [`MAX_PLAINTEXT_LEN`](crate::MAX_PLAINTEXT_LEN); then
    /// nothing has been written to any.
    pub fn open_batch(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        check_lens(packets.iter())?;
        self.open_packets(packets.iter_mut())
    }

    /// `seal_batch` wherever the packets are. The caller has checked their lengths.
    pub(crate) fn seal_packets<'p, 'a: 'p>(
        &self,
        packets: impl Iterator<Item = &'p mut Packet<'a>>,
    ) -> Result<(), Error> {
        let key = self.key();
        self.backend().with(Batch::<_, SEAL>(packets.map(|packet| (key, packet))))
    }

    /// `open_batch`, likewise.
    pub(crate) fn open_packets<'p, 'a: 'p>(
        &self,
        packets: impl Iterator<Item = &'p mut Packet<'a>>,
    ) -> Result<(), Error> {
        let key = self.key();
        self.backend().with(Batch::<_, OPEN>(packets.map(|packet| (key, packet))))
    }
}

/// [`ChaCha20Poly1305::seal_batch`] for packets that each have their own key, such as those of a server to
/// many peers. All run on the first key's backend.
///
/// # Errors
/// [`Error::TooLong`]; then nothing has been written.
pub fn seal_batch(packets: &mut [(&ChaCha20Poly1305, Packet<'_>)]) -> Result<(), Error> {
    check_lens(packets.iter().map(|(_, packet)| packet))?;
    let backend = backend_of(packets);
    backend.with(Batch::<_, SEAL>(packets.iter_mut().map(|(cipher, packet)| (cipher.key(), packet))))
}

/// [`ChaCha20Poly1305::open_batch`] for packets that each have their own key.
///
/// # Errors
/// [`Error::TooLong`]; then nothing has been written.
pub fn open_batch(packets: &mut [(&ChaCha20Poly1305, Packet<'_>)]) -> Result<(), Error> {
    check_lens(packets.iter().map(|(_, packet)| packet))?;
    let backend = backend_of(packets);
    backend.with(Batch::<_, OPEN>(packets.iter_mut().map(|(cipher, packet)| (cipher.key(), packet))))
}

fn backend_of(packets: &[(&ChaCha20Poly1305, Packet<'_>)]) -> Backend {
    packets.first().map_or_else(Backend::detect, |(cipher, _)| cipher.backend())
}

fn check_lens<'p, 'a: 'p>(mut packets: impl Iterator<Item = &'p Packet<'a>>) -> Result<(), Error> {
    packets.try_for_each(|packet| check_len(packet.data.len() as u64))
}

const SEAL: bool = true;
const OPEN: bool = false;

/// Keystream blocks in the scratch of a group: 2 KiB, two or more full passes of any backend.
const SCRATCH: usize = 32;

/// Packets with their keys, and whether to seal or to open them.
struct Batch<I, const SEALING: bool>(I);

impl<'k, 'p, 'a: 'p, I, const SEALING: bool> Op for Batch<I, SEALING>
where
    I: Iterator<Item = (&'k [u32; 8], &'p mut Packet<'a>)>,
{
    type Out = Result<(), Error>;

    fn run<K: Kernel>(self, kernel: K) -> Self::Out {
        let mut group =
            Group { lanes: [Lane::default(); SCRATCH], blocks: 0, packets: [const { None }; SCRATCH], len: 0 };
        for (key, packet) in self.0 {
            if packet.blocks() > K::SHARED_BLOCKS {
                scrubbed::<K::Stack, _>(|| alone::<K, SEALING>(kernel, key, packet))?;
                continue;
            }
            if group.blocks + packet.blocks() > SCRATCH {
                scrubbed::<K::Stack, _>(|| group.flush::<K, SEALING>(kernel))?;
            }
            group.add(key, packet);
        }
        scrubbed::<K::Stack, _>(|| group.flush::<K, SEALING>(kernel))
    }
}

/// One packet by itself: long ones fill the lanes anyway.
fn alone<K: Kernel, const SEALING: bool>(kernel: K, key: &[u32; 8], packet: &mut Packet<'_>) -> Result<(), Error> {
    let message = Message { key, nonce: &packet.nonce, aad: packet.aad };
    let io = InOut::from(&mut *packet.data);
    if SEALING {
        *packet.tag = Seal(message, io).run(kernel)?.into();
        packet.verdict = Ok(());
    } else {
        packet.verdict = Open(message, io, &Tag::from(*packet.tag)).run(kernel);
    }
    Ok(())
}

/// Short packets whose blocks go through the lanes together.
struct Group<'k, 'p, 'a> {
    lanes: [Lane<'k>; SCRATCH],
    blocks: usize,
    packets: [Option<(&'k [u32; 8], &'p mut Packet<'a>)>; SCRATCH],
    len: usize,
}

impl<'k, 'p, 'a> Group<'k, 'p, 'a> {
    /// The caller has made sure that the packet's blocks fit.
    fn add(&mut self, key: &'k [u32; 8], packet: &'p mut Packet<'a>) {
        let nonce: [u32; 3] = words(&packet.nonce);
        let blocks = packet.blocks();
        for (counter, lane) in self.lanes.iter_mut().skip(self.blocks).take(blocks).enumerate() {
            *lane = Lane { key, counter: counter as u32, nonce };
        }
        if let Some(place) = self.packets.get_mut(self.len) {
            *place = Some((key, packet));
        }
        self.blocks += blocks;
        self.len += 1;
    }

    fn flush<K: Kernel, const SEALING: bool>(&mut self, kernel: K) -> Result<(), Error> {
        let packets = self.packets.iter_mut().filter_map(Option::take).take(self.len);
        if self.len >= K::SHARED_PACKETS {
            let mut keystream = [[0; 64]; SCRATCH];
            let blocks = self.blocks.min(SCRATCH);
            kernel.chacha20_lanes(&self.lanes[..blocks], &mut keystream[..blocks]);
            let mut rest = &keystream[..blocks];
            for (_, packet) in packets {
                let (own, others) = rest.split_at(packet.blocks().min(rest.len()));
                finish::<K, SEALING>(kernel, packet, own);
                rest = others;
            }
            wipe_slice(&mut keystream);
        } else {
            for (key, packet) in packets {
                alone::<K, SEALING>(kernel, key, packet)?;
            }
        }
        (self.blocks, self.len) = (0, 0);
        Ok(())
    }
}

/// Seals or opens a packet whose keystream has been computed.
fn finish<K: Kernel, const SEALING: bool>(kernel: K, packet: &mut Packet<'_>, keystream: &[[u8; 64]]) {
    let Some((first, keystream)) = keystream.split_first() else { return };
    let mut one_time_key = core::array::from_fn(|i| first[i]);
    let mac = AeadMac::new(kernel, &one_time_key, packet.aad, packet.data.len());
    wipe(&mut one_time_key);
    let keystream = keystream.as_flattened();
    if SEALING {
        InOut::from(&mut *packet.data).xor(keystream);
        *packet.tag = mac.finish(packet.data, packet.data.len());
        packet.verdict = Ok(());
    } else if Tag::from(mac.finish(packet.data, packet.data.len())) == Tag::from(*packet.tag) {
        InOut::from(&mut *packet.data).xor(keystream);
        packet.verdict = Ok(());
    } else {
        packet.verdict = Err(Error::Unauthentic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::tests::noise;
    use std::vec::Vec;

    /// Lengths around lane and block boundaries, in an order without a pattern.
    fn lengths(count: usize, seed: u64, longest: usize) -> Vec<usize> {
        let edges = [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 192, 256, 447, 448, 449, 1420, 4096];
        let dice = noise(4 * count, seed);
        dice.as_chunks::<4>()
            .0
            .iter()
            .map(|d| {
                let pick = usize::from(d[0]) << 8 | usize::from(d[1]);
                (if d[2] < 200 { edges[pick % edges.len()] } else { pick }) % (longest + 1)
            })
            .collect()
    }

    fn nonce(i: usize) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&(0xffff_fff0 + i as u64).to_le_bytes());
        nonce
    }

    /// Batches of all counts and mixes give what singles give, sealed and opened, under one key and under many,
    /// and a forgery among them stays as it was.
    #[test]
    fn batch_is_the_same_as_one_by_one() {
        for backend in Backend::available() {
            let ciphers: Vec<_> = (0..5).map(|i| ChaCha20Poly1305::with_backend(&[i as u8; 32], backend)).collect();
            let counts = (0..=40).chain([63, 64, 65, 127, 128, 129]);
            for (count, longest) in counts.flat_map(|count| [64, 300, 1500].map(|longest| (count, longest))) {
                let lens = lengths(count, (count + longest) as u64, longest);
                let plain: Vec<_> = lens.iter().map(|&len| noise(len, len as u64 + 1)).collect();
                let aads: Vec<_> = (0..count).map(|i| noise(i % 35, i as u64)).collect();
                for keys in [1, 5] {
                    let cipher = |i: usize| &ciphers[i % keys];
                    let mut expected = plain.clone();
                    for (i, data) in expected.iter_mut().enumerate() {
                        let tag = cipher(i).seal_in_place(&nonce(i), &aads[i], data).unwrap();
                        data.extend(tag.as_ref());
                    }

                    let mut sealed = plain.clone();
                    for data in &mut sealed {
                        data.extend([0; 16]);
                    }
                    let packets = sealed.iter_mut().zip(&aads).enumerate();
                    let packets = packets.map(|(i, (data, aad))| Packet::attached(&nonce(i), aad, data).unwrap());
                    if keys == 1 {
                        let mut packets: Vec<_> = packets.collect();
                        ciphers[0].seal_batch(&mut packets).unwrap();
                        assert!(packets.iter().all(|packet| packet.verdict().is_ok()));
                    } else {
                        let mut packets: Vec<_> = packets.enumerate().map(|(i, packet)| (cipher(i), packet)).collect();
                        seal_batch(&mut packets).unwrap();
                    }
                    assert_eq!(sealed, expected, "{backend}, {count} packets of up to {longest}, {keys} keys");

                    for (i, data) in sealed.iter_mut().enumerate().filter(|(i, _)| i % 3 == 1) {
                        let at = (i * 31) % data.len();
                        data[at] ^= 1 << (i % 8);
                    }
                    let before = sealed.clone();
                    let packets = sealed.iter_mut().zip(&aads).enumerate();
                    let packets = packets.map(|(i, (data, aad))| Packet::attached(&nonce(i), aad, data).unwrap());
                    let verdicts: Vec<_> = if keys == 1 {
                        let mut packets: Vec<_> = packets.collect();
                        ciphers[0].open_batch(&mut packets).unwrap();
                        packets.iter().map(Packet::verdict).collect()
                    } else {
                        let mut packets: Vec<_> = packets.enumerate().map(|(i, packet)| (cipher(i), packet)).collect();
                        open_batch(&mut packets).unwrap();
                        packets.iter().map(|(_, packet)| packet.verdict()).collect()
                    };
                    for (i, verdict) in verdicts.into_iter().enumerate() {
                        if i % 3 == 1 {
                            assert_eq!(verdict, Err(Error::Unauthentic));
                            assert_eq!(sealed[i], before[i]);
                        } else {
                            assert_eq!(verdict, Ok(()));
                            assert_eq!(sealed[i][..lens[i]], plain[i]);
                        }
                    }
                }
            }
        }
    }

    /// The grouping itself, also where no backend of this machine shares lanes.
    #[test]
    fn shared_lanes_are_the_same_as_one_by_one() {
        use crate::backend::tests::Counting;
        let key = [3; 8];
        for count in 0..40 {
            let lens = lengths(count, count as u64, 600);
            let mut singles: Vec<_> = lens.iter().map(|&len| noise(len + 16, len as u64)).collect();
            let mut batch = singles.clone();
            for (i, data) in singles.iter_mut().enumerate() {
                let mut packet = Packet::attached(&nonce(i), b"", data).unwrap();
                alone::<_, SEAL>(Counting::<1>, &key, &mut packet).unwrap();
            }
            let mut packets: Vec<_> =
                batch.iter_mut().enumerate().map(|(i, data)| Packet::attached(&nonce(i), b"", data).unwrap()).collect();
            Batch::<_, SEAL>(packets.iter_mut().map(|packet| (&key, packet))).run(Counting::<8>).unwrap();
            assert_eq!(batch, singles, "{count} packets");

            for (i, data) in batch.iter_mut().enumerate().filter(|(i, _)| i % 3 == 1) {
                let at = (i * 31) % data.len();
                data[at] ^= 1 << (i % 8);
            }
            let before = batch.clone();
            let mut packets: Vec<_> =
                batch.iter_mut().enumerate().map(|(i, data)| Packet::attached(&nonce(i), b"", data).unwrap()).collect();
            Batch::<_, OPEN>(packets.iter_mut().map(|packet| (&key, packet))).run(Counting::<8>).unwrap();
            let verdicts: Vec<_> = packets.iter().map(Packet::verdict).collect();
            for (i, verdict) in verdicts.into_iter().enumerate() {
                if i % 3 == 1 {
                    assert_eq!((verdict, &batch[i]), (Err(Error::Unauthentic), &before[i]), "packet {i} of {count}");
                } else {
                    assert_eq!(verdict, Ok(()), "packet {i} of {count}");
                    assert_eq!(batch[i][..lens[i]], noise(lens[i] + 16, lens[i] as u64)[..lens[i]]);
                }
            }
        }
    }
}
