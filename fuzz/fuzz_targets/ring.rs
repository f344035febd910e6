//! `ring_compat` against ring itself: the same calls, the same bytes, the same verdicts.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    key: [u8; 32],
    nonce: [u8; 12],
    aad: Vec<u8>,
    data: Vec<u8>,
    header: u8,
    damage: Option<(u16, u8)>,
}

/// What one library makes of the input: sealed bytes, and what opening them, perhaps damaged, gives.
macro_rules! run {
    ($aead:path, $input:expr) => {{
        use $aead as aead;
        let input: &Input = $input;
        let key = || aead::LessSafeKey::new(aead::UnboundKey::new(&aead::CHACHA20_POLY1305, &input.key).unwrap());
        let nonce = || aead::Nonce::assume_unique_for_key(input.nonce);
        let mut sealed = input.data.clone();
        key().seal_in_place_append_tag(nonce(), aead::Aad::from(&input.aad), &mut sealed).unwrap();
        let mut detached = input.data.clone();
        let tag = key().seal_in_place_separate_tag(nonce(), aead::Aad::from(&input.aad), &mut detached).unwrap();
        detached.extend(tag.as_ref());
        assert_eq!(sealed, detached);

        let mut damaged = sealed.clone();
        if let Some((at, flip)) = input.damage {
            let at = usize::from(at) % damaged.len();
            damaged[at] ^= flip;
        }
        let opened = key().open_in_place(nonce(), aead::Aad::from(&input.aad), &mut damaged.clone()).ok().map(|p| p.to_vec());
        let mut within = vec![0; input.header.into()];
        within.extend(&damaged);
        let within = key()
            .open_within(nonce(), aead::Aad::from(&input.aad), &mut within, usize::from(input.header)..)
            .ok()
            .map(|p| p.to_vec());
        assert_eq!(opened, within);
        (sealed, opened)
    }};
}

fuzz_target!(|input: Input| {
    assert_eq!(run!(wireseal::ring_compat::aead, &input), run!(ring::aead, &input));
});
