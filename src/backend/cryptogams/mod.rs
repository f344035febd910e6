//! Genuine CRYPTOGAMS, Andy Polyakov's kernels, as the registry package `openssl-src` has them: with the
//! feature `cryptogams` only, and chosen only when named. May assume what the build script made of the
//! package: every symbol under our prefix, the capability word ours.
//!
//! These kernels leave what they spill on the stack. What is ours is wiped.
#![allow(unsafe_code)]

/// The name of a symbol as `assemble.rs` makes it.
macro_rules! prefixed {
    ($name:literal) => {
        concat!("wireseal_", env!("CARGO_PKG_VERSION_MAJOR"), "_", env!("CARGO_PKG_VERSION_MINOR"), "_", $name)
    };
}

mod level;
#[cfg(test)]
mod tests;

use super::{Kernel, Matrix, split_key, words};
use crate::overlap::{InOut, Regions};
use crate::wipe::wipe;
use ffi::{Blocks, Emit};

/// Made once the capability word is filled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cryptogams(());

/// h, r, and what else a kernel makes of r: opaque, 192 bytes, aligned as a double.
type Context = [u64; 24];

/// Poly1305 in progress.
pub(crate) struct Poly {
    context: Context,
    functions: Functions,
    s: [u32; 4],
}

/// What the rest of a message goes through.
#[repr(C)]
struct Functions {
    blocks: Blocks,
    emit: Emit,
}

impl Drop for Poly {
    fn drop(&mut self) {
        wipe(&mut self.context);
        wipe(&mut self.s);
    }
}

/// The package's interface. ChaCha20 takes any number of bytes, `out` = `inp` or disjoint, 8 words of key and
/// the last row of the matrix; Poly1305 multiples of 16 bytes, `padbit` at 2¹²⁸ of each 16, and s as 4 words.
mod ffi {
    use super::Context;
    #[cfg(not(target_arch = "powerpc64"))]
    use super::Functions;

    #[cfg(target_arch = "powerpc64")]
    pub(super) type Xor = unsafe extern "C" fn(*mut u8, *const u8, usize, *const u32, *const u32);
    pub(super) type Blocks = unsafe extern "C" fn(&mut Context, inp: *const u8, len: usize, padbit: u32);
    pub(super) type Emit = unsafe extern "C" fn(&mut Context, mac: &mut [u8; 16], s: &[u32; 4]);

    unsafe extern "C" {
        #[link_name = prefixed!("poly1305_blocks")]
        pub(super) fn blocks(_: &mut Context, inp: *const u8, len: usize, padbit: u32);
        #[link_name = prefixed!("poly1305_emit")]
        pub(super) fn emit(_: &mut Context, mac: &mut [u8; 16], s: &[u32; 4]);
    }

    #[cfg(not(target_arch = "powerpc64"))]
    unsafe extern "C" {
        #[cfg(not(target_arch = "mips64"))]
        #[link_name = prefixed!("ChaCha20_ctr32")]
        pub(super) fn xor(out: *mut u8, inp: *const u8, len: usize, key: *const u32, row: *const u32);
        /// Takes r; puts other functions in place if it has better ones.
        #[link_name = prefixed!("poly1305_init")]
        pub(super) fn init(_: &mut Context, r: *const u8, _: &mut Functions) -> i32;
    }

    #[cfg(target_arch = "powerpc64")]
    unsafe extern "C" {
        #[link_name = prefixed!("ChaCha20_ctr32_int")]
        pub(super) fn xor_int(out: *mut u8, inp: *const u8, len: usize, key: *const u32, row: *const u32);
        #[link_name = prefixed!("ChaCha20_ctr32_vmx")]
        pub(super) fn xor_vmx(out: *mut u8, inp: *const u8, len: usize, key: *const u32, row: *const u32);
        #[link_name = prefixed!("ChaCha20_ctr32_vsx")]
        pub(super) fn xor_vsx(out: *mut u8, inp: *const u8, len: usize, key: *const u32, row: *const u32);
        #[link_name = prefixed!("ChaCha20_ctr32_vsx_p10")]
        pub(super) fn xor_power10(out: *mut u8, inp: *const u8, len: usize, key: *const u32, row: *const u32);
        #[link_name = prefixed!("poly1305_init_int")]
        pub(super) fn init(_: &mut Context, r: *const u8);
        #[link_name = prefixed!("poly1305_blocks_vsx")]
        pub(super) fn blocks_vsx(_: &mut Context, inp: *const u8, len: usize, padbit: u32);
    }
}

