//! Web archives give the pages that they hold; what is no page, and what is damaged, is counted. How heads are read is in `cases.txt`.

use std::fmt::Debug;
use std::io::Write;

use crate::document::reason::too_long;
use crate::document::sample::{Outcome, gzip, read_bytes, zstd};
use crate::document::{Content, Fields, OrderField, ReadOptions};
use crate::error::Result;

fn options() -> ReadOptions {
    let fields = Fields { order: Some(OrderField::time("WARC-Date")), ..Fields::default() };
    ReadOptions { fields, ..ReadOptions::default() }
}

fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<Outcome> {
    read_bytes("a.warc", bytes, options, &|page| match page.content {
        Content::Text(text) => format!("{} {:?} {text}", page.id, page.order.key().unwrap_or(-1)),
        other => panic!("{other:?}"),
    })
}

fn read_all(bytes: &[u8]) -> Outcome {
    read_with(bytes, &options()).unwrap()
}

fn text_of(head: &str, body: &[u8]) -> String {
    let block = [format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes(), body].concat();
    let outcome = read_all(&record("response", "http://a/", &block));
    let page = outcome.said()[0];
    page.strip_prefix("http://a/ 60 ").unwrap_or(page).to_owned()
}

fn record(kind: &str, url: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{url}>\r\n\
         WARC-Target-URI: {url}\r\nWARC-Date: 1970-01-01T00:01:00Z\r\n\
         Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn page(url: &str) -> Vec<u8> {
    let html = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page {url}");
    record("response", url, html.as_bytes())
}

const CHINESE: &str = "今天天气很好，我们一起去公园散步";

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    raw.write_all(bytes).unwrap();
    raw.finish().unwrap()
}

#[test]
fn bodies_are_unpacked_whatever_their_headers_say() {
    let html = format!("<p>{CHINESE}");
    let zlib = |bytes: &[u8]| {
        let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    };
    let bytes = html.as_bytes();
    // Brotli may store bytes as they are.
    let brotli = [&[0x0b, 0x19, 0x80][..], bytes, &[3]].concat();
    let chunks =
        [b"1f;x\r\n", &bytes[..31], b"\r\n14\r\n", &bytes[31..], b"\r\n0\r\n\r\n"].concat();
    let chunked = |bytes: &[u8]| {
        [&format!("{:x}\r\n", bytes.len()).into_bytes(), bytes, b"\r\n0\r\n\r\n"].concat()
    };
    let twice = "Content-Encoding: gzip\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked";
    let packed = [
        ("", bytes.to_vec()),
        ("Content-Encoding: gzip", gzip(bytes)),
        ("Content-Encoding: deflate", deflate(bytes)),
        ("Content-Encoding: deflate", zlib(bytes)),
        ("Content-Encoding: br", brotli),
        ("Content-Encoding: zstd", zstd(bytes)),
        ("Content-Encoding: deflate, gzip", gzip(&zlib(bytes))),
        ("Content-Encoding: deflate, gzip", zlib(&gzip(bytes))),
        ("Content-Encoding: identity\r\nContent-Encoding: gzip", gzip(bytes)),
        ("Transfer-Encoding: chunked", chunks),
        ("Transfer-Encoding: gzip, chunked", chunked(&gzip(bytes))),
        (twice, chunked(&gzip(&gzip(bytes)))),
    ];
    for (head, body) in packed {
        let kind = "Content-Type: text/html; charset=utf-8";
        let head = format!("{kind}\r\n{head}");
        assert_eq!(text_of(&head, &body), CHINESE, "{head}");
        assert_eq!(text_of(&head, bytes), CHINESE, "unpacked already: {head}");
        for len in (6..body.len() - 2).filter(|_| !head.ends_with("\r\n")) {
            let said = text_of(&head, &body[..len]);
            assert!(said.starts_with("! "), "{len} bytes of {head}: {said}");
        }
    }
    let head = "Content-Type: text/html\r\nContent-Encoding: gzip";
    let members = [&gzip(&bytes[..9])[..], &gzip(&bytes[9..]), b"\r\n\r\n"].concat();
    assert_eq!(text_of(head, &members), CHINESE);
    let half = &gzip(html.repeat(1000).as_bytes())[..200];
    assert_eq!(text_of(head, half), "! the body is cut off");
    let mut damaged = gzip(bytes);
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    let said = text_of(head, &damaged);
    assert!(said.starts_with("! the content encoding is damaged"), "{said}");
    let head = "Content-Type: text/html\r\nTransfer-Encoding: chunked";
    assert_eq!(text_of(head, b"3\r\n<p>\r\nx\r\na\r\n"), "! the chunks of the body are damaged");
    for name in ["compress", "x"] {
        let head = format!("Content-Type: text/html; charset=utf-8\r\nContent-Encoding: {name}");
        assert_eq!(text_of(&head, &gzip(bytes)[10..]), "! the bytes are no text", "{name}");
    }
    let plain = "Content-Type: text/plain\r\nContent-Encoding: gzip, deflate, br";
    assert_eq!(text_of(plain, &gzip(CHINESE.as_bytes())), CHINESE);
    // No media type is told, so it begins as HTML does.
    let html = format!("<!doctype html><p>{CHINESE}");
    let head = "Content-Type: html\r\nContent-Encoding: gzip";
    assert_eq!(text_of(head, &gzip(html.as_bytes())), CHINESE);
}

