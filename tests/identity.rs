//! Which machine and which backend the suite is running on. Runs elsewhere than on the host, and with a
//! forced backend, name what they expect in `WIRESEAL_EXPECT`, so that a silent fallback is red.

use wireseal::{Backend, ChaCha20Poly1305};

#[test]
fn runs_where_it_should() {
    let endian = if cfg!(target_endian = "big") { "big" } else { "little" };
    let here = format!("{} {endian} {}", std::env::consts::ARCH, Backend::detect());
    println!("running on {here}");
    if let Ok(expected) = std::env::var("WIRESEAL_EXPECT") {
        assert_eq!(here, expected, "architecture, byte order, backend");
    }
    assert_eq!(ChaCha20Poly1305::new(&[0; 32]).backend(), wireseal::backend());
}

#[test]
fn portable_is_always_there_and_last() {
    let mut names: Vec<_> = Backend::available().map(Backend::name).collect();
    // Behind it is only what has to be named, and that needs its feature.
    if names.last() == Some(&"cryptogams") && cfg!(feature = "cryptogams") {
        names.pop();
    }
    assert_eq!(names.last(), Some(&"portable"));
    assert_eq!(Backend::named("portable").map(Backend::name), Some("portable"));
    assert!(Backend::named("no such backend").is_none());
}
