//! The build script's half of this backend: runs the perlasm of the registry package `openssl-src`,
//! moves its symbols under our prefix so that an OpenSSL in the same program doesn't clash, and
//! assembles it. Nothing of that package is in this repository.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the version: two of them may be in one program.
const PREFIX: &str = concat!("wireseal_", env!("CARGO_PKG_VERSION_MAJOR"), "_", env!("CARGO_PKG_VERSION_MINOR"), "_");

/// Where the modules ask what the CPU has. OpenSSL's own name for it differs with the architecture.
const CAPABILITY: &str = "capability";
const CAPABILITY_BYTES: usize = 32;

/// The flavour of assembler and the modules, without `.pl`, of a target. Those that the tests have run on.
fn modules(arch: &str, endian: &str, os: &str) -> Option<(&'static str, &'static [&'static str])> {
    Some(match (arch, endian, os) {
        ("x86_64", _, "linux") => ("elf", &["chacha/asm/chacha-x86_64", "poly1305/asm/poly1305-x86_64"]),
        ("aarch64", "little", "linux") => (
            "linux64",
            &[
                "chacha/asm/chacha-armv8",
                "chacha/asm/chacha-armv8-sve",
                "poly1305/asm/poly1305-armv8",
                "poly1305/asm/poly1305-armv9-sve2",
            ],
        ),
        ("powerpc64", "little", "linux") => {
            ("linux64le", &["chacha/asm/chacha-ppc", "chacha/asm/chachap10-ppc", "poly1305/asm/poly1305-ppc"])
        }
        ("s390x", _, "linux") => ("64", &["chacha/asm/chacha-s390x", "poly1305/asm/poly1305-s390x"]),
        // There is no ChaCha20 among them.
        ("mips64", _, "linux") => ("64", &["poly1305/asm/poly1305-mips"]),
        _ => return None,
    })
}

/// Why there is no CRYPTOGAMS for this target, if there is none.
pub fn unfit(arch: &str, endian: &str, os: &str) -> Option<String> {
    modules(arch, endian, os).is_none().then(|| format!("there is none for {arch} {endian} {os}"))
}

/// Generates and assembles it.
pub fn assemble(arch: &str, endian: &str, os: &str) -> Result<(), String> {
    let (flavour, modules) = modules(arch, endian, os).ok_or("no such target")?;
    let crypto = openssl_src::source_dir().join("crypto");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("cryptogams");
    fs::create_dir_all(&out).map_err(|error| error.to_string())?;

    let mut build = cc::Build::new();
    build.include(&crypto).include(crypto.join("../include")).flag_if_supported("-Wa,--noexecstack");
    let compiler = build.try_get_compiler().map_err(|error| error.to_string())?;
    let mut sources = Vec::new();
    for module in modules {
        let name = module.rsplit('/').next().unwrap_or(module);
        let path = out.join(format!("{name}.S"));
        // Some ask the compiler which instructions its assembler knows.
        perl(&crypto.join(format!("{module}.pl")), flavour, &path, compiler.path())?;
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        sources.push((path, text));
    }
    let globals: BTreeSet<String> = sources.iter().flat_map(|(_, text)| globals(text)).collect();
    for (i, (path, text)) in sources.iter().enumerate() {
        let mut text = renamed(text, &globals);
        for name in &globals {
            text += &format!(".hidden\t{PREFIX}{name}\n");
        }
        text += &format!(".hidden\t{PREFIX}{CAPABILITY}\n");
        if i == 0 {
            text += &format!(".comm\t{PREFIX}{CAPABILITY},{CAPABILITY_BYTES},8\n");
        }
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        build.file(path);
    }
    build.cargo_warnings(false).try_compile("wireseal_cryptogams").map_err(|error| error.to_string().replace('\n', " "))
}

fn perl(script: &Path, flavour: &str, output: &Path, compiler: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=PERL");
    let perl = env::var_os("PERL").unwrap_or("perl".into());
    let run = Command::new(&perl).arg(script).arg(flavour).arg(output).env("CC", compiler).output();
    match run {
        Ok(run) if run.status.success() => Ok(()),
        Ok(run) => Err(format!("{}: {}", script.display(), String::from_utf8_lossy(&run.stderr).replace('\n', " "))),
        Err(error) => Err(format!("{}: {error}", perl.display())),
    }
}

/// What a module offers to the linker.
fn globals(text: &str) -> impl Iterator<Item = String> + '_ {
    let names = text.lines().filter_map(|line| line.trim_start().strip_prefix(".globl"));
    names.map(|name| name.trim().to_owned())
}

/// The text with our prefix on every global, wherever it is named, and one name for the capability word.
fn renamed(text: &str, globals: &BTreeSet<String>) -> String {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(part_of_name) {
        let (between, from) = rest.split_at(start);
        let end = from.find(|c| !part_of_name(c)).unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        out += between;
        if name.starts_with("OPENSSL_") && name.ends_with("cap_P") {
            out += PREFIX;
            out += CAPABILITY;
        } else {
            if globals.contains(name) {
                out += PREFIX;
            }
            out += name;
        }
        rest = after;
    }
    out + rest
}
