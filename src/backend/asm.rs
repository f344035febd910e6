//! The only foreign functions: the kernels in `asm/`, whose contract is `asm/ABI.md`, as backends.
//! What they need of the CPU is known at build time: `build.rs` only assembles what the target can run.
#![allow(unsafe_code)]

use super::{Kernel, Matrix, words};
use crate::overlap::{InOut, Regions};
use crate::wipe::wipe;

/// A kernel set with the contract of MIPS: one ChaCha20 block at a time, Poly1305 in `init`, `blocks`, `emit`.
macro_rules! mips {
    (
        $(#[$doc:meta])* $name:literal, $Kernel:ident, context: $words:literal words, $module:ident,
        $xor:ident, $blocks:ident, $poly_init:ident, $poly_blocks:ident, $poly_emit:ident
    ) => {
        #[cfg(wireseal_has = $name)]
        mod $module {
            use super::*;

            unsafe extern "C" {
                fn $xor(dst: *mut u8, src: *const u8, nblocks: usize, matrix: *const u32);
                fn $blocks(dst: *mut u8, nblocks: usize, matrix: *const u32);
                fn $poly_init(ctx: *mut Context, key: *const u8) -> i32;
                fn $poly_blocks(ctx: *mut Context, inp: *const u8, len: usize, padbit: u32);
                fn $poly_emit(ctx: *const Context, mac: *mut u8, nonce: *const u32);
            }

            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq)]
            pub(crate) struct $Kernel;

            /// What the interface calls its context: the kernel's alone.
            #[repr(C, align(8))]
            struct Context([u32; $words]);

            pub(crate) struct Poly {
                context: Context,
                nonce: [u32; 4],
            }

            impl Drop for Poly {
                fn drop(&mut self) {
                    wipe(&mut self.context.0);
                    wipe(&mut self.nonce);
                }
            }

            impl Kernel for $Kernel {
                const WIDTH: usize = 1;

                type Poly = Poly;

                fn detect() -> Option<Self> {
                    Some($Kernel)
                }

                fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
                    let (src, dst, nblocks) = match io.regions() {
                        Regions::InPlace(data) => (data.as_ptr().cast(), data.as_mut_ptr().cast(), data.len()),
                        Regions::Separate(src, dst) => (src.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len()),
                    };
                    // SAFETY: both regions have `nblocks` blocks of 64 bytes and are one or disjoint; the
                    // matrix has 16 words.
                    unsafe { $xor(dst, src, nblocks, matrix.words().as_ptr()) }
                }

                fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
                    // SAFETY: `out` has that many blocks of 64 bytes; the matrix has 16 words.
                    unsafe { $blocks(out.as_mut_ptr().cast(), out.len(), matrix.words().as_ptr()) }
                }

                fn poly1305_new(self, key: &[u8; 32], _blocks: usize) -> Poly {
                    let [_, _, _, _, s0, s1, s2, s3] = words(key);
                    let mut poly = Poly { context: Context([0; $words]), nonce: [s0, s1, s2, s3] };
                    // SAFETY: the context is aligned and as large as the kernel needs; r has 16 bytes.
                    unsafe { $poly_init(&mut poly.context, key.as_ptr()) };
                    poly
                }

                fn poly1305_update(self, poly: &mut Poly, blocks: &[[u8; 16]]) {
                    // SAFETY: `poly1305_new` has initialised the context; the message has 16 bytes per block.
                    unsafe { $poly_blocks(&mut poly.context, blocks.as_ptr().cast(), size_of_val(blocks), 1) }
                }

                fn poly1305_finish(self, poly: &mut Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
                    let mut tag = [0; 16];
                    // SAFETY: `poly1305_new` has initialised the context; block and tag have 16 bytes, the
                    // nonce has four words.
                    unsafe {
                        if let Some(block) = partial {
                            $poly_blocks(&mut poly.context, block.as_ptr(), 16, 0);
                        }
                        $poly_emit(&poly.context, tag.as_mut_ptr(), poly.nonce.as_ptr());
                    }
                    tag
                }
            }
        }
        #[cfg(wireseal_has = $name)]
        pub(crate) use $module::$Kernel;
    };
}

mips! {
    /// MIPS32 release 2: 24K, 34K, 1004K and later. Its assembling proves that the target has it.
    "mips32r2", Mips32r2, context: 9 words, mips32r2,
    wireseal_0_1_chacha20_xor_mips32r2, wireseal_0_1_chacha20_blocks_mips32r2,
    wireseal_0_1_poly1305_init_mips32r2, wireseal_0_1_poly1305_blocks_mips32r2, wireseal_0_1_poly1305_emit_mips32r2
}

mips! {
    /// MIPS32 release 1: our own code after the interface and the algorithm of CRYPTOGAMS.
    "cryptogams-mips32", Mips32, context: 12 words, mips32,
    wireseal_0_1_chacha20_xor_mips32, wireseal_0_1_chacha20_blocks_mips32,
    wireseal_0_1_poly1305_init_mips32, wireseal_0_1_poly1305_blocks_mips32, wireseal_0_1_poly1305_emit_mips32
}
