//! Nothing is lost with a page that is dropped: the page that stays contains nine tenths of its text.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::Bench;

/// A page of the words from one number to another, with these figures at its end.
fn page(id: &str, words: std::ops::Range<usize>, figures: &str) -> String {
    let words: Vec<String> = words.map(|word| format!("word{}", word * word % 9973)).collect();
    format!("{{\"id\":\"{id}\",\"text\":\"{} {figures}\"}}\n", words.join(" "))
}

/// The fingerprints of these pages, with the signatures of the check.
fn segment(bench: &Bench, name: &str, pages: &[String]) {
    bench.write(&format!("{name}.jsonl"), pages.concat());
    bench
        .done(&format!("fingerprint --input {name}.jsonl --check containment --output {name}.seg"));
}

/// Of pages that hold each other, the keep order decides. A page that is longer by more than a tenth stays in any order.
#[test]
fn keep_orders_decide_among_pages_of_one_length() {
    let bench = Bench::new();
    let timed = |id: &str, words, at: &str| {
        page(id, words, "").replacen('{', &format!("{{\"at\":\"2026-11-{at}T00:00:00Z\","), 1)
    };
    let pages = [
        timed("a", 0..300, "03"),
        timed("b", 0..301, "01"),
        timed("c", 0..302, "05"),
        page("d", 0..299, ""),
    ];
    bench.write("one.jsonl", pages.concat());
    bench.write("two.jsonl", pages.concat() + &timed("long", 0..380, "04"));
    for batch in ["one", "two"] {
        bench.done(&format!(
            "fingerprint --input {batch}.jsonl --time-field at --output {batch}.seg"
        ));
        for (keep, first) in [("oldest", "b"), ("newest", "c"), ("first-id", "a"), ("longest", "c")]
        {
            let out = format!("{batch}-{keep}");
            bench.done(&format!(
                "dedup --batch {batch}.seg --distance 15 --keep {keep} --output {out}"
            ));
            let expected = if batch == "one" { first } else { "long" };
            assert_eq!(bench.read(&format!("{out}/keep.txt")), format!("{expected}\n"), "{keep}");
            bench.done(&format!("verify {out}"));
        }
    }
    let said = bench.fails(2, "dedup --batch one.seg --keep latest --output x");
    assert!(said.contains("oldest, newest, first-id or longest"), "{said}");
}

/// So does a field of the pages, and the store goes before it: what a page of the store holds is dropped, whatever its score.
#[test]
fn a_score_decides_among_pages_of_one_length_and_not_against_the_store() {
    let bench = Bench::new();
    let scored = |id: &str, words, score: &str| {
        page(id, words, "").replacen('{', &format!("{{\"score\":{score},"), 1)
    };
    let pages = [
        scored("a", 0..300, "0.2"),
        scored("b", 0..301, "0.9"),
        scored("c", 0..302, "\"high\""),
        page("d", 0..299, ""),
    ];
    bench.write("days/2026-11-20/one.jsonl", pages.concat());
    bench.write(
        "days/2026-11-21/two.jsonl",
        scored("e", 0..300, "1.0") + &scored("f", 0..400, "-1"),
    );
    bench.write(
        "run.toml",
        "inputs = [\"days/{date}/*\"]\noutput = \"out/{date}\"\nstore = \"store\"\n[dedup]\nkeep = \"score:max\"\ndistance = 15\n",
    );
    bench.done("run run.toml --date 2026-11-20 --date 2026-11-21");
    assert_eq!(bench.read("out/2026-11-20/dedup/keep.txt"), "b\n");
    assert_eq!(bench.report("out/2026-11-20/dedup")["parameters"]["keep"], "score:max");
    assert_eq!(bench.read("out/2026-11-21/dedup/keep.txt"), "f\n", "b held e, and f holds b");
    for day in ["2026-11-20", "2026-11-21"] {
        bench.done(&format!("verify out/{day}"));
    }
    bench.done("store compact store");
    bench.done("store verify store");
    let file = bench.read("run.toml");
    bench.write("run.toml", format!("{file}[fingerprint]\ntime_field = \"at\"\n"));
    bench.fails(2, "run run.toml --date 2026-11-20");
}

