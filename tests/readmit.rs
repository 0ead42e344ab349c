//! Pages that are duplicates of a page that leaves the store: they are listed, so that they can come back.

use std::collections::BTreeSet;

use crate::support::Bench;

const DAYS: [&str; 4] = ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"];

/// Four days of `run`, each with pages of the days before it.
fn days() -> Bench {
    let bench = Bench::new();
    bench.november(4, 40, 120, "");
    bench.done("run days.toml");
    bench
}

/// The ids that must be listed, by reading all verdicts: those of duplicates of a page for which
/// `has_left` is true of its id, its day and the day of the page.
fn expected(bench: &Bench, has_left: impl Fn(&str, &str, &str) -> bool) -> String {
    let mut ids = BTreeSet::new();
    for day in DAYS {
        for row in bench.rows(&format!("out/{day}/dedup/verdicts.tsv")) {
            if row[1] == "drop" && has_left(&row[2], &row[4], day) {
                ids.insert(row[0].clone());
            }
        }
    }
    ids.into_iter().map(|id| id + "\n").collect()
}

#[test]
fn pages_that_lose_their_witness_to_a_removal_are_listed() {
    let bench = days();
    let kept = bench.read("out/2026-11-01/dedup/keep.txt");
    let dropped = bench.read("out/2026-11-02/dedup/drop.txt");
    // Some of those that were dropped are removed too.
    let removed: BTreeSet<&str> =
        kept.lines().step_by(2).chain(dropped.lines().step_by(5)).collect();
    bench.write("ids.txt", removed.iter().map(|id| format!("{id}\n")).collect::<String>());
    let lost = expected(&bench, |of, _, _| removed.contains(of));
    let listed: String =
        lost.lines().filter(|id| !removed.contains(id)).map(|id| format!("{id}\n")).collect();
    let count = listed.lines().count() as u64;
    assert!(count > 10 && count < lost.lines().count() as u64, "{count} of {lost}");

    let line = "store readmit store --output readmit.txt --outputs";
    bench.fails(66, &format!("{line} out/2026-11-01 out/2026-11-09"));
    let all = "out/2026-11-01 out/2026-11-02/dedup out/2026-11-03 out/2026-11-04";
    assert_eq!(bench.done(&format!("{line} {all} --dry-run")).count("readmitted"), 0);
    bench.done("store remove store --ids ids.txt");
    let would = bench.done(&format!("{line} {all} --dry-run"));
    assert!(would.count("readmitted") == count && !bench.path("readmit.txt").exists());
    let told = bench.done(&format!("{line} {all}"));
    assert_eq!((told.count("readmitted"), bench.read("readmit.txt")), (count, listed.clone()));
    bench.again(&format!("{line} {all}"));

    // Another list is not put in its place unasked.
    bench.fails(73, &format!("{line} out/2026-11-03"));
    assert_eq!(bench.read("readmit.txt"), listed);
    bench.done(&format!("{line} out/2026-11-01 --overwrite"));
    assert!(bench.read("readmit.txt").lines().count() < listed.lines().count());
    // Nor is one made from verdicts that were changed.
    let verdicts = bench.read("out/2026-11-02/dedup/verdicts.tsv");
    let cut = verdicts.rfind("\tdrop\t").and_then(|at| verdicts[..at].rfind('\n')).unwrap();
    for wrong in [&verdicts[..=cut], &verdicts[..cut], &format!("{verdicts}a\tdrop\tb\n")] {
        bench.write("out/2026-11-02/dedup/verdicts.tsv", wrong);
        bench.fails(65, &format!("{line} {all} --overwrite"));
    }
}

#[test]
fn pages_that_lose_their_witness_to_time_are_listed() {
    let bench = days();
    let first = "2026-11-03";
    let is_old = |day: &str| day < first;
    let listed = expected(&bench, |_, against, day| is_old(against) && !is_old(day));
    assert!(listed.lines().count() > 20);
    let all = DAYS.map(|day| format!("out/{day}")).join(" ");
    let line = format!("store readmit store --output readmit.txt --outputs {all}");
    assert_eq!(bench.done(&format!("{line} --dry-run")).count("readmitted"), 0);
    bench.done("store expire store --keep-days 2");
    let told = bench.done(&line);
    assert_eq!(bench.read("readmit.txt"), listed);
    assert_eq!(told.count("readmitted"), listed.lines().count() as u64);
    bench.again(&line);
    // Who crawls these pages again gets them into the store.
    let pages: String = (0..4).map(|at| bench.documents(40 * at, 40 * at + 120)).collect();
    bench.write("all.jsonl", pages);
    bench.done("filter --input all.jsonl --ids readmit.txt --output crawl/2026-11-05.jsonl");
    bench.done("run days.toml --date 2026-11-05");
    let verdicts = bench.read("out/2026-11-05/dedup/verdicts.tsv");
    assert!(verdicts.lines().skip(1).all(|line| !line.contains("2026-11-01")), "{verdicts}");
    assert!(verdicts.contains("\tkeep\t"));
}
