//! Passages: what is found is what the definition says, in the order that is asked for, by any workers and in little memory.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use serde_json::json;

use crate::support::Bench;
#[cfg(feature = "parquet")]
use crate::world::museum;
use crate::world::{gzip, record};

const HEADER: &str = "id\tbegin\tend\twords\tof\tof_begin\tagainst\n";

const PAGES: &str = concat!(
    "{\"id\": \"https://b.org/2\", \"day\": \"2026-11-02\", \"text\": \"Spring tides. All rights reserved\\nby the author, and nobody else.\"}\n",
    "{\"id\": \"https://a.org/1\", \"day\": \"2026-11-03\", \"text\": \"ALL RIGHTS reserved by the author! Autumn.\"}\n",
    "{\"id\": \"https://a.org/3\", \"day\": \"2026-11-01\", \"text\": \"Neap tides. Ａll rights reserved by the author, and nobody else. One two three four five. One two three four five.\"}\n",
    "{\"id\": \"https://a.org/3\", \"day\": \"2026-11-04\", \"text\": \"All rights reserved by the author\"}\n",
);

#[test]
fn passages_are_found_where_they_were_wrapped_and_cased() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    let line = "passages --input pages.jsonl --output found --words 5";
    let ended = bench.done(line);
    let counts = ["documents", "pages", "passages", "words", "repeated"];
    assert_eq!(counts.map(|name| ended.count(name)), [4, 3, 4, 45, 27]);
    let rows = [
        HEADER,
        "https://a.org/3\t12\t47\t6\thttps://a.org/1\t0\tbatch\n",
        "https://a.org/3\t91\t114\t5\thttps://a.org/3\t66\tbatch\n",
        "https://a.org/3\t0\t33\t6\thttps://a.org/1\t0\tbatch\n",
        "https://b.org/2\t7\t64\t10\thttps://a.org/3\t5\tbatch\n",
    ];
    assert_eq!(bench.read("found/passages.tsv"), rows.concat());
    let found = &bench.report("found")["found"];
    let most = json!({"of": "https://a.org/1", "of_begin": 0, "words": 6, "pages": 3, "hosts": 1});
    assert_eq!(found["most"][0], most);
    let host = json!({"host": "a.org", "words": 34, "repeated": 17, "share": 0.5});
    assert_eq!(found["hosts"][0], host);
    bench.again(line);
    bench.fails(73, &format!("{line} --keep longest"));
    bench.done("verify found --files-only");
}

#[test]
fn earlier_pages_are_those_that_keep_order_says() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    let line = "passages --input pages.jsonl --words 5 --time-field day";
    bench.done(&format!("{line} --keep newest --output newest"));
    let rows = [
        HEADER,
        "https://a.org/1\t0\t33\t6\thttps://a.org/3\t0\tbatch\n",
        "https://a.org/3\t5\t64\t10\thttps://b.org/2\t7\tbatch\n",
        "https://a.org/3\t91\t114\t5\thttps://a.org/3\t66\tbatch\n",
        "https://b.org/2\t14\t47\t6\thttps://a.org/3\t0\tbatch\n",
    ];
    assert_eq!(bench.read("newest/passages.tsv"), rows.concat());
    let line = "passages --input pages.jsonl --words 5 --keep oldest --output oldest";
    bench.refuses(2, line, &["--time-field"]);
}

#[test]
fn pages_are_copied_without_their_passages() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    let line = "passages --input pages.jsonl --output found --words 5 --kept clean --place-ids all --cut lines --max-repeated 0.9";
    let ended = bench.done(line);
    let counts = ["copied", "pages_cut", "words_cut", "pages_dropped"];
    assert_eq!(counts.map(|name| ended.count(name)), [3, 2, 20, 1]);
    let pages: Vec<&str> = PAGES.lines().collect();
    let cut = [
        pages[0].to_owned(),
        pages[1].replace("ALL RIGHTS reserved by the author! ", ""),
        pages[2]
            .replace("Ａll rights reserved by the author, and nobody else. ", "")
            .replace(" One two three four five.\"", " \""),
    ];
    assert_eq!(bench.read("clean/pages.jsonl").lines().collect::<Vec<_>>(), cut);
    bench.again(line);
    let words = line.replace("lines", "words").replace("--max-repeated 0.9", "");
    let words = words.replace("found", "more").replace("clean", "less");
    assert_eq!(counts.map(|name| bench.done(&words).count(name))[0], 4);
    let less = bench.read("less/pages.jsonl");
    assert!(less.contains("\"Neap . One two three four five. .\"}"), "{less}");
    assert!(less.ends_with("\"text\": \"\"}\n"), "{less}");
}

#[test]
fn columns_are_copied_without_their_passages() {
    let bench = Bench::new();
    let rows = "id,text,n\n1,\"a b c, d e\",7\n2,\"x \"\"y\"\" a, b c d e\",8\n";
    bench.write("pages.csv", rows);
    bench.write(
        "pages.tsv",
        rows.replace("\"\"", "'")
            .replace('"', "")
            .replacen("c, d", "c d", 1)
            .replace("a, b", "a b")
            .replace(',', "\t"),
    );
    bench.done("passages --input pages.csv pages.tsv --output found --words 5 --place-ids all --cut words --kept clean");
    assert_eq!(bench.read("clean/pages.csv"), rows.replace("a, b c d e", ""));
    let tsv = "id\ttext\tn\n1\t\t7\n2\t\t8\n";
    assert_eq!(bench.read("clean/pages.tsv"), tsv);
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let bench = Bench::new();
    bench.write("pages.jsonl", PAGES);
    let line = "passages --input pages.jsonl --output found --words 5 --kept clean";
    bench.refuses(2, line, &["--cut lines"]);
    bench.refuses(
        65,
        &format!("{line} --cut lines"),
        &["an id stands for two pages", "--place-ids all"],
    );
    assert!(!bench.path("kept").exists());
}

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
    let lines: Vec<serde_json::Value> =
        warc.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
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
    bench.write("pages.jsonl", PAGES);
    let html = "passages --input pages.jsonl --html --words 5 --output html --place-ids all --cut words --kept text";
    bench.done(html);
    let first = bench.read("text/pages.jsonl");
    assert!(first.starts_with("{\"id\":\"pages.jsonl:1\",\"text\":\"Spring"), "{first}");
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
