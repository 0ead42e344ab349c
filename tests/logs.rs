//! Log lines as JSON: each line says of itself which job, day, process and step it is from.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Bench, Ended};

/// Two days of pages, and a configuration for them.
fn days() -> Bench {
    let bench = Bench::new();
    let [one, two] = [bench.documents(0, 30), bench.documents(20, 50)];
    bench.crawl([("2026-01-01", one), ("2026-01-02", two)], "preset = \"paper\"\n");
    bench
}

/// The lines of stderr, each of which must be JSON and say where it is from.
fn lines(ended: &Ended) -> Vec<Value> {
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert!(line["job"].is_string() && line["step"].is_string(), "{line}");
        assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
        assert!(line["fields"]["message"].is_string(), "{line}");
        line
    };
    ended.stderr.lines().map(read).collect()
}

fn values(lines: &[Value], key: &str) -> BTreeSet<String> {
    lines.iter().map(|line| line[key].to_string()).collect()
}

fn set<const N: usize>(values: [&str; N]) -> BTreeSet<String> {
    values.map(str::to_owned).into()
}

#[test]
fn each_line_names_its_job_day_process_and_step() {
    let bench = days();
    let lines = lines(&bench.done("run days.toml --verbose --log-format json"));
    assert_eq!(values(&lines, "job"), set(["\"run\""]));
    assert_eq!(values(&lines, "process"), set(["0"]));
    assert!(values(&lines, "day").is_superset(&set(["\"2026-01-01\"", "\"2026-01-02\""])));
    assert!(values(&lines, "step").is_superset(&set(["\"starting\"", "\"storing\""])));
    // Of several processes the supervisor says the closing sentences.
    let several = "run days.toml --processes 2 --workers 1 --log-format json";
    let lines = self::lines(&days().done(several));
    assert!(lines.iter().any(|line| line["process"] == 0), "{lines:?}");
    let closing = lines.iter().rfind(|line| line["process"].is_null()).unwrap();
    assert_eq!(closing["step"], "supervising");
}

#[test]
fn a_failure_is_a_line_of_json_too() {
    let bench = days();
    bench.write("crawl/2026-01-02.jsonl", "no record\n");
    let ended = bench.run("run days.toml --log-format json");
    assert_eq!(ended.code, 65, "{ended:?}");
    let lines = lines(&ended);
    let last = lines.last().unwrap();
    assert_eq!((&last["level"], &last["day"]), (&"ERROR".into(), &"2026-01-02".into()));
    assert_eq!(last["fields"]["message"], ended.summary()["error"]);
    bench.refuses(65, "run days.toml", &["\nerror: "]);
}
