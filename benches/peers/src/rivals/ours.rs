//! This crate, on one of its backends.

use super::{Library, Slot, one_by_one};
use crate::cases::{Case, Direction, Keys};
use std::array;
use wireseal::batch::{open_batch, seal_batch};
use wireseal::{Backend, ChaCha20Poly1305, Packet};

pub struct Wireseal(pub Backend);

impl Wireseal {
    fn new(&self, key: &[u8; 32]) -> ChaCha20Poly1305 {
        // What a user calls, where it comes to the same.
        if self.0 == Backend::detect() {
            ChaCha20Poly1305::new(key)
        } else {
            ChaCha20Poly1305::with_backend(key, self.0)
        }
    }

    /// Seals or opens in batches of `N`, as a tunnel would.
    fn batches<const N: usize>(&self, key: &ChaCha20Poly1305, case: &Case, aad: &[u8], slots: &mut [Slot<'_>]) -> bool {
        slots.chunks_exact_mut(N).all(|slots| {
            let mut slots = slots.iter_mut();
            if case.keys == Keys::Warm {
                let mut batch: [Packet<'_>; N] = array::from_fn(|_| packet(slots.next().unwrap(), aad));
                match case.direction {
                    Direction::Seal => key.seal_batch(&mut batch).is_ok(),
                    Direction::Open => {
                        key.open_batch(&mut batch).is_ok() && batch.iter().all(|packet| packet.verdict().is_ok())
                    }
                }
            } else {
                let keys: [ChaCha20Poly1305; N] = array::from_fn(|i| self.new(&slots.as_slice()[i].key));
                let mut batch: [(&ChaCha20Poly1305, Packet<'_>); N] =
                    array::from_fn(|i| (&keys[i], packet(slots.next().unwrap(), aad)));
                match case.direction {
                    Direction::Seal => seal_batch(&mut batch).is_ok(),
                    Direction::Open => {
                        open_batch(&mut batch).is_ok() && batch.iter().all(|(_, packet)| packet.verdict().is_ok())
                    }
                }
            }
        })
    }
}

fn packet<'a>(slot: &'a mut Slot<'_>, aad: &'a [u8]) -> Packet<'a> {
    Packet::attached(&slot.nonce, aad, slot.packet).unwrap()
}

impl Library for Wireseal {
    type Key = ChaCha20Poly1305;

    fn key(&self, key: &[u8; 32], _: Direction) -> Self::Key {
        self.new(key)
    }

    fn seal_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        *tag = key.seal_in_place(nonce, aad, data).unwrap().into();
    }

    fn open_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        key.open_in_place(nonce, aad, data, &(*tag).into()).is_ok()
    }

    fn seal_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        key.seal_into(nonce, aad, plaintext, packet).unwrap();
    }

    fn open_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        key.open_into(nonce, aad, packet, out).is_ok()
    }

    fn pass(&self, key: &mut Self::Key, case: &Case, aad: &[u8], slots: &mut [Slot<'_>]) -> bool {
        match case.batch {
            2 => self.batches::<2>(key, case, aad, slots),
            4 => self.batches::<4>(key, case, aad, slots),
            8 => self.batches::<8>(key, case, aad, slots),
            16 => self.batches::<16>(key, case, aad, slots),
            32 => self.batches::<32>(key, case, aad, slots),
            48 => self.batches::<48>(key, case, aad, slots),
            64 => self.batches::<64>(key, case, aad, slots),
            128 => self.batches::<128>(key, case, aad, slots),
            _ => one_by_one(self, key, case, aad, slots),
        }
    }
}
