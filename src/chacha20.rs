//! ChaCha20 as a stateful stream with its buffered keystream (RFC 8439, section 2.4), XChaCha20 and
//! HChaCha20 (draft-irtf-cfrg-xchacha-03).

use crate::Error;
use crate::backend::{Backend, Kernel, MAX_WIDTH, Matrix, Op, words};
use crate::overlap::InOut;
use crate::wipe::{wipe, wipe_slice};
use core::fmt;
use zeroize::ZeroizeOnDrop;

/// The number of 64-byte blocks under one key and nonce: the counter has 32 bits.
const BLOCKS: u64 = 1 << 32;

/// The length of the keystream buffer in bytes.
const BUFFER: usize = 64 * MAX_WIDTH;

/// Keystream in order: what a pass computes and a message doesn't use is kept for the next call, so no
/// block is computed twice.
pub(crate) struct Keystream {
    /// Its counter is the next block to compute.
    matrix: Matrix,
    /// Blocks that may still be computed; where the caller knows how much he needs, not more than that.
    blocks_left: u64,
    /// The last pass, at the end of the buffer.
    buffer: [[u8; 64]; MAX_WIDTH],
    /// Where in it the bytes not yet used begin.
    used: usize,
}

impl Keystream {
    fn new(matrix: Matrix, blocks: u64) -> Self {
        Keystream { matrix, blocks_left: blocks, buffer: [[0; 64]; MAX_WIDTH], used: BUFFER }
    }

    /// For one AEAD message: block 0 for the Poly1305 key, then just the blocks that `len` bytes need.
    pub(crate) fn for_message(key: &[u32; 8], nonce: &[u8; 12], len: usize) -> Self {
        Self::new(Matrix::new(key, 0, nonce), 1 + (len as u64).div_ceil(64))
    }

    /// The one-time Poly1305 key from block 0 (RFC 8439, section 2.6). The rest of the block is skipped,
    /// the rest of the pass is kept. Called first, and only by the AEAD.
    pub(crate) fn one_time_key<K: Kernel>(&mut self, kernel: K) -> [u8; 32] {
        self.refill(kernel);
        let block = self.unused();
        let key = core::array::from_fn(|i| block.get(i).copied().unwrap_or_default());
        self.used += 64;
        key
    }

    /// XORs the next keystream into `io`.
    pub(crate) fn xor<K: Kernel>(&mut self, kernel: K, io: InOut<'_>) -> Result<(), Error> {
        if io.len() as u64 > self.unused().len() as u64 + 64 * self.blocks_left {
            return Err(Error::KeystreamExhausted);
        }
        let rest = self.xor_buffered(io);
        // Full passes go straight to the output. What is left takes one more pass: through the
        // buffer if it ends within a block, so that the partial block costs no pass of its own.
        let passes = if rest.len().is_multiple_of(64) { rest.len() } else { rest.len() - rest.len() % (64 * K::WIDTH) };
        let (direct, rest) = rest.split_at(passes);
        let (blocks, _) = direct.into_blocks();
        if !blocks.is_empty() {
            let count = blocks.len();
            kernel.chacha20_xor(&self.matrix, blocks);
            self.advance(count);
        }
        if !rest.is_empty() {
            self.refill(kernel);
            self.xor_buffered(rest);
        }
        Ok(())
    }

    /// Uses up buffered keystream; gives back what of `io` it was not enough for.
    fn xor_buffered<'a>(&mut self, io: InOut<'a>) -> InOut<'a> {
        let (now, rest) = io.split_at(self.unused().len());
        let used = now.len();
        now.xor(self.unused());
        self.used += used;
        rest
    }

    fn unused(&self) -> &[u8] {
        &self.buffer.as_flattened()[self.used.min(BUFFER)..]
    }

    fn refill<K: Kernel>(&mut self, kernel: K) {
        let blocks = self.blocks_left.min(K::WIDTH as u64) as usize;
        let from = MAX_WIDTH - blocks.min(MAX_WIDTH);
        kernel.chacha20_blocks(&self.matrix, &mut self.buffer[from..]);
        self.used = 64 * from;
        self.advance(blocks);
    }

    fn advance(&mut self, blocks: usize) {
        // Wraps to 0 with the last block; then `blocks_left` is 0 and no block is computed again.
        self.matrix.set_counter(self.matrix.counter().wrapping_add(blocks as u32));
        self.blocks_left -= blocks as u64;
    }

    /// The bytes from the start of block 0 to the next unused one, for a stream that may use all blocks.
    fn position(&self) -> u64 {
        64 * (BLOCKS - self.blocks_left) - self.unused().len() as u64
    }

    /// Back to the start of block 0, for a stream that may use all blocks.
    #[cfg(feature = "cipher")]
    pub(crate) fn rewind(&mut self) {
        self.used = BUFFER;
        self.blocks_left = BLOCKS;
        self.matrix.set_counter(0);
    }

    /// Moves forward to the byte `position`, at most `64 * BLOCKS`, of a stream that may use all blocks.
    /// Buffered keystream behind it is kept.
    fn seek<K: Kernel>(&mut self, kernel: K, position: u64) -> Result<(), Error> {
        let Some(skip) = position.checked_sub(self.position()) else {
            return Err(Error::CounterBehind);
        };
        if skip <= self.unused().len() as u64 {
            self.used += skip as usize;
        } else {
            let block = position / 64;
            self.used = BUFFER;
            self.blocks_left = BLOCKS - block;
            self.matrix.set_counter(block as u32);
            if !position.is_multiple_of(64) {
                self.refill(kernel);
                self.used += (position % 64) as usize;
            }
        }
        Ok(())
    }
}

