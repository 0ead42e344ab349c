//! Confirmed matches and their verdicts against the sequential definition.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use super::*;
use crate::error::Kind;
use crate::fingerprint::{Check, Class, Fingerprint};
use crate::matches::ids::Workshop;
use crate::matches::keep_order::LengthClass;
use crate::matches::nearness::Nearness;
use crate::matches::standing::{Standing, Standings};
use crate::matches::{Confirm, Detail, Finalize, KeepOrder, SharedBands, distinct_fingerprints};
use crate::output::{Lock, Staging};
use crate::runs::Sorter;
use crate::store::{
    Codec, Day, Details, NewDay, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter, Store,
};

const K: u32 = 3;

/// A page: its fingerprint, class and signature, few of each, so that they meet. By the check `held-6x8` the first two bytes of
/// the signature are the number of runs.
#[derive(Clone, Debug)]
struct Page {
    fingerprint: u64,
    class: Class,
    signature: [u8; 8],
}

fn page() -> impl Strategy<Value = Page> {
    let fingerprint =
        (0..3_u64, 0..5_u32).prop_map(|(page, flips)| ((page * 0x0f0f) << 8) | ((1 << flips) - 1));
    let class = prop::sample::select(vec![Class::Full, Class::Short]);
    let signature = (0..3_u8, 0..8_usize).prop_map(|(text, edited)| {
        let mut signature = [text; 8];
        signature[..edited].fill(9);
        signature
    });
    (fingerprint, class, signature).prop_map(|(fingerprint, class, signature)| Page {
        fingerprint,
        class,
        signature,
    })
}

/// What decides beside the fingerprint.
#[derive(Clone, Debug)]
struct Rule {
    classes: bool,
    confirm: Option<Confirm>,
    /// The fingerprints of the batch of which two pages met in a band.
    met: BTreeSet<[u64; 2]>,
}

impl Rule {
    fn new(classes: bool, confirm: Option<Confirm>, batch: &[Page]) -> Rule {
        let directed = confirm.filter(Confirm::has_direction);
        let met = directed.map_or_else(BTreeSet::new, |confirm| met_in_bands(confirm, batch));
        Rule { classes, confirm, met }
    }

    /// Distance of two pages of the batch, and how well each stands for the other one, if one can.
    fn near_in_batch(&self, one: &Page, other: &Page) -> Option<(u32, Standings)> {
        let met = self.met.contains(&[one.fingerprint, other.fingerprint]);
        self.compare(one, other, if met { u64::BITS } else { K })
    }

    /// The same of a page and a page of the store.
    fn near(&self, one: &Page, other: &Page) -> Option<(u32, Standings)> {
        self.compare(one, other, K)
    }

    fn compare(&self, one: &Page, other: &Page, most: u32) -> Option<(u32, Standings)> {
        let distance = one.fingerprint.distance(other.fingerprint);
        let two_classes = self.classes && one.class != other.class && !self.has_direction();
        if distance > most || two_classes {
            return None;
        }
        let standings = match self.confirm {
            None => Standings::mutual(Standing::near(distance as u8)),
            // A copy matches, whatever its text.
            Some(_) if distance == 0 && one.signature == other.signature => {
                Standings::mutual(Standing::SAME)
            }
            Some(confirm) => {
                Standings::by(&confirm, &one.signature, &other.signature, distance as u8)
            }
        };
        standings.any().then_some((distance, standings))
    }

    /// Whether it is told which of two pages holds the other one.
    fn has_direction(&self) -> bool {
        self.confirm.is_some_and(|confirm| confirm.has_direction())
    }

    /// The class of the length of a page, where lengths count.
    fn length(&self, page: &Page) -> LengthClass {
        let runs = self.confirm.and_then(|confirm| confirm.check.runs(&page.signature));
        LengthClass::of(runs.unwrap_or(0))
    }
}

