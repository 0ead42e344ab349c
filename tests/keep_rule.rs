//! Promise 6: the batch's pages are taken in keep order; a page is dropped if a page of the store, or a
//! page of the batch already kept, is within k, and names the nearest of them; else it is kept. In time
//! that is linear, however many copies there are and however long the chains.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::time::Duration;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::oracle::{Days, Page, dropped, verdicts};
use crate::support::Bench;
use crate::world::json_lines;

/// A page of text: what keep orders go by.
struct Text {
    id: String,
    time: Option<i64>,
    /// A number that is missing or wrong in some pages.
    score: Value,
    source: &'static str,
    bytes: usize,
}

/// The sources, and those that are trusted, the most trusted first.
const SOURCES: [&str; 4] = ["a.example", "b.example", "c.example", ""];
const TRUSTED: &str = "c.example\na.example\n";

/// Pages of a few texts with some of their words replaced, ids in no order, times and lengths in a
/// narrow range, so that there are ties and all of it disagrees. Written to NAME.jsonl.
fn texts(bench: &Bench, name: &str, seed: u64, count: usize) -> Vec<Text> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut fields = ChaCha8Rng::seed_from_u64(!seed);
    let documents = bench.documents(0, 12);
    let sources = json_lines(&documents);
    let (mut lines, mut texts) = (String::new(), Vec::new());
    for number in 0..count {
        let id = format!("{:x}-{number}", random.random_range(0..256));
        let source = sources.choose(&mut random).unwrap()["text"].as_str().unwrap();
        let mut words: Vec<&str> = source.split(' ').collect();
        for _ in 0..random.random_range(0..4) {
            let [from, to] = [(); 2].map(|()| random.random_range(0..words.len()));
            words[to] = words[from];
        }
        let text = words.join(" ") + &" ".repeat(random.random_range(0..3));
        let time = random.random_bool(0.8).then(|| random.random_range(-5..20));
        let score = [
            json!(null),
            json!("none"),
            json!(fields.random_range(-9..9)),
            json!("0.5"),
            json!(-2.5),
        ];
        let score = score.choose(&mut fields).unwrap().clone();
        let source = *SOURCES.choose(&mut fields).unwrap();
        let page =
            json!({"id": id, "text": text, "fetched": time, "score": score, "source": source});
        writeln!(lines, "{page}").unwrap();
        texts.push(Text { id, time, score, source, bytes: text.len() });
    }
    bench.write(&format!("{name}.jsonl"), lines);
    bench.done(&format!(
        "fingerprint --preset paper --input {name}.jsonl --time-field fetched --output {name}.seg"
    ));
    texts
}

/// A batch of texts, and a store of two days, of which the second holds ids of the first again.
fn texts_and_store(bench: &Bench, seed: u64) -> (Vec<Text>, Days) {
    let batch = texts(bench, "batch", seed, 150);
    bench.done("store init store");
    let mut days = Days::new();
    for (day, seed) in
        [("2026-01-02", seed + 1), ("2026-01-01", seed + 1), ("2026-01-03", seed + 2)]
    {
        texts(bench, day, seed, 12);
        bench.done(&format!("store add store --segment {day}.seg --day {day}"));
        days.push((day, bench.dump(&format!("{day}.seg"))));
    }
    (batch, days)
}

/// The pages of a batch alone, of which half are near others: what is dropped is the fixed point of the rule, for any workers.
#[test]
fn what_is_dropped_is_the_fixed_point_of_the_rule() {
    let bench = Bench::new();
    let texts = texts(&bench, "batch", 40, 400);
    let mut order: Vec<&str> = texts.iter().map(|text| &*text.id).collect();
    order.sort_unstable();
    let rank = |id: &str| order.binary_search(&id).unwrap() as u32;
    for k in [3, 8, 15] {
        bench.done(&format!(
            "dedup --batch batch.seg --distance {k} --keep first-id --matches all --output {k}"
        ));
        let matches = bench.read(&format!("{k}/matches.tsv"));
        let pair = |line: &str| {
            let ranks: Vec<u32> = line.split('\t').take(2).map(rank).collect();
            (ranks[0].max(ranks[1]), ranks[0].min(ranks[1]))
        };
        let near: Vec<(u32, u32)> = matches.lines().skip(1).map(pair).collect();
        let dropped_ids = bench.read(&format!("{k}/drop.txt"));
        let expected: BTreeSet<u32> = dropped_ids.lines().map(rank).collect();
        assert!(expected.len() > 20 && near.len() > expected.len(), "{k}: {}", near.len());
        for workers in [1, 3] {
            assert_eq!(dropped(&near, workers), expected, "{k}, {workers} workers");
        }
    }
}

