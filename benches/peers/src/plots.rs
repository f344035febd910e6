//! The pictures of BENCHMARKS.md, as SVG.

use crate::cases::{BATCHES, Case, Direction, Keys, Placement};
use crate::results::{Measured, Results};
use crate::rivals::is_ours;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;

type Drawn<T = ()> = Result<T, Box<dyn Error>>;
type Points = Vec<(f64, f64)>;

pub struct Picture {
    pub file: &'static str,
    pub title: &'static str,
    pub svg: String,
}

/// Sizes that a tunnel sees: a keepalive's neighbour, the least IPv6 MTU, WireGuard's usual and largest packets.
const MARKED: [(f64, &str); 3] = [(1280.0, "1280"), (1420.0, "1420"), (1500.0, "1500")];

/// Zero has no logarithm: an empty packet is drawn here.
const NOTHING: f64 = 8.0;

pub fn case(direction: Direction) -> Case {
    Case { direction, placement: Placement::InPlace, keys: Keys::Warm, aad: 0, batch: 1, size: 0 }
}

pub fn all(results: &Results) -> Drawn<Vec<Picture>> {
    let seal = results.table(case(Direction::Seal));
    let open = results.table(case(Direction::Open));
    Ok(vec![
        Picture {
            file: "latency.svg",
            title: "Nanoseconds per packet, sealing in place",
            svg: latency(results, &seal)?,
        },
        Picture {
            file: "throughput.svg",
            title: "Gigabytes per second, sealing in place",
            svg: throughput(results, &seal)?,
        },
        Picture {
            file: "lead.svg",
            title: "Best rival's time ÷ ours",
            svg: lead(results, &[("seal", &seal), ("open", &open)])?,
        },
        Picture {
            file: "batch.svg",
            title: "Nanoseconds per packet in a batch, sealing in place",
            svg: batch(results)?,
        },
        Picture { file: "sawtooth.svg", title: "Nanoseconds per packet at every size", svg: sawtooth(results)? },
        Picture {
            file: "backends.svg",
            title: "Cycles per byte of each backend, sealing in place",
            svg: backends(results, &seal)?,
        },
    ])
}

const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// We are black and thick; the others keep their colour in every picture.
fn style(name: &str, results: &Results) -> ShapeStyle {
    if name == "wireseal" {
        return INK.stroke_width(3);
    }
    const COLOURS: [(u8, u8, u8); 12] = [
        (31, 119, 180),
        (255, 127, 14),
        (44, 160, 44),
        (214, 39, 40),
        (148, 103, 189),
        (140, 86, 75),
        (227, 119, 194),
        (188, 189, 34),
        (23, 190, 207),
        (0, 90, 110),
        (120, 120, 120),
        (170, 60, 120),
    ];
    let rivals = results.contenders.iter().filter(|entry| entry.name != "wireseal");
    let at = rivals.map(|entry| &entry.name).position(|other| other == name).unwrap_or(0);
    let (r, g, b) = COLOURS[at % COLOURS.len()];
    RGBColor(r, g, b).stroke_width(1)
}

struct Axes<'a> {
    x: &'a str,
    y: &'a str,
    logarithmic: (bool, bool),
    marked: &'a [(f64, &'a str)],
}

struct Line {
    name: String,
    style: ShapeStyle,
    points: Points,
}

/// One chart of lines, with the axes as wide as the lines need.
fn chart(axes: &Axes<'_>, lines: &[Line]) -> Drawn<String> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let range = |values: &dyn Fn(&(f64, f64)) -> f64, logarithmic: bool| {
        let (low, high) =
            points().map(values).fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
        let low = if low.is_finite() { low } else { 0.1 };
        if logarithmic { low * 0.85..high.max(low) * 1.15 } else { 0.0..high.max(low) * 1.08 }
    };
    let x = range(&|point| point.0, axes.logarithmic.0);
    let y = range(&|point| point.1, axes.logarithmic.1);
    match axes.logarithmic {
        (true, true) => draw(axes, lines, x.clone().log_scale(), y.clone().log_scale(), y),
        (true, false) => draw(axes, lines, x.clone().log_scale(), y.clone(), y),
        (false, true) => draw(axes, lines, x.clone(), y.clone().log_scale(), y),
        (false, false) => draw(axes, lines, x.clone(), y.clone(), y),
    }
}

