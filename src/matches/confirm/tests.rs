//! Confirmed matches and their verdicts against the sequential definition.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;

use super::*;
use crate::error::Kind;
use crate::fingerprint::{Check, Class, Fingerprint};
use crate::matches::ids::Workshop;
use crate::matches::{Confirm, Detail, Finalize, KeepOrder, distinct_fingerprints};
use crate::output::{Lock, Staging};
use crate::store::{Codec, Day, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter, Store};

const K: u32 = 3;

/// A page: its fingerprint, class and signature, few of each, so that they meet.
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
#[derive(Clone, Copy, Debug)]
struct Rule {
    classes: bool,
    confirm: Option<Confirm>,
}

impl Rule {
    /// Distance and similarity of two pages if they match.
    fn near(self, one: &Page, other: &Page) -> Option<(u32, Option<Similarity>)> {
        let distance = one.fingerprint.distance(other.fingerprint);
        if distance > K || (self.classes && one.class != other.class) {
            return None;
        }
        match self.confirm {
            None => Some((distance, None)),
            // A copy matches, whatever its text.
            Some(_) if distance == 0 && one.signature == other.signature => {
                Some((0, Some(Similarity::SAME)))
            }
            Some(confirm) => confirm
                .similarity(&one.signature, &other.signature)
                .map(|similarity| (distance, Some(similarity))),
        }
    }
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
        let fingerprint = *fingerprint;
        let class = *class;
        let check = signature;
        writer.push(&Row {
            fingerprint,
            id,
            length: 0,
            time: None,
            class,
            day: None,
            check,
            bands: &[],
            digest: 0,
        })?;
    }
    writer.finish(RecordCounts::default(), "")
}

