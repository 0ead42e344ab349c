//! Pages that come again under one key, in whatever spelling: what `dedup` and `run` say of them, against a plain list of pages.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::Bench;
use crate::world::{numbers, words};

/// The flags of all segments.
const KEYED: &str = "--key surt --drop-parameters sid,ref";

/// A page of a history. Ordered by time, then by day and id; of one time, those of the store come before those of the batch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    time: u64,
    in_batch: bool,
    day: String,
    id: String,
    key: u64,
    text: u64,
}

/// Spellings of one address.
fn spelling(key: u64, number: u64) -> String {
    match number {
        0 => format!("http://h.example/p{key}"),
        1 => format!("https://www.H.example:443/P{key}/?ref=home"),
        2 => format!("http://h.example:80/a/../p{key}?sid=17#top"),
        _ => format!("https://www3.h.example/p{key}?"),
    }
}

/// What the columns say of `page`: the latest earlier page of its key is the last one of these in their order.
fn expected(page: &Page, shown: &[Page], batch: &[Page]) -> [String; 3] {
    let same = shown.iter().chain(batch).filter(|other| other.key == page.key);
    let Some(former) = same
        .filter(|other| if other.in_batch { *other < page } else { other.time <= page.time })
        .max()
    else {
        return ["new", "", ""].map(str::to_owned);
    };
    let change = if former.text == page.text { "unchanged" } else { "changed" };
    let against = if former.in_batch { "batch" } else { &former.day };
    [change, &former.id, against].map(str::to_owned)
}

/// The id and the columns of each page.
fn said(bench: &Bench, output: &str) -> Vec<(String, [String; 3])> {
    let verdicts = bench.read(&format!("{output}/verdicts.tsv"));
    let mut lines = verdicts.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = header.iter().position(|name| *name == "recrawl").unwrap();
    assert_eq!(header[at + 1..], ["former", "former_against", "former_contains"]);
    lines.map(|row| (row[0].to_owned(), [0, 1, 2].map(|more| row[at + more].to_owned()))).collect()
}

/// A store of days that come in any order, are taken back, lose pages and expire. The store takes all pages of a day.
fn history(seed: u64, has_times: bool) {
    let bench = Bench::new();
    let mut random = numbers(seed);
    let mut shown: Vec<Page> = Vec::new();
    let mut removed: BTreeSet<String> = BTreeSet::new();
    let mut left: Vec<u64> = (1..29).collect();
    // The days as they were added, and what the store showed before each.
    let mut added: Vec<(String, Vec<Page>)> = Vec::new();
    bench.done("store init store");
    for step in 0..12 {
        if left.is_empty() {
            break;
        }
        let number = left.swap_remove(random(left.len() as u64) as usize);
        let day = format!("2026-11-{number:02}");
        let mut batch: Vec<Page> = Vec::new();
        for _ in 0..12 {
            let (key, text) = (random(6), random(3));
            let time = if has_times { number * 86_400 + random(4) * 3_600 } else { 0 };
            let id = spelling(key, random(4));
            let day = day.clone();
            if batch.iter().all(|page| page.id != id) {
                batch.push(Page { time, in_batch: true, day, id, key, text });
            }
        }
        let lines = batch.iter().map(|page| {
            let from = (page.key * 300 + page.text * 10) as usize;
            let text = words(from..from + 60);
            json!({ "id": page.id, "text": text, "at": page.time }).to_string() + "\n"
        });
        bench.write("day.jsonl", lines.collect::<String>());
        let times = if has_times { "--time-field at" } else { "" };
        bench.done(&format!("fingerprint {KEYED} {times} --input day.jsonl --output {day}.seg"));
        let output = format!("out-{step}");
        bench.done(&format!("dedup --batch {day}.seg --store store --output {output}"));
        for (id, columns) in said(&bench, &output) {
            let page = batch.iter().find(|page| page.id == id).unwrap();
            assert_eq!(
                columns,
                expected(page, &shown, &batch),
                "{page:?} of step {step} of history {seed}"
            );
        }
        bench.done(&format!("verify {output}"));
        bench.done(&format!("store add store --segment {day}.seg --day {day}"));
        added.push((day, shown.clone()));
        shown.extend(batch.into_iter().map(|page| Page { in_batch: false, ..page }));
        match random(6) {
            0 => {
                added.truncate(added.len().saturating_sub(random(2) as usize).max(1));
                let (day, before) = added.pop().unwrap();
                bench.done(&format!("store rollback store --before-day {day}"));
                shown = before;
            }
            1 if !shown.is_empty() => {
                let id = shown[random(shown.len() as u64) as usize].id.clone();
                bench.write("gone.txt", format!("{id}\n"));
                bench.done("store remove store --ids gone.txt --until 2026-11-28");
                removed.insert(id);
            }
            2 if !shown.is_empty() => {
                let newest = added.iter().map(|(day, _)| day[8..].parse::<u64>().unwrap()).max();
                let first = newest.unwrap().saturating_sub(14).max(1);
                bench.done("store expire store --keep-days 15");
                shown.retain(|page| page.day >= format!("2026-11-{first:02}"));
                left.retain(|day| *day >= first);
            }
            3 => drop(bench.done("store compact store")),
            _ => {}
        }
        shown.retain(|page| !removed.contains(&page.id));
    }
    bench.write("next.jsonl", json!({ "id": "a", "text": "some text" }).to_string());
    bench.done("fingerprint --key surt --drop-parameters sid --input next.jsonl --output next.seg");
    let what = "dedup --batch next.seg --store store --output refused";
    bench.refuses(2, what, &["different recipes", "key.dropped"]);
}

