//! Promise 2: output files are byte-identical for any number of workers and processes, however the
//! inputs are cut and packed, and however little memory there is.

use std::ops::Range;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Bench, Running, free_address, outlast};
use crate::world::{gzip, mixed, page};

/// Two days of documents. The second has everything that can be wrong with some of them.
fn days() -> Bench {
    let bench = Bench::new();
    bench.write("old.jsonl", bench.documents(0, 1500));
    let odd = "{\"id\": \"odd\", \"text\": \"seen again\"}\n".repeat(3)
        + "{\"id\": \"empty\", \"text\": \" \"}\n\n"
        + "{\"id\": \"broken\n[]\n";
    let new = odd.clone() + &bench.documents(1500, 3000) + &odd;
    bench.write("new.jsonl", &new);
    bench
}

/// Takes both days through the whole job, into a folder of the given name.
fn whole_job(bench: &Bench, folder: &str, new: &str, flags: &str) {
    let day = "2026-01-0";
    bench.done(&format!("store init {folder}/store"));
    bench.done(&format!("fingerprint --input old.jsonl --output {folder}/old.seg {flags}"));
    bench.done(&format!("fingerprint --input {new} --output {folder}/new.seg {flags}"));
    bench.done(&format!("store add {folder}/store --segment {folder}/old.seg --day {day}1"));
    bench.done(&format!(
        "dedup --batch {folder}/new.seg --store {folder}/store --output {folder}/out --matches all {flags}"
    ));
    bench.done(&format!(
        "store add {folder}/store --segment {folder}/new.seg --day {day}2 --only {folder}/out/keep.txt"
    ));
}

fn assert_same(bench: &Bench, one: &str, other: &str) {
    let (expected, found) = (bench.files(one), bench.files(other));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, bytes) in &expected {
        assert!(found[name] == *bytes, "{name} is another in {other}");
    }
}

/// What makes files: each job, and what it makes OUT of. The first ones make what the others take.
const JOBS: [&str; 17] = [
    "fingerprint --input new.jsonl --output OUT/new.seg",
    "fingerprint --input families.jsonl --output OUT/families.seg",
    "fingerprint --input new.jsonl --preset paper --output OUT/paper.seg",
    "dedup --batch one/new.seg --store store --matches all --output OUT/found",
    "dedup --batch one/new.seg --store store --output OUT/parquet --output-format parquet",
    "dedup --batch one/new.seg --store store --output OUT/jsonl --output-format jsonl",
    "dedup --batch one/paper.seg --output OUT/paper --distance 6 --matches all",
    "dedup --batch one/families.seg --store families --output OUT/best",
    "dedup --batch one/families.seg --store families --matches all --output OUT/all",
    "lsh --input crowds.jsonl --similarity 0.7 --output OUT/lsh",
    "cluster --matches one/found --day 2026-01-02 --output OUT/stars",
    "cluster --matches one/found --day 2026-01-02 --output OUT/joined --method components",
    "cluster --previous one/stars --matches one/lsh/dedup --day 2026-01-03 --output OUT/next",
    "weights --input old.jsonl --output OUT/words.counts",
    "weights --lines --by host --min-count 2 --input frames.jsonl --output OUT/lines.counts",
    "contains --items items.jsonl --share 0.3 --input old.jsonl --output OUT/items",
    "passages --input old.jsonl --words 5 --output OUT/passages",
];

#[test]
fn any_number_of_workers_and_processes_and_little_memory() {
    let bench = days();
    bench.fingerprint("old", "");
    bench.store(&[("2026-01-01", "old")]);
    bench.write("frames.jsonl", framed(300));
    bench.write("items.jsonl", bench.documents(40, 80));
    bench.write("earlier.jsonl", families(1..4));
    bench.write("families.jsonl", families(3..12));
    bench.fingerprint("earlier", "");
    bench.done("store init families");
    bench.done("store add families --segment earlier.seg --day 2026-01-01");
    // Each page is near more pages by its buckets than are listed of a crowd, and far from them by its fingerprint.
    let text = |number: u32| mixed(7919 * (number + 1), number % 12, number % 7, 80);
    let crowds = (0..1500).map(|number| page(&format!("p{number:04}"), &text(number)));
    bench.write("crowds.jsonl", crowds.collect::<String>());
    let make = |folder: &str, flags: &str| {
        std::fs::create_dir(bench.path(folder)).unwrap();
        for job in JOBS {
            bench.done(&format!("{} {flags}", job.replace("OUT", folder)));
        }
    };
    make("one", "--workers 1");
    let outcome = &bench.report("one/best")["outcome"];
    let [dropped, candidates, replaced] =
        ["dropped", "candidates", "replaced"].map(|it| outcome[it].as_u64().unwrap());
    assert!(dropped > 300 && candidates > 2 * dropped && replaced > 50, "{outcome}");
    for (name, bytes) in bench.files("one") {
        let is_short = name.ends_with("_SUCCESS") || name.ends_with("keep.txt");
        assert!(is_short || bytes.len() > 100, "nothing to compare in {name}");
    }
    for (folder, flags) in [
        ("seven", "--workers 7"),
        ("one-of-two", "--workers 1 --processes 2"),
        ("two-of-three", "--workers 2 --processes 3"),
        ("narrow", "--workers 2 --memory 1MiB"),
        ("narrow-of-two", "--workers 1 --memory 1MiB --processes 2"),
    ] {
        make(folder, flags);
        assert_same(&bench, "one", folder);
    }
}

