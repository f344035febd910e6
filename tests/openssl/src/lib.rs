//! Both in one program: each must keep to its own kernels and its own capability word.

#[cfg(test)]
mod tests {
    use openssl::symm::{Cipher, decrypt_aead, encrypt_aead};
    use wireseal::{Backend, ChaCha20Poly1305, Tag};

    const KEY: [u8; 32] = *b"one key for both implementations";
    const NONCE: [u8; 12] = *b"and a nonce.";

    #[test]
    fn openssl_is_linked_statically() {
        openssl::init();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(!maps.contains("libcrypto"), "a shared library can't clash, so this tests nothing");
        assert!(openssl::version::number() > 0);
    }

    /// The linker would take ours for both without a word.
    #[test]
    fn each_has_its_own_kernels() {
        // Linked in by this.
        both_agree();
        let nm = std::process::Command::new("nm").arg(std::env::current_exe().unwrap()).output().unwrap();
        let symbols = String::from_utf8(nm.stdout).unwrap();
        let address = |ours: bool, name: &str| {
            let is_it = |symbol: &str| {
                if ours { symbol.starts_with("wireseal_") && symbol.ends_with(name) } else { symbol == name }
            };
            let line = symbols.lines().find(|line| line.rsplit(' ').next().is_some_and(is_it));
            line.unwrap_or_else(|| panic!("no {name}, ours: {ours}")).split(' ').next().unwrap().to_owned()
        };
        for name in ["ChaCha20_ctr32", "poly1305_init", "poly1305_blocks", "poly1305_emit"] {
            assert_ne!(address(true, name), address(false, name), "{name}");
        }
        assert_ne!(address(true, "capability"), address(false, "OPENSSL_ia32cap_P"));
    }

    #[test]
    fn both_agree() {
        let cryptogams = Backend::named("cryptogams").unwrap();
        let cipher = ChaCha20Poly1305::with_backend(&KEY, cryptogams);
        for len in (0..700).chain([1024, 1420, 4096, 65536]) {
            let plaintext: Vec<u8> = (0..len).map(|i| (i * 7 + i / 251) as u8).collect();
            let aad = &plaintext[..len.min(len % 40)];
            let mut data = plaintext.clone();
            let tag = cipher.seal_in_place(&NONCE, aad, &mut data).unwrap();

            let mut their_tag = [0; 16];
            let theirs =
                encrypt_aead(Cipher::chacha20_poly1305(), &KEY, Some(&NONCE), aad, &plaintext, &mut their_tag).unwrap();
            assert_eq!((theirs, Tag::from(their_tag)), (data.clone(), tag), "{len} bytes");

            let opened =
                decrypt_aead(Cipher::chacha20_poly1305(), &KEY, Some(&NONCE), aad, &data, tag.as_ref()).unwrap();
            assert_eq!(opened, plaintext, "{len} bytes");
            cipher.open_in_place(&NONCE, aad, &mut data, &tag).unwrap();
            assert_eq!(data, plaintext, "{len} bytes");
        }
    }
}
