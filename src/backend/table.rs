// One row per backend, fastest first; what follows portable is only chosen by name. `build.rs` reads it
// to decide what is compiled in, `mod.rs` to make the code that chooses and dispatches.
//
// name      what WIRESEAL_BACKEND, `Backend::name` and the benchmarks call it
// kernel    the type that implements `Kernel`
// arch      the target's architecture, "" for all
// endian    the target's byte order, "" for both
// needs     a target feature that must be on, "" for none
// sources   what `cc` assembles. A backend with sources is chosen at build time (the first that fits);
//           one without is always compiled in on its architecture and chosen at run time.
backends! {
    { name: "avx512", kernel: avx512::Avx512, arch: "x86_64", endian: "", needs: "", sources: [] }
    { name: "avx2", kernel: avx2::Avx2, arch: "x86_64", endian: "", needs: "", sources: [] }
    { name: "neon", kernel: neon::Neon, arch: "aarch64", endian: "little", needs: "neon", sources: [] }
    { name: "vsx", kernel: vsx::Vsx, arch: "powerpc64", endian: "little", needs: "",
      sources: ["asm/ppc64le/chacha20.S", "asm/ppc64le/poly1305.S"] }
    { name: "mips32r2", kernel: asm::Mips32r2, arch: "mips", endian: "", needs: "mips32r2",
      sources: ["asm/mips32r2/chacha20.S", "asm/mips32r2/poly1305.S", "asm/mips32/stack.S"] }
    { name: "cryptogams-mips32", kernel: asm::Mips32, arch: "mips", endian: "", needs: "",
      sources: ["asm/mips32/chacha20.S", "asm/mips32/poly1305.S", "asm/mips32/stack.S"] }
    { name: "portable", kernel: portable::Portable, arch: "", endian: "", needs: "", sources: [] }
    { name: "cryptogams", kernel: cryptogams::Cryptogams, arch: "", endian: "", needs: "", sources: [] }
}
