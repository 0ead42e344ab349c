//! Promise: a page that comes a hundred thousand times, and a neighbourhood that is crowded, take
//! bounded memory and are told of.

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use crate::support::{Bench, Page};

#[test]
fn a_page_that_comes_a_hundred_thousand_times_on_both_sides_is_one_probe() {
    let bench = Bench::new();
    let copies = |name: &str| -> Vec<Page> {
        (0..100_000).map(|i| (format!("{name}{i:06}"), 0xabcd)).collect()
    };
    bench.segment("day", 64, &copies("old"));
    bench.segment("batch", 64, &copies("new"));
    bench.done("store init store");
    bench.done("store add store --segment day.seg --day 2026-11-20");
    let dedup = "dedup --batch batch.seg --store store --output out --memory 16MiB";
    let said = bench.fails(65, &format!("{dedup} --matches all"));
    // 10^10 with the store, and n (n - 1) / 2 of the batch.
    assert!(said.contains("14999950000"), "{said}");
    let best = bench.done(dedup);
    assert_eq!([best.count("dropped"), best.count("matches")], [100_000, 100_000]);
    let verdicts = bench.read("out/verdicts.tsv");
    assert!(
        verdicts.lines().skip(1).all(|line| line.ends_with("\tdrop\told000000\t0\t2026-11-20"))
    );
    let hot = &bench.report("out")["outcome"];
    assert_eq!(hot["hot_copies"].as_array().unwrap().len(), 1);
    let copied = &hot["hot_copies"][0];
    assert_eq!(copied["fingerprint"], "0x000000000000abcd");
    assert_eq!(copied["pages"], 100_000);
    assert_eq!(copied["matches"], 4_999_950_000_u64);
}

/// Some thousand fingerprints around each of a few centres, each of them near hundreds.
fn crowded() -> Vec<Page> {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let mut pages = Vec::new();
    for _ in 0..3 {
        let centre: u64 = random.random();
        for i in 0..3000 {
            let bits = rand::seq::index::sample(&mut random, 24, i % 4);
            let page = bits.into_iter().fold(centre, |page, bit| page ^ 1 << bit);
            pages.push((format!("page{:05}", pages.len()), page.into()));
        }
    }
    pages
}

#[test]
fn a_crowded_neighbourhood_takes_bounded_memory_and_stops_where_it_is_too_much() {
    let bench = Bench::new();
    bench.segment("batch", 64, &crowded());
    let dedup = "dedup --batch batch.seg --distance 4 --matches all";
    bench.done(&format!("{dedup} --output ample"));
    // Pairs spill many times, from every chunk.
    bench.done(&format!(
        "{dedup} --output tight --memory 1MiB --workers 3 --design blocks:6,choose:2"
    ));
    assert!(bench.files("ample") == bench.files("tight"));
    let hot = bench.report("ample")["outcome"]["hot_matches"].clone();
    let hot: Vec<u64> =
        hot.as_array().unwrap().iter().map(|hot| hot["matches"].as_u64().unwrap()).collect();
    assert!(hot.len() == 10 && hot.is_sorted_by(|a, b| a >= b), "{hot:?}");
    let said = bench.fails(65, &format!("{dedup} --output small --max-matches 1e5"));
    assert!(said.contains("--matches best"), "{said}");
}
