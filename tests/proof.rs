//! `verify` proves: it makes the output again from the batch and the store. Forged outputs whose files agree with each other, and whose sums are
//! right, are found.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::forgery::forge;
use crate::oracle::Page;
use crate::support::Bench;
use crate::world::spread;

const DEDUP: &str = "dedup --batch batch.seg --store store --output out";

/// Six pages far from each other; copies, near pages, and a page of the batch near two of the store.
pub(crate) fn joined(flags: &str) -> Bench {
    let bench = Bench::new();
    let far = |page: u64| u128::from(spread(page));
    let named = |pages: &[(&str, u128)]| -> Vec<Page> {
        pages.iter().map(|&(id, bits)| (id.to_owned(), bits)).collect()
    };
    let old = [("held-far", far(1) ^ 7), ("held-near", far(1) ^ 1), ("held-other", far(2))];
    bench.segment("old", 64, &named(&old));
    bench.store(&[("2026-01-01", "old")]);
    let mut pages = named(&[
        ("a-first", far(3)),
        ("b-copy", far(3)),
        ("c-near", far(3) ^ 3),
        ("d-of-store", far(1)),
        ("e-of-store", far(2) ^ 1),
        ("f-alone", far(4)),
        ("g-pair", far(5)),
        ("h-pair", far(5) ^ 1),
    ]);
    pages.extend((10..60).map(|page| (format!("x-{page}"), far(page))));
    bench.segment("batch", 64, &pages);
    bench.done(&format!("{DEDUP} {flags}"));
    bench
}

/// The output of most tests here, and the part of its report that names its files.
const OUT: (&str, &str) = ("out", "outcome");

