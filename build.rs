//! Decides at build time which backends are compiled in, and assembles theirs. Reads the table in
//! `src/backend/table.rs`; emits one `wireseal_has="…"` per backend compiled in, `wireseal_asm` if
//! anything was assembled, and the name of a backend asked for as `WIRESEAL_NAMED`.
//!
//! The choice: `--cfg wireseal_backend="…"` in RUSTFLAGS, else the environment's WIRESEAL_BACKEND,
//! else automatic. A backend that is named but impossible here is an error; the automatic choice falls
//! back to portable with a warning, which WIRESEAL_STRICT=1 makes an error. The feature `cryptogams` asks
//! for that backend, so on a target that has it, not to be able to assemble it is always an error.

use std::env;
use std::process::exit;

#[cfg(feature = "cryptogams")]
#[path = "src/backend/cryptogams/assemble.rs"]
mod cryptogams;

struct Row {
    name: &'static str,
    arch: &'static str,
    endian: &'static str,
    needs: &'static str,
    sources: &'static [&'static str],
}

macro_rules! backends {
    ($({ name: $name:literal, kernel: $module:ident::$kernel:ident, arch: $arch:literal, endian: $endian:literal,
         needs: $needs:literal, sources: [$($source:literal),*] })*) => {
        const TABLE: &[Row] = &[$(Row {
            name: $name, arch: $arch, endian: $endian, needs: $needs, sources: &[$($source),*],
        }),*];
    };
}
include!("src/backend/table.rs");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/backend/table.rs");
    println!("cargo::rerun-if-changed=asm");
    println!("cargo::rerun-if-env-changed=WIRESEAL_BACKEND");
    println!("cargo::rerun-if-env-changed=WIRESEAL_STRICT");
    let names: Vec<String> = TABLE.iter().map(|row| format!("{:?}", row.name)).collect();
    let names = names.join(", ");
    println!("cargo::rustc-check-cfg=cfg(wireseal_has, values({names}))");
    println!("cargo::rustc-check-cfg=cfg(wireseal_backend, values({names}))");
    println!("cargo::rustc-check-cfg=cfg(wireseal_asm)");

    match named() {
        Some(name) => {
            let Some(row) = TABLE.iter().find(|row| row.name == name) else {
                fail(&format!("there is no backend {name:?}; there are {names}"));
            };
            if let Some(reason) = row.unfit() {
                fail(&format!("the backend {name:?} can't be built: {reason}"));
            }
            if let Err(reason) = row.assemble() {
                fail(&format!("the backend {name:?} can't be assembled: {reason}"));
            }
            println!("cargo::rustc-env=WIRESEAL_NAMED={name}");
            row.compile_in();
            if name != "portable" {
                println!("cargo::rustc-cfg=wireseal_has=\"portable\"");
            }
        }
        None => automatic(),
    }
}

fn automatic() {
    let mut assembled = false;
    for row in TABLE.iter().filter(|row| row.unfit().is_none()) {
        if row.name == "cryptogams" {
            if let Err(reason) = row.assemble() {
                fail(&format!("the feature `cryptogams` is on, but it can't be assembled: {reason}"));
            }
            row.compile_in();
        } else if row.sources.is_empty() {
            row.compile_in();
        } else if !assembled {
            match row.assemble() {
                Ok(()) => {
                    assembled = true;
                    row.compile_in();
                }
                Err(reason) if flag("WIRESEAL_STRICT") => {
                    fail(&format!("the backend {:?} can't be assembled: {reason}", row.name));
                }
                Err(reason) => {
                    let name = row.name;
                    println!("cargo::warning=wireseal: no {name:?} backend, it can't be assembled: {reason}");
                    return println!("cargo::rustc-cfg=wireseal_has=\"portable\"");
                }
            }
        }
    }
}

impl Row {
    /// Why this backend can't be on this target, if it can't.
    fn unfit(&self) -> Option<String> {
        let (arch, endian) = (target("ARCH"), target("ENDIAN"));
        if ![&arch, ""].contains(&self.arch) || ![&endian, ""].contains(&self.endian) {
            Some(format!("it is for {} {}, not for {arch} {endian}", self.arch, self.endian))
        } else if env::var_os("CARGO_CFG_MIRI").is_some() && self.name != "portable" {
            Some("Miri runs no assembly".into())
        } else if self.name == "cryptogams" {
            no_cryptogams()
        } else if !["", "portable"].contains(&self.needs) && !has_feature(self.needs) {
            Some(format!("the target lacks {}", self.needs))
        } else {
            None
        }
    }

    fn assemble(&self) -> Result<(), String> {
        #[cfg(feature = "cryptogams")]
        if self.name == "cryptogams" {
            return cryptogams::assemble(&target("ARCH"), &target("ENDIAN"), &target("OS"));
        }
        if self.sources.is_empty() {
            return Ok(());
        }
        cc::Build::new()
            .files(self.sources)
            .include("asm")
            .cargo_warnings(false)
            .try_compile(&format!("wireseal_{}", self.name.replace('-', "_")))
            .map_err(|error| error.to_string().replace('\n', " "))
    }

    fn compile_in(&self) {
        println!("cargo::rustc-cfg=wireseal_has={:?}", self.name);
        if !self.sources.is_empty() {
            println!("cargo::rustc-cfg=wireseal_asm");
        }
    }
}

/// Why there is no CRYPTOGAMS, if there is none.
fn no_cryptogams() -> Option<String> {
    #[cfg(feature = "cryptogams")]
    return cryptogams::unfit(&target("ARCH"), &target("ENDIAN"), &target("OS"));
    #[cfg(not(feature = "cryptogams"))]
    return Some("the feature `cryptogams` is off".to_owned());
}

/// The backend asked for by cfg, else by environment.
fn named() -> Option<String> {
    let cfg = env::var("CARGO_CFG_WIRESEAL_BACKEND").ok();
    cfg.or_else(|| env::var("WIRESEAL_BACKEND").ok()).filter(|name| !name.is_empty() && name != "auto")
}

fn target(what: &str) -> String {
    env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default()
}

fn has_feature(feature: &str) -> bool {
    match feature {
        "mips32r2" => mips_release() >= 2,
        _ => target("FEATURE").split(',').any(|have| have == feature),
    }
}

/// The release of MIPS32 that both compilers are set to. rustc's cfg doesn't tell; its targets have release 2 until
/// that feature is off (a `target-cpu` of less leaves it on). The C compiler is asked; without one, assembling
/// will give the reason.
fn mips_release() -> u32 {
    if env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("-mips32r2")) {
        return 1;
    }
    let probe = env::var("OUT_DIR").unwrap_or_default() + "/release.c";
    let answer = std::fs::write(&probe, "__mips_isa_rev").ok().and_then(|()| {
        let expanded = cc::Build::new().file(&probe).cargo_warnings(false).try_expand().ok()?;
        String::from_utf8(expanded).ok()?.lines().last()?.trim().parse().ok()
    });
    answer.unwrap_or(2)
}

fn flag(name: &str) -> bool {
    env::var(name).is_ok_and(|value| !value.is_empty() && value != "0")
}

fn fail(message: &str) -> ! {
    println!("cargo::error=wireseal: {message}");
    exit(1)
}
