//! `doctor` says of a machine what a job on it would meet, leaves nothing behind, and ends with a code that a
//! script can ask for.

use serde_json::Value;

use crate::support::{Bench, Ended};

/// What `doctor --json` found, in order.
fn findings(ended: &Ended) -> Vec<Value> {
    let line = ended.stdout.lines().next().unwrap_or_else(|| panic!("no answer: {ended:?}"));
    let answer: Value = serde_json::from_str(line).unwrap();
    answer["findings"].as_array().unwrap().clone()
}

fn finding<'a>(findings: &'a [Value], what: &str) -> &'a Value {
    let found = findings.iter().find(|finding| finding["what"] == what);
    found.unwrap_or_else(|| panic!("no {what} in {findings:?}"))
}

#[test]
fn a_folder_is_tried_and_left_as_it_was() {
    let bench = Bench::new();
    bench.write("store/CURRENT", "not touched");
    let before = bench.tree();
    let ended = bench.run("doctor store --memory 64MiB --json");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let found = findings(&ended);
    for what in ["cores", "memory", "open files", "clock"] {
        assert!(!finding(&found, what)["found"].as_str().unwrap().is_empty(), "{what}");
    }
    assert_eq!(finding(&found, "locks in store")["found"], "work");
    assert_eq!(finding(&found, "renames in store")["found"], "work");
    assert_eq!(bench.tree(), before);
    let shown = bench.answer("doctor store");
    assert!(shown.contains("folder store"), "{shown}");
}

#[test]
fn what_would_fail_is_wrong_and_has_advice() {
    let bench = Bench::new();
    for (line, what) in [("doctor missing", "folder missing"), ("doctor --memory 900TiB", "memory")]
    {
        let ended = bench.run(&format!("{line} --json"));
        assert_eq!(ended.code, 78, "{line}");
        let found = findings(&ended);
        let wrong = finding(&found, what);
        assert_eq!(wrong["state"], "wrong");
        assert!(!wrong["advice"].as_str().unwrap().is_empty());
        assert!(ended.stderr.contains(what), "{}", ended.stderr);
    }
}

#[test]
fn processes_of_a_hosts_file_meet_or_are_named() {
    let bench = Bench::new();
    let [_, b] = bench.two_hosts();
    let line = |process: usize| {
        format!("doctor --hosts hosts.txt --process {process} --secret-file secret --json")
    };
    for ended in [0, 1].map(|process| bench.start(&line(process))).map(|it| it.end()) {
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(finding(&findings(&ended), "other processes")["found"], "all met");
    }
    let alone = bench.run(&format!("{} --wait-for-peers 1", line(0)));
    assert_eq!(alone.code, 78, "{}", alone.stderr);
    let found = findings(&alone);
    assert_eq!(finding(&found, "other processes")["state"], "wrong");
    assert!(alone.stderr.contains(&b), "{}", alone.stderr);
}
