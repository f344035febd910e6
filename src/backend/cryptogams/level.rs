//! What CRYPTOGAMS can choose from on a CPU: its kernels look into the capability word, whose layout
//! differs with the architecture. Here it is filled from our own detection, or by a test.

#[cfg(any(target_arch = "aarch64", target_arch = "powerpc64", target_arch = "s390x"))]
use core::ffi::c_ulong;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

type Words = [u32; 8];

unsafe extern "C" {
    #[link_name = prefixed!("capability")]
    static CAPABILITY: [AtomicU32; 8];
}

/// A set of kernels, and the capability word that makes CRYPTOGAMS use them.
pub(super) struct Level {
    #[cfg(test)]
    pub(super) name: &'static str,
    words: Words,
    available: fn() -> bool,
}

impl Level {
    const fn new(_name: &'static str, words: Words, available: fn() -> bool) -> Self {
        Level {
            #[cfg(test)]
            name: _name,
            words,
            available,
        }
    }

    /// Makes CRYPTOGAMS use it from now on.
    pub(super) fn force(&self) {
        for (to, word) in capability().iter().zip(self.words) {
            to.store(word, Ordering::Relaxed);
        }
    }

    /// Whether CRYPTOGAMS uses this one.
    #[cfg(test)]
    pub(super) fn in_force(&self) -> bool {
        capability().iter().zip(self.words).all(|(is, word)| is.load(Ordering::Relaxed) == word)
    }
}

/// Those this CPU can run, the least first.
pub(super) fn available() -> impl DoubleEndedIterator<Item = &'static Level> {
    cpu::LEVELS.iter().filter(|level| (level.available)())
}

/// Fills the capability word with the most this CPU can run, the first time.
pub(super) fn detect() {
    const EMPTY: u8 = 0;
    const FILLING: u8 = 1;
    const FULL: u8 = 2;
    static STATE: AtomicU8 = AtomicU8::new(EMPTY);
    if STATE.load(Ordering::Acquire) == FULL {
        return;
    }
    if STATE.compare_exchange(EMPTY, FILLING, Ordering::Acquire, Ordering::Relaxed).is_ok() {
        if let Some(level) = available().next_back() {
            level.force();
        }
        STATE.store(FULL, Ordering::Release);
    }
    while STATE.load(Ordering::Acquire) != FULL {
        core::hint::spin_loop();
    }
}

fn capability() -> &'static [AtomicU32; 8] {
    // SAFETY: defined by the build script at this size and alignment, zero at the start; only ever
    // written through these atomics, and read by the kernels a word or two at a time.
    unsafe { &CAPABILITY }
}

/// The first words as given, the others zero.
const fn words<const N: usize>(first: [u32; N]) -> Words {
    let mut words = [0; 8];
    let mut i = 0;
    while i < N {
        words[i] = first[i];
        i += 1;
    }
    words
}

const ALWAYS: fn() -> bool = || true;

/// Words 1 and 2 are as CPUID gives them: leaf 1, register ECX, and leaf 7, register EBX.
#[cfg(target_arch = "x86_64")]
mod cpu {
    use super::{ALWAYS, Level, words};

    cpufeatures::new!(ssse3, "ssse3");
    cpufeatures::new!(avx, "ssse3", "avx");
    cpufeatures::new!(avx2, "ssse3", "avx", "avx2");
    cpufeatures::new!(avx512, "ssse3", "avx", "avx2", "avx512f", "avx512dq", "avx512bw", "avx512vl");
    cpufeatures::new!(ifma, "ssse3", "avx", "avx2", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512ifma");

    const SSSE3: u32 = 1 << 9;
    const AVX: u32 = 1 << 28 | SSSE3;
    const AVX2: u32 = 1 << 5;
    const AVX512: u32 = 1 << 31 | 1 << 30 | 1 << 17 | 1 << 16 | AVX2;
    const IFMA: u32 = 1 << 21 | AVX512;

    pub(super) const LEVELS: &[Level] = &[
        Level::new("x86-64", words([]), ALWAYS),
        Level::new("ssse3", words([0, SSSE3]), ssse3::get),
        Level::new("avx", words([0, AVX]), avx::get),
        Level::new("avx2", words([0, AVX, AVX2]), avx2::get),
        Level::new("avx512", words([0, AVX, AVX512]), avx512::get),
        Level::new("avx512ifma", words([0, AVX, IFMA]), ifma::get),
    ];
}

/// Bits of the package's own numbering; what the CPU has comes from the kernel.
#[cfg(target_arch = "aarch64")]
mod cpu {
    use super::{ALWAYS, Level, hardware, words};
    use core::arch::asm;

