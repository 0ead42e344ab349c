//! Promise 4: an output is absent, or whole with `_SUCCESS` in it; the store moves from one version to
//! the next at once; whatever was cut short is completed by running it again.

use std::fs;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use rustix::process::Signal;

use crate::support::{Bench, Page, wait_until};

const FINGERPRINT: &str = "fingerprint --input pages.jsonl --output out/batch.seg";
const DEDUP: &str = "dedup --batch out/batch.seg --store store --output out/dedup";

fn pages(count: u64, seed: u64) -> Vec<Page> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|i| (format!("{seed}-{i}"), random.random::<u64>().into())).collect()
}

/// A batch joined with a store of one day.
fn joined() -> Bench {
    let bench = Bench::new();
    bench.write("pages.jsonl", bench.documents(0, 300));
    bench.write("old.jsonl", bench.documents(200, 400));
    bench.done("fingerprint --input old.jsonl --output old.seg");
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-01-01");
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
        let said = bench.fails(73, job);
        assert!(said.contains("--overwrite"), "{said}");
    };
    flags.iter().for_each(|flags| refused(&format!("{DEDUP} {flags}")));
    refused("dedup --batch out/batch.seg --output out/dedup");
    refused("dedup --batch old.seg --store store --output out/dedup/");
    for flags in ["--width 128", "--recipe shingles", "--max-bad 3", "--time-field fetched"] {
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

#[test]
fn what_is_not_ours_is_left_alone() {
    let bench = joined();
    bench.write("folder/letter.txt", "dear");
    bench.write("file", "dear");
    bench.write("spark/_SUCCESS", "");
    bench.write("spark/part-00000", "dear");
    fs::create_dir(bench.path("empty")).unwrap();
    for place in ["folder", "folder/", "file", "empty", "spark"] {
        for flags in ["", "--overwrite"] {
            bench.fails(73, &format!("dedup --batch old.seg --output {place} {flags}"));
        }
    }
    bench.fails(73, "generate documents --count 3 --output file");
    let ended = bench.run("fingerprint --input pages.jsonl --output file");
    assert!([65, 73].contains(&ended.code), "{}", ended.stderr);
    let ended = bench.run("fingerprint --input pages.jsonl --output folder");
    assert_ne!(ended.code, 0);
    assert_ne!(bench.run("store init folder").code, 0);
    assert_ne!(bench.run("store init file").code, 0);
    assert_eq!(
        (bench.read("folder/letter.txt"), bench.read("file")),
        ("dear".into(), "dear".into())
    );
    assert_eq!(bench.names("folder"), ["letter.txt"]);
    assert_eq!(bench.names("empty"), [""; 0]);
    assert_eq!(bench.names("spark"), ["_SUCCESS", "part-00000"]);
}

#[test]
fn what_is_not_ours_is_not_replaced_even_where_that_is_allowed() {
    let bench = joined();
    let foreign = ["letter", "empty", "letter.json.gz"];
    bench.write("letter", "dear");
    bench.write("empty", "");
    bench.write("letter.json.gz", "dear");
    bench.write("ids", bench.read("out/dedup/keep.txt"));
    for place in foreign {
        let before = bench.bytes(place);
        for job in [
            "fingerprint --input pages.jsonl",
            "weights --input pages.jsonl",
            "generate segment --count 5",
        ] {
            let said = bench.fails(73, &format!("{job} --output {place} --overwrite"));
            assert!(!said.contains("--overwrite"), "{said}");
        }
        assert_eq!(bench.bytes(place), before);
    }
    for place in ["letter", "letter.json.gz"] {
        for job in ["filter --input pages.jsonl --ids ids", "generate documents --count 3"] {
            bench.fails(73, &format!("{job} --output {place} --overwrite"));
        }
    }
    assert_eq!(bench.read("letter"), "dear");
    // Files of somebody else in a folder of ours.
    bench.write("out/dedup/notes.txt", "dear");
    let said = bench.fails(73, &format!("{DEDUP} --distance 2 --overwrite"));
    assert!(said.contains("notes.txt"), "{said}");
    assert_eq!(bench.read("out/dedup/notes.txt"), "dear");
    fs::remove_file(bench.path("out/dedup/notes.txt")).unwrap();
    bench.done(&format!("{DEDUP} --distance 2 --overwrite"));
}

#[test]
fn an_output_and_its_inputs_have_places_of_their_own() {
    let bench = joined();
    let before = bench.files("");
    fs::create_dir(bench.path("folder")).unwrap();
    fs::copy(bench.path("old.seg"), bench.path("folder/in.seg")).unwrap();
    for job in [
        "dedup --batch old.seg --output old.seg",
        "dedup --batch old.seg --output ./out/../old.seg",
        "dedup --batch old.seg --store store --output store",
        "dedup --batch old.seg --store store --output store/segments/out",
        "dedup --batch folder/in.seg --output folder",
        "dedup --batch old.seg --output -",
        "fingerprint --input pages.jsonl --output -",
    ] {
        for flags in ["", "--overwrite"] {
            bench.fails(2, &format!("{job} {flags}"));
        }
    }
    fs::remove_dir_all(bench.path("folder")).unwrap();
    let after = bench.files("");
    let failures = |name: &String| name.ends_with(".failed.json");
    assert!(after.iter().filter(|(name, _)| !failures(name)).eq(before.iter()));
}

#[test]
fn nothing_is_replaced_unasked() {
    let bench = Bench::new();
    bench.done("generate segment --count 100 --output near.seg");
    let job = "generate segment --count 100 --seed 2 --near near.seg --planted 5";
    let foreign = "planted\tnear\tdistance\na\tb\t1\n";
    bench.write("truth.tsv", foreign);
    bench.fails(73, &format!("{job} --output a.seg --truth truth.tsv"));
    assert!(!bench.path("a.seg").exists());
    assert_eq!(bench.read("truth.tsv"), foreign);
    bench.done(&format!("{job} --output a.seg --truth truth.tsv --overwrite"));
    bench.done(&format!("{job} --output a.seg --truth truth.tsv"));
    bench.done(&format!("{job} --output a.seg --truth other.tsv"));
    assert_eq!(bench.bytes("truth.tsv"), bench.bytes("other.tsv"));
    bench.write("letter", "dear");
    bench.fails(73, &format!("{job} --output b.seg --truth letter --overwrite"));
    assert_eq!(bench.read("letter"), "dear");
}

#[test]
fn records_go_to_standard_output_where_that_is_named() {
    let bench = Bench::new();
    bench.write("pages.jsonl", bench.documents(0, 40));
    bench.write("ids", "document-000000000003\ndocument-000000000007\n");
    bench.done("filter --input pages.jsonl --ids ids --output kept.jsonl");
    let filtered = bench.answer("filter --input pages.jsonl --ids ids --output -");
    assert_eq!(filtered, bench.read("kept.jsonl"));
    let generated = bench.answer("generate documents --count 40 --near-share 0.4 --output -");
    assert_eq!(generated, bench.read("pages.jsonl"));
    assert!(!bench.path("-").exists());
}

#[test]
fn an_output_that_was_damaged_is_not_said_to_be_done() {
    let bench = joined();
    for name in ["matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt", "report.json"] {
        let path = bench.path("out/dedup").join(name);
        let sound = fs::read(&path).unwrap();
        fs::write(&path, &sound[..sound.len() / 2]).unwrap();
        let said = bench.fails(65, DEDUP);
        assert!(said.contains(name) && said.contains("--overwrite"), "{said}");
        fs::remove_file(&path).unwrap();
        bench.fails(if name == "report.json" { 73 } else { 65 }, DEDUP);
        fs::write(&path, sound).unwrap();
        assert_eq!(bench.done(DEDUP).summary()["already_done"], true);
    }
    fs::write(bench.path("out/dedup/report.json"), "{").unwrap();
    bench.done(&format!("{DEDUP} --overwrite"));
    assert_eq!(bench.done(DEDUP).summary()["already_done"], true);
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

#[test]
fn a_dry_run_makes_nothing() {
    let bench = joined();
    bench.segment("ready", 64, &pages(10, 1));
    let before = bench.tree();
    for job in [
        "fingerprint --input pages.jsonl --output new.seg",
        "dedup --batch ready.seg --output new",
        "dedup --batch ready.seg --output elsewhere/new",
        "store init other",
        "store add store --segment old.seg --day 2026-02-02",
        "store rollback store --to 1",
        "generate segment --count 10 --output made.seg",
        "generate documents --count 10 --output made.jsonl",
    ] {
        bench.done(&format!("{job} --dry-run"));
        assert_eq!(bench.tree(), before, "{job}");
    }
}

#[test]
fn the_store_takes_a_day_once() {
    let bench = joined();
    let add = "store add store --segment out/batch.seg --day 2026-01-02 --only out/dedup/keep.txt";
    bench.done(add);
    let (files, times) = (bench.files("store"), bench.times("store"));
    let again = bench.done(add);
    assert_eq!(again.summary()["already_done"], true);
    assert_eq!(bench.times("store"), times);
    bench.fails(73, "store add store --segment out/batch.seg --day 2026-01-02");
    bench.fails(73, "store add store --segment old.seg --day 2026-01-02");
    bench.fails(
        73,
        "store add store --segment out/batch.seg --day 2026-01-02 --only out/dedup/drop.txt",
    );
    bench.done("fingerprint --input pages.jsonl --output wide.seg --width 128");
    bench.segment("external", 64, &pages(10, 1));
    for other in ["wide", "external"] {
        let said =
            bench.fails(73, &format!("store add store --segment {other}.seg --day 2026-01-03"));
        let part = if other == "wide" { "width = 128" } else { "features = external" };
        assert!(said.contains(part) && said.contains("recipe"), "both are shown: {said}");
    }
    bench.write("stranger.txt", "nobody\n");
    let said = bench.run("store add store --segment old.seg --day 2026-01-04 --only stranger.txt");
    assert_eq!(said.code, 65, "{}", said.stderr);
    assert!(said.stderr.contains("nobody"), "{}", said.stderr);
    for day in ["2026-1-4", "2026-02-30", "20260104", "today"] {
        bench.fails(2, &format!("store add store --segment old.seg --day {day}"));
    }
    assert_eq!(bench.files("store"), files);
}

#[test]
fn a_rollback_is_a_new_version_of_what_was() {
    let bench = Bench::new();
    bench.done("store init store");
    for (day, seed) in [("2026-01-01", 1), ("2026-01-02", 2), ("2026-01-03", 3)] {
        bench.segment(day, 64, &pages(100, seed));
        bench.done(&format!("store add store --segment {day}.seg --day {day}"));
    }
    let ended = bench.done("store rollback store --to 2");
    let counts = ["version", "days", "fingerprints"];
    assert_eq!(counts.map(|name| ended.count(name)), [5, 1, 100]);
    bench.segment("batch", 64, &pages(50, 2));
    bench.done("dedup --batch batch.seg --store store --output rolled-back");
    bench.done("dedup --batch batch.seg --store store --as-of 4 --output before");
    assert_eq!(bench.read("rolled-back/keep.txt").lines().count(), 50);
    assert_eq!(bench.read("before/drop.txt").lines().count(), 50);
    let ended = bench.done("store add store --segment 2026-01-03.seg --day 2026-01-02");
    assert_eq!(counts.map(|name| ended.count(name)), [6, 2, 200]);
    let ended = bench.done("store rollback store --to 4");
    assert_eq!(counts.map(|name| ended.count(name)), [7, 3, 300]);
    assert_eq!(counts.map(|name| bench.done("store verify store").count(name)), [7, 3, 300]);
    bench.fails(66, "store rollback store --to 8");
    bench.fails(66, "store rollback store --to 0");
    bench.fails(66, "dedup --batch batch.seg --store store --as-of 8 --output none");
    let listed = bench.run("store list store").stdout;
    assert_eq!(listed.lines().filter(|line| line.starts_with("2026-01-0")).count(), 3, "{listed}");
}

#[test]
fn a_damaged_store_is_found_out() {
    let bench = joined();
    let segment = bench.names("store/segments").remove(0);
    for name in [format!("segments/{segment}"), "manifests/000002.json".into(), "CURRENT".into()] {
        let path = bench.path("store").join(&name);
        let sound = fs::read(&path).unwrap();
        for at in (0..sound.len()).step_by(1 + sound.len() / 40) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::remove_file(&path).unwrap();
            fs::write(&path, damaged).unwrap();
            let ended = bench.run("store verify store");
            assert!([65, 66].contains(&ended.code), "{name} at byte {at}: {ended:?}");
        }
        fs::write(&path, sound).unwrap();
        bench.done("store verify store");
    }
    fs::remove_file(bench.path("store/segments").join(segment)).unwrap();
    bench.fails(66, "store verify store");
    bench.fails(66, &format!("{DEDUP}-2"));
}

/// Kills a job when there is an unfinished file in `out`; says whether it was caught.
fn killed_as_it_writes(bench: &Bench, job: &str) -> bool {
    let running = bench.start(job);
    let writes = || bench.names("out").iter().any(|name| name.contains("unfinished"));
    while running.is_running() && !writes() {}
    running.signal(Signal::KILL);
    running.end().code == -1
}

#[test]
fn a_run_killed_as_it_writes_leaves_nothing_for_ever() {
    let bench = Bench::new();
    bench.done("generate segment --count 150000 --output made.seg");
    let dump = bench.run("inspect made.seg --dump").stdout;
    let lines = dump.lines().filter(|line| !line.starts_with('{'));
    let documents: String = lines.map(|line| format!("{line}\n")).collect();
    bench.write("in.tsv", documents);
    let job = "fingerprint --format fingerprints --input in.tsv --output out/x.seg";
    fs::create_dir(bench.path("out")).unwrap();
    while !killed_as_it_writes(&bench, job) {
        fs::remove_file(bench.path("out/x.seg")).unwrap();
    }
    assert_eq!(bench.names("out").len(), 2, "the lock, and what is unfinished");
    bench.done(job);
    assert_eq!(bench.names("out"), ["x.seg"]);
}

/// Three days of documents, and the configuration that takes them through the whole job.
fn three_days(flags: &str) -> Bench {
    let bench = Bench::new();
    for (day, from) in [1, 2, 3].into_iter().zip([0, 1000, 2000]) {
        bench.write(&format!("crawl/2026-01-0{day}.jsonl"), bench.documents(from, from + 1000));
    }
    bench.write(
        "days.toml",
        format!(
            "inputs = [\"crawl/{{date}}.jsonl\"]\noutput = \"out/{{date}}\"\nstore = \"out/store\"\n\
             dates = [\"2026-01-01\", \"2026-01-02\", \"2026-01-03\"]\n[machines]\n{flags}\n"
        ),
    );
    bench
}

/// Kills `run` at moments drawn from `seed` until it has been killed `kills` times, then lets it end.
fn killed_again_and_again(flags: &str, seed: u64, kills: u32) {
    let undisturbed = three_days(flags);
    let whole = undisturbed.done("run days.toml").worked;
    let expected = undisturbed.files("out");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut killed, mut bench) = (0, three_days(flags));
    while killed < kills {
        let running = bench.start("run days.toml");
        if running.works_for(whole.mul_f64(random.random_range(0.0..0.9))) {
            running.signal(Signal::KILL);
        }
        let ended = running.end();
        assert!([0, -1].contains(&ended.code), "{ended:?}");
        killed += u32::from(ended.code == -1);
        check_outputs(&bench, &expected);
        if ended.code == 0 {
            assert_eq!(bench.files("out"), expected, "after {killed} kills");
            bench = three_days(flags);
        }
    }
    bench.done("run days.toml");
    assert_eq!(bench.files("out"), expected);
    bench.done("store verify out/store");
}

