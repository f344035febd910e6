//! The seam between the constructions above and the kernels below: [`Kernel`] is all that a backend
//! has to offer, [`Backend`] is the choice among those compiled in.
//!
//! Kernels see whole blocks only, never a 2³² edge, never a partial block: generic code above owns
//! those. To add a backend: one folder (or one set of `.S` files), one row in `table.rs`.

use crate::Error;
use crate::overlap::InOut;
use crate::wipe::{Wipe, wipe};
use core::fmt;

#[cfg(wireseal_asm)]
mod asm;
#[cfg(wireseal_has = "avx2")]
mod avx2;
#[cfg(wireseal_has = "avx512")]
mod avx512;
#[cfg(wireseal_has = "cryptogams")]
mod cryptogams;
#[cfg(wireseal_has = "neon")]
mod neon;
mod portable;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(wireseal_has = "vsx")]
mod vsx;
#[cfg(any(wireseal_has = "avx2", wireseal_has = "avx512"))]
mod x86_64;

/// The ChaCha20 state before the rounds (RFC 8439, section 2.3) as sixteen words; word 12 is the
/// block counter. Holds the key, so it is wiped on drop.
#[repr(C, align(16))]
pub(crate) struct Matrix([u32; 16]);

impl Clone for Matrix {
    fn clone(&self) -> Self {
        Matrix(self.0)
    }

    fn clone_from(&mut self, other: &Self) {
        self.0 = other.0;
    }
}

/// "expand 32-byte k": the first row.
pub(crate) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

impl Matrix {
    pub(crate) fn new(key: &[u32; 8], counter: u32, nonce: &[u8; 12]) -> Self {
        let [n0, n1, n2] = words(nonce);
        Self::with_last_row(key, [counter, n0, n1, n2])
    }

    /// The last row as it is: counter and nonce, or all of HChaCha20's nonce.
    pub(crate) fn with_last_row(key: &[u32; 8], row: [u32; 4]) -> Self {
        let ([w, x, y, z], [a, b, c, d, e, f, g, h], [i, j, k, l]) = (CONSTANTS, *key, row);
        Matrix([w, x, y, z, a, b, c, d, e, f, g, h, i, j, k, l])
    }

    pub(crate) fn words(&self) -> &[u32; 16] {
        &self.0
    }

    pub(crate) fn counter(&self) -> u32 {
        self.0[12]
    }

    pub(crate) fn set_counter(&mut self, counter: u32) {
        self.0[12] = counter;
    }
}

impl Drop for Matrix {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Little-endian bytes as words.
pub(crate) fn words<const N: usize, const BYTES: usize>(bytes: &[u8; BYTES]) -> [u32; N] {
    const { assert!(BYTES == 4 * N) };
    let (chunks, _) = bytes.as_chunks();
    core::array::from_fn(|i| u32::from_le_bytes(chunks[i]))
}

/// The bits that r keeps (RFC 8439, section 2.5).
pub(crate) const CLAMP: u128 = 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff;

/// A one-time Poly1305 key as its two numbers: r, clamped, and s (RFC 8439, section 2.5).
pub(crate) fn split_key(key: &[u8; 32]) -> (u128, u128) {
    let [r, s] = [0, 16].map(|at| u128::from_le_bytes(core::array::from_fn(|i| key[at + i])));
    (r & CLAMP, s)
}

/// One packet of a batch: nonce, associated data, data in place, and the 16 bytes of its tag, which are
/// written by sealing and read by opening.
pub struct Packet<'a> {
    pub(crate) nonce: [u8; 12],
    pub(crate) aad: &'a [u8],
    pub(crate) data: &'a mut [u8],
    pub(crate) tag: &'a mut [u8; 16],
    pub(crate) verdict: Result<(), Error>,
}

/// A packet to be sealed or opened, and its key.
pub(crate) struct Job<'p, 'a> {
    pub(crate) key: &'p [u32; 8],
    pub(crate) packet: &'p mut Packet<'a>,
}

