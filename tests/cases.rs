//! Cases in words: files, commands and what must come of them, in `tests/cases`. Each file is one test.
//!
//! ```text
//! == a listed id that stands nowhere is an error      a case, in a folder of its own
//! write ids.txt                                       a file, whose lines are indented by four; `write a.txt: text` has no line end
//!     a
//! documents pages.jsonl 0..40                         generated pages
//! records a.warc                                      a web archive; a line is of a record: its type, address and text
//!     conversion http://a/ some words
//! segment one                                         one.seg of ready fingerprints
//!     a   0x1
//! days days.toml                                      a configuration of days in `crawl`, `out` and `store`; `days a.toml made`
//!     [dedup]                                         has its own output and its own store
//! $ filter --input pages.jsonl --ids ids.txt ...      a command, which must succeed; `< FILE` is its standard input
//!   counts copied 2, read 5                           what its summary counts
//!   already                                           all was done before
//!   says "z"                                          a part of what it says; `hides` of a part that it does not say
//!   prints                                            all that it prints; `prints FILE` of what is in a file
//!     a   yes
//! $65 filter ...                                      a command that must end with this code
//!   reported kept                                     it leaves a report of its failure, and no output
//! is kept.jsonl                                       the text of a file, whole; `is a.txt: text`
//!     a
//! has report.html: of the text                        a part of it; `lacks` of one that it has not
//! no out, kept                                        what is not there
//! names kept: a.jsonl b                               the names in a folder
//! same one.seg two.seg                                files or folders with the same bytes
//! note store                                          `noted store` then says that its files have not changed
//! copy one two                                        a file; `remove one` takes a file or a folder away
//! museum 1/store store                                a file or a folder of tests/data
//! ```
//!
//! `«0..60»` stands for the words of these numbers, `→` for a tab, and `⏎` for nothing, so that a line can be empty.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use crate::faults::{assert_failed, assert_reported};
use crate::support::{Bench, Ended, Running};
use crate::world::{record, words};

macro_rules! cases {
    ($($name:ident)*) => {
        const FILES: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            hold(stringify!($name));
        })*
    };
}

cases!(command_line corpus days failures filter inputs judging loss lsh museum outputs passages presets seen store weights);

#[test]
fn every_file_of_cases_is_a_test() {
    let folder = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> =
        folder.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(names, FILES);
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"))
}

/// A line of a case, and the indented lines below it.
struct Step {
    place: String,
    line: String,
    block: Option<String>,
}

/// Holds all cases of a file. What stands before the first one is done at the beginning of each.
fn hold(name: &str) {
    let steps = steps(name);
    let mut cases = steps.split(|step| step.line.starts_with("== "));
    let before = cases.next().unwrap();
    for steps in cases {
        let mut case = Case::default();
        before.iter().chain(steps).for_each(|step| case.take(step));
    }
}

fn steps(name: &str) -> Vec<Step> {
    let text = fs::read_to_string(folder().join(name).with_extension("txt")).unwrap();
    let mut lines = text.lines().enumerate().peekable();
    let mut steps = Vec::new();
    while let Some((at, line)) = lines.next() {
        let mut block = None;
        while let Some((_, below)) = lines.next_if(|it| it.1.starts_with("    ")) {
            let text = block.get_or_insert_with(String::new);
            *text += &filled(&below[4..]);
            text.push('\n');
        }
        if !line.is_empty() && !line.starts_with('#') {
            let place = format!("tests/cases/{name}.txt:{}: {line}", at + 1);
            steps.push(Step { place, line: filled(line), block });
        }
    }
    steps
}

fn filled(line: &str) -> String {
    let mut filled = String::new();
    let line = line.trim_end_matches('⏎').replace('→', "\t");
    let mut rest = &*line;
    while let Some((before, (range, after))) =
        rest.split_once('«').and_then(|(before, it)| Some((before, it.split_once('»')?)))
    {
        filled += before;
        filled += &words(numbers(range));
        rest = after;
    }
    filled + rest
}

fn numbers(range: &str) -> std::ops::Range<usize> {
    let (from, to) = range.split_once("..").unwrap();
    from.parse().unwrap()..to.parse().unwrap()
}

struct Case {
    bench: Bench,
    last: Option<Ended>,
    noted: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
}

impl Default for Case {
    fn default() -> Case {
        Case { bench: Bench::new(), last: None, noted: BTreeMap::new() }
    }
}