/// The fingerprints, both ways round, of which two pages match and meet in the first band that they share: by length, at most 32 apart.
fn met_in_bands(confirm: Confirm, batch: &[Page]) -> BTreeSet<[u64; 2]> {
    let check = confirm.check;
    let mut rows: Vec<(u64, String, [u8; 8])> = (0..)
        .zip(batch)
        .map(|(number, page)| (page.fingerprint, id(number), page.signature))
        .collect();
    rows.sort();
    rows.dedup_by_key(|row| (row.0, row.2));
    let mut met = BTreeSet::new();
    for band in 0..3 {
        let slots = |row: &(u64, String, [u8; 8])| [row.2[2 + 2 * band], row.2[3 + 2 * band]];
        let runs = |row: &(u64, String, [u8; 8])| check.runs(&row.2).unwrap();
        let mut pages: Vec<_> = rows.iter().filter(|row| runs(row) > 0).collect();
        pages.sort_by_key(|row| (slots(row), runs(row)));
        for (at, one) in pages.iter().enumerate() {
            for other in &pages[at.saturating_sub(32)..at] {
                let shared = (2..8).step_by(2).find(|&at| one.2[at..at + 2] == other.2[at..at + 2]);
                if shared == Some(2 + 2 * band) && confirm.confirms(&one.2, &other.2) {
                    met.extend([[one.0, other.0], [other.0, one.0]]);
                }
            }
        }
    }
    met
}

fn id(number: usize) -> String {
    format!("page-{:03}", number * 7 % 101)
}

/// A segment that keeps what the rule decides by.
fn segment(path: PathBuf, pages: &[Page], classes: bool, check_bytes: usize) -> Result<Segment> {
    let mut rows: Vec<(u64, String, &Page)> =
        (0..).zip(pages).map(|(number, page)| (page.fingerprint, id(number), page)).collect();
    rows.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let options = SegmentOptions { classes, check_bytes, ..SegmentOptions::default() };
    let mut writer = SegmentWriter::create(path, options)?;
    for (fingerprint, id, Page { class, signature, .. }) in &rows {
        let details = &Details { class: *class, check: signature.to_vec(), ..Details::default() };
        writer.push(&Row { details, ..Row::new(*fingerprint, id) })?;
    }
    writer.finish(RecordCounts::default(), "")
}

/// All pairs of fingerprints within k, and those that share a band.
fn pairs(
    batch: &Segment,
    store: &[Dated],
    confirm: Option<Confirm>,
    folder: &Path,
) -> Result<SortedRecords<Pair>> {
    let mut sorter = Sorter::new(folder, 1 << 20);
    if let Some(confirm) = confirm.filter(Confirm::has_direction) {
        let bands = SharedBands {
            batch,
            confirm,
            distance: K,
            space: Space { folder, memory_bytes: 1 << 12 },
            workers: 3,
        };
        bands.pairs::<u64>()?.try_for_each(|pair| sorter.push(pair?))?;
    }
    let new: Vec<u64> = distinct_fingerprints(batch)?;
    let near =
        |new: u64, held: u64| Some(new.distance(held) as u8).filter(|&it| u32::from(it) <= K);
    for (group, &fingerprint) in (0_u32..).zip(&new) {
        for (earlier, &other) in (0..group).zip(&new) {
            let existing = Place::Batch { group: FingerprintIndex::from(earlier) };
            sorter.extend(near(fingerprint, other).map(|distance| Pair {
                new: group.into(),
                existing,
                distance,
            }))?;
        }
        for (number, dated) in (0..).zip(store) {
            let held: Vec<u64> = (0..dated.segment().rows())
                .map(|row| dated.segment().fingerprints().get(row).map(|it| it as u64))
                .collect::<Result<_>>()?;
            let mut row = 0;
            for run in held.chunk_by(|a, b| a == b) {
                let existing = Place::Store { segment: number, row, rows: run.len() as u64 };
                let near = near(fingerprint, run[0]);
                sorter.extend(near.map(|distance| Pair {
                    new: group.into(),
                    existing,
                    distance,
                }))?;
                row += run.len() as u64;
            }
        }
    }
    sorter.sorted()
}

