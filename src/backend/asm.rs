//! The only foreign functions: the kernels in `asm/`, whose contract is `asm/ABI.md`, as backends.
//! What they need of the CPU is known at build time: `build.rs` only assembles what the target can run.
#![allow(unsafe_code)]

use super::{Kernel, Matrix, Stack, words};
use crate::Tag;
use crate::overlap::{InOut, Regions};
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::slice;
use zeroize::optimization_barrier;

/// One set of kernels for MIPS: a ChaCha20 block at a time, Poly1305 as CRYPTOGAMS cuts it in three.
///
/// # Safety
/// As C, with the types and lengths of `asm/ABI.md`.
pub(crate) trait Symbols: Copy + Eq + 'static {
    unsafe fn chacha20_xor(dst: *mut u8, src: *const u8, nblocks: usize, matrix: *const u32);
    unsafe fn chacha20_blocks(dst: *mut u8, nblocks: usize, matrix: *const u32);
    unsafe fn poly1305_init(ctx: *mut u32, key: *const u8) -> i32;
    unsafe fn poly1305_blocks(ctx: *mut u32, inp: *const u8, len: usize, padbit: u32);
    unsafe fn poly1305_emit(ctx: *const u32, mac: *mut u8, nonce: *const u32);
}

macro_rules! symbols {
    ($(#[$doc:meta])* $name:literal, $Kernel:ident, $Set:ident: $($function:ident = $symbol:literal
        ($($arg:ident: $ty:ty),*) $(-> $out:ty)?;)*) => {
        $(#[$doc])*
        #[cfg(wireseal_has = $name)]
        pub(crate) type $Kernel = Mips<$Set>;

        #[cfg(wireseal_has = $name)]
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) struct $Set;

        #[cfg(wireseal_has = $name)]
        impl Symbols for $Set {$(
            #[inline(always)]
            unsafe fn $function($($arg: $ty),*) $(-> $out)? {
                unsafe extern "C" {
                    #[link_name = $symbol]
                    fn symbol($($arg: $ty),*) $(-> $out)?;
                }
                // SAFETY: the caller's duty, the same as ours.
                unsafe { symbol($($arg),*) }
            }
        )*}
    };
}

symbols! {
    /// MIPS32 release 2: 24K, 34K, 1004K and later.
    "mips32r2", Mips32r2, Mips32r2Symbols:
    chacha20_xor = "wireseal_0_1_chacha20_xor_mips32r2"(dst: *mut u8, src: *const u8, nblocks: usize, matrix: *const u32);
    chacha20_blocks = "wireseal_0_1_chacha20_blocks_mips32r2"(dst: *mut u8, nblocks: usize, matrix: *const u32);
    poly1305_init = "wireseal_0_1_poly1305_init_mips32r2"(ctx: *mut u32, key: *const u8) -> i32;
    poly1305_blocks = "wireseal_0_1_poly1305_blocks_mips32r2"(ctx: *mut u32, inp: *const u8, len: usize, padbit: u32);
    poly1305_emit = "wireseal_0_1_poly1305_emit_mips32r2"(ctx: *const u32, mac: *mut u8, nonce: *const u32);
}

