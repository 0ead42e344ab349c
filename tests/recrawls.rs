//! Pages that come again under one key, in whatever spelling: what `dedup` and `run` say of them and which of them stay, against plain lists of pages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

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
    assert_eq!(header[at + 1..], ["former", "former_against", "former_contains", "canonical"]);
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
        json!({ "id": "http://h.example/b/", "text": words(500..560).to_uppercase() + "!", "at": 1 })
            .to_string()
            + "\n",
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
            ["changed", "https://www.h.example/A", "batch", "0.4828", ""],
            ["unchanged", "http://h.example/a/", "batch", "", ""],
            ["new", "", "", "", ""],
            ["same text", "http://h.example/b", "batch", "1.0000", ""],
            ["new", "", "", "", ""],
            ["", "", "", "", ""],
        ]
    );
    let report = bench.report("found");
    let counts = json!({ "new": 2, "unchanged": 1, "same_text": 1, "changed": 1 });
    assert_eq!(report["outcome"]["recrawls"], counts);
    bench.done("verify found");
    bench.done("cluster --matches found --output clusters");
    let said = bench.fails(2, "fingerprint --key page --input pages.jsonl --output no.seg");
    assert!(said.contains("url, surt, field:NAME or surt:NAME"), "{said}");
    let dumped = bench.answer("inspect day.seg --dump");
    assert!(
        dumped
            .lines()
            .all(|row| row.ends_with("\texample,h)/a") || row.ends_with("\texample,h)/b"))
    );
    bench.done("dedup --input pages.jsonl --key surt --output corpus");
    let explained = bench.answer("explain corpus http://h.example/b/");
    assert!(explained.contains("key          example,h)/b"), "{explained}");
    let drawn = bench.answer("sample corpus");
    assert!(drawn.contains("  key example,h)/b"), "{drawn}");
}

/// The key is made of the value of a field, in every format that has fields; of a page without a value, of its id.
#[test]
fn keys_are_made_of_a_field_in_every_format() {
    let bench = Bench::new();
    // Three pages of one address, one of another, and two without.
    let urls = [
        "http://a.example/x",
        "https://www.a.example/X/",
        "http://a.example/x",
        "http://b.example/",
        "",
        "",
    ];
    let texts: Vec<String> = (0..6).map(|at| words(100 * at..100 * at + 40)).collect();
    let each = |line: &dyn Fn(usize) -> String| (0..6).map(line).collect::<String>();
    bench.write(
        "p.jsonl",
        each(&|at| {
            let url = if urls[at].is_empty() { json!(null) } else { json!(urls[at]) };
            json!({ "id": format!("p{at}"), "text": texts[at], "meta": { "url": url } }).to_string()
                + "\n"
        }),
    );
    let table = |between: &str| {
        let row = |at: usize| [&format!("p{at}"), urls[at], &texts[at]].join(between) + "\n";
        ["id", "meta.url", "text"].join(between) + "\n" + &each(&row)
    };
    bench.write("p.tsv", table("\t"));
    bench.write("p.csv", table(","));
    let archived = |at: usize| {
        let url = match urls[at] {
            "" => String::new(),
            url => format!("meta.url: {url}\r\n"),
        };
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Date: 2026-11-18T00:00:00Z\r\nWARC-Target-URI: p{at}\r\n{url}Content-Type: text/plain\r\n\
             Content-Length: {}\r\n\r\n{}\r\n\r\n",
            texts[at].len(),
            texts[at]
        )
    };
    bench.write("p.wet", each(&archived));
    for format in ["jsonl", "tsv", "csv", "wet"] {
        for (key, changed) in
            [("field:meta.url", ["p2"].as_slice()), ("surt:meta.url", &["p1", "p2"])]
        {
            let output = format!("{format}-{}", &key[..4]);
            bench.done(&format!(
                "dedup --input p.{format} --id-field id --key {key} --output {output}"
            ));
            let said = said(&bench, &format!("{output}/dedup"));
            let of =
                |(id, [change, ..]): &(String, [String; 3])| (change != "new").then(|| id.clone());
            let again: Vec<String> = said.iter().filter_map(of).collect();
            assert_eq!(again, changed, "{format} {key}");
        }
    }
    bench.write("other.jsonl", json!({ "id": "p9", "text": "some text" }).to_string());
    let what = "fingerprint --key field:url --max-bad 0 --input other.jsonl --output no.seg";
    bench.refuses(65, what, &["no field `url`"]);
    bench.write("p.txt", &texts[0]);
    let what = "fingerprint --key field:url --input p.txt --output no.seg";
    bench.refuses(2, what, &["--key names a field, but this file has no fields"]);
    bench.done("fingerprint --key field:meta.url --input p.jsonl --output field.seg");
    bench.done("fingerprint --key surt --input p.jsonl --output surt.seg");
    bench.store(&[("2026-11-02", "field")]);
    let what = "dedup --batch surt.seg --store store --output refused";
    bench.refuses(2, what, &["different recipes", "key.field"]);
}

