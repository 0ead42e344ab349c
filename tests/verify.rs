//! What was written is proved whole by `verify`: every file is the one that was written, the files
//! agree with each other, with the counts, and with what they were made from.

use std::fs;
use std::path::Path;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_128;

use crate::support::Bench;

/// An output with matches of every kind, bad records and empty pages, and what it was made from.
fn joined() -> Bench {
    let bench = Bench::new();
    let odd = "{\"id\": \"blank\", \"text\": \"\"}\n{]\n";
    bench.write("pages.jsonl", bench.documents(0, 300) + odd);
    bench.write("old.jsonl", bench.documents(200, 400));
    bench.done("fingerprint --input old.jsonl --output old.seg");
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-01-01");
    std::fs::create_dir(bench.path("out")).unwrap();
    bench.done("fingerprint --input pages.jsonl --output out/batch.seg");
    bench.done("dedup --batch out/batch.seg --store store --output out/dedup --matches all");
    bench
}

const FILES: [&str; 5] = ["matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt", "report.json"];
/// What people read of an output. No job reads it again.
const PAGE: &str = "dedup/report.html";

#[test]
fn what_is_whole_is_proved_whole() {
    let bench = joined();
    let before = bench.tree();
    let ended = bench.done("verify out/dedup");
    assert_eq!(ended.count("inputs_verified"), 2);
    assert_eq!(ended.count("documents"), 301);
    assert!(ended.count("matches") > 100 && ended.count("bytes") > 1000);
    assert_eq!(bench.done("verify out").count("documents"), 301);
    let counts = ["read", "fingerprinted", "empty", "repeated", "quarantined"];
    let ended = bench.done("verify out/batch.seg");
    assert_eq!(counts.map(|name| ended.count(name)), [302, 300, 1, 0, 1]);
    assert_eq!(bench.done("verify store").count("fingerprints"), 200);
    assert_eq!(bench.tree(), before, "nothing is written");
    bench.done("dedup --batch out/batch.seg --store store --output best");
    bench.done("verify best --memory 1MiB");
    bench.done("dedup --batch old.seg --output alone --processes 2 --workers 1");
    assert_eq!(bench.done("verify alone").count("inputs_verified"), 1);
    fs::remove_file(bench.path("old.seg")).unwrap();
    bench.fails(66, "verify alone");
    assert_eq!(bench.done("verify alone --files-only").count("inputs_verified"), 0);
    bench.fails(66, "verify nowhere");
    bench.write("strange/file", "");
    bench.fails(65, "verify strange");
    bench.fails(65, "verify strange/file");
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

#[test]
fn sums_of_records_are_those_of_the_batch() {
    let bench = Bench::new();
    let external = "--format fingerprints --recipe external-64 --output a.seg";
    bench.write("a.tsv", "a\t0x1\nb\t0xff\n");
    bench.done(&format!("fingerprint --input a.tsv {external}"));
    bench.done("dedup --batch a.seg --output out");
    bench.write("a.tsv", "a\t0x1\nb\t0xff\nb\t0xff\nbad\n");
    bench.done(&format!("fingerprint --input a.tsv {external} --overwrite --max-bad 50%"));
    bench.fails(65, "verify out");
    bench.fails(73, "dedup --batch a.seg --output out");
    bench.done("dedup --batch a.seg --output out --overwrite");
    assert_eq!(bench.report("out")["batch"]["read"], 4);
    bench.done("verify out");
}

#[test]
fn a_compacted_segment_is_whole_by_itself() {
    let bench = Bench::new();
    bench.done("store init store");
    for day in ["01", "02"] {
        let page = format!("{{\"id\": \"p{day}\", \"text\": \"some words of day {day}\"}}\n");
        bench.write(&format!("{day}.jsonl"), page + "{\"id\": \"e\", \"text\": \"...\"}\n");
        bench.done(&format!("fingerprint --input {day}.jsonl --output {day}.seg"));
        bench.done(&format!("store add store --segment {day}.seg --day 2026-01-{day}"));
    }
    bench.done("store compact store");
    let segments = fs::read_dir(bench.path("store/segments")).unwrap();
    for segment in segments.map(|file| file.unwrap().path()) {
        bench.done(&format!("verify {}", segment.display()));
    }
}

#[test]
fn a_flipped_bit_or_a_cut_anywhere_is_65_and_names_the_file() {
    let bench = joined();
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let refused = |name: &str, bytes: &[u8], line: &str| {
        bench.write(&format!("out/{name}"), bytes);
        let said = bench.fails(65, line);
        assert!(said.contains(Path::new(name).file_name().unwrap().to_str().unwrap()), "{said}");
    };
    for name in FILES.map(|name| format!("dedup/{name}")) {
        let sound = bench.bytes(&format!("out/{name}"));
        for round in 0..12 {
            let (mut bytes, at) = (sound.clone(), random.random_range(0..sound.len()));
            match round % 3 {
                0 => bytes.truncate(at),
                _ => bytes[at] ^= 1 << random.random_range(0..8),
            }
            refused(&name, &bytes, "verify out/dedup");
            // A rerun does not take it for done either.
            if round < 4 {
                refused(
                    &name,
                    &bytes,
                    "dedup --batch out/batch.seg --store store --output out/dedup --matches all",
                );
            }
        }
        bench.write(&format!("out/{name}"), sound);
    }
    let page = bench.bytes(&format!("out/{PAGE}"));
    for at in [0, page.len() / 2, page.len() - 1] {
        let mut bytes = page.clone();
        bytes[at] ^= 1;
        refused(PAGE, &bytes, "verify out");
    }
    fs::remove_file(bench.path("out").join(PAGE)).unwrap();
    let told = bench.done("verify out").stderr;
    assert!(told.contains("report.html is missing and was not checked"), "{told}");
    bench.write(&format!("out/{PAGE}"), page);
    let sound = bench.bytes("out/batch.seg");
    for _ in 0..12 {
        let (mut bytes, at) = (sound.clone(), random.random_range(0..sound.len()));
        bytes[at] ^= 1 << random.random_range(0..8);
        for line in [
            "verify out/dedup",
            "verify out",
            "fingerprint --input pages.jsonl --output out/batch.seg",
        ] {
            refused("batch.seg", &bytes, line);
        }
    }
    bench.write("out/batch.seg", sound);
    let listed = bench.read("out/batch.seg.quarantine.tsv");
    refused("batch.seg.quarantine.tsv", listed.repeat(2).as_bytes(), "verify out/batch.seg");
    for at in 0..listed.len() {
        let mut bytes = listed.clone().into_bytes();
        bytes[at] ^= 1;
        refused("batch.seg.quarantine.tsv", &bytes, "verify out/batch.seg");
    }
    bench.write("out/batch.seg.quarantine.tsv", listed);
    bench.done("verify out");
    fs::remove_file(bench.path("out/dedup/_SUCCESS")).unwrap();
    bench.fails(65, "verify out/dedup");
}

/// Changes a file of the output and makes its report tell of the change, as no accident would.
fn forge(bench: &Bench, name: &str, change: impl Fn(&str) -> String) {
    let path = format!("out/dedup/{name}");
    let before = bench.read(&path);
    let after = change(&before);
    assert_ne!(before, after, "{name}");
    replace_and_seal(bench, "out/dedup", name, after.as_bytes());
}

/// Replaces a file of an output and makes its report tell of that.
pub(crate) fn replace_and_seal(bench: &Bench, output: &str, name: &str, after: &[u8]) {
    let path = format!("{output}/{name}");
    let digest = |bytes: &[u8]| format!("{:032x}", xxh3_128(bytes));
    let sum = |bytes: &[u8]| {
        format!("\"bytes\": {},\n        \"xxh3\": \"{}\"", bytes.len(), digest(bytes))
    };
    let before = bench.bytes(&path);
    bench.write(&path, after);
    let mut report = bench.read(&format!("{output}/report.json"));
    if name != "report.json" {
        assert!(report.contains(&sum(&before)), "{report}");
        report = report.replace(&sum(&before), &sum(after));
    }
    let seal = bench.report(output)["run"]["xxh3"].as_str().unwrap().to_owned();
    let unsealed = report.replace(&seal, &"0".repeat(32));
    let sealed = unsealed.replace(&"0".repeat(32), &digest(unsealed.as_bytes()));
    bench.write(&format!("{output}/report.json"), sealed);
}

/// The text with one of its lines, the first that holds `mark`, changed.
fn line(text: &str, mark: &str, change: impl Fn(&str) -> String) -> String {
    let at = text.lines().position(|line| line.contains(mark)).expect("a line with the mark");
    let changed = |(number, line): (usize, &str)| match number == at {
        true => change(line),
        false => format!("{line}\n"),
    };
    text.lines().enumerate().map(changed).collect()
}

#[test]
fn files_that_do_not_agree_are_65_even_if_their_sums_are_right() {
    let none = |_: &str| String::new();
    let bench = joined();
    let dropped = bench.read("out/dedup/verdicts.tsv");
    let dropped = dropped.lines().find(|line| line.contains("\tdrop\t")).unwrap();
    let id = dropped.split('\t').next().unwrap();
    type Change<'a> = Box<dyn Fn(&str) -> String + 'a>;
    let forgeries: [(&str, &str, Change<'_>); 10] = [
        ("keep.txt", "keep.txt:", Box::new(|text| line(text, "document", none))),
        ("drop.txt", "drop.txt:", Box::new(|text| format!("{text}zz\n"))),
        ("verdicts.tsv", "verdicts.tsv:", Box::new(|text| line(text, "\tempty\t", none))),
        ("verdicts.tsv", "verdicts.tsv:", Box::new(|text| line(text, "\tdrop\t", none))),
        (
            "verdicts.tsv",
            "keep.txt:",
            Box::new(|text| line(text, "\tdrop\t", |_| format!("{id}\tkeep\t\t\t\t\t0\t\n"))),
        ),
        (
            "verdicts.tsv",
            "verdicts.tsv:",
            Box::new(|text| {
                line(text, "\tdrop\t", |line| format!("{}\n", line.replace("\tdrop\t", "\tlost\t")))
            }),
        ),
        ("matches.tsv", "matches.tsv:", Box::new(|text| line(text, "\t0\t", none))),
        ("matches.tsv", "matches.tsv:", Box::new(|text| format!("{text}zz\ta\t9\tbatch\tdrop\n"))),
        (
            "matches.tsv",
            "not the verdict on the new page: expected drop, found keep",
            Box::new(|text| text.replacen("\tdrop\n", "\tkeep\n", 1)),
        ),
        ("report.json", "", Box::new(|text| text.replace("\"kept\": ", "\"kept\": 1"))),
    ];
    let sound = bench.files("out/dedup");
    let report = bench.read("out/dedup/report.json");
    for (name, told, change) in &forgeries {
        forge(&bench, name, change);
        if *name == "report.json" {
            // The forged text was sealed over by `forge`, which took it from the file.
            assert!(bench.read("out/dedup/report.json").contains("\"kept\": 1"));
        }
        let said = bench.fails(65, "verify out/dedup");
        assert!(said.contains(told), "{name}: {said}");
        sound.iter().for_each(|(name, bytes)| bench.write(&format!("out/dedup/{name}"), bytes));
        bench.write("out/dedup/report.json", &report);
        bench.done("verify out/dedup");
    }
}

#[test]
fn inputs_that_are_others_now_are_65() {
    let bench = joined();
    bench.done("fingerprint --input old.jsonl --output out/batch.seg --overwrite");
    let said = bench.fails(65, "verify out/dedup");
    assert!(said.contains("batch.seg") && said.contains("not the batch"), "{said}");
    bench.done("fingerprint --input pages.jsonl --output out/batch.seg --overwrite");
    bench.done("verify out");
    bench.done("store add store --segment out/batch.seg --day 2026-01-02");
    bench.done("store compact store");
    bench.done("verify out");
    fs::remove_dir_all(bench.path("store")).unwrap();
    bench.fails(66, "verify out");
    assert_eq!(bench.done("verify out --files-only").count("inputs_verified"), 1);
    bench.done("store init store");
    bench.done("store add store --segment out/batch.seg --day 2026-01-01");
    let said = bench.fails(65, "verify out");
    assert!(said.contains("not the store"), "{said}");
}