impl Drop for Keystream {
    fn drop(&mut self) {
        wipe_slice(&mut self.buffer);
    }
}

struct Xor<'a, 'b>(&'a mut Keystream, InOut<'b>);

impl Op for Xor<'_, '_> {
    type Out = Result<(), Error>;
    fn run<K: Kernel>(self, kernel: K) -> Self::Out {
        self.0.xor(kernel, self.1)
    }
}

struct Seek<'a>(&'a mut Keystream, u64);

impl Op for Seek<'_> {
    type Out = Result<(), Error>;
    fn run<K: Kernel>(self, kernel: K) -> Self::Out {
        self.0.seek(kernel, self.1)
    }
}

macro_rules! stream {
    (
        $(#[$doc:meta])* $Stream:ident, $NONCE_LEN:literal,
        |$key:ident, $nonce:ident, $backend:ident| $matrix:expr
    ) => {
        $(#[$doc])*
        pub struct $Stream {
            pub(crate) keystream: Keystream,
            backend: Backend,
        }

        impl $Stream {
            /// A stream that starts at block 0.
            #[must_use]
            pub fn new(key: &[u8; 32], nonce: &[u8; $NONCE_LEN]) -> Self {
                Self::with_backend(key, nonce, Backend::detect())
            }

            /// The same on a backend of choice, for tests and benchmarks.
            #[must_use]
            pub fn with_backend(key: &[u8; 32], $nonce: &[u8; $NONCE_LEN], $backend: Backend) -> Self {
                let $key = &Key(words(key)).0;
                // Not moved, since what is moved stays behind: copied to its place, and wiped on drop.
                let matrix = $matrix;
                let empty = Matrix::new(&[0; 8], 0, &[0; 12]);
                let mut stream = Self { keystream: Keystream::new(empty, BLOCKS), backend: $backend };
                stream.keystream.matrix.clone_from(&matrix);
                stream
            }

            /// XORs the next keystream into `data`.
            ///
            /// # Errors
            /// [`Error::KeystreamExhausted`] if fewer than `data.len()` bytes are left of the 2³² blocks; then nothing is
            /// written and nothing consumed.
            pub fn apply(&mut self, data: &mut [u8]) -> Result<(), Error> {
                self.apply_inout(data.into())
            }

            /// Writes `src` XOR the next keystream to `dst`.
            ///
            /// # Errors
            /// [`Error::LengthMismatch`] if the lengths differ, [`Error::KeystreamExhausted`] as [`apply`](Self::apply).
            pub fn apply_to(&mut self, src: &[u8], dst: &mut [u8]) -> Result<(), Error> {
                self.apply_inout(InOut::separate(src, dst)?)
            }

            /// Both of the above, for regions that may come from raw pointers.
            ///
            /// # Errors
            /// [`Error::KeystreamExhausted`] as [`apply`](Self::apply).
            pub fn apply_inout(&mut self, io: InOut<'_>) -> Result<(), Error> {
                self.backend.with(Xor(&mut self.keystream, io))
            }

            /// Fills `out` with the next keystream itself.
            ///
            /// # Errors
            /// [`Error::KeystreamExhausted`] as [`apply`](Self::apply).
            pub fn keystream(&mut self, out: &mut [u8]) -> Result<(), Error> {
                if out.len() as u64 > self.remaining() {
                    return Err(Error::KeystreamExhausted);
                }
                out.fill(0);
                self.apply(out)
            }

            /// Moves forward to the start of block `counter`. Buffered keystream that is still good is kept.
            ///
            /// # Errors
            /// [`Error::CounterBehind`] if that block has been used, even in part; then nothing changes.
            pub fn set_counter(&mut self, counter: u32) -> Result<(), Error> {
                self.set_position(64 * u64::from(counter))
            }

            /// The position in the keystream in bytes: how many were used or skipped.
            #[must_use]
            pub fn position(&self) -> u64 {
                self.keystream.position()
            }

            /// Moves forward to a position in bytes.
            ///
            /// # Errors
            /// [`Error::CounterBehind`] if it lies behind [`position`](Self::position), [`Error::KeystreamExhausted`]
            /// if it lies past the last block; then nothing changes.
            pub fn set_position(&mut self, position: u64) -> Result<(), Error> {
                if position > 64 * BLOCKS {
                    return Err(Error::KeystreamExhausted);
                }
                self.backend.with(Seek(&mut self.keystream, position))
            }

            /// How many bytes of keystream are left.
            #[must_use]
            pub fn remaining(&self) -> u64 {
                64 * BLOCKS - self.position()
            }
        }

        impl ZeroizeOnDrop for $Stream {}

        /// Shows neither key nor keystream.
        impl fmt::Debug for $Stream {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Stream)).field("backend", &self.backend).finish_non_exhaustive()
            }
        }
    };
}

