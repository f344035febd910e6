// Poly1305 (RFC 8439, section 2.5) for MIPS32 release 2, o32, both endiannesses. The contract is asm/ABI.md.
//
// Radix 2^32: h = h0 + h1*2^32 + h2*2^64 + h3*2^96 + h4*2^128, r = r0 .. r3 likewise, modulo p = 2^130 - 5.
// Clamping makes r1, r2, r3 multiples of 4, so with sk = rk + rk/4 = 5*rk/4, exactly, a product that reaches
// past 2^128 = 2^130/4 comes back as (hi*rk)*2^128 = hi*sk. The columns of h*r:
//	d0 = h0*r0 + h1*s3 + h2*s2 + h3*s1 + (h4>>2)*5*r0
//	d1 = h0*r1 + h1*r0 + h2*s3 + h3*s2 + h4*s1
//	d2 = h0*r2 + h1*r1 + h2*r0 + h3*s3 + h4*s2
//	d3 = h0*r3 + h1*r2 + h2*r1 + h3*r0 + h4*s3 + (h4%4)*r0*2^32
// h4*r0*2^128 is split since r0 need not be a multiple of 4: four fifths of it is (h4>>2)*5*r0 in d0, and
// the two bits left are (h4<<30) * (r0<<2), which lands in the upper word of d3.
//
// There is no carry chain: HI:LO takes a column's products, the upper word of the column before it and the
// next block's message word, both through multiplication by one. LO is the new limb; d3's upper word is h4,
// used as it is. A block is 28 multiplications, 8 moves, 4 loads, 2 shifts and the addition of 2^128.
//
// Bounds, which asm/bounds.py derives from these steps: a limb is below 2^32, r0 below 2^28, rk at most
// 2^28 - 4, sk at most 5*2^26 - 5. The columns, with carry and message word, stay below
//	d0 < 5.35 * 2^60	d1 < 5.10 * 2^60	d2 < 4.85 * 2^60	d3 < 7.60 * 2^60
// so HI:LO does not overflow, and h4 < 2^30.93 with 2^128 and the carry of a call's first block.

#define RELEASE 2
#define SUFFIX mips32r2
#include "../mips32/poly1305.h"

#define P   $a1     // message
#define END $a2     // of it
#define PAD $a3     // what to add at 2^128
#define A0  $t0     // h before a block, or after it: the two sets alternate
#define A1  $t1
#define A2  $t2
#define A3  $t3
#define B0  $t4
#define B1  $t5
#define B2  $t6
#define B3  $t7
#define H4  $t8
#define C   $t9     // upper word of the column before
#define M   $at     // message word
#define ONE $v0
#define Q0  $v1     // 5*r0
#define Z0  $a0     // r0<<2
#define R0  $s0
#define R1  $s1
#define R2  $s2
#define R3  $s3
#define S1  $s4
#define S2  $s5
#define S3  $s6

#define FRAME 32    // s0 .. s6
#define CTX FRAME   // in the caller's home area for arguments

// One column's first four products, with word `at` of the next block under way if `next`.
.macro column next, at, x0, y0, x1, y1, x2, y2, x3, y3
	multu	\x0, \y0
	.if	\next
	load	0, \next - 1, M, \at, P
	.elseif	\at == 0
	lw	P, CTX($sp)
	.endif
	maddu	\x1, \y1
	maddu	\x2, \y2
	maddu	\x3, \y3
	.if	\next
	load	1, \next - 1, M, \at, P
	.endif
.endm

.macro message next
	.if	\next
	swap	M
	maddu	M, ONE
	.endif
.endm

// The block x times r, to y: with `next` (1 aligned, 2 misaligned) plus the message block at `at`, else the last
// one, when P turns into the context. What HI and LO give takes five cycles to arrive, so it is first used five
// instructions later. h4 comes before the last limb, which is left in LO: it moves in a branch's delay slot.
.macro block next, at, x0, x1, x2, x3, y0, y1, y2
	column	\next, \at, \x0, R0, \x1, S3, \x2, S2, \x3, S1
	addu	H4, H4, PAD
	srl	C, H4, 2
	maddu	C, Q0
	message	\next
	mflo	\y0
	mfhi	C
	column	\next, (\at) + 4, \x0, R1, \x1, R0, \x2, S3, \x3, S2
	maddu	H4, S1
	maddu	C, ONE
	message	\next
	mflo	\y1
	mfhi	C
	column	\next, (\at) + 8, \x0, R2, \x1, R1, \x2, R0, \x3, S3
	maddu	H4, S2
	maddu	C, ONE
	message	\next
	mflo	\y2
	mfhi	C
	column	\next, (\at) + 12, \x0, R3, \x1, R2, \x2, R1, \x3, R0
	maddu	H4, S3
	maddu	C, ONE
	message	\next
	sll	M, H4, 30
	maddu	M, Z0
	mfhi	H4
