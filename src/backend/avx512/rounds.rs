//! The rounds of ChaCha20 (RFC 8439, section 2.3) in rows in hand order, alone or with the block that holds the Poly1305
//! key in general registers beside them.
//!
//! On Zen 5 twenty rounds of one to four groups of four blocks take 480 cycles, of six 590, of eight 680, and the block
//! beside them costs nothing more. By itself it would take 260.

use super::chacha20::Rows;
use crate::backend::x86_64::block::{swap_words, words_step};
use crate::backend::x86_64::message::Stream;
use core::arch::asm;

/// What the block in general registers keeps in memory. Secret: on a stack that is overwritten.
#[repr(C, align(64))]
pub(super) struct Spill {
    /// Words 8 to 11 are at 32: two at a time are in registers.
    block: [u32; 16],
    /// Registers that a compiler won't part with. At 64.
    saved: [u64; 2],
    /// Rounds left. At 80.
    left: u64,
}

impl Spill {
    pub(super) fn new() -> Self {
        Spill { block: [0; 16], saved: [0; 2], left: 0 }
    }
}

// What is put in the shadow of the vectors: text by the half of a quarter round, 0 to 3 in a double round, and
// the step in it, 0 to 5. rdi points to the `Spill`.

/// Nothing.
macro_rules! alone {
    ($half:tt $step:tt) => {
        ""
    };
}

/// A double round of the block.
macro_rules! beside {
    (0 5) => { concat!(beside!(@columns01 5), swap_words!(32 36, 40 44)) };
    (0 $step:tt) => { beside!(@columns01 $step) };
    (1 $step:tt) => { beside!(@columns23 $step) };
    (2 5) => { concat!(beside!(@diagonals01 5), swap_words!(40 44, 32 36)) };
    (2 $step:tt) => { beside!(@diagonals01 $step) };
    (3 $step:tt) => { beside!(@diagonals23 $step) };
    (@columns01 $step:tt) => { words_step!($step, "r8d" "r12d" "esi" "eax", "r9d" "r13d" "ebp" "ecx") };
    (@columns23 $step:tt) => { words_step!($step, "r10d" "r14d" "esi" "edx", "r11d" "r15d" "ebp" "ebx") };
    (@diagonals01 $step:tt) => { words_step!($step, "r8d" "r13d" "esi" "ebx", "r9d" "r14d" "ebp" "eax") };
    (@diagonals23 $step:tt) => { words_step!($step, "r10d" "r15d" "esi" "ecx", "r11d" "r12d" "ebp" "edx") };
}

/// Two double rounds of the block.
macro_rules! ahead {
    (0 $step:tt) => { ahead!(@round columns01 columns23 $step (32 36, 40 44)) };
    (1 $step:tt) => { ahead!(@round diagonals01 diagonals23 $step (40 44, 32 36)) };
    (2 $step:tt) => { ahead!(0 $step) };
    (3 $step:tt) => { ahead!(1 $step) };
    (@round $first:ident $then:ident 0 $swap:tt) => { concat!(beside!(@$first 0), beside!(@$first 1)) };
    (@round $first:ident $then:ident 1 $swap:tt) => { concat!(beside!(@$first 2), beside!(@$first 3)) };
    (@round $first:ident $then:ident 2 ($($swap:tt)*)) => {
        concat!(beside!(@$first 4), beside!(@$first 5), swap_words!($($swap)*))
    };
    (@round $first:ident $then:ident 3 $swap:tt) => { concat!(beside!(@$then 0), beside!(@$then 1)) };
    (@round $first:ident $then:ident 4 $swap:tt) => { concat!(beside!(@$then 2), beside!(@$then 3)) };
    (@round $first:ident $then:ident 5 $swap:tt) => { concat!(beside!(@$then 4), beside!(@$then 5)) };
}

/// `beside`, with as many idle instructions as keep vectors from being dispatched before what they wait for: on Zen 5
/// an instruction that has to wait takes a cycle longer. 350 to 370 cycles instead of 480, if nothing comes between.
macro_rules! paced {
    ($half:tt $step:tt) => {
        concat!(beside!($half $step), "nop\nnop\nnop\nnop\nnop\nnop\n")
    };
}