stream! {
    /// The ChaCha20 stream cipher (RFC 8439, section 2.4): 32-byte key, 12-byte nonce, 2³² blocks of 64 bytes.
    ///
    /// Calls continue where the last one ended; keystream that was computed and not used is kept, so any
    /// chunking gives the same bytes and no block is computed twice.
    ///
    /// # Security
    /// This encrypts and does **not** authenticate: use [`ChaCha20Poly1305`](crate::ChaCha20Poly1305) unless a
    /// protocol asks for the bare stream. Never use a key and nonce for two streams.
    ChaCha20, 12,
    |key, nonce, backend| Matrix::new(key, 0, nonce)
}

stream! {
    /// XChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.3): [`ChaCha20`] with a 24-byte nonce, long enough to be
    /// chosen at random.
    ///
    /// # Security
    /// As for [`ChaCha20`].
    XChaCha20, 24,
    |key, nonce, backend| {
        let (subkey, nonce) = extend_nonce(key, nonce, backend);
        Matrix::new(&subkey.0, 0, &nonce)
    }
}

/// The stream goes on where it is: XChaCha20 is ChaCha20 under a derived key.
impl From<XChaCha20> for ChaCha20 {
    fn from(stream: XChaCha20) -> Self {
        ChaCha20 { keystream: stream.keystream, backend: stream.backend }
    }
}

/// Eight key words, wiped on drop.
#[derive(Clone)]
pub(crate) struct Key(pub(crate) [u32; 8]);

impl Drop for Key {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// The ChaCha20 key and nonce that stand for a key and a 24-byte nonce (draft-irtf-cfrg-xchacha-03, section 2.3).
pub(crate) fn extend_nonce(key: &[u32; 8], nonce: &[u8; 24], backend: Backend) -> (Key, [u8; 12]) {
    let (head, tail) = nonce.split_at(16);
    let mut short = [0; 12];
    short[4..].copy_from_slice(tail);
    let row = core::array::from_fn(|i| head[i]);
    (backend.with(HChaCha20(key, &row)), short)
}

struct HChaCha20<'a>(&'a [u32; 8], &'a [u8; 16]);

impl Op for HChaCha20<'_> {
    type Out = Key;
    /// The block function without its last step: what that adds to the first and the last row, the matrix,
    /// is taken off again.
    fn run<K: Kernel>(self, kernel: K) -> Key {
        let matrix = Matrix::with_last_row(self.0, words(self.1));
        let mut block = [[0; 64]];
        kernel.chacha20_blocks(&matrix, &mut block);
        let sum: [u32; 16] = words(&block[0]);
        wipe(&mut block);
        let start = matrix.words();
        Key(core::array::from_fn(|i| {
            let i = if i < 4 { i } else { i + 8 };
            sum[i].wrapping_sub(start[i])
        }))
    }
}

/// Key, counter and nonce of one block of which only the first bytes are needed: the mask of a header.
pub(crate) struct Mask<'a, const N: usize>(pub(crate) &'a [u32; 8], pub(crate) u32, pub(crate) &'a [u8; 12]);

impl<const N: usize> Op for Mask<'_, N> {
    type Out = [u8; N];
    fn run<K: Kernel>(self, kernel: K) -> [u8; N] {
        const { assert!(N <= 64) };
        let mut block = [[0; 64]];
        kernel.chacha20_blocks(&Matrix::new(self.0, self.1, self.2), &mut block);
        let mask = core::array::from_fn(|i| block[0][i]);
        wipe(&mut block);
        mask
    }
}

/// HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): a 32-byte key from a 32-byte key and a 16-byte nonce.
#[must_use]
pub fn hchacha20(key: &[u8; 32], nonce: &[u8; 16]) -> [u8; 32] {
    let mut key: [u32; 8] = words(key);
    let subkey = Backend::detect().with(HChaCha20(&key, nonce));
    wipe(&mut key);
    let mut out = [0; 32];
    for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(subkey.0) {
        *bytes = word.to_le_bytes();
    }
    out
}