.endm

// All blocks but the last, four per round or two. C, the bytes modulo 64, tells where to enter: h is in the set
// that fits, and P as if the round had been entered at its start.
.macro loop next, per_round
	.if	(\per_round) == 4
	beqz	C, .Lthree\next
	addiu	C, C, -32
	beqz	C, .Lone\next
	addiu	P, P, -32
	bgtz	C, .Ltwo\next
	addiu	P, P, 16
	addiu	P, P, 32
	.else
	andi	C, C, 16
	beqz	C, .Lone\next
	nop
	addiu	P, P, 16
	.endif
	.if	(\per_round) == 4
.Lfour\next:
	block	\next, 0, A0, A1, A2, A3, B0, B1, B2
	mflo	B3
.Lthree\next:
	block	\next, 16, B0, B1, B2, B3, A0, A1, A2
	mflo	A3
	.endif
.Ltwo\next:
	block	\next, 16 * (\per_round) - 32, A0, A1, A2, A3, B0, B1, B2
	mflo	B3
.Lone\next:
	block	\next, 16 * (\per_round) - 16, B0, B1, B2, B3, A0, A1, A2
	addiu	P, P, 16 * (\per_round)
	.if	(\per_round) == 4
	bne	P, END, .Lfour\next
	.else
	bne	P, END, .Ltwo\next
	.endif
	mflo	A3
.endm

// void poly1305_blocks(void *ctx, const uint8_t *inp, size_t len, uint32_t padbit)
	function NAME(poly1305_blocks)
	.cfi_remember_state
	beqz	$a2, .Lnone
	li	ONE, 1
	addiu	$sp, $sp, -FRAME
	.cfi_def_cfa_offset FRAME
	load	0, 1, B0, 0, P
	load	0, 1, B1, 4, P
	load	0, 1, B2, 8, P
	load	0, 1, B3, 12, P
	load	1, 1, B0, 0, P
	load	1, 1, B1, 4, P
	load	1, 1, B2, 8, P
	load	1, 1, B3, 12, P
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
	lw	A0, H + 0($a0)
	lw	A1, H + 4($a0)
	lw	A2, H + 8($a0)
	lw	A3, H + 12($a0)
	lw	H4, H + 16($a0)
	lw	R1, R + 4($a0)
	lw	R2, R + 8($a0)
	lw	R3, R + 12($a0)
	lw	R0, R + 0($a0)
	sw	$a0, CTX($sp)
	srl	S1, R1, 2
	srl	S2, R2, 2
	srl	S3, R3, 2
	addu	S1, S1, R1
	addu	S2, S2, R2
	addu	S3, S3, R3
	sll	Z0, R0, 2
	addu	Q0, Z0, R0

	// The first block.
	swap	B0
	swap	B1
	swap	B2
	swap	B3
	addu	A0, A0, B0
	sltu	C, A0, B0
	addu	A1, A1, B1
	sltu	B1, A1, B1
	addu	A1, A1, C
	sltu	C, A1, C
	addu	C, C, B1
	addu	A2, A2, B2
	sltu	B2, A2, B2
	addu	A2, A2, C
	sltu	C, A2, C
	addu	C, C, B2
	addu	A3, A3, B3
	sltu	B3, A3, B3
	addu	A3, A3, C
	sltu	C, A3, C
	addu	H4, H4, B3
	addiu	M, END, -16
	beqz	M, .Llast
	addu	H4, H4, C

	andi	M, END, 16
	andi	C, END, 48
	bnez	M, .Lset_a
	addu	END, END, P
	move	B0, A0
	move	B1, A1
	move	B2, A2
	move	B3, A3
.Lset_a:
	andi	M, P, 3
	bnez	M, .Lmisaligned
	nop
	loop	1, 4
	b	.Llast
	nop
.Lmisaligned:
	loop	2, 4 - 2 * BE // to stay small

.Llast:
	block	0, 0, A0, A1, A2, A3, B0, B1, B2
	mflo	B3
	lw	$s0, 0($sp)
	lw	$s1, 4($sp)
	lw	$s2, 8($sp)
	lw	$s3, 12($sp)
	lw	$s4, 16($sp)
	lw	$s5, 20($sp)
	lw	$s6, 24($sp)
	sw	B0, H + 0(P)
	sw	B1, H + 4(P)
	sw	B2, H + 8(P)
	sw	B3, H + 12(P)
	sw	H4, H + 16(P)
	jr	$ra
	addiu	$sp, $sp, FRAME
	.cfi_restore_state
.Lnone:
	jr	$ra
	nop
	end_function NAME(poly1305_blocks)

	.section .note.GNU-stack, "", @progbits
