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