/// A query says what `dedup` would: a page is dropped if a page of the store holds it, and a page that only holds
/// a page of the store is not.
#[test]
fn a_query_drops_what_a_page_of_the_store_holds() {
    let bench = Bench::new();
    bench.write("old.jsonl", page("whole", 0..300, ""));
    bench.write(
        "asked.jsonl",
        [page("part", 0..290, ""), page("longer", 0..360, ""), page("other", 1000..1300, "")]
            .concat(),
    );
    for day in ["old", "asked"] {
        bench.done(&format!("fingerprint --input {day}.jsonl --output {day}.seg"));
    }
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-11-19");
    bench.done("dedup --batch asked.seg --store store --distance 15 --output out");
    assert_eq!(bench.read("out/keep.txt"), "longer\nother\n");
    assert_eq!(bench.read("out/replaced.tsv").lines().count(), 1, "a verdict names it");
    let answer = bench.answer("query --store store --distance 15 --input asked.jsonl");
    let told: Vec<serde_json::Value> =
        answer.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts: Vec<_> = told.iter().map(|it| (&it["id"], &it["verdict"])).collect();
    let expected = [("part", "drop"), ("longer", "keep"), ("other", "keep")];
    assert!(
        verdicts.iter().zip(expected).all(|(it, (id, verdict))| it.0 == id && it.1 == verdict),
        "{answer}"
    );
}

/// A text of fewer than a hundred words is a class of its own, with a fingerprint of another sort. Signatures that share a band find it.
#[test]
fn a_short_text_goes_in_favour_of_a_longer_page_that_holds_it() {
    let bench = Bench::new();
    let pages = [page("a-short", 0..98, ""), page("b-long", 0..116, ""), page("c", 500..616, "")];
    bench.write("batch.jsonl", pages.concat());
    bench.done("fingerprint --input batch.jsonl --output batch.seg");
    for detail in ["best", "all"] {
        bench.done(&format!("dedup --batch batch.seg --matches {detail} --output {detail}"));
        assert_eq!(bench.read(&format!("{detail}/keep.txt")), "b-long\nc\n");
        let matches = bench.read(&format!("{detail}/matches.tsv"));
        let distance: u32 =
            matches.lines().nth(1).unwrap().split('\t').nth(2).unwrap().parse().unwrap();
        assert!(distance > 6, "the fingerprints do not find it: {matches}");
        bench.done(&format!("verify {detail}"));
    }
}

const DEDUP: &str = "dedup --check containment --distance 15 --keep first-id";

#[test]
fn the_longer_page_stays_and_is_named_with_the_share_that_it_holds() {
    let bench = Bench::new();
    let pages = [
        page("a-short", 0..300, ""),
        page("b-long", 0..380, ""),
        page("c-copy", 0..300, ""),
        page("d-other", 1000..1300, ""),
    ];
    segment(&bench, "batch", &pages);
    bench.done(&format!("{DEDUP} --batch batch.seg --output out"));
    let verdicts = bench.read("out/verdicts.tsv");
    let rows: Vec<Vec<&str>> = verdicts.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows[0], ["id", "verdict", "of", "distance", "against", "held", "copies", "hosts"]);
    for (row, id) in [(1, "a-short"), (3, "c-copy")] {
        assert_eq!([rows[row][0], rows[row][1], rows[row][2]], [id, "drop", "b-long"]);
        assert!(rows[row][5].parse::<f64>().unwrap() > 0.9, "{verdicts}");
    }
    assert_eq!([rows[2][1], rows[2][6]], ["keep", "2"]);
    assert_eq!([rows[4][1], rows[4][6]], ["keep", "0"]);
    let report = bench.report("out");
    assert!(report["lost"]["share"].as_f64().unwrap() < 0.1, "{report}");
    bench.done("verify out");
    // Nobody claims a copy more.
    bench.write("out/verdicts.tsv", verdicts.replacen("\t2\t\n", "\t3\t\n", 1));
    bench.fails(65, "verify out");
}

