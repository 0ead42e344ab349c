//! Memory: what a join holds of a batch beside `--memory` is what `plan` says, under a limit of the
//! address space. The signatures are part of `--memory`.

use std::process::Command;

use dupsieve::fingerprint::Class;
use dupsieve::store::{RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use crate::support::{Bench, Running};

const PAGES: u64 = 1_000_000;
/// What the program maps whatever it does: itself, its libraries, stacks, buffers of runs.
const BASE_MIB: u64 = 448;

/// A million pages with signatures of 128 bytes, of which a few hundred are near others.
fn signed(bench: &Bench) {
    bench.write("one.jsonl", "{\"id\": \"a\", \"text\": \"some words of a page\"}\n");
    bench.done("fingerprint --recipe words --check minhash --input one.jsonl --output one.seg");
    let stamp = Segment::open(bench.path("one.seg")).unwrap().stamp().to_owned();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut pages: Vec<u64> = (0..PAGES).map(|_| random.random()).collect();
    (0..500).for_each(|page| pages[2 * page] = pages[2 * page + 1] ^ 1);
    pages.sort_unstable();
    pages.dedup();
    let options = SegmentOptions { check_bytes: 128, stamp, ..SegmentOptions::default() };
    let mut writer = SegmentWriter::create(bench.path("batch.seg"), options).unwrap();
    let (mut check, rows) = ([0; 128], pages.len() as u64);
    for (number, fingerprint) in pages.into_iter().enumerate() {
        check[..8].copy_from_slice(&(number as u64 / 3).to_le_bytes());
        let (id, class) = (format!("page-{number:07}"), Class::Full);
        let row = Row {
            fingerprint,
            id: &id,
            length: 0,
            time: None,
            class,
            day: None,
            check: &check,
            bands: &[],
            digest: 0,
        };
        writer.push(&row).unwrap();
    }
    let counts = RecordCounts { read: rows, fingerprinted: rows, ..RecordCounts::default() };
    writer.finish(counts, "").unwrap();
}

/// Runs the program in so much address space, and gives its code.
fn within(bench: &Bench, mebibytes: u64, line: &str) -> i32 {
    let program = env!("CARGO_BIN_EXE_dupsieve");
    let limited = format!("ulimit -v {}; exec {program} {line}", mebibytes << 10);
    let mut shell = Command::new("sh");
    shell.current_dir(bench.path("")).env("MALLOC_ARENA_MAX", "2").args(["-c", &limited]);
    Running::start(shell).end().code
}

#[test]
fn a_million_pages_with_a_check_take_what_plan_says() {
    let bench = Bench::new();
    signed(&bench);
    let plan = bench.run("plan --batch 1e6 --store 0 --check minhash --json");
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    let held = plan["held_bytes_a_page"].as_u64().unwrap();
    assert!((26..128).contains(&held), "{held}");
    let (memory, held) = (128, (held * PAGES) >> 20);
    let join = format!(
        "dedup --batch batch.seg --check minhash:0.5 --memory {memory}MiB --workers 1 --output out"
    );
    assert_eq!(within(&bench, memory + held + BASE_MIB, &join), 0);
    assert!(bench.read("out/drop.txt").lines().count() > 100);
}
