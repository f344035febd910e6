// ChaCha20 (RFC 8439, section 2.3) for MIPS32, o32, both endiannesses. The contract is asm/ABI.md.
// For release 1; mips32r2/chacha20.S is this file with the instructions of release 2.
//
// One block at a time, all 16 words and the loop in registers. Every add, xor and rotate costs one cycle on
// the single-issue cores this is for (24K, 34K, 1004K), so a block can't cost less than its operations, and
// what there is to win is around them:
// - Only word 12, the counter, changes between blocks. The first column round on columns 1..3 and the first
//   steps after it are the same for all: 41 of the 960 operations are done once per call (`Ik` below: word k
//   as far as it can be taken without the counter). Four of these words stay in registers, nine on the stack.
// - The 20 rounds are straight code (919 instructions) shared by all ways of writing the result out. Without
//   `rotr` a rotation takes three instructions; then most rounds are in a loop, for the size.
// - The matrix is added under the last two quarter rounds, where its loads hide.

#ifndef RELEASE
# define RELEASE 1
# define SUFFIX mips32
#endif
#include "words.h"

#define DST $a0
#define SRC $a1
#define END $a2     // DST after the last block
#define MATRIX $a3
#define T   $at
#define CTR $v0     // word 12 of this block
#define M4  $v1     // matrix words that serve as a start and again in the final addition
#define M8  $t8
#define I0  $t9
#define I1  $gp
#define I2  $fp
#if RELEASE == 2
# define I3 $ra
# define U
#else
# define I3 X3
# define U  $ra     // for rotations
#endif
#define X0  $t0
#define X1  $t1
#define X2  $t2
#define X3  $t3
#define X4  $t4
#define X5  $t5
#define X6  $t6
#define X7  $t7
#define X8  $s0
#define X9  $s1
#define X10 $s2
#define X11 $s3
#define X12 $s4
#define X13 $s5
#define X14 $s6
#define X15 $s7

#define FRAME 88
#define HOISTED 0   // I5 I6 I7 I9 I10 I11 I13 I14 I15, and I3 unless it has a register
#define HOW     40  // low two bits: misalignment of DST | SRC; negative: no SRC, write the keystream
#define SAVED   44
#define NBLOCKS (FRAME + 8) // in the caller's home area for arguments

	.set	noreorder
	.set	noat
	.text

.macro rotate x, k
	.if	RELEASE == 2
	rotr	\x, \x, \k
	.else
	sll	U, \x, 32 - \k
	srl	\x, \x, \k
	or	\x, \x, U
	.endif
.endm

// Up to four of: a += b; d ^= a; d = d rotated right by k. Interleaved, so that nothing waits even on a core
// where such an operation takes two cycles.
.macro arx k, a0, b0, d0, a1, b1, d1, a2, b2, d2, a3, b3, d3
	addu	\a0, \a0, \b0
	addu	\a1, \a1, \b1
	.ifnb	\a2
	addu	\a2, \a2, \b2
	.endif
	.ifnb	\a3
	addu	\a3, \a3, \b3
	.endif
	xr	\k, \a0, \d0, \a1, \d1, \a2, \d2, \a3, \d3
.endm

// The last two thirds of it.
.macro xr k, a0, d0, a1, d1, a2, d2, a3, d3
	xor	\d0, \d0, \a0
	xor	\d1, \d1, \a1
	.ifnb	\a2
	xor	\d2, \d2, \a2
	.endif
	.ifnb	\a3
	xor	\d3, \d3, \a3
	.endif
	rotate	\d0, \k
	rotate	\d1, \k
	.ifnb	\a2
	rotate	\d2, \k
	.endif
	.ifnb	\a3
	rotate	\d3, \k
	.endif
.endm

.macro column_round
	arx	16, X0, X4, X12, X1, X5, X13, X2, X6, X14, X3, X7, X15
	arx	20, X8, X12, X4, X9, X13, X5, X10, X14, X6, X11, X15, X7
	arx	24, X0, X4, X12, X1, X5, X13, X2, X6, X14, X3, X7, X15
	arx	25, X8, X12, X4, X9, X13, X5, X10, X14, X6, X11, X15, X7
.endm

.macro diagonal_round
	arx	16, X0, X5, X15, X1, X6, X12, X2, X7, X13, X3, X4, X14
	arx	20, X10, X15, X5, X11, X12, X6, X8, X13, X7, X9, X14, X4
	arx	24, X0, X5, X15, X1, X6, X12, X2, X7, X13, X3, X4, X14
	arx	25, X10, X15, X5, X11, X12, X6, X8, X13, X7, X9, X14, X4
