//! The store moves from whole version to whole version, and every version stays readable.

mod expiry;
mod forgetting;
mod manifests;
mod model;
mod replacing;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use tempfile::TempDir;

use super::segment::tests::{Document, documents, numbers, read, replace, scanned, write};
use super::*;
use crate::error::{Kind, Result};
use crate::fingerprint::Fingerprint;

fn new_store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let (store, made) = Store::init(folder.path().join("store")).unwrap();
    assert!(made);
    (folder, store)
}

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn options(stamp: &str) -> SegmentOptions {
    super::segment::tests::options(IdKind::Text, stamp)
}

fn batch(folder: &TempDir, seed: u64, rows: usize) -> PathBuf {
    let path = folder.path().join(format!("{seed}.seg"));
    let fingerprints: Vec<u64> = numbers(seed).take(rows).collect();
    write(&path, options("r"), &documents(&fingerprints), &["nothing"]).unwrap();
    path
}

fn nameless<F: Fingerprint>(path: &Path, ids: IdKind, fingerprints: &[F]) -> Result<Segment> {
    let mut documents: Vec<Document<F>> =
        fingerprints.iter().map(|&f| Document::new(f, "")).collect();
    documents.sort();
    let options = SegmentOptions { ids, ..options("r") };
    write(path, options, &documents, &[])
}

fn add(store: &Store, path: &Path, on: &str) -> Result<(bool, u64)> {
    store.add(&NewDay::whole(path, day(on)), None).map(|added| match added {
        Added::New(version) => (true, version.number()),
        Added::Already(version) => (false, version.number()),
    })
}

fn add_listed(store: &Store, path: &Path, on: &str, only: &Path) -> Result<Added> {
    store.add(&NewDay { only: Some(only), ..NewDay::whole(path, day(on)) }, None)
}

fn rollback(store: &Store, to: u64) -> Result<Version> {
    store.rollback(to, &AtomicU64::new(0))
}

#[test]
fn a_store_is_made_once_and_in_a_folder_of_its_own() {
    let (folder, store) = new_store();
    assert_eq!((store.at(None).unwrap().number(), store.at(None).unwrap().rows()), (1, 0));
    assert!(!Store::init(store.path()).unwrap().1);
    assert_eq!(Store::open(folder.path().join("none")).unwrap_err().kind(), Kind::Missing);
    fs::write(folder.path().join("stranger"), "").unwrap();
    assert_eq!(Store::init(folder.path()).unwrap_err().kind(), Kind::Exists);
    // One of some days that lost its `CURRENT` is not made anew.
    add(&store, &batch(&folder, 1, 100), "2026-01-01").unwrap();
    fs::remove_file(store.path().join("CURRENT")).unwrap();
    assert_eq!(Store::init(store.path()).unwrap_err().kind(), Kind::BadData);
}

#[test]
fn another_recipe_is_refused_with_both_shown() -> Result<()> {
    let (folder, store) = new_store();
    add(&store, &batch(&folder, 1, 10), "2026-11-21")?;
    let path = folder.path().join("other");
    write(&path, options("another"), &documents(&[1u64]), &[])?;
    let refused = add(&store, &path, "2026-11-22").unwrap_err();
    assert_eq!(refused.kind(), Kind::Exists);
    assert!(refused.to_string().contains("64 bits by another"), "{refused}");
    write(&path, options("r"), &documents(&[1u128]), &[])?;
    let refused = add(&store, &path, "2026-11-22").unwrap_err();
    assert!(refused.to_string().contains("128 bits by r"), "{refused}");
    Ok(())
}

#[test]
fn only_the_listed_ids_enter() -> Result<()> {
    let (folder, store) = new_store();
    let path = batch(&folder, 1, 1000);
    let all = read::<u64>(&Segment::open(&path)?)?;
    let kept: Vec<Document<u64>> = all.into_iter().step_by(3).collect();
    let mut lines: Vec<String> = kept.iter().map(|page| page.row().id.to_owned() + "\n").collect();
    let list = folder.path().join("keep.txt");
    fs::write(&list, lines.concat()).unwrap();
    assert!(matches!(add_listed(&store, &path, "2026-11-21", &list)?, Added::New(_)));
    let held = &store.verify()?.segments()?[0];
    assert_eq!((read::<u64>(held)?, held.empties()), (kept, 0));
    lines.reverse();
    fs::write(&list, lines.concat()).unwrap();
    assert!(matches!(add_listed(&store, &path, "2026-11-21", &list)?, Added::Already(_)));
    assert_eq!(add(&store, &path, "2026-11-21").unwrap_err().kind(), Kind::Exists);
    fs::write(&list, lines.concat() + "stranger\n").unwrap();
    let refused = add_listed(&store, &path, "2026-11-22", &list).unwrap_err();
    assert_eq!(refused.kind(), Kind::BadData);
    assert!(refused.to_string().contains(":335: "), "{refused}");
    assert_eq!(store.at(None)?.number(), 2);
    Ok(())
}