/// A kept page says of how many hosts it and its copies of the batch are; the report has the hosts of most dropped pages.
#[test]
fn the_hosts_of_copies_are_counted() {
    let bench = Bench::new();
    let copies = [
        "https://a.example/1",
        "https://A.example:443/2",
        "https://b.example/",
        "http://c.example/x",
        "plain",
    ];
    let mut pages: Vec<String> = copies.iter().map(|id| page(id, 0..300, "")).collect();
    pages.extend(["http://c.example/", "other"].map(|id| page(id, 1000..1300, "")));
    pages.push(page("alone", 2000..2300, ""));
    pages.push(page("http://alone.example/", 3000..3300, ""));
    segment(&bench, "batch", &pages);
    bench.done(&format!("{DEDUP} --batch batch.seg --output out --workers 2"));
    let verdicts = bench.read("out/verdicts.tsv");
    let kept: Vec<Vec<&str>> = verdicts
        .lines()
        .map(|row| row.split('\t').collect())
        .filter(|row: &Vec<_>| row[1] == "keep")
        .collect();
    let counts: Vec<_> = kept.iter().map(|row| (row[0], row[6], row[7])).collect();
    assert_eq!(
        counts,
        [
            ("alone", "0", ""),
            ("http://alone.example/", "0", "1"),
            ("http://c.example/", "1", "1"),
            ("http://c.example/x", "4", "3"),
        ]
    );
    let dropped = json!([{"host": "a.example", "pages": 2}, {"host": "b.example", "pages": 1}]);
    assert_eq!(bench.report("out")["outcome"]["dropped_hosts"], dropped);
    let dropped = json!({"against": {"batch": 5}, "held": {"1.0000": 5}});
    assert_eq!(bench.report("out")["outcome"]["dropped_pages"], dropped);
    let page = bench.read("out/report.html");
    assert!(page.contains("a.example") && page.contains("How much of a dropped page"), "{page}");
    assert!(!page.contains("this batch"), "no day of a store is among them: {page}");
    bench.done("verify out");
    bench.write("out/verdicts.tsv", verdicts.replacen("\t4\t3\n", "\t4\t4\n", 1));
    bench.fails(65, "verify out");
}

/// What is lost is counted from the sketches, which have every shingle of these pages.
#[test]
fn what_is_lost_is_counted() {
    let bench = Bench::new();
    let pages: Vec<String> =
        (0..60).map(|at| page(&format!("p{at}"), 0..300 + at % 20, "")).collect();
    segment(&bench, "batch", &pages);
    bench.done(&format!("{DEDUP} --batch batch.seg --output out"));
    let verdicts = bench.read("out/verdicts.tsv");
    let shingles = |id: &str| 298.0 + f64::from(id[1..].parse::<u32>().unwrap() % 20);
    let rows = verdicts.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let dropped: Vec<Vec<&str>> = rows.filter(|row| row[1] == "drop").collect();
    let all: f64 = dropped.iter().map(|row| shingles(row[0])).sum();
    let lost = dropped.iter().map(|row| (shingles(row[0]) - shingles(row[2])).max(0.0));
    let lost = lost.sum::<f64>() / all;
    assert!(dropped.len() > 50 && lost > 0.0, "{verdicts}");
    let told = bench.report("out")["lost"].clone();
    let number = |name: &str| told[name].as_f64().unwrap();
    assert!((number("share") - lost).abs() < 1e-3, "{told} {lost}");
    assert!((number("dropped_shingles") / all - 1.0).abs() < 1e-2, "{told} {all}");
    assert!(number("shingles") > number("dropped_shingles") && number("over_tenth") == 0.0);
    bench.done("verify out");
}

#[test]
fn two_pages_of_one_template_with_other_figures_are_two_pages() {
    let bench = Bench::new();
    let figures = |from: usize| (from..from + 40).map(|it| format!("{it}.50 ")).collect::<String>();
    let pages = [page("monday", 0..200, &figures(1000)), page("tuesday", 0..200, &figures(2000))];
    segment(&bench, "batch", &pages);
    bench.done(&format!("{DEDUP} --batch batch.seg --output out"));
    assert_eq!(bench.read("out/drop.txt"), "");
    bench.done(&format!("{DEDUP} --containment 0.5 --batch batch.seg --output loose"));
    assert_eq!(bench.read("loose/drop.txt"), "tuesday\n");
}

#[test]
fn a_page_of_the_store_that_a_kept_page_holds_is_listed_unless_a_verdict_names_it() {
    let bench = Bench::new();
    segment(&bench, "old", &[page("grown", 0..300, ""), page("same", 1000..1300, "")]);
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-11-19");
    let pages = [page("grown", 0..380, ""), page("again", 1000..1299, "")];
    segment(&bench, "new", &pages);
    bench.done(&format!("{DEDUP} --batch new.seg --store store --output out"));
    assert_eq!(bench.read("out/keep.txt"), "grown\n");
    let replaced = bench.read("out/replaced.tsv");
    let rows: Vec<Vec<&str>> = replaced.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows[0], ["id", "day", "by", "held"]);
    assert_eq!(rows.len(), 2, "{replaced}");
    assert_eq!(rows[1][..3], ["grown", "2026-11-19", "grown"]);
    assert_eq!(bench.report("out")["outcome"]["replaced"], 1);
    bench.done("verify out");
    for flags in ["--workers 3", "--processes 2"] {
        bench.done(&format!("{DEDUP} --batch new.seg --store store --output again {flags}"));
        assert_eq!(bench.read("again/replaced.tsv"), replaced);
        assert_eq!(bench.read("again/verdicts.tsv"), bench.read("out/verdicts.tsv"));
        std::fs::remove_dir_all(bench.path("again")).unwrap();
    }
}