.endm

// Final word x: add its matrix word, which `lw T` asked for, and bring it into memory order.
.macro final x
	addu	\x, \x, T
	swap	\x, T, U
.endm

// Two or three words at `at` become ciphertext, with as many free registers for the text. A misaligned load's
// two halves are that far apart, for cores that need a pause between them.
.macro xor_words src, dst, at, x, t, y, u, z, v
	load	0, \src, \t, \at - 64, SRC
	load	0, \src, \u, \at - 60, SRC
	.ifnb	\z
	load	0, \src, \v, \at - 56, SRC
	.endif
	load	1, \src, \t, \at - 64, SRC
	load	1, \src, \u, \at - 60, SRC
	.ifnb	\z
	load	1, \src, \v, \at - 56, SRC
	.endif
	xor	\x, \x, \t
	xor	\y, \y, \u
	store	\dst, \x, \at, DST
	store	\dst, \y, \at + 4, DST
	.ifnb	\z
	xor	\z, \z, \v
	store	\dst, \z, \at + 8, DST
	.endif
.endm

// XOR a block and go on with the next, when part 0 of its first word is loaded. Word 0 has one free register,
// then the words written give theirs.
.macro xor_block src, dst
	load	1, \src, T, 0, SRC
	addiu	SRC, SRC, 64
	xor	X0, X0, T
	store	\dst, X0, 0, DST
	xor_words \src, \dst, 4, X1, T, X2, X0
	xor_words \src, \dst, 12, X3, T, X4, X0, X5, X1
	xor_words \src, \dst, 24, X6, T, X7, X0, X8, X1
	xor_words \src, \dst, 36, X9, T, X10, X0, X11, X1
	xor_words \src, \dst, 48, X12, T, X13, X0
	load	0, \src, T, -8, SRC
	load	0, \src, X0, -4, SRC
	load	1, \src, T, -8, SRC
	load	1, \src, X0, -4, SRC
	xor	X14, X14, T
	store	\dst, X14, 56, DST
	xor	X15, X15, X0
	last_word \dst
.endm

// The same without a text.
.macro store_block dst
	store	\dst, X0, 0, DST
	store	\dst, X1, 4, DST
	store	\dst, X2, 8, DST
	store	\dst, X3, 12, DST
	store	\dst, X4, 16, DST
	store	\dst, X5, 20, DST
	store	\dst, X6, 24, DST
	store	\dst, X7, 28, DST
	store	\dst, X8, 32, DST
	store	\dst, X9, 36, DST
	store	\dst, X10, 40, DST
	store	\dst, X11, 44, DST
	store	\dst, X12, 48, DST
	store	\dst, X13, 52, DST
	store	\dst, X14, 56, DST
	last_word \dst
.endm

// Store word 15; another block, or the end.
.macro last_word misaligned
	.if	\misaligned
	swl	X15, (63 - 3 * BE)(DST)
	addiu	DST, DST, 64
	bne	DST, END, .Lnext_block
	swr	X15, (-4 + 3 * BE)(DST)
	.else
	addiu	DST, DST, 64
	bne	DST, END, .Lnext_block
	sw	X15, -4(DST)
	.endif
.endm

// void chacha20_blocks(uint8_t *dst, size_t nblocks, const uint32_t matrix[16])
	function NAME(chacha20_blocks)
	move	MATRIX, $a2
	move	$a2, $a1
	b	.Leither
	lui	T, 0x8000
	end_function NAME(chacha20_blocks)

// void chacha20_xor(uint8_t *dst, const uint8_t *src, size_t nblocks, const uint32_t matrix[16])
	function NAME(chacha20_xor)
	or	T, DST, SRC
	andi	T, T, 3