/// Half of the quarter rounds in all columns of some groups. Row b stays between columns and diagonals, since it is
/// what the next quarter rounds wait for.
macro_rules! half {
    ($shadow:ident $half:tt, $left:literal, $left1:literal, $($a:literal $b:literal $c:literal $d:literal)*) => {
        concat!(
            $("vpaddd ", $a, ", ", $a, ", ", $b, "\n",)* $shadow!($half 0),
            $("vpxord ", $d, ", ", $d, ", ", $a, "\n",)* $shadow!($half 1),
            $("vprold ", $d, ", ", $d, ", ", $left, "\n",)* $shadow!($half 2),
            $("vpaddd ", $c, ", ", $c, ", ", $d, "\n",)* $shadow!($half 3),
            $("vpxord ", $b, ", ", $b, ", ", $c, "\n",)* $shadow!($half 4),
            $("vprold ", $b, ", ", $b, ", ", $left1, "\n",)* $shadow!($half 5),
        )
    };
}

/// Columns to diagonals or back: rows a, c and d rotated by words.
macro_rules! turn {
    ($by_a:literal $by_c:literal $by_d:literal, $($a:literal $b:literal $c:literal $d:literal)*) => {
        concat!(
            $("vpshufd ", $a, ", ", $a, ", ", $by_a, "\n",)*
            $("vpshufd ", $d, ", ", $d, ", ", $by_d, "\n",)*
            $("vpshufd ", $c, ", ", $c, ", ", $by_c, "\n",)*
        )
    };
}

/// Idle instructions before the rounds, until the vectors are loaded.
macro_rules! delay {
    (paced) => {
        "120"
    };
    ($other:ident) => {
        "0"
    };
}

macro_rules! double_round {
    ($shadow:ident, $($group:literal)*) => {
        concat!(
            half!($shadow 0, "16", "12", $($group)*),
            half!($shadow 1, "8", "7", $($group)*),
            turn!("0x93" "0x39" "0x4e", $($group)*),
            half!($shadow 2, "16", "12", $($group)*),
            half!($shadow 3, "8", "7", $($group)*),
            turn!("0x39" "0x93" "0x4e", $($group)*),
        )
    };
}

/// Double rounds of these groups, with the block beside them or alone, as an `asm!`.
macro_rules! rounds {
    (alone, $x:ident, $count:expr, $($i:literal: $a:tt $b:tt $c:tt $d:tt)*) => {
        // SAFETY: no memory is touched, and every register that changes is an output.
        unsafe {
            asm!(
                "2:",
                double_round!(alone, $($a $b $c $d)*),
                "dec {count}",
                "jnz 2b",
                count = inout(reg) $count => _,
                $(inout($a) $x[$i][0], inout($b) $x[$i][1], inout($c) $x[$i][2], inout($d) $x[$i][3],)*
                options(nomem, nostack),
            )
        }
    };
    ($shadow:ident, $stream:ident, $spill:ident, $words:ident, $x:ident, $($i:literal: $a:tt $b:tt $c:tt $d:tt)*) => {
        // SAFETY: of memory, this reads and writes `spill`, which is borrowed mutably. Every register that changes is an
        // output, except two that it puts back; the stack is left alone.
        unsafe {
            asm!(
                "mov [rdi + 64], rbx",
                "mov [rdi + 72], rbp",
                "mov r8d, 0x61707865",
                "mov r9d, 0x3320646e",
                "mov r10d, 0x79622d32",
                "mov r11d, 0x6b206574",
                "mov r12d, [rsi]",
                "mov r13d, [rsi + 4]",
                "mov r14d, [rsi + 8]",
                "mov r15d, [rsi + 12]",
                "mov ebp, [rsi + 24]",
                "mov [rdi + 40], ebp",
                "mov ebp, [rsi + 28]",
                "mov [rdi + 44], ebp",
                "mov ebp, [rsi + 20]",
                "mov esi, [rsi + 16]",
                "xor eax, eax",
                "mov ecx, [rdx]",
                "mov ebx, [rdx + 8]",
                "mov edx, [rdx + 4]",
                // The same for the first ones.
                concat!(".rept ", delay!($shadow), "\nnop\n.endr"),
                "2:",
                double_round!($shadow, $($a $b $c $d)*),
                "dec qword ptr [rdi + 80]",
                "jnz 2b",
                "mov rbx, [rdi + 64]",
                "mov rbp, [rdi + 72]",
                in("rdi") &mut *$spill, inout("rsi") $stream.key => _, inout("rdx") $stream.nonce => _,
                $(inout($a) $x[$i][0], inout($b) $x[$i][1], inout($c) $x[$i][2], inout($d) $x[$i][3],)*
                out("rax") _, out("rcx") _,
                out("r8") $words[0], out("r9") $words[1], out("r10") $words[2], out("r11") $words[3],
                out("r12") $words[4], out("r13") $words[5], out("r14") $words[6], out("r15") $words[7],
                options(nostack),
            )
        }
    };
}

