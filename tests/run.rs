//! Whole days with `run`: fingerprint, join with the store as it was before the day, add the day to the
//! store. Running a day again changes nothing.

use std::collections::BTreeSet;

use crate::support::Bench;
use crate::world::sample_file;

const DAYS: [&str; 3] = ["2026-11-18", "2026-11-19", "2026-11-20"];

#[test]
fn the_sample_gives_what_was_planted() {
    let bench = Bench::new();
    let days = format!("dates = {DAYS:?}\n[fingerprint]\ntime_field = \"fetched\"\n");
    bench.sample("sample.toml", &days);
    let ended = bench.done("run sample.toml");
    assert_eq!(ended.stdout.lines().count(), 1);
    let counts =
        ["read", "fingerprinted", "empty", "repeated", "quarantined"].map(|name| ended.count(name));
    assert_eq!(counts[0], counts[1..].iter().sum::<u64>());
    assert_eq!((counts[2], counts[3], counts[4]), (1, 1, 0));
    let truth = sample_file("truth.tsv");
    let pair = |line: &str| line.splitn(3, '\t').take(2).collect::<Vec<_>>().join("\t");
    let planted: BTreeSet<_> = bench.read(&truth).lines().skip(1).map(pair).collect();
    let found: BTreeSet<_> = DAYS
        .iter()
        .flat_map(|day| {
            bench
                .read(&format!("out/{day}/dedup/matches.tsv"))
                .lines()
                .skip(1)
                .map(pair)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(found, planted);
    for day in DAYS {
        let report = bench.report(&format!("out/{day}/dedup"));
        assert_eq!(report["probe"]["chunks_planned"], report["probe"]["chunks_probed"]);
    }
}

#[test]
fn relative_paths_are_shown_as_absolute_ones() {
    let bench = Bench::new();
    bench.write(
        "days.toml",
        "inputs = [\"crawl/{date}/*\"]\noutput = \"out/{date}\"\nstore = \"store\"\n",
    );
    let home = bench.path("").canonicalize().unwrap();
    let said = bench.fails(66, "run days.toml --date 2026-11-18");
    let looked_for = home.join("crawl/2026-11-18/*");
    assert!(said.contains(looked_for.to_str().unwrap()), "{said}");
    bench.write("crawl/2026-11-18/a.jsonl", bench.documents(0, 10));
    let ended = bench.done("run days.toml --date 2026-11-18 --dry-run");
    let output = home.join("out/2026-11-18/batch.seg");
    assert!(ended.stderr.contains(output.to_str().unwrap()), "{}", ended.stderr);
}