#[test]
fn a_damaged_segment_is_not_added() {
    let (folder, store) = new_store();
    let path = batch(&folder, 1, 1000);
    let mut bytes = fs::read(&path).unwrap();
    bytes[5000] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(add(&store, &path, "2026-11-20").unwrap_err().kind(), Kind::BadData);
    assert_eq!(store.at(None).unwrap().number(), 1);
}

#[test]
fn chunks_cover_every_key_and_split_no_fingerprint() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let mut fingerprints: Vec<u64> = numbers(1).take(50_000).collect();
    fingerprints.extend([fingerprints[7]; 40_000]);
    fingerprints.extend([0, u64::MAX]);
    let all = documents(&fingerprints);
    let segments: Vec<Segment> = (0..3)
        .map(|part| {
            let pages: Vec<_> = all.iter().skip(part).step_by(3).cloned().collect();
            write(&folder.path().join(part.to_string()), options("r"), &pages, &[])
        })
        .collect::<Result<_>>()?;
    assert_eq!(chunks::<u64>(&[], 1), []);
    assert_eq!(chunks::<u64>(&segments, u64::MAX), [KeyRange::all()]);
    let cut = chunks::<u64>(&segments, 50_000);
    assert!(cut.len() > 3, "{cut:?}");
    assert_eq!((cut[0].low, cut[cut.len() - 1].high), (0, u64::MAX));
    assert!(cut.windows(2).all(|pair| pair[0].high + 1 == pair[1].low));
    let mut rows = 0;
    for range in cut {
        for segment in &segments {
            let run = scanned(segment.scan(range))?;
            assert!(run.iter().all(|&fingerprint| range.contains(fingerprint)));
            rows += run.len();
        }
    }
    assert_eq!(rows, fingerprints.len());
    Ok(())
}

/// All rows that a version shows, with their days, in the order of a compacted segment.
fn dated(version: &Version) -> Result<Vec<(Document<u64>, Day)>> {
    let mut all = Vec::new();
    for dated in version.dated()? {
        let mut days = dated.days();
        let mut shown = dated.shown();
        for (row, document) in (0..).zip(read::<u64>(dated.segment())?) {
            if shown.get(row)? {
                all.push((document, days.get(row)?));
            }
        }
    }
    all.sort();
    Ok(all)
}

#[test]
fn compaction_keeps_every_row_and_its_day() -> Result<()> {
    let (folder, store) = new_store();
    let pages = documents(&numbers(1).take(20_000).collect::<Vec<u64>>());
    for (own, on) in (0..).zip(["2026-11-21", "2026-11-19", "2026-11-20"]) {
        let path = folder.path().join(on);
        write(&path, options("r"), &pages[500 * own..], &[on, "nothing"])?;
        add(&store, &path, on)?;
    }
    let before = store.at(None)?;
    for codec in ["huffman", "elias-fano"] {
        let codec = codec.parse()?;
        assert!(store.would_compact(codec)?);
        let version = store.compact(codec, &AtomicU64::new(0))?.unwrap();
        assert!(store.compact(codec, &AtomicU64::new(0))?.is_none());
        assert!(!store.would_compact(codec)?);
        let merged = version.segments()?;
        assert_eq!((merged.len(), version.merged().len()), (1, 1));
        assert_eq!(merged[0].order(), Some("score"));
        assert_eq!(merged[0].codecs()?.into_keys().collect::<Vec<Codec>>(), [codec]);
        assert_eq!(dated(&version)?, dated(&before)?);
        let stored: Vec<Document<u64>> = read(&merged[0])?;
        assert!(stored.iter().eq(dated(&before)?.iter().map(|(document, _)| document)));
        let empties: Vec<String> = merged[0].empty_ids().collect::<Result<_>>()?;
        assert_eq!(empties, ["2026-11-19", "2026-11-20", "2026-11-21", "nothing"]);
        assert_eq!((version.digest(), version.rows()), (before.digest(), before.rows()));
        store.verify()?;
    }
    assert_eq!(dated(&store.at(Some(4))?)?, dated(&before)?);
    Ok(())
}

fn prune(store: &Store, keep: u64) -> Result<Pruning> {
    let pruning = store.pruning(NonZero::new(keep).unwrap())?;
    pruning.run(&AtomicU64::new(0)).map(|()| pruning)
}

/// A store of twelve days, of which version 12 has merged ten, that keeps versions 11 to 14.
fn pruned() -> Result<(TempDir, Store)> {
    let (folder, store) = new_store();
    for number in 1..=12 {
        let path = batch(&folder, number, 20);
        add(&store, &path, &format!("2026-11-{number:02}"))?;
        store.compact_tiers(&AtomicU64::new(0))?;
    }
    prune(&store, 4)?;
    Ok((folder, store))
}

