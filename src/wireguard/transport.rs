//! The two ends of a session: whitepaper, section 5.4.6, with the padding of the Linux implementation, which
//! never makes a packet longer than the MTU. Everything happens in place in the datagram.

use super::ReplayWindow;
use super::counter::Counter;
use crate::batch::Packet;
use crate::{Backend, ChaCha20Poly1305, Error, MAX_PLAINTEXT_LEN, TAG_LEN, Tag};
use core::ops::Deref;

/// Messages handed to the AEAD's batch at a time: what its scratch can take of the shortest.
const CHUNK: usize = 32;

/// Length in bytes of what precedes the ciphertext.
pub const HEADER_LEN: usize = 16;

/// Bytes that a data message has more than the padded packet within: header and tag.
pub const OVERHEAD: usize = HEADER_LEN + TAG_LEN;

/// A session's messages have counters below this, 2⁶⁴ − 2¹³ − 1 (whitepaper, section 6.1).
pub const REJECT_AFTER_MESSAGES: u64 = u64::MAX - (1 << 13);

/// Message type 4 and the reserved bytes.
const TYPE: [u8; 4] = [4, 0, 0, 0];

/// Bytes that a packet of `len` bytes has after padding: the next multiple of 16, but no more than `mtu`. 0 is no MTU.
/// Of a packet longer than the MTU, which will be cut into pieces of that size, the last piece is padded.
#[must_use]
pub const fn padded_len(len: usize, mtu: usize) -> usize {
    let last = if mtu > 0 && len > mtu { len % mtu } else { len };
    let padded = match last.checked_next_multiple_of(16) {
        Some(padded) if mtu == 0 || padded <= mtu => padded,
        Some(_) => mtu,
        None => last,
    };
    (len - last).saturating_add(padded)
}

/// The index of the session for which this data message is: the first thing to do with a datagram where
/// there are several sessions.
///
/// # Errors
/// [`Error::TooShort`], [`Error::WrongType`]; handshake messages are of another type.
pub fn receiver_index(datagram: &[u8]) -> Result<u32, Error> {
    Header::read(datagram).map(|header| header.receiver)
}

struct Header {
    receiver: u32,
    counter: u64,
}

impl Header {
    fn read(datagram: &[u8]) -> Result<Self, Error> {
        if datagram.len() < OVERHEAD {
            return Err(Error::TooShort);
        }
        let (kind, rest) = datagram.split_first_chunk().ok_or(Error::TooShort)?;
        let (receiver, rest) = rest.split_first_chunk().ok_or(Error::TooShort)?;
        let counter = rest.first_chunk().ok_or(Error::TooShort)?;
        if *kind != TYPE {
            return Err(Error::WrongType);
        }
        Ok(Header { receiver: u32::from_le_bytes(*receiver), counter: u64::from_le_bytes(*counter) })
    }

    fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&TYPE);
        bytes[4..8].copy_from_slice(&self.receiver.to_le_bytes());
        bytes[8..].copy_from_slice(&self.counter.to_le_bytes());
        bytes
    }

    fn nonce(&self) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&self.counter.to_le_bytes());
        nonce
    }
}

/// The sending end of a session: owns key and counter, so that a nonce can't be used twice.
///
/// Threads may share it, by reference or in an `Arc`. It can't be cloned.
#[derive(Debug)]
pub struct Sender {
    key: ChaCha20Poly1305,
    receiver: u32,
    counter: Counter,
}

impl Sender {
    /// A session that has sent nothing, from the sending key and the index that the peer chose for it.
    ///
    /// # Security
    /// The key must never have been used: counters start at 0.
    #[must_use]
    pub fn new(key: &[u8; 32], receiver: u32) -> Self {
        Self::with_backend(key, receiver, Backend::detect())
    }