/// All pairs of fingerprints within k.
fn pairs(batch: &Segment, store: &[Dated], folder: &Path) -> Result<SortedRecords<Pair>> {
    let mut sorter = Sorter::new(folder, 1 << 20);
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

/// matches.tsv and verdicts.tsv as they are defined, page by page.
fn naive(batch: &[Page], days: &[(Day, Vec<Page>)], rule: Rule) -> [String; 2] {
    let near = |one: &Page, other: &Page| rule.near(one, other);
    let held: Vec<(String, Day, &Page)> = days
        .iter()
        .flat_map(|(day, pages)| {
            pages.iter().enumerate().map(move |(number, page)| (id(number), *day, page))
        })
        .collect();
    let mut pages: Vec<(String, &Page)> =
        batch.iter().enumerate().map(|(number, page)| (id(number), page)).collect();
    pages.sort_by(|a, b| a.0.cmp(&b.0));
    let mut kept: Vec<&(String, &Page)> = Vec::new();
    for new in &pages {
        let in_store = held.iter().any(|held| near(new.1, held.2).is_some());
        if !in_store && kept.iter().all(|kept| near(new.1, kept.1).is_none()) {
            kept.push(new);
        }
    }
    let mut rows = Vec::new();
    let mut verdicts = "id\tverdict\tof\tdistance\tagainst\n".to_owned();
    for new in &pages {
        let mut best = Vec::new();
        let is_kept = kept.iter().any(|kept| kept.0 == new.0);
        for (id, day, page) in &held {
            if let Some((distance, similarity)) = near(new.1, page) {
                rows.push((new.0.clone(), distance, id.clone(), day.to_string(), similarity));
                best.push((distance, false, id.clone(), day.to_string()));
            }
        }
        for other in &pages {
            if let Some((distance, similarity)) = near(new.1, other.1) {
                if other.0 < new.0 {
                    rows.push((
                        new.0.clone(),
                        distance,
                        other.0.clone(),
                        "batch".into(),
                        similarity,
                    ));
                }
                if other.0 != new.0 && kept.iter().any(|kept| kept.0 == other.0) {
                    best.push((distance, true, other.0.clone(), "batch".into()));
                }
            }
        }
        verdicts += &match best.into_iter().min().filter(|_| !is_kept) {
            Some((distance, _, of, against)) => {
                format!("{}\tdrop\t{of}\t{distance}\t{against}\n", new.0)
            }
            None => format!("{}\tkeep\t\t\t\n", new.0),
        };
    }
    rows.sort();
    let column = |check: Option<String>| check.map_or(String::new(), |it| format!("\t{it}"));
    let lines = rows.into_iter().map(|(new, distance, existing, against, similarity)| {
        let check = column(similarity.map(|it| it.to_string()));
        format!("{new}\t{existing}\t{distance}\t{against}{check}\n")
    });
    let (matches, check): (String, _) = (lines.collect(), rule.confirm.map(|_| "check".to_owned()));
    [format!("new\texisting\tdistance\tagainst{}\n{matches}", column(check)), verdicts]
}

/// What the join writes of the same.
fn written(
    batch: &Segment,
    store: &[Dated],
    confirm: Option<Confirm>,
    detail: Detail,
    signatures_bytes: usize,
) -> Result<([String; 2], Option<u128>)> {
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
        format: Default::default(),
        workers: 2,
    };
    let out = folder.path().join("out");
    let staging = Staging::beside(&out, Lock::beside(&out)?)?;
    let outcome = finalize.write::<u64>(pairs(batch, store, folder.path())?, &staging)?;
    let read = |name: &str| fs::read_to_string(staging.folder().join(name)).unwrap();
    let confirmed: u128 = outcome.distances.values().sum();
    assert!(outcome.candidates.is_none_or(|candidates| confirmed <= candidates));
    assert_eq!(outcome.candidates.is_some(), confirm.is_some() && detail == Detail::All);
    Ok((["matches.tsv", "verdicts.tsv"].map(read), outcome.candidates))
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
        check in prop::sample::select(vec!["minhash-8x8", "word-minhash-8x8", "word-overlap-7x8", "page-overlap-7x8"]),
    ) {
        let check: Check = check.parse().unwrap();
        let confirm = least.map(|least| Confirm { check, least });
        let folder = tempfile::tempdir().unwrap();
        let days = [("2026-11-20", first), ("2026-11-21", second)];
        let days = days.map(|(day, pages)| (day.parse::<Day>().unwrap(), pages));
        let (store, _) = Store::init(folder.path().join("store")).unwrap();
        for (day, pages) in &days {
            let path = folder.path().join(day.to_string());
            segment(path.clone(), pages, classes, check.bytes()).unwrap();
            store.add(&path, *day, None, None).unwrap();
        }
        let segment = segment(folder.path().join("batch"), &batch, classes, check.bytes()).unwrap();
        let expected = naive(&batch, &days, Rule { classes, confirm });
        let version = store.at(None).unwrap();
        let plain = version.dated().unwrap();
        let (found, candidates) = written(&segment, &plain, confirm, Detail::All, signatures_bytes).unwrap();
        prop_assert_eq!(&found, &expected);

        // The rows that verdicts name are among all rows, and compaction changes nothing.
        let (best, _) = written(&segment, &plain, confirm, Detail::Best, signatures_bytes).unwrap();
        prop_assert_eq!(&best[1], &expected[1]);
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

#[test]
fn a_segment_without_signatures_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let confirm: Confirm = "minhash-8x8".parse().unwrap();
    let page = Page { fingerprint: 1, class: Class::Full, signature: [0; 8] };
    let batch = segment(folder.path().join("batch"), &[page], false, 8).unwrap();
    let workshop = Workshop { folder: folder.path(), memory_bytes: 1 << 20, workers: 1 };
    let load = |confirm| Batch::load::<u64>(&batch, Some(confirm), workshop, 1 << 20);
    assert!(load(confirm).is_ok());
    let wide = Confirm { check: "minhash-16x8".parse().unwrap(), ..confirm };
    let error = load(wide).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), Kind::BadData);
    assert!(error.to_string().contains("16 bytes"), "{error}");
}
