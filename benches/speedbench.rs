//! Self-tests, then the speed of every backend at the sizes of WireGuard's kernel benchmarks, in its
//! format. Standard library only, so that it runs on any target and under emulation.

mod operations;

use operations::{OPERATIONS, Operation, Run};
use std::fmt::Display;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use wireseal::{Backend, Selftest, selftest};

const HELP: &str = "\
Runs the self-tests, then measures every backend, all of them in turns.

  cargo bench --bench speedbench -- [OPTIONS]

  --compare A B    two backends and what B saves
  --backend NAME   only this one (may be repeated)
  --op NAME        only encrypt, decrypt, poly1305 or chacha20 (may be repeated)
  --size BYTES     only this size, listed or not (may be repeated)
  --ms N           milliseconds per figure [50]
  --times N        no measuring: do each operation N times. For emulators and
                   instruction counters, where counts mean something and time doesn't
  --help           this text

Figures are the fastest of many short rounds. Outside `cargo bench` (when cargo
tests the benches) everything runs once.
";

#[derive(Default)]
struct Options {
    compare: bool,
    backends: Vec<Backend>,
    operations: Vec<String>,
    sizes: Vec<usize>,
    budget: Duration,
    times: Option<u64>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("speedbench: {message}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let tests: Vec<Selftest> = selftest().collect();
    let passed = report("chacha20", &tests, |test| test.chacha20)
        & report("poly1305", &tests, |test| test.poly1305)
        & report("chacha20poly1305", &tests, |test| test.aead);
    if !passed {
        return ExitCode::FAILURE;
    }
    let clock = Clock::start();
    for operation in
        OPERATIONS.iter().filter(|op| options.operations.is_empty() || options.operations.contains(&op.name.into()))
    {
        run(operation, &options, &clock);
    }
    ExitCode::SUCCESS
}

/// One line per primitive, as WireGuard's module prints when it is loaded.
fn report(primitive: &str, tests: &[Selftest], passed: fn(&Selftest) -> bool) -> bool {
    let failed: Vec<_> = tests.iter().filter(|test| !passed(test)).map(|test| test.backend.name()).collect();
    match failed.as_slice() {
        [] => println!("{primitive} self-tests: pass"),
        failed => println!("{primitive} self-tests: FAIL ({})", failed.join(", ")),
    }
    failed.is_empty()
}

fn options() -> Result<Option<Options>, String> {
    let mut options = Options { budget: Duration::from_millis(50), ..Options::default() };
    let mut args = std::env::args().skip(1).peekable();
    if args.peek().is_none() {
        options.times = Some(1);
    }
    fn value<T: std::str::FromStr>(option: &str, value: Option<String>) -> Result<T, String> {
        let value = value.ok_or_else(|| format!("{option} needs a value"))?;
        value.parse().map_err(|_| format!("{option} {value:?} is not a number"))
    }
    fn backend(name: Option<String>) -> Result<Backend, String> {
        let name = name.ok_or("the name of a backend is missing")?;
        let names: Vec<_> = Backend::available().map(Backend::name).collect();
        Backend::named(&name).ok_or_else(|| format!("no backend {name:?} here, only {}", names.join(", ")))
    }
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bench" => {} // from cargo
            "--help" | "-h" => return Ok(None),
            "--compare" => {
                options.compare = true;
                options.backends = vec![backend(args.next())?, backend(args.next())?];
            }
            "--backend" => options.backends.push(backend(args.next())?),
            "--op" => {
                let name = args.next().unwrap_or_default();
                if !OPERATIONS.iter().any(|op| op.name == name) {
                    return Err(format!("no operation {name:?}"));
                }
                options.operations.push(name);
            }
            "--size" => options.sizes.push(value("--size", args.next())?),
            "--ms" => options.budget = Duration::from_millis(value("--ms", args.next())?),
            "--times" => options.times = Some(value("--times", args.next())?),
            other => return Err(format!("unknown option {other:?}")),
        }
    }
    if options.backends.is_empty() {
        options.backends = Backend::available().collect();
    } else if options.compare && options.backends.len() != 2 {
        return Err("--compare takes two backends and no --backend".into());
    }
    Ok(Some(options))
}

