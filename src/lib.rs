#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(test)]
extern crate std;

mod aead;
mod backend;
pub mod batch;
mod chacha20;
mod error;
pub mod migration;
pub mod openssh;
pub mod overlap;
mod poly1305;
#[cfg(feature = "ring_compat")]
pub mod ring_compat;
mod selftest;
mod tag;
pub mod traits;
mod wipe;
pub mod wireguard;

pub use aead::{ChaCha20Poly1305, KEY_LEN, MAX_PLAINTEXT_LEN, XChaCha20Poly1305};
pub use backend::{Backend, backend};
pub use batch::Packet;
pub use chacha20::{ChaCha20, XChaCha20, hchacha20};
pub use error::Error;
pub use overlap::InOut;
pub use poly1305::Poly1305;
pub use selftest::{Selftest, selftest};
pub use tag::{TAG_LEN, Tag};
