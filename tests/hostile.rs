//! Hostile bytes: a seeded slice of what the fuzz targets do for hours. Files of the museum and pages
//! of every format are changed here and there and read; nothing may panic or hang.

use std::fs;
use std::path::{Path, PathBuf};

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use crate::readers;

const COPIES: u64 = 60;

fn museum(pattern: &str) -> Vec<Vec<u8>> {
    let pattern = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(pattern);
    let paths: Vec<PathBuf> = glob::glob(pattern.to_str().unwrap()).unwrap().flatten().collect();
    assert!(!paths.is_empty(), "{}", pattern.display());
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn attack(files: &[Vec<u8>], read: fn(&[u8])) {
    attack_often(COPIES, files, read);
}

fn attack_often(copies: u64, files: &[Vec<u8>], read: fn(&[u8])) {
    for (file, seed) in files.iter().zip(0..) {
        read(file);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..copies {
            read(&changed(file.clone(), &mut random));
        }
    }
}

/// Some bytes replaced, inserted, repeated or left out.
pub(crate) fn changed(mut bytes: Vec<u8>, random: &mut ChaCha8Rng) -> Vec<u8> {
    for _ in 0..random.random_range(1..5) {
        let [low, high] = [(); 2].map(|()| random.random_range(0..=bytes.len()));
        let part = low.min(high)..low.max(high).min(low.min(high) + 64);
        match random.random_range(0..5) {
            0 => drop(bytes.drain(part)),
            1 => bytes.splice(low..low, bytes[part].to_vec()).for_each(drop),
            2 => bytes.insert(low, *[0, 9, 10, 34, 92, 127, 128, 255].choose(random).unwrap()),
            3 => bytes.truncate(high),
            _ => part.take(1).for_each(|at| bytes[at] ^= 1 << random.random_range(0..8)),
        }
    }
    bytes
}

/// What reads files with this ending.
type ReaderOf = (&'static str, fn(&[u8]));

#[test]
fn files_of_the_museum() {
    let of_endings: [ReaderOf; 6] = [
        ("seg", readers::segment),
        ("json", readers::manifest),
        ("ledger", readers::ledger),
        ("bin", readers::clusters),
        ("journal", readers::journal),
        ("ids", readers::note),
    ];
    of_endings
        .into_iter()
        .for_each(|(ending, read)| attack(&museum(&format!("**/*.{ending}")), read));
    attack(&[include_bytes!("data/1/forgetful/REMOVED").to_vec()], readers::removed);
    if cfg!(feature = "parquet") {
        attack(&museum("**/*.parquet"), readers::tables::vectors);
    }
}

#[test]
fn texts_of_the_program() {
    let certificate =
        r#"{"format": 1, "version": 1, "oldest": 1, "segments": {}, "ids": {}, "later": []}"#;
    attack(&[certificate.as_bytes().to_vec()], readers::certificate);
    let counts = "dupsieve counts 1\n{\"of\":\"words\",\"documents\":9,\"min_count\":1,\"identity\":\"\"}\n\
        7\tfeature\n2\tof\ta tab\nend 2 0\n";
    attack(&[counts.as_bytes().to_vec()], readers::counts);
}

#[test]
fn indexes() {
    attack(&museum("**/*.seg"), readers::index);
    attack(&[b"mirror 0123456789abcdef\n".to_vec()], readers::index);
}

#[test]
fn filters() {
    attack(&museum("filters-1/filters/*"), readers::filters);
    attack(&[b"fuse 0123456789abcdef\n".to_vec()], readers::filters);
}

#[test]
fn responses() {
    let head = |name| {
        format!("HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Encoding: {name}\r\n\r\n")
    };
    let html = b"<meta charset=gbk><p>one<pre>two &amp; three</pre><script>x</script>".repeat(9);
    let zstd = zstd::encode_all(&html[..], 1).unwrap();
    let brotli = b"\x8b\x0f\x80<p>one<pre>two &amp; three</pre>\x03".to_vec();
    let bodies = [("none", html.clone()), ("zstd", zstd), ("br", brotli), ("deflate", html)];
    let files: Vec<_> =
        bodies.into_iter().map(|(name, body)| [head(name).as_bytes(), &body].concat()).collect();
    attack(&files, readers::response);
}

#[test]
fn html() {
    let units = [
        "a=\"b\" ",
        "a=\"b\"c='d' e=f/ ",
        "<b>",
        "</p><table>",
        "&amp;&#x9875;",
        "<!--->",
        "<script>\"</scrip",
        "<svg/><a href=\"&lt\">",
        "<![CDATA[]]>",
    ];
    attack_often(8, &units.map(|unit| unit.as_bytes().to_vec()), readers::html);
}

#[test]
fn documents() {
    let pages = "{\"id\": \"a\", \"text\": \"a page 页面\\n\", \"time\": \"2026-01-01T00:00:00Z\"}\n\
        id\ttext\nb\twords of a page\nc\t0x1f\nd\tfeature:1.5 other:-2\n\n";
    let warc = "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: a\r\nContent-Length: 4\r\n\r\npage\r\n\r\n"
        .repeat(3);
    let packed = zstd::encode_all(pages.as_bytes(), 0).unwrap();
    let mut files = Vec::new();
    for choice in 0..=9 {
        files.push([&[choice], pages.as_bytes()].concat());
        files.push([&[choice], warc.as_bytes()].concat());
        files.push([&[choice + 128], &packed[..]].concat());
    }
    attack(&files, readers::documents);
}

#[test]
fn texts() {
    let recipe = include_str!("../src/text/fingerprint/recipes.toml").as_bytes();
    let lists = "# some\n的\nthe\n词 10 n\na.example:7 # host\nid\tcluster\n".as_bytes();
    let files =
        [recipe.to_vec(), lists.to_vec(), b"blocks:6,choose:2".to_vec(), b"2026-11-21".to_vec()];
    attack(&files, readers::recipe);
    attack(&files, readers::lists);
    readers::dictionary(&files[1]);
}

#[test]
fn words() {
    let files = [
        "小明在ACM会议上说：他来到了网易杭研大厦。",
        "二〇二一年人々𠀀𠀁㐀 it's 3.14%, naïve_x a:b 鿖",
    ];
    attack(&files.map(|text| text.as_bytes().to_vec()), readers::words);
}

#[test]
fn pages() {
    let units = [
        "<a href=\"b\">c</a> <!-- d --> &amp; [e](http://f.g) 1 May 2024",
        "中文 words é。\u{301}",
    ];
    let ways = u8::try_from(readers::texts::ways().len()).unwrap();
    let files = (0..ways).map(|way| [&[way], units[usize::from(way) % 2].as_bytes()].concat());
    attack_often(8, &files.collect::<Vec<_>>(), readers::page);
}

#[test]
fn tables_of_results() {
    attack(&museum("tables-1/*/[vm]*"), readers::tables::results);
}

#[test]
fn addresses() {
    let files = ["s3://bucket/a/b", "https://user:word@host:8/a?b#c", "az://b//c", "file:///a"];
    attack_often(8 * COPIES, &files.map(|it| it.as_bytes().to_vec()), readers::address);
}

#[test]
fn bodies_of_requests() {
    let bodies = [
        "{\"distance\": 3, \"fingerprints\": [\"0x9ae16a3b2f90404f\", \"7\"]}",
        "{\"pages\": [{\"id\": 5, \"text\": \"a\\u0000b\", \"time\": \"2026-11-22\"}, {\"id\": \"b\", \"fingerprint\": \"1f\"}]}",
        "{\"day\": \"2026-11-22\", \"confirm_day\": true}",
    ];
    let chosen = [4, 252, 253, 254, 255]
        .into_iter()
        .flat_map(|choice: u8| bodies.map(|body| [&[choice], body.as_bytes()].concat()));
    attack_often(8 * COPIES, &chosen.collect::<Vec<_>>(), readers::bodies);
}

#[test]
fn callers() {
    let greeting = b"\x01\x40\0\0\0\0\0\0\0greeting".to_vec();
    attack(&[greeting, b"\0dupsiev1\x30\0then".to_vec()], readers::handshake::hear);
}