.Leither:
	.cfi_remember_state
	beqz	$a2, .Lnone
	sll	X0, $a2, 6
	addiu	$sp, $sp, -FRAME
	.cfi_def_cfa_offset FRAME
	addiu	X1, $a2, -1
	sw	$s0, SAVED + 0($sp)
	.cfi_offset 16, SAVED + 0 - FRAME
	sw	$s1, SAVED + 4($sp)
	.cfi_offset 17, SAVED + 4 - FRAME
	sw	$s2, SAVED + 8($sp)
	.cfi_offset 18, SAVED + 8 - FRAME
	sw	$s3, SAVED + 12($sp)
	.cfi_offset 19, SAVED + 12 - FRAME
	sw	$s4, SAVED + 16($sp)
	.cfi_offset 20, SAVED + 16 - FRAME
	sw	$s5, SAVED + 20($sp)
	.cfi_offset 21, SAVED + 20 - FRAME
	sw	$s6, SAVED + 24($sp)
	.cfi_offset 22, SAVED + 24 - FRAME
	sw	$s7, SAVED + 28($sp)
	.cfi_offset 23, SAVED + 28 - FRAME
	sw	$gp, SAVED + 32($sp)
	.cfi_offset 28, SAVED + 32 - FRAME
	sw	$fp, SAVED + 36($sp)
	.cfi_offset 30, SAVED + 36 - FRAME
	sw	$ra, SAVED + 40($sp)
	.cfi_offset 31, SAVED + 40 - FRAME

	sw	T, HOW($sp)
	sw	X1, NBLOCKS($sp)
	addu	END, DST, X0
	lw	I1, 4(MATRIX)
	lw	X5, 20(MATRIX)
	lw	I2, 8(MATRIX)
	lw	X6, 24(MATRIX)
	lw	I3, 12(MATRIX)
	lw	X7, 28(MATRIX)
	lw	X13, 52(MATRIX)
	lw	X14, 56(MATRIX)
	lw	X15, 60(MATRIX)
	lw	X9, 36(MATRIX)
	lw	X10, 40(MATRIX)
	lw	X11, 44(MATRIX)
	lw	I0, 0(MATRIX)
	lw	M4, 16(MATRIX)
	lw	M8, 32(MATRIX)
	lw	CTR, 48(MATRIX)

	// The first column round without column 0, and what follows from it.
	arx	16, I1, X5, X13, I2, X6, X14, I3, X7, X15
	arx	20, X9, X13, X5, X10, X14, X6, X11, X15, X7
	arx	24, I1, X5, X13, I2, X6, X14, I3, X7, X15
	arx	25, X9, X13, X5, X10, X14, X6, X11, X15, X7
	addu	I0, I0, M4
	addu	I2, I2, X7
	xor	X13, X13, I2
	rotate	X13, 16
	beqz	X1, .Lrounds
	addu	I1, I1, X6
	sw	X5, HOISTED + 0($sp)
	sw	X6, HOISTED + 4($sp)
	sw	X7, HOISTED + 8($sp)
	sw	X9, HOISTED + 12($sp)
	sw	X10, HOISTED + 16($sp)
	sw	X11, HOISTED + 20($sp)
	sw	X13, HOISTED + 24($sp)
	sw	X14, HOISTED + 28($sp)
	.if	RELEASE == 1
	sw	I3, HOISTED + 36($sp)
	.endif
	b	.Lrounds
	sw	X15, HOISTED + 32($sp)

.Lnext_block:
	lw	X5, HOISTED + 0($sp)
	lw	X6, HOISTED + 4($sp)
	lw	X7, HOISTED + 8($sp)
	lw	X9, HOISTED + 12($sp)
	lw	X10, HOISTED + 16($sp)
	lw	X11, HOISTED + 20($sp)
	lw	X13, HOISTED + 24($sp)
	lw	X14, HOISTED + 28($sp)
	lw	X15, HOISTED + 32($sp)
	.if	RELEASE == 1
	lw	I3, HOISTED + 36($sp)
	.endif

.Lrounds:
	// Column 0, whose first addition is in I0.
	xor	X12, CTR, I0
	rotate	X12, 16
	addu	X8, M8, X12
	xor	X4, M4, X8
	rotate	X4, 20
	addu	X0, I0, X4
	xor	X12, X12, X0
	rotate	X12, 24
	addu	X8, X8, X12
	xor	X4, X4, X8
	rotate	X4, 25
	// The first diagonal round without what was done once.
	addu	X0, X0, X5
	addu	X3, I3, X4
	xr	16, X0, X15, I1, X12, X3, X14
	arx	20, X10, X15, X5, X11, X12, X6, X8, X13, X7, X9, X14, X4
	addu	X0, X0, X5
	addu	X1, I1, X6
	addu	X2, I2, X7
	addu	X3, X3, X4
	xr	24, X0, X15, X1, X12, X2, X13, X3, X14
	arx	25, X10, X15, X5, X11, X12, X6, X8, X13, X7, X9, X14, X4
	.if	RELEASE == 2
	.rept	8
	column_round
	diagonal_round
	.endr
	.else
	li	T, 3
