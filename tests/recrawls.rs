//! Pages that come again under one key, in whatever spelling: what `verdicts.tsv` says of them, against plain lists of pages.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::Bench;
use crate::world::{numbers, words};

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

pub(crate) fn spelling(key: u64, number: u64) -> String {
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
    bench.refuses(2, what, &["other keys", "key.dropped"]);
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

/// A record of a web archive, with what it declares.
fn response(url: &str, time: &str, declared: &str, link: &str, html: &str) -> String {
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
