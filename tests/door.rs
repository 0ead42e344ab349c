//! The command line: what stands on stdout, for programs and for people; help; and what is refused
//! before any work is done.

use std::process::Command;

use serde_json::Value;

use crate::support::{Bench, Ended, Running};

const PAGES: &str = "id\ttext\n\
    a1\tthe quick brown fox jumps over the lazy dog near the river bank\n\
    a2\tthe quick brown fox jumps over the lazy dog near the river bank\n\
    b1\tfingerprints of pages are compared by the bits in which they differ\n";

/// A bench with pages, a segment of them, and a store that holds a day.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    bench.write("labels.tsv", "id\tcluster\na1\ta\na2\ta\nb1\tb\n");
    bench.done("fingerprint --input pages.tsv --output pages.seg");
    bench.done("store init store");
    bench.done("store add store --segment pages.seg --day 2026-01-01");
    bench
}

/// Runs the program with stdout and stderr on a terminal; what stands there is the stdout.
fn on_terminal(bench: &Bench, line: &str) -> Ended {
    let mut command = Command::new("script");
    let typed = format!("{} {line}", env!("CARGO_BIN_EXE_dupsieve"));
    command.current_dir(bench.path("")).args(["-qec", &typed, "/dev/null"]);
    Running::start(command).end()
}

fn object(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_| panic!("not one JSON object: {line}"))
}

#[test]
fn an_answer_stands_alone_on_stdout() {
    let bench = bench();
    for (line, first) in [
        ("inspect pages.seg --dump", "b1\t0x"),
        ("inspect pages.seg", "segment  "),
        ("plan --batch 1e6 --store 1e7", "design  "),
        ("explain --input pages.tsv a1 b1", "recipe  "),
        ("store list store", "day  "),
    ] {
        let answer = bench.answer(line);
        assert!(answer.lines().any(|line| line.starts_with(first)), "{answer}");
        assert!(!answer.contains('{') || answer.starts_with("segment"), "{answer}");
        assert!(!answer.contains("\"code\""), "{answer}");
        for row in bench.answer(&format!("{line} --json")).lines() {
            let object = object(row);
            assert!(object.is_object() && object.get("code").is_none(), "{object}");
        }
    }
    for line in ["compare pages.tsv labels.tsv", "evaluate --pairs labels.tsv --labels labels.tsv"]
    {
        let answer = bench.answer(line);
        assert_eq!(answer, bench.answer(&format!("{line} --json")));
        assert!(object(&answer).get("code").is_none(), "{answer}");
    }
}

#[test]
fn a_question_without_an_answer_leaves_stdout_empty() {
    let bench = bench();
    for (code, line) in [
        (66, "inspect none.seg"),
        (66, "store list none"),
        (66, "explain --input pages.tsv a1 none"),
        (2, "plan --batch many --store 1"),
        (2, "store list"),
    ] {
        let ended = bench.run(line);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{ended:?}");
        assert!(ended.stderr.contains("error:") || ended.stderr.starts_with("dupsieve: "));
        let ended = bench.run(&format!("{line} --json"));
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
        assert_eq!((ended.code, &ended.summary()["code"]), (code, &code.into()));
    }
}

#[test]
fn a_job_ends_with_one_summary_line_or_on_a_terminal_with_sentences() {
    let bench = bench();
    let line = "dedup --batch pages.seg --output out";
    let seen = on_terminal(&bench, line);
    assert_eq!(seen.code, 0, "{seen:?}");
    assert!(seen.stdout.contains("3 documents: 2 kept, 1 dropped"), "{seen:?}");
    assert!(seen.stdout.contains("written to out:") && !seen.stdout.contains('{'), "{seen:?}");
    let line_there = on_terminal(&bench, &format!("{line} --json"));
    assert!(line_there.stdout.contains("\"already_done\":true"), "{line_there:?}");
    let ended = bench.done(line);
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    assert!(ended.stderr.contains("3 documents: 2 kept, 1 dropped"), "{ended:?}");
    assert!(ended.summary().get("sentences").is_none(), "{ended:?}");
    // A job that has no sentences of its own is told by its counts.
    let seen = on_terminal(&bench, "store add store --segment pages.seg --day 2026-01-02");
    assert!(seen.stdout.contains("store: done") && seen.stdout.contains("version: 3"), "{seen:?}");
}

#[test]
fn a_failure_is_said_once_on_a_terminal() {
    let bench = bench();
    for line in ["dedup --batch none.seg --output out", "inspect none.seg"] {
        let seen = on_terminal(&bench, line);
        assert_eq!(seen.code, 66);
        assert_eq!(seen.stdout.matches("none.seg").count(), 1, "{seen:?}");
        assert!(seen.stdout.starts_with("dupsieve: none.seg:"), "{seen:?}");
        let ended = bench.run(line);
        assert_eq!(ended.stderr.matches("none.seg").count(), 1, "{ended:?}");
    }
}

#[test]
fn a_supervised_job_is_told_as_any_other() {
    let bench = bench();
    let line = "dedup --batch pages.seg --workers 1 --processes 2 --output out";
    let seen = on_terminal(&bench, line);
    assert_eq!(seen.code, 0, "{seen:?}");
    assert_eq!(seen.stdout.matches("3 documents: 2 kept").count(), 1, "{seen:?}");
    assert!(!seen.stdout.contains('{'), "{seen:?}");
    let ended = bench.done(line);
    assert_eq!((ended.stdout.lines().count(), ended.count("kept")), (1, 2));
    assert_eq!(ended.stderr.matches("3 documents: 2 kept").count(), 1, "{ended:?}");
    assert!(ended.summary().get("sentences").is_none(), "{ended:?}");
}
