//! Packets larger than the MTU between the kernel and us, behind a virtio header (virtio 1.3, section 5.1.6): what TCP
//! sends is cut here and not in the kernel, and what belongs together when it arrives goes up as one.

use crate::ip::{fold, sum};
use crate::outgoing::Outgoing;

/// Length of the virtio header.
pub const VNET_LEN: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_UDP: u8 = 5;
/// Set beside the type if the packets carry ECN marks.
const GSO_ECN: u8 = 0x80;

const TCP: u8 = 6;
const UDP: u8 = 17;
const FIN_PSH: u8 = 0x01 | 0x08;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const CWR: u8 = 0x80;

/// Cuts a frame of the interface into packets. `None` if it makes no sense; then some may have been added.
pub fn cut(frame: &[u8], outgoing: &mut Outgoing) -> Option<()> {
    let (vnet, packet) = frame.split_first_chunk::<VNET_LEN>()?;
    let field = |at: usize| usize::from(u16::from_ne_bytes([vnet[at], vnet[at + 1]]));
    let (gso_size, l4, checksum) = (field(4), field(6), field(6) + field(8));
    let kind = vnet[1] & !GSO_ECN;
    if kind == GSO_NONE {
        let slot = outgoing.push(packet.len());
        slot.copy_from_slice(packet);
        if vnet[0] & NEEDS_CHECKSUM != 0 {
            // The field holds the sum over the pseudo header, so it takes part.
            let value = nonzero(!fold(sum(slot.get(l4..)?)));
            slot.get_mut(checksum..checksum + 2)?.copy_from_slice(&value.to_be_bytes());
        }
        return Some(());
    }
    let tcp = match kind {
        GSO_TCP4 | GSO_TCP6 => true,
        GSO_UDP => false,
        _ => return None,
    };
    let headers = l4 + if tcp { usize::from(packet.get(l4 + 12)? >> 4) * 4 } else { 8 };
    let (head, payload) = packet.split_at_checked(headers)?;
    if l4 < if is_v4(packet) { 20 } else { 40 }
        || headers < l4 + if tcp { 20 } else { 8 }
        || payload.is_empty()
        || gso_size == 0
    {
        return None;
    }
    let pieces = payload.len().div_ceil(gso_size);
    for (i, piece) in payload.chunks(gso_size).enumerate() {
        let slot = outgoing.push(headers + piece.len());
        slot[..headers].copy_from_slice(head);
        slot[headers..].copy_from_slice(piece);
        if tcp {
            let sequence = u32::from_be_bytes(*head[l4 + 4..].first_chunk()?).wrapping_add((i * gso_size) as u32);
            slot[l4 + 4..l4 + 8].copy_from_slice(&sequence.to_be_bytes());
            let cleared = if i + 1 < pieces { FIN_PSH } else { 0 } | if i > 0 { CWR } else { 0 };
            slot[l4 + 13] &= !cleared;
        }
        let id = u16::from_be_bytes([head[4], head[5]]).wrapping_add(i as u16);
        set_lengths(slot, slot.len(), l4, tcp, id);
        let at = l4 + checksum_offset(tcp);
        slot[at..at + 2].fill(0);
        let value = nonzero(!fold(pseudo_header(slot, l4, slot.len(), tcp) + sum(&slot[l4..])));
        slot[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }
    Some(())
}

fn checksum_offset(tcp: bool) -> usize {
    if tcp { 16 } else { 6 }
}

/// UDP sends a sum of zero as all ones (RFC 768); for TCP the two mean the same.
fn nonzero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}

fn is_v4(packet: &[u8]) -> bool {
    packet[0] >> 4 == 4
}

