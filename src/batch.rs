//! Many packets at once. A short packet fills only a few lanes of a vector; here the blocks of several
//! packets, each with its own nonce and if need be its own key, share one pass.

use crate::aead::{ChaCha20Poly1305, Message, Open, Seal, check_len};
use crate::backend::{Backend, Job, Kernel, Op, Stack};
use crate::overlap::InOut;
use crate::{Error, Tag};
use core::{fmt, mem};

pub use crate::backend::Packet;

impl<'a> Packet<'a> {
    /// A packet whose tag is kept apart from its data.
    #[inline]
    #[must_use]
    pub fn detached(nonce: &[u8; 12], aad: &'a [u8], data: &'a mut [u8], tag: &'a mut [u8; 16]) -> Self {
        Packet { nonce: *nonce, aad, data, tag, verdict: Err(Error::Unauthentic) }
    }

    /// A packet whose tag is the last 16 bytes of `sealed`, behind the data.
    ///
    /// # Errors
    /// [`Error::TooShort`] if there are fewer than 16 bytes.
    #[inline]
    pub fn attached(nonce: &[u8; 12], aad: &'a [u8], sealed: &'a mut [u8]) -> Result<Self, Error> {
        let (data, tag) = sealed.split_last_chunk_mut().ok_or(Error::TooShort)?;
        Ok(Self::detached(nonce, aad, data, tag))
    }

    /// After opening: the plaintext, if this packet's tag was right. After sealing: the ciphertext.
    ///
    /// # Errors
    /// [`Error::Unauthentic`] if the tag was wrong, or no batch has seen the packet; its bytes are as they were.
    #[inline]
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
    #[inline]
    pub fn verdict(&self) -> Result<(), Error> {
        self.verdict
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

/// Packets looked at together.
const WINDOW: usize = 64;

/// Fewer than these don't fill enough of a pass to be faster together.
const SHARED_PACKETS: usize = 3;

/// Bytes of associated data with which a packet may still share passes.
const SHARED_AAD: usize = 64;

/// Packets with their keys, and whether to seal or to open them.
struct Batch<I, const SEALING: bool>(I);

impl<'k, 'p, 'a: 'p, I, const SEALING: bool> Op for Batch<I, SEALING>
where
    I: Iterator<Item = (&'k [u32; 8], &'p mut Packet<'a>)>,
{
    type Out = Result<(), Error>;

    fn run<K: Kernel>(self, kernel: K) -> Self::Out {
        let alone = alone::<K, SEALING>;
        let Batch(packets) = self;
        if K::SHARED_MAX == 0 || packets.size_hint().1.is_some_and(|most| most < SHARED_PACKETS) {
            for (key, packet) in packets {
                alone(kernel, key, packet)?;
            }
            K::Stack::overwrite();
            return Ok(());
        }
        let mut window = Window { jobs: [const { None }; WINDOW], len: 0 };
        for (key, packet) in packets {
            if packet.data.len() > K::SHARED_MAX || packet.aad.len() > SHARED_AAD {
                alone(kernel, key, packet)?;
                continue;
            }
            if window.len == WINDOW {
                window.clear::<K, SEALING>(kernel)?;
            }
            window.jobs[window.len % WINDOW] = Some(Job { key, packet });
            window.len += 1;
        }
        window.clear::<K, SEALING>(kernel)?;
        K::Stack::overwrite();
        Ok(())
    }
}

/// Packets short enough to share passes.
struct Window<'p, 'a> {
    jobs: [Option<Job<'p, 'a>>; WINDOW],
    len: usize,
}

impl Window<'_, '_> {
    #[inline(never)]
    fn clear<K: Kernel, const SEALING: bool>(&mut self, kernel: K) -> Result<(), Error> {
        let mut jobs = &mut self.jobs[..self.len.min(WINDOW)];
        self.len = 0;
        sort(jobs);
        while !jobs.is_empty() {
            let done = match K::share::<SEALING>(kernel, jobs) {
                0 => {
                    if let Some(Some(Job { key, packet })) = jobs.first_mut() {
                        alone::<K, SEALING>(kernel, key, packet)?;
                    }
                    1
                }
                done => done,
            };
            jobs = jobs.get_mut(done..).unwrap_or(&mut []);
        }
        Ok(())
    }
}

/// Sorts by length, Shell's way: the standard library's sorts could panic.
fn sort(jobs: &mut [Option<Job<'_, '_>>]) {
    let len = |job: &Option<Job<'_, '_>>| job.as_ref().map(|job| job.packet.data.len());
    for gap in [23, 10, 4, 1] {
        for mut at in gap..jobs.len() {
            while let Some(before) = at.checked_sub(gap)
                && let Ok([a, b]) = jobs.get_disjoint_mut([before, at])
                && len(a) > len(b)
            {
                mem::swap(a, b);
                at = before;
            }
        }
    }
}

/// One packet by itself.
#[inline(never)]
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
}
