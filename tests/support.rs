//! What the tests stand on: a folder of their own, the real program, and the naive definitions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder for one test, with the program ready to run in it.
pub(crate) struct Bench {
    home: TempDir,
}

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The JSON line that closes stdout.
    pub(crate) fn summary(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|_| panic!("no summary in {self:?}"))
    }

    /// A count of the summary.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.summary()["counts"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"))
    }

    /// The program in this folder, with what is written on one line.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dupsieve"));
        command.current_dir(self.home.path()).args(line.split_whitespace());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, line: &str) -> Ended {
        let Output { status, stdout, stderr } = self.command(line).output().unwrap();
        let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        Ended { code: status.code().unwrap_or(-1), stdout, stderr }
    }

    /// Runs the program, which must succeed.
    pub(crate) fn done(&self, line: &str) -> Ended {
        let ended = self.run(line);
        assert_eq!(ended.code, 0, "{line}\n{}", ended.stderr);
        assert_eq!(ended.summary()["code"], 0);
        ended
    }

    /// Runs the program, which must fail with `code`; gives what it said.
    pub(crate) fn fails(&self, code: i32, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, code, "{line}\n{}", ended.stderr);
        assert_eq!(ended.summary()["code"], code, "{line}");
        ended.stderr
    }

    /// Makes a segment NAME.seg of ready fingerprints.
    pub(crate) fn segment(&self, name: &str, width: u32, pages: &[Page]) {
        let lines: String = pages.iter().map(|(id, bits)| format!("{id}\t{bits:#x}\n")).collect();
        self.write(&format!("{name}.tsv"), lines);
        self.done(&format!(
            "fingerprint --format fingerprints --width {width} --input {name}.tsv --output {name}.seg"
        ));
    }

    /// The data files of an output folder: all but the report, which holds timings.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.path(folder))
    }
}

fn files_below(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != "report.json")
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

/// A page: its id and its fingerprint.
pub(crate) type Page = (String, u128);

/// A store in the oracle: each day's pages.
pub(crate) type Days = Vec<(&'static str, Vec<Page>)>;

/// matches.tsv by definition: every pair compared.
pub(crate) fn matches(batch: &[Page], store: &Days, k: u32) -> String {
    let mut rows = Vec::new();
    for (new, fingerprint) in batch {
        for (existing, other) in batch {
            let distance = (fingerprint ^ other).count_ones();
            if new > existing && distance <= k {
                rows.push((new.as_str(), distance, existing.as_str(), "batch"));
            }
        }
        for (day, pages) in store {
            for (existing, other) in pages {
                let distance = (fingerprint ^ other).count_ones();
                if distance <= k {
                    rows.push((new, distance, existing, day));
                }
            }
        }
    }
    rows.sort();
    let lines = rows.iter().map(|(new, distance, existing, against)| {
        format!("{new}\t{existing}\t{distance}\t{against}\n")
    });
    format!("new\texisting\tdistance\tagainst\n{}", lines.collect::<String>())
}

/// verdicts.tsv by definition: the batch taken in keep order, one page after the other.
pub(crate) fn verdicts(keep_order: &[Page], store: &Days, k: u32) -> String {
    let near = |a: &Page, b: &Page| (a.1 ^ b.1).count_ones() <= k;
    let held = |page: &Page| store.iter().any(|(_, pages)| pages.iter().any(|old| near(page, old)));
    let mut kept: Vec<&Page> = Vec::new();
    for page in keep_order {
        if !held(page) && !kept.iter().any(|other| near(page, other)) {
            kept.push(page);
        }
    }
    let mut lines: Vec<String> = keep_order
        .iter()
        .map(|page| match kept.contains(&page) {
            true => format!("{}\tkeep\t\t\t\n", page.0),
            false => format!("{}\tdrop\t{}\n", page.0, nearest(page, &kept, store)),
        })
        .collect();
    lines.sort_by(|a, b| a.split('\t').next().cmp(&b.split('\t').next()));
    format!("id\tverdict\tof\tdistance\tagainst\n{}", lines.concat())
}

/// The nearest kept page: smallest distance, the store before the batch, smallest id, earliest day.
fn nearest(page: &Page, kept: &[&Page], store: &Days) -> String {
    let held = store.iter().flat_map(|(day, pages)| pages.iter().map(move |old| (old, *day, 0)));
    let (distance, _, id, against) = held
        .chain(kept.iter().map(|other| (*other, "batch", 1)))
        .map(|(other, against, side)| ((page.1 ^ other.1).count_ones(), side, &other.0, against))
        .min()
        .unwrap();
    format!("{id}\t{distance}\t{against}")
}