/// A page of a history. Of each family there are two: a short one, and a long one that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    is_long: bool,
    family: usize,
}

impl Kind {
    /// The numbers of its runs, which are those of its words.
    fn runs(self) -> std::ops::Range<usize> {
        let start = self.family * 1000;
        start..start + if self.is_long { 340 } else { 300 }
    }

    /// The share of its runs that another page has.
    fn held_by(self, other: Kind) -> f64 {
        let other = other.runs();
        self.runs().filter(|run| other.contains(run)).count() as f64 / self.runs().len() as f64
    }

    pub(crate) fn page(self, id: &str) -> String {
        let words: Vec<String> =
            self.runs().map(|word| format!("w{:07}", word * 7919 % 9_999_991)).collect();
        format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", words.join(" "))
    }
}

pub(crate) const DAYS: [&str; 5] =
    ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05"];

/// The pages of each day. Some ids come again on other days, with other texts too.
pub(crate) fn history(seed: u64) -> BTreeMap<&'static str, BTreeMap<String, Kind>> {
    let mut state = seed;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % below) as usize
    };
    let mut day = |number: usize| {
        // Pages grow from day to day.
        let page = |_| {
            let (id, is_long) = (format!("page-{}", next(24)), next(5) < number);
            (id, Kind { is_long, family: next(14) })
        };
        (0..12).map(page).collect()
    };
    DAYS.into_iter().zip(0..).map(|(name, number)| (name, day(number))).collect()
}

/// The rule page by page: the days of a store, with what is shown of each.
#[derive(Clone, Default)]
struct Naive {
    /// By day and id: the page, and whether it is shown.
    store: BTreeMap<(String, String), (Kind, bool)>,
}

/// What the output of a join says: of each dropped page the id and the day of the page named; and the replaced pages, with those
/// that replace them.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) dropped: BTreeMap<String, (String, String)>,
    pub(crate) replaced: BTreeMap<(String, String), String>,
}

impl Found {
    pub(crate) fn of(bench: &Bench, day: &str) -> Found {
        let cells = |name: &str| -> Vec<Vec<String>> {
            let table = bench.read(&format!("out/{day}/dedup/{name}.tsv"));
            table.lines().skip(1).map(|row| row.split('\t').map(str::to_owned).collect()).collect()
        };
        let dropped = cells("verdicts").into_iter().filter(|row| row[1] == "drop");
        let dropped = dropped.map(|row| (row[0].clone(), (row[2].clone(), row[4].clone())));
        let replaced = cells("replaced");
        let replaced =
            replaced.iter().map(|row| ((row[1].clone(), row[0].clone()), row[2].clone()));
        Found { dropped: dropped.collect(), replaced: replaced.collect() }
    }
}

