//! The kept pages themselves: copied as they came, all of them or none.

use std::io::Read;

use flate2::bufread::GzDecoder;

use crate::support::{Bench, Running};
use crate::world::{museum, record, words};

#[test]
fn records_of_archives_are_copied_byte_for_byte_each_packed_by_itself() {
    let bench = Bench::new();
    let pages = ["a", "b", "c"].map(|url| record("conversion", url, &format!("page {url}\n")));
    let request = record("request", "a", "GET / HTTP/1.1\r\n\r\n");
    bench.write("crawl.warc", [&request[..], &pages[0], &pages[1], &pages[2]].concat());
    bench.write("ids.txt", "c\na\n");
    let kept = format!("{}{}", pages[0], pages[2]);
    bench.done("filter --input crawl.warc --ids ids.txt --output kept.warc");
    assert_eq!(bench.read("kept.warc"), kept);
    bench.done("filter --input crawl.warc --ids ids.txt --output kept.warc.gz");
    assert_eq!(first_member(&bench, "kept.warc.gz"), pages[0]);
    bench.done("filter --input crawl.warc --ids ids.txt --output kept.warc.zst");
    for packed in ["kept.warc.gz", "kept.warc.zst"] {
        bench.done(&format!("filter --input {packed} --ids ids.txt --output {packed}.warc"));
        assert_eq!(bench.read(&format!("{packed}.warc")), kept);
    }
    // No bytes at all would be no compressed file.
    bench.write("none.txt", "");
    for ending in ["", ".gz", ".zst"] {
        bench.done(&format!("filter --input crawl.warc --ids none.txt --output none.warc{ending}"));
    }
    assert_eq!((bench.read("none.warc"), first_member(&bench, "none.warc.gz")), Default::default());
    assert!(zstd::decode_all(&bench.bytes("none.warc.zst")[..]).unwrap().is_empty());
}

fn first_member(bench: &Bench, name: &str) -> String {
    let mut text = String::new();
    let bytes = bench.bytes(name);
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    text
}

/// What `run` advises can be done with pages of several formats too.
#[test]
fn kept_pages_are_copied_into_files_of_their_formats() {
    let bench = Bench::new();
    let info = "filedesc://a.arc 0.0.0.0 20050101000000 text/plain 12\n1 0 someone\n";
    let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{}", words(0..120));
    let page = format!("http://a/ 1.2.3.4 20050101000000 text/plain {}\n{page}\n", page.len());
    bench.write("my crawl/2026-11-18/a.arc", format!("{info}{page}"));
    bench.write("my crawl/2026-11-18/b.warc", record("conversion", "http://b/", &words(200..320)));
    bench.write(
        "my days.toml",
        "inputs = [\"my crawl/{date}/*\"]\noutput = \"my out/{date}\"\nstore = \"store\"\n",
    );
    let run = |words: &[&str]| {
        let mut command = bench.command("");
        command.args(words);
        let ended = Running::start(command).end();
        assert_eq!(ended.code, 0, "{ended:?}");
        ended
    };
    let ran = run(&["run", "my days.toml", "--date", "2026-11-18"]);
    for (what, last) in
        [("copy the kept pages", "kept"), ("check the results", "'my out/2026-11-18'")]
    {
        let advice = ran.stderr.lines().find(|line| line.contains(what)).unwrap();
        assert!(advice.ends_with(last), "{advice}");
    }
    run(&["filter", "--config", "my days.toml", "--all", "--output", "kept"]);
    for name in ["a.arc", "b.warc"] {
        let [kept, crawled] =
            ["kept", "my crawl"].map(|it| bench.read(&format!("{it}/2026-11-18/{name}")));
        assert_eq!(kept, crawled);
    }
}

