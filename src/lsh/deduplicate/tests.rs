//! Outputs against the definition: all pairs compared, and documents taken one after the other.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::fs;

use proptest::prelude::*;

use super::*;
use crate::document::{Content, Position};
use crate::fingerprint::minhash::Permutations;
use crate::fingerprint::{PageTime, Width};
use crate::lsh::{Banding, Bands, Confirmation, ProbeScratch, Shingle, Sketch, Space};
use crate::matches::{LengthClass, Similarity};
use crate::output::Lock;
use crate::store::{Details, RecordCounts, Row, SegmentOptions, SegmentWriter};

/// A document: its id, and its features; none if it has nothing to compare.
type Page = (u32, Vec<u32>);

fn scheme(confirmation: Confirmation, banding: Banding, least: &str) -> Scheme {
    Scheme {
        space: Space::Jaccard,
        permutations: Permutations::Many,
        shingle: Shingle::Words(1),
        width: Width::W64,
        vectors: false,
        banding,
        least: least.parse().unwrap(),
        confirmation,
        seed: 3,
    }
}

fn documents(scheme: &Scheme, pages: &[Page]) -> Vec<SketchedDocument> {
    let mut sketches = scheme.sketches(PageTime::default());
    let document = |(line, (id, features)): (u64, &Page)| {
        let names: Vec<String> = features.iter().map(u32::to_string).collect();
        let features = names.iter().map(|name| (name.as_str(), 1.0)).collect();
        SketchedDocument {
            id: format!("p{id:03}"),
            position: Position { file: 0, line },
            content: 0,
            length: [0, 100, 105, 300][*id as usize % 4],
            time: None,
            sketch: sketches.of(&Content::Features(features)).unwrap(),
        }
    };
    (1..).zip(pages).map(document).collect()
}

/// What two documents that share a bucket are to each other, by definition.
fn matching(scheme: &Scheme, one: &Sketch, other: &Sketch) -> Option<Similarity> {
    let shares = one.keys.iter().any(|key| other.keys.contains(key));
    if one == other {
        return Some(Similarity::SAME);
    }
    scheme.comparison().compare(&one.evidence, &other.evidence).filter(|_| shares)
}

/// A page of the store: its id, its day, its sketch.
type Held = (String, String, Sketch);

/// The texts of verdicts.tsv and matches.tsv by definition.
fn naive(
    scheme: &Scheme,
    detail: Detail,
    store: &[Held],
    mut documents: Vec<SketchedDocument>,
) -> [String; 2] {
    documents.sort();
    documents.dedup_by(|next, first| next.id == first.id);
    let sketched: Vec<(&str, &Sketch)> =
        documents.iter().filter_map(|it| Some((&*it.id, it.sketch.as_ref()?))).collect();
    let near = |one: &Sketch, other| matching(scheme, one, other);
    // The longest first.
    let mut taken: Vec<(Reverse<LengthClass>, &str, &Sketch)> = documents
        .iter()
        .filter_map(|it| Some((Reverse(LengthClass::of(it.length)), &*it.id, it.sketch.as_ref()?)))
        .collect();
    taken.sort_by_key(|&(class, id, _)| (class, id));
    let mut kept: Vec<(&str, &Sketch)> = Vec::new();
    for &(_, id, sketch) in &taken {
        let held = store.iter().any(|(_, _, other)| near(sketch, other).is_some());
        if !held && kept.iter().all(|(_, other)| near(sketch, other).is_none()) {
            kept.push((id, sketch));
        }
    }
    let mut verdicts = "id\tverdict\tof\tsimilarity\tagainst\n".to_owned();
    let mut matches = Vec::new();
    for document in &documents {
        let id = &*document.id;
        let Some(sketch) = &document.sketch else {
            writeln!(verdicts, "{id}\tempty\t\t\t").unwrap();
            continue;
        };
        let all = kept.iter().filter(|(kept, _)| *kept != id);
        let batch = "batch";
        let all = all
            .filter_map(|(kept, other)| Some((Reverse(near(sketch, other)?), true, *kept, batch)));
        let held = store.iter().filter_map(|(id, day, other)| {
            Some((Reverse(near(sketch, other)?), false, &**id, &**day))
        });
        match all.chain(held).min().filter(|_| kept.iter().all(|(kept, _)| *kept != id)) {
            None => writeln!(verdicts, "{id}\tkeep\t\t\t").unwrap(),
            Some((Reverse(similarity), is_batch, of, against)) => {
                writeln!(verdicts, "{id}\tdrop\t{of}\t{similarity}\t{against}").unwrap();
                let [new, existing] = if is_batch { [id.max(of), id.min(of)] } else { [id, of] };
                matches.push((new, Reverse(similarity), existing, against));
            }
        }
    }
    if detail == Detail::All {
        matches.clear();
        for (at, (id, sketch)) in sketched.iter().enumerate() {
            let others = sketched[..at].iter();
            let near = others
                .filter_map(|(other, it)| Some((*id, Reverse(near(sketch, it)?), *other, "batch")));
            matches.extend(near);
            let held = store.iter().filter_map(|(other, day, it)| {
                Some((*id, Reverse(matching(scheme, sketch, it)?), &**other, &**day))
            });
            matches.extend(held);
        }
    }
    matches.sort();
    let mut listed = "new\texisting\tsimilarity\tagainst\tverdict\n".to_owned();
    for (new, Reverse(similarity), existing, against) in matches {
        let is_kept = kept.iter().any(|(id, _)| *id == new);
        let verdict = if is_kept { "keep" } else { "drop" };
        writeln!(listed, "{new}\t{existing}\t{similarity}\t{against}\t{verdict}").unwrap();
    }
    [verdicts, listed]
}