impl Naive {
    /// Takes a day. What was `found` may name any page that can stand for one that goes; all else is decided here.
    fn take(
        &mut self,
        day: &str,
        pages: &BTreeMap<String, Kind>,
        near: impl Fn(Kind, Kind) -> bool,
        found: &Found,
    ) {
        let stands = |page: Kind, other: Kind| near(page, other) && page.held_by(other) >= 0.9;
        let mut batch: Vec<(&String, Kind)> = pages.iter().map(|(id, kind)| (id, *kind)).collect();
        batch.sort_by_key(|(id, kind)| (!kind.is_long, (*id).clone()));
        let shown = self.store.iter().filter(|(_, page)| page.1);
        let shown: Vec<_> = shown.map(|(place, page)| (place.clone(), page.0)).collect();
        let mut kept: Vec<(&String, Kind)> = Vec::new();
        for (id, page) in batch {
            let in_store = shown.iter().filter(|(_, other)| stands(page, *other));
            let in_store = in_store.map(|((day, id), _)| (id.clone(), day.clone()));
            let in_batch = kept.iter().filter(|(_, other)| stands(page, *other));
            let in_batch = in_batch.map(|(id, _)| ((*id).clone(), "batch".to_owned()));
            let able: Vec<(String, String)> = in_store.chain(in_batch).collect();
            match found.dropped.get(id) {
                Some(named) => assert!(able.contains(named), "{day} {id}: {named:?} of {able:?}"),
                None => {
                    assert!(able.is_empty(), "{day} {id} was kept: {able:?}");
                    kept.push((id, page));
                }
            }
        }
        let mut replaced = BTreeMap::new();
        for (place, page) in &shown {
            let (on, id) = place;
            let is_named = found.dropped.values().any(|named| *named == (id.clone(), on.clone()));
            let by: Vec<_> = kept.iter().filter(|(_, other)| stands(*page, *other)).collect();
            if !is_named && !by.is_empty() {
                let told = found.replaced.get(place);
                assert!(
                    by.iter().any(|(by, _)| Some(*by) == told),
                    "{day}: {place:?} by {by:?}, {told:?}"
                );
                replaced.insert(place.clone(), told.unwrap().clone());
            }
        }
        assert_eq!(replaced, found.replaced, "{day}");
        for place in replaced.keys() {
            self.store.get_mut(place).unwrap().1 = false;
        }
        let kept = kept.into_iter().map(|(id, page)| ((day.to_owned(), id.clone()), (page, true)));
        self.store.extend(kept);
    }

    /// Compares what the store shows, day by day and id by id. Of a file that is mostly hidden, the store keeps the rest alone.
    fn check(&self, bench: &Bench) {
        let list: Value = serde_json::from_str(&bench.answer("store list store --json")).unwrap();
        let mut told = BTreeMap::new();
        for day in list["days"].as_array().unwrap() {
            let rows = day["rows"].as_u64().unwrap();
            told.insert(day["day"].as_str().unwrap().to_owned(), rows);
        }
        told.retain(|_, rows| *rows > 0);
        let mut rows: BTreeMap<String, u64> = BTreeMap::new();
        let shown = self.store.iter().filter(|(_, page)| page.1);
        shown.for_each(|((day, _), _)| *rows.entry(day.clone()).or_default() += 1);
        assert_eq!(told, rows);
        let hidden = self.store.values().filter(|page| !page.1).count() as u64;
        assert!(list["replaced"].as_u64().unwrap() <= hidden, "{list}");
        let ids: Vec<String> = (0..24).map(|id| format!("page-{id}")).collect();
        bench.write("ids.txt", ids.join("\n"));
        let expected: String = ids
            .iter()
            .map(|id| {
                let days = self.store.iter().filter(|((_, it), page)| it == id && page.1);
                match days.map(|((day, _), _)| day).max() {
                    Some(day) => format!("{id}\tyes\t{day}\n"),
                    None => format!("{id}\tno\t\n"),
                }
            })
            .collect();
        assert_eq!(bench.answer("seen --store store --ids ids.txt"), expected);
        bench.done("store verify store");
    }
}

/// A bench with the pages of a history and a configuration for them.
pub(crate) fn bench_of(history: &BTreeMap<&str, BTreeMap<String, Kind>>) -> Bench {
    let bench = Bench::new();
    for (day, pages) in history {
        let pages: String = pages.iter().map(|(id, kind)| kind.page(id)).collect();
        bench.write(&format!("crawl/{day}.jsonl"), pages);
    }
    bench.write(
        "days.toml",
        "inputs = [\"crawl/{date}.jsonl\"]\noutput = \"out/{date}\"\nstore = \"store\"\n\
         [fingerprint]\ncheck = \"containment\"\n\
         [dedup]\ncheck = \"containment\"\ndistance = 15\nkeep = \"first-id\"\n",
    );
    bench
}

/// The fingerprint of each sort of page, by the segments of the days that were run.
fn fingerprints(
    bench: &Bench,
    history: &BTreeMap<&str, BTreeMap<String, Kind>>,
) -> BTreeMap<Kind, u128> {
    let mut known = BTreeMap::new();
    for (day, pages) in history {
        for line in bench.answer(&format!("inspect out/{day}/batch.seg --dump")).lines() {
            let (id, bits) = line.split_once("\t0x").unwrap();
            known.insert(pages[id], u128::from_str_radix(bits, 16).unwrap());
        }
    }
    known
}

