//! Timed passes, taken in turns so that a change of clock speed or a busy neighbour meets all alike.

use crate::cases::{Case, Direction, Placement};
use crate::rivals::{Contender, Passes, Slot};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Nanoseconds per packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "(f64, f64)", into = "(f64, f64)")]
pub struct Figure {
    pub min: f64,
    pub median: f64,
}

impl From<(f64, f64)> for Figure {
    fn from((min, median): (f64, f64)) -> Self {
        Figure { min, median }
    }
}

impl From<Figure> for (f64, f64) {
    fn from(Figure { min, median }: Figure) -> Self {
        let round = |ns: f64| (ns * 10.0).round() / 10.0;
        (round(min), round(median))
    }
}

/// Buffers of one case, the same for every library.
pub struct Field {
    case: Case,
    packets: usize,
    aad: Vec<u8>,
    plain: Arena,
    packet: Arena,
    /// What the packets look like sealed, one after the other.
    sealed: Vec<u8>,
}

/// Equal buffers that begin 16 bytes past a cache line, as behind WireGuard's header.
struct Arena {
    bytes: Vec<u8>,
    start: usize,
    stride: usize,
    len: usize,
}

impl Arena {
    /// `page_offset` keeps the two sides from meeting at equal addresses modulo 4096.
    fn new(packets: usize, len: usize, page_offset: usize) -> Self {
        let stride = (len + 16).next_multiple_of(64) + 64;
        let bytes = vec![0; packets * stride + 8192];
        let start = bytes.as_ptr().align_offset(4096) + page_offset + 16;
        Arena { bytes, start, stride, len }
    }

    fn buffers(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.bytes[self.start..].chunks_exact_mut(self.stride).map(|chunk| &mut chunk[..self.len])
    }
}

const KEY: [u8; 32] = [0x42; 32];

impl Field {
    /// `packets`: instead of as many as the case wants.
    pub fn new(case: Case, packets: Option<usize>) -> Self {
        let packets = packets.unwrap_or(case.packets());
        let len = case.size + 16;
        let mut field = Field {
            case,
            packets,
            aad: (0..case.aad).map(|i| 0xa0 ^ i as u8).collect(),
            plain: Arena::new(packets, len, 0),
            packet: Arena::new(packets, len, 2048),
            sealed: Vec::new(),
        };
        field.reset();
        field
    }

    /// Plaintext on both sides.
    fn reset(&mut self) {
        for (i, (plain, packet)) in self.plain.buffers().zip(self.packet.buffers()).take(self.packets).enumerate() {
            plain.iter_mut().enumerate().for_each(|(j, byte)| *byte = (i + j * 7 + (j >> 8)) as u8);
            packet.copy_from_slice(plain);
        }
    }

    fn slots(&mut self) -> Vec<Slot<'_>> {
        let buffers = self.packet.buffers().zip(self.plain.buffers()).take(self.packets).enumerate();
        buffers
            .map(|(i, (packet, plain))| {
                let (mut key, mut nonce) = (KEY, [0; 12]);
                key[0] ^= i as u8;
                nonce[4..].copy_from_slice(&(i as u64).to_le_bytes());
                Slot { key, nonce, packet, plain }
            })
            .collect()
    }

    fn set_packets(&mut self) {
        let len = self.case.size + 16;
        self.packet
            .buffers()
            .zip(self.sealed.chunks_exact(len))
            .for_each(|(packet, sealed)| packet.copy_from_slice(sealed));
    }

    fn packets(&mut self) -> Vec<u8> {
        self.packet.buffers().take(self.packets).flat_map(|packet| packet.to_vec()).collect()
    }

    fn plaintexts(&mut self) -> Vec<u8> {
        let (size, packets) = (self.case.size, self.packets);
        let side = if self.case.placement == Placement::InPlace { &mut self.packet } else { &mut self.plain };
        side.buffers().take(packets).flat_map(|buffer| buffer[..size].to_vec()).collect()
    }

    fn pass(&mut self, passes: &mut dyn Passes) -> Option<f64> {
        let (case, aad) = (self.case, std::mem::take(&mut self.aad));
        let nanoseconds = passes.pass(&case, &aad, &mut self.slots());
        self.aad = aad;
        nanoseconds
    }

    /// Runs the case on all and compares: every sealed packet with every other's, every opened one with what was
    /// sealed, and a forged bit in each part has to be refused.
    pub fn agree(case: Case, contenders: &[&Contender]) -> Result<(), String> {
        let run = |name: &str, direction, field: &mut Field| -> Option<f64> {
            let contender = contenders.iter().find(|contender| contender.name == name)?;
            field.pass(&mut *contender.begin(&KEY, direction))
        };
        let mut field = Field::new(case, Some(case.batch.max(2).next_multiple_of(case.batch)));
        let plaintexts = field.plaintexts();
        for contender in contenders {
            let name = &contender.name;
            let wrong = |what: &str| Err(format!("{name} {what}: {}, {} bytes", case.table(), case.size));
            let (sealing, opening) =
                (Case { direction: Direction::Seal, ..case }, Case { direction: Direction::Open, ..case });
            field.case = sealing;
            field.reset();
            if run(name, Direction::Seal, &mut field).is_none() {
                return wrong("does not seal");
            }
            let sealed = field.packets();
            if field.sealed.is_empty() {
                field.sealed = sealed;
            } else if field.sealed != sealed {
                return wrong("differs from the first");
            }
            field.case = opening;
            field.reset();
            field.set_packets();
            if case.placement == Placement::Apart {
                field.plain.bytes.fill(0);
            }
            if run(name, Direction::Open, &mut field).is_none() || field.plaintexts() != plaintexts {
                return wrong("does not open");
            }
            let last = case.size + 15;
            for at in [0, case.size, last] {
                field.set_packets();
                field.packet.buffers().nth(1).unwrap()[at] ^= 0x80;
                if run(name, Direction::Open, &mut field).is_some() {
                    return wrong("accepts a forgery");
                }
            }
            if !field.aad.is_empty() {
                field.set_packets();
                field.aad[0] ^= 1;
                if run(name, Direction::Open, &mut field).is_some() {
                    return wrong("accepts forged associated data");
                }
                field.aad[0] ^= 1;
            }
        }
        Ok(())
    }
}