    /// The same on a backend of choice, for tests and benchmarks.
    #[must_use]
    pub fn with_backend(key: &[u8; 32], receiver: u32, backend: Backend) -> Self {
        Sender { key: ChaCha20Poly1305::with_backend(key, backend), receiver, counter: Counter::new() }
    }

    /// Makes a data message of the `len` bytes at `datagram[HEADER_LEN..]`: header before them, padding and tag after
    /// them. Returns the message, which is the front of `datagram`, [`OVERHEAD`] bytes longer than
    /// [`padded_len(len, mtu)`](padded_len). With `len` 0 it is a keepalive.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] if `datagram` can't hold the message, [`Error::TooLong`], [`Error::CounterLimit`] if the
    /// session has sent all the messages it may: from then on always. Nothing is written, no counter is used.
    pub fn seal<'d>(&self, datagram: &'d mut [u8], len: usize, mtu: usize) -> Result<&'d mut [u8], Error> {
        let message = message_of(datagram, len, mtu)?;
        self.seal_at(self.take(1)?, message, len)
    }

    /// Makes data messages of many packets, as [`seal`](Self::seal) does of one, faster: each item is a datagram and the length of
    /// the packet in it. Their counters are consecutive.
    ///
    /// # Errors
    /// [`Error::CounterLimit`] if the session may not send that many more; then nothing is written.
    /// [`Error::OutputTooShort`] or [`Error::TooLong`] if a packet can't be sealed; then it and those after it are as they were.
    pub fn seal_batch<'d>(
        &self,
        packets: impl ExactSizeIterator<Item = (&'d mut [u8], usize)>,
        mtu: usize,
    ) -> Result<(), Error> {
        self.reserve(packets.len())?.seal_batch(packets, mtu)
    }

    /// A message without content that says "still here".
    ///
    /// # Errors
    /// [`Error::CounterLimit`] as [`seal`](Self::seal).
    pub fn keepalive(&self) -> Result<[u8; OVERHEAD], Error> {
        let mut message = [0; OVERHEAD];
        self.seal(&mut message, 0, 0)?;
        Ok(message)
    }

    /// Takes `n` counters for messages that will be sealed later or on other threads, in this order.
    ///
    /// # Errors
    /// [`Error::CounterLimit`] if there are not that many left; then none is taken. On targets without 64-bit atomics
    /// also when 2³² were taken since [`skip_to`](Self::skip_to).
    pub fn reserve(&self, n: usize) -> Result<Counters<&Self>, Error> {
        Counters::new(self, n)
    }

    /// Gives up all counters below `counter`, so that the next message has this one.
    ///
    /// # Errors
    /// [`Error::CounterBehind`] if it was already used or reserved, or lies past [`REJECT_AFTER_MESSAGES`]; then
    /// nothing changes.
    pub fn skip_to(&mut self, counter: u64) -> Result<(), Error> {
        self.counter.skip_to(counter).ok_or(Error::CounterBehind)
    }

    fn take(&self, n: usize) -> Result<u64, Error> {
        self.counter.take(n as u64).ok_or(Error::CounterLimit)
    }

    fn seal_at<'d>(&self, counter: u64, message: &'d mut [u8], len: usize) -> Result<&'d mut [u8], Error> {
        let header = Header { receiver: self.receiver, counter };
        let (text, tag) = prepare(&header, message, len)?;
        *tag = self.key.seal_in_place(&header.nonce(), &[], text)?.into();
        Ok(message)
    }
}

/// Writes header and padding, and gives what is still to do: the text and the place of its tag.
fn prepare<'d>(
    header: &Header,
    message: &'d mut [u8],
    len: usize,
) -> Result<(&'d mut [u8], &'d mut [u8; TAG_LEN]), Error> {
    let (head, rest) = message.split_first_chunk_mut().ok_or(Error::OutputTooShort)?;
    let (text, tag) = rest.split_last_chunk_mut().ok_or(Error::OutputTooShort)?;
    text.get_mut(len..).ok_or(Error::OutputTooShort)?.fill(0);
    *head = header.to_bytes();
    Ok((text, tag))
}