fn draw<X, Y>(axes: &Axes<'_>, lines: &[Line], xs: X, ys: Y, y: Range<f64>) -> Drawn<String>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, 520)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .margin_right(24)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(xs, ys)?;
        chart
            .configure_mesh()
            .x_desc(axes.x)
            .y_desc(axes.y)
            .axis_desc_style(("sans-serif", 15).into_font().color(&INK))
            .label_style(("sans-serif", 13).into_font().color(&INK))
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .x_label_formatter(&|value| number(*value))
            .y_label_formatter(&|value| number(*value))
            .draw()?;
        for (x, label) in axes.marked {
            let line = [(*x, y.start), (*x, y.end)];
            chart.draw_series(DashedLineSeries::new(line, 2, 4, INK.mix(0.4).stroke_width(1)))?;
            let text = ("sans-serif", 11).into_font().color(&INK.mix(0.7)).transform(FontTransform::Rotate270);
            chart.draw_series([EmptyElement::at((*x, y.start)) + Text::new((*label).to_owned(), (-12, -4), text)])?;
        }
        for line in lines {
            let style = line.style;
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(GRID)
            .label_font(("sans-serif", 13).into_font().color(&INK))
            .draw()?;
        root.present()?;
    }
    Ok(svg)
}

fn number(value: f64) -> String {
    match value {
        v if (v - v.round()).abs() < 1e-9 => format!("{v:.0}"),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// One line per library, of a figure made from size and nanoseconds.
fn by_size(results: &Results, rows: &[&Measured], value: impl Fn(f64, f64) -> f64, least: usize) -> Vec<Line> {
    let lines = results.contenders.iter().enumerate().filter(|(_, entry)| !entry.name.starts_with("wireseal/"));
    let lines = lines.map(|(i, entry)| Line {
        name: entry.name.clone(),
        style: style(&entry.name, results),
        points: rows
            .iter()
            .filter(|row| row.case.size >= least)
            .filter_map(|row| {
                let size = row.case.size as f64;
                Some((size.max(NOTHING), value(size, row.ns[i]?.min)))
            })
            .collect(),
    });
    ours_last(lines.filter(|line| !line.points.is_empty()).collect())
}

/// On top of the others.
fn ours_last(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by_key(|line| line.name == "wireseal");
    lines
}

fn latency(results: &Results, rows: &[&Measured]) -> Drawn<String> {
    let axes = Axes { x: "bytes (0 drawn at 8)", y: "ns per packet", logarithmic: (true, true), marked: &MARKED };
    chart(&axes, &by_size(results, rows, |_, ns| ns, 0))
}

fn throughput(results: &Results, rows: &[&Measured]) -> Drawn<String> {
    let axes = Axes { x: "bytes", y: "GB/s", logarithmic: (true, false), marked: &MARKED };
    chart(&axes, &by_size(results, rows, |size, ns| size / ns, 16))
}

fn lead(results: &Results, tables: &[(&str, &[&Measured])]) -> Drawn<String> {
    let mut lines: Vec<Line> = tables
        .iter()
        .zip([INK.stroke_width(3), RGBColor(31, 119, 180).stroke_width(2)])
        .map(|((name, rows), style)| Line {
            name: (*name).into(),
            style,
            points: rows
                .iter()
                .filter_map(|row| Some(((row.case.size as f64).max(NOTHING), results.lead(row)?)))
                .collect(),
        })
        .collect();
    let ends = (NOTHING, 65536.0);
    lines.push(Line {
        name: "the best rival".into(),
        style: RGBColor(214, 39, 40).stroke_width(1),
        points: vec![(ends.0, 1.0), (ends.1, 1.0)],
    });
    let axes =
        Axes { x: "bytes (0 drawn at 8)", y: "best rival's time ÷ ours", logarithmic: (true, false), marked: &MARKED };
    chart(&axes, &lines)
}

fn batch(results: &Results) -> Drawn<String> {
    const SIZES: [(usize, (u8, u8, u8)); 3] = [(64, (31, 119, 180)), (576, (44, 160, 44)), (1420, (214, 39, 40))];
    let mut lines = Vec::new();
    for (size, (r, g, b)) in SIZES {
        let of = |figure: &dyn Fn(&Measured) -> Option<f64>| -> Points {
            let rows = BATCHES.iter().filter_map(|&batch| {
                let measured = results.find(Case { batch, size, ..case(Direction::Seal) })?;
                Some((batch as f64, figure(measured)?))
            });
            rows.collect()
        };
        let colour = RGBColor(r, g, b);
        let ours = of(&|measured| results.our(measured));
        let theirs = of(&|measured| Some(results.best_rival(measured)?.1));
        lines.push(Line { name: format!("wireseal, {size} bytes"), style: colour.stroke_width(3), points: ours });
        lines.push(Line {
            name: format!("best rival, {size} bytes"),
            style: colour.mix(0.6).stroke_width(1),
            points: theirs,
        });
    }
    chart(&Axes { x: "packets per batch", y: "ns per packet", logarithmic: (true, true), marked: &[] }, &lines)
}

/// Up to 2048 bytes: us, and the three that are fastest at 1420.
fn sawtooth(results: &Results) -> Drawn<String> {
    let mut sweeps: Vec<_> = results.sweeps.iter().filter(|sweep| sweep.direction == Direction::Seal).collect();
    sweeps.retain(|sweep| sweep.name == "wireseal" || !is_ours(&sweep.name));
    let near = |sweep: &&crate::results::Sweep| {
        let at = sweep.sizes.iter().position(|&size| size >= 1420).unwrap_or(0);
        if sweep.name == "wireseal" { 0.0 } else { sweep.ns[at] }
    };
    sweeps.sort_by(|a, b| near(a).total_cmp(&near(b)));
    let lines = sweeps.iter().take(4).map(|sweep| Line {
        name: sweep.name.clone(),
        style: if sweep.name == "wireseal" { INK.stroke_width(2) } else { style(&sweep.name, results) },
        points: sweep
            .sizes
            .iter()
            .zip(&sweep.ns)
            .filter(|(size, _)| **size <= 2048)
            .map(|(&size, &ns)| (size as f64, ns))
            .collect(),
    });
    let axes = Axes { x: "bytes", y: "ns per packet", logarithmic: (false, false), marked: &MARKED };
    chart(&axes, &ours_last(lines.collect()))
}

fn backends(results: &Results, rows: &[&Measured]) -> Drawn<String> {
    let ours = results.contenders.iter().enumerate().filter(|(_, entry)| is_ours(&entry.name));
    let lines = ours.map(|(i, entry)| Line {
        // "0.1.0 avx2"
        name: entry.version.split(' ').next_back().unwrap_or_default().to_owned(),
        style: ShapeStyle { stroke_width: 2, ..style(&entry.name, results) },
        points: rows
            .iter()
            .filter(|row| row.case.size >= 64)
            .filter_map(|row| {
                let size = row.case.size as f64;
                Some((size, row.ns[i]?.min * results.machine.clock / size))
            })
            .collect(),
    });
    let axes = Axes { x: "bytes", y: "cycles per byte", logarithmic: (true, true), marked: &MARKED };
    chart(&axes, &lines.collect::<Vec<_>>())
}

/// `record/mips.csv`: model cycles of the MIPS kernels beside published ones, as bars.
pub fn mips(csv: &str) -> Drawn<String> {
    // what,by,cycles
    let mut rows: Vec<(&str, &str, f64)> = Vec::new();
    for line in csv.lines().skip(1).filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [what, by, cycles] = fields[..] else { return Err(format!("mips.csv: {line}").into()) };
        rows.push((what, by, cycles.parse()?));
    }
    // Bars are relative to the slowest of their group: cycles per block and per packet share one picture.
    let most = |what: &str| rows.iter().filter(|row| row.0 == what).map(|row| row.2).fold(0.0, f64::max);
    const ROW: i32 = 26;
    let groups = rows.windows(2).filter(|pair| pair[0].0 != pair[1].0).count() as i32 + 1;
    let height = ROW * (rows.len() as i32 + 2 * groups) + 12;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, height as u32)).into_drawing_area();
        root.fill(&WHITE)?;
        let text = |size: u32| ("sans-serif", size).into_font().color(&INK);
        let (mut y, mut group) = (8, "");
        for &(what, by, cycles) in &rows {
            if what != group {
                y += if group.is_empty() { 0 } else { ROW / 2 };
                root.draw(&Text::new(what, (12, y), text(15)))?;
                (group, y) = (what, y + ROW);
            }
            let width = (560.0 * cycles / most(what)) as i32;
            let colour = if by == "wireseal" { INK } else { RGBColor(150, 180, 205) };
            root.draw(&Text::new(by, (24, y + 4), text(13)))?;
            root.draw(&Rectangle::new([(300, y), (300 + width, y + ROW - 6)], colour.filled()))?;
            root.draw(&Text::new(number(cycles), (308 + width, y + 4), text(13)))?;
            y += ROW;
        }
        root.present()?;
    }
    Ok(svg)
}
