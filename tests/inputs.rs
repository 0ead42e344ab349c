//! What is read: no format is guessed in silence, no file that was named is left out without a word,
//! and what is odd about a record or a file is told.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::Bench;

/// JSON lines of `count` pages with words of their own, ids from `first` on.
fn pages(first: usize, count: usize) -> String {
    let page =
        |n| format!("{{\"id\": \"p{n}\", \"text\": \"page {n} of many words, {}\"}}\n", n * n);
    (first..first + count).map(page).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn a_folder_of_csv_is_refused_by_name() {
    let bench = Bench::new();
    bench.write("crawl/a.csv", "id,text\n1,one page\n");
    bench.write("crawl/b.csv", "id,text\n2,another page\n");
    for input in ["crawl", "crawl/a.csv", "crawl/*", "crawl/**"] {
        let said = bench.fails(2, &format!("fingerprint --input {input} --output out.seg"));
        assert!(said.contains("crawl/a.csv") && said.contains("found CSV"), "{said}");
        assert!(said.contains("--format"), "{said}");
    }
    assert!(!bench.path("out.seg").exists());
}

#[test]
fn a_wet_file_is_refused_whatever_it_is_called() {
    let bench = Bench::new();
    let wet = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 4\r\n\r\npage\r\n\r\n";
    for name in ["CC-MAIN.warc.wet.gz", "crawl.wet", "part-00000.gz", "pages.txt"] {
        let bytes = if name.ends_with("gz") { gzip(wet.as_bytes()) } else { wet.into() };
        bench.write(name, bytes);
        let said = bench.fails(2, &format!("fingerprint --input {name} --output out.seg"));
        assert!(said.contains(name) && said.contains("found WARC"), "{said}");
    }
}

#[test]
fn json_lines_are_read_as_such_whatever_the_file_is_called() {
    let bench = Bench::new();
    bench.write("crawl/part-00000.gz", gzip(pages(0, 40).as_bytes()));
    bench.write("crawl/part-00001", pages(40, 40));
    bench.write("crawl/pages.jsonl.1", pages(80, 20));
    for input in ["crawl", "crawl --format jsonl", "crawl/part-00000.gz crawl/p*1"] {
        let ended = bench.done(&format!("fingerprint --input {input} --output out.seg"));
        assert_eq!(ended.count("fingerprinted"), 100, "{input}");
        assert!(ended.stderr.contains("3 files as jsonl") || ended.stderr.contains("done already"));
        fs::remove_file(bench.path("out.seg")).unwrap();
    }
}

#[test]
fn json_that_is_not_lines_among_texts_is_passed_over_by_name() {
    let bench = Bench::new();
    let package = gzip(b"{\n  \"name\": \"a package\",\n  \"version\": \"1\"\n}\n");
    bench.write("doc/nodejs/package.json.gz", package);
    bench.write("doc/nodejs/copyright", "all of the words of a licence");
    let ended = bench.done("fingerprint --input doc --output out.seg");
    assert_eq!((ended.count("read"), ended.count("passed_over")), (1, 1));
    assert!(ended.stderr.contains("1 of them: doc/nodejs/package.json.gz"), "{}", ended.stderr);
    let again = bench.done("fingerprint --input doc --output out.seg");
    assert_eq!(again.summary()["counts"], ended.summary()["counts"]);
    fs::remove_file(bench.path("doc/nodejs/copyright")).unwrap();
    let said = bench.fails(66, "fingerprint --input doc --output none.seg");
    assert!(said.contains("package.json.gz"), "{said}");
}

#[test]
fn what_a_named_format_leaves_out_is_counted_by_name() {
    let bench = Bench::new();
    bench.write("crawl/a.jsonl", pages(0, 3));
    bench.write("crawl/b.jsonl.1", pages(3, 3));
    bench.write("crawl/c.jsonl.txt", pages(6, 3));
    bench.write("crawl/d.jsonl.xz", b"\xfd7zXZ\0\0\x04");
    let ended = bench.done("fingerprint --input crawl --format jsonl --output out.seg");
    assert_eq!((ended.count("read"), ended.count("passed_over")), (9, 1));
    assert!(ended.stderr.contains("1 of them: crawl/d.jsonl.xz"), "{}", ended.stderr);
    let said = bench.fails(2, "fingerprint --input crawl --output auto.seg");
    assert!(said.contains("d.jsonl.xz"), "{said}");
}

#[test]
fn a_field_is_not_named_where_there_are_none() {
    let bench = Bench::new();
    bench.write("texts/a.txt", "a page");
    bench.write("f.tsv", "a\t7\n");
    for (flag, input) in [
        ("--id-field url", "texts"),
        ("--text-field body", "texts --format text"),
        ("--time-field at", "f.tsv --format fingerprints"),
    ] {
        let job = format!("fingerprint --input {input} {flag} --output out.seg");
        let said = bench.fails(2, &job);
        assert!(said.contains("has no fields"), "{said}");
    }
    bench.done("fingerprint --input texts --output out.seg");
}

#[test]
fn a_link_that_leads_nowhere_is_refused() {
    let bench = Bench::new();
    bench.write("crawl/a.jsonl", pages(0, 3));
    symlink("gone.jsonl", bench.path("crawl/b.jsonl")).unwrap();
    for input in ["crawl", "crawl/*.jsonl", "crawl/**", "crawl/b.jsonl"] {
        let said = bench.fails(66, &format!("fingerprint --input {input} --output out.seg"));
        assert!(said.contains("crawl/b.jsonl") && said.contains("leads nowhere"), "{said}");
    }
}

#[test]
fn two_stars_take_the_files_of_the_folder_itself_too() {
    let bench = Bench::new();
    bench.write("crawl/a.jsonl", pages(0, 3));
    bench.write("crawl/deep/b.jsonl", pages(3, 3));
    let ended = bench.done("fingerprint --input crawl/** --output out.seg");
    assert_eq!(ended.count("fingerprinted"), 6);
}

#[test]
fn links_in_circles_are_walked_once() {
    let bench = Bench::new();
    bench.write("crawl/a/x.jsonl", pages(0, 3));
    for folder in ["b", "c", "d", "e", "f", "g", "h"] {
        fs::create_dir(bench.path(&format!("crawl/{folder}"))).unwrap();
        for link in ["1", "2", "3", "4"] {
            symlink("..", bench.path(&format!("crawl/{folder}/{link}"))).unwrap();
        }
    }
    for input in ["crawl", "crawl/**", "crawl/**/*.jsonl"] {
        let ended =
            bench.done(&format!("fingerprint --input {input} --output out.seg --overwrite"));
        assert_eq!(ended.count("read"), 3, "{input}");
    }
}

#[test]
fn a_file_name_that_is_not_utf_8_is_read() {
    let bench = Bench::new();
    fs::create_dir(bench.path("crawl")).unwrap();
    let name = OsStr::from_bytes(b"crawl/\xff.jsonl");
    fs::write(bench.path("").join(name), pages(0, 3)).unwrap();
    for input in ["crawl", "crawl/*", "crawl/**", "*/*.jsonl"] {
        let ended =
            bench.done(&format!("fingerprint --input {input} --output out.seg --overwrite"));
        assert_eq!(ended.count("fingerprinted"), 3, "{input}");
    }
}

#[test]
fn an_input_is_never_an_output() {
    let bench = Bench::new();
    let bytes = pages(0, 3);
    bench.write("a.jsonl", &bytes);
    bench.write("ids.txt", "p0\n");
    symlink("a.jsonl", bench.path("linked")).unwrap();
    fs::hard_link(bench.path("a.jsonl"), bench.path("hard")).unwrap();
    for output in ["a.jsonl", "linked", "hard", "./a.jsonl"] {
        for job in ["fingerprint", "weights", "filter --ids ids.txt"] {
            let said =
                bench.fails(2, &format!("{job} --input a.jsonl --output {output} --overwrite"));
            assert!(said.contains("both an input and an output"), "{said}");
        }
    }
    let said = bench.fails(2, "filter --input a.jsonl --ids ids.txt --output ids.txt --overwrite");
    assert!(said.contains("ids.txt"), "{said}");
    fs::copy(bench.path("a.jsonl"), bench.path("b.seg.quarantine.tsv")).unwrap();
    let job = "fingerprint --format jsonl --input b.seg.quarantine.tsv --output b.seg";
    bench.fails(2, job);
    assert_eq!((bench.read("a.jsonl"), bench.read("ids.txt")), (bytes, "p0\n".into()));
    let left = ["a.jsonl", "b.seg.quarantine.tsv", "hard", "ids.txt", "linked"];
    assert_eq!(bench.names(""), left);
}

#[test]
fn an_output_inside_the_folder_that_is_read_is_refused_at_once() {
    let bench = Bench::new();
    bench.write("crawl/a.jsonl", pages(0, 3));
    bench.write("crawl/out/b.jsonl", pages(3, 3));
    for output in ["crawl/out.seg", "crawl/out/out.seg", "./crawl/out/../out.seg"] {
        for input in ["crawl", "cr*"] {
            let job = format!("fingerprint --input {input} --output {output}");
            let said = bench.fails(2, &job);
            assert!(said.contains("inside a folder of inputs"), "{said}");
        }
    }
    bench.done("fingerprint --input crawl/*.jsonl --output crawl/out.seg");
}
