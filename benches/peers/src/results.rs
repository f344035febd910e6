//! What was measured, where and with what: as tables, JSON and CSV, and where we lose.

use crate::cases::{Case, Direction, Keys, Placement};
use crate::measure::Figure;
use crate::rivals::is_ours;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

#[derive(Serialize, Deserialize)]
pub struct Results {
    pub machine: Machine,
    pub contenders: Vec<Entry>,
    /// Libraries that could not be measured, and why.
    pub absent: Vec<(String, String)>,
    pub measured: Vec<Measured>,
    pub sweeps: Vec<Sweep>,
}

#[derive(Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub system: String,
    pub target: String,
    pub rustc: String,
    pub rustflags: String,
    pub commit: String,
    pub date: String,
    pub command: String,
    /// Seconds spent on measuring the cases.
    pub seconds: f64,
    /// The core's clock in GHz while measuring, which cycles are reckoned with.
    pub clock: f64,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub version: String,
}

#[derive(Serialize, Deserialize)]
pub struct Measured {
    #[serde(flatten)]
    pub case: Case,
    /// In the order of the contenders; minimum and median, nanoseconds per packet.
    pub ns: Vec<Option<Figure>>,
}

/// One library's nanoseconds per packet at every size, in place with a warm key.
#[derive(Serialize, Deserialize)]
pub struct Sweep {
    pub name: String,
    pub direction: Direction,
    pub sizes: Vec<usize>,
    pub ns: Vec<f64>,
}

/// A rival that is faster than we are.
pub struct Loss {
    pub case: Case,
    pub rival: usize,
    /// Our time divided by the rival's.
    pub ratio: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shown {
    Min,
    Median,
}

impl Shown {
    fn of(self, figure: Figure) -> f64 {
        if self == Shown::Min { figure.min } else { figure.median }
    }
}

impl Results {
    /// The crate as it chooses for itself.
    pub fn us(&self) -> Option<usize> {
        self.contenders.iter().position(|entry| entry.name == "wireseal")
    }

    pub fn our(&self, measured: &Measured) -> Option<f64> {
        Some(measured.ns[self.us()?]?.min)
    }

    /// The fastest library that isn't this crate.
    pub fn best_rival(&self, measured: &Measured) -> Option<(usize, f64)> {
        let rivals = self.contenders.iter().zip(&measured.ns).enumerate();
        let rivals = rivals.filter(|(_, (entry, _))| !is_ours(&entry.name));
        rivals.filter_map(|(i, (_, figure))| Some((i, figure.as_ref()?.min))).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The best rival's time divided by ours: above 1 we are faster.
    pub fn lead(&self, measured: &Measured) -> Option<f64> {
        Some(self.best_rival(measured)?.1 / self.our(measured)?)
    }

    pub fn find(&self, case: Case) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.case == case)
    }

    /// Cases of one table, by size.
    pub fn table(&self, like: Case) -> Vec<&Measured> {
        let mut rows: Vec<_> =
            self.measured.iter().filter(|row| Case { size: like.size, ..row.case } == like).collect();
        rows.sort_by_key(|row| row.case.size);
        rows
    }

    /// Every rival that is faster by more than `margin` (0.03 is 3 %), in any case.
    pub fn losses(&self, margin: f64) -> Vec<Loss> {
        let mut losses = Vec::new();
        for measured in &self.measured {
            let Some(our) = self.our(measured) else { continue };
            for (rival, (entry, figure)) in self.contenders.iter().zip(&measured.ns).enumerate() {
                let Some(figure) = figure.filter(|_| !is_ours(&entry.name)) else { continue };
                if our > figure.min * (1.0 + margin) {
                    losses.push(Loss { case: measured.case, rival, ratio: our / figure.min });
                }
            }
        }
        losses
    }

    /// One line per rival and table: who, which table, and every size with our time divided by the rival's.
    pub fn gather(&self, losses: &[Loss]) -> Vec<(&str, String, String)> {
        let group = |loss: &Loss| (loss.rival, Case { size: 0, ..loss.case });
        let mut groups: Vec<(usize, Case)> = Vec::new();
        for loss in losses {
            if !groups.contains(&group(loss)) {
                groups.push(group(loss));
            }
        }
        let line = |&(rival, case): &(usize, Case)| {
            let same = losses.iter().filter(|loss| group(loss) == (rival, case));
            let sizes: Vec<String> = same.map(|loss| format!("{} ({:.2})", loss.case.size, loss.ratio)).collect();
            (self.contenders[rival].name.as_str(), case.table(), sizes.join(", "))
        };
        groups.iter().map(line).collect()
    }

    pub fn print(&self, shown: Shown) {
        let mut rest: Vec<&Measured> = self.measured.iter().collect();
        while let Some(first) = rest.first() {
            let like = first.case;
            println!(
                "\n{}: {} nanoseconds per packet",
                like.table(),
                if shown == Shown::Min { "least" } else { "median" }
            );
            let widths: Vec<usize> = self.contenders.iter().map(|entry| entry.name.len().max(8)).collect();
            let mut line = format!("{:>6}", "bytes");
            self.contenders.iter().zip(&widths).for_each(|(entry, width)| _ = write!(line, " {:>width$}", entry.name));
            println!("{line}  best rival ÷ us");
            for row in self.table(like) {
                let mut line = format!("{:>6}", row.case.size);
                for (figure, width) in row.ns.iter().zip(&widths) {
                    let text = figure.map_or("–".into(), |figure| format!("{:.0}", shown.of(figure)));
                    _ = write!(line, " {text:>width$}");
                }
                println!("{line}  {}", self.lead(row).map_or("–".into(), |lead| format!("{lead:.2}")));
            }
            rest.retain(|row| Case { size: like.size, ..row.case } != like);
        }
        for (name, why) in &self.absent {
            println!("\nnot measured: {name}, {why}");
        }
    }

    /// One case per line, so that a new recording is a readable change.
    pub fn to_json(&self) -> String {
        fn line(value: impl Serialize) -> String {
            serde_json::to_string(&value).expect("plain data")
        }
        fn list(values: &[impl Serialize]) -> String {
            values.iter().map(line).collect::<Vec<_>>().join(",\n")
        }
        format!(
            "{{\n\"machine\": {},\n\"contenders\": [\n{}\n],\n\"absent\": {},\n\"measured\": [\n{}\n],\n\"sweeps\": [\n{}\n]\n}}\n",
            serde_json::to_string_pretty(&self.machine).expect("plain data"),
            list(&self.contenders),
            line(&self.absent),
            list(&self.measured),
            list(&self.sweeps),
        )
    }

    pub fn to_csv(&self) -> String {
        let mut csv = String::from("direction,placement,keys,aad,batch,size,library,min_ns,median_ns\n");
        for Measured { case, ns } in &self.measured {
            let Case { direction, placement, keys, aad, batch, size } = case;
            for (entry, figure) in self.contenders.iter().zip(ns) {
                let Some(Figure { min, median }) = figure else { continue };
                let name = &entry.name;
                _ = writeln!(csv, "{direction},{placement},{keys},{aad},{batch},{size},{name},{min:.1},{median:.1}");
            }
        }
        csv
    }
}

/// As on the command line and in JSON.
macro_rules! names {
    ($($Type:ident { $($Variant:ident => $name:literal),* })*) => {$(
        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($Type::$Variant => $name),* })
            }
        }
    )*};
}
names! {
    Direction { Seal => "seal", Open => "open" }
    Placement { InPlace => "in-place", Apart => "apart" }
    Keys { Warm => "warm", Fresh => "fresh" }
}
