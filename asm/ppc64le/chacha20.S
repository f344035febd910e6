// ChaCha20 (RFC 8439, section 2.3) for POWER8 and later, ELFv2, little-endian, with VSX. The contract is asm/ABI.md.
//
// Four blocks at a time column-wise: v0 .. v15 hold one state word each, of four blocks; a 4 x 4 transposition by
// vmrgew/vmrgow and xxpermdi after the rounds. The rest of one to three blocks row-wise, interleaved: v(4i) .. v(4i+3)
// hold the four rows of block i. Executed instructions of the rounds: 970 for four blocks, and 310 for each of
// the rest, so even three cost less by themselves than as part of four.
//
// Uses volatile registers only and no stack. lxvw4x and stxvw4x have words in the order of memory, at any alignment.

#define DST 3
#define N   5
#define M   6
#define SRC 4
#define O16 7
#define O32 8
#define O48 9
#define TURNS 10

// Rotation counts; temporaries outside the rounds.
#define R16 16
#define R12 17
#define R8  18
#define R7  19

// VSX registers that no vector instruction reaches: the rows of the matrix, row 3 of the next block; (1, 0, 0, 0);
// (0, 1, 2, 3); (4, 0, 0, 0); temporaries.
#define ROW0 0
#define ROW3 3
#define ONE  4
#define LANE 5
#define IN0  8
#define IN1  9
#define IN2  10
#define IN3  11

.macro counts
	vspltisw	R16, -16	// its five bits that count are 16
	vspltisw	R12, 12
	vspltisw	R8, 8
	vspltisw	R7, 7
.endm

// One quarter of a quarter-round on four sets of registers.
.macro step4 a0, b0, d0, a1, b1, d1, a2, b2, d2, a3, b3, d3, count
	vadduwm	\a0, \a0, \b0
	vadduwm	\a1, \a1, \b1
	vadduwm	\a2, \a2, \b2
	vadduwm	\a3, \a3, \b3
	vxor	\d0, \d0, \a0
	vxor	\d1, \d1, \a1
	vxor	\d2, \d2, \a2
	vxor	\d3, \d3, \a3
	vrlw	\d0, \d0, \count
	vrlw	\d1, \d1, \count
	vrlw	\d2, \d2, \count
	vrlw	\d3, \d3, \count
.endm

// A round: b, c, d are the words of the first quarter round, those of the others follow in the same row.
.macro round b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3
	step4	0, \b0, \d0, 1, \b1, \d1, 2, \b2, \d2, 3, \b3, \d3, R16
	step4	\c0, \d0, \b0, \c1, \d1, \b1, \c2, \d2, \b2, \c3, \d3, \b3, R12
	step4	0, \b0, \d0, 1, \b1, \d1, 2, \b2, \d2, 3, \b3, \d3, R8
	step4	\c0, \d0, \b0, \c1, \d1, \b1, \c2, \d2, \b2, \c3, \d3, \b3, R7
.endm

// Word k of a row to all lanes of v(4 * row + k).
.macro splat row
	xxspltw	32 + 4 * \row, \row, 0
	xxspltw	33 + 4 * \row, \row, 1
	xxspltw	34 + 4 * \row, \row, 2
	xxspltw	35 + 4 * \row, \row, 3
.endm

// Four words of four blocks to a row of each: v(4 * row + i) is then that of block i.
.macro transpose row
	vmrgew	16, 4 * \row, 4 * \row + 1
	vmrgow	17, 4 * \row, 4 * \row + 1
	vmrgew	18, 4 * \row + 2, 4 * \row + 3
	vmrgow	19, 4 * \row + 2, 4 * \row + 3
	xxpermdi	32 + 4 * \row, 48, 50, 0
	xxpermdi	33 + 4 * \row, 49, 51, 0
	xxpermdi	34 + 4 * \row, 48, 50, 3
	xxpermdi	35 + 4 * \row, 49, 51, 3
.endm

.macro add_row row
	xxlor	48, \row, \row
	vadduwm	4 * \row, 4 * \row, 16
	vadduwm	4 * \row + 1, 4 * \row + 1, 16
	vadduwm	4 * \row + 2, 4 * \row + 2, 16
	vadduwm	4 * \row + 3, 4 * \row + 3, 16
.endm

// One block's rows out, and the pointers on.
.macro serve xor, a, b, c, d
	.if	\xor
	lxvw4x	IN0, 0, SRC
	lxvw4x	IN1, O16, SRC
	lxvw4x	IN2, O32, SRC
	lxvw4x	IN3, O48, SRC
	addi	SRC, SRC, 64
	xxlxor	32 + \a, 32 + \a, IN0
	xxlxor	32 + \b, 32 + \b, IN1
	xxlxor	32 + \c, 32 + \c, IN2
	xxlxor	32 + \d, 32 + \d, IN3
	.endif
	stxvw4x	32 + \a, 0, DST
	stxvw4x	32 + \b, O16, DST
	stxvw4x	32 + \c, O32, DST
	stxvw4x	32 + \d, O48, DST
	addi	DST, DST, 64
.endm

// The same step of a quarter-round on the rows of up to three blocks.
.macro rows n, a, b, d, count
	vadduwm	\a, \a, \b
	.if	\n > 1
	vadduwm	\a + 4, \a + 4, \b + 4
	.endif
	.if	\n > 2
	vadduwm	\a + 8, \a + 8, \b + 8
	.endif
	vxor	\d, \d, \a
	.if	\n > 1
	vxor	\d + 4, \d + 4, \a + 4
	.endif
	.if	\n > 2
	vxor	\d + 8, \d + 8, \a + 8
	.endif
	vrlw	\d, \d, \count
	.if	\n > 1
	vrlw	\d + 4, \d + 4, \count
	.endif
	.if	\n > 2
	vrlw	\d + 8, \d + 8, \count
	.endif
