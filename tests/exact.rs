//! Promise 1: every pair within k is reported, none beyond k, whatever the design, the width and the
//! input. The oracle compares all pairs.

use crate::oracle::{Days, Page, matches, verdicts};
use crate::support::Bench;
use crate::world::skewed;

fn designs(k: u32) -> Vec<String> {
    let mut designs: Vec<String> = vec!["auto".into()];
    if k <= 3 {
        designs.extend(["4", "10", "16", "20"].map(String::from));
    }
    designs.extend(["conditioned", "multi-index"].map(String::from));
    designs.extend([(k + 1, 1), (k + 3, 3)].map(|(r, c)| format!("blocks:{r},choose:{c}")));
    designs
}

/// Joins `batch` with the days of `store` under every design that covers k, against the oracle.
fn check(width: u32, k: u32, batch: &[Page], store: &Days) {
    let bench = Bench::new();
    bench.segment("batch", width, batch);
    bench.done("store init store");
    for (day, pages) in store {
        bench.segment(day, width, pages);
        bench.done(&format!("store add store --segment {day}.seg --day {day}"));
        // Days of both codecs.
        bench.done("store compact store --codec huffman");
    }
    let mut order = batch.to_vec();
    order.sort();
    let expected = (matches(&order, store, k), verdicts(&order, store, k));
    for (i, design) in designs(k).into_iter().enumerate() {
        bench.done(&format!(
            "dedup --batch batch.seg --store store --output out{i} --distance {k} --design {design} \
             --matches all"
        ));
        let found = (
            bench.read(&format!("out{i}/matches.tsv")),
            bench.read(&format!("out{i}/verdicts.tsv")),
        );
        assert!(found == expected, "{width} bits, k = {k}, {design}: not what the oracle says");
    }
}

fn check_all_distances(width: u32) {
    for k in 0..=7 {
        let batch = skewed("new", 1, width, k, 60);
        let store = vec![
            ("2026-01-01", skewed("old", 2, width, k, 50)),
            ("2026-01-02", [skewed("old", 3, width, k, 50), batch[..5].to_vec()].concat()),
        ];
        check(width, k, &batch, &store);
    }
}

#[test]
fn every_design_and_distance_at_64_bits() {
    check_all_distances(64);
}

#[test]
fn every_design_and_distance_at_128_bits() {
    check_all_distances(128);
}

#[test]
fn one_fingerprint_a_thousand_times() {
    let many =
        |name: &str| (0..1000).map(|i| (format!("{name}{i}"), 0xabcd)).collect::<Vec<Page>>();
    check(64, 3, &many("new")[..40], &vec![("2026-01-01", many("old"))]);
    check(64, 3, &many("new"), &vec![("2026-01-01", many("old")[..3].to_vec())]);
}

#[test]
fn an_empty_batch_an_empty_store_and_both() {
    let pages = skewed("page", 4, 64, 3, 20);
    check(64, 3, &[], &vec![("2026-01-01", pages.clone())]);
    check(64, 3, &pages, &vec![("2026-01-01", vec![])]);
    check(64, 3, &pages, &vec![]);
    check(64, 3, &[], &vec![]);
}

#[test]
fn a_batch_that_is_the_store_and_ids_on_several_days() {
    let pages = skewed("page", 5, 64, 3, 40);
    let days = vec![("2026-01-01", pages.clone()), ("2026-01-02", pages[10..30].to_vec())];
    check(64, 3, &pages, &days);
}
