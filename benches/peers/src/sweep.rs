//! Every size: does a longer packet ever cost less than a shorter one?

use crate::cases::{Case, Direction, Keys, Placement};
use crate::measure::Race;
use crate::results::Sweep;
use crate::rivals::Contender;
use indicatif::ProgressBar;

/// Every byte up to two kibibytes, then every 61st.
pub fn sizes() -> Vec<usize> {
    (0..=2048).chain((2048 + 61..=16384).step_by(61)).collect()
}

/// `rounds` over all sizes, so that a disturbance of a moment can't mark a range of sizes.
pub fn sweep(
    contenders: &[&Contender],
    direction: Direction,
    sizes: &[usize],
    rounds: usize,
    bar: &ProgressBar,
) -> Vec<Sweep> {
    let case = |size| Case { direction, placement: Placement::InPlace, keys: Keys::Warm, aad: 0, batch: 1, size };
    let contenders: Vec<_> = contenders.iter().copied().filter(|contender| contender.can(&case(0))).collect();
    let empty = |contender: &&Contender| Sweep {
        name: contender.name.clone(),
        direction,
        sizes: sizes.to_vec(),
        ns: vec![f64::INFINITY; sizes.len()],
    };
    let mut sweeps: Vec<Sweep> = contenders.iter().map(empty).collect();
    let mut measure = |at: usize, rounds: usize| {
        // A few packets are enough, and keep the round short.
        let mut race = Race::new(case(sizes[at]), &contenders, Some(4));
        (0..rounds).for_each(|_| race.round(rounds > 1));
        for (sweep, figure) in sweeps.iter_mut().zip(race.figures()) {
            let min = figure.expect("it can").min;
            sweep.ns[at] = sweep.ns[at].min((min * 10.0).round() / 10.0);
        }
    };
    for _ in 0..rounds {
        for at in 0..sizes.len() {
            measure(at, 2.min(rounds));
            bar.inc(1);
        }
    }
    sweeps
}

/// A range of sizes that a longer packet undercuts by more than the margin.
pub struct Tooth {
    pub sizes: (usize, usize),
    /// The most that any of them costs, in nanoseconds.
    pub worst: f64,
    /// The longer packet, and what it costs.
    pub longer: (usize, f64),
}

/// `margin`: 0.05 is 5 %.
pub fn teeth(sweep: &Sweep, margin: f64) -> Vec<Tooth> {
    let mut teeth: Vec<Tooth> = Vec::new();
    let (mut least, mut adjacent) = ((usize::MAX, f64::INFINITY), false);
    for (&size, &ns) in sweep.sizes.iter().zip(&sweep.ns).rev() {
        let cheaper = least.1 * (1.0 + margin) < ns;
        match teeth.last_mut().filter(|tooth| adjacent && cheaper && tooth.longer.0 == least.0) {
            Some(tooth) => {
                tooth.sizes.0 = size;
                tooth.worst = tooth.worst.max(ns);
            }
            None if cheaper => teeth.push(Tooth { sizes: (size, size), worst: ns, longer: least }),
            None => {}
        }
        adjacent = cheaper;
        if ns < least.1 {
            least = (size, ns);
        }
    }
    teeth.reverse();
    teeth
}
