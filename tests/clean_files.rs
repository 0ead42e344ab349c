//! The clean files of `run`, and those of all days: the kept records as they came, and what the store shows, record by record.

use std::collections::BTreeSet;

use crate::days_again::words_of;
use crate::recrawls::response;
use crate::support::Bench;
use crate::world::words;

const DAYS: [&str; 4] = ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"];

const CONFIG: &str = "inputs = [\"crawl/{date}/*\"]\noutput = \"out/{date}\"\nstore = \"store\"\n";

/// Four days. Ids come again with other texts; `grows` of the first day stands whole in `grown` of the second, and that in `larger` of the
/// fourth; `copy` is dropped.
fn days() -> Bench {
    let bench = Bench::new();
    let pages = [
        [words_of("grows", "q", 0), words_of("a", "a", 0), words_of("b", "b", 0)],
        [words_of("grown", "q", 40), words_of("a", "c", 0), words_of("copy", "b", 0)],
        [words_of("x", "x", 0), words_of("copy", "a", 0), words_of("b", "d", 0)],
        [words_of("larger", "q", 80), words_of("a", "e", 0), words_of("y", "y", 0)],
    ];
    for (day, pages) in DAYS.iter().zip(pages) {
        bench.write(&format!("crawl/{day}/one.jsonl"), pages[..2].concat());
        bench.write(&format!("crawl/{day}/two.jsonl"), &pages[2]);
    }
    bench.write("days.toml", format!("{CONFIG}kept = \"clean/{{date}}\"\n"));
    bench
}

/// The lines of a day's input that `is_kept`, file by file.
fn records(bench: &Bench, day: &str, is_kept: impl Fn(&str) -> bool) -> [String; 2] {
    ["one", "two"].map(|file| {
        let pages = bench.read(&format!("crawl/{day}/{file}.jsonl"));
        let id = |line: &str| line.split('"').nth(3).unwrap().to_owned();
        pages.split_inclusive('\n').filter(|line| is_kept(&id(line))).collect()
    })
}

fn lines(bench: &Bench, name: &str) -> BTreeSet<String> {
    bench.read(name).lines().map(str::to_owned).collect()
}

/// Fails unless the clean files of these days have the records that the days have kept.
fn check(bench: &Bench, days: &[&str]) {
    for day in days {
        let kept = lines(bench, &format!("out/{day}/dedup/keep.txt"));
        let copied = ["one", "two"].map(|file| bench.read(&format!("clean/{day}/{file}.jsonl")));
        assert_eq!(copied, records(bench, day, |id| kept.contains(id)), "{day}");
    }
}

#[test]
fn the_kept_pages_of_a_day_are_copied_as_they_came() {
    let bench = days();
    let run = "run days.toml --date 2026-11-01..2026-11-03";
    bench.done(&format!("{run} --dry-run"));
    assert!(!bench.path("clean").exists());
    let ran = bench.done(run);
    assert_eq!((ran.count("copied"), ran.count("kept")), (7, 7));
    assert!(ran.stderr.contains("The kept pages of 2026-11-03 are in clean/2026-11-03/"));
    check(&bench, &DAYS[..3]);
    assert!(bench.read("clean/2026-11-02/two.jsonl").is_empty());
    let times = bench.times("");
    for processes in ["", "--processes 2"] {
        bench.again(&format!("{run} {processes}"));
        assert_eq!(bench.times(""), times);
    }

    // Days that were run without the key get their copies when it is there.
    std::fs::remove_dir_all(bench.path("clean/2026-11-02")).unwrap();
    assert_eq!(bench.done(run).summary()["already_done"], false);
    check(&bench, &DAYS[..3]);
    // What was changed since is noticed, and replaced only if that is said.
    bench.write("clean/2026-11-02/two.jsonl", "other");
    bench.refuses(73, run, &["clean/2026-11-02", "--redo 2026-11-02"]);
    bench.done(&format!("{run} --overwrite"));
    check(&bench, &DAYS[..3]);
    // What is not a copy is never replaced.
    bench.write("clean/2026-11-02/precious", "x");
    for flags in ["", "--overwrite"] {
        bench.refuses(73, &format!("{run} {flags}"), &["clean/2026-11-02/precious"]);
    }
    bench.fails(73, "run days.toml --redo 2026-11-01");
    assert_eq!(bench.read("clean/2026-11-02/precious"), "x");
}

