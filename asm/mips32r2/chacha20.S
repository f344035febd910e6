// ChaCha20 for MIPS32 release 2, o32, both endiannesses: the source for release 1 with `rotr` and `wsbh`, and without
// the loop that keeps it small where a rotation takes three instructions.

#define RELEASE 2
#define SUFFIX mips32r2
#include "../mips32/chacha20.S"