symbols! {
    /// MIPS32 release 1: our own code after the interface and the algorithm of CRYPTOGAMS.
    "cryptogams-mips32", Mips32, Mips32Symbols:
    chacha20_xor = "wireseal_0_1_chacha20_xor_mips32"(dst: *mut u8, src: *const u8, nblocks: usize, matrix: *const u32);
    chacha20_blocks = "wireseal_0_1_chacha20_blocks_mips32"(dst: *mut u8, nblocks: usize, matrix: *const u32);
    poly1305_init = "wireseal_0_1_poly1305_init_mips32"(ctx: *mut u32, key: *const u8) -> i32;
    poly1305_blocks = "wireseal_0_1_poly1305_blocks_mips32"(ctx: *mut u32, inp: *const u8, len: usize, padbit: u32);
    poly1305_emit = "wireseal_0_1_poly1305_emit_mips32"(ctx: *const u32, mac: *mut u8, nonce: *const u32);
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mips<S>(PhantomData<S>);

/// The kernel's context, which only it reads and of which it need not use all, and behind it the nonce.
#[repr(C, align(8))]
pub(crate) struct Poly {
    context: MaybeUninit<[u32; 12]>,
    nonce: MaybeUninit<[u32; 4]>,
}

impl Poly {
    /// To be started before anything else.
    #[inline(always)]
    fn uninit() -> Self {
        Poly { context: MaybeUninit::uninit(), nonce: MaybeUninit::uninit() }
    }

    #[inline(always)]
    fn start<S: Symbols>(&mut self, key: &[u8; 32]) {
        let [_, _, _, _, s0, s1, s2, s3] = words(key);
        self.nonce.write([s0, s1, s2, s3]);
        // SAFETY: the context is aligned to 8 bytes and as large as the kernels say; r has 16 bytes.
        unsafe { S::poly1305_init(self.context.as_mut_ptr().cast(), key.as_ptr()) };
    }
}

impl Drop for Poly {
    fn drop(&mut self) {
        optimization_barrier(self.context.write([0; 12]));
        optimization_barrier(self.nonce.write([0; 4]));
    }
}

impl<S: Symbols> Kernel for Mips<S> {
    const WIDTH: usize = 1;

    type Stack = Below<1024>;

    type Poly = Poly;

    fn detect() -> Option<Self> {
        Some(Mips(PhantomData))
    }

    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        let (src, dst, nblocks) = match io.regions() {
            Regions::InPlace(data) => (data.as_ptr(), data.as_mut_ptr(), data.len()),
            Regions::Separate(src, dst) => (src.as_ptr(), dst.as_mut_ptr(), dst.len()),
        };
        // SAFETY: both regions have that many blocks of 64 bytes and are one or disjoint; the matrix has 16 words.
        unsafe { S::chacha20_xor(dst.cast(), src.cast(), nblocks, matrix.words().as_ptr()) }
    }

    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        // SAFETY: `out` has that many blocks of 64 bytes; the matrix has 16 words.
        unsafe { S::chacha20_blocks(out.as_mut_ptr().cast(), out.len(), matrix.words().as_ptr()) }
    }

    fn poly1305_new(self, key: &[u8; 32], _blocks: usize) -> Poly {
        let mut poly = Poly::uninit();
        poly.start::<S>(key);
        poly
    }

    fn poly1305_update(self, poly: &mut Poly, blocks: &[[u8; 16]]) {
        // SAFETY: `start` has initialised the context; the message has 16 bytes per block.
        unsafe {
            S::poly1305_blocks(poly.context.as_mut_ptr().cast(), blocks.as_ptr().cast(), size_of_val(blocks), 1);
        }
    }

    fn poly1305_finish(self, poly: &mut Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
        let mut tag = [0; 16];
        let context = poly.context.as_mut_ptr().cast();
        // SAFETY: `start` has initialised context and nonce, of four words; block and tag have 16 bytes.
        unsafe {
            if let Some(block) = partial {
                S::poly1305_blocks(context, block.as_ptr(), 16, 0);
            }
            S::poly1305_emit(context, tag.as_mut_ptr(), poly.nonce.as_ptr().cast());
        }
        tag
    }

    fn seal_fused(self, key: &[u32; 8], nonce: &[u8; 12], aad: &[u8], io: &mut InOut<'_>) -> Option<[u8; 16]> {
        let mut message = Message::new(self, key, nonce);
        message.start(aad);
        message.xor(io.reborrow());
        Some(message.tag(aad.len(), io.output()))
    }

    fn open_fused(
        self,
        key: &[u32; 8],
        nonce: &[u8; 12],
        aad: &[u8],
        io: &mut InOut<'_>,
        tag: &[u8; 16],
    ) -> Option<bool> {
        let mut message = Message::new(self, key, nonce);
        message.start(aad);
        let authentic = Tag::from(message.tag(aad.len(), io.input())) == Tag::from(*tag);
        if authentic {
            message.xor(io.reborrow());
        }
        Some(authentic)
    }
}