#[test]
fn days_in_any_order_follow_the_rule_page_by_page() {
    let mut replaced = 0;
    for (seed, order) in [(1, [0, 1, 2, 3, 4]), (2, [0, 3, 1, 4, 2]), (3, [4, 3, 2, 1, 0])] {
        let history = history(seed);
        let bench = bench_of(&history);
        let mut outputs = Vec::new();
        for (place, flags) in order.into_iter().zip(["", "--workers 3", "--processes 2", "", ""]) {
            bench.done(&format!("run days.toml --date {} {flags}", DAYS[place]));
            outputs.push((DAYS[place], Found::of(&bench, DAYS[place])));
        }
        let known = fingerprints(&bench, &history);
        let near = |one: Kind, other: Kind| (known[&one] ^ known[&other]).count_ones() <= 15;
        let mut naive = Naive::default();
        let mut before = Vec::new();
        for (day, found) in &outputs {
            before.push(naive.clone());
            naive.take(day, &history[day], near, found);
            replaced += found.replaced.len();
        }
        naive.check(&bench);
        for day in DAYS {
            bench.done(&format!("verify out/{day}"));
        }
        // A rerun of all days changes nothing.
        let files = bench.files("store");
        bench.done("run days.toml --date 2026-11-01..2026-11-05");
        assert!(bench.files("store") == files);
        // Going back shows what was replaced since, and so does a merge of what is left.
        let (back, _) = outputs[3];
        bench.done(&format!("store rollback store --before-day {back}"));
        before[3].check(&bench);
        for (day, found) in &outputs[3..] {
            bench.done(&format!("run days.toml --date {day}"));
            assert_eq!(Found::of(&bench, day), *found);
        }
        naive.check(&bench);
        // The first day once more, and all others after it in their order: as if they had come so.
        let (first, _) = outputs[0];
        let pages = history[first].iter().map(|(id, kind)| kind.page(id));
        let pages: String = pages.chain(["no record\n".to_owned()]).collect();
        bench.write(&format!("crawl/{first}.jsonl"), pages);
        bench.done(&format!("run days.toml --max-bad 50% --redo {first}"));
        let mut again = Naive::default();
        for day in DAYS {
            again.take(day, &history[day], near, &Found::of(&bench, day));
        }
        again.check(&bench);
        // A merge leaves the hidden pages out.
        bench.done("store compact store");
        again.store.retain(|_, page| page.1);
        again.check(&bench);
    }
    assert!(replaced >= 10, "{replaced} pages were replaced");
}

#[test]
fn the_store_keeps_what_is_replaced_where_the_file_says_so() {
    let history = history(1);
    let bench = bench_of(&history);
    let file = bench.read("days.toml").replace("\nstore = \"store\"", "");
    bench.write("days.toml", file + "[store]\npath = \"store\"\nreplaced = \"keep\"\n");
    bench.done("run days.toml --date 2026-11-01..2026-11-05");
    let listed: usize = DAYS.iter().map(|day| Found::of(&bench, day).replaced.len()).sum();
    let list: Value = serde_json::from_str(&bench.answer("store list store --json")).unwrap();
    assert!(listed > 0 && list["replaced"] == 0, "{listed} {list}");
    let hides = |name: &String| name.starts_with("replaced/") && name.ends_with(".rows");
    assert!(!bench.files("store").keys().any(hides));
    bench.done("verify out/2026-11-05");
    // Another word is no rerun of the days that are done.
    let file = bench.read("days.toml").replace("\"keep\"\n", "\"hide\"\n");
    bench.write("days.toml", file);
    let said = bench.fails(73, "run days.toml --date 2026-11-01..2026-11-05");
    assert!(said.contains("--redo"), "{said}");
}