/// Writes what depends on the length `len` of the whole packet, of which `head` is at least the headers; IPv4's identification
/// and checksum too.
fn set_lengths(head: &mut [u8], len: usize, l4: usize, tcp: bool, id: u16) {
    if is_v4(head) {
        head[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        head[4..6].copy_from_slice(&id.to_be_bytes());
        head[10..12].fill(0);
        let checksum = !fold(sum(&head[..l4]));
        head[10..12].copy_from_slice(&checksum.to_be_bytes());
    } else {
        head[4..6].copy_from_slice(&((len - 40) as u16).to_be_bytes());
    }
    if !tcp {
        head[l4 + 4..l4 + 6].copy_from_slice(&((len - l4) as u16).to_be_bytes());
    }
}

/// What the checksums of TCP and UDP cover besides their own bytes.
fn pseudo_header(head: &[u8], l4: usize, len: usize, tcp: bool) -> u64 {
    let addresses = if is_v4(head) { &head[12..20] } else { &head[8..40] };
    sum(addresses) + u64::from(if tcp { TCP } else { UDP }) + (len - l4) as u64
}

/// Packets that go up as one frame: the headers of the first behind a virtio header, then all payloads.
pub struct Merged<'p> {
    pub head: Vec<u8>,
    pub payloads: Vec<&'p [u8]>,
    flow: Option<Flow>,
}

/// A packet that may be merged with others.
struct Flow {
    tcp: bool,
    l4: usize,
    /// Of each payload but the last, which may be shorter.
    gso_size: usize,
    len: usize,
    next_sequence: u32,
    /// Nothing can follow.
    closed: bool,
}

/// Merges neighbours of one flow, in their order, and hands each frame to `each`.
pub fn merge<'p>(packets: &'p [&mut [u8]], udp: bool, mut each: impl FnMut(&Merged<'p>)) {
    let mut open: Option<Merged<'p>> = None;
    for packet in packets {
        let flow = Flow::of(packet, udp);
        if let (Some(merged), Some(flow)) = (&mut open, &flow)
            && merged.take(packet, flow)
        {
            continue;
        }
        if let Some(merged) = open.replace(Merged::new(packet, flow)) {
            each(&merged.finished());
        }
    }
    if let Some(merged) = open {
        each(&merged.finished());
    }
}

impl Flow {
    /// Of a TCP segment or UDP datagram without anything unusual and with right checksums: the kernel will believe them.
    fn of(packet: &[u8], udp: bool) -> Option<Self> {
        let (protocol, l4) = match packet.first()? {
            0x45 => (*packet.get(9)?, 20),
            0x60..=0x6f => (*packet.get(6)?, 40),
            _ => return None,
        };
        let tcp = protocol == TCP;
        if !(tcp || udp && protocol == UDP) {
            return None;
        }
        let header = if tcp { usize::from(packet.get(l4 + 12)? >> 4) * 4 } else { 8 };
        let whole = if tcp { header >= 20 } else { packet.get(l4 + 6..l4 + 8)? != [0, 0] };
        // No fragments: the second bit is "don't fragment".
        let plain = l4 == 40 || (packet.get(6)? & 0xbf == 0 && packet[7] == 0 && fold(sum(&packet[..20])) == 0xffff);
        let payload = packet.len().checked_sub(l4 + header).filter(|&len| len > 0)?;
        let flags = if tcp { packet[l4 + 13] } else { ACK };
        let right = fold(pseudo_header(packet, l4, packet.len(), tcp) + sum(&packet[l4..])) == 0xffff;
        (whole && plain && flags & !PSH == ACK && right).then(|| Flow {
            tcp,
            l4,
            gso_size: payload,
            len: packet.len(),
            next_sequence: if tcp { sequence(packet, l4).wrapping_add(payload as u32) } else { 0 },
            closed: flags & PSH != 0,
        })
    }

    fn headers(&self) -> usize {
        self.len - self.gso_size
    }
}

