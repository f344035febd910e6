// Poly1305 (RFC 8439, section 2.5) for POWER8 and later, ELFv2, little-endian. The contract is asm/ABI.md.
//
// Radix 2^64, as in src/backend/portable/limbs64.rs, whose bounds hold here too: h = h0 + h1*2^64 + h2*2^128 with
// h2 <= 6, r1 a multiple of 4, s1 = r1 + r1/4. 32 instructions per block with mulhdu and the carry bit; the compiler
// makes 62 of the same lines.

#define STATE 3
#define INP   4
#define N     5
#define H0    6
#define H1    7
#define H2    8
#define R0    9
#define R1    10
#define S1    11
#define ONE   12
// Temporaries; all but the first are the caller's.
#define A0    0
#define A1    31
#define B0    30
#define B1    29
#define T0    28
#define T1    27
#define T2    26

	.abiversion	2
	.text
	.globl	wireseal_0_1_poly1305_blocks_vsx
	.hidden	wireseal_0_1_poly1305_blocks_vsx
	.type	wireseal_0_1_poly1305_blocks_vsx, @function
	.balign	32

// (state: h0, h1, h2, r0, r1; blocks, their number)
wireseal_0_1_poly1305_blocks_vsx:
	.cfi_startproc
	cmpldi	N, 0
	beqlr
	// Below the stack pointer, where nothing else writes: this calls nobody.
	std	31, -8(1)
	std	30, -16(1)
	std	29, -24(1)
	std	28, -32(1)
	std	27, -40(1)
	std	26, -48(1)
	.cfi_offset	31, -8
	.cfi_offset	30, -16
	.cfi_offset	29, -24
	.cfi_offset	28, -32
	.cfi_offset	27, -40
	.cfi_offset	26, -48
	mtctr	N
	ld	H0, 0(STATE)
	ld	H1, 8(STATE)
	ld	H2, 16(STATE)
	ld	R0, 24(STATE)
	ld	R1, 32(STATE)
	srdi	S1, R1, 2
	add	S1, S1, R1
	li	ONE, 1

	.balign	32
1:	ld	T0, 0(INP)
	ld	T1, 8(INP)
	addi	INP, INP, 16
	addc	H0, H0, T0
	adde	H1, H1, T1
	adde	H2, H2, ONE

	mulld	A0, H0, R0		// d0 = h0*r0 + h1*s1
	mulhdu	A1, H0, R0
	mulld	T0, H1, S1
	mulhdu	T1, H1, S1
	mulld	B0, H0, R1		// d1 = h0*r1 + h1*r0 + h2*s1
	mulhdu	B1, H0, R1
	mulld	T2, H2, S1
	addc	A0, A0, T0
	adde	A1, A1, T1
	mulld	T0, H1, R0
	mulhdu	T1, H1, R0
	mulld	H2, H2, R0		// d2 = h2*r0
	add	T2, T2, A1		// < 7.5*2^60 + 2.25*2^60
	addc	B0, B0, T0
	adde	B1, B1, T1
	addc	B0, B0, T2
	addze	B1, B1
	add	H2, H2, B1

	clrrdi	T0, H2, 2		// what is at 2^130 and above comes back times 5
	srdi	T1, H2, 2
	add	T0, T0, T1
	clrldi	H2, H2, 62
	addc	H0, A0, T0
	addze	H1, B0
	addze	H2, H2
	bdnz	1b

	std	H0, 0(STATE)
	std	H1, 8(STATE)
	std	H2, 16(STATE)
	ld	31, -8(1)
	ld	30, -16(1)
	ld	29, -24(1)
	ld	28, -32(1)
	ld	27, -40(1)
	ld	26, -48(1)
	.cfi_restore	31
	.cfi_restore	30
	.cfi_restore	29
	.cfi_restore	28
	.cfi_restore	27
	.cfi_restore	26
	blr
	.cfi_endproc
	.size	wireseal_0_1_poly1305_blocks_vsx, . - wireseal_0_1_poly1305_blocks_vsx

	.section	.note.GNU-stack, "", @progbits
