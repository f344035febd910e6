//! RustCrypto `cipher` 0.5, re-exported: [`KeyIvInit`], [`StreamCipher`] and [`StreamCipherSeek`] for both streams.
//!
//! Two things differ from the streams' own methods, because the traits ask for them: [`StreamCipherSeek`] goes
//! back as well as forward, so it is on the caller that no keystream encrypts two messages; and what can't fail
//! by signature panics at the end of the keystream. That holds for the `unchecked_*` methods too: they neither repeat
//! keystream nor leave data unencrypted.

pub use ::cipher::*;

use crate::{ChaCha20, XChaCha20};
use consts::{U12, U24, U32};

macro_rules! faces {
    ($($Stream:ident: $IvSize:ident),*) => {$(
        impl KeySizeUser for $Stream {
            type KeySize = U32;
        }

        impl IvSizeUser for $Stream {
            type IvSize = $IvSize;
        }

        impl KeyIvInit for $Stream {
            fn new(key: &Key<Self>, iv: &Iv<Self>) -> Self {
                Self::new(key.as_ref(), iv.as_ref())
            }
        }

        impl StreamCipher for $Stream {
            fn check_remaining(&self, data_len: usize) -> Result<(), StreamCipherError> {
                if data_len as u64 <= self.remaining() { Ok(()) } else { Err(StreamCipherError) }
            }

            fn unchecked_apply_keystream_inout(&mut self, buf: InOutBuf<'_, '_, u8>) {
                self.apply_inout(buf.into()).expect("end of keystream");
            }

            fn unchecked_write_keystream(&mut self, buf: &mut [u8]) {
                self.keystream(buf).expect("end of keystream");
            }
        }

        impl StreamCipherSeek for $Stream {
            // Positions in bytes are positions in "blocks" of one byte. So every position that `T` can hold
            // converts, which is not so with blocks of 64: there the end of the block must fit as well.
            fn try_current_pos<T: SeekNum>(&self) -> Result<T, OverflowError> {
                T::from_block_byte(self.position(), 1, 1)
            }

            fn try_seek<T: SeekNum>(&mut self, pos: T) -> Result<(), StreamCipherError> {
                let (position, _) = pos.into_block_byte::<u64>(1)?;
                if position < self.position() {
                    self.keystream.rewind();
                }
                self.set_position(position).map_err(|_| StreamCipherError)
            }
        }
    )*};
}
faces!(ChaCha20: U12, XChaCha20: U24);