/// The same files as they are made, and what the buckets held.
fn made(
    scheme: &Scheme,
    detail: Detail,
    workers: usize,
    memory_bytes: usize,
    documents: Vec<SketchedDocument>,
) -> Result<([String; 2], Deduplicated)> {
    made_with(scheme, detail, workers, memory_bytes, Vec::new(), documents)
}

fn made_with(
    scheme: &Scheme,
    detail: Detail,
    workers: usize,
    memory_bytes: usize,
    store: Vec<Dated>,
    documents: Vec<SketchedDocument>,
) -> Result<([String; 2], Deduplicated)> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    let staging = Staging::beside(&output, Lock::beside(&output)?)?;
    let deduplicate = Deduplicate {
        scheme: scheme.clone(),
        comparison: scheme.comparison(),
        store,
        keep: KeepOrder::FirstId,
        detail,
        max_matches: 100_000,
        format: Default::default(),
        workers,
        index_bytes: memory_bytes,
        evidence_bytes: memory_bytes,
        memory_bytes,
    };
    let mut sorter = Sorter::new(folder.path(), memory_bytes);
    sorter.extend(documents)?;
    let folder = staging.folder();
    let grouped = deduplicate.group(sorter.sorted()?, folder, &mut |_, _, _| Ok(()))?;
    let in_batch = deduplicate.buckets(&grouped, folder)?;
    let mut held = deduplicate.held(&grouped, &in_batch, folder);
    let most = deduplicate.most_groups(&grouped);
    let probe = deduplicate.store_probe(&grouped, in_batch.hottest().to_vec(), most);
    let mut scratch = ProbeScratch::default();
    let mut found = Vec::new();
    for chunk in 0..probe.chunks() as u64 {
        probe.probe(chunk, &mut scratch, &mut |pair| found.push(pair))?;
    }
    found.into_iter().try_for_each(|pair| held.take(pair))?;
    let done = deduplicate.finish(grouped, in_batch, held, &staging)?;
    let read = |name| fs::read_to_string(staging.folder().join(name)).unwrap();
    Ok((["verdicts.tsv", "matches.tsv"].map(read), done))
}

