//! The traits of [RustCrypto](https://github.com/RustCrypto), on the types of this crate. Each module brings
//! the traits it implements with it, so a user needs no second dependency to call them.
//!
//! Every type has a `new` of its own, which takes arrays and which the compiler finds before
//! `KeyInit::new`: pass `&key.into()` to it, or name the trait, where a key is a RustCrypto array.

#[cfg(feature = "aead05")]
pub mod aead05;
#[cfg(feature = "aead")]
pub mod aead06;
#[cfg(feature = "cipher")]
pub mod cipher;
