//! Promise 2: output files are byte-identical for any number of workers and processes, however the
//! inputs are cut and packed, and however little memory there is.

use std::io::Write;
use std::ops::Range;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::process::Signal;

use crate::support::{Bench, Running, free_address, outlast};

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

/// Every file of the one is in the other, and has the same bytes.
fn assert_same(bench: &Bench, one: &str, other: &str) {
    let (expected, found) = (bench.files(one), bench.files(other));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, bytes) in &expected {
        assert!(found[name] == *bytes, "{name} is another in {other}");
    }
}

#[test]
fn any_number_of_workers_and_processes_and_little_memory() {
    let bench = days();
    whole_job(&bench, "one", "new.jsonl", "--workers 1");
    let files = bench.files("one");
    for name in ["new.seg", "new.seg.quarantine.tsv", "out/matches.tsv", "out/verdicts.tsv"] {
        assert!(files[name].len() > 100, "nothing to compare in {name}");
    }
    for (folder, flags) in [
        ("two", "--workers 2"),
        ("seven", "--workers 7"),
        ("one-of-two", "--workers 1 --processes 2"),
        ("two-of-two", "--workers 2 --processes 2"),
        ("one-of-three", "--workers 1 --processes 3"),
        ("narrow", "--workers 2 --memory 1MiB"),
        ("narrow-of-two", "--workers 1 --memory 1MiB --processes 2"),
    ] {
        whole_job(&bench, folder, "new.jsonl", flags);
        assert_same(&bench, "one", folder);
    }
}

/// Pages of some families, of which each says much of what the others say: with other words here and there, and with more at the end.
fn families(versions: Range<u64>) -> String {
    let page = |family: u64, version: u64| {
        let word = |at: u64| match (at * 7 + version * 13) % 89 {
            0 => format!("v{version}x{at}"),
            _ => format!("w{family}x{at}"),
        };
        let length = 60 + family + if version.is_multiple_of(5) { 200 } else { version };
        let text: Vec<String> = (0..length).map(word).collect();
        format!("{{\"id\":\"{family}-{version}\",\"text\":\"{}\"}}\n", text.join(" "))
    };
    versions.flat_map(|version| (0..50).map(move |family| page(family, version))).collect()
}

#[test]
fn containment_is_counted_by_any_number_of_processes() {
    let bench = Bench::new();
    for (day, versions) in [("old", 1..4), ("new", 3..12)] {
        bench.write(&format!("{day}.jsonl"), families(versions));
        bench.done(&format!("fingerprint --input {day}.jsonl --output {day}.seg"));
    }
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-01-01");
    for detail in ["best", "all"] {
        let join = format!("dedup --batch new.seg --store store --matches {detail} --output");
        bench.done(&format!("{join} one-{detail} --workers 1"));
        let outcome = &bench.report(&format!("one-{detail}"))["outcome"];
        let [dropped, candidates, replaced] =
            ["dropped", "candidates", "replaced"].map(|it| outcome[it].as_u64().unwrap());
        assert!(dropped > 300 && candidates > 2 * dropped && replaced > 50, "{outcome}");
        for (output, flags) in [
            ("three", "--workers 3"),
            ("two", "--workers 1 --processes 2"),
            ("four", "--workers 2 --processes 4"),
            ("eight", "--workers 1 --processes 8"),
            ("narrow", "--workers 2 --processes 2 --memory 1MiB"),
        ] {
            let output = format!("{output}-{detail}");
            bench.done(&format!("{join} {output} {flags}"));
            assert_same(&bench, &format!("one-{detail}"), &output);
        }
    }
    bench.done("verify four-best");
}

/// Pages around some random fingerprints, many of them near in their last bits only.
fn crowded(seed: u64, count: u64, width: u32) -> Vec<(String, u128)> {
    let mut state = seed;
    let mut random = |below: u32| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as u32 % below
    };
    let page = |at| {
        let centre =
            u128::from(random(400) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let below = if random(2) == 0 { 16 } else { width };
        let flips = (0..random(6)).map(|_| 1 << random(below)).fold(0, |all, bit: u128| all | bit);
        (format!("{seed}-{at}"), (centre >> (128 - width)) ^ flips)
    };
    (0..count).map(page).collect()
}

#[test]
fn any_codec_of_the_store_and_several_of_them_at_once() {
    for width in [64, 128] {
        let bench = Bench::new();
        bench.done("store init store");
        for day in 1..=3 {
            bench.segment(&format!("{day}"), width, &crowded(day, 3000, width));
            bench.done(&format!("store add store --segment {day}.seg --day 2026-01-0{day}"));
        }
        bench.segment("batch", width, &crowded(7, 3000, width));
        let join = |output: &str, flags: &str| {
            let join = "dedup --batch batch.seg --store store --matches all --output";
            let line = format!("{join} {output} {flags}");
            bench.done(&line);
            let mut files = bench.files(output);
            files.remove("report.json");
            files
        };
        let expected = join("plain", "");
        assert!(expected["matches.tsv"].len() > 100_000, "too little to compare");
        // So little that a worker reads one segment after the other.
        let narrow = join("narrow", "--memory 1MiB --workers 2");
        assert!(narrow == expected, "in little memory at {width}");
        for codec in ["huffman", "elias-fano"] {
            bench.done(&format!("store compact store --codec {codec}"));
            assert!(join(codec, "--workers 2") == expected, "{codec} at {width}");
        }
        for design in ["10", "conditioned", "multi-index"] {
            let found = join(design, &format!("--design {design} --processes 2 --workers 1"));
            assert!(found == expected, "{design} at {width}");
        }
        bench.segment("more", width, &crowded(9, 2000, width));
        bench.done("store add store --segment more.seg --day 2026-01-04");
        let mixed = join("mixed", "");
        bench.done("store compact store --codec elias-fano");
        assert!(join("one", "") == mixed, "two codecs at once, at {width}");
        assert!(mixed["matches.tsv"].len() > expected["matches.tsv"].len());
    }
}

