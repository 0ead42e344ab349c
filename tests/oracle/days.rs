//! The rule over many days, page by page, of pages whose shingles are numbers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::length_class;
use crate::support::Bench;
use crate::world::{numbers, page};

/// The shingles of a page, which are numbers here.
pub(crate) type Shingles = Range<usize>;

/// A page of the store: its day and its id.
type Place = (String, String);

/// The pages of each day by their ids.
pub(crate) type History = BTreeMap<&'static str, BTreeMap<String, Shingles>>;

pub(crate) const DAYS: [&str; 5] =
    ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05"];

/// Pages that grow from day to day, and lose some of their beginning. Some ids come again on other days, with other texts too.
pub(crate) fn history(seed: u64) -> History {
    let mut next = numbers(seed);
    let mut next = |below: usize| next(below as u64) as usize;
    let mut day = |number: usize| {
        let page = |_| {
            let (family, grown) = (next(7), number + next(2));
            let start = family * 10_000 + 12 * grown + next(12);
            (format!("page-{:02}", next(40)), start..start + 300 + 40 * grown + next(8))
        };
        (0..18).map(page).collect()
    };
    DAYS.into_iter().zip(0..).map(|(name, number)| (name, day(number))).collect()
}

/// A page with these shingles, as a line of JSON.
pub(crate) fn numbered(id: &str, shingles: &Shingles) -> String {
    let word = |number: usize| format!("w{:07}", number * 7919 % 9_999_991);
    let words: Vec<String> = (shingles.start..shingles.end + 2).map(word).collect();
    page(id, &words.join(" "))
}

/// A bench with the pages of a history and a configuration for them.
pub(crate) fn crawl(history: &History) -> Bench {
    let bench = Bench::new();
    for (day, pages) in history {
        let pages = pages.iter().map(|(id, shingles)| numbered(id, shingles));
        bench.write(&format!("crawl/{day}.jsonl"), pages.collect::<String>());
    }
    bench.configure("days.toml", "[dedup]\ndistance = 15\nkeep = \"first-id\"\n");
    bench
}

/// How many shingles of a page another one lacks.
fn lacking(page: &Shingles, other: &Shingles) -> usize {
    page.clone().filter(|shingle| !other.contains(shingle)).count()
}

/// Whether a page contains nine tenths of another one.
fn contains(other: &Shingles, page: &Shingles) -> bool {
    10 * lacking(page, other) <= page.len()
}

/// What the output of a join says: of each dropped page the id and the day of the page named; and the replaced pages, with those
/// that replace them.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) dropped: BTreeMap<String, (String, String)>,
    pub(crate) replaced: BTreeMap<Place, String>,
}

impl Found {
    pub(crate) fn of(bench: &Bench, day: &str) -> Found {
        let rows = |name: &str| bench.rows(&format!("out/{day}/dedup/{name}.tsv")).into_iter();
        let dropped = rows("verdicts").filter(|row| row[1] == "drop");
        let dropped = dropped.map(|row| (row[0].clone(), (row[2].clone(), row[4].clone())));
        let replaced =
            rows("replaced").map(|row| ((row[1].clone(), row[0].clone()), row[2].clone()));
        Found { dropped: dropped.collect(), replaced: replaced.collect() }
    }
}

/// The rule page by page. A join may name any page that covers another one, and all else is decided here.
#[derive(Clone, Default)]
pub(crate) struct Model {
    pages: BTreeMap<Place, Shingles>,
    fingerprints: BTreeMap<Place, u128>,
    /// What has become of pages that are not kept: the page for which each was dropped, or which replaced it.
    to: BTreeMap<Place, Place>,
    slack: BTreeMap<Place, usize>,
    pub(crate) replaced: usize,
    /// How often a page stayed because of its slack.
    pub(crate) blocked: usize,
}