/// Over many days, what the pages that stay hold of all that was read is estimated, page by page, and the pages are counted that went in
/// favour of a page that was replaced since.
#[test]
fn what_stays_of_all_days_is_told() {
    let bench = Bench::new();
    let days = [
        (
            "2026-11-01",
            vec![page("a", 0..300, ""), page("a2", 0..290, ""), page("x", 2000..2300, "")],
        ),
        ("2026-11-02", vec![page("a3", 0..280, ""), page("y", 3000..3300, "")]),
        ("2026-11-03", vec![page("longer", 0..400, "")]),
        ("2026-11-04", vec![page("l2", 0..399, "")]),
    ];
    for (day, pages) in &days {
        bench.write(&format!("crawl/{day}.jsonl"), pages.concat());
    }
    bench.write(
        "days.toml",
        "inputs = [\"crawl/{date}.jsonl\"]\noutput = \"out/{date}\"\nstore = \"store\"\n[dedup]\ndistance = 15\n",
    );
    bench.done("run days.toml --date 2026-11-01..2026-11-02");
    let all = |bench: &Bench| -> Value {
        let rows = bench.answer("report out --json");
        serde_json::from_str::<Value>(rows.lines().last().unwrap()).unwrap()["all"].clone()
    };
    let before = all(&bench);
    assert_eq!([&before["replaced"], &before["through_replaced"]], [0, 0]);
    bench.done("run days.toml --date 2026-11-03..2026-11-04");
    let after = all(&bench);
    assert_eq!(
        [&after["replaced"], &after["through_replaced"]],
        [1, 2],
        "a2 and a3 went in favour of a"
    );
    let read: u64 = [298, 288, 298, 278, 298, 398, 397].iter().sum();
    let runs = after["runs"].as_u64().unwrap();
    assert!(runs.abs_diff(read) * 10 < read, "{after}: {read}");
    let held = after["held"].as_f64().unwrap();
    assert!((0.97..=1.0).contains(&held), "{after}");
    let told = bench.answer("report out");
    assert!(told.contains("2 dropped pages are contained only through these"), "{told}");
    bench.answer("report out --output days.html");
    assert!(bench.read("days.html").contains("of the text read is contained in the kept pages"));
}

#[test]
fn by_hand_a_day_replaces_what_the_join_lists() {
    let bench = Bench::new();
    segment(&bench, "old", &[page("grown", 0..300, ""), page("same", 1000..1300, "")]);
    segment(&bench, "new", &[page("grown", 0..380, "")]);
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-11-19");
    let answer = |day: &str| format!("grown\tyes\t{day}\n");
    bench.write("ids.txt", "grown\n");
    for format in ["tsv", "jsonl", "parquet"] {
        let join = format!("{DEDUP} --batch new.seg --store store --output-format {format}");
        bench.done(&format!("{join} --output {format}"));
        let add = format!(
            "store add store --segment new.seg --day 2026-11-20 --only {format}/keep.txt \
             --replaced {format}/replaced.{format} --slack {format}/slack.{format}"
        );
        bench.done(&add);
        assert_eq!(bench.answer("seen --store store --ids ids.txt"), answer("2026-11-20"));
        assert!(bench.done(&add).summary()["already_done"].as_bool().unwrap());
        let log = bench.answer("store log store");
        assert!(log.trim_end().ends_with("add 2026-11-20, 1 replaced"), "{log}");
        let list = bench.answer("store list store");
        assert!(list.lines().any(|line| line.split_whitespace().eq(["replaced", "1"])), "{list}");
        // No query finds the page that was replaced, and the join with the version before still does.
        bench.write("text.txt", page("", 0..300, ""));
        bench.done(&format!("{join} --output {format}-again --as-of 2"));
        let name = format!("replaced.{format}");
        assert_eq!(
            bench.bytes(&format!("{format}/{name}")),
            bench.bytes(&format!("{format}-again/{name}"))
        );
        bench.done(&format!("{join} --output {format}-after"));
        assert_eq!(bench.read(&format!("{format}-after/keep.txt")), "");
        bench.done("store rollback store --to 2");
        assert_eq!(bench.answer("seen --store store --ids ids.txt"), answer("2026-11-19"));
    }
    bench.write("other.tsv", "id\tday\tby\theld\nnobody\t2026-11-19\tgrown\t1.0000\n");
    let add = "store add store --segment new.seg --day 2026-11-20 --replaced";
    assert!(bench.fails(65, &format!("{add} other.tsv")).contains("other.tsv:2"));
    bench.write("other.tsv", "id\tday\tby\theld\nnobody\tyesterday\tgrown\t1.0000\n");
    assert!(bench.fails(65, &format!("{add} other.tsv")).contains("names no page of a day"));
    bench.fails(66, &format!("{add} none.tsv"));
}

/// A day whose pages lose text: a short page that a long one holds to nine tenths, by a check that asks for less.
fn losing() -> Bench {
    let bench = Bench::new();
    let pages = [
        page("a-whole", 0..300, ""),
        page("b-copy", 0..300, ""),
        page("c-more", 0..300, "and some more words that are nowhere else in the day"),
    ];
    let other = [
        page("d-long", 2000..2400, ""),
        page(
            "e-part",
            2000..2300,
            "the words of no other page stand at the end here, so that a part is lost with it",
        ),
    ];
    bench.write("crawl/2026-11-01.jsonl", pages.concat() + &other.concat());
    bench.write(
        "days.toml",
        "inputs = [\"crawl/{date}.jsonl\"]\noutput = \"out/{date}\"\nstore = \"store\"\n\
         [fingerprint]\ncheck = \"containment\"\n\
         [dedup]\ncheck = \"containment\"\ncontainment = 0.5\ndistance = 15\nkeep = \"first-id\"\n",
    );
    bench
}