/// A record of a web archive, with what it declares.
pub(crate) fn response(url: &str, time: &str, declared: &str, link: &str, html: &str) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{link}\r\n{html}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: {time}\r\nWARC-Target-URI: {url}\r\n{declared}Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

/// A digest of the payload tells pages of one text apart, and is believed against no text. An address that a page names as canonical is listed if its key is
/// another one.
#[test]
fn what_records_declare_is_listed_beside_the_verdicts() {
    let bench = Bench::new();
    let digest = |it: &str| match it {
        "" => String::new(),
        it => format!("WARC-Payload-Digest: sha1:{it}\r\n"),
    };
    let named = |rel: &str, address: &str| format!("<link rel='{rel}' href='{address}'>");
    let header = |rel: &str| format!("Link: </style.css>; rel=preload, </x>; rel=\"{rel}\"\r\n");
    let [none, other] = [String::new(), words(900..960)];
    // The digest on either day, the text of the second day, its header and its link: what is said of it, and the address.
    let pages = [
        ("A", "A", &none, &none, &none, "unchanged", ""),
        ("A", "B", &none, &none, &none, "same text", ""),
        ("A", "a", &none, &none, &none, "unchanged", ""),
        ("A", "", &none, &none, &none, "unchanged", ""),
        ("A", "A", &other, &none, &none, "changed", ""),
        ("", "", &none, &none, &named("canonical", "../x?a=1&amp;b"), "unchanged", "/x?a=1&b"),
        ("", "", &none, &none, &named("alternate CANONICAL", "//o.example"), "unchanged", "o"),
        ("", "", &none, &none, &named("alternate", "/canonical"), "unchanged", ""),
        ("", "", &none, &none, &named("canonical", "https://www.h.example/d/P8/"), "unchanged", ""),
        ("A", "B", &none, &header("canonical"), &named("canonical", "/y"), "same text", "/x"),
        ("", "", &none, &header("next"), &none, "unchanged", ""),
    ];
    for (day, second) in [("2026-11-01", false), ("2026-11-02", true)] {
        let records = pages.iter().enumerate().map(|(at, page)| {
            let (before, after, text, header, link, ..) = *page;
            let own = words(1000 * at..1000 * at + 60);
            let text = if second && !text.is_empty() { text } else { &own };
            let html = format!("<html><head>{link}<body>{text}");
            let declared = digest(if second { after } else { before });
            let (url, time) = (format!("http://h.example/d/p{at}"), format!("{day}T00:00:00Z"));
            response(&url, &time, &declared, header, &html)
        });
        bench.write(&format!("crawl/{day}/a.warc"), records.collect::<String>());
    }
    let keyed = "inputs = [\"crawl/{date}/*\"]\noutput = \"out/{date}\"\nstore = \"store\"\n[fingerprint]\nkey = \"surt\"\n[dedup]\nrecrawled = \"keep\"\n";
    bench.write("days.toml", keyed);
    bench.done("run days.toml --date 2026-11-01 --date 2026-11-02");
    let rows = bench.rows("out/2026-11-02/dedup/verdicts.tsv");
    for (at, (.., change, canonical)) in pages.iter().enumerate() {
        let id = format!("http://h.example/d/p{at}");
        let row = rows.iter().find(|row| row[0] == id).unwrap();
        let canonical = match *canonical {
            "o" => "http://o.example/".to_owned(),
            path => [if path.is_empty() { "" } else { "http://h.example" }, path].concat(),
        };
        assert_eq!([&row[8], &row[12]], [*change, &canonical], "{row:?}");
    }
    bench.done("verify out/2026-11-02");
    bench.done("store compact store");
    bench.done("verify out/2026-11-02");
}

