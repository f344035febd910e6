//! The libraries written in Rust: RustCrypto, graviola, libcrux, dryoc, orion.

use super::Library;
use crate::cases::Direction;

pub struct RustCrypto;

impl Library for RustCrypto {
    type Key = chacha20poly1305::ChaCha20Poly1305;

    fn key(&self, key: &[u8; 32], _: Direction) -> Self::Key {
        chacha20poly1305::KeyInit::new(&(*key).into())
    }

    fn seal_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
        use chacha20poly1305::AeadInOut;
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        *tag = key.encrypt_inout_detached(&(*nonce).into(), aad, data.into()).unwrap().into();
    }

    fn open_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
        use chacha20poly1305::AeadInOut;
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        key.decrypt_inout_detached(&(*nonce).into(), aad, data.into(), &(*tag).into()).is_ok()
    }

    fn seal_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        use chacha20poly1305::{AeadInOut, aead::inout::InOutBuf};
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        let io = InOutBuf::new(plaintext, data).unwrap();
        *tag = key.encrypt_inout_detached(&(*nonce).into(), aad, io).unwrap().into();
    }

    fn open_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        use chacha20poly1305::{AeadInOut, aead::inout::InOutBuf};
        let (data, tag) = packet.split_last_chunk::<16>().unwrap();
        let io = InOutBuf::new(data, &mut out[..data.len()]).unwrap();
        key.decrypt_inout_detached(&(*nonce).into(), aad, io, &(*tag).into()).is_ok()
    }
}

pub struct Graviola;

impl Library for Graviola {
    type Key = graviola::aead::ChaCha20Poly1305;

    fn key(&self, key: &[u8; 32], _: Direction) -> Self::Key {
        graviola::aead::ChaCha20Poly1305::new(*key)
    }

    fn seal_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        key.encrypt(nonce, aad, data, tag);
    }

    fn open_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        key.decrypt(nonce, aad, data, tag).is_ok()
    }
}

pub struct Libcrux;

impl Library for Libcrux {
    type Key = [u8; 32];

    const IN_PLACE: bool = false;

    fn key(&self, key: &[u8; 32], _: Direction) -> Self::Key {
        *key
    }

    fn seal_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        libcrux_chacha20poly1305::encrypt(key, plaintext, packet, aad, nonce).unwrap();
    }

    fn open_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        let len = packet.len() - 16;
        libcrux_chacha20poly1305::decrypt(key, &mut out[..len], packet, aad, nonce).is_ok()
    }
}

pub struct Dryoc;

impl Library for Dryoc {
    type Key = [u8; 32];

    fn key(&self, key: &[u8; 32], _: Direction) -> Self::Key {
        *key
    }

    fn seal_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
        use dryoc::classic::crypto_aead_chacha20poly1305_ietf::*;
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        crypto_aead_chacha20poly1305_ietf_encrypt_detached_inplace(data, tag, Some(aad), nonce, key).unwrap();
    }

    fn open_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
        use dryoc::classic::crypto_aead_chacha20poly1305_ietf::*;
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        crypto_aead_chacha20poly1305_ietf_decrypt_detached_inplace(data, tag, Some(aad), nonce, key).is_ok()
    }

    fn seal_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        use dryoc::classic::crypto_aead_chacha20poly1305_ietf::*;
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(data, tag, plaintext, Some(aad), nonce, key).unwrap();
    }

    fn open_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        use dryoc::classic::crypto_aead_chacha20poly1305_ietf::*;
        let (data, tag) = packet.split_last_chunk::<16>().unwrap();
        let out = &mut out[..data.len()];
        crypto_aead_chacha20poly1305_ietf_decrypt_detached(out, data, tag, Some(aad), nonce, key).is_ok()
    }
}

pub struct Orion;

use orion::hazardous::aead::chacha20poly1305 as orion_aead;

impl Library for Orion {
    type Key = orion_aead::SecretKey;

    fn key(&self, key: &[u8; 32], _: Direction) -> Self::Key {
        orion_aead::SecretKey::try_from(key).unwrap()
    }

    fn seal_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        let made = orion_aead::ChaCha20Poly1305::seal_inplace(key, &(*nonce).into(), Some(aad), data).unwrap();
        tag.copy_from_slice(made.unprotected_as_ref());
    }

    fn open_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
        let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
        let Ok(tag) = tag.as_slice().try_into() else { return false };
        orion_aead::ChaCha20Poly1305::open_inplace(key, &(*nonce).into(), &tag, Some(aad), data).is_ok()
    }

    fn seal_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8], packet: &mut [u8]) {
        orion_aead::ChaCha20Poly1305::seal(key, &(*nonce).into(), plaintext, Some(aad), packet).unwrap();
    }

    fn open_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        let len = packet.len() - 16;
        orion_aead::ChaCha20Poly1305::open(key, &(*nonce).into(), packet, Some(aad), &mut out[..len]).is_ok()
    }
}
