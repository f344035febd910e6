//! The simple Internet mix: of twelve packets seven of 40 bytes, four of 576 and one of 1420, here 48 in an order without
//! a pattern, handed over at once or, where a library has no such interface, one by one.

use crate::cases::{Case, Direction, Keys, Placement};
use crate::rivals::{Contender, Slot};

const PACKETS: usize = 48;
const KEY: [u8; 32] = [0x42; 32];

/// The packet's length: 29 has no factor in common with 48, so every place in the mix comes once.
fn len(packet: usize) -> usize {
    match packet * 29 % PACKETS % 12 {
        0..7 => 40,
        7..11 => 576,
        _ => 1420,
    }
}

/// The least nanoseconds for all packets, by contender.
pub fn least(contenders: &[&Contender], direction: Direction, rounds: usize) -> Result<Vec<f64>, String> {
    let case = Case { direction, placement: Placement::InPlace, keys: Keys::Warm, aad: 0, batch: PACKETS, size: 0 };
    let plain: Vec<Vec<u8>> = (0..PACKETS).map(|i| (0..len(i) + 16).map(|j| (i + 7 * j) as u8).collect()).collect();
    let mut sealed = plain.clone();
    let first = contenders.first().ok_or("nobody to measure")?;
    let sealing = Case { direction: Direction::Seal, ..case };
    first.begin(&KEY, Direction::Seal).pass(&sealing, &[], &mut slots(&mut sealed)).ok_or("does not seal")?;

    let (from, to) = if direction == Direction::Seal { (&plain, &sealed) } else { (&sealed, &plain) };
    let mut all: Vec<_> = contenders.iter().map(|contender| contender.begin(&KEY, direction)).collect();
    let mut least = vec![f64::INFINITY; contenders.len()];
    let mut buffers = plain.clone();
    for _ in 0..rounds {
        for ((contender, passes), least) in contenders.iter().zip(&mut all).zip(&mut least) {
            // The first pass of a turn only warms up.
            for warm in [false, true, true, true] {
                buffers.iter_mut().zip(from).for_each(|(buffer, from)| buffer.copy_from_slice(from));
                let nanoseconds = passes.pass(&case, &[], &mut slots(&mut buffers));
                let nanoseconds = nanoseconds.ok_or_else(|| format!("{} refuses a tag", contender.name))?;
                if warm {
                    *least = least.min(nanoseconds);
                }
            }
            let tag = if direction == Direction::Seal { 16 } else { 0 };
            let right = |(i, buffer): (usize, &Vec<u8>)| buffer[..len(i) + tag] == to[i][..len(i) + tag];
            if !buffers.iter().enumerate().all(right) {
                return Err(format!("{} differs from {}", contender.name, first.name));
            }
        }
    }
    Ok(least)
}

fn slots(buffers: &mut [Vec<u8>]) -> Vec<Slot<'_>> {
    let slots = buffers.iter_mut().enumerate().map(|(i, packet)| {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&(i as u64).to_le_bytes());
        Slot { key: KEY, nonce, packet, plain: &mut [] }
    });
    slots.collect()
}
