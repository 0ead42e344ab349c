//! Crowds: many pages with one fingerprint, and many fingerprints near each other. A day that has them
//! ends with the verdicts of the definition, and writes no list of all their pairs on the way.

use std::collections::BTreeSet;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use crate::oracle::Page;
use crate::support::Bench;
use crate::world::spread;

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

/// Crowds of 300 pages, of which each has three words of its own at places of its own: any two of them share nine tenths of their shingles, and are
/// farther apart than three bits. The first one in keep order is kept, and no other one.
#[test]
fn of_a_crowd_one_page_is_kept() {
    let bench = Bench::new();
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut lines = Vec::new();
    for crowd in 0..4 {
        let text: Vec<String> = (0..250).map(|_| format!("w{}", random.random::<u32>())).collect();
        for page in 0..300 {
            let mut text = text.clone();
            for word in 0..3 {
                text[random.random_range(0..250)] = format!("own{crowd}x{page}x{word}");
            }
            lines.push(format!(
                "{{\"id\":\"{crowd}-{page:03}\",\"text\":\"{}\"}}\n",
                text.join(" ")
            ));
        }
    }
    lines.shuffle(&mut random);
    bench.write("pages.jsonl", lines.concat());
    for (output, flags) in
        [("one", "--workers 1"), ("parts", "--workers 3 --memory 16MiB"), ("two", "--processes 2")]
    {
        bench.done(&format!("dedup --input pages.jsonl --output {output} {flags}"));
        let kept = bench.read(&format!("{output}/dedup/keep.txt"));
        assert_eq!(
            kept.lines().collect::<Vec<_>>(),
            ["0-000", "1-000", "2-000", "3-000"],
            "{flags}"
        );
        let verdicts = |output: &str| bench.read(&format!("{output}/dedup/verdicts.tsv"));
        assert!(verdicts(output) == verdicts("one"), "{flags}");
    }
}

/// `--matches all` lists every pair and draws the verdicts from them. `best` must draw the same.
#[test]
fn the_verdicts_of_a_crowd_are_those_of_all_its_pairs() {
    let bench = Bench::new();
    let mut batch = crowd(1, 0x5ca1_ab1e_0000_0000, 11, 1400);
    batch.extend(crowd(2, 0xdead_beef_0000_0000, 10, 300));
    batch.extend((0..500).map(|page| (format!("lone{page}"), spread(page).into())));
    batch.extend((0..200).map(|page| (format!("copy{page}"), 0x5ca1_ab1e_0000_0001)));
    bench.segment("batch", 64, &batch);
    bench.segment("old", 64, &crowd(3, 0xdead_beef_0000_0300, 11, 600));
    bench.store(&[("2026-01-01", "old")]);
    for (store, k) in [("", 7), ("--store store", 6), ("", 3)] {
        let join = format!("dedup --batch batch.seg {store} -k {k}");
        bench.done(&format!("{join} --output all --matches all"));
        let verdicts = bench.read("all/verdicts.tsv");
        bench.done("verify all");
        // Pairs spill many times, from every chunk.
        bench.done(&format!("{join} --output tight --matches all --memory 1MiB --workers 3"));
        assert!(bench.files("tight") == bench.files("all"), "{join}");
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
        for folder in ["all", "tight", "best0", "best1", "best2"] {
            std::fs::remove_dir_all(bench.path(folder)).unwrap();
        }
    }
}

/// Runs the program where no file may be larger than so many blocks of 512 bytes.
fn with_small_files(bench: &Bench, blocks: u64, line: &str) -> i32 {
    bench.start_after(&format!("ulimit -f {blocks}"), line).end().code
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
