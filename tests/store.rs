//! The store: manifests that name or count something else, and a folder into which others put things.

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