#[test]
fn bombs_are_bounded_and_counted() {
    let zeros = vec![b'0'; 1 << 20];
    let brotli = b"\x5b\xff\xff\x8f\x5f\x02\x26\x1e\x0b\x04\x72\xef\x1f\x00".to_vec();
    let all = [gzip, zstd, deflate].map(|pack| pack(&zeros)).into_iter().chain([brotli]);
    for (name, bomb) in ["gzip", "zstd", "deflate", "br"].into_iter().zip(all) {
        let head =
            format!("HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Encoding: {name}\r\n\r\n");
        let block = [head.as_bytes(), &bomb].concat();
        let small = ReadOptions { max_record_bytes: 1 << 16, ..options() };
        let outcome = read_with(&record("response", "http://a/", &block), &small).unwrap();
        assert_eq!(outcome.reasons(), [(1, &*too_long(1 << 16).to_string())], "{name}");
    }
    let many = (0..5).fold(b"<p>".to_vec(), |body, _| gzip(&body));
    let said = text_of("Content-Type: text/html\r\nContent-Encoding: gzip", &many);
    assert_eq!(said, "! more than 4 content encodings");
}

#[test]
fn a_record_that_is_too_long_is_passed_over() {
    let small = ReadOptions { max_record_bytes: 1 << 15, ..options() };
    let long = "x".repeat(1 << 17);
    let html = format!("HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\n{long}");
    let video = format!("HTTP/1.1 200\r\nContent-Type: video/mp4\r\n\r\n{long}");
    let warc = [
        page("http://a/"),
        record("response", "http://b/", html.as_bytes()),
        record("response", "http://c/", video.as_bytes()),
        page("http://d/"),
    ];
    let outcome = read_with(&warc.concat(), &small).unwrap();
    let bad = format!("! {}", too_long(1 << 15));
    let expected = ["http://a/ 60 page http://a/", &bad, "http://d/ 60 page http://d/"];
    assert_eq!(outcome.said(), expected);
    assert_eq!(outcome.skipped.to_string(), "1 media_type");
}

/// The records begin so, and there are no others.
fn assert_begin(outcome: &Outcome, begins: &[&str], what: impl Debug) {
    let said = outcome.said();
    let are_so = said.iter().zip(begins).all(|(said, begin)| said.starts_with(begin));
    assert!(said.len() == begins.len() && are_so, "{what:?}: {said:?}");
}

fn lying(url: &str, by: i64) -> Vec<u8> {
    let text = String::from_utf8(page(url)).unwrap();
    let at = text.find("Content-Length: ").unwrap() + 16;
    let end = at + text[at..].find('\r').unwrap();
    let length: i64 = text[at..end].parse().unwrap();
    format!("{}{}{}", &text[..at], length + by, &text[end..]).into_bytes()
}

