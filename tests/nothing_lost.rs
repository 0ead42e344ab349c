//! Promise 3: records read = fingerprinted + empty + repeated + quarantined, chunks planned = chunks
//! probed, and the report proves it. "No matches" and "something was missing" never look alike.

use std::collections::HashSet;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::support::{Bench, Ended};
use crate::world::gzip;

const BAD: [(&[u8], &str); 15] = [
    (b"{\"id\": \"broken", "the JSON ends too early"),
    (b"{]", "broken JSON at byte"),
    (b"[1, 2]", "not a JSON object"),
    (b"{\"text\": \"x\"}", "no field `id`; fields found: text"),
    (b"{\"id\": \"x\"}", "no field `text`; fields found: id"),
    (b"{\"id\": null, \"text\": \"x\"}", "the field `id` is null"),
    (b"{\"id\": \"x\", \"text\": [\"x\"]}", "the text is not a string"),
    (b"{\"id\": 1.5, \"text\": \"x\"}", "the id is neither"),
    (b"{\"id\": \"\", \"text\": \"x\"}", "the id is empty"),
    (b"{\"id\": \"a\\tb\", \"text\": \"x\"}", "the id holds a tab"),
    (b"{\"id\": \"a\\u0000\", \"text\": \"x\"}", "the id holds a tab"),
    (b"{\"id\": \"x\", \"text\": \"\xff\xfe\"}", "not UTF-8"),
    (b"\xef\xbb\xbf{\"id\": \"x\", \"text\": \"x\"}", "a byte order mark within the file"),
    (b"{\"id\": \"x\", \"text\": \"\\ud83d\"}", "a lone surrogate"),
    (b"{\"id\": \"x\", \"text\": \"x\"} {}", "broken JSON"),
];

/// What is to be said of a file of lines.
#[derive(Default)]
struct Told {
    read: u64,
    fingerprinted: u64,
    empty: u64,
    repeated: u64,
    blank: u64,
    quarantined: Vec<(usize, &'static str)>,
}

impl Told {
    fn counts(&self) -> [(&'static str, u64); 6] {
        [
            ("read", self.read),
            ("fingerprinted", self.fingerprinted),
            ("empty", self.empty),
            ("repeated", self.repeated),
            ("quarantined", self.quarantined.len() as u64),
            ("blank", self.blank),
        ]
    }
}

/// A file of `lines` lines, many of them odd, and what is to be said of it.
fn mess(seed: u64, lines: usize) -> (Vec<u8>, Told) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut bytes, mut told, mut ids) = (Vec::new(), Told::default(), HashSet::new());
    let long = format!("{{\"id\": \"long\", \"text\": \"{}\"}}", "long ".repeat(1000)).into_bytes();
    for line in 1..=lines {
        let id = random.random_range(0..lines);
        let (record, words): (Vec<u8>, _) = match random.random_range(0..10) {
            0 => {
                told.blank += 1;
                bytes.extend(
                    [&b"\n"[..], b"  \n", b"\r\n", b"\t\n"].choose(&mut random).unwrap().iter(),
                );
                continue;
            }
            1 | 2 => {
                let (bad, why) = BAD.choose(&mut random).unwrap();
                told.quarantined.push((line, why));
                (bad.to_vec(), None)
            }
            3 => {
                told.quarantined.push((line, "longer than the setting"));
                (long.clone(), None)
            }
            4 => (json!({"id": id, "text": " \n "}).to_string().into_bytes(), Some(false)),
            _ => (
                json!({"id": id.to_string(), "text": format!("page {id} 页面 {line}")})
                    .to_string()
                    .into_bytes(),
                Some(true),
            ),
        };
        told.read += 1;
        match words {
            None => {}
            Some(_) if !ids.insert(id) => told.repeated += 1,
            Some(true) => told.fingerprinted += 1,
            Some(false) => told.empty += 1,
        }
        bytes.extend(record);
        bytes.push(b'\n');
    }
    (bytes, told)
}

/// The summary counts what is `told`, and the quarantine file lists each bad line with its reason.
fn assert_told(bench: &Bench, ended: &Ended, output: &str, told: &Told) {
    for (name, count) in told.counts() {
        assert_eq!(ended.count(name), count, "{name} of {output}");
    }
    let listed = bench.read(&format!("{output}.quarantine.tsv"));
    let mut lines = listed.lines();
    assert_eq!(lines.next(), Some("file\tline\treason"));
    assert_eq!(lines.clone().count(), told.quarantined.len());
    for (line, (number, why)) in lines.zip(&told.quarantined) {
        let place = format!("mess.jsonl\t{number}\t");
        assert!(line.starts_with(&place) && line.contains(why), "{line}: not {place}{why}");
    }
}

