// The start and the end of Poly1305 on MIPS, the same for both kernels: the context, init and emit.

#include "words.h"

// Context, as CRYPTOGAMS has it. s is for its algorithm only.
#define H 0         // h0 .. h4
#define R 20        // r0 .. r3, clamped
#define S 36        // s1 .. s3

// int poly1305_init(void *ctx, const uint8_t key[16])
	function NAME(poly1305_init)
	sw	$zero, H + 0($a0)
	sw	$zero, H + 4($a0)
	sw	$zero, H + 8($a0)
	sw	$zero, H + 12($a0)
	beqz	$a1, .Lno_key
	sw	$zero, H + 16($a0)
	load	0, 1, $t0, 0, $a1
	load	0, 1, $t1, 4, $a1
	load	0, 1, $t2, 8, $a1
	load	0, 1, $t3, 12, $a1
	load	1, 1, $t0, 0, $a1
	load	1, 1, $t1, 4, $a1
	load	1, 1, $t2, 8, $a1
	load	1, 1, $t3, 12, $a1
	lui	$t4, 0x0fff
	ori	$t4, $t4, 0xffff
	addiu	$t5, $t4, -3
	swap	$t0, $t6, $t7
	swap	$t1, $t6, $t7
	swap	$t2, $t6, $t7
	swap	$t3, $t6, $t7
	and	$t0, $t0, $t4
	and	$t1, $t1, $t5
	and	$t2, $t2, $t5
	and	$t3, $t3, $t5
	sw	$t0, R + 0($a0)
	sw	$t1, R + 4($a0)
	sw	$t2, R + 8($a0)
	sw	$t3, R + 12($a0)
	.if	RELEASE == 1
	srl	$t4, $t1, 2
	srl	$t5, $t2, 2
	srl	$t6, $t3, 2
	addu	$t4, $t4, $t1
	addu	$t5, $t5, $t2
	addu	$t6, $t6, $t3
	sw	$t4, S + 0($a0)
	sw	$t5, S + 4($a0)
	sw	$t6, S + 8($a0)
	.endif
.Lno_key:
	jr	$ra
	move	$v0, $zero
	end_function NAME(poly1305_init)

// void poly1305_emit(const void *ctx, uint8_t mac[16], const uint32_t nonce[4])
	function NAME(poly1305_emit)
	lw	$t4, H + 16($a0)
	lw	$t0, H + 0($a0)
	lw	$t1, H + 4($a0)
	lw	$t2, H + 8($a0)
	lw	$t3, H + 12($a0)
	load	0, 1, $t5, 0, $a2
	load	0, 1, $t6, 4, $a2
	load	0, 1, $t7, 8, $a2
	load	0, 1, $t8, 12, $a2
	load	1, 1, $t5, 0, $a2
	load	1, 1, $t6, 4, $a2
	load	1, 1, $t7, 8, $a2
	load	1, 1, $t8, 12, $a2
	// With c = h4>>2, v = h%2^130 + 5c is below 2^130 + 2^32 and congruent to h. Whether v >= p is k =
	// (v + 5) >> 130, and the fully reduced h is v + 5k modulo 2^130.
	srl	$v0, $t4, 2
	sll	$v1, $v0, 2
	addu	$v1, $v1, $v0
	addiu	$v1, $v1, 5
	addu	$at, $t0, $v1
	sltu	$at, $at, $v1
	addu	$v0, $t1, $at
	sltu	$at, $v0, $at
	addu	$v0, $t2, $at
	sltu	$at, $v0, $at
	addu	$v0, $t3, $at
	sltu	$at, $v0, $at
	andi	$t4, $t4, 3
	addu	$t4, $t4, $at
	srl	$t4, $t4, 2
	// 5c + 5k: k = 0 takes 5 off again.
	addiu	$t4, $t4, -1
	andi	$t4, $t4, 5
	subu	$v1, $v1, $t4
	// Plus the nonce, modulo 2^128.
	addu	$t0, $t0, $v1
	sltu	$v0, $t0, $v1
	addu	$t0, $t0, $t5
	sltu	$at, $t0, $t5
	addu	$at, $at, $v0
	addu	$t1, $t1, $t6
	sltu	$v0, $t1, $t6
	addu	$t1, $t1, $at
	sltu	$at, $t1, $at
	addu	$at, $at, $v0
	addu	$t2, $t2, $t7
	sltu	$v0, $t2, $t7
	addu	$t2, $t2, $at
	sltu	$at, $t2, $at
	addu	$at, $at, $v0
	addu	$t3, $t3, $t8
	addu	$t3, $t3, $at
	swap	$t0, $at, $v0
	swap	$t1, $at, $v0
	swap	$t2, $at, $v0
	swap	$t3, $at, $v0
	store	1, $t0, 0, $a1
	store	1, $t1, 4, $a1
	store	1, $t2, 8, $a1
	swl	$t3, (15 - 3 * BE)($a1)
	jr	$ra
	swr	$t3, (12 + 3 * BE)($a1)
	end_function NAME(poly1305_emit)