/// The part of the datagram that the message will fill.
fn message_of(datagram: &mut [u8], len: usize, mtu: usize) -> Result<&mut [u8], Error> {
    let padded = padded_len(len, mtu);
    if padded as u64 > MAX_PLAINTEXT_LEN {
        return Err(Error::TooLong);
    }
    let all = padded.checked_add(OVERHEAD).ok_or(Error::OutputTooShort)?;
    datagram.get_mut(..all).ok_or(Error::OutputTooShort)
}

/// Counters reserved from a [`Sender`], each good for one message. Those that are dropped are never used.
///
/// `S` is the sender, by reference or in an `Arc`. Who reads packets reserves in their order; workers seal.
#[derive(Debug)]
pub struct Counters<S> {
    sender: S,
    next: u64,
    end: u64,
}

impl<S: Deref<Target = Sender>> Counters<S> {
    /// As [`Sender::reserve`], for senders in an `Arc`.
    ///
    /// # Errors
    /// As [`Sender::reserve`].
    pub fn new(sender: S, n: usize) -> Result<Self, Error> {
        let next = sender.take(n)?;
        Ok(Counters { sender, next, end: next + n as u64 })
    }

    /// How many are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.end - self.next
    }

    /// As [`Sender::seal`] with the next of these counters.
    ///
    /// # Errors
    /// As [`Sender::seal`]; here [`Error::CounterLimit`] says that none is left.
    pub fn seal<'d>(&mut self, datagram: &'d mut [u8], len: usize, mtu: usize) -> Result<&'d mut [u8], Error> {
        let message = message_of(datagram, len, mtu)?;
        let counter = self.take()?;
        self.sender.seal_at(counter, message, len)
    }

    /// As [`Sender::seal_batch`] with the next of these counters.
    ///
    /// # Errors
    /// As [`Sender::seal_batch`]; [`Error::CounterLimit`] at the packet for which no counter is left.
    pub fn seal_batch<'d>(
        &mut self,
        packets: impl Iterator<Item = (&'d mut [u8], usize)>,
        mtu: usize,
    ) -> Result<(), Error> {
        let mut packets = packets.fuse();
        loop {
            let mut chunk = [const { None }; CHUNK];
            let mut result = Ok(());
            for (place, (datagram, len)) in chunk.iter_mut().zip(packets.by_ref()) {
                match self.packet(datagram, len, mtu) {
                    Ok(packet) => *place = Some(packet),
                    Err(error) => {
                        result = Err(error);
                        break;
                    }
                }
            }
            self.sender.key.seal_packets(chunk.iter_mut().flatten())?;
            result?;
            if chunk.last().is_none_or(Option::is_none) {
                return Ok(());
            }
        }
    }

    fn packet<'d>(&mut self, datagram: &'d mut [u8], len: usize, mtu: usize) -> Result<Packet<'d>, Error> {
        let message = message_of(datagram, len, mtu)?;
        let header = Header { receiver: self.sender.receiver, counter: self.take()? };
        let (text, tag) = prepare(&header, message, len)?;
        Ok(Packet::detached(&header.nonce(), &[], text, tag))
    }

    fn take(&mut self) -> Result<u64, Error> {
        if self.next == self.end {
            return Err(Error::CounterLimit);
        }
        self.next += 1;
        Ok(self.next - 1)
    }
}

/// The receiving end of a session: owns key and replay window.
#[derive(Debug)]
pub struct Receiver {
    key: ChaCha20Poly1305,
    index: u32,
    window: ReplayWindow,
}

impl Receiver {
    /// A session that has received nothing, from the receiving key and the index that was given to the peer for it.
    #[must_use]
    pub fn new(key: &[u8; 32], index: u32) -> Self {
        Self::with_backend(key, index, Backend::detect())
    }

