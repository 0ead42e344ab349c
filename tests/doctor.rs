//! `doctor` says of a machine what a job on it would meet, leaves nothing behind, and ends with a code that a
//! script can ask for.

use serde_json::Value;

use crate::support::{Bench, Ended};

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
