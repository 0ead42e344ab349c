//! The store: what is in it stays what it was, whatever happens to the files it was given or to the
//! folder it stands in, and every version it can go back to is checked.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use crate::oracle::Page;
use crate::support::Bench;
use crate::world::spread;

fn pages(seed: u64, count: u64) -> Vec<Page> {
    let bits = |i: u64| spread(seed << 32 | i);
    (0..count).map(|i| (format!("{seed}-{i}"), bits(i).into())).collect()
}

/// A store of the first `days` days of November 2026, each added from `day-N.seg`.
fn store(days: u64) -> Bench {
    let bench = Bench::new();
    bench.done("store init store");
    for day in 1..=days {
        bench.segment(&format!("day-{day}"), 64, &pages(day, 100 * day));
        bench.done(&format!("store add store --segment day-{day}.seg --day 2026-11-0{day}"));
    }
    bench
}

fn segment_of(bench: &Bench, day: &str) -> PathBuf {
    let names = bench.names("store/segments");
    bench.path("store/segments").join(names.iter().find(|name| name.starts_with(day)).unwrap())
}

/// Changes a manifest and makes its checksum, and that of CURRENT, anew.
fn forge(bench: &Bench, version: u64, old: &str, new: &str) {
    let name = format!("store/manifests/{version:06}.json");
    let text = bench.read(&name);
    let lines = text[..text.rfind("xxh3-64").unwrap()].replace(old, new);
    assert_ne!(lines, text[..lines.len().min(text.len())], "nothing was forged");
    let whole = format!("{lines}xxh3-64 {:016x}\n", xxh3_64(lines.as_bytes()));
    bench.write("store/CURRENT", format!("{version:06} {:016x}\n", xxh3_64(whole.as_bytes())));
    bench.write(&name, whole);
}

fn flip(path: &PathBuf) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_version_is_verified_and_one_where_one_is_asked_for() {
    let bench = store(3);
    bench.done("store rollback store --to 1");
    let all = bench.done("store verify store");
    assert_eq!(["version", "versions", "segments"].map(|name| all.count(name)), [5, 5, 3]);
    flip(&segment_of(&bench, "2026-11-02"));
    bench.refuses(65, "store verify store", &["2026-11-02"]);
    bench.fails(65, "store verify store --version 3");
    for sound in [1, 2, 5] {
        let one = bench.done(&format!("store verify store --version {sound}"));
        assert_eq!((one.count("version"), one.count("versions")), (sound, 1));
    }
    bench.fails(66, "store verify store --version 6");
}

#[test]
fn a_rollback_is_refused_unless_all_that_it_goes_back_to_is_sound() {
    let bench = store(3);
    bench.done("store rollback store --to 2");
    let before = bench.files("store");
    let second = segment_of(&bench, "2026-11-02");
    let sound = fs::read(&second).unwrap();
    flip(&second);
    for flags in ["", "--dry-run"] {
        bench.refuses(65, &format!("store rollback store --to 4 {flags}"), &["2026-11-02"]);
    }
    fs::remove_file(&second).unwrap();
    for flags in ["", "--dry-run"] {
        bench.refuses(66, &format!("store rollback store --to 4 {flags}"), &["lost this segment"]);
    }
    fs::write(&second, sound).unwrap();
    assert_eq!(bench.files("store"), before);
    assert_eq!(bench.done("store rollback store --to 4").count("days"), 3);
}

#[test]
fn a_later_write_into_the_given_file_does_not_reach_the_store() {
    let bench = store(1);
    bench.segment("other", 64, &pages(9, 50));
    bench.segment("linked", 64, &pages(2, 50));
    symlink(bench.path("linked.seg"), bench.path("link.seg")).unwrap();
    bench.done("store add store --segment link.seg --day 2026-11-02");
    let held = bench.files("store");
    // Written into, as by a shell's `>`, and not replaced.
    for name in ["day-1.seg", "linked.seg"] {
        fs::write(bench.path(name), bench.bytes("other.seg")).unwrap();
    }
    assert_eq!(bench.files("store"), held);
    fs::remove_file(bench.path("linked.seg")).unwrap();
    assert_eq!(bench.done("store verify store").count("fingerprints"), 150);
    assert!(fs::symlink_metadata(segment_of(&bench, "2026-11-02")).unwrap().is_file());
}

