//! The differential suite: every backend that this CPU can run against portable, kernel by kernel, at
//! every number of blocks, any alignment, and the edges that random messages never reach. What portable
//! itself is measured by are the vectors and the oracles in `tests/`.

use super::portable::Portable;
use super::{Backend, Kernel, Matrix, Op};
use crate::overlap::InOut;
use core::cell::RefCell;
use std::vec::Vec;
use std::{println, thread_local};

/// Bytes without a pattern; any generator will do.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        })
        .collect()
}

fn matrix(seed: u64, counter: u32) -> Matrix {
    let bytes = noise(44, seed);
    let key = core::array::from_fn(|i| u32::from_le_bytes([0, 1, 2, 3].map(|j| bytes[4 * i + j])));
    Matrix::new(&key, counter, bytes[32..].try_into().unwrap())
}

/// Runs a check on every backend but the one it is compared with.
fn on_every_backend<O: Op<Out = ()> + Copy>(check: O) {
    for backend in Backend::available() {
        println!("backend: {backend}");
        backend.with(check);
    }
}

#[test]
fn chacha20_agrees_with_portable() {
    #[derive(Clone, Copy)]
    struct Check;
    impl Op for Check {
        type Out = ();
        fn run<K: Kernel>(self, kernel: K) {
            chacha20_agrees(kernel);
        }
    }
    on_every_backend(Check);
}

pub(crate) fn chacha20_agrees<K: Kernel>(kernel: K) {
    for blocks in (0_u32..=70).chain([127, 128, 129, 255, 256, 257]) {
        // Counters whose low word carries through all bits, and the last block there is.
        for counter in [0, 1, 0xff, 0xffff, 0x7fff_ffff - 3, u32::MAX] {
            let counter = counter.min(u32::MAX - u32::saturating_sub(blocks, 1));
            let matrix = matrix(u64::from(blocks), counter);
            let blocks = blocks as usize;
            let mut expected = std::vec![[0; 64]; blocks];
            Portable.chacha20_blocks(&matrix, &mut expected);
            let mut keystream = std::vec![[0xaa; 64]; blocks];
            kernel.chacha20_blocks(&matrix, &mut keystream);
            assert_eq!(keystream, expected, "{blocks} blocks from {counter}");

            let (offset_in, offset_out) = (blocks % 17, (blocks * 7 + 3) % 17);
            let src = noise(64 * blocks + 16, counter.into());
            let src = &src[offset_in..][..64 * blocks];
            let mut out = std::vec![0x55; 64 * blocks + 32];
            let dst = &mut out[offset_out..][..64 * blocks];
            let (io, _) = InOut::separate(src, dst).unwrap().into_blocks();
            kernel.chacha20_xor(&matrix, io);
            let expected: Vec<u8> = src.iter().zip(expected.as_flattened()).map(|(a, b)| a ^ b).collect();
            assert_eq!(dst, expected, "{blocks} blocks from {counter}");

            dst.copy_from_slice(src);
            kernel.chacha20_xor(&matrix, InOut::from(&mut *dst).into_blocks().0);
            assert_eq!(dst, expected, "{blocks} blocks from {counter} in place");
            assert!(out[..offset_out].iter().chain(&out[offset_out + 64 * blocks..]).all(|&byte| byte == 0x55));
        }
    }
}

/// One-time keys and blocks that drive the carries to their ends.
pub(crate) fn poly1305_edges() -> impl Iterator<Item = ([u8; 32], [u8; 16])> {
    // r all ones before the clamp, r = 0, 1 and 2.
    let small = |r| core::array::from_fn(|i| if i == 0 { r } else { 0xff * u8::from(i > 15) });
    let keys = [[0xff; 32], small(0), small(1), small(2)];
    let keys = keys.into_iter().chain((0..4).map(|seed| noise(32, 77 + seed).try_into().unwrap()));
    let mut nearly = [[0xff; 16]; 3];
    // 2¹²⁸ − 5, − 6 and − 4: with the pad bit and r = 1 they put h around p and 2¹³⁰.
    (nearly[0][0], nearly[1][0], nearly[2][0]) = (0xfb, 0xfa, 0xfc);
    let blocks = nearly.into_iter().chain([[0xff; 16], [0; 16], noise(16, 5).try_into().unwrap()]);
    keys.flat_map(move |key| blocks.clone().map(move |block| (key, block)))
}

#[test]
fn poly1305_agrees_with_portable() {
    #[derive(Clone, Copy)]
    struct Check;
    impl Op for Check {
        type Out = ();
        fn run<K: Kernel>(self, kernel: K) {
            poly1305_agrees(kernel);
        }
    }
    on_every_backend(Check);
}