/// Pages of seven hosts, each of which puts its own lines around them.
fn framed(count: usize) -> String {
    let framed = |number: usize| {
        let host = number % 7;
        let frame: String = (0..30).map(|line| format!("host {host} line {line}\\n")).collect();
        format!("{{\"id\":\"http://h{host}/{number}\",\"text\":\"{frame}page {number}\"}}\n")
    };
    (0..count).map(framed).collect()
}

/// Pages of some families, of which each says much of what the others say: with other words here and there, and with more at the end.
fn families(versions: Range<u64>) -> String {
    let member = |family: u64, version: u64| {
        let word = |at: u64| match (at * 7 + version * 13) % 89 {
            0 => format!("v{version}x{at}"),
            _ => format!("w{family}x{at}"),
        };
        let length = 60 + family + if version.is_multiple_of(5) { 200 } else { version };
        page(&format!("{family}-{version}"), &(0..length).map(word).collect::<Vec<_>>().join(" "))
    };
    versions.flat_map(|version| (0..50).map(move |family| member(family, version))).collect()
}

#[test]
fn inputs_cut_into_files_and_packed() {
    let bench = days();
    whole_job(&bench, "whole", "new.jsonl", "--workers 2");
    let new = bench.read("new.jsonl");
    let lines: Vec<&str> = new.split_inclusive('\n').collect();
    for (number, part) in lines.chunks(lines.len().div_ceil(5)).enumerate() {
        bench.write(&format!("parts/{number}.jsonl"), part.concat());
    }
    bench.write("new.jsonl.zst", zstd::encode_all(new.as_bytes(), 0).unwrap());
    // Several members, as those who append to a file make them.
    let members: Vec<Vec<u8>> = lines.chunks(700).map(|part| gzip(part.concat())).collect();
    bench.write("new.jsonl.gz", members.concat());
    let parts = (0..5).map(|number| format!("parts/{number}.jsonl")).collect::<Vec<_>>().join(" ");
    for (folder, new, flags) in [
        ("parts", "parts", ""),
        ("named", parts.as_str(), "--processes 2"),
        ("glob", "parts/*.jsonl", "--workers 1 --processes 3"),
        ("gz", "new.jsonl.gz", "--processes 2"),
        ("zst", "new.jsonl.zst", "--workers 2"),
    ] {
        let folder = format!("job-{folder}");
        whole_job(&bench, &folder, new, flags);
        assert_same(&bench, "whole/out", &format!("{folder}/out"));
        assert_same(&bench, "whole/store/segments", &format!("{folder}/store/segments"));
        assert_eq!(bench.dump("whole/new.seg"), bench.dump(&format!("{folder}/new.seg")));
    }
}

/// Runs a command as two processes of a hosts file. One of them may be stopped again and again, most of the time.
fn on_two_hosts(bench: &Bench, line: &str, stopped: Option<usize>) {
    let [a, b] = [(), ()].map(|()| free_address());
    bench.write("hosts.txt", format!("# both\n\n{a}\n{b} # the other\n"));
    bench.secret("secret", "known to the two of us");
    let line = format!("{line} --workers 2");
    let both = [0, 1].map(|process| bench.start_process(process, &line));
    while let Some(stopped) = stopped
        && both.iter().all(Running::is_running)
    {
        both[stopped].signal(Signal::STOP);
        outlast(Duration::from_millis(20));
        both[stopped].signal(Signal::CONT);
        outlast(Duration::from_millis(5));
    }
    let both = both.map(Running::end);
    for process in &both {
        assert_eq!(process.code, 0, "{both:?}");
        assert_eq!(process.stdout.lines().count(), 1, "{process:?}");
        assert_eq!(process.summary()["code"], 0);
    }
}

#[test]
fn two_hosts_of_which_one_may_be_slow() {
    let bench = days();
    whole_job(&bench, "alone", "new.jsonl", "--workers 1");
    for (folder, stopped) in [("even", None), ("slow-leader", Some(0)), ("slow", Some(1))] {
        std::fs::create_dir(bench.path(folder)).unwrap();
        let fingerprint = format!("fingerprint --input new.jsonl --output {folder}/new.seg");
        on_two_hosts(&bench, &fingerprint, stopped);
        assert!(bench.bytes(&format!("{folder}/new.seg")) == bench.bytes("alone/new.seg"));
        let dedup = "dedup --store alone/store --as-of 2 --matches all --batch";
        let dedup = format!("{dedup} {folder}/new.seg --output {folder}/out");
        on_two_hosts(&bench, &dedup, stopped);
        assert_same(&bench, "alone/out", &format!("{folder}/out"));
    }
}