.Lfour_rounds:
	column_round
	diagonal_round
	column_round
	diagonal_round
	bnez	T, .Lfour_rounds
	addiu	T, T, -1
	.endif
	column_round
	// The last diagonal round, two diagonals at a time; the matrix is added where a word is ready.
	arx	16, X0, X5, X15, X1, X6, X12
	arx	20, X10, X15, X5, X11, X12, X6
	arx	24, X0, X5, X15, X1, X6, X12
	arx	25, X10, X15, X5, X11, X12, X6
	lw	T, 0(MATRIX)
	addu	X2, X2, X7
	addu	X3, X3, X4
	final	X0
	lw	T, 4(MATRIX)
	xor	X13, X13, X2
	xor	X14, X14, X3
	final	X1
	lw	T, 20(MATRIX)
	rotate	X13, 16
	rotate	X14, 16
	final	X5
	lw	T, 24(MATRIX)
	addu	X8, X8, X13
	addu	X9, X9, X14
	final	X6
	lw	T, 40(MATRIX)
	xor	X7, X7, X8
	xor	X4, X4, X9
	final	X10
	lw	T, 44(MATRIX)
	rotate	X7, 20
	rotate	X4, 20
	final	X11
	lw	T, 60(MATRIX)
	addu	X2, X2, X7
	addu	X3, X3, X4
	final	X15
	lw	T, 8(MATRIX)
	xor	X13, X13, X2
	xor	X14, X14, X3
	final	X2
	lw	T, 12(MATRIX)
	rotate	X13, 24
	rotate	X14, 24
	final	X3
	lw	T, 52(MATRIX)
	addu	X8, X8, X13
	addu	X9, X9, X14
	final	X13
	lw	T, 56(MATRIX)
	xor	X7, X7, X8
	xor	X4, X4, X9
	final	X14
	lw	T, 36(MATRIX)
	rotate	X7, 25
	rotate	X4, 25
	final	X9
	lw	T, 28(MATRIX)
	addu	X8, X8, M8
	final	X7
	swap	X8, T, U
	.if	BE == 0 || RELEASE == 2
	lw	T, HOW($sp)
	.endif
	addu	X4, X4, M4
	swap	X4, T, U
	addu	X12, X12, CTR
	swap	X12, T, U
	.if	BE && RELEASE == 1 // where the swaps need T
	lw	T, HOW($sp)
	.endif
	bnez	T, .Lother_ways
	addiu	CTR, CTR, 1
	load	0, 0, T, 0, SRC
	xor_block 0, 0
	b	.Ldone
	lw	T, NBLOCKS($sp)

.Lother_ways:
	bltz	T, .Lkeystream
	andi	T, DST, 3
	beqz	T, .Lsrc_misaligned
	andi	T, SRC, 3
	beqz	T, .Ldst_misaligned
	load	0, 1, T, 0, SRC // the whole of an aligned word
	xor_block 1, 1
	b	.Ldone
	lw	T, NBLOCKS($sp)

.Ldst_misaligned:
	xor_block 0, 1
	b	.Ldone
	lw	T, NBLOCKS($sp)

.Lsrc_misaligned:
	load	0, 1, T, 0, SRC
	xor_block 1, 0
	b	.Ldone
	lw	T, NBLOCKS($sp)

.Lkeystream:
	bnez	T, .Lkeystream_misaligned
	nop
	store_block 0
	b	.Ldone
	lw	T, NBLOCKS($sp)

.Lkeystream_misaligned:
	store_block 1
	lw	T, NBLOCKS($sp)

.Ldone:
	lw	$s0, SAVED + 0($sp)
	beqz	T, .Lnothing_hoisted
	lw	$s1, SAVED + 4($sp)
	sw	$zero, HOISTED + 0($sp)
	sw	$zero, HOISTED + 4($sp)
	sw	$zero, HOISTED + 8($sp)
	sw	$zero, HOISTED + 12($sp)
	sw	$zero, HOISTED + 16($sp)
	sw	$zero, HOISTED + 20($sp)
	sw	$zero, HOISTED + 24($sp)
	sw	$zero, HOISTED + 28($sp)
	sw	$zero, HOISTED + 32($sp)
	.if	RELEASE == 1
	sw	$zero, HOISTED + 36($sp)
	.endif
.Lnothing_hoisted:
	lw	$ra, SAVED + 40($sp)
	lw	$s2, SAVED + 8($sp)
	lw	$s3, SAVED + 12($sp)
	lw	$s4, SAVED + 16($sp)
	lw	$s5, SAVED + 20($sp)
	lw	$s6, SAVED + 24($sp)
	lw	$s7, SAVED + 28($sp)
	lw	$gp, SAVED + 32($sp)
	lw	$fp, SAVED + 36($sp)
	jr	$ra
	addiu	$sp, $sp, FRAME
	.cfi_restore_state
.Lnone:
	jr	$ra
	nop
	end_function NAME(chacha20_xor)

	.section .note.GNU-stack, "", @progbits
