//! The rounds of eight ChaCha20 lanes (RFC 8439, section 2.3) in hand order, alone or with scalar work in their
//! shadow: Poly1305 of 28 blocks, or the ChaCha20 block that holds the Poly1305 key.
//!
//! The vectors keep their four pipes less than full (1360 operations in 465 cycles on Zen 3, however they are
//! ordered), so the general registers work for nearly nothing beside them. The compiler's order and spills
//! take 560 cycles for the same, 570 to 610 with Poly1305 where this takes 490.

use super::chacha20::{Lanes, load_words, store_words};
use crate::backend::x86_64::block::{swap_words, words, words_step};
use crate::backend::x86_64::poly1305::absorption;
use crate::wipe::Wipe;
use core::arch::asm;

/// `vpshufb` masks that rotate words to the left by 16 and by 8.
#[repr(align(32))]
pub(super) struct Rotations(pub(super) [[u8; 32]; 2]);

pub(super) static ROTATIONS: Rotations = Rotations([
    [2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13],
    [3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14],
]);

/// What the rounds keep in memory. Secret; whoever owns it wipes it.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Spill {
    /// Words 8 to 11 of all lanes, of which two at a time are in registers.
    c: [[u32; 8]; 4],
    /// A block's state, for the scalar rounds. At 128.
    block: [u32; 16],
    /// Registers that a compiler won't part with. At 192.
    saved: [u64; 2],
    /// At 208.
    left: u64,
}

impl Wipe for Spill {
    const ZERO: Self = Spill { c: [[0; 8]; 4], block: [0; 16], saved: [0; 2], left: 0 };
}

// In all that follows, rdi points to the `Spill`.

/// Two quarter rounds in step, on the vectors of these numbers; 14 and 15 are free.
///
/// Words 0 to 3 are in vectors 0 to 3, words 4 to 7 in 4 to 7, words 12 to 15 in 8 to 11, and of words 8 to 11
/// those at work in 12 and 13.
macro_rules! quarters {
    ($a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal) => {
        concat!(
            quarters!(@half $a $b $c $d, $e $f $g $h, "0", "12", "20"),
            quarters!(@half $a $b $c $d, $e $f $g $h, "32", "7", "25")
        )
    };
    (@half $a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal,
     $shuffle:literal, $left:literal, $right:literal) => {
        concat!(
            "vpaddd ymm", $a, ", ymm", $a, ", ymm", $b, "\n",
            "vpaddd ymm", $e, ", ymm", $e, ", ymm", $f, "\n",
            "vpxor ymm", $d, ", ymm", $d, ", ymm", $a, "\n",
            "vpxor ymm", $h, ", ymm", $h, ", ymm", $e, "\n",
            "vpshufb ymm", $d, ", ymm", $d, ", [rip + {rotations} + ", $shuffle, "]\n",
            "vpshufb ymm", $h, ", ymm", $h, ", [rip + {rotations} + ", $shuffle, "]\n",
            "vpaddd ymm", $c, ", ymm", $c, ", ymm", $d, "\n",
            "vpaddd ymm", $g, ", ymm", $g, ", ymm", $h, "\n",
            "vpxor ymm", $b, ", ymm", $b, ", ymm", $c, "\n",
            "vpxor ymm", $f, ", ymm", $f, ", ymm", $g, "\n",
            "vpslld ymm14, ymm", $b, ", ", $left, "\n",
            "vpslld ymm15, ymm", $f, ", ", $left, "\n",
            "vpsrld ymm", $b, ", ymm", $b, ", ", $right, "\n",
            "vpsrld ymm", $f, ", ymm", $f, ", ", $right, "\n",
            "vpor ymm", $b, ", ymm", $b, ", ymm14\n",
            "vpor ymm", $f, ", ymm", $f, ", ymm15\n",
        )
    };
}

/// Swaps words 8 and 9 for words 10 and 11 in vectors 12 and 13, or back.
macro_rules! swap {
    ($out:literal $out1:literal, $in:literal $in1:literal) => {
        concat!(
            "vmovdqa [rdi + ",
            $out,
            "], ymm12\n",
            "vmovdqa [rdi + ",
            $out1,
            "], ymm13\n",
            "vmovdqa ymm12, [rdi + ",
            $in,
            "]\n",
            "vmovdqa ymm13, [rdi + ",
            $in1,
            "]\n",
        )
    };
}

/// A diagonal round with scalar work in three places.
macro_rules! diagonals {
    ($shadow0:expr, $shadow1:expr, $shadow2:expr) => {
        concat!(
            $shadow0, quarters!(0 5 12 11, 1 6 13 8), swap!(64 96, 0 32),
            $shadow1, quarters!(2 7 12 9, 3 4 13 10), $shadow2
        )
    };
}

/// A column round with scalar work in two places.
macro_rules! columns {
    ($shadow0:expr, $shadow1:expr) => {
        concat!($shadow0, quarters!(0 4 12 8, 1 5 13 9), swap!(0 32, 64 96), $shadow1, quarters!(2 6 12 10, 3 7 13 11))
    };
}

