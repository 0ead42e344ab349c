//! Memory: what is packed to next to nothing takes what one record may. What a join holds of a batch beside `--memory` is what `plan` says, under a limit of the
//! address space. The signatures are part of `--memory`.

use std::io::{self, Read};

use dupsieve::passages::{PageWords, anchors_of};
use dupsieve::store::{Details, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};
use flate2::Compression;
use flate2::write::GzEncoder;
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use crate::support::Bench;
use crate::world::{page, words};

const PAGES: u64 = 1_000_000;
/// What the program maps whatever it does: itself, its libraries, stacks, buffers of runs.
const BASE_MIB: u64 = 448;

/// A million pages with signatures of 128 bytes, of which a few hundred are near others.
fn signed(bench: &Bench) {
    bench.write("one.jsonl", "{\"id\": \"a\", \"text\": \"some words of a page\"}\n");
    bench.done("fingerprint --recipe words --sketch minhash --input one.jsonl --output one.seg");
    let stamp = Segment::open(bench.path("one.seg")).unwrap().stamp().to_owned();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut pages: Vec<u64> = (0..PAGES).map(|_| random.random()).collect();
    (0..500).for_each(|page| pages[2 * page] = pages[2 * page + 1] ^ 1);
    pages.sort_unstable();
    pages.dedup();
    let options = SegmentOptions { check_bytes: 128, stamp, ..SegmentOptions::default() };
    let mut writer = SegmentWriter::create(bench.path("batch.seg"), options).unwrap();
    let (mut details, rows) = (Details::default(), pages.len() as u64);
    details.check = vec![0; 128];
    for (number, fingerprint) in pages.into_iter().enumerate() {
        details.check[..8].copy_from_slice(&(number as u64 / 3).to_le_bytes());
        let id = format!("page-{number:07}");
        let mut row = Row::new(fingerprint, &id);
        row.details = &details;
        writer.push(&row).unwrap();
    }
    let counts = RecordCounts { read: rows, fingerprinted: rows, ..RecordCounts::default() };
    writer.finish(counts, "").unwrap();
}

/// Runs the program in so much address space, and gives its code.
fn within(bench: &Bench, mebibytes: u64, line: &str) -> i32 {
    let limit = format!("export MALLOC_ARENA_MAX=2; ulimit -v {}", mebibytes << 10);
    bench.start_after(&limit, line).end().code
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

/// A store with long ids whose pages all have one text, so that each of them may have a passage in common with the day.
#[test]
fn pages_that_share_a_passage_are_sorted_within_the_memory() {
    const PAGES: u64 = 250_000;
    let bench = Bench::new();
    let text = words(0..50);
    bench.write("new.jsonl", page("new", &text));
    bench.done("fingerprint --recipe words --keep-passages --input new.jsonl --output new.seg");
    let mut found = PageWords::default();
    found.take(&text).unwrap();
    let mut details = Details::default();
    found.write(&mut details.words);
    details.passage_anchors = anchors_of(&found.hashes);
    let mut options = SegmentOptions::default();
    (options.words, options.passage_anchors) = (true, true);
    options.stamp = Segment::open(bench.path("new.seg")).unwrap().stamp().to_owned();
    let mut writer = SegmentWriter::create(bench.path("old.seg"), options).unwrap();
    let id = |number: u64| format!("{}{number:07}", "a".repeat(1_200));
    for number in 0..PAGES {
        let id = id(PAGES - 1 - number);
        let mut row = Row::new(number << 40, &id);
        row.details = &details;
        writer.push(&row).unwrap();
    }
    let counts = RecordCounts { read: PAGES, fingerprinted: PAGES, ..RecordCounts::default() };
    writer.finish(counts, "").unwrap();
    bench.store(&[("2026-11-01", "old")]);
    let join = |memory: &str| {
        let line = "dedup --batch new.seg --store store --passages 50 --workers 2 --output out";
        within(&bench, 256, &format!("{line} --memory {memory}"))
    };
    // All ids together are too large.
    assert_ne!(join("2GiB"), 0);
    assert_eq!(join("64MiB"), 0);
    let of = id(0);
    let expected = ["new", "0", &text.len().to_string(), "50", &of, "0", "2026-11-01"];
    assert_eq!(bench.rows("out/passages.tsv"), [expected]);
}

/// Pages of a gigabyte that are packed to some kilobytes, as whole files and within a web archive.
#[test]
fn bombs_take_the_memory_of_a_record() {
    let bench = Bench::new();
    let zeros = || io::repeat(b'0').take(1 << 30);
    let zstd = zstd::encode_all(zeros(), 1).unwrap();
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    io::copy(&mut zeros(), &mut packer).unwrap();
    let gzip = packer.finish().unwrap();
    for (name, bomb) in [("gzip", gzip), ("zstd", zstd)] {
        let head =
            format!("HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Encoding: {name}\r\n\r\n");
        let length = head.len() + bomb.len();
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: a\r\nContent-Length: {length}\r\n\r\n{head}"
        );
        bench.write("page.warc", [record.as_bytes(), &bomb].concat());
        bench.write("page", bomb);
        for (format, file) in [("jsonl", "page"), ("html", "page"), ("warc", "page.warc")] {
            let line = format!(
                "fingerprint --overwrite --format {format} --max-record 8MiB --max-bad 100% --input {file} --output out.seg"
            );
            assert_eq!(within(&bench, BASE_MIB, &line), 0, "{name} {format}");
            assert!(
                bench.read("out.seg.quarantine.tsv").contains("longer than"),
                "{name} {format}"
            );
        }
    }
}