/// out = inp ⊕ keystream.
///
/// # Safety
/// `len` bytes of `inp` can be read and of `out` be written, and they are the same or disjoint.
#[cfg(not(target_arch = "mips64"))]
unsafe fn xor(matrix: &Matrix, out: *mut u8, inp: *const u8, len: usize) {
    if len > 0 {
        let (key, row) = (matrix.words()[4..].as_ptr(), matrix.words()[12..].as_ptr());
        #[cfg(not(target_arch = "powerpc64"))]
        let xor = ffi::xor;
        // The package leaves this choice to its C code.
        #[cfg(target_arch = "powerpc64")]
        let xor = ([ffi::xor_int, ffi::xor_vmx, ffi::xor_vsx, ffi::xor_power10] as [ffi::Xor; 4])[level::number()];
        // SAFETY: the caller's; 8 and 4 words of the 16; the CPU has what the level in force needs.
        unsafe { xor(out, inp, len, key, row) }
    }
}

impl Kernel for Cryptogams {
    /// Measured on Zen 3 (AVX2): 1 costs 60 ns more at 16 bytes, 8 costs 50; above 1 KiB all are within 5 %.
    const WIDTH: usize = 4;

    // Its frames are not wiped by itself.
    type Stack = [u8; 4096];

    type Poly = Poly;

    fn detect() -> Option<Self> {
        level::detect();
        Some(Cryptogams(()))
    }

    #[cfg(not(target_arch = "mips64"))]
    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        match io.regions() {
            Regions::InPlace(data) => {
                let data = data.as_flattened_mut();
                // SAFETY: a slice is as long as it is; in place.
                unsafe { xor(matrix, data.as_mut_ptr(), data.as_mut_ptr(), data.len()) }
            }
            Regions::Separate(src, dst) => {
                let (src, dst) = (src.as_flattened(), dst.as_flattened_mut());
                // SAFETY: `Regions` has them equally long; disjoint, since one is borrowed mutably.
                unsafe { xor(matrix, dst.as_mut_ptr(), src.as_ptr(), src.len()) }
            }
        }
    }

    #[cfg(not(target_arch = "mips64"))]
    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        out.fill([0; 64]);
        self.chacha20_xor(matrix, out.into());
    }

    /// The package has no ChaCha20 for this architecture.
    #[cfg(target_arch = "mips64")]
    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        super::portable::Portable.chacha20_xor(matrix, io);
    }

    #[cfg(target_arch = "mips64")]
    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        super::portable::Portable.chacha20_blocks(matrix, out);
    }

    fn poly1305_new(self, key: &[u8; 32], _blocks: usize) -> Poly {
        let (_, s) = split_key(key);
        let functions = Functions { blocks: ffi::blocks, emit: ffi::emit };
        let mut poly = Poly { context: [0; 24], functions, s: words(&s.to_le_bytes()) };
        #[cfg(target_arch = "powerpc64")]
        if level::number() >= 2 {
            poly.functions.blocks = ffi::blocks_vsx;
        }
        // SAFETY: r is the first 16 bytes of the 32.
        unsafe {
            #[cfg(not(target_arch = "powerpc64"))]
            ffi::init(&mut poly.context, key.as_ptr(), &mut poly.functions);
            #[cfg(target_arch = "powerpc64")]
            ffi::init(&mut poly.context, key.as_ptr());
        }
        poly
    }

    fn poly1305_update(self, poly: &mut Poly, blocks: &[[u8; 16]]) {
        let bytes = blocks.as_flattened();
        if !bytes.is_empty() {
            // SAFETY: a slice is as long as it is; `init` made the context for this function.
            unsafe { (poly.functions.blocks)(&mut poly.context, bytes.as_ptr(), bytes.len(), 1) }
        }
    }

    fn poly1305_finish(self, poly: &mut Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
        let mut tag = [0; 16];
        // SAFETY: a block has 16 bytes; `init` made the context for these functions.
        unsafe {
            if let Some(block) = partial {
                (poly.functions.blocks)(&mut poly.context, block.as_ptr(), 16, 0);
            }
            (poly.functions.emit)(&mut poly.context, &mut tag, &poly.s);
        }
        tag
    }
}