impl Model {
    /// Takes a day, as its output says that it was judged.
    pub(crate) fn take(&mut self, bench: &Bench, day: &str, pages: &BTreeMap<String, Shingles>) {
        let found = Found::of(bench, day);
        let at = |id: &String| (day.to_owned(), id.clone());
        let shown = self.shown();
        self.pages.extend(pages.iter().map(|(id, page)| (at(id), page.clone())));
        for (id, bits) in bench.dump(&format!("out/{day}/batch.seg")) {
            self.fingerprints.insert((day.to_owned(), id), bits);
        }
        let mut told: BTreeMap<Place, usize> = BTreeMap::new();
        for (id, (of, against)) in &found.dropped {
            let of = if against == "batch" { at(of) } else { (against.clone(), of.clone()) };
            let (page, kept) = (&pages[id], &self.pages[&of]);
            assert!(shown.contains(&of) || !found.dropped.contains_key(&of.1), "{id} {of:?}");
            let left = (page.len() / 10).checked_sub(lacking(page, kept)).unwrap();
            if page != kept {
                told.entry(of.clone()).and_modify(|it| *it = left.min(*it)).or_insert(left);
            }
            self.to.insert(at(id), of);
        }
        self.check_kept(&shown, day, pages);
        let named: BTreeSet<Place> =
            found.dropped.keys().map(|id| self.to[&at(id)].clone()).collect();
        for place in shown.iter().filter(|place| !named.contains(*place)) {
            let page = self.pages[place].clone();
            let tenth = page.len() / 10;
            let slack = self.slack.get(place).map_or(tenth, |it| tenth.min(*it));
            let kept = pages.iter().filter(|(id, _)| !found.dropped.contains_key(*id));
            let contain = kept.filter(|(_, other)| contains(other, &page));
            let contain: Vec<_> = contain.map(|(id, other)| (id, lacking(&page, other))).collect();
            let able: Vec<_> = contain.iter().filter(|(_, lacking)| *lacking <= slack).collect();
            self.blocked += usize::from(able.is_empty() && !contain.is_empty());
            let by = found.replaced.get(place);
            let left = able.iter().find(|(id, _)| Some(*id) == by).map(|it| slack - it.1);
            assert_eq!(by.is_some(), !able.is_empty(), "{day} {place:?}: {by:?} of {contain:?}");
            if let Some(by) = by.map(at) {
                let left = left.unwrap();
                told.entry(by.clone()).and_modify(|it| *it = left.min(*it)).or_insert(left);
                self.to.insert(place.clone(), by);
                self.replaced += 1;
            }
        }
        let row = |(place, left): (&Place, &usize)| {
            let (on, id) = place;
            format!("{id}\t{}\t{left}\n", if on == day { "batch" } else { on })
        };
        let rows: BTreeSet<String> = told.iter().map(row).collect();
        let table = bench.read(&format!("out/{day}/dedup/slack.tsv"));
        assert_eq!(table, format!("id\tday\tslack\n{}", Vec::from_iter(rows).concat()), "{day}");
        for (place, left) in told {
            self.slack.entry(place).and_modify(|it| *it = left.min(*it)).or_insert(left);
        }
        self.check_chains();
    }

    /// The pages of the store that are kept, by their places.
    fn shown(&self) -> BTreeSet<Place> {
        self.pages.keys().filter(|place| !self.to.contains_key(*place)).cloned().collect()
    }

    /// A page that was kept has no near page before it, in the store or in the batch, that contains it; one that was dropped has a page that does.
    fn check_kept(&self, shown: &BTreeSet<Place>, day: &str, pages: &BTreeMap<String, Shingles>) {
        let mut order: Vec<&String> = pages.keys().collect();
        order.sort_by_key(|id| (Reverse(length_class(pages[*id].len())), *id));
        let mut kept = shown.clone();
        for id in order {
            let place = (day.to_owned(), id.clone());
            let holding = kept.iter().filter(|other| contains(&self.pages[*other], &pages[id]));
            let bits = |place: &Place| self.fingerprints[place];
            let near = |other: &&Place| (bits(other) ^ bits(&place)).count_ones() <= 15;
            if self.to.contains_key(&place) {
                assert!(holding.count() > 0, "{place:?} was dropped");
            } else {
                assert_eq!(holding.clone().find(near), None, "{place:?} was kept");
                kept.insert(place);
            }
        }
    }

    /// A page that is not kept lacks at most a tenth in the page that is kept in the end.
    fn check_chains(&self) {
        for place in self.to.keys() {
            let mut last = place;
            while let Some(to) = self.to.get(last) {
                last = to;
            }
            assert!(contains(&self.pages[last], &self.pages[place]), "{place:?} in {last:?}");
        }
    }

    /// Compares what the store shows, day by day and id by id.
    pub(crate) fn check_store(&self, bench: &Bench) {
        let list = bench.json("store list store --json");
        let mut told: BTreeMap<String, u64> = BTreeMap::new();
        for day in list["days"].as_array().unwrap() {
            told.insert(day["day"].as_str().unwrap().to_owned(), day["rows"].as_u64().unwrap());
        }
        told.retain(|_, rows| *rows > 0);
        let mut rows: BTreeMap<String, u64> = BTreeMap::new();
        let mut newest: BTreeMap<&String, Option<String>> =
            self.pages.keys().map(|(_, id)| (id, None)).collect();
        let shown = self.shown();
        for (day, id) in &shown {
            *rows.entry(day.clone()).or_default() += 1;
            newest.insert(id, Some(day.clone()));
        }
        assert_eq!(told, rows);
        assert!(list["replaced"].as_u64().unwrap() <= self.replaced as u64, "{list}");
        bench.write("ids.txt", newest.keys().map(|id| format!("{id}\n")).collect::<String>());
        let expected = newest.iter().map(|(id, day)| match day {
            Some(day) => format!("{id}\tyes\t{day}\n"),
            None => format!("{id}\tno\t\n"),
        });
        let seen = bench.answer("seen --store store --ids ids.txt");
        assert_eq!(seen, expected.collect::<String>());
        bench.done("store verify store");
    }
}
