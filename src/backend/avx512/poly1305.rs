//! Poly1305 (RFC 8439, section 2.5) of many blocks.

use crate::backend::x86_64::poly1305::{Poly, absorb_all};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512ifma,bmi2")]
pub(super) fn update(poly: &mut Poly, blocks: &[[u8; 16]]) {
    let mut key = poly.key();
    poly.h = absorb_all(poly.h, &key.r, blocks);
    key.wipe();
}
