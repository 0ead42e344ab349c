//! The world of the tests: pages, packed files and archives, segments, stores, and configurations of days.

use std::io::Write;
use std::ops::Range;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::oracle::Page;
use crate::support::{Bench, Ended};

impl Bench {
    /// The generated documents `from..to` as JSON lines, Chinese and English, some of them near-duplicates. They are made once for all tests.
    pub(crate) fn documents(&self, from: usize, to: usize) -> String {
        static MADE: LazyLock<String> = LazyLock::new(|| {
            let bench = Bench::new();
            bench.answer("generate documents --count 3000 --near-share 0.4 --output -")
        });
        MADE.split_inclusive('\n').take(to).skip(from).collect()
    }

    /// Copies a file or a folder, from here or from an absolute path.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        if !self.path(from).is_dir() {
            return self.write(to, self.bytes(from));
        }
        for name in self.names(from) {
            self.copy(&format!("{from}/{name}"), &format!("{to}/{name}"));
        }
    }

    /// Makes NAME.seg from NAME.jsonl.
    pub(crate) fn fingerprint(&self, name: &str, flags: &str) -> Ended {
        self.done(&format!("fingerprint --input {name}.jsonl --output {name}.seg {flags}"))
    }

    /// Makes a store of these days, each from the segment of this name.
    pub(crate) fn store(&self, days: &[(&str, &str)]) {
        self.done("store init store");
        for (day, name) in days {
            self.done(&format!("store add store --segment {name}.seg --day {day}"));
        }
    }

    /// Writes a configuration of days whose pages are in `crawl`, with `more` at its end.
    pub(crate) fn configure(&self, name: &str, more: &str) {
        let days = "inputs = [\"crawl/{date}.jsonl\"]\noutput = \"out/{date}\"\n";
        let store = if more.contains("[store]") { "" } else { "store = \"store\"\n" };
        self.write(name, format!("{days}{store}{more}"));
    }

    /// Writes the pages of some days, and `days.toml` for them, with `more` at its end.
    pub(crate) fn crawl<const N: usize>(&self, days: [(&str, String); N], more: &str) {
        let names: Vec<&str> = days.iter().map(|(day, _)| *day).collect();
        for (day, pages) in &days {
            self.write(&format!("crawl/{day}.jsonl"), pages);
        }
        self.configure("days.toml", &format!("dates = {names:?}\n{more}"));
    }

    /// Writes the first days of November, each with so many generated pages of which `step` are new, and `days.toml` for them.
    pub(crate) fn november(&self, days: usize, step: usize, pages: usize, more: &str) {
        for day in 0..days {
            let name = format!("crawl/2026-11-{:02}.jsonl", day + 1);
            self.write(&name, self.documents(step * day, step * day + pages));
        }
        let dates = format!("dates = [\"2026-11-01..2026-11-{days:02}\"]\n");
        self.configure("days.toml", &format!("{dates}{more}"));
    }

    /// Makes the segment NAME.seg from given fingerprints.
    pub(crate) fn segment(&self, name: &str, width: u32, pages: &[Page]) {
        let lines: String = pages.iter().map(|(id, bits)| format!("{id}\t{bits:#x}\n")).collect();
        self.write(&format!("{name}.tsv"), lines);
        self.done(&format!(
            "fingerprint --format fingerprints --width {width} --input {name}.tsv --output {name}.seg"
        ));
    }

    /// The ids and the fingerprints of a segment.
    pub(crate) fn dump(&self, segment: &str) -> Vec<Page> {
        let dump = self.answer(&format!("inspect {segment} --dump"));
        let page = |row: &str| {
            let (id, bits) = row.split_once("\t0x").unwrap();
            (id.to_owned(), u128::from_str_radix(bits, 16).unwrap())
        };
        dump.lines().map(page).collect()
    }
}

pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn page(id: &str, text: &str) -> String {
    json!({ "id": id, "text": text }).to_string() + "\n"
}

/// Words that no other number has, in a row. Fingerprints see no figures, so they are of letters.
pub(crate) fn words(numbers: Range<usize>) -> String {
    let letter = |digit: u8| char::from(digit - b'0' + b'a');
    let word = |number: usize| (number * 7919).to_string().bytes().map(letter).collect::<String>();
    numbers.map(word).collect::<Vec<_>>().join(" ")
}

/// So many words of a text; the first `others` of them are those of `own`.
pub(crate) fn mixed(own: u32, text: u32, others: u32, count: u32) -> String {
    let word = |at: u32| {
        let of = if at < others { own } else { text };
        let number = (of * 1000 + at).wrapping_mul(2_654_435_761);
        (0..4).map(|it| char::from(b'a' + (number >> (6 * it)) as u8 % 26)).collect::<String>()
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// Random numbers below a bound, the same ones for a seed.
pub(crate) fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    }
}

/// Pages around common centres, at distances on both sides of k, with copies and extremes.
pub(crate) fn skewed(name: &str, seed: u64, width: u32, k: u32, count: usize) -> Vec<Page> {
    let mut centres = ChaCha8Rng::seed_from_u64(width.into());
    let mask = u128::MAX >> (128 - width);
    let centres: Vec<u128> =
        [0, mask].into_iter().chain((0..4).map(|_| centres.random::<u128>() & mask)).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let page = |i| {
        let mut bits = *centres.choose(&mut random).unwrap();
        for _ in 0..random.random_range(0..=k + 1) {
            bits ^= 1 << random.random_range(0..width);
        }
        (format!("{name}{i}"), bits)
    };
    (0..count).map(page).collect()
}

pub(crate) fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes.as_ref()).unwrap();
    packer.finish().unwrap()
}

pub(crate) fn record(kind: &str, url: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n\
         WARC-Date: 2026-11-20T00:00:00Z\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n\
         {block}\r\n\r\n",
        block.len()
    )
}

pub(crate) fn museum(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn sample_file(name: &str) -> String {
    format!("{}/bench-data/sample/{name}", env!("CARGO_MANIFEST_DIR"))
}
