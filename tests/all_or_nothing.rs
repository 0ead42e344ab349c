//! Promise 4: an output is absent, or whole with `_SUCCESS` in it; the store moves from one version to
//! the next at once; whatever was cut short is completed by running it again.

use std::fs;

use crate::support::Bench;

const FINGERPRINT: &str = "fingerprint --input pages.jsonl --output out/batch.seg";
const DEDUP: &str = "dedup --batch out/batch.seg --store store --output out/dedup";

/// A batch joined with a store of one day.
fn joined() -> Bench {
    let bench = Bench::new();
    bench.write("pages.jsonl", bench.documents(0, 300));
    bench.write("old.jsonl", bench.documents(200, 400));
    bench.done("fingerprint --input old.jsonl --output old.seg");
    bench.store(&[("2026-01-01", "old")]);
    fs::create_dir(bench.path("out")).unwrap();
    bench.done(FINGERPRINT);
    bench.done(DEDUP);
    bench
}

#[test]
fn a_rerun_is_done_already_and_touches_nothing() {
    let bench = joined();
    assert_eq!(bench.read("out/dedup/_SUCCESS"), "");
    let (files, times) = (bench.files("out"), bench.times("out"));
    for job in [FINGERPRINT, DEDUP] {
        for flags in [
            "",
            "--workers 1",
            "--workers 2 --processes 2",
            "--memory 3MiB",
            "--overwrite",
            "--dry-run",
        ] {
            let again = bench.done(&format!("{job} {flags}"));
            assert_eq!(again.summary()["already_done"], true, "{job} {flags}");
            assert!(again.stderr.contains("done already"), "{}", again.stderr);
        }
    }
    let again = bench.done(&format!("{DEDUP}/ --design conditioned --as-of 2"));
    assert_eq!(
        again.summary()["already_done"],
        true,
        "the design is no part of what was asked for"
    );
    assert_eq!(bench.files("out"), files);
    assert_eq!(bench.times("out"), times);
}

#[test]
fn other_inputs_or_parameters_are_refused_unless_to_be_replaced() {
    let bench = joined();
    let (files, times) = (bench.files("out"), bench.times("out"));
    let flags = ["--distance 2", "--matches all", "--keep longest", "--as-of 1"];
    let refused = |job: &str| {
        bench.refuses(73, job, &["--overwrite"]);
    };
    flags.iter().for_each(|flags| refused(&format!("{DEDUP} {flags}")));
    refused("dedup --batch out/batch.seg --output out/dedup");
    refused("dedup --batch old.seg --store store --output out/dedup/");
    for flags in ["--width 128", "--recipe shingles", "--time-field fetched"] {
        refused(&format!("{FINGERPRINT} {flags}"));
    }
    refused("fingerprint --input old.jsonl --output out/batch.seg");
    for failure in ["out/dedup.failed.json", "out/batch.seg.failed.json"] {
        assert!(bench.read(failure).contains("73"));
        fs::remove_file(bench.path(failure)).unwrap();
    }
    assert_eq!(bench.files("out"), files);
    assert_eq!(bench.times("out"), times);
    for flags in flags {
        let ended = bench.done(&format!("{DEDUP} {flags} --overwrite"));
        assert_eq!(ended.summary()["already_done"], false);
        bench.done(&format!("dedup --batch out/batch.seg --store store --output fresh {flags}"));
        assert_eq!(bench.files("out/dedup"), bench.files("fresh"), "{flags}");
        fs::remove_dir_all(bench.path("fresh")).unwrap();
    }
    assert_eq!(bench.names("out"), ["batch.seg", "dedup"]);
}

/// Folders and files of somebody else, and such files in a folder of ours, even where replacing is allowed.
#[test]
fn what_is_not_ours_is_left_alone() {
    let bench = joined();
    let files = ["folder/letter.txt", "letter", "letter.json.gz", "spark/part-00000"];
    files.iter().for_each(|file| bench.write(file, "dear"));
    bench.write("spark/_SUCCESS", "");
    bench.write("empty", "");
    fs::create_dir(bench.path("empty-folder")).unwrap();
    bench.write("ids", bench.read("out/dedup/keep.txt"));
    for flags in ["", "--overwrite"] {
        for place in ["folder", "folder/", "letter", "empty-folder", "spark"] {
            bench.fails(73, &format!("dedup --batch old.seg --output {place} {flags}"));
        }
        for place in ["letter", "letter.json.gz"] {
            for job in ["filter --input pages.jsonl --ids ids", "generate documents --count 3"] {
                bench.fails(73, &format!("{job} --output {place} {flags}"));
            }
        }
    }
    for place in ["letter", "empty", "letter.json.gz"] {
        for job in [
            "fingerprint --input pages.jsonl",
            "weights --input pages.jsonl",
            "generate segment --count 5",
        ] {
            let said = bench.fails(73, &format!("{job} --output {place} --overwrite"));
            assert!(!said.contains("--overwrite"), "{said}");
        }
    }
    for line in [
        "fingerprint --input pages.jsonl --output folder",
        "store init folder",
        "store init letter",
    ] {
        assert_ne!(bench.run(line).code, 0, "{line}");
    }
    assert!(files.iter().all(|file| bench.read(file) == "dear") && bench.read("empty").is_empty());
    assert_eq!(bench.names("folder"), ["letter.txt"]);
    assert_eq!(bench.names("empty-folder"), [""; 0]);
    assert_eq!(bench.names("spark"), ["_SUCCESS", "part-00000"]);
    bench.write("out/dedup/notes.txt", "dear");
    bench.refuses(73, &format!("{DEDUP} --distance 2 --overwrite"), &["notes.txt"]);
    assert_eq!(bench.read("out/dedup/notes.txt"), "dear");
    fs::remove_file(bench.path("out/dedup/notes.txt")).unwrap();
    bench.done(&format!("{DEDUP} --distance 2 --overwrite"));
}

#[test]
fn an_output_that_was_damaged_is_not_said_to_be_done() {
    let bench = joined();
    for name in ["matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt", "report.json"] {
        let path = bench.path("out/dedup").join(name);
        let sound = fs::read(&path).unwrap();
        fs::write(&path, &sound[..sound.len() / 2]).unwrap();
        bench.refuses(65, DEDUP, &[name, "--overwrite"]);
        fs::remove_file(&path).unwrap();
        bench.fails(if name == "report.json" { 73 } else { 65 }, DEDUP);
        fs::write(&path, sound).unwrap();
        bench.again(DEDUP);
    }
    fs::write(bench.path("out/dedup/report.json"), "{").unwrap();
    bench.done(&format!("{DEDUP} --overwrite"));
    bench.again(DEDUP);
    fs::remove_file(bench.path("out/dedup/_SUCCESS")).unwrap();
    bench.fails(73, DEDUP);
}

#[test]
fn a_failed_job_leaves_no_output_and_keeps_the_one_before() {
    let bench = joined();
    let before = bench.files("out/dedup");
    bench.fails(65, &format!("{DEDUP} --distance 6 --matches all --max-matches 1 --overwrite"));
    assert_eq!(bench.files("out/dedup"), before);
    let many = "--output new/dedup --matches all --max-matches 1";
    bench.fails(65, &format!("dedup --batch out/batch.seg --store store {many}"));
    // The chunks that were finished until then are kept, if there were any.
    let left = bench.names("new").into_iter().filter(|name| name != ".dedup.resume");
    assert_eq!(left.collect::<Vec<_>>(), ["dedup.failed.json"]);
    bench.done("dedup --batch out/batch.seg --store store --output new/dedup");
    assert_eq!(bench.names("new"), ["dedup"]);
}