#[test]
fn a_reader_that_has_opened_a_version_goes_on_after_it_was_pruned() -> Result<()> {
    let (_folder, store) = pruned()?;
    let [opened, late] = [store.at(Some(11))?, store.at(Some(11))?];
    let segments = opened.segments()?;
    assert_eq!(segments.len(), 10);
    prune(&store, 1)?;
    let rows = segments.iter().map(|it| read::<u64>(it).map(|rows| rows.len()));
    assert_eq!(rows.sum::<Result<usize>>()?, 200);
    let error = late.segments().unwrap_err();
    assert_eq!(error.kind(), Kind::Temporary);
    assert!(error.to_string().contains("version 11 of the store was pruned"), "{error}");
    assert_eq!(store.verify()?.rows(), 240);
    Ok(())
}

#[test]
fn verifying_passes_over_what_another_run_prunes_meanwhile() -> Result<()> {
    let (folder, store) = pruned()?;
    let verification = store.verification(None)?;
    prune(&store, 1)?;
    verification.run(&AtomicU64::new(0))?;
    let segments = folder.path().join("store").join("segments");
    for segment in fs::read_dir(segments).unwrap() {
        fs::remove_file(segment.unwrap().path()).unwrap();
    }
    let error = verification.run(&AtomicU64::new(0)).unwrap_err();
    assert!(error.to_string().contains("lost this segment"), "{error}");
    Ok(())
}

#[test]
fn nothing_is_pruned_while_what_has_taken_its_place_is_damaged() -> Result<()> {
    let (folder, store) = pruned()?;
    let merged = store.path().join("segments").join(&store.at(None)?.merged()[0].file);
    let sound = fs::read(&merged).unwrap();
    let mut bytes = sound.clone();
    bytes[500] ^= 1;
    replace(&merged, &bytes);
    let names = || fs::read_dir(store.path().join("segments")).unwrap().count();
    let before = names();
    assert_eq!(prune(&store, 1).unwrap_err().kind(), Kind::BadData);
    assert_eq!((names(), store.at(Some(11))?.segments()?.len()), (before, 10));
    replace(&merged, &sound);
    assert_eq!(prune(&store, 1)?.segments(), 10);
    // A version that would be kept is no reason to look at them.
    add(&store, &batch(&folder, 99, 20), "2026-12-01")?;
    replace(&merged, &bytes);
    assert_eq!((prune(&store, 1)?.segments(), names()), (0, before - 10 + 1));
    Ok(())
}

#[test]
fn a_flipped_byte_in_oldest_is_an_error_and_hides_no_version() -> Result<()> {
    let (folder, store) = pruned()?;
    let path = store.path().join("OLDEST");
    let whole = fs::read(&path).unwrap();
    let segments = || fs::read_dir(store.path().join("segments")).unwrap().count();
    let before = segments();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        replace(&path, &bytes);
        let errors = [
            store.verify().err(),
            prune(&store, 1).err(),
            add(&store, &batch(&folder, 50, 20), "2026-12-01").err(),
        ];
        for error in errors {
            let kind = error.unwrap_or_else(|| panic!("byte {at}")).kind();
            assert!(matches!(kind, Kind::BadData | Kind::Missing), "byte {at}: {kind:?}");
        }
    }
    assert_eq!(segments(), before);
    replace(&path, &whole);
    store.verify().map(drop)
}

#[test]
fn fingerprints_name_the_rows_of_several_days() -> Result<()> {
    let (folder, store) = new_store();
    let path = folder.path().join("a");
    nameless::<u64>(&path, IdKind::None, &numbers(1).take(500).collect::<Vec<u64>>())?;
    for on in ["2026-11-19", "2026-11-20"] {
        add(&store, &path, on)?;
    }
    store.compact(Codec::EliasFano, &AtomicU64::new(0))?;
    let version = store.verify()?;
    let merged = &version.segments()?[0];
    assert_eq!((merged.id_kind(), merged.rows()), (IdKind::None, 1000));
    let held = merged.path().to_owned();
    assert_eq!(add(&store, &held, "2026-11-21").unwrap_err().kind(), Kind::BadData);
    Ok(())
}

#[test]
fn any_number_of_segments_is_merged() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let segment = nameless::<u128>(&path, IdKind::Numbers, &[1 << 40, 1 << 90, u128::MAX])?;
    let days: Vec<Day> = (2000..2300).filter_map(|year| Day::of(year, 1, 1)).collect();
    let parts = days.iter().map(|&day| Dated::new(segment.clone(), Some(day))).collect();
    let merged = merge::merge(
        parts,
        &merge::Target {
            path: &folder.path().join("b"),
            codec: Codec::Huffman,
            identity: "all",
            fence: None,
        },
        &AtomicU64::new(0),
    )?;
    merged.verify()?;
    assert_eq!((merged.rows(), merged.id_kind(), merged.identity()), (900, IdKind::Text, "all"));
    let mut ids = merged.ids();
    let mut found = merged.days().unwrap();
    for row in 0..900 {
        assert_eq!(ids.get(row)?, (row / 300).to_string());
        assert_eq!(found.get(row)?, days[row as usize % 300]);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    Ok(())
}
