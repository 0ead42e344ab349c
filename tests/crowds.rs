//! Crowds: many pages with one fingerprint, and many fingerprints near each other. A day that has them
//! ends with the verdicts of the definition, and writes no list of all their pairs on the way.

use std::collections::BTreeSet;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use crate::support::{Bench, Page, Running, command};

/// So many distinct fingerprints that differ in some low bits of one `centre`, with ids in no order.
fn crowd(seed: u64, centre: u64, bits: u32, count: usize) -> Vec<Page> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut low = BTreeSet::new();
    while low.len() < count {
        low.insert(random.random_range(0..1_u64 << bits));
    }
    let page =
        |low: u64| (format!("{:08x}-{seed}-{low}", random.random::<u32>()), (centre ^ low).into());
    low.into_iter().map(page).collect()
}

#[test]
fn fifteen_thousand_pages_with_one_fingerprint_pass_by_default() {
    let bench = Bench::new();
    let pages: Vec<Page> = (0..15_000).map(|page| (format!("page{page:05}"), 0x404)).collect();
    bench.segment("batch", 64, &pages);
    let ended = bench.done("dedup --batch batch.seg --output out");
    assert_eq!(["kept", "dropped", "matches"].map(|it| ended.count(it)), [1, 14_999, 14_999]);
    let matches = bench.read("out/matches.tsv");
    assert!(matches.lines().skip(1).all(|row| row.ends_with("\tpage00000\t0\tbatch\tdrop")));
    let said = bench.fails(65, "dedup --batch batch.seg --output all --matches all");
    assert!(said.contains("112492500") && said.contains("--matches best"), "{said}");
    bench.done("verify out");
}

/// `--matches all` lists every pair and draws the verdicts from them. `best` must draw the same.
#[test]
fn the_verdicts_of_a_crowd_are_those_of_all_its_pairs() {
    let bench = Bench::new();
    let mut batch = crowd(1, 0x5ca1_ab1e_0000_0000, 11, 1400);
    batch.extend(crowd(2, 0xdead_beef_0000_0000, 10, 300));
    batch.extend((0..500_u64).map(|page| {
        let bits = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (format!("lone{page}"), bits.into())
    }));
    batch.extend((0..200).map(|page| (format!("copy{page}"), 0x5ca1_ab1e_0000_0001)));
    bench.segment("batch", 64, &batch);
    bench.segment("old", 64, &crowd(3, 0xdead_beef_0000_0300, 11, 600));
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-01-01");
    for (store, k) in [("", 7), ("--store store", 6), ("", 3)] {
        let join = format!("dedup --batch batch.seg {store} -k {k}");
        bench.done(&format!("{join} --output all --matches all"));
        let verdicts = bench.read("all/verdicts.tsv");
        bench.done("verify all");
        let flags = ["--workers 1", "--workers 3 --memory 1MiB", "--workers 1 --processes 2"];
        let mut files = Vec::new();
        for (number, flags) in flags.into_iter().enumerate() {
            bench.done(&format!("{join} --output best{number} {flags}"));
            assert!(
                bench.read(&format!("best{number}/verdicts.tsv")) == verdicts,
                "{join} {flags}"
            );
            files.push(bench.files(&format!("best{number}")));
        }
        assert!(files.iter().all(|other| *other == files[0]), "{join}");
        bench.done("verify best0");
        for folder in ["all", "best0", "best1", "best2"] {
            std::fs::remove_dir_all(bench.path(folder)).unwrap();
        }
    }
}

/// Runs the program where no file may be larger than so many blocks of 512 bytes.
fn with_small_files(bench: &Bench, blocks: u64, line: &str) -> i32 {
    let program = env!("CARGO_BIN_EXE_dupsieve");
    let mut shell = command("sh");
    shell
        .current_dir(bench.path(""))
        .arg("-c")
        .arg(format!("ulimit -f {blocks}; exec {program} {line}"));
    Running::start(shell).end().code
}

#[test]
fn a_crowd_of_thousands_is_never_spilled_pair_by_pair() {
    let bench = Bench::new();
    // 10 million pairs, 25 bytes each in a ledger.
    bench.segment("batch", 64, &crowd(4, 0xfeed_0000_0000_0000, 14, 6000));
    let join = "dedup --batch batch.seg -k 7 --memory 4MiB --workers 1";
    assert_eq!(with_small_files(&bench, 16 << 11, &format!("{join} --output out")), 0);
    let proof = &bench.report("out")["probe"];
    assert!(proof["pairs"].as_u64().unwrap() > 9_000_000, "{proof}");
    let all = format!("{join} --output all --matches all");
    assert_ne!(with_small_files(&bench, 16 << 11, &all), 0, "the limit does not bite");
}
