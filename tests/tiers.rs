//! A store that is fed day by day merges its own segments: it never has many, and nobody sees a difference
//! in what a join finds or in what a version holds.

use serde_json::Value;

use crate::oracle::{Days, Page, matches, verdicts};
use crate::support::Bench;
use crate::world::spread;

/// The days of a store, in the order in which they are added: most of one size, some of no page, one large,
/// and two that come late.
fn days() -> Days {
    const DAYS: &str = "2026-02-10 2026-02-11 2026-02-12 2026-02-13 2026-02-14 2026-02-15 2026-02-16 2026-01-01 \
        2026-02-17 2026-02-18 2026-02-19 2026-02-20 2026-02-21 2026-02-22 2026-02-23 2026-02-24 \
        2025-12-31 2026-02-25 2026-02-26 2026-02-27 2026-02-28 2026-03-01 2026-03-02 2026-03-03 \
        2026-03-04";
    let sizes = (0..).map(|at| match at {
        4 | 13 => 0,
        20 => 300,
        _ => 20,
    });
    // The same ids and nearly the same pages on every day.
    let page = |day: usize, at: usize| {
        let bits = spread(at as u64 + 1) ^ 1 << (day % 60);
        (format!("p{at}"), u128::from(bits))
    };
    let days = DAYS.split(' ').zip(sizes).enumerate();
    days.map(|(day, (name, size))| (name, (0..size).map(|at| page(day, at)).collect())).collect()
}

fn add(bench: &Bench, store: &str, day: &str, flags: &str) -> Value {
    let line = format!("store add {store} --segment {day}.seg --day {day} {flags}");
    bench.done(&line).summary()
}

fn listed(bench: &Bench, store: &str) -> Value {
    bench.json(&format!("store list {store} --json"))
}

/// A join with a store, without its report: that names the version, and the segments are part of its proof.
fn join(bench: &Bench, store: &str, flags: &str) -> Vec<(String, Vec<u8>)> {
    let output = format!("out-{store}{}", flags.replace(' ', ""));
    let line = format!("dedup --batch batch.seg --store {store} --matches all --output {output}");
    bench.done(&format!("{line} {flags}"));
    let files = bench.files(&output).into_iter();
    files.filter(|(name, _)| name != "report.json").collect()
}

#[test]
fn a_join_finds_the_same_in_tiers_and_in_single_days() {
    let bench = Bench::new();
    let days = days();
    let batch: Vec<Page> = (0..300).step_by(7).map(|at| days[20].1[at].clone()).collect();
    bench.segment("batch", 64, &batch);
    for store in ["tiers", "plain"] {
        bench.done(&format!("store init {store}"));
    }
    let mut merged = 0;
    for (day, pages) in &days {
        bench.segment(day, 64, pages);
        let told = add(&bench, "tiers", day, "");
        merged += told["counts"]["merged"].as_u64().unwrap();
        // Tiers of 1, of 10 and of 100: days without a page, days of 20, and what became of ten of these.
        assert!(told["counts"]["segments"].as_u64().unwrap() <= 3 * 9, "{told}");
        add(&bench, "plain", day, "--no-compact");
    }
    assert_eq!(merged, 20);
    let [tiers, plain] = ["tiers", "plain"].map(|store| listed(&bench, store));
    assert_eq!([tiers["segments"].as_u64(), plain["segments"].as_u64()], [Some(7), Some(25)]);
    let told = |store: &Value, name: &str| -> Vec<Value> {
        store["days"].as_array().unwrap().iter().map(|day| day[name].clone()).collect()
    };
    for name in ["day", "rows", "digest", "bytes"] {
        assert_eq!(told(&tiers, name), told(&plain, name));
    }
    let expected = join(&bench, "plain", "");
    let found = |name: &str| {
        let (_, bytes) = expected.iter().find(|(found, _)| found == name).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    };
    let mut order = batch.clone();
    order.sort();
    assert_eq!(found("matches.tsv"), matches(&order, &days, 3));
    assert_eq!(found("verdicts.tsv"), verdicts(&order, &days, 3));
    for flags in ["", "--workers 2", "--processes 2 --workers 1"] {
        assert!(join(&bench, "tiers", flags) == expected, "{flags}");
    }
    let best = ["tiers", "plain"].map(|store| {
        let line = format!("dedup --batch batch.seg --store {store} --output best-{store}");
        bench.done(&line);
        ["verdicts.tsv", "matches.tsv"].map(|name| bench.read(&format!("best-{store}/{name}")))
    });
    assert_eq!(best[0], best[1]);
    bench.done("store compact plain --tiers");
    assert!(join(&bench, "plain", "--workers 2") == expected);
    // Every version, before and after each merge, is what it was.
    let verified = bench.done("store verify tiers");
    assert_eq!((verified.count("versions"), verified.count("segments")), (28, 27));
    bench.done("verify out-tiers");
}