#[test]
fn what_came_again_is_told_through_random_histories() {
    std::thread::scope(|scope| {
        let with_times = scope.spawn(|| {
            history(0, true);
            history(1, true);
        });
        history(2, false);
        history(3, false);
        with_times.join().unwrap();
    });
}

/// Of the 58 shingles of the later page the former one has 28.
#[test]
fn a_changed_page_says_how_much_of_it_the_former_one_contains_in_every_command() {
    let bench = Bench::new();
    let page = |id: &str, text: std::ops::Range<usize>, at: u64| {
        json!({ "id": id, "text": words(text), "at": at }).to_string() + "\n"
    };
    let pages = [
        page("http://h.example/a/", 0..60, 2),
        page("https://www.h.example/A", 0..30, 1),
        page("http://h.example/a?", 0..60, 3),
        page("http://h.example/b", 500..560, 0),
        json!({ "id": "no page", "text": "?!", "at": 0 }).to_string(),
    ];
    bench.write("pages.jsonl", pages.concat());
    bench.done("fingerprint --key surt --time-field at --input pages.jsonl --output day.seg");
    bench.done("dedup --batch day.seg --output found --workers 1");
    bench.done("dedup --batch day.seg --output again --workers 3");
    let [found, again] = ["found", "again"].map(|it| bench.read(&format!("{it}/verdicts.tsv")));
    assert_eq!(found, again);
    let columns = |row: &str| row.split('\t').skip(8).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        found.lines().skip(1).map(columns).collect::<Vec<_>>(),
        [
            ["changed", "https://www.h.example/A", "batch", "0.4828"],
            ["unchanged", "http://h.example/a/", "batch", ""],
            ["new", "", "", ""],
            ["new", "", "", ""],
            ["", "", "", ""],
        ]
    );
    let report = bench.report("found");
    let counts = json!({ "new": 2, "unchanged": 1, "changed": 1 });
    assert_eq!(report["outcome"]["recrawls"], counts);
    bench.done("verify found");
    bench.done("filter --input pages.jsonl --annotate found --output annotated.jsonl");
    let annotated = bench.read("annotated.jsonl");
    assert!(annotated.contains("\"former_contains\":0.4828"), "{annotated}");
    bench.done("cluster --matches found --output clusters");
    let said = bench.fails(2, "fingerprint --key page --input pages.jsonl --output no.seg");
    assert!(said.contains("url or surt"), "{said}");
}
