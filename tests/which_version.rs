//! Which pages of one key stay, by `recrawled` and through days in any order, and which are listed to be read in again: against definitions page by page.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::recrawls::spelling;
use crate::support::Bench;
use crate::world::{numbers, words};

/// A page of a day of `run`. Pages with one text are duplicates, whatever their keys.
#[derive(Clone, Debug, PartialEq)]
struct Crawled {
    day: u64,
    id: String,
    key: u64,
    text: usize,
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

/// The definition of `rule`: the first page with a text is kept, unless the store shows the text.
fn rule(shown: &mut Vec<Crawled>, batch: &[Crawled]) -> BTreeMap<String, &'static str> {
    let mut order: Vec<&Crawled> = batch.iter().collect();
    order.sort_by_key(|page| (page.time.is_none(), page.time, &page.id));
    let verdict = |page: &Crawled| {
        let is_there = shown.iter().any(|it| it.text == page.text);
        if !is_there {
            shown.push(page.clone());
        }
        (page.id.clone(), if is_there { "drop" } else { "keep" })
    };
    order.into_iter().map(verdict).collect()
}

type Definition = fn(&mut Vec<Crawled>, &[Crawled]) -> BTreeMap<String, &'static str>;

/// A page: its day and its id.
type Place = (u64, String);

/// The definition of what is read in again: a page that gave way to another one, whose last successor is neither shown nor a page that gave way in its
/// turn, or that was dropped for a page whose text one of its successors lacks. What has expired or was removed itself is not.
fn readmitted(
    bench: &Bench,
    days: &[u64],
    shown: &[Crawled],
    is_gone: impl Fn(&Place) -> bool,
    crawled: &[Crawled],
) -> String {
    let mut dropped: Vec<(Place, Place, bool)> = Vec::new();
    let mut successors: BTreeMap<Place, Place> = BTreeMap::new();
    let place = |day: &str, id: &str| (day[8..].parse().unwrap(), id.to_owned());
    for day in days {
        let table = |name| bench.rows(&format!("out/{}/dedup/{name}.tsv", date(*day)));
        for row in table("replaced") {
            successors.insert(place(&row[1], &row[0]), (*day, row[2].clone()));
        }
        for row in table("verdicts").iter().filter(|row| row[1] != "keep") {
            let of =
                if row[4] == "batch" { (*day, row[2].clone()) } else { place(&row[4], &row[2]) };
            dropped.push(((*day, row[0].clone()), of, row[1] == "drop"));
        }
    }
    dropped.extend(successors.iter().map(|(page, by)| (page.clone(), by.clone(), false)));
    let text =
        |(day, id): &Place| crawled.iter().find(|it| it.day == *day && it.id == *id).unwrap().text;
    let is_listed = |(page, of, is_dropped): &(Place, Place, bool)| {
        let all: Vec<&Place> = std::iter::successors(Some(of), |of| successors.get(*of)).collect();
        let is_last = |it: &Place| Some(&it) == all.last();
        let is_shown = shown.iter().any(|it| is_last(&(it.day, it.id.clone())));
        let is_there = is_shown || dropped.iter().any(|it| is_last(&it.0) && !is_gone(&it.0));
        let is_lost = *is_dropped && all.iter().any(|by| text(by) != text(page));
        (!is_there || is_lost) && !is_gone(page)
    };
    let ids: BTreeSet<String> =
        dropped.iter().filter(|it| is_listed(it)).map(|it| it.0.1.clone() + "\n").collect();
    ids.into_iter().collect()
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
    // All pages that were read, and the days before the last expiry.
    let mut crawled: Vec<Crawled> = Vec::new();
    let (mut first_shown, mut expired): (u64, Vec<u64>) = (1, Vec::new());
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
                bench.done("store remove store --ids gone.txt --until 2026-11-28");
                removed.insert(id);
            }
            4 if !added.is_empty() => {
                let last = added.iter().map(|(day, ..)| day).chain(&expired).max().unwrap();
                let first = last.saturating_sub(19).max(first_shown);
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
        // The outputs of days that were rolled back are there still.
        let days: Vec<u64> =
            added.iter().map(|(day, ..)| *day).chain(expired.iter().copied()).collect();
        let is_gone = |(day, id): &Place| *day < first_shown || removed.contains(id);
        let expected = readmitted(&bench, &days, &shown, is_gone, &crawled);
        let outputs = bench.names("out").join(" out/");
        bench.done(&format!(
            "store readmit store --overwrite --output readmit.txt --outputs out/{outputs}"
        ));
        assert_eq!(bench.read("readmit.txt"), expected, "after step {step} of history {seed}");
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
            days_by(6, true, ("rule", rule));
        });
        days_by(2, false, ("newest", newest));
        days_by(3, false, ("newest", newest));
        days_by(5, false, ("keep", keep));
        days_by(7, false, ("rule", rule));
        with_times.join().unwrap();
    });
}
