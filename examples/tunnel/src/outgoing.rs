//! Packets on their way out, each lying where its message will be: room for the header before it, for padding and tag
//! after it, and the next one right behind. So sealing copies nothing, and equal ones can be sent as they lie.

use std::ops::Range;
use wireseal::Error;
use wireseal::wireguard::{HEADER_LEN, OVERHEAD, Sender, padded_len};

pub struct Outgoing {
    buffer: Vec<u8>,
    packets: Vec<Packet>,
    end: usize,
    mtu: usize,
    full: usize,
}

#[derive(Clone)]
struct Packet {
    message: Range<usize>,
    len: usize,
}

impl Outgoing {
    /// For some `packets` packets, none longer than `mtu`.
    pub fn new(packets: usize, mtu: usize) -> Self {
        let buffer = vec![0; packets * (mtu + OVERHEAD)];
        Outgoing { buffer, packets: Vec::with_capacity(packets), end: 0, mtu, full: packets }
    }

    pub fn clear(&mut self) {
        self.packets.clear();
        self.end = 0;
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether it is time to seal and send.
    pub fn is_full(&self) -> bool {
        self.packets.len() >= self.full
    }

    /// Room for the next packet, of `len` bytes.
    pub fn push(&mut self, len: usize) -> &mut [u8] {
        let start = self.end;
        self.end += padded_len(len, self.mtu) + OVERHEAD;
        self.packets.push(Packet { message: start..self.end, len });
        if self.buffer.len() < self.end {
            self.buffer.resize(self.end, 0);
        }
        &mut self.buffer[start + HEADER_LEN..][..len]
    }

    pub fn packet(&self, i: usize) -> &[u8] {
        let Packet { message, len } = &self.packets[i];
        &self.buffer[message.start + HEADER_LEN..][..*len]
    }

    /// Makes messages of packets.
    pub fn seal(&mut self, packets: Range<usize>, sender: &Sender) -> Result<(), Error> {
        let packets = &self.packets[packets];
        let Some(first) = packets.first() else { return Ok(()) };
        let mut rest = &mut self.buffer[first.message.start..];
        let packets = packets.iter().map(|packet| {
            let (message, after) = std::mem::take(&mut rest).split_at_mut(packet.message.len());
            rest = after;
            (message, packet.len)
        });
        sender.seal_batch(packets, self.mtu)
    }

    /// Sealed messages as runs that one send can take: all of one length, the last perhaps shorter.
    pub fn runs(&self, packets: Range<usize>) -> impl Iterator<Item = (&[u8], usize)> {
        let mut rest = &self.packets[packets];
        std::iter::from_fn(move || {
            let first = rest.first()?.message.clone();
            let equal = rest.iter().take_while(|packet| packet.message.len() == first.len()).count();
            let shorter = rest.get(equal).is_some_and(|packet| packet.message.len() < first.len());
            let (run, after) = rest.split_at(equal + usize::from(shorter));
            rest = after;
            Some((&self.buffer[first.start..run.last()?.message.end], first.len()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wireseal::wireguard::Receiver;

    #[test]
    fn runs_hold_every_message_once() {
        let lens = [100, 100, 90, 100, 20, 30, 0, 1420, 1409, 1400, 1400, 8];
        let mut outgoing = Outgoing::new(lens.len(), 1420);
        let (sender, mut receiver) = (Sender::new(&[1; 32], 5), Receiver::new(&[1; 32], 5));
        for _ in 0..2 {
            outgoing.clear();
            for (i, len) in lens.into_iter().enumerate() {
                outgoing.push(len).fill(i as u8);
            }
            assert!(outgoing.is_full());
            outgoing.seal(0..lens.len(), &sender).unwrap();
            let runs: Vec<_> = outgoing.runs(0..lens.len()).map(|(run, size)| (run.to_vec(), size)).collect();
            let sizes: Vec<_> = runs.iter().map(|(run, size)| (run.len() / size, run.len() % size)).collect();
            assert_eq!(sizes, [(2, 128), (1, 64), (1, 32), (2, 1440), (1, 48)]);
            let mut messages =
                runs.into_iter().flat_map(|(run, size)| run.chunks(size).map(<[u8]>::to_vec).collect::<Vec<_>>());
            for (i, len) in lens.into_iter().enumerate() {
                let mut message = messages.next().unwrap();
                let text = receiver.open(&mut message).unwrap();
                assert!(text[..len].iter().all(|&byte| byte == i as u8));
            }
            assert!(messages.next().is_none());
        }
    }
}