#[test]
fn a_segment_by_sorts_that_all_spill() {
    let bench = days();
    bench.done("fingerprint --input new.jsonl --output whole.seg");
    for (flags, name) in [("", "a"), ("--processes 2", "b")] {
        bench
            .done(&format!("fingerprint --input new.jsonl --output {name}.seg --memory 1 {flags}"));
        assert!(bench.bytes(&format!("{name}.seg")) == bench.bytes("whole.seg"), "{flags}");
    }
}

#[test]
fn every_design_writes_the_same() {
    let bench = days();
    whole_job(&bench, "auto", "new.jsonl", "--workers 2 --preset paper");
    for design in ["conditioned", "multi-index", "4", "10", "16", "20", "blocks:6,choose:3"] {
        bench.done(&format!(
            "dedup --batch auto/new.seg --store auto/store --as-of 2 --output {design} --design {design} \
             --matches all"
        ));
        assert_same(&bench, "auto/out", design);
    }
}

#[test]
fn every_design_of_the_default_preset_writes_the_same() {
    let bench = days();
    whole_job(&bench, "auto", "new.jsonl", "--workers 2");
    assert!(bench.read("auto/out/matches.tsv").lines().count() > 100, "nothing to compare");
    for design in ["conditioned", "blocks:8,choose:1", "blocks:10,choose:3"] {
        bench.done(&format!(
            "dedup --batch auto/new.seg --store auto/store --as-of 2 --output {design} --design {design} \
             --matches all"
        ));
        assert_same(&bench, "auto/out", design);
    }
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
    bench.write("new.jsonl.gz", gzip_members(&lines));
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
        let [whole, found] = ["whole", &folder]
            .map(|job| bench.run(&format!("inspect {job}/new.seg --dump")).stdout.replace(job, ""));
        assert_eq!(rows(&whole), rows(&found));
    }
}

/// A gzip file of several members, as those who append to one make it.
fn gzip_members(lines: &[&str]) -> Vec<u8> {
    let mut packed = Vec::new();
    for part in lines.chunks(700) {
        let mut member = GzEncoder::new(&mut packed, Compression::fast());
        member.write_all(part.concat().as_bytes()).unwrap();
        member.finish().unwrap();
    }
    packed
}

/// What `inspect --dump` prints but the summary.
fn rows(dump: &str) -> Vec<&str> {
    dump.lines().filter(|line| !line.starts_with('{')).collect()
}

/// Runs a command as two processes of a hosts file. One of them may be stopped again and again, most of the time.
fn on_two_hosts(bench: &Bench, line: &str, stopped: Option<usize>) {
    let [a, b] = [(), ()].map(|()| free_address());
    bench.write("hosts.txt", format!("# both\n\n{a}\n{b} # the other\n"));
    bench.secret("secret", "known to the two of us");
    let both = [0, 1].map(|process| {
        bench.start(&format!(
            "{line} --hosts hosts.txt --process {process} --secret-file secret --workers 2"
        ))
    });
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

/// A store is made like a day of pages, and joined with it.
#[test]
fn a_segment_like_another_is_of_its_recipe() {
    let bench = Bench::new();
    bench.write("pages.jsonl", bench.documents(0, 300));
    bench.done("fingerprint --preset balanced --input pages.jsonl --output day.seg");
    bench.done("generate segment --count 20000 --seed 5 --like day.seg --output one.seg");
    bench.done("generate segment --count 20000 --seed 5 --like one.seg --output two.seg");
    assert_eq!(bench.bytes("one.seg"), bench.bytes("two.seg"));
    bench.done("store init store");
    bench.done("store add store --segment one.seg --day 2026-01-01");
    bench.done("dedup --preset balanced --batch day.seg --store store --output out");
    let matches = bench.read("out/matches.tsv");
    assert!(matches.lines().skip(1).all(|row| row.contains("\tbatch\t")), "{matches}");
    bench.fails(2, "generate segment --count 9 --like day.seg --ids numbers --output three.seg");
    bench.fails(66, "generate segment --count 9 --like none.seg --output three.seg");
    bench.fails(65, "generate segment --count 9 --like pages.jsonl --output three.seg");
}

#[test]
fn segments_that_are_generated() {
    let bench = Bench::new();
    bench.done("generate segment --count 2e5 --density 2e9 --seed 3 --output store.seg");
    bench.done(
        "generate segment --count 5000 --density 5e7 --near store.seg --planted 2000 --seed 4 \
         --ids numbers --output batch.seg --truth truth.tsv",
    );
    bench.done("store init store");
    bench.done("store add store --segment store.seg --day 2026-01-01");
    for (folder, flags) in [
        ("one", "--workers 1"),
        ("seven", "--workers 7 --memory 4MiB"),
        ("processes", "--workers 2 --processes 2"),
    ] {
        let join = "dedup --batch batch.seg --store store --matches all --output";
        bench.done(&format!("{join} {folder} {flags}"));
        assert_same(&bench, "one", folder);
    }
    let found = bench.read("one/matches.tsv");
    let planted = |line: &str| {
        let [planted, near, distance] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        found.contains(&format!("{planted}\t{near}\t{distance}\t2026-01-01\tdrop\n"))
    };
    assert!(bench.read("truth.tsv").lines().skip(1).all(planted), "a planted pair is missing");
}
