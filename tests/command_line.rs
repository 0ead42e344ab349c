//! The command line: what is printed to stdout, for programs and for people; help; and what is refused
//! before any work.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{Bench, Ended, Running, command};

const PAGES: &str = "id\ttext\n\
    a1\tthe quick brown fox jumps over the lazy dog near the river bank\n\
    a2\tthe quick brown fox jumps over the lazy dog near the river bank\n\
    b1\tfingerprints of pages are compared by the bits in which they differ\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    bench.done("fingerprint --input pages.tsv --output pages.seg");
    bench.store(&[("2026-01-01", "pages")]);
    bench
}

/// Runs the program with stdout and stderr on a terminal. Everything printed there is in `stdout`.
fn on_terminal(bench: &Bench, line: &str) -> Ended {
    let mut script = command("script");
    let typed = format!("{} {line}", env!("CARGO_BIN_EXE_dupsieve"));
    script.current_dir(bench.path("")).args(["-qec", &typed, "/dev/null"]);
    Running::start(script).end()
}

#[test]
fn a_job_ends_with_one_summary_line_or_on_a_terminal_with_sentences() {
    let bench = bench();
    let line = "dedup --batch pages.seg --output out";
    let seen = on_terminal(&bench, line);
    assert_eq!(seen.code, 0, "{seen:?}");
    assert!(seen.stdout.contains("3 documents: 2 kept, 1 duplicate dropped"), "{seen:?}");
    assert!(seen.stdout.contains("written to out:") && !seen.stdout.contains('{'), "{seen:?}");
    let line_there = on_terminal(&bench, &format!("{line} --json"));
    assert!(line_there.stdout.contains("\"already_done\":true"), "{line_there:?}");
    for flags in ["", "--workers 1 --processes 2"] {
        let ended = bench.done(&format!("{line} {flags}"));
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
        assert_eq!(ended.stderr.matches("3 documents: 2 kept").count(), 1, "{ended:?}");
        assert!(ended.summary().get("sentences").is_none(), "{ended:?}");
    }
    // A job without sentences of its own is described by its counts.
    let seen = on_terminal(&bench, "generate segment --count 3 --output random.seg");
    assert!(seen.stdout.contains("generate: done"), "{seen:?}");
    assert!(seen.stdout.contains("fingerprints: 3"), "{seen:?}");
    // And one with sentences leaves the counts out.
    let seen = on_terminal(&bench, "store add store --segment pages.seg --day 2026-01-02");
    assert!(seen.stdout.contains("the store store has "), "{seen:?}");
}

#[test]
fn a_failure_is_printed_once_on_a_terminal() {
    let bench = bench();
    for line in ["dedup --batch none.seg --output out", "inspect none.seg"] {
        let seen = on_terminal(&bench, line);
        assert_eq!(seen.code, 66);
        assert_eq!(seen.stdout.matches("none.seg").count(), 1, "{seen:?}");
        assert!(
            seen.stdout.starts_with("error: ") && seen.stdout.contains("  none.seg"),
            "{seen:?}"
        );
        let ended = bench.run(line);
        assert_eq!(ended.stderr.matches("none.seg").count(), 1, "{ended:?}");
    }
}

#[test]
fn an_answer_whose_reader_has_gone_ends_without_a_word() {
    let bench = bench();
    for line in ["completions bash", "inspect pages.seg --dump", "store list store", "help run"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = bench.command(line).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8(ended.stderr).unwrap(), "", "{line}");
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

#[test]
fn help_has_a_chapter_for_every_kind_of_error() {
    let bench = Bench::new();
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    for path in [sources(&project.join("src")), sources(&project.join("jobs"))].concat() {
        let text = std::fs::read_to_string(path).unwrap();
        let found = text.split(".called(\"").skip(1).filter_map(|rest| rest.split('"').next());
        names.extend(found.map(str::to_owned));
    }
    assert!(names.len() > 20, "{names:?}");
    let kinds = "usage bad-data missing unavailable defect exists io temporary permission config";
    names.extend(kinds.split(' ').map(str::to_owned));
    for name in &names {
        let chapter = bench.answer(&format!("help {name}"));
        assert!(chapter.starts_with(&format!("{name}\n\nExit code ")), "{name}: {chapter}");
        assert!(!chapter.contains("\n#"), "{chapter}");
    }
    let told = bench.run("store list none").stderr;
    assert!(told.starts_with("error: there is no store here\n  "), "{told}");
    let failed = bench.run("store list none --json").summary();
    assert_eq!((&failed["kind"], &failed["code"]), (&"no-store".into(), &66.into()));
    assert!(told.ends_with(&format!("\nhelp: {}\n", failed["help"].as_str().unwrap())), "{told}");
}
