//! The IP packets of the demonstration: IPv4 and UDP with right lengths and checksums, a sequence number, and a
//! payload that the receiver knows beforehand, so that it can check every byte.

use crate::ip::{fold, sum};
use std::net::Ipv4Addr;

/// Bytes before the sequence number: IPv4 header, UDP header.
const HEADERS: usize = 20 + 8;

/// The shortest packet that can carry a sequence number.
pub const MIN_LEN: usize = HEADERS + 8;

/// Both ends' supply of payload bytes: a packet's payload is a part of it that the sequence number selects.
pub struct Payload(Vec<u8>);

impl Payload {
    pub fn new() -> Self {
        // Any fixed bytes do whose parts differ; these are a linear congruential generator's.
        let mut state = 1u64;
        Payload(
            std::iter::repeat_with(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .take(1 << 17)
            .collect(),
        )
    }

    fn of(&self, sequence: u64, len: usize) -> &[u8] {
        &self.0[(sequence.wrapping_mul(31) & 0xffff) as usize..][..len]
    }
}

/// Writes the packet with this number; `packet` has at least `MIN_LEN` bytes and fewer than 64 KiB.
pub fn write(packet: &mut [u8], source: Ipv4Addr, destination: Ipv4Addr, sequence: u64, payload: &Payload) {
    let len = packet.len() as u16;
    let (ip, udp) = packet.split_at_mut(20);
    ip.copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    ip[2..4].copy_from_slice(&len.to_be_bytes());
    ip[12..16].copy_from_slice(&source.octets());
    ip[16..20].copy_from_slice(&destination.octets());
    let checksum = !fold(sum(ip));
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());

    let ports_len = [4242u16, 4243, len - 20, 0].map(u16::to_be_bytes);
    udp[..8].copy_from_slice(ports_len.as_flattened());
    udp[8..16].copy_from_slice(&sequence.to_be_bytes());
    let rest = &mut udp[16..];
    rest.copy_from_slice(payload.of(sequence, rest.len()));
    // RFC 768: a sum of zero is sent as all ones.
    let checksum = match !fold(pseudo_header(ip) + sum(udp)) {
        0 => 0xffff,
        checksum => checksum,
    };
    udp[6..8].copy_from_slice(&checksum.to_be_bytes());
}

/// The sequence number of a packet, perhaps padded, in which every byte is right.
pub fn verify(text: &[u8], source: Ipv4Addr, destination: Ipv4Addr, payload: &Payload) -> Option<u64> {
    let len = u16::from_be_bytes(*text.get(2..)?.first_chunk()?).into();
    if len < MIN_LEN || len > text.len() {
        return None;
    }
    let (packet, padding) = text.split_at(len);
    let (ip, udp) = packet.split_at(20);
    let sequence = u64::from_be_bytes(*udp[8..].first_chunk()?);
    let right = ip[..2] == [0x45, 0]
        && ip[9] == 17
        && ip[12..16] == source.octets()
        && ip[16..] == destination.octets()
        && fold(sum(ip)) == 0xffff
        && u16::from_be_bytes([udp[4], udp[5]]) as usize == udp.len()
        && fold(pseudo_header(ip) + sum(udp)) == 0xffff
        && udp[16..] == *payload.of(sequence, udp.len() - 16)
        && padding.iter().all(|&byte| byte == 0);
    right.then_some(sequence)
}

/// What UDP's checksum covers besides the datagram: addresses, protocol, length.
fn pseudo_header(ip: &[u8]) -> u64 {
    sum(&ip[12..20]) + 17 + (u64::from(u16::from_be_bytes([ip[2], ip[3]])) - 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn every_byte_counts() {
        let payload = Payload::new();
        for len in MIN_LEN..200 {
            let mut packet = vec![0; len];
            write(&mut packet, A, B, 0x0102_0304_0506_0708, &payload);
            assert_eq!(verify(&packet, A, B, &payload), Some(0x0102_0304_0506_0708));
            assert_eq!(verify(&packet, B, A, &payload), None);
            packet.resize(len + 5, 0);
            assert_eq!(verify(&packet, A, B, &payload), Some(0x0102_0304_0506_0708));
            for i in 0..len + 5 {
                packet[i] ^= 1;
                assert_eq!(verify(&packet, A, B, &payload), None, "byte {i} of {len}");
                packet[i] ^= 1;
            }
            assert_eq!(verify(&packet[..len - 1], A, B, &payload), None);
        }
    }
}