/// A page of a day of `run`. Pages with one text are duplicates, whatever their keys.
#[derive(Clone, Debug, PartialEq)]
struct Crawled {
    day: u64,
    id: String,
    key: u64,
    text: usize,
    /// None if the page has no time.
    time: Option<u64>,
}

impl Crawled {
    /// What is greatest in the newest page: the time, else the beginning of the day; then the day and the id.
    fn at(&self) -> (u64, u64, &str) {
        (self.time.unwrap_or(midnight(self.day)), self.day, &self.id)
    }

    /// Names the record: the record of a page that the store shows is that of its day.
    fn line(&self) -> String {
        let Crawled { day, id, text, time, .. } = self;
        let mut line = json!({ "id": id, "text": words(*text..text + 60), "day": day });
        if let Some(time) = time {
            line["at"] = json!(time);
        }
        line.to_string() + "\n"
    }
}

fn date(day: u64) -> String {
    format!("2026-11-{day:02}")
}

fn midnight(day: u64) -> u64 {
    1_793_491_200 + (day - 1) * 86_400
}

/// The definition: of each key the newest page counts. One that takes the place of others is kept, and of the rest the first page with a text, unless the store shows
/// the text. Gives the verdicts; `shown` is what the store shows afterwards.
fn newest(shown: &mut Vec<Crawled>, batch: &[Crawled]) -> BTreeMap<String, &'static str> {
    let all = [&shown[..], batch].concat();
    let is_newest =
        |page: &Crawled| all.iter().all(|it| it.key != page.key || it.at() <= page.at());
    let is_known = |page: &Crawled| all.iter().any(|it| it.day != page.day && it.key == page.key);
    shown.retain(|page| is_newest(page));
    let mut verdicts = BTreeMap::new();
    let mut order: Vec<&Crawled> = batch.iter().collect();
    order.sort_by_key(|page| (!is_known(page), page.time.is_none(), page.time, &page.id));
    for page in order {
        let is_there = shown.iter().any(|it| it.text == page.text);
        let verdict = match (is_newest(page), is_known(page), is_there) {
            (false, ..) => "superseded",
            (true, false, true) => "drop",
            _ => "keep",
        };
        if verdict == "keep" {
            shown.push(page.clone());
        }
        verdicts.insert(page.id.clone(), verdict);
    }
    verdicts
}

/// The definition of `keep`: a page names the page of the store with its text whose id is the least, else the first of its day, and is kept if that one has its key.
fn keep(shown: &mut Vec<Crawled>, batch: &[Crawled]) -> BTreeMap<String, &'static str> {
    let mut order: Vec<&Crawled> = batch.iter().collect();
    order.sort_by_key(|page| (page.time.is_none(), page.time, &page.id));
    let names = |page: &&Crawled| {
        let stored = shown.iter().filter(|it| it.text == page.text);
        let first = order.iter().find(|it| it.text == page.text).unwrap();
        stored.min_by_key(|it| (&it.id, it.day)).unwrap_or(first).key
    };
    let kept: Vec<Crawled> =
        order.iter().filter(|page| names(page) == page.key).map(|&page| page.clone()).collect();
    let verdict = |page: &Crawled| if kept.contains(page) { "keep" } else { "drop" };
    let verdicts = batch.iter().map(|page| (page.id.clone(), verdict(page))).collect();
    shown.extend(kept);
    verdicts
}

type Definition = fn(&mut Vec<Crawled>, &[Crawled]) -> BTreeMap<String, &'static str>;

/// The outputs of the days that are in the store, or have expired.
fn outputs_of(added: &[(u64, Vec<Crawled>, Vec<Crawled>)], expired: &[u64]) -> String {
    let days = added.iter().map(|(day, ..)| day).chain(expired);
    days.map(|day| format!(" out/{}", date(*day))).collect()
}

