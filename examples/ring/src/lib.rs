//! wireseal under the name of ring, for `[patch.crates-io]`: `aead` with ChaCha20-Poly1305, OpenSSH's packets and
//! QUIC's header protection, `constant_time`, `error`, and the system's random numbers. Whoever uses more of ring
//! (digests, signatures, key agreement, AES) does not compile against it.
#![no_std]

pub use wireseal::ring_compat::{aead, constant_time, error};

/// Random numbers from the operating system.
pub mod rand {
    use crate::error::Unspecified;

    /// A source of random numbers.
    pub trait SecureRandom {
        /// Fills `dest`.
        ///
        /// # Errors
        /// [`Unspecified`] if the operating system has none to give.
        fn fill(&self, dest: &mut [u8]) -> Result<(), Unspecified>;
    }

    /// The operating system's random numbers.
    #[derive(Clone, Debug, Default)]
    pub struct SystemRandom(());

    impl SystemRandom {
        /// Opens and reads nothing yet.
        #[must_use]
        pub fn new() -> Self {
            SystemRandom(())
        }
    }

    impl SecureRandom for SystemRandom {
        fn fill(&self, dest: &mut [u8]) -> Result<(), Unspecified> {
            getrandom::fill(dest).map_err(|_| Unspecified)
        }
    }
}