/// Witness that this CPU can run the backend, and the backend itself.
pub(crate) trait Kernel: Copy + 'static {
    /// ChaCha20 blocks in a full pass.
    const WIDTH: usize;

    /// As large as the stack that an operation on this backend may have left secrets on, the generic code around it
    /// included: overwritten after each. `tests/wiping.rs` finds out if it is too small.
    type Stack: Stack;

    /// Poly1305 in progress, in the backend's own radix. Wiped on drop.
    type Poly;

    /// The only constructor: `None` unless the CPU has what the backend needs.
    fn detect() -> Option<Self>;

    /// XORs the blocks numbered from the matrix's counter on into `io`.
    /// The caller sees to it that counter + blocks ≤ 2³².
    fn chacha20_xor(self, matrix: &Matrix, io: InOut<'_, [u8; 64]>);

    /// Writes the blocks numbered from the matrix's counter on. Same duty of the caller.
    fn chacha20_blocks(self, matrix: &Matrix, out: &mut [[u8; 64]]);

    /// Keys the authenticator with r ‖ s (r still to be clamped). `blocks` is how many 16-byte blocks
    /// will come, as far as known: a hint, so that a short message needn't pay for powers of r.
    fn poly1305_new(self, key: &[u8; 32], blocks: usize) -> Self::Poly;

    /// Absorbs whole blocks, each with its bit 2¹²⁸.
    fn poly1305_update(self, poly: &mut Self::Poly, blocks: &[[u8; 16]]);

    /// Absorbs the last partial block, if there is one (already followed by its 1 byte and zeroes,
    /// so without the bit 2¹²⁸), and gives the tag. The state is of no use afterwards; it is borrowed because
    /// a move would leave a copy behind.
    fn poly1305_finish(self, poly: &mut Self::Poly, partial: Option<&[u8; 16]>) -> [u8; 16];

    /// Seals a whole message in one go where the backend has a kernel for its length, else does
    /// nothing and returns `None`. `io` has been checked against the length limit.
    fn seal_fused(self, _key: &[u32; 8], _nonce: &[u8; 12], _aad: &[u8], _io: &mut InOut<'_>) -> Option<[u8; 16]> {
        None
    }

    /// The reverse: whether the tag is right. Writes nothing unless it is.
    fn open_fused(
        self,
        _key: &[u32; 8],
        _nonce: &[u8; 12],
        _aad: &[u8],
        _io: &mut InOut<'_>,
        _tag: &[u8; 16],
    ) -> Option<bool> {
        None
    }

    /// Packets of a batch with more data than so many bytes never come to `share`; at 0 none do.
    const SHARED_MAX: usize = 0;

    /// Seals or opens as many of these packets, from the first on, as are best done together, and returns how many:
    /// none if the first is best done alone. They are sorted by length, and all there.
    fn share<const SEALING: bool>(self, _jobs: &mut [Option<Job<'_, '_>>]) -> usize {
        0
    }
}

/// Calls `secretive`, then overwrites the stack below this call, where it has left what the compiler spilled and moved.
#[inline(always)]
pub(crate) fn scrubbed<S: Stack, T>(secretive: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn below<T>(call: impl FnOnce() -> T) -> T {
        call()
    }
    let out = below(secretive);
    S::overwrite();
    out
}

/// An amount of stack.
pub(crate) trait Stack {
    /// Overwrites that much below the caller's frame.
    fn overwrite();
}

impl<T: Wipe> Stack for T {
    #[inline(never)]
    fn overwrite() {
        wipe(&mut { T::ZERO });
    }
}

/// Something to do on a backend that is chosen at run time: the way to a generic method.
pub(crate) trait Op {
    type Out;
    fn run<K: Kernel>(self, kernel: K) -> Self::Out;
}

/// An implementation of the primitives that this CPU can run.
///
/// Made only by asking what there is, so holding one proves that it runs here. Choosing is for tests
/// and benchmarks: keys made without naming a backend use the fastest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Backend(Choice);