/// No text is lost: a page that a day dropped is listed, or was when a page was removed, if the store shows no page with its text. And none is listed whose
/// kept page is shown, or that was removed itself.
fn check_readmitted(
    bench: &Bench,
    outputs: &str,
    first: u64,
    shown: &[Crawled],
    crawled: &[Crawled],
    (removed, listed): (&BTreeSet<String>, &BTreeSet<String>),
) {
    bench.done(&format!("store readmit store --overwrite --output readmit.txt --outputs{outputs}"));
    let readmitted: BTreeSet<String> =
        bench.read("readmit.txt").lines().map(str::to_owned).collect();
    let mut gave_way: BTreeSet<String> = BTreeSet::new();
    for output in outputs.split_whitespace() {
        let replaced = bench.rows(&format!("{output}/dedup/replaced.tsv"));
        gave_way.extend(replaced.into_iter().map(|row| row[0].clone()));
        let day = output.trim_start_matches("out/");
        for row in bench.rows(&format!("{output}/dedup/verdicts.tsv")) {
            let [id, verdict, of, _, against] = [0, 1, 2, 3, 4].map(|at| row[at].as_str());
            let Some(page) = crawled.iter().find(|it| it.id == id && date(it.day) == day) else {
                continue;
            };
            let against = if against == "batch" { day } else { against };
            let has_gone = shown.iter().all(|it| it.id != of || date(it.day) != against);
            if verdict != "keep" && has_gone {
                gave_way.insert(id.to_owned());
            }
            let is_lost = verdict == "drop" && shown.iter().all(|it| it.text != page.text);
            if is_lost && page.day >= first && !removed.contains(id) {
                assert!(readmitted.contains(id) || listed.contains(id), "{page:?} of {outputs}");
            }
        }
    }
    assert!(readmitted.is_subset(&gave_way), "{readmitted:?} {gave_way:?}");
    assert!(readmitted.is_disjoint(removed), "{readmitted:?} {removed:?}");
}

