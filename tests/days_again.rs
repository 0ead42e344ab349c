//! Days of `run`: the sample, what a flag changes of a day that is done, and how many days are shown.

use std::collections::BTreeSet;

use crate::support::Bench;
use crate::world::{gzip, sample_file};

#[test]
fn a_flag_that_changes_nothing_of_a_day_makes_no_other_output() {
    let bench = Bench::new();
    let [whole, cut] = [0, 100].map(|from| gzip(bench.documents(from, from + 100)));
    bench.write("crawl/2026-11-01.jsonl.gz", &whole);
    bench.write("crawl/2026-11-02.jsonl.gz", &cut[..cut.len() / 2]);
    let toml = "inputs = [\"crawl/{date}.jsonl.gz\"]\noutput = \"out/{date}\"\nstore = \"store\"\n\
                [fingerprint]\nmax_bad = \"50%\"\n";
    bench.write("days.toml", toml);
    bench.done("run days.toml --date 2026-11-01");
    bench.fails(65, "run days.toml --date 2026-11-01..2026-11-02");
    let accepting = "run days.toml --date 2026-11-01..2026-11-02 --accept-truncated";
    bench.done(accepting);
    bench.again(accepting);
    bench.again("run days.toml --date 2026-11-01");
    // Of the day that was cut off it decides.
    bench.fails(73, "run days.toml --date 2026-11-02");
}

#[test]
fn the_sample_gives_what_was_planted() {
    let bench = Bench::new();
    let days = ["2026-11-18", "2026-11-19", "2026-11-20"];
    bench.copy(&sample_file("crawl"), "crawl");
    let places = "inputs = [\"crawl/{date}/*\"]\noutput = \"out/{date}\"\nstore = \"store\"\n";
    let time = "[fingerprint]\ntime_field = \"fetched\"\n";
    bench.write("sample.toml", format!("{places}dates = {days:?}\n{time}"));
    let ended = bench.done("run sample.toml");
    let counts =
        ["read", "fingerprinted", "empty", "repeated", "quarantined"].map(|name| ended.count(name));
    assert_eq!(counts[0], counts[1..].iter().sum::<u64>());
    assert_eq!((counts[2], counts[3], counts[4]), (1, 1, 0));
    let pairs = |table: &str| bench.rows(table).into_iter().map(|row| row[..2].to_vec());
    let planted: BTreeSet<Vec<String>> = pairs(&sample_file("truth.tsv")).collect();
    let found: BTreeSet<Vec<String>> =
        days.iter().flat_map(|day| pairs(&format!("out/{day}/dedup/matches.tsv"))).collect();
    assert_eq!(found, planted);
}

#[test]
fn many_days_are_shown_in_order() {
    let bench = Bench::new();
    bench.november(3, 20, 40, "");
    bench.done("run days.toml");
    let told = bench.answer("report out/2026-11-03 out/2026-11-01 out/2026-11-02");
    let days: Vec<&str> = told.lines().skip(1).take(3).map(|line| &line[..10]).collect();
    assert_eq!(days, ["2026-11-01", "2026-11-02", "2026-11-03"]);
    assert_eq!(bench.answer("report out").lines().count(), told.lines().count());
}