/// Rows of files that other programs wrote are copied with all their columns, and what is copied is read as the same pages.
#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet_are_copied_into_parquet() {
    let bench = Bench::new();
    bench.write("ids.txt", "b\n");
    for name in ["pyarrow", "pyarrow-int96", "duckdb", "polars"] {
        let file = museum(&format!("parquet/{name}.parquet"));
        let line = format!("filter --input {file} --time-field fetched --ids ids.txt");
        let ended = bench.done(&format!("{line} --output {name}.parquet"));
        assert_eq!(ended.count("copied"), 1);
        bench.again(&format!("{line} --output {name}.parquet"));
        for (input, output) in [(file.clone(), "all"), (format!("{name}.parquet"), "one")] {
            bench.done(&format!(
                "fingerprint --input {input} --time-field fetched --max-bad 1 --output {name}-{output}.seg"
            ));
        }
        let [all, one] =
            ["all", "one"].map(|it| bench.answer(&format!("inspect {name}-{it}.seg --dump")));
        let expected: String = all
            .lines()
            .filter(|line| line.starts_with("b\t"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(one, expected, "{name}");
        bench.refuses(2, &format!("{line} --output {name}.parquet.gz"), &["compressed inside"]);
    }
    bench.write("pages.jsonl", "{\"id\": \"a\", \"text\": \"one page\"}\n");
    bench.refuses(
        2,
        "filter --input pages.jsonl polars.parquet --ids ids.txt --output x",
        &["files of two formats", "polars.parquet"],
    );
    bench.refuses(
        2,
        "filter --input polars.parquet pyarrow-int96.parquet --ids ids.txt --output x",
        &["different columns"],
    );
    // The text of `c` is null, so it is no page.
    bench.write("ids.txt", "c\n");
    bench.fails(65, "filter --input polars.parquet --ids ids.txt --output x");
    assert!(!bench.path("x").exists());
}

/// Records of responses as a crawler writes them: name, time, more lines of the head, and the body.
fn response(name: &str, time: u8, more: &str, body: &str) -> String {
    let block =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Name: {name}\r\n\r\n{body}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:{name}>\r\nWARC-Target-URI: http://{name}/\r\n\
         WARC-Date: 2026-11-18T00:00:0{time}Z\r\n{more}Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn a_payload_that_comes_again_becomes_a_revisit_of_the_first_and_all_else_stays() {
    let bench = Bench::new();
    let digest = "WARC-Payload-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n";
    let known = "WARC-Payload-Digest: sha256:known\r\n";
    let same = "the same page";
    let first = response("first", 1, "", same);
    let unchanged = [
        response("near", 2, "", "the same page!"),
        // What a digest says is not believed, and other digests of the same bytes are other payloads.
        response("said", 3, digest, "abc"),
        response("false", 4, digest, "other"),
        response("unlike", 5, "WARC-Payload-Digest: sha256:x\r\n", same),
        response("cut", 6, "WARC-Truncated: length\r\n", same),
        response("empty", 6, "", ""),
        response("void", 6, "", ""),
        // A revisit of the crawler refers to one of these, so both stay.
        response("one", 7, known, "known"),
        response("two", 7, known, "known"),
        format!("WARC/1.0\r\nWARC-Type: revisit\r\n{known}Content-Length: 0\r\n\r\n\r\n\r\n"),
        record("request", "first", "GET / HTTP/1.1\r\n\r\n"),
    ];
    let again = response("again", 8, "", same);
    let said_again = response("again-said", 9, digest, "abc");
    bench.write("crawl/1.warc", format!("{first}{}", unchanged.concat()));
    bench.write("crawl/2.warc", format!("{again}{said_again}"));
    let summary = bench.done("filter --input crawl --revisits --output small.warc").summary();
    let counts = &summary["counts"];
    assert_eq!((counts["copied"].as_u64(), counts["revisits"].as_u64()), (Some(14), Some(2)));
    let small = bench.read("small.warc");
    let kept = format!("{first}{}", unchanged.concat());
    let revisits = small.strip_prefix(&kept).expect("all else stays");
    let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Name: again\r\n\r\n";
    let expected = "WARC/1.0\r\nWARC-Type: revisit\r\n\
         WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n\
         WARC-Refers-To: <urn:first>\r\nWARC-Refers-To-Target-URI: http://first/\r\n\
         WARC-Refers-To-Date: 2026-11-18T00:00:01Z\r\nWARC-Payload-Digest: sha1:";
    assert!(revisits.starts_with(expected), "{revisits}");
    assert!(
        revisits.contains(&format!("Content-Length: {}\r\n\r\n{http}\r\n\r\nWARC", http.len()))
    );
    assert!(revisits.contains("WARC-Refers-To: <urn:said>\r\n") && revisits.contains(digest));
    assert!(!revisits.contains(same) && !revisits.contains("abc"), "{revisits}");
    bench.done("filter --input small.warc --revisits --output once-more.warc.zst");
    bench.done("filter --input once-more.warc.zst --revisits --output plain.warc");
    assert_eq!(bench.read("plain.warc"), small);
}
