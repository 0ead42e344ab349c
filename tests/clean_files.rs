//! The pages of all days that the store shows, copied as they came: record by record, through late days, redo, removal, purge and expiry.

use std::collections::BTreeSet;

use crate::support::Bench;
use crate::world::page;

const DAYS: [&str; 4] = ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"];

const CONFIG: &str = "inputs = [\"crawl/{date}/*\"]\noutput = \"out/{date}\"\nstore = \"store\"\n";

/// A page of words that no other page has, and `more` words.
fn words_of(id: &str, word: &str, more: usize) -> String {
    let words: String = (0..150 + more).map(|at| format!("{word}{:x} ", (at + 7) * 7919)).collect();
    page(id, &words)
}

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
    bench.write("days.toml", CONFIG);
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