#[test]
fn a_false_length_costs_one_record() {
    for by in [-40, -3, 9, 200, 400, 100_000] {
        let warc =
            [page("http://a/"), lying("http://b/", by), page("http://c/"), page("http://d/")];
        let outcome = read_all(&warc.concat());
        let begins = ["http://a/", "! the record does not end where", "http://c/", "http://d/"];
        assert_begin(&outcome, &begins, by);
    }
}

#[test]
fn the_record_after_a_long_bad_one_is_found() {
    let head = "WARC/1.0\r\nContent-Length: x\r\n\r\n";
    for begins in (1 << 17) - 12..(1 << 17) + 4 {
        let bad = format!("{head}{}\n", "y".repeat(begins - head.len() - 1));
        let outcome = read_all(&[bad.as_bytes(), &page("http://a/")].concat());
        assert_begin(&outcome, &["! ", "http://a/"], begins);
    }
}

#[test]
fn the_rest_of_a_damaged_file_is_one_bad_record() {
    let warc = [page("http://a/"), page("http://b/")].concat();
    let whole = page("http://a/").len();
    for len in [warc.len(), warc.len() - 2, warc.len() - 4] {
        let outcome = read_all(&warc[..len]);
        let counts = (outcome.records.len(), outcome.damaged.len());
        assert_eq!(counts, (2, 0), "only the end is missing");
    }
    let members = [gzip(&page("http://a/")), gzip(&page("http://b/"))].concat();
    let first = gzip(&page("http://a/")).len();
    let flipped = |at: usize| {
        let mut bytes = members.clone();
        bytes[at] ^= 0x55;
        bytes
    };
    let frames = [zstd(&page("http://a/")), zstd(&page("http://b/"))].concat();
    let mut last_flipped = frames.clone();
    *last_flipped.last_mut().unwrap() ^= 1;
    let (damaged, early) = ("the compressed data is damaged", "the compressed data ends too early");
    let cases = [
        (warc[..whole + 1].to_vec(), "the file ends within a record"),
        (warc[..whole + 20].to_vec(), "the file ends within a record"),
        (warc[..warc.len() - 5].to_vec(), "the file ends within a record"),
        (members[..first + 2].to_vec(), early),
        (members[..members.len() - 20].to_vec(), early),
        (flipped(first + 1), damaged),
        (flipped(first + 60), damaged),
        (flipped(members.len() - 6), damaged),
        (frames[..frames.len() - 20].to_vec(), early),
        (last_flipped, damaged),
    ];
    for (bytes, reason) in cases {
        let outcome = read_all(&bytes);
        let [damage] = outcome.damaged[..] else { panic!("{reason}: {outcome:?}") };
        assert_eq!(damage.at + damage.unread, bytes.len() as u64, "{reason}: all that follows");
        assert_begin(&outcome, &["http://a/", &format!("! {reason}")], reason);
        let bad = outcome.said()[1];
        assert!(reason.starts_with("the file") || bad.contains("a.warc at byte "), "{bad}");
        let accepting = ReadOptions { accept_truncated: true, ..options() };
        assert_eq!(read_with(&bytes, &accepting).unwrap().damaged.len(), 1, "{reason}");
    }
}

#[test]
fn hostile_archives_take_linear_time() {
    let begun = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec;
    let endless = "WARC/1.0\nA: b\n".repeat(300_000);
    let line_ends = format!("WARC/1.0\r\nContent-Length: 9\r\n\r\n{}", "\n".repeat(1 << 22));
    let far = "WARC/1.0\r\nContent-Length: 4000000\r\n\r\n".repeat(100_000);
    let arc = "filedesc://a 0.0.0.0 20050101000000 text/plain 0\n".to_owned()
        + &"a://b 1.2.3.4 20050101000000 x 999999\n".repeat(100_000);
    for warc in [endless, line_ends, far, arc] {
        read_all(warc.as_bytes());
    }
    let ended = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec;
    assert!(ended - begun < 60, "{} s on a processor", ended - begun);
}
