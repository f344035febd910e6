// ELFv2: sets every register that a function must keep, calls, and stores what came back.
//
//	void around(const struct kept *before, struct kept *after, void *function, a, b, c, d)
//
// struct kept: r14 .. r31, f14 .. f31, v20 .. v31, cr, r2, r13, r1.

#define R 0
#define F 144
#define V 288
#define X 480

	.abiversion	2
	.text
	.globl	around
	.type	around, @function
around:
	mflr	0
	std	0, 16(1)
	mfcr	0
	stw	0, 8(1)
	stdu	1, -640(1)
	addi	11, 1, 64
	.macro	store to
	.irp	n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	std	\n, R + 8 * (\n - 14)(\to)
	stfd	\n, F + 8 * (\n - 14)(\to)
	.endr
	.irp	n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	li	0, V + 16 * (\n - 20)
	stvx	\n, \to, 0
	.endr
	.endm
	.macro	load from
	.irp	n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	li	0, V + 16 * (\n - 20)
	lvx	\n, \from, 0
	.endr
	.irp	n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	lfd	\n, F + 8 * (\n - 14)(\from)
	ld	\n, R + 8 * (\n - 14)(\from)
	.endr
	.endm
	store	11
	std	4, 600(1)
	std	2, X + 8(3)
	std	13, X + 16(3)
	std	1, X + 24(3)
	ld	0, X(3)
	mtcr	0
	load	3
	mr	12, 5
	mtctr	12
	mr	3, 6
	mr	4, 7
	mr	5, 8
	mr	6, 9
	bctrl
	ld	11, 600(1)
	mfcr	0
	std	0, X(11)
	std	2, X + 8(11)
	std	13, X + 16(11)
	std	1, X + 24(11)
	store	11
	addi	11, 1, 64
	load	11
	addi	1, 1, 640
	ld	0, 16(1)
	mtlr	0
	lwz	0, 8(1)
	mtcr	0
	blr
	.size	around, . - around
	.section	.note.GNU-stack, "", @progbits
