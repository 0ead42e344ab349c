//! What is read: no format is guessed silently, no file that was named is left out without a message, and
//! odd records and files are reported.

use std::fs;

use crate::support::{Bench, Running};
use crate::world::{gzip, record};

/// JSON lines of `count` pages, each with its own words, with ids from `first` on.
fn pages(first: usize, count: usize) -> String {
    let page =
        |n| format!("{{\"id\": \"p{n}\", \"text\": \"page {n} of many words, {}\"}}\n", n * n);
    (first..first + count).map(page).collect()
}

#[test]
fn encodings_are_recognized_or_named() {
    // "Weather" in GBK and in UTF-8, over and over.
    let (gbk, word) = (b"\xcc\xec\xc6\xf8", "天气");
    let line = |n: usize, word: &[u8]| {
        [format!("{{\"id\": {n}, \"text\": \"{n} ").as_bytes(), &word.repeat(20 + n), b"\"}\n"]
            .concat()
    };
    let lines = |word: &[u8]| (0..50).flat_map(|n| line(n, word)).collect::<Vec<u8>>();
    let bench = Bench::new();
    bench.write("utf-8.jsonl", lines(word.as_bytes()));
    bench.write("gbk.jsonl", lines(gbk));
    let text = String::from_utf8(lines(word.as_bytes())).unwrap();
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    bench.write("marked.jsonl", [&b"\xfe\xff"[..], &wide].concat());
    bench.write("utf-16.jsonl", wide);
    bench.done("fingerprint --input utf-8.jsonl --output utf-8.seg");
    let dump = |segment: &str| bench.answer(&format!("inspect {segment} --dump"));
    for (name, flags) in [
        ("gbk", "--encoding gbk"),
        ("gbk", "--encoding GB2312 --overwrite"),
        ("marked", ""),
        ("utf-16", "--encoding utf-16be"),
    ] {
        bench.done(&format!("fingerprint --input {name}.jsonl --output {name}.seg {flags}"));
        assert_eq!(dump(&format!("{name}.seg")), dump("utf-8.seg"), "{name} {flags}");
    }
    let job = "fingerprint --input gbk.jsonl --output gbk.seg";
    bench.refuses(73, &format!("{job} --encoding big5"), &["encoding"]);
    bench.refuses(2, &format!("{job} --encoding ebcdic"), &["no such encoding"]);
    let job = "fingerprint --input gbk.jsonl --output bad.seg";
    bench.refuses(65, job, &["look like gbk (the setting `encoding`)"]);
    bench.done("init --input gbk.jsonl --output dupsieve.toml");
    assert!(bench.read("dupsieve.toml").contains("encoding = \"gbk\""));
    bench.write("ids.txt", "7\n");
    bench.done("filter --input gbk.jsonl --encoding gbk --ids ids.txt --output kept.jsonl");
    assert_eq!(bench.read("kept.jsonl").into_bytes(), line(7, word.as_bytes()));
}

#[test]
fn a_damaged_archive_does_not_fail_the_day() {
    let bench = Bench::new();
    let warc = |name: &str| {
        let records: Vec<String> = (0..60)
            .map(|n| record("conversion", &format!("{name}{n}"), "words of a page"))
            .collect();
        records.iter().flat_map(gzip).collect::<Vec<u8>>()
    };
    for name in ["a", "b", "c"] {
        bench.write(&format!("crawl/{name}.warc.gz"), warc(name));
    }
    let mut damaged = warc("b");
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0x55);
    bench.write("crawl/b.warc.gz", damaged);
    let job = "fingerprint --input crawl --output a.seg";
    for flags in ["", "--overwrite --processes 2"] {
        let ended = bench.done(&format!("{job} {flags}"));
        let [read, bad, truncated] = ["read", "quarantined", "truncated"].map(|it| ended.count(it));
        assert!((140..160).contains(&read) && (bad, truncated) == (1, 1), "{}", ended.stderr);
        let listed = bench.read("a.seg.quarantine.tsv");
        assert!(listed.contains("b.warc.gz\t") && listed.contains("at byte"), "{listed}");
    }
    bench.refuses(
        65,
        "fingerprint --input crawl --output b.seg --max-bad 0",
        &["the compressed data is damaged"],
    );
}