#[test]
fn clean_files_have_a_place_of_their_own() {
    let bench = days();
    for (kept, code, says) in [
        ("clean", 78, "in `kept`"),
        ("out/{date}/clean", 2, "choose another folder as `kept`"),
        ("store/{date}", 2, "choose another folder as `kept`"),
        ("crawl/{date}/clean", 2, "choose another"),
        ("theirs/{date}", 73, "theirs/2026-11-01"),
    ] {
        bench.write("theirs/2026-11-01/precious", "x");
        bench.write(
            "wrong.toml",
            format!("{CONFIG}kept = \"{kept}\"\n").replace("crawl/{date}/*", "crawl/{date}"),
        );
        bench.refuses(code, "run wrong.toml --date 2026-11-01", &[says]);
        assert!(!bench.path("out").exists() && !bench.path("store").exists(), "{kept}");
    }
}

#[test]
fn a_redo_makes_the_clean_files_again_with_those_of_later_days() {
    let bench = days();
    bench.done("run days.toml --date 2026-11-01 --date 2026-11-03 --date 2026-11-02");
    bench.done("run days.toml --redo 2026-11-03");
    check(&bench, &DAYS[..3]);
    let fresh = days();
    fresh.done("run days.toml --date 2026-11-01..2026-11-03");
    assert_eq!(bench.files("clean"), fresh.files("clean"));
    bench.again("run days.toml --redo 2026-11-03");

    // `a` of the third day is new, now that the first day lacks it.
    bench.write("crawl/2026-11-01/one.jsonl", words_of("grows", "q", 0));
    // A day that is not read again is copied from what was joined, or nothing changes.
    let two = bench.read("crawl/2026-11-03/two.jsonl");
    bench.write("crawl/2026-11-03/two.jsonl", words_of("b", "z", 0));
    let before = [bench.files("out"), bench.files("clean"), bench.files("store")];
    bench.refuses(65, "run days.toml --redo 2026-11-01", &["run days.toml --redo 2026-11-03"]);
    assert_eq!(before, [bench.files("out"), bench.files("clean"), bench.files("store")]);
    bench.write("crawl/2026-11-03/two.jsonl", two);
    bench.done("run days.toml --redo 2026-11-01");
    check(&bench, &DAYS[..3]);
    assert!(bench.read("clean/2026-11-03/one.jsonl").contains("\"copy\""));
    assert_eq!(bench.names("clean"), DAYS[..3]);
}

/// Fails unless the copies of all days are those of the pages that were kept, and neither removed nor replaced by a page of a day of the
/// store, and whose days are there and have not expired.
fn check_all(bench: &Bench, held: &[&str], expired: &[&str], removed: &[&str], what: &str) {
    let ended = bench.done("filter --config days.toml --all --output all --overwrite");
    let mut replaced = BTreeSet::new();
    for day in held {
        let rows = lines(bench, &format!("out/{day}/dedup/replaced.tsv"));
        let pair = |row: &String| row.split('\t').take(2).collect::<Vec<_>>().join("\t");
        replaced.extend(rows.iter().map(pair));
    }
    let mut copied = 0;
    for day in held.iter().filter(|day| !expired.contains(day)) {
        let kept = lines(bench, &format!("out/{day}/dedup/keep.txt"));
        let is_gone =
            |id: &str| removed.contains(&id) || replaced.contains(&format!("{id}\t{day}"));
        let expected = records(bench, day, |id| kept.contains(id) && !is_gone(id));
        copied += expected.iter().map(|it| it.lines().count() as u64).sum::<u64>();
        let found = ["one", "two"].map(|file| bench.read(&format!("all/{day}/{file}.jsonl")));
        assert_eq!(found, expected, "{what}: {day}");
    }
    assert_eq!(ended.count("copied"), copied, "{what}");
    let days: Vec<&&str> = held.iter().filter(|day| !expired.contains(day)).collect();
    assert_eq!(bench.names("all").iter().collect::<Vec<_>>(), days, "{what}");
    let shown = bench.done("store verify store").count("fingerprints");
    assert!(shown >= copied, "{what}: {shown} {copied}");
}