/// One message, with less around the kernels than generic code needs: on cores this slow 1000 cycles show. It is
/// filled where it is, for moves would cost as much, and it need not wipe itself, since it never leaves the
/// stack that is overwritten after every operation.
struct Message<S> {
    kernel: Mips<S>,
    matrix: ManuallyDrop<Matrix>,
    /// Block 0, later the last one if it is partial.
    block: MaybeUninit<Block>,
    poly: ManuallyDrop<Poly>,
}

#[repr(align(4))]
struct Block([u8; 64]);

impl<S: Symbols> Message<S> {
    #[inline(always)]
    fn new(kernel: Mips<S>, key: &[u32; 8], nonce: &[u8; 12]) -> Self {
        Message {
            kernel,
            matrix: ManuallyDrop::new(Matrix::new(key, 0, nonce)),
            block: MaybeUninit::uninit(),
            poly: ManuallyDrop::new(Poly::uninit()),
        }
    }

    /// The one-time key, and the associated data.
    #[inline(always)]
    fn start(&mut self, aad: &[u8]) {
        // SAFETY: one block of 64 bytes, which the kernel writes; the matrix has 16 words.
        let block = unsafe {
            S::chacha20_blocks(self.block.as_mut_ptr().cast(), 1, self.matrix.words().as_ptr());
            self.block.assume_init_ref()
        };
        let (halves, _) = block.0.as_chunks();
        self.poly.start::<S>(&halves[0]);
        if !aad.is_empty() {
            let (blocks, tail) = aad.as_chunks();
            self.kernel.poly1305_update(&mut self.poly, blocks);
            if !tail.is_empty() {
                let mut padded = [0; 16];
                padded[..tail.len()].copy_from_slice(tail);
                self.kernel.poly1305_update(&mut self.poly, &[padded]);
            }
        }
    }

    /// The text, from block 1 on. The limit on its length keeps the counter within 32 bits.
    #[inline(always)]
    fn xor(&mut self, io: InOut<'_>) {
        let (blocks, tail) = io.into_blocks();
        let after = 1 + blocks.len() as u32;
        if !blocks.is_empty() {
            self.matrix.set_counter(1);
            self.kernel.chacha20_xor(&self.matrix, blocks);
        }
        if !tail.is_empty() {
            // SAFETY: `start` has filled the block.
            let Block(block) = unsafe { self.block.assume_init_mut() };
            block[..tail.len()].copy_from_slice(tail.input());
            self.matrix.set_counter(after);
            self.kernel.chacha20_xor(&self.matrix, slice::from_mut(block).into());
            match tail.regions() {
                Regions::InPlace(out) | Regions::Separate(_, out) => out.copy_from_slice(&block[..out.len()]),
            }
        }
    }

    #[inline(always)]
    fn tag(&mut self, aad_len: usize, ciphertext: &[u8]) -> [u8; 16] {
        let (blocks, tail) = ciphertext.as_chunks();
        let mut end = [[0; 16]; 2];
        end[0][..tail.len()].copy_from_slice(tail);
        let [_, lengths] = &mut end;
        lengths[..8].copy_from_slice(&(aad_len as u64).to_le_bytes());
        lengths[8..].copy_from_slice(&(ciphertext.len() as u64).to_le_bytes());
        self.kernel.poly1305_update(&mut self.poly, blocks);
        self.kernel.poly1305_update(&mut self.poly, if tail.is_empty() { &end[1..] } else { &end });
        self.kernel.poly1305_finish(&mut self.poly, None)
    }
}

/// `N` bytes of stack, a multiple of 64.
pub(crate) struct Below<const N: usize>;

impl<const N: usize> Stack for Below<N> {
    #[inline(always)]
    fn overwrite() {
        const { assert!(N > 0 && N.is_multiple_of(64)) };
        unsafe extern "C" {
            #[link_name = "wireseal_0_1_stack_overwrite_mips32"]
            fn stack_overwrite(len: usize);
        }
        // SAFETY: nobody's memory: what lies below the stack pointer is free, and the operation before this call used it.
        unsafe { stack_overwrite(N) }
    }
}
