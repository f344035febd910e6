//! Reproducible filler for the tests: splitmix64 from a seed, nothing secret, nothing random.

/// `len` bytes that depend on the seed only.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let words = core::iter::repeat_with(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31).to_le_bytes()
    });
    words.flatten().take(len).collect()
}

/// The same as an array.
pub fn array<const N: usize>(seed: u64) -> [u8; N] {
    bytes(seed, N).try_into().unwrap()
}
