//! ChaCha20-Poly1305 by everybody, side by side: one process, one core, all libraries in turns, every output checked
//! against every other's before anything is timed.

mod cases;
mod imix;
mod measure;
mod plots;
mod record;
mod results;
mod rivals;
mod sweep;

use cases::{Case, Direction, Selection};
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use measure::{Effort, Field, Race, core_clock};
use results::{Entry, Measured, Results, Shown};
use rivals::Contender;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Compares ChaCha20-Poly1305 libraries with this crate: seal and open, by size, placement, key, associated data and
/// batch. Without a subcommand: measures what is selected and prints tables.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Task>,
    #[command(flatten)]
    run: Run,
}

#[derive(Subcommand)]
enum Task {
    /// Every size: lists where a longer packet is cheaper than a shorter one by more than 5 %
    Sweep(SweepOptions),
    /// 48 packets of mixed lengths at once, after the Internet's mix
    Imix {
        #[command(flatten)]
        who: Who,
        #[arg(long, default_value_t = 2000)]
        rounds: usize,
    },
    /// Measures everything and writes benches/record/NAME and BENCHMARKS.md
    Record {
        /// What to call this machine, such as zen3
        name: String,
        #[command(flatten)]
        run: Run,
        #[command(flatten)]
        sweep: Rounds,
    },
    /// Makes the pictures and tables again from what is recorded
    Draw,
    /// Lists the libraries that can be measured here
    List,
}

#[derive(Args)]
struct Run {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    who: Who,
    /// Seconds to measure for, all in all
    #[arg(long, default_value_t = 180.0)]
    seconds: f64,
    /// What the tables show
    #[arg(long, value_enum, default_value_t = Shown::Min)]
    show: Shown,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Exit with 1 if a rival is faster by more than 3 % anywhere. Suspects are measured again first
    #[arg(long)]
    gate: bool,
    /// One iteration of everything, pictures included; figures mean nothing. For CI
    #[arg(long)]
    smoke: bool,
}

#[derive(Args)]
struct Who {
    /// Only these libraries and ours, comma-separated; see `list`
    #[arg(long, value_delimiter = ',')]
    rivals: Vec<String>,
    /// The core to stay on (the last by default)
    #[arg(long)]
    core: Option<usize>,
}

#[derive(Args)]
struct SweepOptions {
    #[command(flatten)]
    who: Who,
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Direction::Seal, Direction::Open])]
    direction: Vec<Direction>,
    #[command(flatten)]
    rounds: Rounds,
    /// Write all figures as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

