//! `record`: the results of a machine in `benches/record/NAME/`, and BENCHMARKS.md, whose part behind the marker
//! is made from all of them.

use crate::cases::{Case, Direction, Keys, Placement, SIZES};
use crate::plots;
use crate::results::{Machine, Measured, Results};
use crate::sweep::teeth;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MARKER: &str = "<!-- made by `record` from here on -->\n";

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn machine(seconds: f64, clock: f64) -> Machine {
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let cpu = match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        (name, ..) => name
            .or_else(|| run("sysctl", &["-n", "machdep.cpu.brand_string"]))
            .or_else(|| {
                run("lscpu", &[]).and_then(|text| Some(text.split_once("Model name:")?.1.lines().next()?.trim().into()))
            })
            .unwrap_or_else(|| "unknown".into()),
    };
    let dirty = run("git", &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let features = [("cryptogams", cfg!(feature = "cryptogams")), ("ipsec-mb", cfg!(feature = "ipsec-mb"))];
    let features: Vec<&str> = features.iter().filter(|feature| feature.1).map(|feature| feature.0).collect();
    let features = if features.is_empty() { String::new() } else { format!(" --features {}", features.join(",")) };
    Machine {
        cpu,
        system: run("uname", &["-sr"]).unwrap_or_else(|| std::env::consts::OS.into()),
        target: env!("PEERS_TARGET").into(),
        rustc: env!("PEERS_RUSTC").into(),
        rustflags: env!("PEERS_RUSTFLAGS").into(),
        commit: run("git", &["rev-parse", "--short=12", "HEAD"]).unwrap_or_default()
            + if dirty { " and changes" } else { "" },
        date: run("date", &["-u", "+%Y-%m-%d"]).unwrap_or_default(),
        command: format!(
            "cargo run --release --manifest-path benches/peers/Cargo.toml{features} -- {}",
            arguments.join(" ")
        ),
        seconds,
        clock: (clock * 1000.0).round() / 1000.0,
    }
}

/// Writes the results and everything made from them.
pub fn write(name: &str, results: &Results) -> Result<(), Box<dyn Error>> {
    let folder = root().join("benches/record").join(name);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("results.json"), results.to_json())?;
    redraw()
}

/// Draws all pictures again and makes BENCHMARKS.md's tables again, from what is recorded.
pub fn redraw() -> Result<(), Box<dyn Error>> {
    let record = root().join("benches/record");
    let mut machines = Vec::new();
    for entry in fs::read_dir(&record)? {
        let folder = entry?.path();
        let Ok(json) = fs::read_to_string(folder.join("results.json")) else { continue };
        let results: Results = serde_json::from_str(&json)?;
        for picture in plots::all(&results)? {
            fs::write(folder.join(picture.file), picture.svg)?;
        }
        machines.push((folder.file_name().unwrap_or_default().to_string_lossy().into_owned(), results));
    }
    machines.sort_by(|a, b| a.0.cmp(&b.0));
    if let Ok(csv) = fs::read_to_string(record.join("mips.csv")) {
        fs::write(record.join("mips.svg"), plots::mips(&csv)?)?;
    }
    let page = root().join("BENCHMARKS.md");
    let text = fs::read_to_string(&page)?;
    let (by_hand, _) = text.split_once(MARKER).ok_or("BENCHMARKS.md has lost its marker")?;
    fs::write(page, format!("{by_hand}{MARKER}{}", markdown(&machines)?))?;
    Ok(())
}

