//! ring and its drop-in successor aws-lc-rs: one interface, two libraries.

use super::Library;
use crate::cases::Direction;

macro_rules! ring {
    ($Name:ident, $module:ident, { $($more:tt)* }) => {
        pub struct $Name;

        impl Library for $Name {
            type Key = $module::aead::LessSafeKey;

            fn key(&self, key: &[u8; 32], _: Direction) -> Self::Key {
                let key = $module::aead::UnboundKey::new(&$module::aead::CHACHA20_POLY1305, key).unwrap();
                $module::aead::LessSafeKey::new(key)
            }

            fn seal_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) {
                use $module::aead::{Aad, Nonce};
                let (data, tag) = packet.split_last_chunk_mut::<16>().unwrap();
                let nonce = Nonce::assume_unique_for_key(*nonce);
                tag.copy_from_slice(key.seal_in_place_separate_tag(nonce, Aad::from(aad), data).unwrap().as_ref());
            }

            fn open_in_place(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &mut [u8]) -> bool {
                use $module::aead::{Aad, Nonce};
                key.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(aad), packet).is_ok()
            }

            $($more)*
        }
    };
}

ring!(Ring, ring, {});
ring!(AwsLc, aws_lc_rs, {
    fn open_apart(&self, key: &mut Self::Key, nonce: &[u8; 12], aad: &[u8], packet: &[u8], out: &mut [u8]) -> bool {
        use aws_lc_rs::aead::{Aad, Nonce};
        let (data, tag) = packet.split_last_chunk::<16>().unwrap();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        key.open_separate_gather(nonce, Aad::from(aad), data, tag, &mut out[..data.len()]).is_ok()
    }
});