    const HWCAP: u64 = 16;
    const HWCAP2: u64 = 26;
    const NEON: u32 = 1;
    const SVE: u32 = 1 << 13 | NEON;
    const SVE2: u32 = 1 << 14 | SVE;
    const SVE2_POLY1305: u32 = 1 << 17 | SVE2;

    fn sve() -> bool {
        hardware(HWCAP, 1 << 22)
    }

    fn sve2() -> bool {
        sve() && hardware(HWCAP2, 1 << 1)
    }

    /// Its SVE2 Poly1305 is for vectors longer than NEON's whose length is a power of two.
    fn wide_sve2() -> bool {
        let mut bytes: u64 = 0;
        if sve2() {
            // SAFETY: the CPU has SVE; the instruction gives the length of a vector in bytes.
            unsafe {
                asm!(".arch_extension sve", "rdvl {}, #1", out(reg) bytes, options(nomem, nostack, preserves_flags))
            };
        }
        bytes > 16 && bytes.is_power_of_two()
    }

    pub(super) const LEVELS: &[Level] = &[
        Level::new("armv8", words([]), ALWAYS),
        Level::new("neon", words([NEON]), ALWAYS),
        Level::new("sve", words([SVE]), sve),
        Level::new("sve2", words([SVE2]), sve2),
        Level::new("sve2-wide", words([SVE2_POLY1305]), wide_sve2),
    ];
}

/// No word: on this architecture the caller chooses. Word 0 numbers the choice.
#[cfg(target_arch = "powerpc64")]
mod cpu {
    use super::{ALWAYS, Level, hardware, words};

    const HWCAP2: u64 = 26;
    // The target's baseline is POWER8; POWER10 is the one with ISA 3.1.
    pub(super) const LEVELS: &[Level] = &[
        Level::new("int", words([0]), ALWAYS),
        Level::new("vmx", words([1]), ALWAYS),
        Level::new("vsx", words([2]), ALWAYS),
        Level::new("power10", words([3]), || hardware(HWCAP2, 1 << 18)),
    ];
}

#[cfg(target_arch = "powerpc64")]
pub(super) fn number() -> usize {
    capability()[0].load(Ordering::Relaxed) as usize
}

/// What the instruction STFLE stores, bit 0 first: bit 129 is the vector facility, bit 135 its
/// first enhancement.
#[cfg(target_arch = "s390x")]
mod cpu {
    use super::{ALWAYS, Level, hardware, words};

    const HWCAP: u64 = 16;
    const VX: u32 = 1 << (31 - (129 - 128));
    const VXE: u32 = 1 << (31 - (135 - 128)) | VX;

    // The kernel says whether it saves the vector registers, which STFLE itself doesn't.
    pub(super) const LEVELS: &[Level] = &[
        Level::new("z10", words([]), ALWAYS),
        Level::new("vx", words([0, 0, 0, 0, VX]), || hardware(HWCAP, 1 << 11)),
        Level::new("vxe", words([0, 0, 0, 0, VXE]), || hardware(HWCAP, 1 << 11 | 1 << 13)),
    ];
}

#[cfg(target_arch = "mips64")]
mod cpu {
    use super::{ALWAYS, Level, words};

    pub(super) const LEVELS: &[Level] = &[Level::new("mips64", words([]), ALWAYS)];
}

/// Whether the kernel has all `bits` in this word of what it says about the CPU.
#[cfg(any(target_arch = "aarch64", target_arch = "powerpc64", target_arch = "s390x"))]
fn hardware(word: c_ulong, bits: c_ulong) -> bool {
    unsafe extern "C" {
        safe fn getauxval(word: c_ulong) -> c_ulong;
    }
    getauxval(word) & bits == bits
}
