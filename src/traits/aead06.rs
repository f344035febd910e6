//! RustCrypto `aead` 0.6, re-exported: [`KeyInit`], [`AeadInOut`] and, through them, `Aead` (feature `alloc`) and
//! its buffers (`alloc`, `arrayvec`, `bytes`), for both AEADs.
//!
//! When opening fails the buffer is as it was, longer than the plaintext by the tag; nothing has been decrypted.
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use wireseal::ChaCha20Poly1305;
//! use wireseal::traits::aead06::{Aead, KeyInit, Payload};
//!
//! let key = ChaCha20Poly1305::new_from_slice(&[7; 32])?;
//! let sealed = key.encrypt(&[0; 12].into(), Payload { msg: b"hello", aad: b"header" })?;
//! let opened = key.decrypt(&[0; 12].into(), Payload { msg: &sealed, aad: b"header" })?;
//! assert_eq!(opened, b"hello");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use ::aead::*;

use crate::{ChaCha20Poly1305, XChaCha20Poly1305};
use consts::{U12, U16, U24, U32};
use inout::InOutBuf;

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
            const TAG_POSITION: TagPosition = TagPosition::Postfix;
        }

        impl AeadInOut for $Aead {
            fn encrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
            ) -> Result<Tag<Self>> {
                let tag = self.seal_inout(nonce.as_ref(), associated_data, buffer.into());
                tag.map(|tag| (*tag.as_bytes()).into()).map_err(|_| Error)
            }

            fn decrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
                tag: &Tag<Self>,
            ) -> Result<()> {
                let tag = crate::Tag::from_bytes((*tag).into());
                self.open_inout(nonce.as_ref(), associated_data, buffer.into(), &tag).map_err(|_| Error)
            }
        }
    )*};
}
faces!(ChaCha20Poly1305: U12, XChaCha20Poly1305: U24);
