//! Random packets without end: random batches sealed by one backend, each packet compared with what ring makes of it,
//! opened by another backend and compared with what went in. Now and then one is forged, which must be refused and stay
//! as it was.
//!
//! `cargo run --release [PACKETS] [SEED]`

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use wireseal::{Backend, ChaCha20Poly1305, Packet};

const BATCH_MAX: usize = 64;
const LEN_MAX: usize = 2048;

/// splitmix64: random enough to choose what to test.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next() as u8)
    }
}

struct Case {
    nonce: [u8; 12],
    aad: std::ops::Range<usize>,
    text: std::ops::Range<usize>,
    data: [u8; LEN_MAX],
    tag: [u8; 16],
}

fn range(random: &mut Random, pool: usize, max: usize) -> std::ops::Range<usize> {
    let start = random.below(pool - max);
    start..start + random.below(max + 1)
}

fn packets<'a>(cases: &'a mut [Case], pool: &'a [u8]) -> Vec<Packet<'a>> {
    let packet = |case: &'a mut Case| {
        Packet::detached(&case.nonce, &pool[case.aad.clone()], &mut case.data[..case.text.len()], &mut case.tag)
    };
    cases.iter_mut().map(packet).collect()
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let (wanted, seed) = (arguments.next().unwrap_or(100_000_000), arguments.next().unwrap_or(1));
    let mut random = Random(seed);
    let pool: Vec<u8> = (0..1 << 16).map(|_| random.next() as u8).collect();
    let backends: Vec<Backend> = Backend::available().collect();
    let mut sealed_by = vec![0u64; backends.len()];
    let mut cases: Vec<Case> = Vec::new();
    let (mut done, mut forged, mut said) = (0, 0u64, 0);
    let mut reference = [0; LEN_MAX];

    while done < wanted {
        let key = random.bytes::<32>();
        let ring = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).unwrap());
        let (sealer, opener) = (random.below(backends.len()), random.below(backends.len()));
        let [seals, opens] = [sealer, opener].map(|i| ChaCha20Poly1305::with_backend(&key, backends[i]));
        let longest = [64, 128, 256, 600, 1500, LEN_MAX][random.below(6)];
        cases.clear();
        for _ in 0..1 + random.below(BATCH_MAX) {
            let aad_max = [0, 0, 16, 100][random.below(4)];
            let (aad, text) = (range(&mut random, pool.len(), aad_max), range(&mut random, pool.len(), longest));
            let mut case = Case { nonce: random.bytes(), aad, text, data: [0; LEN_MAX], tag: [0; 16] };
            case.data[..case.text.len()].copy_from_slice(&pool[case.text.clone()]);
            cases.push(case);
        }
        let place = |at: usize| {
            format!(
                "seed {seed}, after {done} packets: packet {at} of a batch, {} to {}",
                backends[sealer], backends[opener]
            )
        };

        seals.seal_batch(&mut packets(&mut cases, &pool)).unwrap();
        for (at, case) in cases.iter().enumerate() {
            let reference = &mut reference[..case.text.len()];
            reference.copy_from_slice(&pool[case.text.clone()]);
            let nonce = Nonce::assume_unique_for_key(case.nonce);
            let tag = ring.seal_in_place_separate_tag(nonce, Aad::from(&pool[case.aad.clone()]), reference).unwrap();
            assert!(*reference == case.data[..case.text.len()] && tag.as_ref() == case.tag, "sealed: {}", place(at));
        }

        let bad = random.below(4 * cases.len());
        let mut before = None;
        if let Some(case) = cases.get_mut(bad) {
            case.tag[random.below(16)] ^= 1 << random.below(8);
            before = Some(case.data);
            forged += 1;
        }
        let mut opened = packets(&mut cases, &pool);
        opens.open_batch(&mut opened).unwrap();
        for (at, packet) in opened.iter().enumerate() {
            assert_eq!(packet.verdict().is_ok(), at != bad, "verdict: {}", place(at));
        }
        drop(opened);
        for (at, case) in cases.iter().enumerate() {
            let expected =
                if at == bad { &before.as_ref().unwrap()[..case.text.len()] } else { &pool[case.text.clone()] };
            assert!(case.data[..case.text.len()] == *expected, "opened: {}", place(at));
        }

        done += cases.len() as u64;
        sealed_by[sealer] += cases.len() as u64;
        if done / 5_000_000 > said {
            said = done / 5_000_000;
            println!("{done} packets");
        }
    }
    let counts: Vec<String> = backends.iter().zip(sealed_by).map(|(name, count)| format!("{name} {count}")).collect();
    println!("PASS {done} packets, {forged} of them forged, 0 mismatches; sealed by {}", counts.join(", "));
}
