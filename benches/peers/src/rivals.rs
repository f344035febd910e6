//! The libraries, each behind the same few calls, and what a timed pass over packets is.

#[cfg(feature = "ipsec-mb")]
mod ipsec_mb;
mod openssl;
mod ours;
mod ring;
mod rust;
mod rustcrypto_avx2;

use crate::cases::{Case, Direction, Keys, Placement};
use std::hint::black_box;
use std::time::Instant;

/// A library's ChaCha20-Poly1305. A packet is data with 16 bytes for the tag behind it.
pub trait Library: 'static {
    /// A key made ready, in whatever form the library wants it.
    type Key;

    /// Whether it can work in place; if not, only the calls with two buffers are made.
    const IN_PLACE: bool = true;

    fn key(&self, key: &[u8; 32], direction: Direction) -> Self::Key;

    /// The cheapest way from one key to the next.
    fn rekey(&self, state: &mut Self::Key, key: &[u8; 32], direction: Direction) {
        *state = self.key(key, direction);
    }

    fn seal_in_place(&self, _: &mut Self::Key, _nonce: &[u8; 12], _aad: &[u8], _packet: &mut [u8]) {
        unreachable!()
    }

    fn open_in_place(&self, _: &mut Self::Key, _nonce: &[u8; 12], _aad: &[u8], _packet: &mut [u8]) -> bool {
        unreachable!()
    }

    /// Where a library has no such call, its user copies first.
    fn seal_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        packet[..plaintext.len()].copy_from_slice(plaintext);
        self.seal_in_place(key, nonce, aad, packet);
    }

    /// `out` is as long as the packet, so that there is room for the tag where a library wants it there.
    fn open_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        out.copy_from_slice(packet);
        self.open_in_place(key, nonce, aad, out)
    }

    /// Seals or opens all packets; whether it could.
    fn pass(&self, key: &mut Self::Key, case: &Case, aad: &[u8], slots: &mut [Slot<'_>]) -> bool
    where
        Self: Sized,
    {
        one_by_one(self, key, case, aad, slots)
    }
}

/// One packet and its surroundings.
pub struct Slot<'a> {
    pub key: [u8; 32],
    pub nonce: [u8; 12],
    /// Worked on in place, or the sealed side of two buffers.
    pub packet: &'a mut [u8],
    /// The plain side of two buffers, with 16 bytes to spare.
    pub plain: &'a mut [u8],
}