#[test]
fn the_copies_of_all_days_are_what_the_store_shows() {
    let [one, two, three, four] = DAYS;
    for compacts in [false, true] {
        let bench = days();
        let compact = || {
            if compacts {
                bench.done("store compact store");
            }
        };
        bench.done(&format!("run days.toml --date {one} --date {three} --date {two}"));
        compact();
        check_all(&bench, &DAYS[..3], &[], &[], "a late day");
        bench.done(&format!("run days.toml --redo {three}"));
        compact();
        check_all(&bench, &DAYS[..3], &[], &[], "in order again");
        bench.done(&format!("run days.toml --date {four}"));
        compact();
        assert!(bench.read(&format!("out/{four}/dedup/replaced.tsv")).contains("grown"));
        check_all(&bench, &DAYS, &[], &[], "a page that has grown");
        bench.done(&format!("store rollback store --before-day {four} --outputs out"));
        // The copies of a day that has left go only if that is said.
        bench.refuses(
            73,
            "filter --config days.toml --all --output all",
            &[&format!("all/{four}")],
        );
        check_all(&bench, &DAYS[..3], &[], &[], "a rollback");
        bench.done(&format!("run days.toml --date {four}"));
        check_all(&bench, &DAYS, &[], &[], "the day again");
        bench.write("gone.txt", "a\n");
        bench.done("store remove store --ids gone.txt");
        check_all(&bench, &DAYS, &[], &["a"], "a removal");
        bench.done("store purge store");
        check_all(&bench, &DAYS, &[], &["a"], "a purge");
        bench.done("store expire store --keep-days 2");
        check_all(&bench, &DAYS, &DAYS[..2], &["a"], "an expiry");
        bench.again("filter --config days.toml --all --output all");
        // A page that the inputs no longer have is named, with its day.
        bench.write(&format!("crawl/{three}/two.jsonl"), "");
        bench.refuses(
            65,
            "filter --config days.toml --all --output lost",
            &[&format!("{three}/dedup/keep.txt"), "\"b\""],
        );
    }
}

#[test]
fn of_a_store_with_all_pages_the_kept_ones_are_copied() {
    let bench = days();
    bench.write("days.toml", format!("{CONFIG}add = \"all\"\n"));
    bench.done("run days.toml --date 2026-11-01..2026-11-03");
    check_all(&bench, &DAYS[..3], &[], &[], "all pages");
    assert!(bench.read("all/2026-11-02/two.jsonl").is_empty());
}

/// Archives with keys: the newest page of an address is copied, byte by byte, on whatever day it came.
#[test]
fn the_newest_pages_of_archives_are_copied_as_they_came() {
    let bench = Bench::new();
    let at = |day: &str, page: &str, text: usize| {
        let html = format!("<p>{}", words(100 * text..100 * text + 60));
        response(&format!("http://h.example/{page}"), &format!("{day}T00:00:00Z"), "", "", &html)
    };
    // The second day has an older record of `a`, and the third an archive without pages that stay.
    let [one, two, three, old] = ["2026-11-01", "2026-11-02", "2026-11-03", "2026-10-01"];
    let pages = [
        (one, "x.warc", vec![(at(one, "a", 0), false), (at(one, "b", 1), true)]),
        (two, "x.warc", vec![(at(old, "a/", 2), false), (at(two, "c", 3), true)]),
        (three, "x.warc", vec![(at(three, "a?", 4), true), (at(three, "d", 1), false)]),
        (three, "y.warc", vec![(at(three, "e", 3), false)]),
    ];
    for (day, file, records) in &pages {
        let all: String = records.iter().map(|(record, _)| record.as_str()).collect();
        bench.write(&format!("crawl/{day}/{file}"), all);
    }
    let keyed = "[fingerprint]\nkey = \"surt\"\n[dedup]\nrecrawled = \"newest\"\n";
    bench.write("days.toml", format!("{CONFIG}{keyed}"));
    bench.done("run days.toml --date 2026-11-01..2026-11-03");
    bench.done("filter --config days.toml --all --output all");
    for (day, file, records) in &pages {
        let shown = records.iter().filter(|(_, is_shown)| *is_shown);
        let shown: String = shown.map(|(record, _)| record.as_str()).collect();
        assert_eq!(bench.read(&format!("all/{day}/{file}")), shown, "{day}/{file}");
    }
}
