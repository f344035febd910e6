//! Compiles what can't be a plain dependency: RustCrypto a second time with `+avx2` (a shared library with its own
//! copy, loaded at run time) and, on demand, the C that talks to Intel's library. Also notes compiler and flags.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let target = env::var("TARGET").unwrap();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=PEERS_TARGET={target}");
    let rustc = Command::new(env::var("RUSTC").unwrap()).arg("-V").output().expect("rustc -V");
    println!("cargo::rustc-env=PEERS_RUSTC={}", String::from_utf8_lossy(&rustc.stdout).trim());
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\x1f', " ");
    println!("cargo::rustc-env=PEERS_RUSTFLAGS={flags}");

    if target.starts_with("x86_64") && env::var("HOST").as_ref() == Ok(&target) {
        rustcrypto_avx2();
    }
    #[cfg(feature = "ipsec-mb")]
    {
        println!("cargo::rerun-if-changed=src/rivals/ipsec_mb.c");
        cc::Build::new().file("src/rivals/ipsec_mb.c").opt_level(3).compile("peers_ipsec_mb");
        println!("cargo::rustc-link-lib=IPSec_MB");
    }
}

fn rustcrypto_avx2() {
    println!("cargo::rerun-if-changed=rustcrypto-avx2");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap()).join("rustcrypto-avx2");
    let status = Command::new(env::var("CARGO").unwrap())
        .args(["build", "--release", "--locked", "--manifest-path", "rustcrypto-avx2/Cargo.toml", "--target-dir"])
        .arg(&out)
        .env("RUSTFLAGS", "-C target-feature=+avx2")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status();
    assert!(status.is_ok_and(|status| status.success()), "RustCrypto with +avx2 does not build");
    let library =
        out.join("release").join(format!("{}rustcrypto_avx2{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX));
    println!("cargo::rustc-env=PEERS_RUSTCRYPTO_AVX2={}", library.display());
}
