//! Days of `run` that are made again, come late, or have no page.

use serde_json::Value;

use crate::support::Bench;

const DAYS: [&str; 3] = ["2026-11-01", "2026-11-02", "2026-11-03"];

/// Three days, each with some pages of the day before, and a file for them. The first one is run.
fn days() -> Bench {
    let bench = Bench::new();
    for (day, from) in DAYS.iter().zip([0, 60, 120]) {
        bench.write(&format!("crawl/{day}.jsonl"), bench.documents(from, from + 100));
    }
    bench.write(
        "days.toml",
        "inputs = [\"crawl/{date}.jsonl\"]\noutput = \"out/{date}\"\nstore = \"store\"\n\
         [fingerprint]\nmax_bad = \"50%\"\n[clusters]\nmethod = \"star\"\n",
    );
    bench.done("run days.toml --date 2026-11-01");
    bench
}

/// The outputs of the days, but for reports: these have numbers of versions.
fn outputs(bench: &Bench) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = bench.files("out").into_iter().collect();
    files.retain(|(name, _)| !name.contains("report."));
    files
}

/// The page `report.html` of the join of a day.
fn page(bench: &Bench, day: &str) -> String {
    bench.read(&format!("out/{day}/dedup/report.html")).replace("&#x2f;", "/")
}

#[test]
fn a_redo_tells_of_each_day_and_of_the_places_where_things_are_in_the_end() {
    let bench = days();
    bench.done("run days.toml --date 2026-11-02..2026-11-03");
    let good = bench.read("crawl/2026-11-02.jsonl");
    let repeated = good.lines().next().unwrap();
    bench.write("crawl/2026-11-02.jsonl", format!("{good}{repeated}\nno record\n"));
    let told = bench.done("run days.toml --redo 2026-11-02").stderr;
    assert!(!told.contains(".redo"), "{told}");
    for list in ["repeated", "quarantine"] {
        let path = bench.path(&format!("out/2026-11-02/batch.seg.{list}.tsv"));
        assert!(path.exists() && told.contains(&*path.to_string_lossy()), "{told}");
    }
    let line =
        |day: &str| told.lines().filter(|line| line.contains(&format!("INFO {day}: "))).count();
    assert_eq!(DAYS.map(line), [0, 1, 1], "{told}");
    assert!(told.contains("2026-11-02: 102 pages = ") && told.contains("1 unreadable"), "{told}");
    for (day, job) in [(1, "dedup"), (1, "clusters"), (2, "dedup"), (2, "clusters")] {
        for name in ["report.html", "report.json"] {
            let name = format!("out/{}/{job}/{name}", DAYS[day]);
            assert!(!bench.read(&name).contains(".redo"), "{name}");
        }
    }
    let verified = format!("dupsieve verify {}", bench.path("out/2026-11-03/dedup").display());
    assert!(page(&bench, DAYS[2]).contains(&verified));

    let told = bench.done("run days.toml --redo 2026-11-02");
    assert_eq!(told.summary()["already_done"], true);
    assert!(told.stderr.contains("already as they would be made"), "{}", told.stderr);
    assert!(!told.stderr.contains("leave the store"), "{}", told.stderr);
}

#[test]
fn a_day_that_comes_late_says_so_and_a_redo_puts_the_days_in_order() {
    let bench = days();
    let told = bench.done("run days.toml --date 2026-11-03");
    assert!(told.summary()["counts"]["dropped_for_later_days"] == Value::Null);
    assert!(told.stderr.contains("because no other page can stand for them"), "{}", told.stderr);
    assert!(!page(&bench, DAYS[2]).contains("later days"));

    let told = bench.done("run days.toml --date 2026-11-02");
    let later = told.count("dropped_for_later_days");
    let verdicts = bench.read("out/2026-11-02/dedup/verdicts.tsv");
    let dropped =
        verdicts.lines().filter(|line| line.split('\t').nth(4) == Some("2026-11-03")).count();
    assert!(later > 0 && later == dropped as u64, "{later} {dropped}");
    for said in ["after later days", "`run days.toml --redo 2026-11-03`", "of later days"] {
        assert!(told.stderr.contains(said), "{}", told.stderr);
    }
    let report = bench.report("out/2026-11-02/dedup");
    let expected = serde_json::json!(
        { "days": 1, "first": "2026-11-03", "last": "2026-11-03", "dropped": later }
    );
    assert_eq!(report["later_days"], expected);
    assert!(page(&bench, DAYS[1]).contains(&format!("{later} pages were dropped in favour of")));
    bench.done("verify out/2026-11-02");

    let told = bench.done("run days.toml --redo 2026-11-03");
    assert!(told.stderr.contains("in this order: 2026-11-02, 2026-11-03"), "{}", told.stderr);
    let fresh = days();
    fresh.done("run days.toml --date 2026-11-02..2026-11-03");
    assert_eq!(outputs(&bench), outputs(&fresh));
    for day in &DAYS[1..] {
        bench.done(&format!("verify out/{day}"));
        assert!(!page(&bench, day).contains("later days"));
    }
    bench.done("store verify store");
    assert_eq!(bench.done("run days.toml --redo 2026-11-02").summary()["already_done"], true);
}

#[test]
fn what_is_advised_for_a_day_without_pages_is_accepted() {
    let bench = days();
    let pages = bench.read("crawl/2026-11-02.jsonl");
    bench.write("crawl/2026-11-02.jsonl", "");
    let told = bench.done("run days.toml --date 2026-11-02").stderr;
    assert!(!told.contains("times read"), "{told}");
    let advice = told.split('`').nth(1).unwrap();
    assert_eq!(advice, "run days.toml --redo 2026-11-02", "{told}");
    bench.write("crawl/2026-11-02.jsonl", pages);
    assert_eq!(bench.done(advice).count("read"), 100);

    let alone = "fingerprint --input crawl/none.jsonl --time-field fetched --output alone.seg";
    bench.write("crawl/none.jsonl", "");
    let told = bench.done(alone).stderr;
    assert!(told.contains("--overwrite") && !told.contains("times read"), "{told}");
    bench.write("crawl/none.jsonl", "{\"id\": \"a\", \"text\": \"some words\", \"fetched\": 1}\n");
    assert_eq!(bench.done(&format!("{alone} --overwrite")).count("read"), 1);
}

#[test]
fn a_segment_is_not_written_to_a_folder_that_does_not_exist() {
    let bench = days();
    for job in ["fingerprint", "weights"] {
        for flags in ["", "--dry-run"] {
            let line = format!("{job} --input crawl/2026-11-01.jsonl --output typo/a {flags}");
            let said = bench.fails(66, &line);
            assert!(said.contains("typo: the folder of the output does not exist"), "{said}");
            assert!(!bench.path("typo").exists());
        }
    }
}
