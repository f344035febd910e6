// Overwrites the stack below the caller's frame, for MIPS32, o32: what calls before this one have left there.
// As fast as stores go, where `memset` and its call cost twice as much.

#define RELEASE 1
#define SUFFIX mips32
#include "words.h"

// void stack_overwrite(size_t len): a multiple of 64 that is not 0
	function NAME(stack_overwrite)
	subu	$t0, $sp, $a0
.Lnext:
	sw	$zero, 0($t0)
	sw	$zero, 4($t0)
	sw	$zero, 8($t0)
	sw	$zero, 12($t0)
	sw	$zero, 16($t0)
	sw	$zero, 20($t0)
	sw	$zero, 24($t0)
	sw	$zero, 28($t0)
	sw	$zero, 32($t0)
	sw	$zero, 36($t0)
	sw	$zero, 40($t0)
	sw	$zero, 44($t0)
	sw	$zero, 48($t0)
	sw	$zero, 52($t0)
	sw	$zero, 56($t0)
	addiu	$t0, $t0, 64
	bne	$t0, $sp, .Lnext
	sw	$zero, -4($t0)
	jr	$ra
	nop
	end_function NAME(stack_overwrite)

	.section .note.GNU-stack, "", @progbits