/// matches.tsv, verdicts.tsv and replaced.tsv as they are defined, page by page.
fn naive(batch: &[Page], days: &[(Day, Vec<Page>)], rule: &Rule) -> [String; 3] {
    let held: Vec<(String, Day, &Page)> = days
        .iter()
        .flat_map(|(day, pages)| {
            pages.iter().enumerate().map(move |(number, page)| (id(number), *day, page))
        })
        .collect();
    let mut pages: Vec<(String, &Page)> =
        batch.iter().enumerate().map(|(number, page)| (id(number), page)).collect();
    pages.sort_by(|a, b| a.0.cmp(&b.0));
    let stands = |of: &Page, by: &Page| rule.near(of, by).and_then(|near| near.1.of_first);
    let goes = |of: &Page, by: &Page| rule.near_in_batch(of, by).and_then(|near| near.1.of_first);
    // The longest first; of one length the smallest id first.
    let mut turns: Vec<&(String, &Page)> = pages.iter().collect();
    turns.sort_by_key(|page| Reverse(rule.length(page.1)));
    let mut kept: BTreeMap<&str, &Page> = BTreeMap::new();
    for (id, page) in turns {
        let in_store = held.iter().any(|held| stands(page, held.2).is_some());
        if !in_store && kept.values().all(|kept| goes(page, kept).is_none()) {
            kept.insert(id, page);
        }
    }
    let mut rows = Vec::new();
    let mut dropped = BTreeMap::new();
    for (new, page) in &pages {
        let mut best = Vec::new();
        for (id, day, stored) in &held {
            if let Some((distance, standings)) = rule.near(page, stored) {
                rows.push((new.clone(), distance, id.clone(), day.to_string(), standings.share()));
                best.extend(standings.of_first.map(|it| (it, false, id.clone(), day.to_string())));
            }
        }
        for (other, other_page) in pages.iter().filter(|other| other.0 != *new) {
            if let Some((distance, standings)) = rule.near_in_batch(page, other_page) {
                if other < new {
                    let share = standings.share();
                    rows.push((new.clone(), distance, other.clone(), "batch".into(), share));
                }
                let standing = standings.of_first.filter(|_| kept.contains_key(other.as_str()));
                best.extend(standing.map(|it| (it, true, other.clone(), "batch".to_owned())));
            }
        }
        if !kept.contains_key(new.as_str()) {
            dropped.insert(new.as_str(), best.into_iter().min().unwrap());
        }
    }
    let shares = if rule.has_direction() { "\theld\tcopies\thosts" } else { "" };
    let mut verdicts = format!("id\tverdict\tof\tdistance\tagainst{shares}\n");
    for (id, _) in &pages {
        verdicts += &match dropped.get(id.as_str()) {
            Some((standing, _, of, against)) => {
                let share = rule.has_direction().then(|| format!("\t{}\t\t", standing.share()));
                let share = share.unwrap_or_default();
                format!("{id}\tdrop\t{of}\t{}\t{against}{share}\n", standing.distance)
            }
            None => {
                let copies = dropped.values().filter(|it| it.1 && it.2 == *id).count();
                let copies = rule.has_direction().then(|| format!("\t\t{copies}\t"));
                format!("{id}\tkeep\t\t\t{}\n", copies.unwrap_or_default())
            }
        };
    }
    rows.sort();
    let column = |check: Option<String>| check.map_or(String::new(), |it| format!("\t{it}"));
    let lines = rows.into_iter().map(|(new, distance, existing, against, share)| {
        let check = column(rule.confirm.map(|_| share.to_string()));
        let verdict = if kept.contains_key(new.as_str()) { "keep" } else { "drop" };
        format!("{new}\t{existing}\t{distance}\t{against}{check}\t{verdict}\n")
    });
    let (matches, check): (String, _) = (lines.collect(), rule.confirm.map(|_| "check".to_owned()));
    let matches = format!("new\texisting\tdistance\tagainst{}\tverdict\n{matches}", column(check));
    let mut replaced: Vec<String> = Vec::new();
    for (id, day, page) in held.iter().filter(|_| rule.has_direction()) {
        let by = kept.iter().filter_map(|(by, kept)| Some((stands(page, kept)?, by))).min();
        let is_named = dropped.values().any(|it| !it.1 && it.2 == *id && it.3 == day.to_string());
        let by = by.filter(|_| !is_named);
        replaced.extend(by.map(|(it, by)| format!("{id}\t{day}\t{by}\t{}\n", it.share())));
    }
    replaced.sort();
    [matches, verdicts, format!("id\tday\tby\theld\n{}", replaced.concat())]
}