fn sequence(packet: &[u8], l4: usize) -> u32 {
    packet.get(l4 + 4..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

impl<'p> Merged<'p> {
    fn new(packet: &'p [u8], flow: Option<Flow>) -> Self {
        let (head, payload) = packet.split_at(flow.as_ref().map_or(0, Flow::headers));
        Merged { head: [&[0; VNET_LEN], head].concat(), payloads: vec![payload], flow }
    }

    /// Whether the packet could be added.
    fn take(&mut self, packet: &'p [u8], new: &Flow) -> bool {
        let Some(flow) = &mut self.flow else { return false };
        let (l4, payload) = (flow.l4, new.gso_size);
        let headers = self.head.len() - VNET_LEN;
        let fits = !flow.closed
            && (flow.tcp, l4, headers) == (new.tcp, new.l4, new.headers())
            && payload <= flow.gso_size
            && flow.len + payload <= 0xffff
            && (!flow.tcp || sequence(packet, l4) == flow.next_sequence);
        if !fits || !same_but_lengths(&self.head[VNET_LEN..], &packet[..headers], l4, flow.tcp) {
            return false;
        }
        if flow.tcp {
            self.head[VNET_LEN + l4 + 13] |= packet[l4 + 13];
        }
        flow.next_sequence = new.next_sequence;
        flow.closed = new.closed || payload < flow.gso_size;
        flow.len += payload;
        self.payloads.push(&packet[headers..]);
        true
    }

    fn finished(mut self) -> Self {
        let Some(flow) = self.flow.take_if(|_| self.payloads.len() > 1) else { return self };
        let (vnet, head) = self.head.split_at_mut(VNET_LEN);
        let id = u16::from_be_bytes([head[4], head[5]]);
        set_lengths(head, flow.len, flow.l4, flow.tcp, id);
        let at = flow.l4 + checksum_offset(flow.tcp);
        let partial = fold(pseudo_header(head, flow.l4, flow.len, flow.tcp));
        head[at..at + 2].copy_from_slice(&partial.to_be_bytes());
        vnet[0] = NEEDS_CHECKSUM;
        vnet[1] = match (flow.tcp, is_v4(head)) {
            (true, true) => GSO_TCP4,
            (true, false) => GSO_TCP6,
            (false, _) => GSO_UDP,
        };
        let fields = [head.len(), flow.gso_size, flow.l4, checksum_offset(flow.tcp)];
        for (place, field) in vnet[2..].chunks_mut(2).zip(fields) {
            place.copy_from_slice(&(field as u16).to_ne_bytes());
        }
        self
    }
}

/// Whether two packets' headers agree in all that merging does not rewrite.
fn same_but_lengths(a: &[u8], b: &[u8], l4: usize, tcp: bool) -> bool {
    let rewritten = |i: usize| {
        let ip = if l4 == 20 { matches!(i, 2..6 | 10..12) } else { matches!(i, 4..6) };
        let own = i.checked_sub(l4).is_some_and(|i| if tcp { matches!(i, 4..8 | 13 | 16..18) } else { i >= 4 });
        ip || own
    };
    a.iter().zip(b).enumerate().all(|(i, (a, b))| a == b || rewritten(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame as the kernel gives it: `payload` bytes to be cut by `size`.
    fn frame(v4: bool, tcp: bool, payload: usize, size: usize) -> Vec<u8> {
        let l4 = if v4 { 20 } else { 40 };
        let headers = l4 + if tcp { 32 } else { 8 };
        let mut packet = vec![0u8; headers + payload];
        if v4 {
            packet[..10].copy_from_slice(&[0x45, 0, 0, 0, 0xff, 0xfe, 0x40, 0, 64, if tcp { TCP } else { UDP }]);
            packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        } else {
            packet[..8].copy_from_slice(&[0x60, 0, 0, 0, 0, 0, if tcp { TCP } else { UDP }, 64]);
            (8..40).for_each(|i| packet[i] = i as u8);
        }
        packet[l4..l4 + 4].copy_from_slice(&[0x12, 0x34, 0x56, 0x78]);
        if tcp {
            packet[l4 + 4..l4 + 14].copy_from_slice(&[0xff, 0xff, 0xff, 0, 1, 2, 3, 4, 0x80, ACK | PSH]);
        }
        (headers..headers + payload).for_each(|i| packet[i] = (i * i) as u8);
        let len = packet.len();
        set_lengths(&mut packet, len, l4, tcp, 0xfffe);
        let at = l4 + checksum_offset(tcp);
        let partial = fold(pseudo_header(&packet, l4, len, tcp));
        packet[at..at + 2].copy_from_slice(&partial.to_be_bytes());
        let kind = match (tcp, v4) {
            (true, true) => GSO_TCP4,
            (true, false) => GSO_TCP6,
            (false, _) => GSO_UDP,
        };
        let mut frame = vec![NEEDS_CHECKSUM, kind];
        for field in [headers, size, l4, checksum_offset(tcp)] {
            frame.extend((field as u16).to_ne_bytes());
        }
        frame.extend(packet);
        frame
    }

    fn cut_up(frame: &[u8]) -> Vec<Vec<u8>> {
        let mut outgoing = Outgoing::new(4, 1420);
        cut(frame, &mut outgoing).unwrap();
        (0..outgoing.len()).map(|i| outgoing.packet(i).to_vec()).collect()
    }

    /// Cutting gives right packets, and merging them gives the frame back, byte for byte.
    #[test]
    fn merging_undoes_cutting() {
        for (v4, tcp) in [(true, true), (true, false), (false, true), (false, false)] {
            for (payload, size) in [(3000, 1000), (3001, 1000), (64_000, 1368), (2, 1), (1001, 1000)] {
                let frame = frame(v4, tcp, payload, size);
                let mut packets = cut_up(&frame);
                assert_eq!(packets.len(), payload.div_ceil(size));
                assert!(packets.iter().all(|packet| Flow::of(packet, true).is_some()));
                let packets: Vec<_> = packets.iter_mut().map(|packet| &mut packet[..]).collect();
                let mut frames = vec![];
                merge(&packets, true, |merged| {
                    frames.push([&merged.head[..], &merged.payloads.concat()].concat());
                });
                assert_eq!(frames.len(), 1, "{v4} {tcp} {payload} {size}");
                assert!(frames[0] == frame, "{v4} {tcp} {payload} {size}");
            }
        }
    }

    #[test]
    fn only_what_belongs_together_is_merged() {
        let frames = |packets: &mut [Vec<u8>]| {
            let packets: Vec<_> = packets.iter_mut().map(|packet| &mut packet[..]).collect();
            let (mut sizes, mut bytes) = (vec![], 0);
            merge(&packets, true, |merged| {
                sizes.push(merged.payloads.len());
                bytes += merged.payloads.concat().len();
                assert_eq!(merged.payloads.len() == 1, merged.head[..VNET_LEN] == [0; VNET_LEN]);
            });
            sizes
        };
        for (v4, tcp) in [(true, true), (true, false), (false, true), (false, false)] {
            let (packets, l4) = (cut_up(&frame(v4, tcp, 4000, 1000)), if v4 { 20 } else { 40 });
            assert_eq!(frames(&mut packets.clone()), [4]);
            // A wrong checksum, another port, a gap, an odd one out, a short one before the end.
            for byte in [l4 + 100, l4 + 1, l4 - 1] {
                let mut packets = packets.clone();
                packets[1][byte] ^= 1;
                assert_eq!(frames(&mut packets), [1, 1, 2], "{v4} {tcp} {byte}");
            }
            let mut gap = [packets[0].clone(), packets[2].clone(), packets[3].clone()];
            assert_eq!(frames(&mut gap), if tcp { vec![1, 2] } else { vec![3] });
            let mut odd = [packets[0].clone(), vec![0x45; 30], packets[1].clone()];
            assert_eq!(frames(&mut odd), [1, 1, 1]);
        }
        let mut short = cut_up(&frame(true, false, 1500, 1000));
        short.extend(short.clone());
        assert_eq!(frames(&mut short), [2, 2]);
    }

    #[test]
    fn nonsense_is_refused() {
        let frame = frame(true, true, 3000, 1000);
        for len in 0..VNET_LEN + 53 {
            assert_eq!(cut(&frame[..len], &mut Outgoing::new(4, 1420)), None, "{len}");
        }
        for (byte, value) in [(1, 77), (4, 0), (6, 2), (10, 0x60)] {
            let mut frame = frame.clone();
            frame[byte] = value;
            if byte == 4 {
                frame[5] = 0;
            }
            assert_eq!(cut(&frame, &mut Outgoing::new(4, 1420)), None, "{byte}");
        }
    }
}