fn run(operation: &Operation, options: &Options, clock: &Clock) {
    let Options { compare, backends, .. } = options;
    let sizes = if options.sizes.is_empty() { operation.sizes } else { &options.sizes };
    if let Some(times) = options.times {
        for &len in sizes {
            for &backend in backends {
                (operation.prepare)(backend, len)(times);
                println!("{:>9} {len:>6} bytes, {backend}: done {times} times", operation.name);
            }
        }
        return;
    }
    println!("\n{} ({} per operation)", operation.name, clock.describe());
    let columns = backends.iter().map(|backend| cell(backend.name(), Clock::UNIT));
    row("bytes", columns, compare.then_some("saved"));
    for &len in sizes {
        let mut runs: Vec<Run> = backends.iter().map(|&backend| (operation.prepare)(backend, len)).collect();
        let best = fastest(&mut runs, options.budget, clock);
        let columns = best.iter().map(|ticks| {
            let rate = len as f64 / 1e6 / (ticks / clock.frequency);
            cell(format!("{rate:.1} MB/s"), &format!("{ticks:.0}"))
        });
        let saved = compare.then(|| format!("{:+.1} %", 100.0 * (1.0 - best[1] / best[0])));
        row(&len.to_string(), columns, saved.as_deref());
    }
}

fn cell(rate: impl Display, ticks: &str) -> String {
    format!("{rate:>14} {ticks:>9}")
}

fn row(first: &str, columns: impl Iterator<Item = String>, last: Option<&str>) {
    let columns: Vec<_> = columns.collect();
    let line = format!("{first:>6} {} {:>8}", columns.join(" "), last.unwrap_or_default());
    println!("{}", line.trim_end());
}

/// Ticks per operation of each: the fastest of many rounds, taken in turns so that a change of clock
/// speed or a busy neighbour meets all alike.
fn fastest(runs: &mut [Run], budget: Duration, clock: &Clock) -> Vec<f64> {
    const ROUND: f64 = 50e-6; // seconds: far above the cost of reading the clock, far below a time slice
    let ticks = |run: &mut Run, times: u64| {
        let start = clock.now();
        run(times);
        (clock.now() - start) as f64 / times as f64
    };
    let times: Vec<u64> = runs
        .iter_mut()
        .map(|run| {
            let once = (0..10).map(|_| ticks(run, 1)).fold(f64::INFINITY, f64::min);
            (ROUND * clock.frequency / once.max(1.0)).ceil() as u64
        })
        .collect();
    let mut best = vec![f64::INFINITY; runs.len()];
    let start = Instant::now();
    while start.elapsed() < budget * runs.len() as u32 {
        for ((run, &times), best) in runs.iter_mut().zip(&times).zip(&mut best) {
            *best = best.min(ticks(run, times));
        }
    }
    best
}

/// The time stamp counter on x86-64, whose ticks are cycles of a fixed reference clock, not of the core's;
/// elsewhere nanoseconds.
struct Clock {
    origin: Instant,
    /// Ticks per second.
    frequency: f64,
}

impl Clock {
    const UNIT: &str = if cfg!(target_arch = "x86_64") { "cycles" } else { "ns" };

    fn start() -> Self {
        let mut clock = Clock { origin: Instant::now(), frequency: 1e9 };
        if cfg!(target_arch = "x86_64") {
            let start = clock.now();
            while clock.origin.elapsed() < Duration::from_millis(20) {}
            clock.frequency = (clock.now() - start) as f64 / clock.origin.elapsed().as_secs_f64();
        }
        clock
    }

    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    fn now(&self) -> u64 {
        // SAFETY: every x86-64 CPU has the instruction.
        unsafe { core::arch::x86_64::_rdtsc() }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    fn describe(&self) -> String {
        match Self::UNIT {
            "cycles" => format!("TSC reference cycles at {:.0} MHz", self.frequency / 1e6),
            _ => "nanoseconds".into(),
        }
    }
}