/// Pages that share most of the features of one of a few.
fn pages(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Page>> {
    let features = (0..3_u32, prop::collection::vec((0..12_usize, 0..40_u32), 0..5), 0..20_u32);
    let page = features.prop_map(|(base, changes, length)| {
        let mut features: Vec<u32> = (0..12).map(|it| 100 * base + it).collect();
        changes.into_iter().for_each(|(at, other)| features[at] = other);
        // A few have nothing to compare.
        features.truncate(12 * length.min(1) as usize);
        features
    });
    prop::collection::vec((0..200_u32, page), count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn outputs_are_those_of_the_definition(
        pages in pages(0..220),
        (bands, rows) in (1..5_usize, 1..4_usize),
        which in 0..3_usize,
        all: bool,
        least in 0..4_usize,
    ) {
        let confirmation =
            [Confirmation::Signature, Confirmation::Exact, Confirmation::SimHash(8)][which];
        let least = ["0", "0.5", "0.7", "1"][least];
        let scheme = scheme(confirmation, Banding { bands, rows }, least);
        let detail = if all { Detail::All } else { Detail::Best };
        let documents = documents(&scheme, &pages);
        let expected = naive(&scheme, detail, &[], documents.clone());
        for (workers, memory_bytes) in [(1, 1 << 20), (3, 500)] {
            let (files, _) = made(&scheme, detail, workers, memory_bytes, documents.clone()).unwrap();
            prop_assert_eq!(&files, &expected);
        }
    }
}

/// The store of these pages: a segment for each day, with SimHashes as fingerprints.
fn stored(folder: &Path, scheme: &Scheme, pages: &[Page]) -> (Vec<Dated>, Vec<Held>) {
    let mut segments = Vec::new();
    let mut all = Vec::new();
    for (day, pages) in
        [("2026-11-20", &pages[..pages.len() / 3]), ("2026-11-21", &pages[pages.len() / 3..])]
    {
        let mut documents = documents(scheme, pages);
        documents.sort();
        documents.dedup_by(|next, first| next.id == first.id);
        let bands = Bands {
            space: Space::Jaccard,
            banding: scheme.banding,
            shingle: scheme.shingle,
            permutations: scheme.permutations,
            seed: scheme.seed,
        };
        let mut rows: Vec<(u64, String, Option<Sketch>)> = Vec::new();
        for SketchedDocument { id, sketch, .. } in documents {
            let bits = sketch
                .as_ref()
                .map_or(0, |it| u64::from_le_bytes(*it.evidence.first_chunk().unwrap()));
            rows.push((bits, id, sketch));
        }
        rows.sort();
        let options = SegmentOptions { band_bytes: bands.bytes(), ..SegmentOptions::default() };
        let mut writer = SegmentWriter::<u64>::create(folder.join(day), options).unwrap();
        for (fingerprint, id, sketch) in rows {
            let bands = bands.write(sketch.as_ref().map(|sketch| &sketch.keys[..]));
            let details = &Details { bands, ..Details::default() };
            writer.push(&Row { details, ..Row::new(fingerprint, &id) }).unwrap();
            all.extend(sketch.map(|sketch| (id, day.to_owned(), sketch)));
        }
        let segment = writer.finish(RecordCounts::default(), "").unwrap();
        segments.push(Dated::new(segment, Some(day.parse().unwrap())));
    }
    (segments, all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn outputs_against_a_store_are_those_of_the_definition(
        pages in pages(0..160),
        held in pages(0..160),
        (bands, rows) in (1..5_usize, 1..4_usize),
        most in 0..20_u32,
        all: bool,
    ) {
        let scheme = scheme(Confirmation::SimHash(most), Banding { bands, rows }, "0.8");
        let detail = if all { Detail::All } else { Detail::Best };
        let folder = tempfile::tempdir().unwrap();
        let (segments, held) = stored(folder.path(), &scheme, &held);
        let documents = documents(&scheme, &pages);
        let expected = naive(&scheme, detail, &held, documents.clone());
        for (workers, memory_bytes) in [(1, 1 << 20), (3, 500)] {
            let made = made_with(&scheme, detail, workers, memory_bytes, segments.clone(), documents.clone());
            prop_assert_eq!(&made.unwrap().0, &expected);
        }
    }
}

/// Every page is in the bucket of the others, and pairs are as many as stars.
#[test]
fn a_template_shared_by_all_is_counted_and_costs_no_pairs() {
    let pages: Vec<Page> = (0..3000).map(|id| (id, (0..40).chain([1000 + id]).collect())).collect();
    let scheme = scheme(Confirmation::Exact, Banding { bands: 8, rows: 1 }, "0.9");
    let documents = documents(&scheme, &pages);
    let (files, done) = made(&scheme, Detail::Best, 2, 1 << 20, documents).unwrap();
    assert_eq!((done.outcome.kept, done.outcome.matches), (1, 2999));
    assert!(files[0].lines().nth(7).unwrap().starts_with("p006\tdrop\tp003\t0.9524\t"));
    let found = done.buckets;
    assert!(found.hot > 0 && found.hottest[0].groups >= 1000, "{found:?}");
    assert_eq!(found.hottest[0].first.len(), 4);
    assert!(found.candidates + found.looked_up < 3000 * 8 * 32, "{found:?}");
}

/// However many pages of the store are in a crowded bucket of the batch, each is counted once.
#[test]
fn pages_of_the_store_in_a_crowded_bucket_are_counted() {
    let page = |id| (id, (0..40).chain(1000 + 8 * id..1008 + 8 * id).collect());
    let pages: Vec<Page> = (0..1400).map(page).collect();
    let held: Vec<Page> = (1400..1700).map(page).collect();
    let scheme = scheme(Confirmation::SimHash(40), Banding { bands: 8, rows: 1 }, "0.1");
    let folder = tempfile::tempdir().unwrap();
    let (segments, stored) = stored(folder.path(), &scheme, &held);
    let expected = naive(&scheme, Detail::Best, &stored, documents(&scheme, &pages));
    for (workers, memory_bytes) in [(1, 1 << 20), (3, 500)] {
        let documents = documents(&scheme, &pages);
        let segments = segments.clone();
        let (files, done) =
            made_with(&scheme, Detail::Best, workers, memory_bytes, segments, documents).unwrap();
        assert_eq!(files, expected);
        let hot = &done.buckets.hottest[0];
        let is_here =
            |sketch: &Sketch| sketch.keys.iter().any(|key| format!("{key:#018x}") == hot.key);
        let here = stored.iter().filter(|(_, _, sketch)| is_here(sketch)).count() as u64;
        assert!(here > 100 && hot.groups >= 1000, "{hot:?}");
        assert_eq!(hot.stored, here, "{hot:?}");
    }
}

#[test]
fn copies_are_one_group() {
    let pages: Vec<Page> = (0..900).map(|id| (id, vec![1, 2, 3])).collect();
    let scheme = scheme(Confirmation::Signature, Banding { bands: 4, rows: 2 }, "0.5");
    let (_, done) = made(&scheme, Detail::Best, 1, 1 << 20, documents(&scheme, &pages)).unwrap();
    assert_eq!((done.buckets.groups, done.buckets.candidates), (1, 0));
    assert_eq!(
        (done.outcome.kept, done.outcome.matches, done.outcome.largest_group),
        (1, 899, 900)
    );
    let error = made(&scheme, Detail::All, 1, 1 << 20, documents(&scheme, &pages)).unwrap_err();
    assert_eq!(error.remedy().settings, ["max-matches", "matches best"], "{error}");
}

/// The matches within a crowded bucket are counted while they are found, and not after all of them.
#[test]
fn a_crowded_bucket_ends_at_the_limit_of_matches() {
    let pages: Vec<Page> = (0..3000).map(|id| (id, (0..40).chain([1000 + id]).collect())).collect();
    let scheme = scheme(Confirmation::Exact, Banding { bands: 8, rows: 1 }, "0.9");
    let documents = documents(&scheme, &pages);
    let error = made(&scheme, Detail::All, 2, 1 << 20, documents).unwrap_err();
    let found: u64 = error
        .to_string()
        .split_once("found ")
        .unwrap()
        .1
        .split(';')
        .next()
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!((100_000..200_000).contains(&found), "{error}");
}

#[test]
fn families_of_one_bit_are_given_rows_for_the_number_of_pages() {
    let banding = Banding { bands: 16, rows: 7 };
    let cosine = Scheme { space: Space::Cosine, ..scheme(Confirmation::Signature, banding, "0.8") };
    assert_eq!(cosine.longer_bands(4_000), None);
    assert_eq!(cosine.longer_bands(1_000_000).unwrap().rows, 15);
    assert_eq!(scheme(Confirmation::Signature, banding, "0.8").longer_bands(u32::MAX), None);
}