#[test]
fn a_day_that_loses_too_much_ends_before_the_store_and_what_is_lost_is_told() {
    let bench = losing();
    let run = "run days.toml --date 2026-11-01 --metrics-file metrics.prom";
    let said = bench.fails(65, &format!("{run} --max-lost 0.0001"));
    assert!(said.contains("too much text is lost") && said.contains("at most 0.01 %"), "{said}");
    assert!(said.contains("dupsieve sample") && said.contains("--max-lost"), "{said}");
    let versions = || bench.names("store/manifests").len();
    assert_eq!(versions(), 1);
    // The output is whole, and its worst pair comes first.
    let pairs = bench.answer("sample out/2026-11-01 --json");
    let pairs: Vec<Value> = pairs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let held: Vec<f64> = pairs.iter().map(|pair| pair["held"].as_f64().unwrap()).collect();
    assert!(held.len() >= 2 && held.is_sorted() && held[0] < 1.0, "{held:?}");
    let told = bench.answer("sample out/2026-11-01 --per-distance 1");
    assert!(told.starts_with(&format!("most text lost: 1 of {} pairs", held.len())), "{told}");
    assert!(told.contains(&format!("held {:.4}", held[0])), "{told}");
    // The same again is refused again; with a higher limit it goes on from there.
    bench.fails(65, &format!("{run} --max-lost 0.0001"));
    assert_eq!(versions(), 1);
    bench.done(&format!("{run} --max-lost 0.5"));
    assert_eq!(versions(), 2);
    let lost = bench.report("out/2026-11-01/dedup")["lost"].clone();
    let share = lost["share"].as_f64().unwrap();
    assert!(share > 0.0001 && lost["over_tenth"].is_number(), "{lost}");
    let metrics = bench.read("metrics.prom");
    for (name, value) in
        [("lost_text_ratio", &lost["share"]), ("lost_pages_ratio", &lost["over_tenth"])]
    {
        let line = format!("dupsieve_{name}{{command=\"run\"}} {value}");
        let zero = line.replace(" 0.0", " 0");
        assert!(metrics.lines().any(|it| it == line || it == zero), "{line}: {metrics}");
    }
    assert!(metrics.contains("dupsieve_replaced_pages{command=\"run\"} 0\n"), "{metrics}");
    let page = bench.read("out/2026-11-01/dedup/report.html");
    assert!(page.contains("of the text of the dropped pages is lost"), "{page}");
    assert!(page.contains("pages of the store replaced"));
    let table = bench.answer("report out --output days.html");
    assert!(table.lines().next().unwrap().ends_with("replaced"), "{table}");
    assert!(bench.read("days.html").contains("Text lost"));
    // A check that does not tell has no limit.
    bench.write("plain.tsv", "id\ttext\na\tsome words\n");
    bench.done("fingerprint --preset paper --input plain.tsv --output plain.seg");
    bench.fails(2, "dedup --batch plain.seg --output plain --containment 0.95");
    let said = bench.fails(2, "dedup --batch plain.seg --output plain --max-lost 0.1");
    assert!(said.contains("does not say how much of a page another one contains"), "{said}");
}

#[test]
fn each_record_has_its_share_and_its_copies() {
    let bench = losing();
    bench.done("run days.toml --date 2026-11-01");
    bench.done(
        "filter --input crawl/2026-11-01.jsonl --annotate out/2026-11-01 --output judged.jsonl",
    );
    let judged = bench.read("judged.jsonl");
    let table = bench.read("out/2026-11-01/dedup/verdicts.tsv");
    assert_eq!(judged.lines().count(), 5);
    for line in judged.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let id = record["id"].as_str().unwrap();
        let row = table.lines().find(|row| row.split('\t').next() == Some(id)).unwrap();
        let cells: Vec<&str> = row.split('\t').collect();
        assert_eq!(record["verdict"], cells[1]);
        let number = |text: &str| text.parse::<f64>().ok();
        assert_eq!(
            (record["held"].as_f64(), record["copies"].as_f64()),
            (number(cells[5]), number(cells[6])),
            "{line}"
        );
    }
}