#[test]
fn a_manifest_names_nothing_outside_its_store() {
    let bench = store(1);
    bench.segment("outside", 64, &pages(1, 100));
    let name = segment_of(&bench, "2026-11-01").file_name().unwrap().to_owned();
    let name = name.to_str().unwrap();
    let absolute = bench.path("outside.seg").display().to_string();
    let sound = bench.files("store");
    for other in ["../../outside.seg", &absolute, "..", ".", "", "a/b.seg", "./b.seg"] {
        forge(&bench, 2, &format!("{name:?}"), &format!("{other:?}"));
        for job in ["verify store", "list store", "rollback store --to 2"] {
            let ended = bench.run(&format!("store {job}"));
            let told = (ended.code, ended.stderr.contains("outside the store"));
            assert_eq!(told, (65, true), "{other}: {}", ended.stderr);
        }
        forge(&bench, 2, &format!("{other:?}"), &format!("{name:?}"));
    }
    assert_eq!(bench.files("store"), sound);
}

#[test]
fn a_manifest_counts_what_its_segments_hold() {
    let bench = store(2);
    bench.segment("batch", 64, &pages(9, 10));
    let bytes = fs::metadata(segment_of(&bench, "2026-11-01")).unwrap().len();
    let sound = bench.files("store");
    for (old, new) in [
        ("\"rows\": 100", "\"rows\": 101"),
        ("\"rows\": 200", "\"rows\": 0"),
        ("\"empties\": 0", "\"empties\": 5"),
        (&format!("\"bytes\": {bytes}"), "\"bytes\": 7"),
        ("\"width\": 64", "\"width\": 128"),
    ] {
        forge(&bench, 3, old, new);
        bench.fails(65, "store verify store");
        let said = bench.run("dedup --batch batch.seg --store store --output out");
        assert_eq!(said.code, 65, "{old}: {}", said.stderr);
        forge(&bench, 3, new, old);
        bench.write("store/CURRENT", &sound["CURRENT"]);
        bench.write("store/manifests/000003.json", &sound["manifests/000003.json"]);
    }
    for (old, new) in
        [("\"added_in\": 3", "\"added_in\": 0"), ("\"added_in\": 3", "\"added_in\": 9")]
    {
        forge(&bench, 3, old, new);
        for job in ["store verify store", "store list store", "store log store"] {
            assert_eq!(bench.run(job).code, 65, "{job}");
        }
        forge(&bench, 3, new, old);
    }
    assert_eq!(bench.files("store"), sound);
}

#[test]
fn what_others_put_into_the_folder_stays_and_stops_nothing() {
    let bench = store(1);
    let folder = bench.path("store/segments");
    bench.write("store/segments/folder/letter", "dear");
    bench.write("store/segments/notes.txt", "dear");
    bench.write("store/segments/2026-11-09-folder.seg/letter", "dear");
    fs::write(folder.join(OsStr::from_bytes(b"\xff\xfe.seg")), "dear").unwrap();
    symlink(bench.path("day-1.seg"), folder.join("link")).unwrap();
    bench.write("store/segments/2026-11-09-stray.seg", "half");
    bench.write("store/segments/.unfinished-2026-11-09-stray.seg-123456", "half");
    bench.segment("batch", 64, &pages(2, 10));
    bench.done("store add store --segment batch.seg --day 2026-11-02");
    bench.done("store compact store");
    assert_eq!(bench.done("store verify store").count("fingerprints"), 110);
    let mut left: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.retain(|name| !name.to_string_lossy().contains("0000"));
    assert_eq!(left.len(), 7, "{left:?}");
    for name in ["folder/letter", "notes.txt", "2026-11-09-folder.seg/letter"] {
        assert_eq!(bench.read(&format!("store/segments/{name}")), "dear");
    }
    assert!(!folder.join("2026-11-09-stray.seg").exists());
}