/// The order of a page by its score, as it is defined: a number, or a text that is one.
fn score(text: &Text) -> Option<f64> {
    text.score.as_f64().or_else(|| text.score.as_str()?.parse().ok())
}

fn by_score(one: &Text, other: &Text, compare: fn(&f64, &f64) -> Ordering) -> Ordering {
    let number = |text: &Text| score(text).unwrap_or(0.0);
    let last = score(one).is_none().cmp(&score(other).is_none());
    last.then(compare(&number(one), &number(other)))
}

/// The place of a source in the list.
fn trust(text: &Text) -> (bool, usize) {
    let place = TRUSTED.lines().position(|it| it == text.source);
    (text.source.is_empty(), place.unwrap_or(TRUSTED.lines().count()))
}

type Order = (&'static str, fn(&Text, &Text) -> Ordering);

/// The keep orders as they are defined. Of pages that are alike in an order the smaller id comes first.
const ORDERS: [Order; 7] = [
    ("first-id", |_, _| Ordering::Equal),
    ("oldest", |a, b| (a.time.is_none(), a.time).cmp(&(b.time.is_none(), b.time))),
    ("longest", |a, b| b.bytes.cmp(&a.bytes)),
    ("newest", |a, b| a.time.is_none().cmp(&b.time.is_none()).then(b.time.cmp(&a.time))),
    ("score:max", |a, b| by_score(a, b, |a, b| b.total_cmp(a))),
    ("score:min", |a, b| by_score(a, b, f64::total_cmp)),
    ("source:trusted", |a, b| trust(a).cmp(&trust(b))),
];

#[test]
fn every_keep_order_is_the_rule_taken_in_that_order() {
    for seed in [10, 20, 30] {
        let bench = Bench::new();
        bench.write("trusted", TRUSTED);
        let (texts, days) = texts_and_store(&bench, seed);
        let of: HashMap<&str, &Text> = texts.iter().map(|text| (&*text.id, text)).collect();
        for (at, (keep, compare)) in ORDERS.into_iter().enumerate() {
            let mut batch = "batch".to_owned();
            if let Some((field, _)) = keep.split_once(':') {
                batch = format!("by-{at}");
                let line = "fingerprint --preset paper --input batch.jsonl";
                let made = bench.done(&format!("{line} --keep {keep} --output {batch}.seg"));
                let has_place = |text: &&Text| match field {
                    "score" => score(text).is_some(),
                    _ => !text.source.is_empty(),
                };
                let ordered = texts.iter().filter(has_place).count();
                let counts = ["ordered", "unordered"].map(|it| made.count(it) as usize);
                assert_eq!(counts, [ordered, texts.len() - ordered], "{keep}");
            }
            let mut order = bench.dump(&format!("{batch}.seg"));
            order.sort_by(|a, b| compare(of[&*a.0], of[&*b.0]).then(a.0.cmp(&b.0)));
            let joins = [("--store store", &days), ("", &Days::new())];
            for (k, (store, days)) in [0, 3, 8].into_iter().flat_map(|k| joins.map(|it| (k, it))) {
                let out = format!("{at}-{k}-{}", days.len());
                let job = format!("dedup --batch {batch}.seg {store} --distance {k} --keep {keep}");
                bench.done(&format!("{job} --matches all --output {out}"));
                let expected = verdicts(&order, days, k);
                let found = bench.read(&format!("{out}/verdicts.tsv"));
                assert!(found == expected, "{seed}: {job}");
                check_lists(&bench, &out, &expected);
                bench.done(&format!("{job} --matches best --output {out}-best"));
                check_best(&bench, &out);
            }
        }
        bench.done("dedup --batch batch.seg --store store --output usual");
        let usual = bench.read("usual/verdicts.tsv");
        let oldest = bench.read("1-3-3/verdicts.tsv");
        assert_eq!(usual, oldest, "the usual order where there are times");
        assert!(usual.matches("\tkeep\t").count() > 3 && usual.matches("\tbatch\n").count() > 3);
        let best = bench.read("1-3-3-best/matches.tsv");
        assert!(best.contains("\tkeep\n") && best.contains("\tdrop\n"), "{best}");
    }
}

/// keep.txt and drop.txt are the ids of the verdicts.
fn check_lists(bench: &Bench, out: &str, verdicts: &str) {
    for list in ["keep", "drop"] {
        let of = |line: &str| {
            line.split_once('\t')
                .filter(|(_, rest)| rest.starts_with(list))
                .map(|(id, _)| format!("{id}\n"))
        };
        let expected: String = verdicts.lines().skip(1).filter_map(of).collect();
        assert_eq!(bench.read(&format!("{out}/{list}.txt")), expected);
    }
}

/// `--matches best` changes no verdict, and its rows are those that verdicts name: in a pair of the
/// batch the larger id is the new one.
fn check_best(bench: &Bench, out: &str) {
    let verdicts = bench.read(&format!("{out}/verdicts.tsv"));
    assert_eq!(bench.read(&format!("{out}-best/verdicts.tsv")), verdicts);
    let named = |line: &str| -> Option<(String, u32, String, String, &str)> {
        let [id, "drop", of, distance, against] = line.split('\t').collect::<Vec<_>>()[..] else {
            return None;
        };
        let swapped = against == "batch" && id < of;
        let (new, existing) = if swapped { (of, id) } else { (id, of) };
        let verdict = if swapped { "keep" } else { "drop" };
        Some((new.into(), distance.parse().unwrap(), existing.into(), against.into(), verdict))
    };
    let mut rows: Vec<_> = verdicts.lines().filter_map(named).collect();
    rows.sort();
    let rows = rows.iter().map(|(new, distance, existing, against, verdict)| {
        format!("{new}\t{existing}\t{distance}\t{against}\t{verdict}\n")
    });
    let header = "new\texisting\tdistance\tagainst\tverdict\n";
    let expected = header.to_owned() + &rows.collect::<String>();
    assert!(bench.read(&format!("{out}-best/matches.tsv")) == expected, "{out}");
}

#[test]
fn a_million_copies_on_both_sides() {
    const COPIES: usize = 1_000_000;
    let bench = Bench::new();
    for name in ["new", "old"] {
        let copy = |at: usize| (format!("{name}{at:07}"), 0xdead_beef);
        bench.segment(name, 64, &(0..COPIES).map(copy).collect::<Vec<Page>>());
    }
    bench.store(&[("2026-01-01", "old")]);
    let refused = bench.run("dedup --batch new.seg --store store --output all --matches all");
    assert_eq!(refused.code, 65, "{refused:?}");
    let said = &refused.stderr;
    let copies = COPIES as u128;
    let rows = copies * copies + copies * (copies - 1) / 2;
    assert!(said.contains(&rows.to_string()) && said.contains("--matches best"), "{said}");
    assert!(!bench.path("all").exists());
    // 1.5e12 rows take a hundred terabytes: no room, which another disk or another day may have.
    let many = "--matches all --max-matches 1e15";
    let ended = bench.run(&format!("dedup --batch new.seg --store store --output all {many}"));
    assert_eq!((ended.code, &ended.summary()["retryable"]), (74, &true.into()), "{ended:?}");
    assert!(ended.stderr.contains("too little free space"), "{ended:?}");
    assert!(ended.stderr.contains("--matches best"), "{ended:?}");
    let best = bench.done("dedup --batch new.seg --store store --memory 64MiB --output best");
    let worked = [refused.worked, ended.worked, best.worked];
    assert!(worked.iter().sum::<Duration>() < Duration::from_secs(60), "{worked:?}");
    let verdicts = bench.read("best/verdicts.tsv");
    let named = "\tdrop\told0000000\t0\t2026-01-01";
    assert_eq!(verdicts.lines().filter(|line| line.ends_with(named)).count(), COPIES);
    let outcome = &bench.report("best")["outcome"];
    assert_eq!(outcome["distances"], json!({ "0": COPIES }));
    let hot = outcome["hot_copies"].as_array().unwrap();
    assert_eq!((hot.len(), &hot[0]["pages"]), (1, &json!(COPIES)));
    assert_eq!(hot[0]["matches"], COPIES as u64 * (COPIES as u64 - 1) / 2);
    bench.done("dedup --batch new.seg --output alone");
    assert_eq!(bench.read("alone/keep.txt"), "new0000000\n");
}