/// How long to measure.
#[derive(Clone, Copy)]
pub enum Effort {
    /// Every library once: whether it runs at all.
    Once,
    /// So long for each library.
    Time(Duration),
}

/// Libraries at work on one case.
pub struct Race {
    field: Field,
    runners: Vec<Option<Runner>>,
    round: usize,
}

struct Runner {
    passes: Box<dyn Passes>,
    samples: Vec<f64>,
}

/// One turn: long enough that what the others left in the caches is no longer felt, far below a time slice.
const TURN: f64 = 60e3;

impl Race {
    pub fn new(case: Case, contenders: &[&Contender], packets: Option<usize>) -> Self {
        let mut field = Field::new(case, packets);
        let first = contenders.iter().find(|contender| contender.can(&case));
        if let (Direction::Open, Some(first)) = (case.direction, first) {
            field.case.direction = Direction::Seal;
            field.pass(&mut *first.begin(&KEY, Direction::Seal)).expect("sealing");
            field.case.direction = Direction::Open;
            field.sealed = field.packets();
        }
        let runner = |contender: &&Contender| {
            contender.can(&case).then(|| Runner { passes: contender.begin(&KEY, case.direction), samples: Vec::new() })
        };
        Race { field, runners: contenders.iter().map(runner).collect(), round: 0 }
    }

    /// One turn of each. The first pass of a turn only warms up.
    pub fn round(&mut self, warm_up: bool) {
        let all = self.runners.len();
        for i in 0..all {
            let Some(runner) = &mut self.runners[(i + self.round) % all] else { continue };
            let (mut spent, mut warm) = (0.0, !warm_up);
            while spent < TURN {
                self.field.set_packets();
                let nanoseconds = self.field.pass(&mut *runner.passes).expect("every tag is right");
                if warm {
                    runner.samples.push(nanoseconds / self.field.packets as f64);
                    spent += nanoseconds;
                }
                if !warm_up {
                    break;
                }
                warm = true;
            }
        }
        self.round += 1;
    }

    pub fn run(&mut self, effort: Effort) {
        let Effort::Time(budget) = effort else { return self.round(false) };
        let start = Instant::now();
        let budget = budget * self.runners.iter().flatten().count() as u32;
        while self.round < 3 || start.elapsed() < budget {
            self.round(true);
        }
    }

    pub fn figures(&mut self) -> Vec<Option<Figure>> {
        let figure = |runner: &mut Runner| {
            runner.samples.sort_by(f64::total_cmp);
            Figure { min: runner.samples[0], median: runner.samples[runner.samples.len() / 2] }
        };
        self.runners.iter_mut().map(|runner| runner.as_mut().map(figure)).collect()
    }
}

/// The core's clock in GHz now, by a chain of additions that each wait for the one before: one per cycle on every core
/// there is. The highest of several readings is the clock while nothing interrupts.
pub fn core_clock() -> f64 {
    const ROUNDS: u64 = 2000;
    let start = Instant::now();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: registers only.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "add {x}, {x}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 1u64 => _, n = inout(reg) ROUNDS => _, options(nomem, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: registers only.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "add {x}, {x}, {x}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            x = inout(reg) 1u64 => _, n = inout(reg) ROUNDS => _, options(nomem, nostack),
        );
    }
    16.0 * ROUNDS as f64 / start.elapsed().as_nanos() as f64
}

/// Keeps this process on one core. Returns which, if the system allows it.
pub fn pin(cpu: Option<usize>) -> Option<usize> {
    #[cfg(target_os = "linux")]
    // SAFETY: a set of bits, made and read by the C library's own functions.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of_val(&set);
        libc::sched_getaffinity(0, size, &mut set);
        let cpu = cpu.or_else(|| (0..libc::CPU_SETSIZE as usize).rev().find(|&cpu| libc::CPU_ISSET(cpu, &set)))?;
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(cpu, &mut set);
        (libc::sched_setaffinity(0, size, &set) == 0).then_some(cpu)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = cpu;
        None
    }
}