/// Days of `run` in any order, with days made again, rolled back, removed from and expired, against the definition of `recrawled`.
fn days_by(seed: u64, has_times: bool, (recrawled, definition): (&str, Definition)) {
    let bench = Bench::new();
    let mut random = numbers(seed);
    let times = if has_times { "time_field = \"at\"\n" } else { "" };
    let keys = "key = \"surt\"\ndrop_parameters = [\"sid\", \"ref\"]\n";
    let settings = format!("[fingerprint]\n{keys}{times}[dedup]\nrecrawled = \"{recrawled}\"\n");
    bench.configure("days.toml", &settings);
    let mut shown: Vec<Crawled> = Vec::new();
    // The days as they were added, with their pages, and what the store showed before each.
    let mut added: Vec<(u64, Vec<Crawled>, Vec<Crawled>)> = Vec::new();
    let mut removed: BTreeSet<String> = BTreeSet::new();
    let mut left: Vec<u64> = (1..29).collect();
    // All pages that were read, the days before the last expiry, and what was listed when pages were removed.
    let mut crawled: Vec<Crawled> = Vec::new();
    let (mut first_shown, mut expired): (u64, Vec<u64>) = (1, Vec::new());
    let mut listed: BTreeSet<String> = BTreeSet::new();
    let run = |shown: &mut Vec<Crawled>, pages: &[Crawled], removed: &BTreeSet<String>| {
        let pages: Vec<Crawled> =
            pages.iter().filter(|page| !removed.contains(&page.id)).cloned().collect();
        definition(shown, &pages)
    };
    for step in 0..10 {
        let day = left.swap_remove(random(left.len() as u64) as usize);
        let mut pages: Vec<Crawled> = Vec::new();
        for _ in 0..10 {
            let (key, own) = (random(6), random(3));
            // A fourth of the texts are those of any key.
            let text = if random(4) == 0 { 9_000 } else { key * 300 } + own * 100;
            let time = midnight(day) + random(6) * 86_400;
            let time = (has_times && random(3) > 0).then(|| time - 3 * 86_400);
            let page =
                Crawled { day, id: spelling(key, random(4)), key, text: text as usize, time };
            if pages.iter().all(|it| it.id != page.id) {
                pages.push(page);
            }
        }
        let lines: String = pages.iter().map(Crawled::line).collect();
        bench.write(&format!("crawl/{}.jsonl", date(day)), lines);
        bench.done(&format!("run days.toml --date {}", date(day)));
        crawled.extend(pages.iter().cloned());
        added.push((day, pages.clone(), shown.clone()));
        let verdicts = run(&mut shown, &pages, &removed);
        let table = bench.rows(&format!("out/{}/dedup/verdicts.tsv", date(day)));
        let found = table.into_iter().map(|row| (row[0].clone(), row[1].clone()));
        let found: BTreeMap<String, String> = found.filter(|(id, _)| id != "id").collect();
        let expected = verdicts.into_iter().map(|(id, verdict)| (id, verdict.to_owned())).collect();
        assert_eq!(found, expected, "step {step} of history {seed}");
        bench.done(&format!("verify out/{}", date(day)));
        match random(6) {
            0 | 1 if !added.is_empty() => {
                // A day is made again, and those that were added after it in the order of the days.
                let from = random(added.len() as u64) as usize;
                let mut again = added.split_off(from);
                bench.done(&format!("run days.toml --redo {}", date(again[0].0)));
                shown = again[0].2.clone();
                shown.retain(|page| !removed.contains(&page.id));
                again.sort_by_key(|(day, ..)| *day);
                for (day, pages, _) in again {
                    added.push((day, pages.clone(), shown.clone()));
                    run(&mut shown, &pages, &removed);
                }
            }
            2 => {
                let (day, _, before) = added.pop().unwrap();
                bench.done(&format!("store rollback store --before-day {}", date(day)));
                shown = before;
            }
            3 if !shown.is_empty() => {
                let id = shown[random(shown.len() as u64) as usize].id.clone();
                bench.write("gone.txt", format!("{id}\n"));
                let outputs = outputs_of(&added, &expired);
                let list = match outputs.is_empty() {
                    true => String::new(),
                    false => format!("--overwrite --readmit readmit.txt --outputs{outputs}"),
                };
                let line = "store remove store --ids gone.txt --until 2026-11-28";
                if bench.done(&format!("{line} {list}")).code == 0 && !list.is_empty() {
                    listed.extend(bench.read("readmit.txt").lines().map(str::to_owned));
                }
                removed.insert(id);
            }
            4 if !added.is_empty() => {
                let last = added.iter().map(|(day, ..)| *day).max().unwrap();
                let first = last.saturating_sub(19).max(1);
                bench.done("store expire store --keep-days 20");
                shown.retain(|page| page.day >= first);
                left.retain(|day| *day >= first);
                expired.extend(added.drain(..).map(|(day, ..)| day));
                first_shown = first;
            }
            _ => drop(bench.done("store compact store")),
        }
        shown.retain(|page| !removed.contains(&page.id));
        bench.done("filter --config days.toml --all --output now");
        let pages: String = (1..29)
            .map(|day| format!("now/{0}/{0}.jsonl", date(day)))
            .filter(|file| bench.path(file).exists())
            .map(|file| bench.read(&file))
            .collect();
        let found: BTreeSet<&str> = pages.lines().collect();
        let expected: Vec<String> = shown.iter().map(Crawled::line).collect();
        let expected: BTreeSet<&str> = expected.iter().map(|line| line.trim_end()).collect();
        assert_eq!(found, expected, "what is shown after step {step} of history {seed}");
        let _ = std::fs::remove_dir_all(bench.path("now"));
        let outputs = outputs_of(&added, &expired);
        if recrawled == "newest" && !outputs.is_empty() {
            check_readmitted(&bench, &outputs, first_shown, &shown, &crawled, (&removed, &listed));
        }
    }
    for (day, ..) in added {
        bench.done(&format!("verify out/{}", date(day)));
    }
}