fn add(report: &mut Value, counts: &[(&str, i64)]) {
    for (pointer, more) in counts {
        let (parent, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        let parent = parent.split('/').filter(|name| !name.is_empty());
        let parent = parent.fold(&mut report["outcome"], |parent, name| &mut parent[name]);
        let count = parent.as_object_mut().unwrap().entry(name).or_insert(json!(0));
        *count = json!(count.as_i64().unwrap() + more);
    }
    let distances = report["outcome"]["distances"].as_object_mut().unwrap();
    distances.retain(|_, count| *count != json!(0));
}

#[test]
fn what_was_joined_is_made_again() {
    for flags in ["", "--matches all", "--keep first-id --distance 2"] {
        let bench = joined(flags);
        for means in ["", "--memory 1MiB", "--workers 3"] {
            let ended = bench.done(&format!("verify out {means}"));
            let counts = ["made_again", "inputs_verified"];
            assert_eq!(counts.map(|it| ended.count(it)), [58, 2], "{flags}");
            assert!(!ended.stderr.contains("nothing was made again"));
        }
    }
}

#[test]
fn forgeries_that_agree_with_themselves_are_65() {
    type Forgery<'a> = (&'a [(&'a str, &'a str, &'a str)], &'a [(&'a str, i64)]);
    // A false distance; a duplicate that is kept; another page of the store; the other page of a pair.
    let forgeries: [Forgery<'_>; 4] = [
        (
            &[
                ("matches.tsv", "b-copy\ta-first\t0\t", "b-copy\ta-first\t3\t"),
                ("verdicts.tsv", "b-copy\tdrop\ta-first\t0\t", "b-copy\tdrop\ta-first\t3\t"),
            ],
            &[("distances/0", -1), ("distances/3", 1)],
        ),
        (
            &[
                ("matches.tsv", "b-copy\ta-first\t0\tbatch\tdrop\n", ""),
                ("verdicts.tsv", "b-copy\tdrop\ta-first\t0\tbatch", "b-copy\tkeep\t\t\t"),
                ("drop.txt", "b-copy\n", ""),
                ("keep.txt", "a-first\n", "a-first\nb-copy\n"),
            ],
            &[
                ("distances/0", -1),
                ("matches", -1),
                ("dropped", -1),
                ("kept", 1),
                ("dropped_pages/against/batch", -1),
            ],
        ),
        (
            &[
                ("matches.tsv", "\theld-near\t1\t", "\theld-far\t3\t"),
                ("verdicts.tsv", "\theld-near\t1\t", "\theld-far\t3\t"),
            ],
            &[("distances/1", -1), ("distances/3", 1)],
        ),
        (
            &[
                (
                    "verdicts.tsv",
                    "g-pair\tkeep\t\t\t\nh-pair\tdrop\tg-pair\t1\tbatch",
                    "g-pair\tdrop\th-pair\t1\tbatch\nh-pair\tkeep\t\t\t",
                ),
                ("matches.tsv", "h-pair\tg-pair\t1\tbatch\tdrop", "h-pair\tg-pair\t1\tbatch\tkeep"),
                ("keep.txt", "g-pair", "h-pair"),
                ("drop.txt", "h-pair", "g-pair"),
            ],
            &[],
        ),
    ];
    let bench = joined("");
    let sound = held(&bench, "out");
    for (files, counts) in &forgeries {
        forge(&bench, OUT, files, |report| add(report, counts));
        bench.refuses(65, "verify out", &["made again, the output has another `"]);
        restore(&bench, "out", &sound);
    }
}

/// Rows of all matches that no verdict names: one is missing, one is of a page that is not in the batch.
#[test]
fn a_match_that_no_verdict_names_is_missed_where_all_are_listed() {
    let bench = joined("--matches all");
    let sound = held(&bench, "out");
    let last = "h-pair\tg-pair\t1\tbatch\tdrop\n";
    let more = format!("{last}z-nobody\ta-first\t1\tbatch\tdrop\n");
    for (row, other, counts) in [
        ("d-of-store\theld-far\t3\t2026-01-01\tdrop\n", "", [("matches", -1), ("distances/3", -1)]),
        (last, &more, [("matches", 1), ("distances/1", 1)]),
    ] {
        forge(&bench, OUT, &[("matches.tsv", row, other)], |report| add(report, &counts));
        bench.refuses(65, "verify out", &["made again, the output has another `matches.tsv`"]);
        restore(&bench, "out", &sound);
    }
}

#[test]
fn a_report_has_the_recipe_and_no_json_in_strings() {
    let bench = joined("");
    let report = bench.report("out");
    assert_eq!(report["recipe"]["width"], 64);
    assert_eq!(report["day"], Value::Null);
    let mut values = vec![&report];
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) => assert!(!text.starts_with(['{', '[']), "{text}"),
            Value::Array(array) => values.extend(array),
            Value::Object(object) => values.extend(object.values()),
            _ => {}
        }
    }
}

#[test]
fn an_output_that_was_damaged_is_not_said_to_be_done() {
    let bench = joined("");
    for name in ["matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt", "report.json"] {
        let path = bench.path("out").join(name);
        let sound = fs::read(&path).unwrap();
        fs::write(&path, &sound[..sound.len() / 2]).unwrap();
        bench.refuses(65, DEDUP, &[name, "--overwrite"]);
        fs::remove_file(&path).unwrap();
        bench.fails(if name == "report.json" { 73 } else { 65 }, DEDUP);
        fs::write(&path, sound).unwrap();
        bench.again(DEDUP);
    }
    fs::write(bench.path("out/report.json"), "{").unwrap();
    bench.done(&format!("{DEDUP} --overwrite"));
    bench.again(DEDUP);
    fs::remove_file(bench.path("out/_SUCCESS")).unwrap();
    bench.fails(73, DEDUP);
}

/// What a report lacks is not guessed.
#[test]
fn a_report_without_the_recipe_is_refused() {
    let bench = joined("");
    forge(&bench, OUT, &[], |report| _ = report.as_object_mut().unwrap().remove("recipe"));
    for line in ["verify out", DEDUP] {
        bench.refuses(65, line, &["missing field `recipe`"]);
    }
}

fn with_an_empty_page() -> Bench {
    let bench = Bench::new();
    let pages = "{\"id\": \"a\", \"text\": \"some words\"}\n{\"id\": \"b\", \"text\": \"\"}\n";
    bench.write("pages.jsonl", pages);
    bench.done("fingerprint --input pages.jsonl --sketch minhash --output batch.seg");
    bench.done("dedup --batch batch.seg --output out");
    bench
}

#[test]
fn a_page_with_words_is_not_called_empty() {
    let bench = with_an_empty_page();
    let (told, forged) = ("a\tkeep\t\t\t\nb\tempty\t\t\t\n", "a\tempty\t\t\t\nb\tkeep\t\t\t\n");
    let files = [("verdicts.tsv", told, forged), ("keep.txt", "a\n", "b\n")];
    forge(&bench, OUT, &files, |_| ());
    bench.refuses(65, "verify out", &["made again, the output has another `"]);
}

#[test]
fn a_report_with_other_counts_than_its_batch_is_refused() {
    let bench = with_an_empty_page();
    forge(
        &bench,
        OUT,
        &[("keep.txt", "a\n", "a\nb\n"), ("verdicts.tsv", "b\tempty", "b\tkeep")],
        |report| {
            add(report, &[("kept", 1)]);
            report["batch"]["fingerprinted"] = json!(2);
            report["batch"]["empty"] = json!(0);
        },
    );
    bench.refuses(65, "verify out", &["the counts of the report and of the batch differ"]);
}

fn held(bench: &Bench, output: &str) -> BTreeMap<String, Vec<u8>> {
    let mut held = bench.files(output);
    held.insert("report.json".to_owned(), bench.bytes(&format!("{output}/report.json")));
    held
}

fn restore(bench: &Bench, output: &str, sound: &BTreeMap<String, Vec<u8>>) {
    sound.iter().for_each(|(name, bytes)| bench.write(&format!("{output}/{name}"), bytes));
    bench.done(&format!("verify {output}"));
}

/// Two days, and the clusters of both: of the first alone, and of the second added to these.
pub(crate) fn clustered(method: &str) -> Bench {
    let bench = Bench::new();
    let far = |page: u64| u128::from(spread(page));
    let page = |(id, bits): (&str, u128)| (id.to_owned(), bits);
    let days = [
        ("2026-01-01", vec![("a", far(1)), ("b", far(1) ^ 1), ("c", far(2)), ("d", far(2) ^ 3)]),
        (
            "2026-01-02",
            vec![("e", far(1) ^ 2), ("f", far(3)), ("g", far(3) ^ 1), ("h", far(3) ^ 2)],
        ),
    ];
    bench.done("store init store");
    for (day, pages) in days {
        bench.segment(day, 64, &pages.into_iter().map(page).collect::<Vec<_>>());
        bench.done(&format!(
            "dedup --batch {day}.seg --store store --matches all --output found-{day}"
        ));
        bench.done(&format!("store add store --segment {day}.seg --day {day}"));
    }
    let cluster = |day: &str, more: &str| {
        format!("cluster --matches found-{day} --day {day} --method {method} {more} --output")
    };
    bench.done(&format!("{} first", cluster("2026-01-01", "")));
    bench.done(&format!("{} second", cluster("2026-01-02", "--previous first")));
    bench
}

#[test]
fn lists_that_contradict_the_state_beside_them_are_65() {
    let forgeries = [
        ("clusters.tsv", "\nb\ta\t2026-01-01\n", "\nb\tc\t2026-01-01\n"),
        ("clusters.tsv", "\nb\ta\t2026-01-01\n", "\nb\ta\t2026-01-02\n"),
        ("clusters.tsv", "\nb\ta\t2026-01-01\n", "\n"),
        ("clusters.tsv", "\nb\ta\t2026-01-01\n", "\nb\ta\t2026-01-01\nbb\ta\t2026-01-01\n"),
        ("clusters.tsv", "h\tf\t2026-01-02\n", ""),
        ("clusters.tsv", "h\tf\t2026-01-02\n", "h\tf\t2026-01-02\nz\tf\t2026-01-02\n"),
        ("sizes.tsv", "a\t3\n", "a\t4\n"),
        ("sizes.tsv", "a\t3\nf\t3\n", "f\t3\na\t3\n"),
        ("sizes.tsv", "c\t2\n", ""),
        ("sizes.tsv", "c\t2\n", "c\t2\nx\t1\n"),
        ("changes.tsv", "a\te\t+1\t2026-01-02\n", "a\te\t-1\t2026-01-02\n"),
        ("changes.tsv", "a\te\t+1\t2026-01-02\n", "c\te\t+1\t2026-01-02\n"),
        ("changes.tsv", "f\th\t+1\t2026-01-02\n", ""),
    ];
    for method in ["star", "components"] {
        let bench = clustered(method);
        for output in ["first", "second"] {
            bench.done(&format!("verify {output}"));
        }
        let sound = held(&bench, "second");
        for (name, from, to) in forgeries {
            forge(&bench, ("second", "found"), &[(name, from, to)], |_| ());
            bench.refuses(65, "verify second", &[&format!("second/{name}:"), "expected", "found"]);
            restore(&bench, "second", &sound);
        }
        // Without the state before, only the number of changes is known.
        fs::rename(bench.path("first"), bench.path("elsewhere")).unwrap();
        let (name, from, to) = forgeries[forgeries.len() - 1];
        forge(&bench, ("second", "found"), &[(name, from, to)], |_| ());
        bench.refuses(65, "verify second", &["another `changes` than the report"]);
    }
}
