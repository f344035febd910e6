//! Which two regions of memory may be input and output of one call, as Go's crypto packages define
//! it: the same region, or regions that share no byte. Everything else is an inexact overlap.

use crate::Error;

/// Whether two regions, given by address and length in bytes, share at least one byte.
#[must_use]
pub fn any_overlap(a: *const u8, a_len: usize, b: *const u8, b_len: usize) -> bool {
    let (a, b) = (a.addr(), b.addr());
    // Differences wrap, sums of address and length could overflow: a byte of one region lies
    // `b - a` behind the start of the other.
    a_len > 0 && b_len > 0 && (b.wrapping_sub(a) < a_len || a.wrapping_sub(b) < b_len)
}

/// Whether two regions share at least one byte and don't start at the same address.
#[must_use]
pub fn inexact_overlap(a: *const u8, a_len: usize, b: *const u8, b_len: usize) -> bool {
    a.addr() != b.addr() && any_overlap(a, a_len, b, b_len)
}

/// Input and output of one call: the same slice, or two disjoint ones of equal length.
///
/// Made from a `&mut [u8]` (in place), from two slices with [`InOut::separate`], or from raw
/// pointers with [`InOut::from_raw`], which checks that the regions are identical or disjoint.
#[derive(Debug)]
pub struct InOut<'a, T = u8>(Regions<'a, T>);

#[derive(Debug)]
pub(crate) enum Regions<'a, T> {
    InPlace(&'a mut [T]),
    Separate(&'a [T], &'a mut [T]),
}

impl<'a, T> From<&'a mut [T]> for InOut<'a, T> {
    fn from(slice: &'a mut [T]) -> Self {
        InOut(Regions::InPlace(slice))
    }
}

impl<'a> InOut<'a, u8> {
    /// Reads from `src`, writes to `dst`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the lengths differ.
    pub fn separate(src: &'a [u8], dst: &'a mut [u8]) -> Result<Self, Error> {
        if src.len() != dst.len() {
            return Err(Error::LengthMismatch);
        }
        Ok(InOut(Regions::Separate(src, dst)))
    }

    /// Reads `len` bytes at `src`, writes `len` bytes at `dst`; the two may be the same address.
    ///
    /// # Errors
    /// [`Error::Overlap`] if the regions share memory but are not the same.
    ///
    /// # Safety
    /// For `'a`: `src` is valid for reads and `dst` for reads and writes of `len` initialised bytes,
    /// and nothing else reads or writes through other pointers what is written here.
    #[allow(unsafe_code)]
    pub unsafe fn from_raw(src: *const u8, dst: *mut u8, len: usize) -> Result<Self, Error> {
        if inexact_overlap(src, len, dst, len) {
            return Err(Error::Overlap);
        }
        // SAFETY: the caller vouches for validity and exclusive use; the regions were just found to
        // be identical (then `src` is not used) or disjoint, so no slice aliases the mutable one.
        Ok(InOut(unsafe {
            let out = core::slice::from_raw_parts_mut(dst, len);
            if src.addr() == dst.addr() {
                Regions::InPlace(out)
            } else {
                Regions::Separate(core::slice::from_raw_parts(src, len), out)
            }
        }))
    }

    /// The whole 64-byte blocks at the start, and the 0 to 63 bytes after them.
    pub(crate) fn into_blocks(self) -> (InOut<'a, [u8; 64]>, InOut<'a, u8>) {
        match self.0 {
            Regions::InPlace(data) => {
                let (blocks, tail) = data.as_chunks_mut();
                (InOut(Regions::InPlace(blocks)), InOut(Regions::InPlace(tail)))
            }
            Regions::Separate(src, dst) => {
                let (src, src_tail) = src.as_chunks();
                let (dst, dst_tail) = dst.as_chunks_mut();
                (InOut(Regions::Separate(src, dst)), InOut(Regions::Separate(src_tail, dst_tail)))
            }
        }
    }

    /// Output = input ⊕ `keystream`, which is at least as long.
    pub(crate) fn xor(self, keystream: &[u8]) {
        match self.0 {
            Regions::InPlace(data) => {
                for (byte, key) in data.iter_mut().zip(keystream) {
                    *byte ^= key;
                }
            }
            Regions::Separate(src, dst) => {
                for ((out, byte), key) in dst.iter_mut().zip(src).zip(keystream) {
                    *out = byte ^ key;
                }
            }
        }
    }
}

impl<'a, T> InOut<'a, T> {
    /// Number of elements: bytes, or blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Regions::InPlace(data) => data.len(),
            Regions::Separate(src, _) => src.len(),
        }
    }

    /// Whether there is nothing to read or write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn regions(self) -> Regions<'a, T> {
        self.0
    }

    /// What is read.
    pub(crate) fn input(&self) -> &[T] {
        match &self.0 {
            Regions::InPlace(data) => data,
            Regions::Separate(src, _) => src,
        }
    }

    /// What is written; what was there before, until it is.
    pub(crate) fn output(&self) -> &[T] {
        match &self.0 {
            Regions::InPlace(data) => data,
            Regions::Separate(_, dst) => dst,
        }
    }

    pub(crate) fn reborrow(&mut self) -> InOut<'_, T> {
        InOut(match &mut self.0 {
            Regions::InPlace(data) => Regions::InPlace(data),
            Regions::Separate(src, dst) => Regions::Separate(src, dst),
        })
    }

    /// The first `mid` elements (all of them if there are fewer) and the rest.
    pub(crate) fn split_at(self, mid: usize) -> (Self, Self) {
        match self.0 {
            Regions::InPlace(data) => {
                let (head, rest) = data.split_at_mut(mid.min(data.len()));
                (InOut(Regions::InPlace(head)), InOut(Regions::InPlace(rest)))
            }
            Regions::Separate(src, dst) => {
                let (src, src_rest) = src.split_at(mid.min(src.len()));
                let (dst, dst_rest) = dst.split_at_mut(mid.min(dst.len()));
                (InOut(Regions::Separate(src, dst)), InOut(Regions::Separate(src_rest, dst_rest)))
            }
        }
    }
}

#[cfg(any(feature = "aead", feature = "cipher"))]
impl<'a> From<inout::InOutBuf<'a, 'a, u8>> for InOut<'a, u8> {
    #[allow(unsafe_code)]
    fn from(buffer: inout::InOutBuf<'a, 'a, u8>) -> Self {
        let len = buffer.len();
        let (src, dst) = buffer.into_raw();
        // SAFETY: `InOutBuf` owns both regions for `'a` and its invariant is that they are
        // identical or disjoint.
        unsafe {
            let out = core::slice::from_raw_parts_mut(dst, len);
            InOut(if src == dst {
                Regions::InPlace(out)
            } else {
                Regions::Separate(core::slice::from_raw_parts(src, len), out)
            })
        }
    }
}