#[test]
fn which_version_stays_is_the_definition_through_random_histories() {
    std::thread::scope(|scope| {
        let with_times = scope.spawn(|| {
            days_by(0, true, ("newest", newest));
            days_by(1, true, ("newest", newest));
            days_by(4, true, ("keep", keep));
        });
        days_by(2, false, ("newest", newest));
        days_by(3, false, ("newest", newest));
        days_by(5, false, ("keep", keep));
        with_times.join().unwrap();
    });
}

/// The second page of `a` has all of the first and more, that of `b` has another text, that of `c` the same, and `copy` is a page of another key.
fn changed(settings: &str) -> Bench {
    let bench = Bench::new();
    let page = |id: &str, text: std::ops::Range<usize>, at: u64| {
        json!({ "id": format!("http://h.example/{id}"), "text": words(text), "at": at }).to_string()
            + "\n"
    };
    let days = [
        ("2026-11-01", [page("a", 0..60, 1), page("b", 300..360, 1), page("c", 600..660, 1)]),
        ("2026-11-02", [page("a/", 0..99, 2), page("b/", 900..960, 2), page("c/", 600..660, 2)]),
        ("2026-11-03", [page("copy", 600..660, 3), page("a?", 1200..1260, 0), String::new()]),
    ];
    let keyed = "[fingerprint]\nkey = \"surt\"\ntime_field = \"at\"\n";
    bench.crawl(days.map(|(day, pages)| (day, pages.concat())), &format!("{keyed}{settings}"));
    bench.done("run days.toml");
    bench
}

/// The letters of the kept pages of each day, and of the pages that are replaced and superseded.
fn letters(bench: &Bench) -> [String; 3] {
    let days = ["01", "02", "03"].map(|day| format!("out/2026-11-{day}/dedup"));
    let letter = |id: &str| id.trim_start_matches("http://h.example/").to_owned() + " ";
    let kept = days
        .each_ref()
        .map(|day| bench.read(&format!("{day}/keep.txt")).lines().map(letter).collect::<String>());
    let [replaced, verdicts] = ["replaced", "verdicts"].map(|table| {
        days.iter().flat_map(|day| bench.rows(&format!("{day}/{table}.tsv"))).collect::<Vec<_>>()
    });
    let replaced = replaced.iter().filter(|row| row[0] != "id").map(|row| letter(&row[0]));
    let superseded =
        verdicts.iter().filter(|row| row[1] == "superseded").map(|row| letter(&row[0]));
    [kept.join("| "), replaced.collect(), superseded.collect()]
}

#[test]
fn one_key_decides_by_its_setting_and_by_keep_newest() {
    let all = "a b c | a/ b/ c/ | ";
    for (settings, kept, replaced, superseded) in [
        ("", "a b c | a/ b/ | a? ", "a ", ""),
        ("[dedup]\nrecrawled = \"rule\"\nkeep = \"newest\"", "a b c | a/ b/ | a? ", "a ", ""),
        ("[dedup]\nrecrawled = \"newest\"", all, "a b c ", "a? "),
        ("[dedup]\nkeep = \"newest\"", all, "a b c ", "a? "),
        ("[dedup]\nrecrawled = \"keep\"", "a b c | a/ b/ c/ | a? ", "", ""),
    ] {
        let bench = changed(settings);
        assert_eq!(letters(&bench), [kept, replaced, superseded], "{settings}");
        for day in ["01", "02", "03"] {
            bench.done(&format!("verify out/2026-11-{day}"));
        }
    }
    let bench = changed("");
    for (settings, says) in [
        ("[dedup]\nrecrawled = \"newest\"\npreset = \"paper\"\n", "containment"),
        ("[dedup]\nrecrawled = \"newest\"\n[store]\npath = \"s\"\nreplaced = \"keep\"\n", "stay"),
        ("[dedup]\nrecrawled = \"last\"\n", "rule, newest or keep"),
    ] {
        let keyed = "[fingerprint]\nkey = \"surt\"\ntime_field = \"at\"\n";
        bench.configure("other.toml", &format!("{keyed}{settings}"));
        let said = bench.run("run other.toml --date 2026-11-01").said();
        assert!(said.contains(says), "{said}");
    }
    let batch = "dedup --batch plain.seg --recrawled newest --output found";
    bench.done("fingerprint --input crawl/2026-11-01.jsonl --output plain.seg");
    bench.refuses(2, batch, &["recrawled = newest needs keys"]);
}