/// Three days, each with some pages of the day before, of which the second one is bad.
fn days() -> Bench {
    let bench = Bench::new();
    bench.november(3, 60, 100, "");
    bench.write("good.jsonl", bench.read("crawl/2026-11-02.jsonl"));
    bench.write("crawl/2026-11-02.jsonl", bench.documents(0, 90));
    bench.done("run days.toml");
    bench
}

/// What the outputs and the store hold, whatever the numbers of its versions.
fn contents(bench: &Bench) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = bench.files("out").into_iter().collect();
    files.retain(|(name, _)| !name.ends_with("report.json"));
    let listed = bench.answer("store list store");
    // The second column is a number of a version.
    let columns = |line: &str| {
        line.split_whitespace()
            .enumerate()
            .filter(|(at, _)| *at != 1)
            .map(|(_, word)| word.to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let days = listed.lines().filter(|line| !line.starts_with("older"));
    files.push(("store".into(), days.map(columns).collect::<Vec<_>>().join("\n").into()));
    files
}

#[test]
fn a_bad_day_is_made_again_with_the_days_after_it() {
    let bench = days();
    bench.write("crawl/2026-11-02.jsonl", bench.read("good.jsonl"));
    for flags in ["", "--overwrite"] {
        let before = bench.files("out");
        bench.refuses(
            73,
            &format!("run days.toml --date 2026-11-02 {flags}"),
            &["run days.toml --redo 2026-11-02"],
        );
        std::fs::remove_file(bench.path("out/2026-11-02/batch.seg.failed.json")).ok();
        assert_eq!(bench.files("out"), before);
    }
    let before = (bench.files("out"), bench.files("store"));
    let told = bench.done("run days.toml --redo 2026-11-02 --dry-run");
    assert!(told.stderr.contains("2026-11-02, 2026-11-03"), "{}", told.stderr);
    assert_eq!((told.count("days"), told.count("back_to_version")), (2, 2));
    assert_eq!((bench.files("out"), bench.files("store")), before);

    bench.done("run days.toml --redo 2026-11-02");
    let fresh = Bench::new();
    for day in 1..=3 {
        let name = format!("crawl/2026-11-0{day}.jsonl");
        fresh.write(&name, bench.read(&name));
    }
    fresh.write("days.toml", bench.read("days.toml"));
    fresh.done("run days.toml");
    assert_eq!(contents(&bench), contents(&fresh));
    for day in 1..=3 {
        bench.done(&format!("verify out/2026-11-0{day}"));
    }
    bench.done("store verify store");
    let log = bench.answer("store log store");
    // How many pages a day replaced is told behind a comma.
    let change = |line: &str| line[32..].split(',').next().map(|it| it.trim().to_owned());
    let changes: Vec<String> = log.lines().skip(5).filter_map(change).collect();
    assert_eq!(changes, ["rollback to 2", "add 2026-11-02", "add 2026-11-03"], "{log}");

    let done = (bench.files("out"), bench.files("store"));
    for again in ["run days.toml", "run days.toml --redo 2026-11-02"] {
        bench.again(again);
        assert_eq!((bench.files("out"), bench.files("store")), done);
    }
    bench.fails(66, "run days.toml --redo 2026-11-04");
}

/// A redo that died when the store had moved, after each of the steps that put its outputs in place.
#[test]
fn a_redo_that_died_on_its_last_steps_is_finished_by_the_next_run() {
    let day = "out/2026-11-02";
    let bench = days();
    let old = [format!("{day}/batch.seg"), format!("{day}/dedup/report.json")]
        .map(|it| fs::read(bench.path(&it)).unwrap());
    let mut good = bench.read("good.jsonl");
    good.push_str("no record\n");
    bench.write("crawl/2026-11-02.jsonl", good);
    let redo = "run days.toml --max-bad 50% --redo 2026-11-02";
    let ended = bench.done(redo);
    let paths = ended.summary()["paths"].to_string();
    assert!(paths.contains("batch.seg.quarantine.tsv") && !paths.contains(".redo"), "{paths}");
    let whole = bench.files("out");
    let again = "run days.toml --max-bad 50% --date 2026-11-02";
    for steps in 0..3 {
        let staged = bench.path(&format!("{day}/.redo"));
        fs::create_dir(&staged).unwrap();
        let stage = |name: &str| {
            fs::rename(bench.path(&format!("{day}/{name}")), staged.join(name)).unwrap();
        };
        stage("dedup");
        fs::create_dir(bench.path(&format!("{day}/dedup"))).unwrap();
        bench.write(&format!("{day}/dedup/report.json"), &old[1]);
        bench.write(&format!("{day}/dedup/_SUCCESS"), "");
        if steps < 2 {
            stage("batch.seg");
            bench.write(&format!("{day}/batch.seg"), &old[0]);
        }
        if steps < 1 {
            stage("batch.seg.quarantine.tsv");
        }
        bench.done(again);
        assert_eq!(bench.files("out"), whole, "{steps}");
        bench.done(&format!("verify {day}"));
    }
}

#[test]
fn a_redo_that_fails_changes_nothing() {
    let bench = days();
    let before = (bench.files("out"), bench.files("store"));
    // The manifests of a draft are no versions; the next change writes over them.
    let store = || {
        let mut store = bench.files("store");
        store.retain(|name, _| before.1.contains_key(name) || !name.starts_with("manifests/"));
        store
    };
    let unchanged = |code: i32| {
        let ended = bench.run("run days.toml --redo 2026-11-02 --workers 1");
        assert_eq!(ended.code, code, "{}", ended.stderr);
        let _ = fs::remove_dir_all(bench.path("out/2026-11-02/.redo"));
        assert_eq!(bench.files("out"), before.0);
        assert_eq!(store(), before.1);
        for day in 1..=3 {
            bench.done(&format!("verify out/2026-11-0{day}"));
        }
    };
    bench.write("crawl/2026-11-02.jsonl", "no page\nno page\n");
    unchanged(65);
    fs::remove_file(bench.path("crawl/2026-11-02.jsonl")).unwrap();
    unchanged(66);
    bench.write("crawl/2026-11-02.jsonl", bench.read("good.jsonl"));
    let last = bench.path("out/2026-11-03/batch.seg");
    let sound = fs::read(&last).unwrap();
    fs::remove_file(&last).unwrap();
    assert_eq!(bench.run("run days.toml --redo 2026-11-02").code, 66);
    fs::write(&last, sound).unwrap();
    fs::remove_file(bench.path("out/2026-11-03/dedup.failed.json")).ok();
    assert_eq!(store(), before.1);
    flip(&segment_of(&bench, "2026-11-01"));
    assert_eq!(bench.run("run days.toml --redo 2026-11-02").code, 65);
    flip(&segment_of(&bench, "2026-11-01"));
    assert_eq!(store(), before.1);
    bench.done("run days.toml --redo 2026-11-02");
    bench.done("store verify store");
}

#[test]
fn verify_says_when_the_store_holds_something_else() {
    let bench = days();
    let differs = |day: u32| {
        bench.refuses(
            65,
            &format!("verify out/2026-11-0{day}"),
            &["the store does not hold what this output says"],
        );
    };
    bench.done("store compact store");
    (1..=3).for_each(|day| drop(bench.done(&format!("verify out/2026-11-0{day}"))));
    bench.done("store rollback store --before-day 2026-11-02");
    bench.done("verify out/2026-11-01");
    [2, 3].into_iter().for_each(differs);
    bench.done("run days.toml");
    (1..=3).for_each(|day| drop(bench.done(&format!("verify out/2026-11-0{day}"))));
    // The same day, of other pages.
    bench.done("store rollback store --before-day 2026-11-03");
    bench.done("store add store --segment out/2026-11-01/batch.seg --day 2026-11-03");
    differs(3);
}
