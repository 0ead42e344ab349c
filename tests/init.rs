//! `init`: the configuration it proposes runs as it is, and what it says of the pages is true.

use crate::support::Bench;

/// A page of a crawl: its address, its text and the time.
type Crawled = (String, String, String);

/// The pages of a day of a crawl that fetches the same addresses each day.
fn crawled(day: u32) -> Vec<Crawled> {
    let page = |at: u32| {
        let text = format!(
            "the news of the {day}th day for reader {at}, word{} by word{}",
            at * day,
            at + day
        );
        (format!("https://a.example/{at}"), text, format!("2026-11-{day:02}T00:00:{at:02}Z"))
    };
    (10..40).map(page).collect()
}

fn file(extension: &str, time: &str, pages: &[Crawled]) -> Vec<u8> {
    let jsonl = |(url, text, at): &Crawled| {
        format!("{{\"url\": \"{url}\", \"text\": \"{text}\", \"{time}\": \"{at}\"}}\n")
    };
    let row = |between: &str, (url, text, at): &Crawled| match between {
        "," => format!("{url},\"{text}\",{at}\n"),
        _ => format!("{url}\t{text}\t{at}\n"),
    };
    let table = |between: &str| {
        let rows: String = pages.iter().map(|page| row(between, page)).collect();
        format!("{}\n{rows}", ["url", "text", time].join(between))
    };
    let warc = |(url, text, at): &Crawled| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {url}\r\nWARC-Date: {at}\r\nContent-Type: text/plain\r\n\
             Content-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    match extension {
        "tsv" => table("\t"),
        "csv" => table(","),
        "warc" => pages.iter().map(warc).collect(),
        _ => pages.iter().map(jsonl).collect(),
    }
    .into_bytes()
}

#[test]
fn a_crawl_that_fetches_the_same_pages_each_day_is_proposed_and_runs() {
    for (extension, place, pattern, time) in [
        ("jsonl", "crawl/2026-11-DD/a", "crawl/{date}/*.jsonl", "crawled_at"),
        ("jsonl", "crawl/2026-11-DD", "crawl/{date}.jsonl", "ts"),
        (
            "csv",
            "crawl/year=2026/month=11/day=DD/part-0",
            "crawl/year={year}/month={month}/day={day}/*.csv",
            "fetched_at",
        ),
        ("tsv", "crawl/dt=202611DD/hour=DD/a", "crawl/dt={year}{month}{day}/", "crawl_date"),
        ("warc", "crawl/IA-202611DD101112-DD", "crawl/*{year}{month}{day}*.warc", "WARC-Date"),
    ] {
        let bench = Bench::new();
        for day in [18, 19, 20] {
            let pages = file(extension, time, &crawled(day));
            bench.write(&format!("{}.{extension}", place.replace("DD", &day.to_string())), pages);
        }
        bench.done("init --input crawl");
        let text = bench.read("dupsieve.toml");
        assert!(text.contains(&format!("inputs = [\"{pattern}\"]")), "{place}: {text}");
        assert!(text.contains("keep = \"oldest\""), "{place}: {text}");
        if extension != "warc" {
            for line in
                ["id_field = \"url\"", "text_field = \"text\"", &format!("time_field = \"{time}\"")]
            {
                assert!(text.contains(line), "{line} is not in\n{text}");
            }
        }
        let ran = bench.done("run dupsieve.toml");
        assert_eq!((ran.count("read"), ran.count("quarantined")), (90, 0), "{place}: {ran:?}");
    }
}

#[test]
fn many_days_are_written_as_ranges() {
    let bench = Bench::new();
    for number in 0..32 {
        let (month, day) = (1 + number / 28, 1 + number % 28);
        let page =
            |id: u32| format!("{{\"id\": {id}, \"text\": \"the page with the number {id}\"}}\n");
        let pages = page(2 * number) + &page(2 * number + 1);
        bench.write(&format!("crawl/2026-{month:02}-{day:02}.jsonl"), pages);
    }
    bench.done("init --input crawl");
    let ranges = "dates = [\"2026-01-01..2026-01-28\", \"2026-02-01..2026-02-04\"]";
    assert!(bench.read("dupsieve.toml").contains(ranges), "{}", bench.read("dupsieve.toml"));
    bench.done("run dupsieve.toml --dry-run");
}