/// The former page is listed once the newest is removed, as what was superseded by it is.
#[test]
fn pages_whose_newest_page_is_removed_are_readmitted() {
    let bench = changed("[dedup]\nrecrawled = \"newest\"");
    bench.write("gone.txt", "http://h.example/a/\n");
    bench.done(
        "store remove store --ids gone.txt --readmit readmit.txt --outputs out/2026-11-01 --outputs out/2026-11-02 --outputs out/2026-11-03",
    );
    assert_eq!(bench.read("readmit.txt"), "http://h.example/a\nhttp://h.example/a?\n");
    bench.done("verify out/2026-11-03");
}

/// `copy` was dropped for `c`, which gets another text. Former versions of `c` itself are not listed.
#[test]
fn duplicates_of_a_page_whose_newest_version_lacks_its_text_are_readmitted() {
    for (recrawled, text, listed) in [
        ("newest", 900..960, "http://h.example/copy\n"),
        ("newest", 600..700, ""),
        ("rule", 900..960, ""),
    ] {
        let bench = Bench::new();
        let page = |id: &str, text| {
            json!({ "id": format!("http://h.example/{id}"), "text": words(text) }).to_string()
                + "\n"
        };
        let days = [
            ("2026-11-01", page("c", 600..660) + &page("copy", 600..660)),
            ("2026-11-02", page("c/", text)),
            ("2026-11-03", page("c?", 1200..1260)),
        ];
        let settings =
            format!("[fingerprint]\nkey = \"surt\"\n[dedup]\nrecrawled = \"{recrawled}\"\n");
        bench.crawl(days, &settings);
        bench.done("run days.toml --date 2026-11-01 --date 2026-11-02");
        let list = "store readmit store --overwrite --output readmit.txt --outputs out/2026-11-01";
        bench.done(&format!("{list} out/2026-11-02"));
        assert_eq!(bench.read("readmit.txt"), listed, "{recrawled}");
        if listed.is_empty() {
            continue;
        }
        // Read in again, it is kept.
        bench.done("run days.toml --date 2026-11-03");
        bench.done("filter --input crawl/2026-11-01.jsonl --ids readmit.txt --output crawl/2026-11-04.jsonl");
        bench.done("run days.toml --date 2026-11-04");
        assert_eq!(bench.read("out/2026-11-04/dedup/keep.txt"), listed);
    }
}

/// `a/` contains `a` whole, `c/` contains `c` and `copy`; `a?` and `b` have other texts than the newest pages of their keys.
#[test]
fn versions_with_other_texts_are_no_copies_of_the_newest() {
    let bench = changed("[dedup]\nrecrawled = \"newest\"");
    let ask = "query --config days.toml --input crawl/2026-11-02.jsonl --copies";
    let counted = bench
        .answer(ask)
        .lines()
        .map(|line| {
            let near = &serde_json::from_str::<Value>(line).unwrap()["near"][0];
            (near["id"].as_str().unwrap().to_owned(), near["copies"].as_u64().unwrap())
        })
        .collect::<Vec<_>>();
    let expected = [("a/", 1), ("b/", 0), ("c/", 2)];
    let expected = expected.map(|(id, copies)| (format!("http://h.example/{id}"), copies));
    assert_eq!(counted, expected);
}

#[test]
fn the_newest_is_the_same_for_any_workers_and_processes() {
    let bench = changed("[dedup]\nrecrawled = \"newest\"");
    let batch = "dedup --batch out/2026-11-02/batch.seg --recrawled newest --store store --as-of 2";
    let outputs = ["--workers 1", "--workers 3", "--processes 2"].map(|flags| {
        let output = flags.trim_start_matches('-').replace(' ', "-");
        bench.done(&format!("{batch} {flags} --output {output}"));
        ["verdicts.tsv", "replaced.tsv", "slack.tsv", "matches.tsv"]
            .map(|table| bench.read(&format!("{output}/{table}")))
    });
    assert!(outputs.iter().all(|output| *output == outputs[0]));
    assert!(outputs[0][1].lines().count() > 3, "{}", outputs[0][1]);
}