/// The rounds as one `asm!`: from behind the first column round to the end. Scalar work goes between the
/// quarter rounds of the nine rounds that loop and of the last one.
macro_rules! rounds {
    (
        $x:ident, $spill:ident,
        before: $before:expr, diagonals: $d0:expr, $d1:expr, columns: $c0:expr, $c1:expr, next: $next:expr,
        last: $l0:expr, $l1:expr, after: $after:expr, $($operands:tt)*
    ) => {{
        store_words(&mut $spill.c[0], $x[8]);
        store_words(&mut $spill.c[1], $x[9]);
        $spill.left = 9;
        // SAFETY: of memory, this reads and writes `spill`, which is borrowed mutably, and reads the masks
        // and what the operands of the scalar work point at, for which see there. Every register that
        // it changes is an output, except two that it puts back; the stack is left alone.
        unsafe {
            asm!(
                $before,
                "2:",
                diagonals!($d0, $d1, ""),
                columns!($c0, $c1),
                $next,
                "jnz 2b",
                diagonals!($l0, $l1, ""),
                $after,
                in("rdi") &mut *$spill,
                rotations = sym ROTATIONS,
                $($operands)*
                inout("ymm0") $x[0], inout("ymm1") $x[1], inout("ymm2") $x[2], inout("ymm3") $x[3],
                inout("ymm4") $x[4], inout("ymm5") $x[5], inout("ymm6") $x[6], inout("ymm7") $x[7],
                inout("ymm8") $x[12], inout("ymm9") $x[13], inout("ymm10") $x[14], inout("ymm11") $x[15],
                inout("ymm12") $x[10] => $x[8], inout("ymm13") $x[11] => $x[9],
                out("ymm14") _, out("ymm15") _,
                options(nostack),
            );
        }
        $x[10] = load_words(&$spill.c[2]);
        $x[11] = load_words(&$spill.c[3]);
    }};
}

/// The rounds of eight lanes that are past their first column round.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rounds(x: &mut Lanes, spill: &mut Spill) {
    rounds!(x, spill, before: "", diagonals: "", "", columns: "", "", next: "dec qword ptr [rdi + 208]\n",
        last: "", "", after: "",);
}

/// The same, and Poly1305 of the first 28 blocks of `m` meanwhile.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
pub(super) fn rounds_absorb(x: &mut Lanes, spill: &mut Spill, h: &mut [u64; 3], r: &[u64; 3], m: &[[u8; 16]; 32]) {
    let [mut h0, mut h1, mut h2] = *h;
    // The scalar work reads 3 words at `r` and 27 + 1 blocks at `m`.
    rounds!(x, spill, before: "",
        diagonals: absorption!(0), absorption!(16), columns: "", absorption!(32),
        next: "add {m}, 48\n dec qword ptr [rdi + 208]\n",
        last: absorption!(0), "", after: "",
        m = inout(reg) m.as_ptr() => _, r = in(reg) r.as_ptr(),
        h0 = inout(reg) h0, h1 = inout(reg) h1, h2 = inout(reg) h2,
        d0 = out(reg) _, d1 = out(reg) _, d2 = out(reg) _, t = out(reg) _, out("rdx") _,
    );
    *h = [h0, h1, h2];
}

/// The same as [`rounds`], and meanwhile those of one block more, which also is past its first column round. Gives
/// its first eight words, without the start state added.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rounds_block(x: &mut Lanes, spill: &mut Spill, block: &[u32; 16]) -> [u32; 8] {
    spill.block = *block;
    // The scalar work uses `spill` only.
    rounds!(x, spill,
        before: "mov [rdi + 192], rbx
            mov [rdi + 200], rbp
            mov r8d, [rdi + 128]
            mov r9d, [rdi + 132]
            mov r10d, [rdi + 136]
            mov r11d, [rdi + 140]
            mov r12d, [rdi + 144]
            mov r13d, [rdi + 148]
            mov r14d, [rdi + 152]
            mov r15d, [rdi + 156]
            mov esi, [rdi + 168]
            mov ebp, [rdi + 172]
            mov eax, [rdi + 176]
            mov ecx, [rdi + 180]
            mov edx, [rdi + 184]
            mov ebx, [rdi + 188]\n",
        diagonals: words!("r8d" "r13d" "esi" "ebx", "r9d" "r14d" "ebp" "eax"),
            concat!(swap_words!(168 172, 160 164), words!("r10d" "r15d" "esi" "ecx", "r11d" "r12d" "ebp" "edx")),
        columns: words!("r8d" "r12d" "esi" "eax", "r9d" "r13d" "ebp" "ecx"),
            concat!(swap_words!(160 164, 168 172), words!("r10d" "r14d" "esi" "edx", "r11d" "r15d" "ebp" "ebx")),
        next: "dec qword ptr [rdi + 208]\n",
        last: words!("r8d" "r13d" "esi" "ebx", "r9d" "r14d" "ebp" "eax"),
            concat!(swap_words!(168 172, 160 164), words!("r10d" "r15d" "esi" "ecx", "r11d" "r12d" "ebp" "edx")),
        after: "mov [rdi + 128], r8d
            mov [rdi + 132], r9d
            mov [rdi + 136], r10d
            mov [rdi + 140], r11d
            mov [rdi + 144], r12d
            mov [rdi + 148], r13d
            mov [rdi + 152], r14d
            mov [rdi + 156], r15d
            mov rbx, [rdi + 192]
            mov rbp, [rdi + 200]\n",
        out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _, out("r8") _, out("r9") _, out("r10") _,
        out("r11") _, out("r12") _, out("r13") _, out("r14") _, out("r15") _,
    );
    core::array::from_fn(|i| spill.block[i])
}
