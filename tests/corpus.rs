//! One corpus in one go: the same results as from the single commands, and the kept records as they came.

use std::fs;
use std::io::Write;

use crate::support::Bench;
use crate::world::{gzip, museum, record, words};

fn text(number: usize) -> String {
    words(100 * number..100 * number + 60)
}

fn line(number: usize) -> String {
    format!("{{\"text\": \"{}\", \"n\": {number}}}\n", text(number))
}

#[test]
fn a_copy_is_packed_exactly_if_its_file_is() {
    let bench = Bench::new();
    bench.write("in/X.JSONL.GZ", gzip(line(1)));
    bench.write("in/bare", gzip(line(2)));
    bench.write("in/plain.jsonl.gz", line(3));
    bench.write("in/plain.jsonl.zst", line(4));
    bench.write("in/z.jsonl", zstd::encode_all(line(5).as_bytes(), 0).unwrap());
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(line(6).as_bytes()).unwrap();
    bench.write("in/b.jsonl.bz2", bzip2.finish().unwrap());
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    xz.write_all(line(7).as_bytes()).unwrap();
    bench.write("in/x.jsonl.xz", xz.finish().unwrap());
    bench.done("dedup --input in/* --output found --kept kept");
    let plain = ["plain.jsonl.gz", "plain.jsonl.zst"];
    let packed = ["X.JSONL.GZ", "bare", "z.jsonl", "b.jsonl.bz2", "x.jsonl.xz"];
    for name in plain.into_iter().chain(packed) {
        let [came, copied] = ["in", "kept"].map(|folder| bench.bytes(&format!("{folder}/{name}")));
        assert_eq!(came[..2], copied[..2], "{name}");
    }
    assert_eq!(bench.read("kept/plain.jsonl.gz"), line(3));
    let again = bench.done("dedup --input kept/* --output again");
    assert_eq!(again.count("kept"), 7);
}

#[test]
fn a_file_is_copied_byte_by_byte() {
    let bench = Bench::new();
    let utf16: Vec<u8> =
        format!("\u{feff}{}", text(1)).encode_utf16().flat_map(u16::to_le_bytes).collect();
    bench.write("corpus/wide.txt", &utf16);
    bench.done("dedup --input corpus --output found --kept kept");
    assert_eq!(bench.bytes("kept/wide.txt"), utf16);
}

/// The places of records are counted as in messages: lines, or records where there are no lines.
#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet_and_records_of_archives_have_places_too() {
    let bench = Bench::new();
    let named = record("conversion", "http://a/", &words(0..60));
    let nameless = record("conversion", "", &words(100..160)).replace("WARC-Target-URI: \r\n", "");
    bench.write("corpus/w.warc", [&*named, &*nameless, &*nameless].concat());
    let file = museum("parquet/polars.parquet");
    fs::copy(file, bench.path("corpus/p.parquet")).unwrap();
    let ended = bench.done(
        "dedup --input corpus --id-field WARC-Target-URI --max-bad 1 --output found --kept kept",
    );
    let kept = bench.read("found/dedup/keep.txt");
    for id in ["p.parquet:1", "p.parquet:2", "http://a/", "w.warc:2"] {
        assert!(kept.lines().any(|it| it == id), "{id}: {kept}");
    }
    assert!(ended.count("dropped") >= 1);
    assert_eq!(bench.read("kept/w.warc"), named + &nameless);
    let again = bench.done("dedup --input kept/p.parquet --place-ids all --output again");
    assert_eq!(again.count("read"), kept.matches("p.parquet:").count() as u64);
}
