//! x86-64 with AVX-512 (F, BW, VL, IFMA) and BMI2, through `std::arch`: ChaCha20 in rows, four blocks to a vector;
//! Poly1305 in general registers for short messages, in eight lanes of radix 2⁴⁴ for longer ones.
//!
//! Each method of the seam is one call of a function that enables the features: only inside of those do
//! intrinsics become instructions.
#![allow(unsafe_code)]

mod aead;
mod batch;
mod chacha20;
mod poly1305;
mod rounds;

use super::x86_64::message::Stream;
use super::x86_64::poly1305::Poly;
use super::{Job, Kernel, Matrix, scrubbed};
use crate::overlap::InOut;
use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering};

cpufeatures::new!(features, "avx512f", "avx512bw", "avx512vl", "avx512ifma", "bmi1", "bmi2");

/// Witness that the CPU has the features: made by `detect` only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512 {
    /// Whether short messages are faster if instructions come no sooner than they can run: `rounds.rs` says why.
    paced: bool,
}

/// Whether this is AMD's family 26, Zen 5. Asked once: `cpuid` takes a microsecond in a virtual machine.
fn is_zen_5() -> bool {
    const UNKNOWN: u8 = 2;
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    match ANSWER.load(Ordering::Relaxed) {
        UNKNOWN => {
            let vendor = __cpuid(0);
            let family = __cpuid(1).eax;
            let amd = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD";
            let zen_5 = amd && (family >> 8 & 15) + (family >> 20 & 255) == 26;
            ANSWER.store(zen_5.into(), Ordering::Relaxed);
            zen_5
        }
        answer => answer == 1,
    }
}

/// The stack of the kernels; sealing and opening overwrite their own, as much as each length needs.
type Kernels = [u8; 8192];

/// The stack of the glue around them, and of all in an unoptimised build, where vectors go from function to function
/// through memory.
type Glue = [u8; if cfg!(debug_assertions) { 16384 } else { 512 }];

impl Kernel for Avx512 {
    const WIDTH: usize = 16;

    type Stack = Glue;

    type Poly = Poly;

    fn detect() -> Option<Self> {
        features::get().then(|| Avx512 { paced: is_zen_5() })
    }

    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>) {
        // SAFETY: `self` witnesses that the CPU has the features.
        scrubbed::<Kernels, _>(|| unsafe { chacha20::xor(matrix, io) })
    }

    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]) {
        // SAFETY: `self` witnesses that the CPU has the features.
        scrubbed::<Kernels, _>(|| unsafe { chacha20::blocks(matrix, out) })
    }

    fn poly1305_new(self, key: &[u8; 32], _blocks: usize) -> Self::Poly {
        Poly::new(key)
    }

    fn poly1305_update(self, poly: &mut Self::Poly, blocks: &[[u8; 16]]) {
        // SAFETY: `self` witnesses that the CPU has the features.
        scrubbed::<Kernels, _>(|| unsafe { poly1305::update(poly, blocks) })
    }

    fn poly1305_finish(self, poly: &mut Self::Poly, partial: Option<&[u8; 16]>) -> [u8; 16] {
        scrubbed::<Kernels, _>(|| poly.finish(partial))
    }

    const SHARED_MAX: usize = batch::LONGEST;

    fn share<const SEALING: bool>(self, jobs: &mut [Option<Job<'_, '_>>]) -> usize {
        if batch::worth(jobs) == 0 {
            return 0;
        }
        // SAFETY: `self` witnesses that the CPU has the features.
        scrubbed::<Kernels, _>(|| unsafe { batch::run::<SEALING>(jobs) })
    }

    fn seal_fused(self, key: &[u32; 8], nonce: &[u8; 12], aad: &[u8], io: &mut InOut<'_>) -> Option<[u8; 16]> {
        // SAFETY: `self` witnesses that the CPU has the features.
        Some(unsafe { aead::seal(Stream { key, nonce }, aad, io, self.paced) })
    }

    fn open_fused(
        self,
        key: &[u32; 8],
        nonce: &[u8; 12],
        aad: &[u8],
        io: &mut InOut<'_>,
        tag: &[u8; 16],
    ) -> Option<bool> {
        // SAFETY: `self` witnesses that the CPU has the features.
        Some(unsafe { aead::open(Stream { key, nonce }, aad, io, tag, self.paced) })
    }
}