    /// The same on a backend of choice, for tests and benchmarks.
    #[must_use]
    pub fn with_backend(key: &[u8; 32], index: u32, backend: Backend) -> Self {
        Receiver { key: ChaCha20Poly1305::with_backend(key, backend), index, window: ReplayWindow::new() }
    }

    /// Opens a data message in place and returns the packet within, still padded: its IP header says where it ends.
    /// An empty one is a keepalive.
    ///
    /// # Errors
    /// [`Error::TooShort`], [`Error::WrongType`], [`Error::UnknownReceiver`], [`Error::CounterLimit`], [`Error::TooOld`],
    /// [`Error::Replayed`], [`Error::Unauthentic`]. The datagram is as it was, and so is the window: a forged
    /// message can't use up a counter.
    pub fn open<'d>(&mut self, datagram: &'d mut [u8]) -> Result<&'d mut [u8], Error> {
        let (header, text, tag) = self.examine(datagram)?;
        self.key.open_in_place(&header.nonce(), &[], text, &Tag::from(*tag))?;
        self.window.accept(header.counter)?;
        Ok(text)
    }

    /// Opens many messages, as [`open`](Self::open) does one, faster, and hands each packet or error to `each`, in their order.
    ///
    /// A message that comes twice in one batch is opened twice before the window tells, so the second, an [`Error::Replayed`],
    /// may be left decrypted. All else that is refused is as it was.
    pub fn open_batch<'d>(
        &mut self,
        datagrams: impl Iterator<Item = &'d mut [u8]>,
        mut each: impl FnMut(Result<&'d mut [u8], Error>),
    ) {
        let mut datagrams = datagrams.fuse();
        loop {
            let mut chunk = [const { None }; CHUNK];
            for (place, datagram) in chunk.iter_mut().zip(datagrams.by_ref()) {
                *place =
                    Some(self.examine(datagram).map(|(header, text, tag)| {
                        (header.counter, Packet::detached(&header.nonce(), &[], text, tag))
                    }));
            }
            let last = chunk.last().is_none_or(Option::is_none);
            let packets = chunk.iter_mut().flatten().filter_map(|packet| packet.as_mut().ok());
            // An error would leave packets unopened, and these say so themselves.
            let _ = self.key.open_packets(packets.map(|(_, packet)| packet));
            for packet in chunk.into_iter().flatten() {
                each(packet.and_then(|(counter, packet)| {
                    let text = packet.into_data()?;
                    self.window.accept(counter)?;
                    Ok(text)
                }));
            }
            if last {
                return;
            }
        }
    }

    /// All that can be said before opening.
    #[allow(clippy::type_complexity)]
    fn examine<'d>(&self, datagram: &'d mut [u8]) -> Result<(Header, &'d mut [u8], &'d mut [u8; TAG_LEN]), Error> {
        let header = Header::read(datagram)?;
        if header.receiver != self.index {
            return Err(Error::UnknownReceiver);
        }
        self.window.check(header.counter)?;
        let sealed = datagram.get_mut(HEADER_LEN..).ok_or(Error::TooShort)?;
        let (text, tag) = sealed.split_last_chunk_mut().ok_or(Error::TooShort)?;
        if text.len() as u64 > MAX_PLAINTEXT_LEN {
            return Err(Error::TooLong);
        }
        Ok((header, text, tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::vec::Vec;

    const KEY: &[u8; 32] = &[9; 32];

    fn pair() -> (Sender, Receiver) {
        (Sender::new(KEY, 0xff00_0001), Receiver::new(KEY, 0xff00_0001))
    }

    fn packet(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 7 + 1) as u8).collect()
    }

    fn sealed(sender: &Sender, len: usize, mtu: usize) -> Vec<u8> {
        let mut datagram = [&[0xaa; HEADER_LEN][..], &packet(len), &[0xaa; 48]].concat();
        sender.seal(&mut datagram, len, mtu).unwrap().to_vec()
    }

    #[test]
    fn every_length_comes_back_padded() {
        let (sender, mut receiver) = pair();
        for len in 0..=1500 {
            for mtu in [0, 1420] {
                let mut message = sealed(&sender, len, mtu);
                assert_eq!(message.len(), padded_len(len, mtu) + OVERHEAD);
                assert_eq!(receiver_index(&message), Ok(0xff00_0001));
                let text = receiver.open(&mut message).unwrap();
                assert_eq!(text[..len], packet(len));
                assert!(text[len..].iter().all(|&byte| byte == 0) && text.len() == padded_len(len, mtu));
            }
        }
    }

    #[test]
    fn the_message_is_the_whitepapers() {
        let mut sender = pair().0;
        sender.skip_to(0x0102_0304_0506_0708).unwrap();
        let message = sealed(&sender, 20, 0);
        assert_eq!(message[..16], [4, 0, 0, 0, 1, 0, 0, 0xff, 8, 7, 6, 5, 4, 3, 2, 1]);
        let mut text = packet(20);
        text.resize(32, 0);
        let nonce = [0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1];
        let tag = ChaCha20Poly1305::new(KEY).seal_in_place(&nonce, &[], &mut text).unwrap();
        assert_eq!(message[16..], [&text[..], tag.as_bytes()].concat());
    }

    #[test]
    fn padding_never_shortens_nor_passes_the_mtu() {
        for mtu in 0..=70 {
            for len in 0..=300 {
                let padded = padded_len(len, mtu);
                assert!((len..len + 16).contains(&padded), "{len} {mtu}");
                let pieces = |len: usize| len.div_ceil(mtu.max(1));
                assert!(mtu == 0 || pieces(padded) == pieces(len), "{len} {mtu}");
                let last = padded.checked_rem(mtu).unwrap_or(padded);
                assert!(last % 16 == 0, "{len} {mtu}");
            }
        }
        for mtu in [0, 1, 1420, usize::MAX] {
            assert!(padded_len(usize::MAX, mtu) == usize::MAX);
        }
    }

    #[test]
    fn keepalives_are_empty() {
        let (sender, mut receiver) = pair();
        let mut message = sender.keepalive().unwrap();
        assert_eq!(receiver.open(&mut message), Ok(&mut [][..]));
        assert_eq!(receiver.open(&mut sender.keepalive().unwrap()), Ok(&mut [][..]));
    }

    #[test]
    fn a_refused_seal_writes_nothing_and_uses_no_counter() {
        let (sender, mut receiver) = pair();
        for (room, len) in [(0, 0), (31, 0), (47, 1), (47, 16), (63, 17)] {
            let mut datagram = packet(room);
            assert_eq!(sender.seal(&mut datagram, len, 0), Err(Error::OutputTooShort), "{room} {len}");
            assert_eq!(datagram, packet(room));
            let mut counters = sender.reserve(0).unwrap();
            assert_eq!(counters.seal(&mut datagram, len, 0), Err(Error::OutputTooShort));
        }
        for len in [usize::MAX, usize::MAX - 31] {
            assert!(matches!(sender.seal(&mut [0; 100], len, 0), Err(Error::TooLong | Error::OutputTooShort)));
        }
        let mut message = sealed(&sender, 5, 0);
        assert_eq!(message[8..16], [0; 8]);
        receiver.open(&mut message).unwrap();
    }

    /// Every bit of every message: a clear error, nothing written, the counter not used up.
    #[test]
    fn forgeries_change_nothing() {
        let (sender, mut receiver) = pair();
        for len in [0, 1, 16, 100] {
            let message = sealed(&sender, len, 0);
            for bit in 0..8 * message.len() {
                let mut forged = message.clone();
                forged[bit / 8] ^= 1 << (bit % 8);
                let before = forged.clone();
                let error = receiver.open(&mut forged).unwrap_err();
                match bit / 8 {
                    0..4 => assert_eq!(error, Error::WrongType),
                    4..8 => assert_eq!(error, Error::UnknownReceiver),
                    8..16 => assert!(matches!(error, Error::Unauthentic | Error::Replayed), "{error}"),
                    _ => assert_eq!(error, Error::Unauthentic),
                }
                assert_eq!(forged, before);
            }
            for cut in 0..message.len() {
                let mut short = message[..cut].to_vec();
                let expected = if cut < OVERHEAD { Error::TooShort } else { Error::Unauthentic };
                assert_eq!(receiver.open(&mut short), Err(expected));
                assert_eq!(short, message[..cut]);
                assert_eq!(receiver_index(&short).is_ok(), cut >= OVERHEAD);
            }
            let mut genuine = message.clone();
            assert_eq!(receiver.open(&mut genuine).unwrap().len(), padded_len(len, 0));
            let mut again = message.clone();
            assert_eq!(receiver.open(&mut again), Err(Error::Replayed));
            assert_eq!(again, message);
        }
    }

    #[test]
    fn order_is_free_within_the_window() {
        let (sender, mut receiver) = pair();
        let mut messages: Vec<_> = (0..8200).map(|_| sealed(&sender, 0, 0)).collect();
        receiver.open(&mut messages[8199].clone()).unwrap();
        for (counter, message) in messages.iter_mut().enumerate().rev().skip(1) {
            let expected = if counter + 8128 < 8199 { Err(Error::TooOld) } else { Ok(&mut [][..]) };
            assert_eq!(receiver.open(message), expected, "{counter}");
        }
    }

    #[test]
    fn the_limit_holds_at_both_ends() {
        let (mut sender, mut receiver) = pair();
        sender.skip_to(REJECT_AFTER_MESSAGES - 1).unwrap();
        assert_eq!(sender.reserve(2).unwrap_err(), Error::CounterLimit);
        receiver.open(&mut sender.keepalive().unwrap()).unwrap();
        for _ in 0..3 {
            assert_eq!(sender.keepalive(), Err(Error::CounterLimit));
            assert_eq!(sender.reserve(1).unwrap_err(), Error::CounterLimit);
            assert_eq!(sender.skip_to(0), Err(Error::CounterBehind));
        }
        // A genuine message past the limit, as a sender without ours would make it.
        for counter in [REJECT_AFTER_MESSAGES, u64::MAX] {
            let header = Header { receiver: 0xff00_0001, counter };
            let tag = ChaCha20Poly1305::new(KEY).seal_in_place(&header.nonce(), &[], &mut []).unwrap();
            let mut message = [header.to_bytes(), tag.into()].concat();
            assert_eq!(receiver.open(&mut message), Err(Error::CounterLimit));
        }
    }

    #[test]
    fn reserved_counters_are_disjoint_and_used_once() {
        let (sender, mut receiver) = pair();
        let sender = Arc::new(sender);
        let mut late = Counters::new(Arc::clone(&sender), 3).unwrap();
        let mut unfinished = sender.reserve(4).unwrap();
        assert_eq!(unfinished.left(), 4);
        let mut datagram = [0; 64];
        assert_eq!(unfinished.seal(&mut datagram, 16, 0).unwrap()[8], 3);
        assert_eq!(sender.seal(&mut datagram, 16, 0).unwrap()[8], 7);
        let worker = std::thread::spawn(move || {
            let messages: Vec<_> = (0..3).map(|_| late.seal(&mut [0; 64], 16, 0).unwrap().to_vec()).collect();
            assert_eq!(late.left(), 0);
            assert_eq!(late.seal(&mut [0; 64], 16, 0), Err(Error::CounterLimit));
            messages
        });
        for (counter, mut message) in worker.join().unwrap().into_iter().enumerate() {
            assert_eq!(message[8], counter as u8);
            receiver.open(&mut message).unwrap();
        }
    }

    /// Batches around the chunk's size are the same as singles, on every backend.
    #[test]
    fn batches_are_singles() {
        for backend in Backend::available() {
            let batched = Sender::with_backend(KEY, 7, backend);
            let (single, mut receiver) = (Sender::new(KEY, 7), Receiver::with_backend(KEY, 7, backend));
            for count in [0, 1, 31, 32, 33, 64, 100] {
                let lens: Vec<usize> = (0..count).map(|i| [0, 16, 33, 100, 64, 1420, 5][i % 7]).collect();
                let filled = |len: usize| [&[0xaa; HEADER_LEN][..], &packet(len), &[0xaa; 48]].concat();
                let mut datagrams: Vec<_> = lens.iter().map(|&len| filled(len)).collect();
                let packets = datagrams.iter_mut().map(|datagram| &mut datagram[..]).zip(lens.iter().copied());
                batched.seal_batch(packets, 1420).unwrap();
                for (datagram, &len) in datagrams.iter_mut().zip(&lens) {
                    datagram.truncate(padded_len(len, 1420) + OVERHEAD);
                    assert_eq!(*datagram, sealed(&single, len, 1420), "{len} of {count}");
                }
                // Each a second time, the first of all forged and right only then.
                let mut all = datagrams.clone();
                all.extend(datagrams);
                if let Some(first) = all.first_mut() {
                    first[16] ^= 1;
                }
                let forgery = all.first().cloned();
                let mut verdicts = Vec::new();
                receiver.open_batch(all.iter_mut().map(|datagram| &mut datagram[..]), |result| {
                    verdicts.push(result.map(|text| text.to_vec()));
                });
                for (i, (verdict, &len)) in verdicts.iter().zip(lens.iter().chain(&lens)).enumerate() {
                    let mut text = packet(len);
                    text.resize(padded_len(len, 1420), 0);
                    match i {
                        0 => assert_eq!(*verdict, Err(Error::Unauthentic)),
                        _ if i <= count => assert_eq!(*verdict, Ok(text)),
                        _ => assert_eq!(*verdict, Err(Error::Replayed)),
                    }
                }
                assert_eq!(verdicts.len(), 2 * count);
                assert_eq!(all.first(), forgery.as_ref());
            }
        }
    }

    #[test]
    fn a_batch_stops_at_its_first_error() {
        let (mut sender, mut receiver) = pair();
        let mut datagrams = [[1; 64]; 3];
        let [a, b, c] = &mut datagrams;
        let packets = [(&mut a[..], 32), (&mut b[..], 33), (&mut c[..], 32)];
        assert_eq!(sender.seal_batch(packets.into_iter(), 0), Err(Error::OutputTooShort));
        assert_eq!(receiver.open(&mut datagrams[0].clone()).map(|text| text.len()), Ok(32));
        assert_eq!(datagrams[1..], [[1; 64]; 2]);

        sender.skip_to(REJECT_AFTER_MESSAGES - 2).unwrap();
        let before = datagrams;
        let packets = datagrams.iter_mut().map(|datagram| (&mut datagram[..], 32));
        assert_eq!(sender.seal_batch(packets, 0), Err(Error::CounterLimit));
        assert_eq!(datagrams, before);
        let packets = datagrams.iter_mut().map(|datagram| (&mut datagram[..], 32));
        let mut counters = sender.reserve(2).unwrap();
        assert_eq!(counters.seal_batch(packets, 0), Err(Error::CounterLimit));
        assert_eq!(datagrams[2], before[2]);
        for datagram in &mut datagrams[..2] {
            receiver.open(datagram).unwrap();
        }
    }

    #[test]
    fn nothing_secret_is_shown() {
        let (sender, receiver) = pair();
        let shown = std::format!("{sender:?} {receiver:?}");
        assert!(!shown.contains("151587081") && !shown.contains("9, 9"), "{shown}");
    }
}
