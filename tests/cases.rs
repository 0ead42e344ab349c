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
//! note store                                          `noted store` then says that its files have not changed, and `untouched store`
//!                                                     that they were not even written
//! copy one two                                        a file or a folder; `remove one` takes one away
//! link one two                                        a symbolic link to one, and `twin one two` a hard one
//! flip one.seg 7                                      turns a bit of a byte over, from the end if negative; once more turns it back
//! forge out verdicts.tsv                              a row of a table becomes another one, and the report is sealed anew
//!     a   drop
//!     a   keep
//! needs segmenter                                     the case is for builds with this feature; `needs no segmenter`, for those without
//! museum 1/store store                                a file or a folder of tests/data
//! sample crawl                                        the pages of the bundled sample, in a folder
//! ```
//!
//! `«0..60»` stands for the words of these numbers, `→` for a tab, and `⏎` for nothing, so that a line can be empty. A line of a file that begins
//! with `×0..9` is written for each of these numbers, with the number for `№`. A command is run with each of the parts in `(one|other)`, and what is
//! said of it holds for all. Where a file is taken away or a bit is turned over, its name may be a pattern.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use crate::faults::{assert_failed, assert_reported};
use crate::forgery::forge;
use crate::support::{Bench, Ended, Running};
use crate::world::{self, record, words};

macro_rules! cases {
    ($($name:ident)*) => {
        const FILES: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            hold(stringify!($name));
        })*
    };
}

cases!(clusters command_line corpus days failures filter inputs judging loss lsh museum outputs parquet passages pipes presets purged seen store weights);

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
        let steps = before.iter().chain(steps).take_while(|step| is_for_this_build(&step.line));
        steps.for_each(|step| case.take(step));
    }
}

/// Whether a case goes on after this line.
fn is_for_this_build(line: &str) -> bool {
    match line {
        "needs segmenter" => cfg!(feature = "segmenter"),
        "needs no segmenter" => cfg!(not(feature = "segmenter")),
        "needs parquet" => cfg!(feature = "parquet"),
        "needs no object-store" => cfg!(not(feature = "object-store")),
        _ => true,
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
            for line in repeated(&below[4..]) {
                *text += &filled(&line);
                text.push('\n');
            }
        }
        if !line.is_empty() && !line.starts_with('#') {
            let place = format!("tests/cases/{name}.txt:{}: {line}", at + 1);
            steps.push(Step { place, line: filled(line), block });
        }
    }
    steps
}

/// A line of a file for each number, if it begins with a range of them.
fn repeated(line: &str) -> Vec<String> {
    match line.strip_prefix('×').and_then(|it| it.split_once(' ')) {
        Some((range, line)) => {
            numbers(range).map(|it| line.replace('№', &it.to_string())).collect()
        }
        None => vec![line.to_owned()],
    }
}

/// The commands that a line stands for.
fn commands(line: &str) -> Vec<String> {
    let parts = line.split_once('(').and_then(|(before, it)| Some((before, it.split_once(')')?)));
    let Some((before, (parts, after))) = parts else { return vec![line.to_owned()] };
    let ends = commands(after);
    let with = |part| ends.iter().map(move |end| format!("{before}{part}{end}"));
    parts.split('|').flat_map(with).collect()
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

/// The files of a folder, and when each was last written.
type Noted = (BTreeMap<String, Vec<u8>>, BTreeMap<PathBuf, SystemTime>);

struct Case {
    bench: Bench,
    /// How the last command ended, with each of its parts.
    last: Vec<Ended>,
    noted: BTreeMap<String, Noted>,
}

impl Default for Case {
    fn default() -> Case {
        Case { bench: Bench::new(), last: Vec::new(), noted: BTreeMap::new() }
    }
}

impl Case {
    fn take(&mut self, step: &Step) {
        let Step { place, line, block } = step;
        let (verb, rest) = line.trim_start().split_once(' ').unwrap_or((line.trim_start(), ""));
        if line.starts_with("  ") {
            assert!(!self.last.is_empty(), "{place}: a command comes before");
            for ended in &self.last {
                match verb {
                    "reported" => assert_reported(&self.bench, ended.code, rest),
                    "prints" if !rest.is_empty() => {
                        assert_eq!(ended.stdout, self.bench.read(rest), "{place}");
                    }
                    _ => expect(place, ended, (verb, rest), block.as_deref()),
                }
            }
            return;
        }
        let bench = &self.bench;
        let (name, part) = rest.split_once(": ").unwrap_or((rest.trim_end_matches(':'), ""));
        let whole = || block.clone().unwrap_or_else(|| part.to_owned());
        let (one, other) = rest.split_once(' ').unwrap_or((rest, ""));
        match verb {
            "write" => bench.write(name, whole()),
            "documents" => {
                let range = numbers(other);
                bench.write(one, bench.documents(range.start, range.end));
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
            "same" => assert!(self.files(one) == self.files(other), "{place}"),
            "museum" => bench.copy(&world::museum(one), other),
            "sample" => bench.copy(&world::sample_file("crawl"), rest),
            "note" => {
                let noted = (self.files(rest), bench.times(rest));
                self.noted.insert(rest.to_owned(), noted);
            }
            "noted" => assert!(self.noted[rest].0 == self.files(rest), "{place}"),
            "untouched" => assert_eq!(self.noted[rest].1, bench.times(rest), "{place}"),
            "copy" => bench.copy(one, other),
            "link" => symlink(one, bench.path(other)).unwrap(),
            "twin" => fs::hard_link(bench.path(one), bench.path(other)).unwrap(),
            "flip" => flip(&self.matching(one), other.parse().unwrap()),
            "forge" => {
                let rows = whole();
                let (from, to) = rows.trim_end().split_once('\n').unwrap();
                forge(bench, (one, "outcome"), &[(other, from, to)], |_| ());
            }
            "needs" => {}
            "remove" if self.matching(rest).is_dir() => {
                fs::remove_dir_all(self.matching(rest)).unwrap();
            }
            "remove" => fs::remove_file(self.matching(rest)).unwrap(),
            _ => {
                let code = verb.strip_prefix('$').unwrap_or_else(|| panic!("{place}: {verb}?"));
                let code = if code.is_empty() { "0" } else { code };
                let run = |line: &String| self.run(place, code, line);
                self.last = commands(rest).iter().map(run).collect();
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
        assert_eq!(ended.code.to_string(), code, "{place}\n{line}\n{}", ended.stderr);
        if ended.code != 0 && ended.stdout.lines().count() == 1 {
            assert_failed(&ended, ended.code);
        }
        ended
    }

    /// The first path that matches.
    fn matching(&self, name: &str) -> PathBuf {
        let pattern = self.bench.path(name).display().to_string();
        glob::glob(&pattern).unwrap().next().expect("it is there").unwrap()
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

fn flip(path: &Path, at: isize) {
    let mut bytes = fs::read(path).unwrap();
    let at = at.rem_euclid(bytes.len() as isize) as usize;
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
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
