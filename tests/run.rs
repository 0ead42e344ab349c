//! Whole days with `run`: fingerprint, join with the store as it was before the day, add the day to the
//! store. Running a day again changes nothing.

use std::collections::BTreeSet;

use crate::support::Bench;
use crate::world::sample_file;

const DAYS: [&str; 3] = ["2026-11-18", "2026-11-19", "2026-11-20"];

/// A bench with a configuration that reads the bundled sample.
fn sample(add: &str, dates: &[&str], more: &str) -> Bench {
    let bench = Bench::new();
    bench.write(
        "sample.toml",
        format!(
            "inputs = [\"{}/bench-data/sample/crawl/{{date}}/*\"]\noutput = \"out/{{date}}\"\n\
             store = \"out/store\"\nadd = \"{add}\"\ndates = {dates:?}\n\
             [fingerprint]\ntime_field = \"fetched\"\n[dedup]\ndistance = 3\nkeep = \"oldest\"\n\
             [machines]\nworkers = 1\n{more}",
            env!("CARGO_MANIFEST_DIR"),
        ),
    );
    bench
}

fn ids(bench: &Bench, file: &str) -> BTreeSet<String> {
    bench.read(file).lines().map(str::to_owned).collect()
}

#[test]
fn the_sample_gives_what_was_planted() {
    let bench = sample("kept", &DAYS, "");
    let ended = bench.done("run sample.toml");
    assert_eq!(ended.stdout.lines().count(), 1);
    let counts =
        ["read", "fingerprinted", "empty", "repeated", "quarantined"].map(|name| ended.count(name));
    assert_eq!(counts[0], counts[1..].iter().sum::<u64>());
    assert_eq!((counts[2], counts[3], counts[4]), (1, 1, 0));
    let truth = sample_file("truth.tsv");
    let pair = |line: &str| line.splitn(3, '\t').take(2).collect::<Vec<_>>().join("\t");
    let planted: BTreeSet<_> = bench.read(&truth).lines().skip(1).map(pair).collect();
    let found: BTreeSet<_> = DAYS
        .iter()
        .flat_map(|day| {
            bench
                .read(&format!("out/{day}/dedup/matches.tsv"))
                .lines()
                .skip(1)
                .map(pair)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(found, planted);
    for day in DAYS {
        let report = bench.report(&format!("out/{day}/dedup"));
        assert_eq!(report["probe"]["chunks_planned"], report["probe"]["chunks_probed"]);
    }
}

#[test]
fn the_kept_pages_enter_the_store_or_all() {
    for add in ["kept", "all"] {
        let bench = sample(add, &DAYS, "");
        bench.done("run sample.toml");
        let mut held = 0;
        for day in DAYS {
            let count = |list: &str| {
                bench.read(&format!("out/{day}/dedup/{list}.txt")).lines().count() as u64
            };
            held += count("keep") + if add == "all" { count("drop") } else { 0 };
        }
        let store = bench.done("store verify out/store");
        assert_eq!((store.count("fingerprints"), store.count("version")), (held, 4), "{add}");
    }
}

#[test]
fn another_choice_for_a_day_in_the_store_is_refused() {
    let bench = sample("kept", &DAYS[..1], "");
    bench.done("run sample.toml");
    let held = bench.files("out/store");
    let config = bench.read("sample.toml");
    bench.write("other.toml", config.replace("\"kept\"", "\"all\""));
    bench.fails(73, "run other.toml");
    bench.write("other.toml", config.replace("distance = 3", "distance = 2"));
    bench.fails(73, "run other.toml");
    assert_eq!(bench.files("out/store"), held);
}

#[test]
fn a_day_before_the_newest_is_joined_with_the_whole_store() {
    let bench = sample("all", &["2026-11-19", "2026-11-20", "2026-11-18"], "");
    bench.done("run sample.toml");
    let report = bench.report("out/2026-11-18/dedup");
    assert_eq!((&report["store_version"], &report["day"]), (&3.into(), &"2026-11-18".into()));
    bench.done("verify out/2026-11-18");
    let files = bench.files("out");
    bench.again("run sample.toml --date 2026-11-20 --date 2026-11-18 --date 2026-11-19");
    assert_eq!(bench.files("out"), files);
    let matches = bench.read("out/2026-11-18/dedup/matches.tsv");
    assert!(matches.contains("\t2026-11-19\t") && matches.contains("\t2026-11-20\t"), "{matches}");
    assert!(ids(&bench, "out/2026-11-18/dedup/drop.txt").len() > 5);
}

#[test]
fn a_day_must_be_named_and_exist() {
    let bench = sample("kept", &[], "");
    bench.refuses(2, "run sample.toml", &["--date"]);
    bench.fails(2, "run sample.toml --date 2026-11-31");
    bench.fails(66, "run sample.toml --date 2026-11-17");
    bench.done("run sample.toml --date 2026-11-18");
    assert_eq!(bench.names("out/2026-11-18"), ["batch.seg", "dedup"]);
}

#[test]
fn a_dry_run_makes_nothing() {
    let bench = sample("kept", &DAYS, "");
    let before = bench.tree();
    bench.done("run sample.toml --dry-run");
    assert_eq!(bench.tree(), before);
    bench.done("run sample.toml --date 2026-11-18");
    std::fs::remove_dir_all(bench.path("out/store")).unwrap();
    let before = bench.tree();
    bench.done("run sample.toml --dry-run");
    assert_eq!(bench.tree(), before);
}

/// A day is replaced by going back to the version before it and running it again.
#[test]
fn a_day_is_run_again_after_a_rollback_or_a_compaction() {
    let bench = sample("kept", &DAYS, "");
    bench.done("run sample.toml");
    let files = bench.files("out/2026-11-20/dedup");
    bench.done("store rollback out/store --to 3");
    bench.done("run sample.toml --date 2026-11-20");
    assert_eq!(bench.files("out/2026-11-20/dedup"), files);
    bench.done("store rollback out/store --to 3");
    bench.done("store compact out/store");
    bench.done("run sample.toml --date 2026-11-20");
    assert_eq!(bench.files("out/2026-11-20/dedup"), files);
}

/// A day that is named twice, alone and in a range, is run once.
#[test]
fn days_are_a_set_and_can_be_a_range() {
    let bench = sample("kept", &[], "");
    let named = "--date 2026-11-18..2026-11-20 --date 2026-11-19 --date 2026-11-18";
    let ended = bench.done(&format!("run sample.toml {named}"));
    let other = sample("kept", &["2026-11-18..2026-11-19", "2026-11-20", "2026-11-20"], "");
    assert_eq!(other.done("run sample.toml").count("read"), ended.count("read"));
    let one_by_one = sample("kept", &DAYS, "");
    assert_eq!(one_by_one.done("run sample.toml").count("read"), ended.count("read"));
    assert_eq!(bench.files("out"), one_by_one.files("out"));
    for wrong in ["2026-11-20..2026-11-18", "2026-11-18..", "2026-11-18..2026-11-31"] {
        bench.fails(2, &format!("run sample.toml --date {wrong}"));
    }
}

#[test]
fn without_a_day_those_that_are_there_are_named() {
    let bench = Bench::new();
    let days = ["2026-02-28", "2026-03-01", "2026-03-03"];
    for (inputs, file) in [
        ("crawl/{date}/*.jsonl", "crawl/DAY/fetched-2025-01-01.jsonl"),
        ("{year}/{month}/{day}/", "2026/MM/DD/a.jsonl"),
    ] {
        let toml =
            format!("inputs = [\"{inputs}\"]\noutput = \"out/{{date}}\"\nstore = \"store\"\n");
        bench.write("days.toml", toml);
        bench.refuses(2, "run days.toml", &["no day is given", "help: give one with --date"]);
        for day in days {
            let file = file.replace("DAY", day).replace("MM", &day[5..7]).replace("DD", &day[8..]);
            bench.write(&file, bench.documents(0, 2));
        }
        let typed = "run days.toml --date 2026-02-28..2026-03-01 --date 2026-03-03";
        bench.refuses(2, "run days.toml", &[&format!("help: dupsieve {typed}")]);
        bench.done(typed);
        std::fs::remove_dir_all(bench.path("store")).unwrap();
        std::fs::remove_dir_all(bench.path("out")).unwrap();
    }
}

#[test]
fn the_parts_of_a_day_expand() {
    let bench = sample("kept", &DAYS[..1], "");
    let config = bench.read("sample.toml");
    let parts = config.replace("crawl/{date}", "crawl/{year}-{month}-{day}");
    bench.write("parts.toml", parts.replace("out/{date}", "out/{year}/{month}/{day}"));
    bench.done("run parts.toml");
    assert_eq!(bench.names("out/2026/11/18"), ["batch.seg", "dedup"]);
    for same in ["out", "out/{year}-{month}", "out/{day}"] {
        bench.write("same.toml", config.replace("out/{date}", same));
        bench.refuses(78, "run same.toml", &["same output"]);
    }
}

#[test]
fn relative_paths_are_shown_as_absolute_ones() {
    let bench = Bench::new();
    bench.write(
        "days.toml",
        "inputs = [\"crawl/{date}/*\"]\noutput = \"out/{date}\"\nstore = \"store\"\n",
    );
    let home = bench.path("").canonicalize().unwrap();
    let said = bench.fails(66, "run days.toml --date 2026-11-18");
    let looked_for = home.join("crawl/2026-11-18/*");
    assert!(said.contains(looked_for.to_str().unwrap()), "{said}");
    bench.write("crawl/2026-11-18/a.jsonl", bench.documents(0, 10));
    let ended = bench.done("run days.toml --date 2026-11-18 --dry-run");
    let output = home.join("out/2026-11-18/batch.seg");
    assert!(ended.stderr.contains(output.to_str().unwrap()), "{}", ended.stderr);
}
