//! Metrics: the file that a job leaves however it ends.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::Signal;

use crate::faults::{at_work, long_job};
use crate::support::Bench;

/// Two days of pages, with a bad record, and a configuration for them.
fn days() -> Bench {
    let bench = Bench::new();
    let [one, two] = [bench.documents(0, 30) + "no record\n", bench.documents(20, 50)];
    let more = "preset = \"paper\"\n[fingerprint]\nmax_bad = \"10%\"\n";
    bench.crawl([("2026-01-01", one), ("2026-01-02", two)], more);
    bench
}

/// Every series of a text and its value, read strictly: each family has one HELP, one TYPE and then its samples, and no
/// series is there twice.
fn read(text: &str) -> BTreeMap<String, f64> {
    let mut series = BTreeMap::new();
    let mut families = BTreeSet::new();
    let mut family = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            family = help.split_once(' ').unwrap().0.to_owned();
            assert!(family.starts_with("dupsieve_") && families.insert(family.clone()), "{line}");
            let kind = lines.next().unwrap().strip_prefix(&format!("# TYPE {family} ")).unwrap();
            assert_eq!(kind == "counter", family.ends_with("_total"), "{line}");
            assert!(kind == "counter" || kind == "gauge", "{kind}");
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert_eq!(name.split('{').next(), Some(family.as_str()), "{line}");
        assert!(series.insert(name.to_owned(), value.parse().unwrap()).is_none(), "{line} twice");
    }
    assert!(text.ends_with('\n') && !series.is_empty(), "{text}");
    series
}

fn file(bench: &Bench) -> BTreeMap<String, f64> {
    read(&bench.read("dupsieve.prom"))
}

#[test]
fn a_job_leaves_its_metrics_however_it_ends() {
    let bench = days();
    let line = "run days.toml --metrics-file dupsieve.prom";
    let done = bench.done(line);
    let first = file(&bench);
    for outcome in ["read", "kept", "dropped", "quarantined"] {
        let series = format!("dupsieve_records{{command=\"run\",outcome=\"{outcome}\"}}");
        assert_eq!(first[&series], done.count(outcome) as f64, "{outcome}");
    }
    let bad = first.iter().filter(|(name, _)| name.starts_with("dupsieve_unreadable_records{"));
    assert_eq!(bad.map(|(_, count)| count).sum::<f64>(), 1.0);
    for step in ["reading", "joining", "storing"] {
        let series = format!("dupsieve_step_duration_seconds{{command=\"run\",step=\"{step}\"}}");
        assert!(first[&series] > 0.0, "{step}");
    }
    assert_eq!(first["dupsieve_last_run_changed{command=\"run\"}"], 1.0);
    // A failure keeps the last success; what is done already changes nothing and counts as a run.
    bench.write("crawl/2026-01-02.jsonl", "no record\n");
    bench.fails(73, line);
    bench.write("crawl/2026-01-02.jsonl", bench.documents(20, 50));
    let success = "dupsieve_last_success_timestamp_seconds{command=\"run\"}";
    let second = file(&bench);
    assert_eq!(second["dupsieve_last_run_exit_code{command=\"run\"}"], 73.0);
    assert_eq!(second[success], first[success]);
    bench.write("wrong.toml", "no_such_key = 1\n");
    bench.fails(78, "run wrong.toml --metrics-file dupsieve.prom");
    assert_eq!(file(&bench)["dupsieve_last_run_exit_code{command=\"run\"}"], 78.0);
    bench.done(line);
    let third = file(&bench);
    assert_eq!(third["dupsieve_last_run_changed{command=\"run\"}"], 0.0);
    assert!(third[success] > first[success]);
    for (code, runs) in [("0", 2.0), ("73", 1.0)] {
        let series = format!("dupsieve_runs_total{{command=\"run\",exit_code=\"{code}\"}}");
        assert_eq!(third[&series], runs, "{code}");
    }
    assert!(bench.names("").iter().all(|name| !name.contains("unfinished")));
}

#[test]
fn the_supervisor_writes_what_process_0_has_measured() {
    let bench = days();
    bench.done("run days.toml --processes 2 --workers 1 --metrics-file dupsieve.prom");
    let metrics = file(&bench);
    let joining = "dupsieve_step_duration_seconds{command=\"run\",step=\"joining\"}";
    assert!(metrics[joining] > 0.0 && metrics["dupsieve_input_bytes{command=\"run\"}"] > 0.0);
    assert!(!bench.done("run days.toml --processes 2 --workers 1").stdout.contains("account"));
}

#[test]
fn a_signal_leaves_metrics_too() {
    let bench = Bench::new();
    let line = format!("{} --metrics-file dupsieve.prom", long_job(&bench));
    let job = at_work(&bench, "out", || bench.start(&line));
    job.signal(Signal::TERM);
    assert_eq!(job.end().code, 75);
    assert_eq!(file(&bench)["dupsieve_last_run_exit_code{command=\"dedup\"}"], 75.0);
}
