//! Confirmed matches and their verdicts against the sequential definition.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use super::*;
use crate::error::Kind;
use crate::fingerprint::check::Hashes;
use crate::fingerprint::{Check, Class, Fingerprint};
use crate::matches::by_key::ByKey;
use crate::matches::confirmed::ConfirmedPairs;
use crate::matches::coverage::{Coverage, Coverages};
use crate::matches::keep_order::LengthClass;
use crate::matches::{
    Confirm, Detail, Finalize, InKeepOrder, KeepOrder, KeyProbe, Sieve, distinct_fingerprints,
};
use crate::output::{Lock, Staging};
use crate::parallel::in_parallel;
use crate::runs::{SortedRecords, Sorter};
use crate::store::{Codec, Day, Details, NewDay, Segment, SegmentOptions, Slack, Store};
use crate::tests::{self, shared_anchors, signed, signed_options};

const K: u32 = 3;

/// A page: its fingerprint, its class and its text, few of each, so that they meet.
#[derive(Clone, Debug)]
struct Page {
    fingerprint: u64,
    class: Class,
    text: String,
}

fn page() -> impl Strategy<Value = Page> {
    let fingerprint =
        (0..3_u64, 0..5_u32).prop_map(|(page, flips)| ((page * 0x0f0f) << 8) | ((1 << flips) - 1));
    let class = prop::sample::select(vec![Class::Full, Class::Short]);
    let text = (0..3_u8, 0..8_usize, 0..6_usize).prop_map(|(text, from, more)| {
        (from..12 + more).map(|word| format!("w{text}x{word} ")).collect()
    });
    let page = |(fingerprint, class, text)| Page { fingerprint, class, text };
    (fingerprint, class, text).prop_map(page)
}

#[derive(Clone, Debug)]
struct Rule {
    classes: bool,
    confirm: Option<Confirm>,
}

impl Rule {
    /// The same of two pages of the batch, of which one may also be a candidate as a short part of the other one.
    fn near_in_batch(&self, one: &Page, other: &Page) -> Option<(u32, Coverages)> {
        let is_part = self.is_short_part(one, other) || self.is_short_part(other, one);
        if is_part { self.coverages(one, other) } else { self.near(one, other) }
    }

    /// The distance of two pages, and how well each covers the other one, if one can. Candidates are near by their fingerprints, or
    /// share an anchor.
    fn near(&self, one: &Page, other: &Page) -> Option<(u32, Coverages)> {
        let distance = one.fingerprint.distance(other.fingerprint);
        let two_classes = self.classes && one.class != other.class && !self.has_direction();
        if two_classes || distance > K && !self.share_an_anchor(one, other) {
            return None;
        }
        self.coverages(one, other)
    }

    fn coverages(&self, one: &Page, other: &Page) -> Option<(u32, Coverages)> {
        let distance = one.fingerprint.distance(other.fingerprint);
        let coverages = match self.confirm {
            None => Coverages::mutual(Coverage::near(distance as u8)),
            Some(confirm) => {
                let [one, other] = [one, other].map(|page| signed(confirm.check, &page.text).check);
                // A copy matches, whatever its text.
                match distance == 0 && one == other {
                    true => Coverages::mutual(Coverage::SAME),
                    false => Coverages::by(&confirm, &one, &other, distance as u8),
                }
            }
        };
        coverages.any().then_some((distance, coverages))
    }

    fn share_an_anchor(&self, one: &Page, other: &Page) -> bool {
        let Some(confirm) = self.confirm.filter(Confirm::has_direction) else { return false };
        let [one, other] = [one, other].map(|page| signed(confirm.check, &page.text).anchors);
        shared_anchors(&one, &other) > 0
    }

    /// Whether of each eighth of the shingles of a short page the least one is in a page of at least twice its length, in three of four.
    fn is_short_part(&self, short: &Page, long: &Page) -> bool {
        let Some(confirm) = self.confirm.filter(Confirm::has_direction) else { return false };
        let [short, long] = [short, long].map(|page| {
            Hashes::of(&signed(confirm.check, &page.text).check).collect::<BTreeSet<u32>>()
        });
        let least = (0..8).filter_map(|place| short.iter().find(|&hash| hash % 8 == place));
        let least: Vec<&u32> = least.collect();
        let of_both = least.iter().filter(|&hash| long.contains(hash)).count();
        (1..=128).contains(&short.len())
            && 2 * short.len() <= long.len()
            && 4 * of_both >= 3 * least.len()
    }