#[derive(Args)]
struct Rounds {
    /// Rounds over all sizes of the sweep
    #[arg(long, default_value_t = 12)]
    rounds: usize,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode, Box<dyn Error>> {
    match cli.command {
        None => {
            let mut results = compare(&cli.run)?;
            if cli.run.smoke {
                smoke(&mut results, &cli.run)?;
            }
            finish(results, &cli.run)
        }
        Some(Task::Sweep(options)) => {
            let (contenders, _) = contenders(&options.who)?;
            let sweeps = sweeps(&contenders, &options.direction, &sweep::sizes(), options.rounds.rounds);
            print_teeth(&sweeps);
            if let Some(file) = options.csv {
                std::fs::write(file, sweep_csv(&sweeps))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(Task::Imix { who, rounds }) => {
            let (all, _) = contenders(&who)?;
            let able: Vec<_> = all.iter().filter(|contender| contender.in_place).collect();
            let sealing = imix::least(&able, Direction::Seal, rounds)?;
            let opening = imix::least(&able, Direction::Open, rounds)?;
            println!("48 packets, least nanoseconds in all: seal, open");
            for ((contender, seal), open) in able.iter().zip(sealing).zip(opening) {
                println!("{:<18} {seal:>7.0} {open:>7.0}", contender.name);
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(Task::Record { name, run, sweep }) => {
            let mut results = compare(&run)?;
            let (contenders, _) = contenders(&run.who)?;
            results.sweeps = sweeps(&contenders, &[Direction::Seal, Direction::Open], &sweep::sizes(), sweep.rounds);
            record::write(&name, &results)?;
            finish(results, &run)
        }
        Some(Task::Draw) => {
            record::redraw()?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Task::List) => {
            let (all, absent) = rivals::all();
            all.iter().for_each(|contender| println!("{:<18} {}", contender.name, contender.version));
            absent.iter().for_each(|(name, why)| println!("{name:<18} not here: {why}"));
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn contenders(who: &Who) -> Result<(Vec<Contender>, Vec<(String, String)>), Box<dyn Error>> {
    if measure::pin(who.core).is_none() {
        eprintln!("not pinned to a core: figures will be noisier");
    }
    let (mut all, absent) = rivals::all();
    for name in &who.rivals {
        if !all.iter().any(|contender| contender.name == *name) {
            let why = absent.iter().find(|(absent, _)| absent == name).map_or("no such library", |(_, why)| why);
            return Err(format!("{name}: {why}").into());
        }
    }
    if !who.rivals.is_empty() {
        all.retain(|contender| contender.ours() || who.rivals.contains(&contender.name));
    }
    Ok((all, absent))
}

fn compare(run: &Run) -> Result<Results, Box<dyn Error>> {
    let (all, absent) = contenders(&run.who)?;
    let contenders: Vec<&Contender> = all.iter().collect();
    let cases = run.selection.cases();

    let bar = bar(cases.len(), "checking");
    for &case in &cases {
        let able: Vec<_> = contenders.iter().copied().filter(|contender| contender.can(&case)).collect();
        Field::agree(case, &able)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    eprintln!("{} libraries agree on {} cases", contenders.len(), cases.len());

    let pairs: usize = cases.iter().map(|case| contenders.iter().filter(|contender| contender.can(case)).count()).sum();
    let effort =
        if run.smoke { Effort::Once } else { Effort::Time(Duration::from_secs_f64(run.seconds / pairs.max(1) as f64)) };
    let measure = |case: Case, effort: Effort| {
        let mut race = Race::new(case, &contenders, run.smoke.then_some(case.batch));
        race.run(effort);
        Measured { case, ns: race.figures() }
    };
    let bar = self::bar(cases.len(), "measuring");
    let mut clock: f64 = 0.0;
    let mut measured = Vec::new();
    for &case in &cases {
        bar.set_message(format!("{}, {} bytes", case.table(), case.size));
        clock = clock.max(core_clock());
        measured.push(measure(case, effort));
        bar.inc(1);
    }
    bar.finish_and_clear();

    let mut results = Results {
        machine: record::machine(run.seconds, clock),
        contenders: all
            .iter()
            .map(|contender| Entry { name: contender.name.clone(), version: contender.version.clone() })
            .collect(),
        absent,
        measured,
        sweeps: Vec::new(),
    };
    if let Effort::Time(time) = effort {
        recheck(&mut results, |case| measure(case, Effort::Time(time)));
    }
    Ok(results)
}

/// Measures again, all libraries alike, where we seem to lose: the least of all figures counts for each.
fn recheck(results: &mut Results, measure: impl Fn(Case) -> Measured) {
    for _ in 0..2 {
        let suspects: Vec<Case> = results.losses(0.03).iter().map(|loss| loss.case).collect();
        let bar = bar(suspects.len(), "again");
        for row in results.measured.iter_mut().filter(|row| suspects.contains(&row.case)) {
            for (old, new) in row.ns.iter_mut().zip(measure(row.case).ns) {
                if let (Some(old), Some(new)) = (old, new) {
                    old.min = old.min.min(new.min);
                    old.median = old.median.min(new.median);
                }
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
}

fn finish(results: Results, run: &Run) -> Result<ExitCode, Box<dyn Error>> {
    if !run.smoke {
        results.print(run.show);
    }
    if let Some(file) = &run.json {
        std::fs::write(file, results.to_json())?;
    }
    if let Some(file) = &run.csv {
        std::fs::write(file, results.to_csv())?;
    }
    let losses = if run.smoke { Vec::new() } else { results.losses(0.03) };
    for (rival, table, sizes) in results.gather(&losses) {
        println!("\n{rival} is faster, {table}, at bytes (our time ÷ its): {sizes}");
    }
    Ok(if run.gate && !losses.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What else there is: the sweep, JSON there and back, CSV, pictures, the page.
fn smoke(results: &mut Results, run: &Run) -> Result<(), Box<dyn Error>> {
    let (contenders, _) = contenders(&run.who)?;
    results.sweeps = sweeps(&contenders, &[Direction::Seal, Direction::Open], &[0, 1, 64, 1420, 2048], 1);
    let again: Results = serde_json::from_str(&results.to_json())?;
    if again.measured.len() != results.measured.len() || again.to_csv().lines().count() < results.measured.len() {
        return Err("the results don't survive being written".into());
    }
    let page = record::markdown(&[("smoke".into(), again)])?;
    let pictures = plots::all(results)?;
    println!(
        "smoke: {} cases, {} sweeps, {} pictures, a page of {} lines",
        results.measured.len(),
        results.sweeps.len(),
        pictures.len(),
        page.lines().count()
    );
    Ok(())
}

fn sweeps(contenders: &[Contender], directions: &[Direction], sizes: &[usize], rounds: usize) -> Vec<results::Sweep> {
    let contenders: Vec<&Contender> = contenders.iter().collect();
    let bar = bar(directions.len() * sizes.len() * rounds, "sweeping");
    let sweeps =
        directions.iter().flat_map(|&direction| sweep::sweep(&contenders, direction, sizes, rounds, &bar)).collect();
    bar.finish_and_clear();
    sweeps
}

fn print_teeth(sweeps: &[results::Sweep]) {
    for sweep in sweeps {
        let teeth = sweep::teeth(sweep, 0.05);
        println!(
            "{} {}: {} ranges where a longer packet costs over 5 % less",
            sweep.name,
            sweep.direction,
            teeth.len()
        );
        for tooth in teeth.iter().filter(|_| sweep.name.starts_with("wireseal")) {
            let ((first, last), (longer, ns)) = (tooth.sizes, tooth.longer);
            println!("  {first}–{last} bytes: up to {:.0} ns, {longer} bytes {ns:.0} ns", tooth.worst);
        }
    }
}

fn sweep_csv(sweeps: &[results::Sweep]) -> String {
    let rows = sweeps.iter().flat_map(|sweep| {
        let row = move |(size, ns): (&usize, &f64)| format!("{},{},{size},{ns}\n", sweep.direction, sweep.name);
        sweep.sizes.iter().zip(&sweep.ns).map(row)
    });
    std::iter::once("direction,library,size,min_ns\n".to_owned()).chain(rows).collect()
}

fn bar(steps: usize, what: &'static str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{prefix:>9} {wide_bar} {pos}/{len} {eta} {msg}").expect("a valid template");
    ProgressBar::new(steps as u64).with_style(style).with_prefix(what)
}
