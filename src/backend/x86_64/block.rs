//! A ChaCha20 block (RFC 8439, section 2.3) in general registers, to run in the shadow of vectors: text for `asm!`.

/// Two quarter rounds of one block in general registers.
macro_rules! words {
    ($a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal) => {
        concat!(
            words!(@quarter $a $b $c $d, $e $f $g $h, "16", "12"),
            words!(@quarter $a $b $c $d, $e $f $g $h, "8", "7")
        )
    };
    (@quarter $a:literal $b:literal $c:literal $d:literal, $e:literal $f:literal $g:literal $h:literal,
     $left:literal, $left1:literal) => {
        concat!(
            "add ", $a, ", ", $b, "\n", "add ", $e, ", ", $f, "\n",
            "xor ", $d, ", ", $a, "\n", "xor ", $h, ", ", $e, "\n",
            "rol ", $d, ", ", $left, "\n", "rol ", $h, ", ", $left, "\n",
            "add ", $c, ", ", $d, "\n", "add ", $g, ", ", $h, "\n",
            "xor ", $b, ", ", $c, "\n", "xor ", $f, ", ", $g, "\n",
            "rol ", $b, ", ", $left1, "\n", "rol ", $f, ", ", $left1, "\n",
        )
    };
}

/// The same as `swap`, of one block.
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

pub(in crate::backend) use {swap_words, words};
