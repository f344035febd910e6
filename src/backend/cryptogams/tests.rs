//! The differential suite on every level of CRYPTOGAMS that this CPU has.

use super::{Cryptogams, Kernel, level};
use crate::backend::tests::{chacha20_agrees, poly1305_agrees};
use std::println;

#[test]
fn every_level_agrees_with_portable() {
    let cryptogams = Cryptogams::detect().unwrap();
    let mut functions = std::vec::Vec::new();
    for level in level::available() {
        println!("level: {}", level.name);
        level.force();
        chacha20_agrees(cryptogams);
        poly1305_agrees(cryptogams);
        functions.push(cryptogams.poly1305_new(&[1; 32], 1).functions.blocks as usize);
        assert!(level.in_force());
    }
    // The word is heeded: the best level has another Poly1305 than the least, where there are vectors.
    if functions.len() > 2 {
        assert_ne!(functions.first(), functions.last());
    }
}
