//! What a tunnel needs to know of the packets it carries: who sent them, to whom, and where they end.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub fn source(packet: &[u8]) -> Option<IpAddr> {
    address(packet, 12, 8)
}

pub fn destination(packet: &[u8]) -> Option<IpAddr> {
    address(packet, 16, 24)
}

fn address(packet: &[u8], v4: usize, v6: usize) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => Some(Ipv4Addr::from(*packet.get(v4..)?.first_chunk::<4>()?).into()),
        6 => Some(Ipv6Addr::from(*packet.get(v6..)?.first_chunk::<16>()?).into()),
        _ => None,
    }
}

/// The packet without the padding behind it.
pub fn without_padding(text: &mut [u8]) -> Option<&mut [u8]> {
    let field = |at: usize| Some(usize::from(u16::from_be_bytes(*text.get(at..)?.first_chunk()?)));
    let len = match text.first()? >> 4 {
        4 => field(2).filter(|&len| len >= 20)?,
        6 => 40 + field(4)?,
        _ => return None,
    };
    text.get_mut(..len)
}

/// The Internet checksum (RFC 1071) before folding and complement: a sum of big-endian 16-bit words, itself below 2¹⁶.
pub fn sum(bytes: &[u8]) -> u64 {
    // The sum does not mind the byte order, so it is made in the machine's and turned at the end.
    let (words, odd) = bytes.as_chunks::<4>();
    let words = words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum::<u64>();
    let mut last = [0; 4];
    last[..odd.len()].copy_from_slice(odd);
    u16::from_be(fold(words + u64::from(u32::from_ne_bytes(last)))).into()
}

pub fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_rfc_1071() {
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
        assert_eq!(fold(sum(&[0x12, 0x34, 0x56])), 0x1234 + 0x5600);
    }

    #[test]
    fn bad_packets_are_nobodys() {
        let mut packet = [0; 60];
        packet[..4].copy_from_slice(&[0x45, 0, 0, 50]);
        packet[16..20].copy_from_slice(&[10, 0, 0, 2]);
        assert_eq!(destination(&packet), Some("10.0.0.2".parse().unwrap()));
        assert_eq!(without_padding(&mut packet).map(|packet| packet.len()), Some(50));
        for (len, kind) in [(61, 0x45), (19, 0x45), (50, 0x55), (21, 0x65)] {
            packet[..6].copy_from_slice(&[kind, 0, 0, len, 0, len]);
            assert_eq!(without_padding(&mut packet), None);
        }
        for cut in 0..20 {
            assert_eq!(destination(&[0x45; 60][..cut]), None);
            assert_eq!(source(&[0x65; 60][..cut]), None);
        }
    }
}
