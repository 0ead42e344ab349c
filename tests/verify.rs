//! What was written is proved whole by `verify`: every file is the one that was written, and what they were made from is what the report
//! says.

use std::fs;

use crate::support::Bench;

/// An output with matches of every kind, bad records and empty pages, and what it was made from.
fn joined() -> Bench {
    let bench = Bench::new();
    let odd = "{\"id\": \"blank\", \"text\": \"\"}\n{]\n";
    bench.write("pages.jsonl", bench.documents(0, 300) + odd);
    bench.write("old.jsonl", bench.documents(200, 400));
    bench.done("fingerprint --input old.jsonl --output old.seg");
    bench.store(&[("2026-01-01", "old")]);
    std::fs::create_dir(bench.path("out")).unwrap();
    bench.done("fingerprint --input pages.jsonl --output out/batch.seg");
    bench.done("dedup --batch out/batch.seg --store store --output out/dedup --matches all");
    bench
}

#[test]
fn what_is_whole_is_proved_whole() {
    let bench = joined();
    let before = bench.tree();
    let ended = bench.done("verify out/dedup");
    assert_eq!(ended.count("inputs_verified"), 2);
    assert_eq!(ended.count("documents"), 301);
    assert!(ended.count("matches") > 100 && ended.count("bytes") > 1000);
    assert_eq!(bench.done("verify out").count("documents"), 301);
    let counts = ["read", "fingerprinted", "empty", "repeated", "quarantined"];
    let ended = bench.done("verify out/batch.seg");
    assert_eq!(counts.map(|name| ended.count(name)), [302, 300, 1, 0, 1]);
    assert_eq!(bench.done("verify store").count("fingerprints"), 200);
    assert_eq!(bench.tree(), before, "nothing is written");
    bench.done("dedup --batch out/batch.seg --store store --output best");
    bench.done("verify best --memory 1MiB");
    bench.done("dedup --batch old.seg --output alone --processes 2 --workers 1");
    assert_eq!(bench.done("verify alone").count("inputs_verified"), 1);
    fs::remove_file(bench.path("old.seg")).unwrap();
    bench.fails(66, "verify alone");
    assert_eq!(bench.done("verify alone --files-only").count("inputs_verified"), 0);
    bench.fails(66, "verify nowhere");
    bench.write("strange/file", "");
    bench.fails(65, "verify strange");
    bench.fails(65, "verify strange/file");
}

#[test]
fn a_report_that_tells_of_zeros_is_whole_and_done() {
    let bench = Bench::new();
    let rows: String = (0..1200).map(|page| format!("z{page}\t0x0\n")).collect();
    bench.write("zeros.tsv", rows);
    let batch = format!("{}.seg", "0".repeat(32));
    let external = "--format fingerprints --recipe external-128";
    bench.done(&format!("fingerprint --input zeros.tsv {external} --output {batch}"));
    let line = format!("dedup --batch {batch} --output out");
    bench.done(&line);
    assert_eq!(
        bench.report("out")["outcome"]["hot_copies"][0]["fingerprint"],
        format!("0x{:032x}", 0)
    );
    bench.done("verify out");
    bench.done(&line);
}

/// What people read of an output is checked, and no job reads it again. (Flipped bits in every other file: `slices.rs`.)
#[test]
fn a_page_that_was_damaged_is_65_and_one_that_is_missing_is_told() {
    let bench = joined();
    let name = "out/dedup/report.html";
    let page = bench.bytes(name);
    for at in [0, page.len() / 2, page.len() - 1] {
        let mut bytes = page.clone();
        bytes[at] ^= 1;
        bench.write(name, bytes);
        bench.refuses(65, "verify out", &["report.html"]);
    }
    fs::remove_file(bench.path(name)).unwrap();
    let told = bench.done("verify out").stderr;
    assert!(told.contains("report.html is missing and was not checked"), "{told}");
    bench.write(name, page);
    bench.done("verify out");
    fs::remove_file(bench.path("out/dedup/_SUCCESS")).unwrap();
    bench.fails(65, "verify out/dedup");
}

#[test]
fn inputs_that_are_others_now_are_65() {
    let bench = joined();
    bench.done("fingerprint --input old.jsonl --output out/batch.seg --overwrite");
    bench.refuses(65, "verify out/dedup", &["batch.seg", "not the batch"]);
    bench.done("fingerprint --input pages.jsonl --output out/batch.seg --overwrite");
    bench.done("verify out");
    bench.done("store add store --segment out/batch.seg --day 2026-01-02");
    bench.done("store compact store");
    bench.done("verify out");
    fs::remove_dir_all(bench.path("store")).unwrap();
    bench.fails(66, "verify out");
    assert_eq!(bench.done("verify out --files-only").count("inputs_verified"), 1);
    bench.done("store init store");
    bench.done("store add store --segment out/batch.seg --day 2026-01-01");
    bench.refuses(65, "verify out", &["not the store"]);
}
