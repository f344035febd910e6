// What the MIPS kernels share: how a function begins and ends, and little-endian words in memory, at any alignment,
// on either endianness. The file that includes this sets RELEASE, of MIPS32, and SUFFIX, of its symbols.

#if !defined(__mips_isa_rev) || __mips_isa_rev < RELEASE || __mips_isa_rev > 5
# error "needs MIPS32, release 1 to 5, and 2 at least for the kernels in mips32r2"
#endif
#ifdef __MIPSEB__
# define BE 1
#else
# define BE 0
#endif

#define JOIN(name, suffix) wireseal_0_1_##name##_##suffix
#define JOIN_EXPANDED(name, suffix) JOIN(name, suffix)
#define NAME(name) JOIN_EXPANDED(name, SUFFIX)

// No floating point, so these link with objects of either kind, hard or soft. clang's assembler can't say so: it
// marks them as its flags are.
#ifndef __clang__
	.gnu_attribute 4, 0
#endif

	.set	noreorder
	.set	noat
	.text

.macro function name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
.endm

.macro end_function name
	.cfi_endproc
	.size	\name, . - \name
.endm

// A word at any alignment is loaded in two halves, part 0 and part 1; an aligned one with part 0 alone.
.macro load part, misaligned, x, offset, base
	.if	\misaligned == 0
	.if	\part == 0
	lw	\x, (\offset)(\base)
	.endif
	.elseif	\part != BE
	lwl	\x, ((\offset) + 3 - 3 * BE)(\base)
	.else
	lwr	\x, ((\offset) + 3 * BE)(\base)
	.endif
.endm

.macro store misaligned, x, offset, base
	.if	\misaligned
	swl	\x, ((\offset) + 3 - 3 * BE)(\base)
	swr	\x, ((\offset) + 3 * BE)(\base)
	.else
	sw	\x, (\offset)(\base)
	.endif
.endm

// Between the machine's byte order and little-endian. Release 1 uses the registers t and u.
.macro swap x, t, u
	.if	BE && RELEASE == 2
	wsbh	\x, \x
	rotr	\x, \x, 16
	.elseif	BE
	srl	\t, \x, 24
	sll	\u, \x, 24
	or	\t, \t, \u
	andi	\u, \x, 0xff00
	sll	\u, \u, 8
	or	\t, \t, \u
	srl	\x, \x, 8
	andi	\x, \x, 0xff00
	or	\x, \x, \t
	.endif
.endm
