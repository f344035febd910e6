// Poly1305 (RFC 8439, section 2.5) for MIPS32 release 1, o32, both endiannesses: our own code after the interface and
// the algorithm of CRYPTOGAMS. The contract is asm/ABI.md.
//
// Radix 2^32: h = h0 + h1*2^32 + h2*2^64 + h3*2^96 + h4*2^128, r = r0 .. r3 likewise, modulo p = 2^130 - 5.
// Clamping makes r1, r2, r3 multiples of 4, so with sk = rk + rk/4 = 5*rk/4, exactly, a product that reaches
// past 2^128 = 2^130/4 comes back as (hi*rk)*2^128 = hi*sk. The columns of h*r:
//	d0 = h0*r0 + h1*s3 + h2*s2 + h3*s1
//	d1 = h0*r1 + h1*r0 + h2*s3 + h3*s2 + h4*s1
//	d2 = h0*r2 + h1*r1 + h2*r0 + h3*s3 + h4*s2
//	d3 = h0*r3 + h1*r2 + h2*r1 + h3*r0 + h4*s3 + h4*r0*2^32
// The last term is (h4<<28) * (r0<<4). HI:LO takes a column's products, the upper word of the column before
// it and the next block's message word, both through multiplication by one. After each block h is reduced in
// part: what d3's upper word has at 2^130 and above is added to h0, five times, and carried through.
//
// Bounds, which asm/bounds.py derives from these steps: a limb is below 2^32, r0 below 2^28, rk at most 2^28 - 4,
// sk at most 5*2^26 - 5. After the reduction h4 <= 4; 2^128 and the carry of a call's first block come on top.
// The columns, with carry and message word, stay below
//	d0 < 4.76 * 2^60	d1 < 4.51 * 2^60	d2 < 4.26 * 2^60	d3 < 10.01 * 2^60
// so HI:LO does not overflow, nor does 5*(h4>>2).

#define RELEASE 1
#define SUFFIX mips32
#include "poly1305.h"

#define P   $a1     // message
#define END $a2     // of it
#define PAD $a3     // what to add at 2^128
#define H0  $t0
#define H1  $t1
#define H2  $t2
#define H3  $t3
#define N0  $t4     // limbs of the product, while those of h are needed
#define N1  $t5
#define N2  $t6
#define H4  $t7
#define C   $t8     // upper word of the column before
#define M   $t9     // parts of a message word
#define V   $at
#define ONE $v0
#define Z0  $v1     // r0<<4
#define K8  $a0     // 2^8, for a big-endian machine
#define R0  $s0
#define R1  $s1
#define R2  $s2
#define R3  $s3
#define S1  $s4
#define S2  $s5
#define S3  $s6
#define K16 $s7     // 2^16
#define K24 $fp     // 2^24

#define FRAME 40    // s0 .. s7, fp
#define CTX FRAME   // in the caller's home area for arguments

// A little-endian word, added to HI:LO. On a big-endian machine this is cheaper by bytes than by swapping.
.macro message at
	.if	BE
	lbu	M, (\at)(P)
	lbu	V, (\at + 1)(P)
	maddu	M, ONE
	lbu	M, (\at + 2)(P)
	maddu	V, K8
	lbu	V, (\at + 3)(P)
	maddu	M, K16
	maddu	V, K24
	.else
	maddu	M, ONE
	.endif
.endm

// A column's first four products; on a little-endian machine with word `at` of the next block under way if `next`.
.macro column next, at, y0, y1, y2, y3
	multu	H0, \y0
	.if	\next && BE == 0
	load	0, 1, M, \at, P
	.elseif	\next == 0 && \at == 0
	lw	P, CTX($sp)
	.endif
	maddu	H1, \y1
	maddu	H2, \y2
	maddu	H3, \y3
	.if	\next && BE == 0
	load	1, 1, M, \at, P
	.endif
.endm

// h times r, plus the next message block if there is one; at the end P turns into the context instead. What HI and LO
// give takes five cycles to arrive. The caller adds C to h4, which may be in a branch's delay slot.
.macro block next
	column	\next, 0, R0, S3, S2, S1
	.if	\next
	message	0
	.endif
	mflo	N0
	mfhi	C
	column	\next, 4, R1, R0, S3, S2
	maddu	H4, S1
	maddu	C, ONE
	.if	\next
	message	4
	.endif
	mflo	N1
	mfhi	C
	column	\next, 8, R2, R1, R0, S3
	maddu	H4, S2
	maddu	C, ONE
	.if	\next
	message	8
	.endif
	mflo	N2
	mfhi	C
	column	\next, 12, R3, R2, R1, R0
	maddu	H4, S3
	sll	H4, H4, 28
	maddu	C, ONE
	.if	\next
	message	12
	.endif
	maddu	H4, Z0
	mfhi	H4
	mflo	H3
	.if	\next
	addiu	P, P, 16
	addu	H4, H4, PAD
	.endif
	// 5*(h4>>2) into h0.
	srl	C, H4, 2
	sll	M, C, 2
	addu	C, C, M
	andi	H4, H4, 3
	addu	H0, N0, C
	sltu	C, H0, C
	addu	H1, N1, C
	sltu	C, H1, C
	addu	H2, N2, C
	sltu	C, H2, C
	addu	H3, H3, C
	sltu	C, H3, C
