//! What is measured: every combination of these.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

pub const SIZES: [usize; 21] =
    [0, 16, 40, 64, 80, 128, 192, 256, 512, 576, 1024, 1280, 1350, 1400, 1420, 1440, 1500, 4096, 8192, 16384, 65536];
pub const BATCHES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Seal,
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    InPlace,
    Apart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// One key, ready before the clock starts.
    Warm,
    /// Another key for every packet, its set-up included.
    Fresh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    pub direction: Direction,
    pub placement: Placement,
    pub keys: Keys,
    /// Bytes of associated data.
    pub aad: usize,
    /// Packets handed over at once. Libraries without such an interface get them one by one.
    pub batch: usize,
    /// Bytes of plaintext.
    pub size: usize,
}

impl Case {
    /// What the table of this case is called: all but the size.
    pub fn table(&self) -> String {
        let Case { direction, placement, keys, aad, batch, .. } = self;
        let direction = if *direction == Direction::Seal { "seal" } else { "open" };
        let placement = if *placement == Placement::InPlace { "in place" } else { "into another buffer" };
        let keys = if *keys == Keys::Warm { "warm key" } else { "key per packet" };
        format!("{direction} {placement}, {keys}, {aad} bytes of AAD, batch {batch}")
    }

    /// Packets in one timed pass: enough for the clock, within the first-level cache where a batch isn't longer.
    pub fn packets(&self) -> usize {
        let fit = (16 * 1024 / (self.size + 16)).clamp(1, 64);
        fit.next_multiple_of(self.batch)
    }
}

/// Which cases to measure.
#[derive(Args, Clone, Debug)]
pub struct Selection {
    /// Plaintext sizes in bytes
    #[arg(long, value_delimiter = ',', default_values_t = SIZES)]
    pub sizes: Vec<usize>,
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Direction::Seal, Direction::Open])]
    pub direction: Vec<Direction>,
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Placement::InPlace, Placement::Apart])]
    pub placement: Vec<Placement>,
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Keys::Warm, Keys::Fresh])]
    pub keys: Vec<Keys>,
    /// Bytes of associated data
    #[arg(long, value_delimiter = ',', default_values_t = [0, 13])]
    pub aad: Vec<usize>,
    /// Packets per batch; more than one: in place, at most 1 MiB in all
    #[arg(long, value_delimiter = ',', default_values_t = BATCHES, value_parser = batch)]
    pub batch: Vec<usize>,
}

fn batch(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| BATCHES.contains(n)).ok_or_else(|| format!("must be one of {BATCHES:?}"))
}

impl Selection {
    pub fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for &batch in &self.batch {
            for &direction in &self.direction {
                for &placement in &self.placement {
                    for &keys in &self.keys {
                        for &aad in &self.aad {
                            cases.extend(self.sizes.iter().map(|&size| Case {
                                direction,
                                placement,
                                keys,
                                aad,
                                batch,
                                size,
                            }));
                        }
                    }
                }
            }
        }
        cases.retain(|case| {
            case.batch == 1 || (case.placement == Placement::InPlace && case.batch * case.size <= 1 << 20)
        });
        cases
    }
}
