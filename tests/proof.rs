//! `verify` proves: it makes the output again from the batch and the store. Forged outputs whose files agree with each other, and whose sums are
//! right, are found.

use std::collections::BTreeMap;
use std::fs;

use crate::forgery::forge;
use crate::oracle::Page;
use crate::support::Bench;
use crate::world::spread;

const DEDUP: &str = "dedup --batch batch.seg --store store --output out";

fn far(page: u64) -> u128 {
    spread(page).into()
}

/// Pages of a store and of a batch, most of them far from each other; copies, near pages, and a page that is near two of the store.
fn pages() -> [Vec<Page>; 2] {
    let old = [("held-far", far(1) ^ 7), ("held-near", far(1) ^ 1), ("held-other", far(2))];
    let new = [
        ("a-first", far(3)),
        ("b-copy", far(3)),
        ("c-near", far(3) ^ 3),
        ("d-of-store", far(1)),
        ("e-of-store", far(2) ^ 1),
        ("f-alone", far(4)),
        ("g-pair", far(5)),
        ("h-pair", far(5) ^ 1),
    ];
    let named = |(id, bits): &(&str, u128)| ((*id).to_owned(), *bits);
    let others = (10..60).map(|page| (format!("x-{page}"), far(page)));
    [old.iter().map(named).collect(), new.iter().map(named).chain(others).collect()]
}

fn joined(flags: &str, [old, batch]: [Vec<Page>; 2]) -> Bench {
    let bench = Bench::new();
    bench.segment("old", 64, &old);
    bench.store(&[("2026-01-01", "old")]);
    bench.segment("batch", 64, &batch);
    bench.done(&format!("{DEDUP} {flags}"));
    bench
}

/// The output of most tests here, and the part of its report that names its files.
const OUT: (&str, &str) = ("out", "outcome");

#[test]
fn what_was_joined_is_made_again() {
    for flags in ["", "--matches all", "--keep first-id --distance 2"] {
        let bench = joined(flags, pages());
        for means in ["", "--memory 1MiB", "--workers 3"] {
            let ended = bench.done(&format!("verify out {means}"));
            let counts = ["made_again", "inputs_verified"];
            assert_eq!(counts.map(|it| ended.count(it)), [58, 2], "{flags}");
            assert!(!ended.stderr.contains("nothing was made again"));
        }
    }
}

/// The results of pages of which one is another, with all their figures.
#[test]
fn forgeries_that_agree_with_themselves_are_65() {
    // A false distance; a duplicate that is kept; another page of the store; no pair; of all matches one that no verdict names.
    let others = [
        ("b-copy", far(3) ^ 7),
        ("b-copy", far(70)),
        ("held-near", far(70)),
        ("g-pair", far(70)),
        ("held-far", far(70)),
    ];
    for (flags, others) in [("", &others[..4]), ("--matches all", &others[..])] {
        let bench = joined(flags, pages());
        let sound = held(&bench, "out");
        for (id, bits) in others {
            let mut pages = pages();
            pages.iter_mut().flatten().filter(|page| page.0 == *id).for_each(|page| page.1 = *bits);
            let other = joined(flags, pages);
            for name in ["matches.tsv", "verdicts.tsv", "keep.txt", "drop.txt"] {
                bench.write(&format!("out/{name}"), other.bytes(&format!("out/{name}")));
            }
            forge(&bench, OUT, &[], |report| {
                report["outcome"] = other.report("out")["outcome"].clone()
            });
            bench.refuses(65, "verify out", &["made again, the output has another `"]);
            restore(&bench, "out", &sound);
        }
    }
}

/// What a report lacks is not guessed.
#[test]
fn a_report_without_the_recipe_is_refused() {
    let bench = joined("", pages());
    forge(&bench, OUT, &[], |report| _ = report.as_object_mut().unwrap().remove("recipe"));
    for line in ["verify out", DEDUP] {
        bench.refuses(65, line, &["missing field `recipe`"]);
    }
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