.endm

// void poly1305_blocks(void *ctx, const uint8_t *inp, size_t len, uint32_t padbit)
	function NAME(poly1305_blocks)
	.cfi_remember_state
	beqz	$a2, .Lnone
	li	ONE, 1
	addiu	$sp, $sp, -FRAME
	.cfi_def_cfa_offset FRAME
	load	0, 1, N0, 0, P
	load	0, 1, N1, 4, P
	load	0, 1, N2, 8, P
	load	0, 1, M, 12, P
	load	1, 1, N0, 0, P
	load	1, 1, N1, 4, P
	load	1, 1, N2, 8, P
	load	1, 1, M, 12, P
	sw	$s0, 0($sp)
	.cfi_offset 16, 0 - FRAME
	sw	$s1, 4($sp)
	.cfi_offset 17, 4 - FRAME
	sw	$s2, 8($sp)
	.cfi_offset 18, 8 - FRAME
	sw	$s3, 12($sp)
	.cfi_offset 19, 12 - FRAME
	sw	$s4, 16($sp)
	.cfi_offset 20, 16 - FRAME
	sw	$s5, 20($sp)
	.cfi_offset 21, 20 - FRAME
	sw	$s6, 24($sp)
	.cfi_offset 22, 24 - FRAME
	.if	BE
	sw	$s7, 28($sp)
	.cfi_offset 23, 28 - FRAME
	sw	$fp, 32($sp)
	.cfi_offset 30, 32 - FRAME
	.endif
	lw	H0, H + 0($a0)
	lw	H1, H + 4($a0)
	lw	H2, H + 8($a0)
	lw	H3, H + 12($a0)
	lw	H4, H + 16($a0)
	lw	R0, R + 0($a0)
	lw	R1, R + 4($a0)
	lw	R2, R + 8($a0)
	lw	R3, R + 12($a0)
	lw	S1, S + 0($a0)
	lw	S2, S + 4($a0)
	lw	S3, S + 8($a0)
	sw	$a0, CTX($sp)
	.if	BE
	li	K8, 1 << 8
	lui	K16, 1
	lui	K24, 1 << 8
	.endif
	sll	Z0, R0, 4

	// The first block.
	swap	N0, C, V
	swap	N1, C, V
	swap	N2, C, V
	swap	M, C, V
	addu	H4, H4, PAD
	addu	H0, H0, N0
	sltu	C, H0, N0
	addu	H1, H1, N1
	sltu	N1, H1, N1
	addu	H1, H1, C
	sltu	C, H1, C
	addu	C, C, N1
	addu	H2, H2, N2
	sltu	N2, H2, N2
	addu	H2, H2, C
	sltu	C, H2, C
	addu	C, C, N2
	addu	H3, H3, M
	sltu	M, H3, M
	addu	H3, H3, C
	sltu	C, H3, C
	addu	H4, H4, M
	addiu	V, END, -16
	beqz	V, .Llast
	addu	H4, H4, C

	addu	END, END, P
	addiu	P, P, 16
.Lloop:
	block	1
	bne	P, END, .Lloop
	addu	H4, H4, C

.Llast:
	block	0
	addu	H4, H4, C
	lw	$s0, 0($sp)
	lw	$s1, 4($sp)
	lw	$s2, 8($sp)
	lw	$s3, 12($sp)
	lw	$s4, 16($sp)
	lw	$s5, 20($sp)
	lw	$s6, 24($sp)
	.if	BE
	lw	$s7, 28($sp)
	lw	$fp, 32($sp)
	.endif
	sw	H0, H + 0(P)
	sw	H1, H + 4(P)
	sw	H2, H + 8(P)
	sw	H3, H + 12(P)
	sw	H4, H + 16(P)
	jr	$ra
	addiu	$sp, $sp, FRAME
	.cfi_restore_state
.Lnone:
	jr	$ra
	nop
	end_function NAME(poly1305_blocks)

	.section .note.GNU-stack, "", @progbits
