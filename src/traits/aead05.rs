//! RustCrypto `aead` 0.5, re-exported, for code that has not moved to 0.6: [`KeyInit`], [`AeadInPlace`] and, through
//! them, `Aead` (feature `alloc`) and its buffers (`alloc`, `arrayvec`, `bytes`), for both AEADs.
//!
//! When opening fails the buffer is as it was, longer than the plaintext by the tag; nothing has been decrypted.

pub use ::aead05::*;

use crate::{ChaCha20Poly1305, XChaCha20Poly1305};
use consts::{U0, U12, U16, U24, U32};

macro_rules! faces {
    ($($Aead:ident: $NonceSize:ident),*) => {$(
        impl KeySizeUser for $Aead {
            type KeySize = U32;
        }

        impl KeyInit for $Aead {
            fn new(key: &Key<Self>) -> Self {
                Self::new(key.as_ref())
            }
        }

        impl AeadCore for $Aead {
            type NonceSize = $NonceSize;
            type TagSize = U16;
            type CiphertextOverhead = U0;
        }

        impl AeadInPlace for $Aead {
            fn encrypt_in_place_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: &mut [u8],
            ) -> Result<Tag<Self>> {
                let tag = self.seal_in_place(nonce.as_ref(), associated_data, buffer);
                tag.map(|tag| (*tag.as_bytes()).into()).map_err(|_| Error)
            }

            fn decrypt_in_place_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: &mut [u8],
                tag: &Tag<Self>,
            ) -> Result<()> {
                let tag = crate::Tag::from_bytes((*tag).into());
                self.open_in_place(nonce.as_ref(), associated_data, buffer, &tag).map_err(|_| Error)
            }
        }
    )*};
}
faces!(ChaCha20Poly1305: U12, XChaCha20Poly1305: U24);
