//! No chains over days: a page that was dropped lacks at most a tenth in the page that is kept in the end, however often its kept page is replaced.

use std::collections::{BTreeMap, BTreeSet};

use crate::loss::{DAYS, Found};
use crate::support::Bench;

/// The shingles of a page, which are numbers here.
type Shingles = std::ops::Range<usize>;

/// A page of the store: its day and its id.
type Place = (String, String);

fn page(id: &str, shingles: &Shingles) -> String {
    let word = |number: usize| format!("w{:07}", number * 7919 % 9_999_991);
    let words: Vec<String> = (shingles.start..shingles.end + 2).map(word).collect();
    format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", words.join(" "))
}

/// How many shingles of a page another one lacks.
fn lacking(page: &Shingles, other: &Shingles) -> usize {
    page.clone().filter(|shingle| !other.contains(shingle)).count()
}

/// Pages that grow from day to day, and lose some of their beginning.
fn history(seed: u64) -> BTreeMap<&'static str, BTreeMap<String, Shingles>> {
    let mut state = seed;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut day = |number: usize| {
        let mut page = |at: usize| {
            let (family, grown) = (next(4), number + next(2));
            let start = family * 10_000 + 12 * grown + next(12);
            (format!("page-{number}-{at:02}"), start..start + 300 + 40 * grown + next(8))
        };
        (0..12).map(&mut page).collect()
    };
    DAYS.into_iter().zip(0..).map(|(name, number)| (name, day(number))).collect()
}

/// The rule page by page.
#[derive(Default)]
struct Model {
    pages: BTreeMap<Place, Shingles>,
    /// What has become of pages that are not kept: the page for which each was dropped, or which replaced it.
    to: BTreeMap<Place, Place>,
    slack: BTreeMap<Place, usize>,
    /// How often a page stayed because of its slack.
    blocked: usize,
}

impl Model {
    /// Takes what was found on a day: any page may be named that can stand for another one, and the rest is decided here.
    fn take(&mut self, bench: &Bench, day: &str, pages: &BTreeMap<String, Shingles>) {
        let found = Found::of(bench, day);
        let at = |id: &String| (day.to_owned(), id.clone());
        let shown: Vec<Place> =
            self.pages.keys().filter(|place| !self.to.contains_key(*place)).cloned().collect();
        self.pages.extend(pages.iter().map(|(id, page)| (at(id), page.clone())));
        let mut told: BTreeMap<Place, usize> = BTreeMap::new();
        for (id, (of, against)) in &found.dropped {
            let of = if against == "batch" { at(of) } else { (against.clone(), of.clone()) };
            let (page, kept) = (&pages[id], &self.pages[&of]);
            let left = (page.len() / 10).checked_sub(lacking(page, kept)).unwrap();
            if page != kept {
                told.entry(of.clone()).and_modify(|it| *it = left.min(*it)).or_insert(left);
            }
            self.to.insert(at(id), of);
        }
        let named: BTreeSet<Place> =
            found.dropped.keys().map(|id| self.to[&at(id)].clone()).collect();
        for place in shown.iter().filter(|place| !named.contains(*place)) {
            let page = self.pages[place].clone();
            let tenth = page.len() / 10;
            let slack = self.slack.get(place).map_or(tenth, |it| tenth.min(*it));
            let kept = pages.iter().filter(|(id, _)| !found.dropped.contains_key(*id));
            let contain = kept.filter(|(_, other)| lacking(&page, other) <= tenth);
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
        self.check();
    }

    /// The promise, by the texts.
    fn check(&self) {
        for place in self.to.keys() {
            let mut last = place;
            while let Some(to) = self.to.get(last) {
                last = to;
            }
            let (page, kept) = (&self.pages[place], &self.pages[last]);
            assert!(10 * lacking(page, kept) <= page.len(), "{place:?} in {last:?}");
        }
    }
}

#[test]
fn a_dropped_page_lacks_at_most_a_tenth_in_the_page_that_is_kept_in_the_end() {
    let (mut blocked, mut replaced) = (0, 0);
    for (seed, order) in [(1, [0, 1, 2, 3, 4]), (2, [0, 3, 1, 4, 2]), (3, [2, 4, 3, 1, 0])] {
        let history = history(seed);
        let bench = Bench::new();
        for (day, pages) in &history {
            let pages = pages.iter().map(|(id, shingles)| page(id, shingles));
            bench.write(&format!("crawl/{day}.jsonl"), pages.collect::<String>());
        }
        bench.write(
            "days.toml",
            "inputs = [\"crawl/{date}.jsonl\"]\noutput = \"out/{date}\"\nstore = \"store\"\n\
             [dedup]\ndistance = 15\nkeep = \"first-id\"\n",
        );
        let order = order.map(|place| DAYS[place]);
        let mut model = Model::default();
        for (day, flags) in order.into_iter().zip(["", "--workers 3", "--processes 2", "", ""]) {
            bench.done(&format!("run days.toml --date {day} {flags}"));
            model.take(&bench, day, &history[day]);
            // A merge keeps the slack of its pages.
            if day == order[2] {
                bench.done("store compact store");
            }
        }
        (blocked, replaced) = (blocked + model.blocked, replaced + model.to.len());
        order.iter().for_each(|day| drop(bench.done(&format!("verify out/{day}"))));
        // Going back takes the slack of the days back that leave, and they find the same again.
        let found = order.map(|day| Found::of(&bench, day));
        bench.done(&format!("store rollback store --before-day {}", order[3]));
        for (day, found) in order.iter().zip(&found).skip(3) {
            bench.done(&format!("run days.toml --date {day}"));
            assert_eq!(Found::of(&bench, day), *found);
        }
        // The first day once more, and all others after it in their order.
        let pages = bench.read(&format!("crawl/{}.jsonl", order[0])) + "no record\n";
        bench.write(&format!("crawl/{}.jsonl", order[0]), pages);
        bench.done(&format!("run days.toml --max-bad 50% --redo {}", order[0]));
        let mut again = Model::default();
        DAYS.iter().for_each(|day| again.take(&bench, day, &history[day]));
        bench.done("store verify store");
        DAYS.iter().for_each(|day| drop(bench.done(&format!("verify out/{day}"))));
    }
    assert!(blocked >= 5 && replaced >= 20, "{blocked} blocked, {replaced} replaced");
}