/// `rounds!` by the number of groups. Of the arms, one is left once `N` is known.
macro_rules! by_groups {
    ($x:ident, $($how:tt)*) => {
        match N {
            0 => rounds!($($how)*),
            1 => rounds!($($how)* 0: "zmm0" "zmm1" "zmm2" "zmm3"),
            2 => rounds!($($how)* 0: "zmm0" "zmm1" "zmm2" "zmm3" 1: "zmm4" "zmm5" "zmm6" "zmm7"),
            4 => rounds!($($how)* 0: "zmm0" "zmm1" "zmm2" "zmm3" 1: "zmm4" "zmm5" "zmm6" "zmm7"
                2: "zmm8" "zmm9" "zmm10" "zmm11" 3: "zmm12" "zmm13" "zmm14" "zmm15"),
            6 => rounds!($($how)* 0: "zmm0" "zmm1" "zmm2" "zmm3" 1: "zmm4" "zmm5" "zmm6" "zmm7"
                2: "zmm8" "zmm9" "zmm10" "zmm11" 3: "zmm12" "zmm13" "zmm14" "zmm15"
                4: "zmm16" "zmm17" "zmm18" "zmm19" 5: "zmm20" "zmm21" "zmm22" "zmm23"),
            _ => rounds!($($how)* 0: "zmm0" "zmm1" "zmm2" "zmm3" 1: "zmm4" "zmm5" "zmm6" "zmm7"
                2: "zmm8" "zmm9" "zmm10" "zmm11" 3: "zmm12" "zmm13" "zmm14" "zmm15"
                4: "zmm16" "zmm17" "zmm18" "zmm19" 5: "zmm20" "zmm21" "zmm22" "zmm23"
                6: "zmm24" "zmm25" "zmm26" "zmm27" 7: "zmm28" "zmm29" "zmm30" "zmm31"),
        }
    };
}

/// `count` double rounds of the groups. `N` is 1, 2, 4, 6 or 8.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn rounds<const N: usize>(x: &mut [Rows; N], count: u64) {
    by_groups!(x, alone, x, count,);
}

/// All ten double rounds of the groups and of the block in `spill`, of which words 0 to 7 come out. `N` is 1, 2, 4, 6 or 8.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn rounds_beside<const N: usize>(x: &mut [Rows; N], stream: Stream<'_>, spill: &mut Spill) -> [u32; 8] {
    let mut words = [0; 8];
    spill.left = 10;
    by_groups!(x, beside, stream, spill, words, x,);
    words
}

/// Five double rounds of the groups and all ten of the block in `spill`, of which words 0 to 7 come out. `N` is 1, 2, 4,
/// 6 or 8.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn rounds_ahead<const N: usize>(x: &mut [Rows; N], stream: Stream<'_>, spill: &mut Spill) -> [u32; 8] {
    let mut words = [0; 8];
    spill.left = 5;
    by_groups!(x, ahead, stream, spill, words, x,);
    words
}

/// As [`rounds_beside`], for one group on Zen 5.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn rounds_paced(x: &mut [Rows; 1], stream: Stream<'_>, spill: &mut Spill) -> [u32; 8] {
    let mut words = [0; 8];
    spill.left = 10;
    rounds!(paced, stream, spill, words, x, 0: "zmm0" "zmm1" "zmm2" "zmm3");
    words
}
