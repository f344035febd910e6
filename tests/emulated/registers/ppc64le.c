// Do the kernels of asm/ppc64le keep what ELFv2 has a function keep? See ppc64le.S.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct kept {
    uint64_t r[18], f[18];
    uint8_t v[12][16];
    uint64_t cr, r2, r13, r1;
} __attribute__((aligned(16)));

void around(struct kept *before, struct kept *after, void *function, const void *a, const void *b, const void *c, const void *d);
void wireseal_0_1_chacha20_xor_vsx();
void wireseal_0_1_chacha20_blocks_vsx();
void wireseal_0_1_poly1305_blocks_vsx();

static uint8_t data[16 * 64];
static uint32_t matrix[16];
static uint64_t state[5];
static int failed;

static void check(void *function, const char *name, uintptr_t blocks, const void *a, const void *b, const void *c, const void *d) {
    struct kept before, after;
    for (size_t i = 0; i < sizeof before; i++) ((uint8_t *)&before)[i] = 37 * i + blocks + 1;
    around(&before, &after, function, a, b, c, d);
    int same = !memcmp(before.r, after.r, sizeof before.r) && !memcmp(before.f, after.f, sizeof before.f) &&
               !memcmp(before.v, after.v, sizeof before.v) && before.r2 == after.r2 && before.r13 == after.r13 &&
               before.r1 == after.r1 && !((before.cr ^ after.cr) & 0x00fff000); // cr2 to cr4
    if (!same) {
        printf("%s of %d blocks loses a register\n", name, (int)blocks);
        failed = 1;
    }
}

int main() {
    for (uintptr_t n = 0; n <= 12; n++) {
        const void *blocks = (const void *)n;
        check(wireseal_0_1_chacha20_xor_vsx, "chacha20_xor", n, data, data, blocks, matrix);
        check(wireseal_0_1_chacha20_blocks_vsx, "chacha20_blocks", n, data, blocks, matrix, 0);
        check(wireseal_0_1_poly1305_blocks_vsx, "poly1305_blocks", n, state, data, blocks, 0);
    }
    if (!failed) puts("registers kept");
    return failed;
}
