//! The text format of `vectors/` (its README has the grammar), parsed without touching a file
//! system, so that the same tests run under emulation.

use core::fmt::{self, Display};
use core::str::FromStr;
use std::collections::HashMap;
use std::rc::Rc;

/// Bytes that `define` lines of a file name.
type Names = Rc<HashMap<&'static str, Vec<u8>>>;

pub struct Record {
    fields: Vec<(&'static str, &'static str)>,
    names: Names,
}

/// So that a failing assertion can say which record it was.
impl Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text("id"))
    }
}

impl Record {
    pub fn get(&self, name: &str) -> Option<&'static str> {
        self.all(name).next()
    }

    /// The values of a field that may repeat.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'static str> {
        self.fields.iter().filter(move |field| field.0 == name).map(|field| field.1)
    }

    pub fn text(&self, name: &str) -> &'static str {
        self.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.fields[1]))
    }

    pub fn number<T: FromStr>(&self, name: &str) -> T {
        let text = self.text(name);
        text.parse().unwrap_or_else(|_| panic!("{name} of {self}: {text}"))
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        self.value(self.text(name))
    }

    pub fn array<const N: usize>(&self, name: &str) -> [u8; N] {
        self.bytes(name).try_into().unwrap_or_else(|_| panic!("length of {name} of {self}"))
    }

    /// Bytes that are part of a longer field.
    pub fn value(&self, text: &str) -> Vec<u8> {
        value(text, &self.names)
    }

    /// The sizes of the calls; without the field one call for all `len` bytes.
    pub fn chunks(&self, len: usize) -> Vec<usize> {
        let Some(text) = self.get("chunks") else { return vec![len] };
        let sizes = text.split(' ').flat_map(|item| {
            let (size, times) = item.split_once('*').unwrap_or((item, "1"));
            vec![size.parse().unwrap(); times.parse().unwrap()]
        });
        let sizes: Vec<usize> = sizes.collect();
        assert_eq!(sizes.iter().sum::<usize>(), len, "chunks of {self}");
        sizes
    }
}

fn hex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "{text}");
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect(text)).collect()
}

fn value(text: &str, names: &HashMap<&str, Vec<u8>>) -> Vec<u8> {
    let piece = |piece: &str| {
        if let Some(rule) = piece.strip_prefix("repeat:") {
            let (unit, times) = rule.split_once('*').unwrap();
            return hex(unit).repeat(times.parse().unwrap());
        }
        let Some((name, range)) = piece.split_once('[') else { return hex(piece) };
        let (from, to) = range.strip_suffix(']').unwrap().split_once("..").unwrap();
        names[name][from.parse().unwrap()..to.parse().unwrap()].to_vec()
    };
    text.split('+').map(str::trim).flat_map(piece).collect()
}

/// The records of one file.
pub fn parse(text: &'static str) -> Vec<Record> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut names = HashMap::new();
    let mut records: Vec<Vec<_>> = vec![vec![]];
    for line in lines {
        let Some((name, text)) = line.split_once(" =") else {
            assert!(line.is_empty(), "{line}");
            records.push(vec![]);
            continue;
        };
        let text = text.trim_start();
        if let Some(name) = name.strip_prefix("define ") {
            let bytes = value(text, &names);
            assert!(names.insert(name, bytes).is_none(), "{name} twice");
        } else {
            records.last_mut().unwrap().push((name, text));
        }
    }
    let names = Rc::new(names);
    let records = records.into_iter().filter(|fields| !fields.is_empty());
    records.map(|fields| Record { fields, names: Rc::clone(&names) }).collect()
}
