//! The rules that the folder tree stands for, read off the sources: who may use whom, where unsafe code and
//! architecture names may be. Nothing points up.

use std::fs;
use std::path::{Path, PathBuf};

/// From the leaves to the top. A module may use what stands in a line above its own, and its own line only
/// within itself; `aead` and `batch` are one construction in two files.
const LAYERS: &[&[&str]] = &[
    &["error"],
    &["tag", "wipe", "overlap"],
    &["backend"],
    &["chacha20", "poly1305"],
    &["aead"],
    &["batch"],
    &["wireguard", "openssh", "traits", "selftest", "migration"],
    &["ring_compat"],
    &["lib"],
];

/// What `crate::Name` stands for.
const REEXPORTS: &[(&str, &str)] = &[
    ("Backend", "backend"),
    ("ChaCha20", "chacha20"),
    ("ChaCha20Poly1305", "aead"),
    ("Error", "error"),
    ("InOut", "overlap"),
    ("KEY_LEN", "aead"),
    ("MAX_PLAINTEXT_LEN", "aead"),
    ("Packet", "batch"),
    ("Poly1305", "poly1305"),
    ("TAG_LEN", "tag"),
    ("Tag", "tag"),
    ("XChaCha20", "chacha20"),
    ("XChaCha20Poly1305", "aead"),
    ("hchacha20", "chacha20"),
];

const ARCHITECTURE: &[&str] =
    &["target_arch", "target_endian", "target_feature", "target_os", "target_pointer_width", "is_x86_feature"];

fn sources() -> Vec<(PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push((path.strip_prefix(&src).unwrap().to_owned(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(files.len() > 10, "no sources found");
    files
}

/// The module at the crate's root that a file belongs to.
fn room(path: &Path) -> String {
    Path::new(path.components().next().unwrap().as_os_str()).file_stem().unwrap().to_str().unwrap().to_owned()
}

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|modules| modules.contains(&module))
        .unwrap_or_else(|| panic!("{module} has no place in tests/architecture.rs"))
}

/// The code up to the tests, without comments.
fn code(source: &str) -> String {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The names that follow `crate::`, braces included.
fn uses(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with('$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let name = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned();
        match rest.strip_prefix('{') {
            Some(list) => {
                names.extend(list.split('}').next().unwrap().split(',').map(|item| name(item.trim())));
            }
            None => names.push(name(rest)),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn nothing_points_up() {
    for (path, source) in sources() {
        let module = room(&path);
        if module == "lib" || path.ends_with("backend/tests.rs") {
            continue;
        }
        for name in uses(&code(&source)) {
            let used = REEXPORTS.iter().find(|(export, _)| *export == name).map_or(&*name, |(_, module)| module);
            assert!(
                used == module || layer(used) < layer(&module),
                "{} uses crate::{name}: {used} is not below {module}",
                path.display()
            );
        }
    }
}

#[test]
fn no_backend_uses_another() {
    for (path, source) in sources() {
        let Ok(inside) = path.strip_prefix("backend") else { continue };
        let own = room(inside);
        if ["mod", "tests"].contains(&&*own) {
            continue;
        }
        for (at, _) in source.match_indices("backend::") {
            let name = source[at + 9..].split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/backend").join(name);
            assert!(
                ["portable", "x86_64", "tests", "", &own].contains(&name)
                    || !other.with_extension("rs").exists() && !other.is_dir(),
                "{} uses backend {name}",
                path.display()
            );
        }
    }
}

#[test]
fn architectures_stay_below_the_seam() {
    for (path, source) in sources().into_iter().filter(|(path, _)| !path.starts_with("backend")) {
        let found = ARCHITECTURE.iter().find(|name| code(&source).contains(**name));
        assert!(found.is_none(), "{} mentions {}", path.display(), found.unwrap());
    }
}

#[test]
fn unsafe_code_stays_where_it_belongs() {
    for (path, source) in sources() {
        let may =
            path.starts_with("backend") && !path.starts_with("backend/portable") || path == Path::new("overlap.rs");
        let code = code(&source).replace("unsafe_code", "").replace("unsafe_op", "");
        assert!(may || !code.contains("unsafe"), "{} has unsafe code", path.display());
    }
}

/// What SECURITY.md says about unsafe code is about the files that have some.
#[test]
fn the_unsafe_inventory_is_current() {
    let security = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("SECURITY.md")).unwrap();
    let (_, inventory) = security.split_once("| In `src/` |").expect("no inventory");
    let mut listed: Vec<(&str, bool)> =
        inventory.lines().filter_map(|line| Some((line.strip_prefix("| `")?.split('`').next()?, false))).collect();
    for (path, source) in sources() {
        let path = path.to_str().unwrap().replace('\\', "/");
        if code(&source).replace("unsafe_code", "").contains("unsafe ") {
            let row = listed.iter_mut().find(|(prefix, _)| path.starts_with(prefix));
            row.unwrap_or_else(|| panic!("SECURITY.md does not list the unsafe code of {path}")).1 = true;
        }
    }
    assert!(listed.iter().all(|(_, found)| *found), "listed without unsafe code: {listed:?}");
}

#[test]
fn every_file_says_what_it_is() {
    for (path, source) in sources() {
        let opens =
            ["//!", "#![doc = include_str!(\"../README.md\")]", "// "].iter().any(|start| source.starts_with(start));
        assert!(opens, "{} does not say what it is", path.display());
    }
}