.endm

// Rotates a row of each block by words.
.macro turn n, row, bytes
	vsldoi	\row, \row, \row, \bytes
	.if	\n > 1
	vsldoi	\row + 4, \row + 4, \row + 4, \bytes
	.endif
	.if	\n > 2
	vsldoi	\row + 8, \row + 8, \row + 8, \bytes
	.endif
.endm

.macro rows_round n
	rows	\n, 0, 1, 3, R16
	rows	\n, 2, 3, 1, R12
	rows	\n, 0, 1, 3, R8
	rows	\n, 2, 3, 1, R7
.endm

.macro rows_start i
	xxlor	32 + 4 * \i, ROW0, ROW0
	xxlor	33 + 4 * \i, ROW0 + 1, ROW0 + 1
	xxlor	34 + 4 * \i, ROW0 + 2, ROW0 + 2
	xxlor	35 + 4 * \i, ROW3, ROW3
.endm

// The last one to three blocks.
.macro rest n, xor
	rows_start	0
	xxlor	48, ONE, ONE
	.if	\n > 1
	rows_start	1
	vadduwm	7, 7, 16
	.endif
	.if	\n > 2
	rows_start	2
	vadduwm	11, 7, 16
	.endif
	counts
	mtctr	TURNS
	.balign	32
1:	rows_round	\n
	turn	\n, 1, 4
	turn	\n, 2, 8
	turn	\n, 3, 12
	rows_round	\n
	turn	\n, 1, 12
	turn	\n, 2, 8
	turn	\n, 3, 4
	bdnz	1b

	xxlor	48, ROW0, ROW0
	xxlor	49, ROW0 + 1, ROW0 + 1
	xxlor	50, ROW0 + 2, ROW0 + 2
	xxlor	51, ROW3, ROW3
	vadduwm	0, 0, 16
	vadduwm	1, 1, 17
	vadduwm	2, 2, 18
	vadduwm	3, 3, 19
	serve	\xor, 0, 1, 2, 3
	.if	\n > 1
	xxlor	32, ONE, ONE
	vadduwm	19, 19, 0
	vadduwm	4, 4, 16
	vadduwm	5, 5, 17
	vadduwm	6, 6, 18
	vadduwm	7, 7, 19
	serve	\xor, 4, 5, 6, 7
	.endif
	.if	\n > 2
	vadduwm	19, 19, 0
	vadduwm	8, 8, 16
	vadduwm	9, 9, 17
	vadduwm	10, 10, 18
	vadduwm	11, 11, 19
	serve	\xor, 8, 9, 10, 11
	.endif
	blr
.endm

.macro kernel xor
	li	O16, 16
	li	O32, 32
	li	O48, 48
	li	TURNS, 10
	lxvw4x	ROW0, 0, M
	lxvw4x	ROW0 + 1, O16, M
	lxvw4x	ROW0 + 2, O32, M
	lxvw4x	ROW3, O48, M
	vspltisw	16, 1
	vxor	17, 17, 17
	vsldoi	18, 16, 17, 12		// (1, 0, 0, 0)
	xxlor	ONE, 50, 50
	cmpldi	N, 4
	blt	2f

	vsldoi	18, 17, 16, 12		// (0, 1, 1, 1)
	vsldoi	19, 17, 16, 8		// (0, 0, 1, 1)
	vadduwm	18, 18, 19
	vsldoi	19, 17, 16, 4		// (0, 0, 0, 1)
	vadduwm	18, 18, 19
	xxlor	LANE, 50, 50

1:	splat	0
	splat	1
	splat	2
	splat	3
	xxlor	48, LANE, LANE
	vadduwm	12, 12, 16
	counts
	mtctr	TURNS
	.balign	32
3:	round	4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	round	5, 6, 7, 4, 10, 11, 8, 9, 15, 12, 13, 14
	bdnz	3b

	transpose	0
	transpose	1
	transpose	2
	transpose	3
	add_row	0
	add_row	1
	add_row	2
	xxlor	48, ROW3, ROW3
	xxlor	49, ONE, ONE
	vadduwm	12, 12, 16
	vadduwm	16, 16, 17
	vadduwm	13, 13, 16
	vadduwm	16, 16, 17
	vadduwm	14, 14, 16
	vadduwm	16, 16, 17
	vadduwm	15, 15, 16
	vadduwm	16, 16, 17
	xxlor	ROW3, 48, 48
	serve	\xor, 0, 4, 8, 12
	serve	\xor, 1, 5, 9, 13
	serve	\xor, 2, 6, 10, 14
	serve	\xor, 3, 7, 11, 15
	addi	N, N, -4
	cmpldi	N, 4
	bge	1b

2:	cmpldi	N, 2
	beq	5f
	bgt	6f
	cmpldi	N, 0
	beqlr
	rest	1, \xor
5:	rest	2, \xor
6:	rest	3, \xor
.endm

.macro function name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	32
\name:
	.cfi_startproc
.endm

.macro end name
	.cfi_endproc
	.size	\name, . - \name
.endm

	.abiversion	2
	.text

// (dst, src, nblocks, matrix)
function wireseal_0_1_chacha20_xor_vsx
	kernel	1
end wireseal_0_1_chacha20_xor_vsx

// (dst, nblocks, matrix)
function wireseal_0_1_chacha20_blocks_vsx
	mr	M, 5
	mr	N, 4
	kernel	0
end wireseal_0_1_chacha20_blocks_vsx

	.section	.note.GNU-stack, "", @progbits