/// What the join writes of the same.
fn written(
    batch: &Segment,
    store: &[Dated],
    confirm: Option<Confirm>,
    detail: Detail,
    signatures_bytes: usize,
) -> Result<([String; 3], Option<u128>)> {
    let folder = tempfile::tempdir().unwrap();
    let finalize = Finalize {
        segment: batch,
        confirm,
        store,
        distance: K,
        keep: KeepOrder::FirstId,
        detail,
        max_matches: u64::MAX,
        memory_bytes: 1 << 20,
        ids_bytes: 1 << 20,
        signatures_bytes,
        texts: None,
        format: Default::default(),
        workers: 2,
    };
    let out = folder.path().join("out");
    let staging = Staging::beside(&out, Lock::beside(&out)?)?;
    let outcome = finalize.write::<u64>(pairs(batch, store, confirm, folder.path())?, &staging)?;
    let none = "id\tday\tby\theld\n";
    let read = |name: &str| {
        let text = fs::read_to_string(staging.folder().join(name));
        text.unwrap_or_else(
            |_| if name == "replaced.tsv" { none.to_owned() } else { panic!("{name}") },
        )
    };
    assert_eq!(outcome.replaced.is_some(), confirm.is_some_and(|it| it.has_direction()));
    let confirmed: u128 = outcome.distances.values().sum();
    assert!(outcome.candidates.is_none_or(|candidates| confirmed <= candidates));
    assert_eq!(outcome.candidates.is_some(), confirm.is_some() && detail == Detail::All);
    Ok((["matches.tsv", "verdicts.tsv", "replaced.tsv"].map(read), outcome.candidates))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn confirmed_matches_and_verdicts_are_those_of_the_definition(
        // So many that the sieve leaves some out.
        batch in prop::collection::vec(page(), 1..90),
        first in prop::collection::vec(page(), 0..8),
        second in prop::collection::vec(page(), 1..8),
        classes in any::<bool>(),
        // Of one page, of a few, of all.
        signatures_bytes in prop::sample::select(vec![0_usize, 20, 100, 1 << 20]),
        least in prop::sample::select(vec![None, Some(0.0), Some(0.4), Some(0.7), Some(1.0)]),
        // By those of words, pages whose signatures are zeros are not alike.
        check in prop::sample::select(vec!["minhash-8x8", "word-minhash-8x8", "word-overlap-7x8", "page-overlap-7x8", "held-48x1"]),
    ) {
        let check: Check = check.parse().unwrap();
        let confirm = least.map(|least| Confirm::new(check, least));
        let folder = tempfile::tempdir().unwrap();
        let days = [("2026-11-20", first), ("2026-11-21", second)];
        let days = days.map(|(day, pages)| (day.parse::<Day>().unwrap(), pages));
        let (store, _) = Store::init(folder.path().join("store")).unwrap();
        for (day, pages) in &days {
            let path = folder.path().join(day.to_string());
            segment(path.clone(), pages, classes, check.bytes()).unwrap();
            store.add(&NewDay::whole(&path, *day), None).unwrap();
        }
        let segment = segment(folder.path().join("batch"), &batch, classes, check.bytes()).unwrap();
        let expected = naive(&batch, &days, &Rule::new(classes, confirm, &batch));
        let version = store.at(None).unwrap();
        let plain = version.dated().unwrap();
        let (found, candidates) = written(&segment, &plain, confirm, Detail::All, signatures_bytes).unwrap();
        prop_assert_eq!(&found, &expected);

        // The rows that verdicts name are among all rows, and compaction changes nothing.
        let (best, _) = written(&segment, &plain, confirm, Detail::Best, signatures_bytes).unwrap();
        prop_assert_eq!(&best[1..], &expected[1..]);
        let is_among_all = |row: &str| {
            let mut parts = row.splitn(3, '\t');
            let [new, existing, rest] = [0; 3].map(|_| parts.next().unwrap());
            let turned = format!("{existing}\t{new}\t{rest}");
            expected[0].lines().any(|line| line == row || line == turned)
        };
        prop_assert!(best[0].lines().skip(1).all(is_among_all));
        store.compact(Codec::Dense, &AtomicU64::new(0)).unwrap();
        let version = store.at(None).unwrap();
        let compacted = version.dated().unwrap();
        prop_assert_eq!(compacted.len(), 1);
        let again = written(&segment, &compacted, confirm, Detail::All, 1 << 20).unwrap();
        prop_assert_eq!(again, (expected, candidates));
    }
}