fn one_by_one<L: Library>(library: &L, key: &mut L::Key, case: &Case, aad: &[u8], slots: &mut [Slot<'_>]) -> bool {
    let mut all = true;
    for Slot { key: bytes, nonce, packet, plain } in slots {
        if case.keys == Keys::Fresh {
            library.rekey(key, bytes, case.direction);
        }
        match (case.direction, case.placement) {
            (Direction::Seal, Placement::InPlace) => library.seal_in_place(key, nonce, aad, packet),
            (Direction::Open, Placement::InPlace) => all &= library.open_in_place(key, nonce, aad, packet),
            (Direction::Seal, Placement::Apart) => library.seal_apart(key, nonce, aad, &plain[..case.size], packet),
            (Direction::Open, Placement::Apart) => all &= library.open_apart(key, nonce, aad, packet, plain),
        }
    }
    all
}

/// A library among others.
pub struct Contender {
    /// `wireseal` is this crate as it chooses for itself; `wireseal/…` its other backends.
    pub name: String,
    pub version: String,
    pub in_place: bool,
    begin: Box<dyn Fn(&[u8; 32], Direction) -> Box<dyn Passes>>,
}

/// A library with a key.
pub trait Passes {
    /// Nanoseconds for one pass over the slots; `None` if a tag was refused.
    fn pass(&mut self, case: &Case, aad: &[u8], slots: &mut [Slot<'_>]) -> Option<f64>;
}

struct Keyed<L: Library> {
    library: std::rc::Rc<L>,
    key: L::Key,
}

impl<L: Library> Passes for Keyed<L> {
    fn pass(&mut self, case: &Case, aad: &[u8], slots: &mut [Slot<'_>]) -> Option<f64> {
        let start = Instant::now();
        let all = self.library.pass(&mut self.key, black_box(case), black_box(aad), black_box(slots));
        let elapsed = start.elapsed();
        all.then_some(elapsed.as_nanos() as f64)
    }
}

impl Contender {
    fn new<L: Library>(name: impl Into<String>, version: impl Into<String>, library: L) -> Self {
        let library = std::rc::Rc::new(library);
        let begin = move |key: &[u8; 32], direction| -> Box<dyn Passes> {
            Box::new(Keyed { library: library.clone(), key: library.key(key, direction) })
        };
        Contender { name: name.into(), version: version.into(), in_place: L::IN_PLACE, begin: Box::new(begin) }
    }

    pub fn begin(&self, key: &[u8; 32], direction: Direction) -> Box<dyn Passes> {
        (self.begin)(key, direction)
    }

    pub fn can(&self, case: &Case) -> bool {
        self.in_place || case.placement == Placement::Apart
    }

    /// Whether this is the crate itself, on any backend but a port of somebody else's.
    pub fn ours(&self) -> bool {
        is_ours(&self.name)
    }
}

pub fn is_ours(name: &str) -> bool {
    name.starts_with("wireseal")
}

/// All that run on this machine, and why the others don't.
pub fn all() -> (Vec<Contender>, Vec<(String, String)>) {
    let (mut all, mut absent) = (Vec::new(), Vec::new());
    let version = |name: &str| version_of(name).to_owned();
    for backend in wireseal::Backend::available() {
        let name = match backend.name() {
            "cryptogams" => "cryptogams".into(),
            _ if backend == wireseal::Backend::detect() => "wireseal".into(),
            other => format!("wireseal/{other}"),
        };
        all.push(Contender::new(name, format!("{} {backend}", version("wireseal")), ours::Wireseal(backend)));
    }
    if !all.iter().any(|contender| contender.name == "cryptogams") {
        absent.push(("cryptogams".into(), "not compiled in".into()));
    }
    all.push(Contender::new("ring", version("ring"), ring::Ring));
    all.push(Contender::new("aws-lc-rs", version("aws-lc-rs"), ring::AwsLc));
    all.push(Contender::new("rustcrypto", version("chacha20poly1305"), rust::RustCrypto));
    match rustcrypto_avx2::load() {
        Ok(library) => all.push(Contender::new("rustcrypto+avx2", version("chacha20poly1305"), library)),
        Err(why) => absent.push(("rustcrypto+avx2".into(), why)),
    }
    match graviola_needs() {
        None => all.push(Contender::new("graviola", version("graviola"), rust::Graviola)),
        Some(feature) => absent.push(("graviola".into(), format!("this CPU lacks {feature}"))),
    }
    all.push(Contender::new("libcrux", version("libcrux-chacha20poly1305"), rust::Libcrux));
    all.push(Contender::new("dryoc", version("dryoc"), rust::Dryoc));
    all.push(Contender::new("orion", version("orion"), rust::Orion));
    #[cfg(feature = "openssl")]
    {
        let vendored = openssl::vendored();
        all.push(Contender::new("openssl", vendored.version(), vendored));
    }
    #[cfg(not(feature = "openssl"))]
    absent.push(("openssl".into(), "not compiled in".into()));
    match openssl::system() {
        Ok(system) => all.push(Contender::new("openssl-system", system.version(), system)),
        Err(why) => absent.push(("openssl-system".into(), why)),
    }
    #[cfg(feature = "ipsec-mb")]
    match ipsec_mb::new() {
        Some(library) => all.push(Contender::new("ipsec-mb", library.version(), library)),
        None => absent.push(("ipsec-mb".into(), "no memory for its manager".into())),
    }
    #[cfg(not(feature = "ipsec-mb"))]
    absent.push(("ipsec-mb".into(), "not compiled in".into()));
    (all, absent)
}

/// The version in our lock file.
fn version_of(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let Some((_, rest)) = lock.split_once(&format!("name = \"{name}\"\nversion = \"")) else { return "?" };
    rest.split('"').next().unwrap_or("?")
}

/// A CPU feature that graviola would miss: without it, it panics.
fn graviola_needs() -> Option<&'static str> {
    macro_rules! missing {
        ($detected:ident: $($feature:tt)*) => {{ $(if !std::arch::$detected!($feature) { return Some($feature) })* None }};
    }
    #[cfg(target_arch = "x86_64")]
    return missing!(is_x86_feature_detected: "aes" "ssse3" "pclmulqdq" "avx" "avx2" "bmi1" "bmi2" "adx" "movbe" "sha");
    #[cfg(target_arch = "aarch64")]
    return missing!(is_aarch64_feature_detected: "neon" "aes" "pmull" "sha2");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    compile_error!("graviola is for x86-64 and AArch64: so is this package");
}
