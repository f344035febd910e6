//! A ChaCha20 block (RFC 8439, section 2.3) in general registers, to run in the shadow of vectors: text for `asm!`.
//!
//! r8d to r11d hold words 0 to 3, r12d to r15d words 4 to 7, eax, ecx, edx and ebx words 12 to 15, and of words 8 to 11 two at a time
//! are in esi and ebp, the others in memory.

/// A sixth of two quarter rounds, for work beside them to be put between.
macro_rules! words_step {
    (0, $a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal) => {
        concat!(
            "add ", $a, ", ", $b, "\n", "add ", $e, ", ", $f, "\n", "xor ", $d, ", ", $a, "\n", "xor ", $h, ", ", $e, "\n",
        )
    };
    (1, $a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal) => {
        words_step!(@turn "16", $c $d, $g $h)
    };
    (2, $a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal) => {
        words_step!(@back "12", $b $c, $f $g)
    };
    (3, $($words:tt)*) => { words_step!(0, $($words)*) };
    (4, $a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal) => {
        words_step!(@turn "8", $c $d, $g $h)
    };
    (5, $a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal) => {
        words_step!(@back "7", $b $c, $f $g)
    };
    (@turn $left:literal, $c:literal $d:literal, $g:literal $h:literal) => {
        concat!(
            "rol ", $d, ", ", $left, "\n", "rol ", $h, ", ", $left, "\n",
            "add ", $c, ", ", $d, "\n", "add ", $g, ", ", $h, "\n",
        )
    };
    (@back $left:literal, $b:literal $c:literal, $f:literal $g:literal) => {
        concat!(
            "xor ", $b, ", ", $c, "\n", "xor ", $f, ", ", $g, "\n",
            "rol ", $b, ", ", $left, "\n", "rol ", $f, ", ", $left, "\n",
        )
    };
}

/// Two quarter rounds.
macro_rules! words {
    ($($words:tt)*) => {
        concat!(
            words_step!(0, $($words)*), words_step!(1, $($words)*), words_step!(2, $($words)*),
            words_step!(3, $($words)*), words_step!(4, $($words)*), words_step!(5, $($words)*),
        )
    };
}

/// Two of words 8 to 11 for the other two, at these offsets from rdi.
macro_rules! swap_words {
    ($out:literal $out1:literal, $in:literal $in1:literal) => {
        concat!(
            "mov [rdi + ",
            $out,
            "], esi\n",
            "mov [rdi + ",
            $out1,
            "], ebp\n",
            "mov esi, [rdi + ",
            $in,
            "]\n",
            "mov ebp, [rdi + ",
            $in1,
            "]\n",
        )
    };
}

pub(in crate::backend) use {swap_words, words, words_step};