/// How long this thread computes the verdicts of so many pages of one fingerprint, whose signatures differ and match.
fn time_of_a_template(pages: u32) -> u128 {
    let folder = tempfile::tempdir().unwrap();
    let options = SegmentOptions { check_bytes: 8, ..SegmentOptions::default() };
    let mut writer = SegmentWriter::create(folder.path().join("batch"), options).unwrap();
    for number in 0..pages {
        let mut details = Details { check: vec![7; 8], ..Details::default() };
        details.check[4..].copy_from_slice(&number.to_be_bytes());
        let id = format!("{number:08}");
        writer.push(&Row { details: &details, ..Row::new(1_u64, &id) }).unwrap();
    }
    let batch = writer.finish(RecordCounts::default(), "").unwrap();
    let confirm = Confirm::new("minhash-8x8".parse().unwrap(), 0.4);
    let begun = clock_gettime(ClockId::ThreadCPUTime);
    let ([_, verdicts, _], _) = written(&batch, &[], Some(confirm), Detail::Best, 1 << 20).unwrap();
    let took = clock_gettime(ClockId::ThreadCPUTime) - begun;
    assert_eq!(verdicts.matches("\tdrop\t00000000\t0\t").count() as u32, pages - 1);
    (took.tv_sec as u128) * 1_000_000_000 + took.tv_nsec as u128
}

/// Eight times as many pages take some eight times as long. If each met each other, they would take 64 times as long.
#[test]
fn a_template_takes_time_in_proportion_to_its_pages() {
    let least = |pages| (0..3).map(|_| time_of_a_template(pages)).min().unwrap();
    let [few, many] = [500, 4000].map(least);
    assert!(many < 24 * few, "{many} ns beside {few} ns");
}

#[test]
fn a_segment_without_signatures_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let confirm: Confirm = "minhash-8x8".parse().unwrap();
    let page = Page { fingerprint: 1, class: Class::Full, signature: [0; 8] };
    let batch = segment(folder.path().join("batch"), &[page], false, 8).unwrap();
    let workshop = Workshop { folder: folder.path(), memory_bytes: 1 << 20, workers: 1 };
    let load = |confirm| Batch::load::<u64>(&batch, Some(confirm), workshop, 1 << 20);
    assert!(load(confirm).is_ok());
    let wide = Confirm::new("minhash-16x8".parse().unwrap(), confirm.least);
    let error = load(wide).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), Kind::BadData);
    assert!(error.to_string().contains("16 bytes"), "{error}");
}