pub fn markdown(machines: &[(String, Results)]) -> Result<String, Box<dyn Error>> {
    let mut page = String::from("\n## All machines\n\n");
    page += "Sealing in place with a warm key and no associated data, nanoseconds per packet, and in brackets how many times \
             as long the best rival takes.\n\n";
    let columns = [16, 64, 576, 1420, 16384];
    let titles: Vec<String> = columns.iter().map(|size| format!("{size} bytes")).collect();
    _ = writeln!(page, "| machine | CPU | backend | {} | date | commit |", titles.join(" | "));
    _ = writeln!(page, "|---|---|---|{}---|---|", "--:|".repeat(columns.len()));
    for (name, results) in machines {
        let cell = |size| {
            let measured = results.find(Case { size, ..plots::case(Direction::Seal) })?;
            Some(format!("{:.0} ({:.2})", results.our(measured)?, results.lead(measured)?))
        };
        let cells: Vec<String> = columns.iter().map(|&size| cell(size).unwrap_or_else(|| "–".into())).collect();
        let Machine { cpu, date, commit, .. } = &results.machine;
        let backend = backend(results);
        _ = writeln!(page, "| [{name}](#{name}) | {cpu} | {backend} | {} | {date} | {commit} |", cells.join(" | "));
    }
    for (name, results) in machines {
        page += &section(name, results)?;
    }
    Ok(page)
}

fn backend(results: &Results) -> &str {
    let ours = results.us().map(|us| results.contenders[us].version.as_str());
    ours.and_then(|version| version.split(' ').next_back()).unwrap_or("–")
}

fn section(name: &str, results: &Results) -> Result<String, Box<dyn Error>> {
    let Machine { cpu, system, target, rustc, rustflags, commit, date, command, seconds, clock } = &results.machine;
    let rustflags = if rustflags.is_empty() { "none".into() } else { format!("`{rustflags}`") };
    let libraries: Vec<String> =
        results.contenders.iter().map(|entry| format!("{} {}", entry.name, entry.version)).collect();
    let mut page = format!(
        "\n## {name}\n\n\
         | | |\n|---|---|\n\
         | CPU | {cpu}, {clock:.2} GHz while measuring |\n\
         | system | {system}, {target} |\n\
         | compiler | {rustc}; RUSTFLAGS: {rustflags}; release profile |\n\
         | commit, date | {commit}, {date} |\n\
         | measured | {seconds:.0} s |\n\
         | libraries | {} |\n",
        libraries.join(", ")
    );
    for (library, why) in &results.absent {
        _ = writeln!(page, "| not measured | {library}: {why} |");
    }
    _ = writeln!(page, "\nEverything below, the pictures too: `{command}`\n");

    page += "### Where we lose\n\n";
    page += &losses(results);

    for direction in [Direction::Seal, Direction::Open] {
        let case = plots::case(direction);
        _ = writeln!(page, "\n### {}\n\nLeast nanoseconds per packet. `{}`\n", title(case), reproduce(case));
        page += &libraries_by_size(results, case);
    }
    page += "\n### Other ways to call\n\nBest rival's time ÷ ours. Columns: another buffer, 13 bytes of associated data, \
             a key per packet, in that order as far as named.\n\n";
    page += &ways(results);
    page += "\n### Batches\n\nOur nanoseconds per packet, sealing in place with a warm key, and in brackets how many times as \
             long the best rival takes, which gets the packets one by one. ";
    _ = writeln!(
        page,
        "`{} --batch 1,2,4,8,16,32,64,128`\n",
        reproduce(plots::case(Direction::Seal)).replace(" --batch 1", "")
    );
    page += &batches(results);
    page += "\n### Sizes where a longer packet costs less\n\nBy more than 5 %, of every size up to 2048 bytes and every 61st up to \
             16384, in place with a warm key. `… -- sweep`\n\n";
    page += &sawtooth(results);

    page += "\n### Pictures\n";
    for picture in plots::all(results)? {
        _ = writeln!(page, "\n{}:\n\n![{}](benches/record/{name}/{})", picture.title, picture.title, picture.file);
    }
    Ok(page)
}

fn title(case: Case) -> String {
    let table = case.table();
    table[..1].to_uppercase() + &table[1..]
}

fn reproduce(Case { direction, placement, keys, aad, batch, .. }: Case) -> String {
    format!("… -- --direction {direction} --placement {placement} --keys {keys} --aad {aad} --batch {batch}")
}

