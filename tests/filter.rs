//! The kept pages themselves: copied as they came, all of them or none.

use std::io::Read;

use flate2::bufread::GzDecoder;

use crate::support::Bench;
use crate::world::record;

#[test]
fn each_record_of_an_archive_is_packed_by_itself() {
    let bench = Bench::new();
    let pages = ["a", "b"].map(|url| record("conversion", url, "a page"));
    bench.write("crawl.warc", pages.concat());
    bench.write("ids.txt", "a\nb\n");
    bench.done("filter --input crawl.warc --ids ids.txt --output kept.warc.gz");
    let (bytes, mut first) = (bench.bytes("kept.warc.gz"), String::new());
    GzDecoder::new(&bytes[..]).read_to_string(&mut first).unwrap();
    assert_eq!(first, pages[0]);
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
