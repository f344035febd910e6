//! ppc64le from POWER8 on, the target's baseline: the kernels in `asm/ppc64le`, whose contract is `asm/ABI.md`.
//! Assembly because Rust's POWER intrinsics are not stable.
#![allow(unsafe_code)]

use super::portable::limbs64::Poly;
use super::{Kernel, Matrix};
use crate::overlap::{InOut, Regions};

unsafe extern "C" {
    fn wireseal_0_1_chacha20_xor_vsx(dst: *mut [u8; 64], src: *const [u8; 64], nblocks: usize, matrix: &[u32; 16]);
    fn wireseal_0_1_chacha20_blocks_vsx(dst: *mut [u8; 64], nblocks: usize, matrix: &[u32; 16]);
    fn wireseal_0_1_poly1305_blocks_vsx(poly: &mut Poly, blocks: *const [u8; 16], nblocks: usize);
}

/// No requirement beyond the target's, so no secret in its making.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vsx;

impl Kernel for Vsx {
    const WIDTH: usize = 4;

    /// For the generic code around them, whose frames are larger here; the kernels spill nothing.
    type Stack = [u8; 4096];

    type Poly = Poly;

    fn detect() -> Option<Self> {
        Some(Vsx)
    }

    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        let (src, dst, nblocks) = match io.regions() {
            Regions::InPlace(data) => {
                let nblocks = data.len();
                let data = data.as_mut_ptr();
                (data.cast_const(), data, nblocks)
            }
            Regions::Separate(src, dst) => (src.as_ptr(), dst.as_mut_ptr(), dst.len()),
        };
        // SAFETY: both regions have `nblocks` blocks and are one or disjoint.
        unsafe { wireseal_0_1_chacha20_xor_vsx(dst, src, nblocks, matrix.words()) }
    }

    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        // SAFETY: `out` has that many blocks.
        unsafe { wireseal_0_1_chacha20_blocks_vsx(out.as_mut_ptr(), out.len(), matrix.words()) }
    }

    fn poly1305_new(self, key: &[u8; 32], _blocks: usize) -> Poly {
        Poly::new(key)
    }

    fn poly1305_update(self, poly: &mut Poly, blocks: &[[u8; 16]]) {
        // SAFETY: the state begins with h and r, in the order of their declaration; there are that many blocks.
        unsafe { wireseal_0_1_poly1305_blocks_vsx(poly, blocks.as_ptr(), blocks.len()) }
    }

    fn poly1305_finish(self, poly: &mut Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
        poly.finish(partial)
    }
}