fn losses(results: &Results) -> String {
    let losses = results.losses(0.03);
    if losses.is_empty() {
        return "Nowhere by more than 3 %, to no library in any case measured.\n".into();
    }
    let mut page = format!("In {} of all pairs of case and rival, by more than 3 %:\n\n", losses.len());
    page += "| rival | case | sizes (our time ÷ the rival's) |\n|---|---|---|\n";
    for (rival, table, sizes) in results.gather(&losses) {
        _ = writeln!(page, "| {rival} | {table} | {sizes} |");
    }
    page
}

fn libraries_by_size(results: &Results, case: Case) -> String {
    let names: Vec<&str> = results.contenders.iter().map(|entry| entry.name.as_str()).collect();
    let mut page = format!("| bytes | {} | best rival ÷ us |\n", names.join(" | "));
    _ = writeln!(page, "|--:|{}--:|", "--:|".repeat(names.len()));
    for Measured { case, ns } in results.table(case) {
        let cells: Vec<String> =
            ns.iter().map(|figure| figure.map_or("–".into(), |figure| format!("{:.0}", figure.min))).collect();
        _ = writeln!(page, "| {} | {} | {} |", case.size, cells.join(" | "), lead(results, *case));
    }
    page
}

fn lead(results: &Results, case: Case) -> String {
    results.find(case).and_then(|measured| results.lead(measured)).map_or("–".into(), |lead| format!("{lead:.2}"))
}

fn ways(results: &Results) -> String {
    let seal = plots::case(Direction::Seal);
    let apart = Case { placement: Placement::Apart, ..seal };
    let ways = [
        ("seal apart", apart),
        ("open apart", Case { direction: Direction::Open, ..apart }),
        ("seal AAD", Case { aad: 13, ..seal }),
        ("open AAD", Case { aad: 13, direction: Direction::Open, ..seal }),
        ("seal key", Case { keys: Keys::Fresh, ..seal }),
        ("open key", Case { keys: Keys::Fresh, direction: Direction::Open, ..seal }),
        ("seal apart, AAD, key", Case { keys: Keys::Fresh, aad: 13, ..apart }),
        ("open apart, AAD, key", Case { keys: Keys::Fresh, aad: 13, direction: Direction::Open, ..apart }),
    ];
    let titles: Vec<&str> = ways.iter().map(|way| way.0).collect();
    let mut page = format!("| bytes | {} |\n|--:|{}\n", titles.join(" | "), "--:|".repeat(ways.len()));
    for size in SIZES {
        let cells: Vec<String> = ways.iter().map(|way| lead(results, Case { size, ..way.1 })).collect();
        _ = writeln!(page, "| {size} | {} |", cells.join(" | "));
    }
    page
}

fn batches(results: &Results) -> String {
    let batches = crate::cases::BATCHES;
    let titles: Vec<String> = batches.iter().map(usize::to_string).collect();
    let mut page = format!("| bytes | {} |\n|--:|{}\n", titles.join(" | "), "--:|".repeat(batches.len()));
    for size in SIZES {
        let cell = |&batch: &usize| {
            let measured = results.find(Case { batch, size, ..plots::case(Direction::Seal) })?;
            Some(format!("{:.0} ({:.2})", results.our(measured)?, results.lead(measured)?))
        };
        let cells: Vec<String> = batches.iter().map(|batch| cell(batch).unwrap_or_else(|| "–".into())).collect();
        _ = writeln!(page, "| {size} | {} |", cells.join(" | "));
    }
    page
}

fn sawtooth(results: &Results) -> String {
    let mut page = String::new();
    for sweep in results.sweeps.iter().filter(|sweep| sweep.name == "wireseal") {
        let teeth = teeth(sweep, 0.05);
        if teeth.is_empty() {
            _ = writeln!(page, "- {}: nowhere", sweep.direction);
        }
        for tooth in teeth {
            let (first, last) = tooth.sizes;
            let (longer, ns) = tooth.longer;
            let less = 100.0 * (1.0 - ns / tooth.worst);
            _ = writeln!(
                page,
                "- {}: {first}–{last} bytes cost up to {:.0} ns, {longer} bytes {ns:.0} ns ({less:.0} % less)",
                sweep.direction, tooth.worst
            );
        }
    }
    page
}