#[test]
fn an_id_that_is_too_long_is_quarantined_and_shown_cut() {
    let bench = Bench::new();
    let long = |bytes| format!("{{\"id\":\"{}\",\"text\":\"words\"}}\n", "x".repeat(bytes));
    let lines = [pages(0, 300), long(1_000_000), long(65_537), long(65_536), long(65_536)];
    bench.write("a.jsonl", lines.concat());
    let ended = bench.done("fingerprint --input a.jsonl --output out.seg");
    let counts = ["read", "fingerprinted", "repeated", "quarantined"];
    assert_eq!(counts.map(|name| ended.count(name)), [304, 301, 1, 2]);
    assert!(ended.stderr.len() + ended.stdout.len() < 4000);
    for list in ["out.seg.quarantine.tsv", "out.seg.repeated.tsv"] {
        assert!(bench.read(list).len() < 3000, "{list}");
    }
    bench.write("ids.txt", "x".repeat(65_000) + "\n");
    let ended = bench.run("filter --input a.jsonl --ids ids.txt --output kept.jsonl");
    assert_eq!(ended.code, 65);
    assert!(ended.stderr.len() + ended.stdout.len() < 4000);
}

/// Starts one of two processes of a job, each in a folder of its own.
fn start_host(bench: &Bench, process: usize, home: &str, job: &str) -> Running {
    let hosts = format!("--hosts ../hosts.txt --process {process} --secret-file ../secret");
    let mut command = bench.command(&format!("{job} {hosts}"));
    command.current_dir(bench.path(home));
    Running::start(command)
}

#[test]
fn hosts_with_different_pages_of_the_same_size_are_found() {
    let bench = Bench::new();
    bench.two_hosts();
    for files in [1, 2, 5] {
        for host in ["one", "two"] {
            for file in 0..files {
                // One page of each file differs in one letter.
                let last = if host == "two" { "a word of it" } else { "a word or it" };
                let page = format!("{{\"id\":\"last{file}\",\"text\":\"{last}\"}}\n");
                let path = format!("{host}/{files}/f{file}.jsonl");
                bench.write(&path, pages(file * 5000, 5000) + &page);
            }
        }
        bench.done(&format!("fingerprint --input one/{files} --output right{files}.seg"));
        let job =
            format!("fingerprint --input {files} --output out{files}.seg --workers 2 --overwrite");
        let host = |process, home: &str| start_host(&bench, process, home, &job);
        let output = format!("one/out{files}.seg");
        let right = || bench.bytes(&output) == bench.bytes(&format!("right{files}.seg"));
        // Process 1 claims files while process 0 works. If it was too late for any, process 0 has read its own files alone.
        let found = (0..60).any(|_| {
            let (zero, one) = (host(0, "one"), host(1, "two"));
            let (zero, one) = (zero.end(), one.end());
            if zero.code == 0 {
                assert!(right());
                fs::remove_file(bench.path(&output)).unwrap();
                return false;
            }
            assert_eq!(zero.code, 66, "{}", zero.stderr);
            assert!(zero.stderr.contains("process 1 read other contents"), "{}", zero.stderr);
            assert_ne!(one.code, 0);
            assert!(!bench.path(&output).exists());
            true
        });
        assert!(found, "process 1 read nothing of {files} files");
        // The same files on both hosts are accepted.
        let (zero, one) = (host(0, "one"), host(1, "one"));
        assert_eq!((zero.end().code, one.end().code), (0, 0));
        assert!(right());
    }
}

#[test]
fn hosts_with_different_file_names_are_refused_before_reading() {
    let bench = Bench::new();
    bench.two_hosts();
    bench.write("one/in/a.jsonl", pages(0, 5));
    bench.write("two/in/b.jsonl", pages(0, 5));
    let both = [(0, "one"), (1, "two")];
    let job = "fingerprint --input in --output out.seg";
    let both = both.map(|(process, home)| start_host(&bench, process, home, job));
    let [zero, one] = both.map(Running::end);
    assert_eq!(one.code, 66, "{}", one.stderr);
    assert!(one.stderr.contains("sees other inputs than process 0"), "{}", one.stderr);
    assert_ne!(zero.code, 0);
}
