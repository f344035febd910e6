//! The 16-byte authentication tag (RFC 8439, section 2.5), compared in constant time only.

use core::fmt;
use subtle::{Choice, ConstantTimeEq};

/// Length of a [`Tag`] in bytes.
pub const TAG_LEN: usize = 16;

/// A 16-byte Poly1305 tag. `==` takes the same time wherever the first difference is.
#[derive(Clone, Copy)]
pub struct Tag([u8; TAG_LEN]);

impl Tag {
    /// A tag from its 16 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; TAG_LEN]) -> Self {
        Tag(bytes)
    }

    /// The 16 bytes as they go on the wire.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; TAG_LEN] {
        &self.0
    }
}

impl ConstantTimeEq for Tag {
    fn ct_eq(&self, other: &Self) -> Choice {
        // As numbers: byte by byte takes longer.
        let [a, b] = [self, other].map(|tag| u128::from_ne_bytes(tag.0));
        ((a ^ b) as u64 | ((a ^ b) >> 64) as u64).ct_eq(&0)
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Tag {}

impl From<[u8; TAG_LEN]> for Tag {
    fn from(bytes: [u8; TAG_LEN]) -> Self {
        Tag(bytes)
    }
}

impl From<Tag> for [u8; TAG_LEN] {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}

impl AsRef<[u8]> for Tag {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Prints the bytes: a tag travels in the clear.
impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tag(")?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}