impl Case {
    fn take(&mut self, step: &Step) {
        let Step { place, line, block } = step;
        let (verb, rest) = line.trim_start().split_once(' ').unwrap_or((line.trim_start(), ""));
        if line.starts_with("  ") {
            let ended = self.last.as_ref().expect("a command comes before");
            match verb {
                "reported" => assert_reported(&self.bench, ended.code, rest),
                "prints" if !rest.is_empty() => {
                    assert_eq!(ended.stdout, self.bench.read(rest), "{place}");
                }
                _ => expect(place, ended, (verb, rest), block.as_deref()),
            }
            return;
        }
        let bench = &self.bench;
        let (name, part) = rest.split_once(": ").unwrap_or((rest.trim_end_matches(':'), ""));
        let whole = || block.clone().unwrap_or_else(|| part.to_owned());
        match verb {
            "write" => bench.write(name, whole()),
            "documents" => {
                let (name, range) = rest.split_once(' ').unwrap();
                let range = numbers(range);
                bench.write(name, bench.documents(range.start, range.end));
            }
            "records" => {
                let lines = block.iter().flat_map(|it| it.lines());
                let parts = lines.map(|it| it.splitn(3, ' ').collect::<Vec<_>>());
                let records = parts.map(|it| record(it[0], it[1], it.get(2).unwrap_or(&"")));
                bench.write(rest, records.collect::<String>());
            }
            "days" => {
                let (file, output) = rest.split_once(' ').unwrap_or((rest, "out"));
                let store = if output == "out" { "store" } else { &format!("{output}-store") };
                let places = format!(
                    "inputs = [\"crawl/{{date}}.jsonl\"]\noutput = \"{output}/{{date}}\"\nstore = \"{store}\"\n"
                );
                bench.write(file, places + block.as_deref().unwrap_or_default());
            }
            "segment" => {
                bench.write(&format!("{rest}.tsv"), whole());
                let line = "fingerprint --format fingerprints --input";
                bench.done(&format!("{line} {rest}.tsv --output {rest}.seg"));
            }
            "is" => assert_eq!(bench.read(name), whole(), "{place}"),
            "has" => assert!(bench.read(name).contains(part), "{place}: {}", bench.read(name)),
            "lacks" => assert!(!bench.read(name).contains(part), "{place}: {}", bench.read(name)),
            "no" => {
                let there = rest.split(", ").filter(|it| bench.path(it).exists());
                assert_eq!(there.collect::<Vec<_>>(), [""; 0], "{place}");
            }
            "names" => {
                let names: Vec<&str> = part.split_whitespace().collect();
                assert_eq!(bench.names(name), names, "{place}");
            }
            "same" => {
                let (one, other) = rest.split_once(' ').unwrap();
                assert!(self.files(one) == self.files(other), "{place}");
            }
            "museum" => {
                let (from, to) = rest.split_once(' ').unwrap();
                bench.take_from_museum(from, to);
            }
            "note" => _ = self.noted.insert(rest.to_owned(), self.files(rest)),
            "noted" => assert!(self.noted[rest] == self.files(rest), "{place}"),
            "copy" => {
                let (from, to) = rest.split_once(' ').unwrap();
                bench.write(to, bench.bytes(from));
            }
            "remove" if bench.path(rest).is_dir() => fs::remove_dir_all(bench.path(rest)).unwrap(),
            "remove" => fs::remove_file(bench.path(rest)).unwrap(),
            _ => {
                let code = verb.strip_prefix('$').unwrap_or_else(|| panic!("{place}: {verb}?"));
                self.last = Some(self.run(place, if code.is_empty() { "0" } else { code }, rest));
            }
        }
    }

    fn run(&self, place: &str, code: &str, line: &str) -> Ended {
        let (line, input) = line.split_once(" < ").unwrap_or((line, ""));
        let stdin = match input {
            "" => Stdio::null(),
            name => File::open(self.bench.path(name)).unwrap().into(),
        };
        let mut words = line.split(' ').peekable();
        let mut set = Vec::new();
        while let Some(word) = words.next_if(|it| it.starts_with("DUPSIEVE_")) {
            set.push(word.split_once('=').unwrap());
        }
        let mut command = self.bench.command(&words.collect::<Vec<_>>().join(" "));
        command.envs(set);
        let ended = Running::fed(command, stdin).end();
        assert_eq!(ended.code.to_string(), code, "{place}\n{}", ended.stderr);
        if ended.code != 0 && ended.stdout.lines().count() == 1 {
            assert_failed(&ended, ended.code);
        }
        ended
    }

    /// The bytes of a file, or of all files of a folder. What a job that failed says of itself is left out.
    fn files(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        if self.bench.path(name).is_file() {
            return BTreeMap::from([(String::new(), self.bench.bytes(name))]);
        }
        let mut files = self.bench.files(name);
        files.retain(|name, _| !name.ends_with(".failed.json"));
        files
    }
}

fn expect(place: &str, ended: &Ended, (verb, rest): (&str, &str), block: Option<&str>) {
    let said = || match ended.stdout.trim_end().rsplit_once('\n') {
        _ if !ended.stdout.contains("\"retryable\"") => ended.stdout.clone() + &ended.stderr,
        printed => format!("{}\n{}", printed.map_or("", |it| it.0), ended.said()),
    };
    match verb {
        "says" => assert!(said().contains(rest), "{place}: {}", said()),
        "hides" => assert!(!said().contains(rest), "{place}: {}", said()),
        "already" => assert_eq!(ended.summary()["already_done"], true, "{place}"),
        "prints" => assert_eq!(ended.stdout, block.unwrap_or_default(), "{place}"),
        "counts" => {
            for count in rest.split(", ") {
                let (name, count) = count.rsplit_once(' ').unwrap();
                assert_eq!(ended.count(name).to_string(), count, "{place}: {name}");
            }
        }
        _ => panic!("{place}: {verb}?"),
    }
}