#[test]
fn the_sum_is_whole_in_the_summary_the_segment_and_the_report() {
    let bench = Bench::new();
    let (bytes, told) = mess(1, 3000);
    bench.write("mess.jsonl", bytes);
    for (name, flags) in [("one", "--workers 1"), ("three", "--workers 2 --processes 3")] {
        let ended = bench.done(&format!(
            "fingerprint --input mess.jsonl --output {name}.seg --max-record 4KiB --max-bad 50% {flags}"
        ));
        assert_told(&bench, &ended, &format!("{name}.seg"), &told);
        assert_eq!(ended.summary()["paths"]["quarantine"], format!("{name}.seg.quarantine.tsv"));
        let again = bench.again(&format!(
            "fingerprint --input mess.jsonl --output {name}.seg --max-record 4KiB --max-bad 50%"
        ));
        assert_eq!(again.summary()["counts"], ended.summary()["counts"]);
    }
    let [read, fingerprinted, empty, repeated, quarantined, _] = told.counts().map(|told| told.1);
    let said = bench.run("inspect one.seg").stdout;
    let sum = format!(
        "{read} read = {fingerprinted} fingerprinted + {empty} empty + {repeated} repeated + {quarantined} quarantined"
    );
    assert!(said.contains(&sum), "{said}\nis not\n{sum}");
    let ended = bench.done("dedup --batch one.seg --output out");
    let report = bench.report("out");
    for (name, count) in told.counts() {
        assert_eq!(report["batch"][name], count, "{name}");
    }
    assert_eq!(ended.count("documents"), fingerprinted + empty);
    assert_eq!(ended.count("kept") + ended.count("dropped"), fingerprinted);
    assert_files(&bench, &report);
}

/// The files of an output hold as many lines as the report says, and every document has a verdict.
fn assert_files(bench: &Bench, report: &Value) {
    let lines = |name: &str| bench.read(&format!("out/{name}")).lines().count() as u64;
    let (batch, outcome) = (&report["batch"], &report["outcome"]);
    assert_eq!(outcome["kept"], lines("keep.txt"));
    assert_eq!(outcome["dropped"], lines("drop.txt"));
    assert_eq!(outcome["matches"], lines("matches.tsv") - 1);
    let documents = batch["fingerprinted"].as_u64().unwrap() + batch["empty"].as_u64().unwrap();
    assert_eq!(lines("verdicts.tsv") - 1, documents);
    let empties = bench.read("out/verdicts.tsv");
    assert_eq!(
        empties.lines().filter(|line| line.split('\t').nth(1) == Some("empty")).count(),
        batch["empty"].as_u64().unwrap() as usize
    );
    for (name, sum) in outcome["files"].as_object().unwrap() {
        let bytes = bench.bytes(&format!("out/{name}"));
        let digest = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes));
        assert_eq!(sum, &json!({"bytes": bytes.len(), "xxh3": digest}), "{name}");
    }
}

#[test]
fn packed_data_that_breaks_off_or_is_damaged_is_65_unless_an_end_is_accepted() {
    let bench = Bench::new();
    let pages = bench.documents(0, 400);
    let zstd = zstd::encode_all(pages.as_bytes(), 0).unwrap();
    for (packing, whole) in [("gz", gzip(&pages)), ("zst", zstd)] {
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 0x10;
        let (file, cut) = (format!("pages.jsonl.{packing}"), whole.len() * 3 / 4);
        let job = format!("fingerprint --input {file} --output {packing}.seg");
        bench.write(&file, damaged);
        bench.refuses(65, &job, &[&format!("{file} at byte ")]);
        bench.write(&file, &whole[..cut]);
        bench.refuses(65, &job, &[&format!("{file} at byte {cut}"), "--accept-truncated"]);
        assert!(!bench.path(&format!("{packing}.seg")).exists());
        let job = format!("{job} --accept-truncated --max-bad 1");
        for flags in ["", "--overwrite --processes 2", ""] {
            let ended = bench.done(&format!("{job} {flags}"));
            let [read, whole, bad, truncated] =
                ["read", "fingerprinted", "quarantined", "truncated"].map(|name| ended.count(name));
            assert!((100..400).contains(&whole), "{whole} of 400");
            assert_eq!((read, truncated), (whole + bad, 1), "{flags}");
        }
        bench.done(&format!("dedup --batch {packing}.seg --output {packing}"));
        assert_eq!(bench.report(packing)["batch"]["truncated"], 1, "the report tells of it too");
    }
}