macro_rules! backends {
    ($({ name: $name:literal, kernel: $module:ident::$kernel:ident, arch: $arch:literal, endian: $endian:literal,
         needs: $needs:literal, sources: [$($source:literal),*] })*) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Choice {
            $(#[cfg(wireseal_has = $name)] $kernel($module::$kernel),)*
        }

        /// The widest pass of any backend compiled in, in blocks.
        pub(crate) const MAX_WIDTH: usize = {
            let widths = [
                $(#[cfg(wireseal_has = $name)] <$module::$kernel as Kernel>::WIDTH,)*
                #[cfg(test)] 16, // the counting backends of the tests
            ];
            let (mut max, mut i) = (0, 0);
            while i < widths.len() {
                if widths[i] > max { max = widths[i] }
                i += 1;
            }
            max
        };

        impl Backend {
            const DETECT: &[fn() -> Option<Choice>] = &[
                $(#[cfg(wireseal_has = $name)] || $module::$kernel::detect().map(Choice::$kernel),)*
            ];

            /// What benchmarks, build-time choice and documentation call it, such as `"portable"`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self.0 { $(#[cfg(wireseal_has = $name)] Choice::$kernel(_) => $name,)* }
            }

            /// Runs `op` on this backend. One branch; everything beneath is monomorphic.
            #[inline]
            pub(crate) fn with<O: Op>(self, op: O) -> O::Out {
                match self.0 {
                    $(#[cfg(wireseal_has = $name)]
                    Choice::$kernel(kernel) => scrubbed::<<$module::$kernel as Kernel>::Stack, _>(|| op.run(kernel)),)*
                }
            }
        }

        /// Poly1305 in progress on a backend chosen at run time.
        pub(crate) struct Poly(PolyState);

        enum PolyState {
            $(#[cfg(wireseal_has = $name)] $kernel($module::$kernel, <$module::$kernel as Kernel>::Poly),)*
        }

        impl Poly {
            pub(crate) fn new(backend: Backend, key: &[u8; 32]) -> Self {
                Poly(match backend.0 {
                    $(#[cfg(wireseal_has = $name)]
                    Choice::$kernel(kernel) => PolyState::$kernel(kernel, kernel.poly1305_new(key, usize::MAX)),)*
                })
            }

            pub(crate) fn update(&mut self, blocks: &[[u8; 16]]) {
                match &mut self.0 {
                    $(#[cfg(wireseal_has = $name)]
                    PolyState::$kernel(kernel, poly) => scrubbed::<<$module::$kernel as Kernel>::Stack, _>(|| kernel.poly1305_update(poly, blocks)),)*
                }
            }

            pub(crate) fn finish(&mut self, partial: Option<&[u8; 16]>) -> [u8; 16] {
                match &mut self.0 {
                    $(#[cfg(wireseal_has = $name)]
                    PolyState::$kernel(kernel, poly) => scrubbed::<<$module::$kernel as Kernel>::Stack, _>(|| kernel.poly1305_finish(poly, partial)),)*
                }
            }
        }
    };
}
include!("table.rs");

impl Backend {
    /// The fastest backend this CPU can run; the one named at build time, if one was and it can.
    #[inline]
    #[must_use]
    pub fn detect() -> Self {
        match option_env!("WIRESEAL_NAMED") {
            Some(name) => Self::named(name).unwrap_or(Self::PORTABLE),
            None => Self::available().next().unwrap_or(Self::PORTABLE),
        }
    }

    /// Every backend compiled in that this CPU can run, fastest first down to `portable`, which is always there,
    /// then what is only ever chosen by name: `cryptogams`, with the feature of that name.
    pub fn available() -> impl Iterator<Item = Self> + Clone {
        Self::DETECT.iter().filter_map(|detect| detect().map(Backend))
    }

    /// The backend of this name, if it is compiled in and this CPU can run it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::available().find(|backend| backend.name() == name)
    }

    const PORTABLE: Self = Backend(Choice::Portable(portable::Portable));
}

/// The backend that keys made now use: [`Backend::detect`].
#[must_use]
pub fn backend() -> Backend {
    Backend::detect()
}

impl Default for Backend {
    fn default() -> Self {
        Self::detect()
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
