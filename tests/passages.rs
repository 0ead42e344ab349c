//! Passages: what is found is what the definition says, in the order that is asked for, by any workers and in little memory.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use serde_json::json;

use crate::support::Bench;
#[cfg(feature = "parquet")]
use crate::world::museum;
use crate::world::{gzip, json_lines, record};

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    MultiGzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

/// What cannot be put back into its record is a page as JSON Lines: web archives, HTML, other encodings.
#[test]
fn pages_whose_records_take_no_text_are_copied_as_json_lines() {
    let bench = Bench::new();
    let pages = [
        record("conversion", "http://a/", "one two three four"),
        record("conversion", "http://b/", "first\nONE, two & three four"),
    ];
    bench.write("crawl/pages.warc.gz", gzip(pages.concat()));
    bench.write("crawl/z/page.html", "<p>last<p>one two three four");
    bench.write("crawl/y.html", "<p>one two three four");
    let line = "passages --input crawl --words 4 --output found --kept clean --max-repeated 0.9";
    let ended = bench.done(&format!("{line} --cut lines"));
    let counts = ["copied", "pages_cut", "words_cut", "pages_dropped"];
    assert_eq!(counts.map(|name| ended.count(name)), [3, 2, 8, 1]);
    let warc = gunzip(&bench.bytes("clean/pages.warc.jsonl.gz"));
    let lines = json_lines(&warc);
    assert_eq!(lines[0], json!({"id": "http://a/", "text": "one two three four"}));
    assert_eq!(lines[1]["text"].as_str().unwrap().trim(), "first");
    assert!(bench.read("clean/y.html.jsonl").is_empty());
    assert!(
        bench
            .read("clean/z/page.html.jsonl")
            .starts_with("{\"id\":\"z/page.html\",\"text\":\"last\\n")
    );
    // Records that are not cut are copied as they came.
    bench.done(&line.replace("clean", "whole"));
    assert_eq!(gunzip(&bench.bytes("whole/pages.warc.gz")), pages.concat());
}

#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet_are_copied_without_their_passages() {
    let bench = Bench::new();
    bench.write("A.jsonl", "{\"id\": \"A\", \"text\": \"first page\"}\n");
    let cut = "{\"id\": \"a\", \"text\": \"the \"}\n{\"id\": \"b\", \"text\": \"第二页\"}\n";
    bench.write("cut.jsonl", cut);
    bench.done("fingerprint --input cut.jsonl --output cut.seg");
    for name in ["pyarrow", "pyarrow-int96", "duckdb", "polars"] {
        let file = museum(&format!("parquet/{name}.parquet"));
        // The text of one row is null.
        let line = format!("passages --input A.jsonl {file} --max-bad 1 --words 2 --output {name}");
        let ended = bench.done(&format!("{line} --cut words --kept clean-{name}"));
        assert_eq!(["copied", "words_cut"].map(|it| ended.count(it)), [3, 2]);
        bench.done(&format!(
            "fingerprint --input clean-{name}/{name}.parquet --max-bad 1 --output {name}.seg"
        ));
        let [found, expected] =
            [name, "cut"].map(|it| bench.answer(&format!("inspect {it}.seg --dump")));
        assert_eq!(found, expected, "{name}");
    }
}