pub(crate) fn poly1305_agrees<K: Kernel>(kernel: K) {
    let partial = core::array::from_fn(|i| if i < 5 { 0xff } else { (i == 5).into() });
    for (key, block) in poly1305_edges() {
        for count in (0..=70).chain([127, 128, 129, 255, 256, 262]) {
            let blocks = std::vec![block; count];
            let partial = (count % 3 == 0).then_some(&partial);
            let expected = mac(Portable, &key, &[&blocks], count, partial);
            assert_eq!(mac(kernel, &key, &[&blocks], count, partial), expected, "{count} blocks");
            // The hint is only a hint, and calls may be cut anywhere.
            let (a, b) = blocks.split_at(count / 3);
            let (b, c) = b.split_at(b.len() / 2);
            assert_eq!(mac(kernel, &key, &[a, b, c], 0, partial), expected, "{count} blocks in three");
            assert_eq!(mac(kernel, &key, &[a, b, c], usize::MAX, partial), expected, "{count} blocks in three");
        }
    }
    for count in (0..=263).chain([300, 383, 450, 640, 1025]) {
        let key = noise(32, count).try_into().unwrap();
        let blocks = noise(16 * count as usize + 1, count + 1);
        let blocks = blocks[1..].as_chunks().0;
        let expected = mac(Portable, &key, &[blocks], blocks.len(), None);
        assert_eq!(mac(kernel, &key, &[blocks], blocks.len(), None), expected, "{count} blocks of noise");
    }
}

fn mac<K: Kernel>(
    kernel: K,
    key: &[u8; 32],
    calls: &[&[[u8; 16]]],
    hint: usize,
    partial: Option<&[u8; 16]>,
) -> [u8; 16] {
    let mut poly = kernel.poly1305_new(key, hint);
    for blocks in calls {
        kernel.poly1305_update(&mut poly, blocks);
    }
    kernel.poly1305_finish(&mut poly, partial)
}

/// The two radices of portable, of which a target only uses one.
#[test]
fn poly1305_limbs_agree() {
    use super::portable::{limbs32, limbs64};
    for (key, block) in poly1305_edges() {
        let (mut a, mut b) = (limbs32::Poly::new(&key), limbs64::Poly::new(&key));
        for count in 0..20 {
            a.update(&[block]);
            b.update(&[block, noise(16, count).try_into().unwrap()][..1]);
        }
        assert_eq!(a.finish(Some(&block)), b.finish(Some(&block)));
    }
    // With r = 1 three blocks end at 2¹³⁰ − 8 + k: on either side of p = 2¹³⁰ − 5.
    let key = core::array::from_fn(|i| (i == 0).into());
    for k in 0..8 {
        let blocks = [(u128::MAX - 7 + k).to_le_bytes(), [0; 16], [0; 16]];
        let (mut a, mut b) = (limbs32::Poly::new(&key), limbs64::Poly::new(&key));
        a.update(&blocks);
        b.update(&blocks);
        let tag = if k < 3 { u128::MAX - 7 + k } else { k - 3 };
        assert_eq!([a.finish(None), b.finish(None)], [tag.to_le_bytes(); 2]);
    }
}

thread_local! {
    static COMPUTED: RefCell<Vec<(u32, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Portable in passes of `W` blocks, with a record of every call: first block and number of blocks.
#[derive(Clone, Copy)]
pub(crate) struct Counting<const W: usize>;

impl<const W: usize> Counting<W> {
    /// The calls since the last time this was asked on this thread.
    pub(crate) fn take() -> Vec<(u32, usize)> {
        COMPUTED.take()
    }
}

impl<const W: usize> Kernel for Counting<W> {
    const WIDTH: usize = W;
    type Stack = [u8; 0];
    type Poly = <Portable as Kernel>::Poly;

    fn detect() -> Option<Self> {
        Some(Counting)
    }

    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        COMPUTED.with_borrow_mut(|calls| calls.push((matrix.counter(), io.len())));
        Portable.chacha20_xor(matrix, io);
    }

    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        COMPUTED.with_borrow_mut(|calls| calls.push((matrix.counter(), out.len())));
        Portable.chacha20_blocks(matrix, out);
    }

    fn poly1305_new(self, key: &[u8; 32], blocks: usize) -> Self::Poly {
        Portable.poly1305_new(key, blocks)
    }

    fn poly1305_update(self, poly: &mut Self::Poly, blocks: &[[u8; 16]]) {
        Portable.poly1305_update(poly, blocks);
    }

    fn poly1305_finish(self, poly: &mut Self::Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
        Portable.poly1305_finish(poly, partial)
    }
}