    fn has_direction(&self) -> bool {
        self.confirm.is_some_and(|confirm| confirm.has_direction())
    }

    fn length(&self, page: &Page) -> LengthClass {
        let shingles = self
            .confirm
            .and_then(|confirm| confirm.check.shingles(&signed(confirm.check, &page.text).check));
        LengthClass::of(shingles.unwrap_or(0))
    }
}

fn id(number: usize) -> String {
    format!("page-{:05}", number * 7 % 10_007)
}

/// A segment that keeps what the rule decides by.
fn segment(path: PathBuf, pages: &[Page], classes: bool, check: Check) -> Result<Segment> {
    let mut rows: Vec<(u64, String, &Page)> =
        (0..).zip(pages).map(|(number, page)| (page.fingerprint, id(number), page)).collect();
    rows.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let options = SegmentOptions { classes, ..signed_options(check) };
    let pages = rows.into_iter().map(|(fingerprint, id, Page { class, text, .. })| {
        (fingerprint, id, Details { class: *class, ..signed(check, text) })
    });
    tests::segment(&path, options, pages)
}

/// All pairs of fingerprints within k, and those that share an anchor.
fn pairs(
    batch: &Segment,
    store: &[Dated],
    order: Option<&InKeepOrder>,
    folder: &Path,
) -> Result<SortedRecords<Pair>> {
    let mut sorter = Sorter::new(folder, 1 << 20);
    let new: Vec<u64> = distinct_fingerprints(batch)?;
    let places = order.map(InKeepOrder::of_fingerprints);
    if order.is_some() {
        // Of few pages, memory for the anchors of eight, so that there are several passes.
        let memory_bytes = if batch.rows() < 100 { 8 * 8 * 24 } else { 1 << 24 };
        let keys = KeyProbe::new(batch, store, new.clone().into(), order, memory_bytes, 2)?;
        assert_eq!(keys.chunks_by_index().sum::<u32>(), keys.chunks());
        for chunk in 0..keys.chunks() {
            let mut found = Vec::new();
            keys.probe(chunk, &mut |pair| found.push(pair))?;
            sorter.extend(found)?;
        }
    }
    let near =
        |new: u64, held: u64| Some(new.distance(held) as u8).filter(|&it| u32::from(it) <= K);
    for (group, &fingerprint) in (0_u32..).zip(&new) {
        for (earlier, &other) in (0..group).zip(&new) {
            let turned = Sieve::turned::<FingerprintIndex>;
            let (new, group) = turned(places.as_deref(), group.into(), earlier.into());
            let existing = Place::Batch { group };
            let pair = |distance| Pair { new, existing, distance };
            sorter.extend(near(fingerprint, other).map(pair))?;
        }
        for (number, dated) in (0..).zip(store) {
            let held: Vec<u64> = (0..dated.segment().rows())
                .map(|row| dated.segment().fingerprints().get(row).map(|it| it as u64))
                .collect::<Result<_>>()?;
            let mut row = 0;
            for run in held.chunk_by(|a, b| a == b) {
                let existing = Place::Store { segment: number, row, rows: run.len() as u64 };
                let pair = |distance| Pair { new: group.into(), existing, distance };
                sorter.extend(near(fingerprint, run[0]).map(pair))?;
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
    // The longest first; of one length the smallest id first.
    let mut turns: Vec<&(String, &Page)> = pages.iter().collect();
    turns.sort_by_key(|page| Reverse(rule.length(page.1)));
    let mut kept: BTreeMap<&str, &Page> = BTreeMap::new();
    for (id, page) in turns {
        let in_store = held.iter().any(|held| stands(page, held.2).is_some());
        if !in_store
            && kept.values().all(|kept| {
                rule.near_in_batch(page, kept).and_then(|near| near.1.of_first).is_none()
            })
        {
            kept.insert(id, page);
        }
    }
    let mut rows = Vec::new();
    let mut dropped = BTreeMap::new();
    for (new, page) in &pages {
        let mut best = Vec::new();
        for (id, day, stored) in &held {
            if let Some((distance, coverages)) = rule.near(page, stored) {
                rows.push((new.clone(), distance, id.clone(), day.to_string(), coverages.share()));
                best.extend(coverages.of_first.map(|it| (it, false, id.clone(), day.to_string())));
            }
        }
        for (other, other_page) in pages.iter().filter(|other| other.0 != *new) {
            if let Some((distance, coverages)) = rule.near_in_batch(page, other_page) {
                if other < new {
                    let share = coverages.share();
                    rows.push((new.clone(), distance, other.clone(), "batch".into(), share));
                }
                let coverage = coverages.of_first.filter(|_| kept.contains_key(other.as_str()));
                best.extend(coverage.map(|it| (it, true, other.clone(), "batch".to_owned())));
            }
        }
        if !kept.contains_key(new.as_str()) {
            dropped.insert(new.as_str(), best.into_iter().min().unwrap());
        }
    }
    let shares = if rule.has_direction() { "\tcontainment\tcopies\thosts" } else { "" };
    let mut verdicts = format!("id\tverdict\tof\tdistance\tagainst{shares}\n");
    for (id, _) in &pages {
        verdicts += &match dropped.get(id.as_str()) {
            Some((coverage, _, of, against)) => {
                let share = rule.has_direction().then(|| format!("\t{}\t\t", coverage.share()));
                let share = share.unwrap_or_default();
                format!("{id}\tdrop\t{of}\t{}\t{against}{share}\n", coverage.distance)
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
    [matches, verdicts, format!("id\tday\tby\tcontainment\n{}", replaced.concat())]
}

/// Where the batch is cut into shares, as if each were that of a process.
type Cuts = fn(u32) -> Vec<u32>;

/// What is confirmed share by share, by so many threads.
fn confirmed(how: &Confirming, cuts: Cuts, threads: usize) -> Result<ConfirmedPairs> {
    let Confirming { terms: Terms { segment, store, confirm, detail, .. }, groups, folder, .. } =
        how;
    let order = ordered(segment, groups, *confirm, folder)?;
    let found = pairs(segment, store, order.as_ref(), folder)?.collect::<Result<Vec<Pair>>>()?;
    let done = Mutex::new((Sorter::new(folder, 1 << 20), Vec::new()));
    let mut start = 0;
    for end in cuts(groups.fingerprints()).into_iter().chain([groups.fingerprints()]) {
        let own = found.clone().into_iter().filter(move |it| (start..end).contains(&it.new.into()));
        let windows = PairWindows::new(how.clone(), start..end, Box::new(own.map(Ok)));
        let work = |_: &()| -> Result<()> {
            loop {
                match windows.claim()? {
                    Claim::Unit(piece) => {
                        let (confirmed, certificate) = windows.run(piece)?;
                        let mut done = lock(&done);
                        done.0.extend(confirmed)?;
                        done.1.push(certificate);
                    }
                    Claim::Later => std::thread::yield_now(),
                    Claim::Done => return Ok(()),
                }
            }
        };
        in_parallel(threads, &vec![(); threads], work).into_iter().collect::<Result<()>>()?;
        start = end;
    }
    let (confirmed, certificates) = done.into_inner().unwrap();
    let taken: u64 = certificates.iter().map(|it| it.taken).sum();
    assert_eq!(taken, found.len() as u64);
    ConfirmedPairs::certified(confirmed, &certificates, *confirm, *detail)
}

fn ordered(
    batch: &Segment,
    groups: &Arc<Groups>,
    confirm: Option<Confirm>,
    folder: &Path,
) -> Result<Option<InKeepOrder>> {
    let space = SortSpace { folder, memory_bytes: 1 << 20 };
    let load = |confirm| {
        let groups = (Arc::clone(groups), &ByKey::default());
        InKeepOrder::load(batch, groups, KeepOrder::FirstId, Some(confirm), (1 << 20, 2), space)
    };
    confirm.filter(|it| it.check.is_whole()).map(load).transpose()
}

fn confirming(
    batch: &Segment,
    store: &[Dated],
    confirm: Option<Confirm>,
    folder: &Path,
    signatures_bytes: usize,
    threads: usize,
) -> Result<Confirming> {
    let space = SortSpace { folder, memory_bytes: 1 << 20 };
    let groups = Arc::new(Groups::load::<u64>(batch, confirm, space, threads)?);
    let order = ordered(batch, &groups, confirm, folder)?;
    let terms = Terms {
        segment: batch.clone(),
        store: store.to_vec(),
        confirm,
        distance: K,
        detail: Detail::All,
        max_matches: u64::MAX,
        memory_bytes: 1 << 20,
        signatures_bytes,
        workers: threads,
    };
    let order = order.map(|order| order.of_groups());
    Ok(Confirming { terms, groups, order, folder: folder.to_owned() })
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
    let out = folder.path().join("out");
    let staging = Staging::beside(&out, Lock::beside(&out)?)?;
    let how = confirming(batch, store, confirm, folder.path(), signatures_bytes, 1)?;
    let how = Confirming { terms: Terms { detail, ..how.terms }, ..how };
    let finalize = Finalize {
        terms: &Terms { workers: 2, ..how.terms.clone() },
        slack: &Slack::default(),
        keep: KeepOrder::FirstId,
        ids_bytes: 1 << 20,
        format: Default::default(),
    };
    let pairs = match confirm.is_some() || batch.classes().is_some() {
        true => confirmed(&how, |fingerprints| vec![fingerprints / 3], 1)?,
        false => ConfirmedPairs::unchecked(pairs(batch, store, None, folder.path())?),
    };
    let order = ordered(batch, &how.groups, confirm, folder.path())?;
    let outcome = finalize.write::<u64>(how.groups, (order, ByKey::default()), pairs, &staging)?;
    let none = "id\tday\tby\tcontainment\n";
    let read = |name: &str| {
        let text = fs::read_to_string(staging.folder().join(name));
        text.unwrap_or_else(
            |_| if name == "replaced.tsv" { none.to_owned() } else { panic!("{name}") },
        )
    };
    assert_eq!(outcome.replaced.is_some(), confirm.is_some_and(|it| it.has_direction()));
    let confirmed: u128 = outcome.distances.values().sum();
    assert!(outcome.candidates.is_none_or(|candidates| confirmed <= candidates));
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
        check in prop::sample::select(vec!["minhash-8x8", "containment"]),
    ) {
        let check: Check = check.parse().unwrap();
        // No page meets more of the batch by its anchors than it is compared with.
        let batch = &batch[..if check.has_direction() { batch.len().min(32) } else { batch.len() }];
        let confirm = least.map(|least| Confirm::new(check, least));
        let folder = tempfile::tempdir().unwrap();
        let days = [("2026-11-20", first), ("2026-11-21", second)];
        let days = days.map(|(day, pages)| (day.parse::<Day>().unwrap(), pages));
        let (store, _) = Store::init(folder.path().join("store")).unwrap();
        for (day, pages) in &days {
            let path = folder.path().join(day.to_string());
            segment(path.clone(), pages, classes, check).unwrap();
            store.add(&NewDay::whole(&path, *day), None).unwrap();
        }
        let segment = segment(folder.path().join("batch"), batch, classes, check).unwrap();
        let expected = naive(batch, &days, &Rule { classes, confirm });
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
        store.compact(Codec::Huffman, &AtomicU64::new(0)).unwrap();
        let version = store.at(None).unwrap();
        let compacted = version.dated().unwrap();
        prop_assert_eq!(compacted.len(), 1);
        let again = written(&segment, &compacted, confirm, Detail::All, 1 << 20).unwrap();
        prop_assert_eq!(&again.0, &expected);
        prop_assert_eq!(again.1.is_some(), candidates.is_some());
    }
}

/// A page whose nearest candidates by anchors are all within the distance, too, and one that contains it among those that share fewer:
/// the verdict does not depend on which rows are written, nor on the segment that comes first.
#[test]
fn candidates_by_anchors_are_the_nearest_of_all() {
    let text = |from: u64, to: u64| (from..to).map(|at| format!("w{at} ")).collect::<String>();
    let page = |fingerprint, text| Page { fingerprint, class: Class::Full, text };
    let asked = page(1, text(0, 80));
    let changed = |at: u64| page(1 ^ 2 << (at % 40), text(0, 80).replace(&format!("w{at} "), "c "));
    let whole = page(u64::MAX, text(0, 400));
    let nearest: Vec<Page> = (0..80).map(changed).collect();
    let confirm = Confirm::new("containment".parse().unwrap(), 1.0);
    let verdicts = |days: [&[Page]; 2], detail| {
        let folder = tempfile::tempdir().unwrap();
        let segment_of = |name: &str, pages: &[Page]| {
            segment(folder.path().join(name), pages, false, confirm.check).unwrap()
        };
        let store = [("a", days[0]), ("b", days[1])]
            .map(|(name, pages)| Dated::new(segment_of(name, pages), "2026-11-20".parse().ok()));
        let batch = segment_of("batch", std::slice::from_ref(&asked));
        written(&batch, &store, Some(confirm), detail, 1 << 20).unwrap().0[1].clone()
    };
    let whole = std::slice::from_ref(&whole);
    assert!(verdicts([whole, &[]], Detail::Best).contains("\tdrop\t"), "the anchors find it");
    for days in [[whole, &nearest], [&nearest, whole]] {
        for detail in [Detail::Best, Detail::All] {
            assert!(verdicts(days, detail).contains("\tkeep\t"), "{detail}");
        }
    }
}

/// How long this thread computes the verdicts of so many pages of one fingerprint and one template, whose numbers differ so much that all are kept.
fn time_of_a_template(pages: u64) -> u128 {
    let folder = tempfile::tempdir().unwrap();
    let template = |page: u64| Page {
        fingerprint: 1,
        class: Class::Full,
        text: (0..60).map(|at| format!("row {at} holds {} ", page * 60 + at)).collect(),
    };
    let all: Vec<Page> = (0..pages).map(template).collect();
    let check: Check = "containment".parse().unwrap();
    let batch = segment(folder.path().join("batch"), &all, false, check).unwrap();
    let confirm = Confirm::new(check, 0.9);
    let begun = clock_gettime(ClockId::ThreadCPUTime);
    let ([_, verdicts, _], _) = written(&batch, &[], Some(confirm), Detail::Best, 1 << 23).unwrap();
    let took = clock_gettime(ClockId::ThreadCPUTime) - begun;
    assert_eq!(verdicts.matches("\tkeep\t").count() as u64, pages);
    (took.tv_sec as u128) * 1_000_000_000 + took.tv_nsec as u128
}

/// Eight times as many pages take some eight times as long. If each met each other, they would take 64 times as long.
#[test]
fn a_template_takes_time_in_proportion_to_its_pages() {
    let least = |pages| (0..2).map(|_| time_of_a_template(pages)).min().unwrap();
    let [few, many] = [500, 4000].map(least);
    assert!(many < 24 * few, "{many} ns beside {few} ns");
}

#[test]
fn a_segment_without_signatures_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let confirm: Confirm = "minhash-8x8".parse().unwrap();
    let page = Page { fingerprint: 1, class: Class::Full, text: "a text".to_owned() };
    let batch = segment(folder.path().join("batch"), &[page], false, confirm.check).unwrap();
    let all = |confirm| {
        let how = confirming(&batch, &[], Some(confirm), folder.path(), 1 << 20, 1)?;
        confirmed(&how, |_| Vec::new(), 1)
    };
    assert!(all(confirm).is_ok());
    let wide = Confirm::new("minhash-16x8".parse().unwrap(), confirm.least);
    let error = all(wide).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), Kind::BadData);
    assert!(error.to_string().contains("16 bytes"), "{error}");
}

/// More pages of one fingerprint than a group is compared with, in the batch and in the store: what is confirmed and what is counted is the
/// same for any windows, any shares and any threads.
#[test]
fn windows_and_shares_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let check: Check = "containment".parse().unwrap();
    let pages = |texts: Range<u64>| -> Vec<Page> {
        let text = |of: u64| (0..30).map(|at| format!("w{} ", at + of)).collect();
        let page = |of| Page { fingerprint: of % 3, class: Class::Full, text: text(of) };
        texts.map(page).collect()
    };
    let (store, _) = Store::init(folder.path().join("store")).unwrap();
    let day = folder.path().join("day");
    segment(day.clone(), &pages(0..300), false, check).unwrap();
    store.add(&NewDay::whole(&day, "2026-11-20".parse().unwrap()), None).unwrap();
    let store = store.at(None).unwrap().dated().unwrap();
    let batch = segment(folder.path().join("batch"), &pages(40..400), false, check).unwrap();
    let confirm = Some(Confirm::new(check, 0.9));
    let all = |signatures_bytes, cuts, threads| {
        let how = confirming(&batch, &store, confirm, folder.path(), signatures_bytes, threads);
        let found = confirmed(&how.unwrap(), cuts, threads).unwrap();
        let pairs: Vec<Confirmed> = found.pairs.collect::<Result<_>>().unwrap();
        (pairs, found.candidates)
    };
    let expected = all(1 << 24, |_| Vec::new(), 1);
    assert!(expected.0.len() > 300 && expected.1.unwrap().left_out > 300);
    for signatures_bytes in [0, 1 << 10, 1 << 24] {
        let cuts: [Cuts; 3] = [|_| Vec::new(), |_| vec![1, 2], |all| vec![0, all]];
        for cuts in cuts {
            assert_eq!(all(signatures_bytes, cuts, 3), expected, "{signatures_bytes}");
        }
    }
}