/// Whatever stands in place is whole.
fn check_outputs(bench: &Bench, expected: &std::collections::BTreeMap<String, Vec<u8>>) {
    for day in ["2026-01-01", "2026-01-02", "2026-01-03"] {
        let folder = format!("out/{day}/dedup");
        if bench.path(&folder).exists() {
            for (name, bytes) in bench.files(&folder) {
                assert!(expected[&format!("{day}/dedup/{name}")] == bytes, "{folder}/{name}");
            }
            assert!(bench.path(&folder).join("_SUCCESS").exists());
        }
        if let Ok(segment) = fs::read(bench.path(&format!("out/{day}/batch.seg"))) {
            assert!(expected[&format!("{day}/batch.seg")] == segment, "{day}/batch.seg");
        }
    }
}

#[test]
fn killed_at_any_moment_and_run_again_it_writes_the_same() {
    killed_again_and_again("workers = 2", 1, 14);
}

#[test]
fn a_killed_supervisor_takes_its_processes_with_it() {
    killed_again_and_again("workers = 1\nprocesses = 2", 2, 6);
}

#[test]
fn interrupted_it_says_so_and_goes_on_the_next_time() {
    let interrupted = || {
        let bench = three_days("workers = 2");
        let running = bench.start("run days.toml");
        let is_done = || bench.path("out/2026-01-01/dedup").exists();
        wait_until("a day is done", || is_done() || !running.is_running());
        running.signal(Signal::TERM);
        (bench, running.end())
    };
    // Days that were through before the signal came are run again.
    let caught = std::iter::repeat_with(interrupted).take(20).find(|(_, ended)| ended.code != 0);
    let (bench, ended) = caught.expect("the days are too short");
    assert_eq!(ended.code, 75, "{}", ended.stderr);
    let summary = ended.summary();
    assert_eq!((&summary["code"], &summary["retryable"]), (&75.into(), &true.into()));
    bench.done("run days.toml");
}
