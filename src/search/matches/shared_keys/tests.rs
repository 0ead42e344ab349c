//! One page alone: the rows that share its anchors, streamed past and named by a list.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use super::key_index::KeyIndex;
use super::probe::units_of;
use super::sort::{BatchKeys, Sort};
use super::streaming::{ALIKE, MOST_ALIKE};
use super::*;
use crate::error::Result;
use crate::fingerprint::check::{ANCHORS, AS_NEEDED};
use crate::matches::numbers::KeepRank;
use crate::store::{Dated, Details, IdKind, Segment, SegmentOptions};
use crate::tests::segment;
use crate::work::Work;

/// Writes a segment with anchors, and no ids, of pages by their fingerprints and anchors.
fn segment_of(folder: &TempDir, pages: impl Iterator<Item = (u64, Vec<u8>)>) -> Result<Segment> {
    let options = SegmentOptions {
        ids: IdKind::None,
        check_bytes: AS_NEEDED,
        anchors: true,
        ..SegmentOptions::default()
    };
    let pages = pages.map(|(fingerprint, anchors)| {
        (fingerprint, "", Details { anchors, check: vec![1], ..Details::default() })
    });
    segment(&folder.path().join("day.seg"), options, pages)
}

/// However a list is divided, and however many rows share some anchors.
#[test]
fn rows_that_are_named_are_met_as_those_that_stream_past() -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let folder = tempfile::tempdir().unwrap();
    let mut anchors = || -> Vec<u8> {
        // Eight, and of some pages one more in some places.
        let more = if random.random_range(0..2) == 0 { 0 } else { random.random_range(0..6) };
        let mut key = |place: u8| place + ANCHORS as u8 * random.random_range(0..6);
        let mut keys: Vec<u8> = (0..ANCHORS as u8).map(&mut key).collect();
        keys.extend((0..more).map(|place| 128 + key(place)));
        keys.into_iter().flat_map(|key| [key, 0, 0, 0, 0]).collect()
    };
    let fingerprint = |row: u64| row << 32 | row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let of_rows: Vec<_> = (0..500).map(|row| (fingerprint(row), anchors())).collect();
    let dated = Dated::new(segment_of(&folder, of_rows.iter().cloned())?, None);
    for case in 0..20 {
        let asked = anchors();
        let nearest = |named: Option<u64>| -> Result<Vec<AnchoredRows>> {
            let page = Anchored::new(of_rows[case].0, &asked);
            let shared = |row: u64| {
                let asked: Vec<u64> = anchors_of(&asked).collect();
                let own = anchors_of(&of_rows[row as usize].1);
                own.filter(|own| asked.contains(own)).map(move |own| (row, own)).collect()
            };
            let mut lists = (0..500).step_by(named.unwrap_or(1) as usize).map(|first| {
                let rows = first..500.min(first + named.unwrap_or(1));
                Ok(rows.flat_map(|row| -> Vec<RowAnchor> { shared(row) }).collect())
            });
            let list: Option<&mut dyn Iterator<Item = _>> =
                if named.is_some() { Some(&mut lists) } else { None };
            let mut fingerprint_of = |row: u64| Ok(of_rows[row as usize].0);
            let (mut found, mut work) = (Vec::new(), Work::unbounded());
            page.nearest((0, &dated), &mut fingerprint_of, list, &mut found, &mut work)?;
            found.sort_unstable();
            Ok(found)
        };
        let streamed = nearest(None)?;
        assert_eq!(streamed.len(), MOST_MET);
        for rows in [7, 100, 500] {
            assert_eq!(nearest(Some(rows))?, streamed, "{rows} at a time");
        }
    }
    Ok(())
}

/// What is left of many pages is what is left of them by the sentence that says so, whether they come at once or a few at a time.
#[test]
fn the_nearest_the_alike_and_the_first_are_left() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    // In a crowd half share everything.
    let cases = [0, 32, 33, 50, 90, 400].into_iter().flat_map(|it| [(it, 8), (it, 2)]);
    for (count, farthest) in cases {
        // How far apart, and the place in keep order.
        let apart = |random: &mut ChaCha8Rng| random.random_range(0..farthest);
        let all: Vec<(u8, u32)> = (0..count).map(|place| (apart(&mut random), place)).collect();
        let leave = |pages: &mut Vec<(u8, u32)>| {
            nearest_and_first(pages, |it| it.0, |it| KeepRank::from(it.1));
        };
        let mut others = all.clone();
        others.sort_unstable();
        let mut expected: Vec<_> = others.drain(..others.len().min(16)).collect();
        let alike = others.iter().filter(|it| usize::from(it.0) + ALIKE <= ANCHORS).count();
        if expected.iter().any(|it| it.0 > 0) {
            expected.extend(others.drain(..alike.min(MOST_ALIKE)));
        }
        others.sort_unstable_by_key(|it| it.1);
        expected.extend(others.into_iter().take(16));
        if all.len() <= MOST_MET {
            expected = all.clone();
        }
        expected.sort_unstable();
        for chunk in [1000, 7] {
            let mut left = Vec::new();
            for pages in all.chunks(chunk) {
                left.extend(pages);
                if left.len() >= 4 * MOST_MET {
                    leave(&mut left);
                }
            }
            leave(&mut left);
            left.sort_unstable();
            assert_eq!(left, expected, "{count} pages to {farthest}, {chunk} at a time");
        }
    }
}

/// A page has forty bytes of anchors and two of their number, ten times as many as of its fingerprint.
#[test]
fn anchors_cost_what_is_read_of_them_and_memory() {
    let check = "containment".parse().ok();
    let cost = |batch, memory| AnchorCost::of(batch, 1_000_000, check, memory);
    assert_eq!(
        cost(1000, 1 << 20),
        AnchorCost { passes: 1, bytes_read: 42_042_000, memory_bytes: 160_000 }
    );
    assert_eq!(cost(1000, 96_000).passes, 2);
    assert_eq!(AnchorCost::of(9, 9, "minhash".parse().ok(), 9), AnchorCost::default());
}

/// Six hundred pages share a key; others share one with a few.
#[test]
fn common_keys_are_the_same_however_often_the_batch_is_read() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let page = |row: u64| {
        let key = |place: u64| match place {
            0 => row % 2,
            1 => row / 600,
            _ => row * place,
        };
        let anchor = |place| ANCHORS as u64 * key(place) + place;
        let anchors =
            (0..ANCHORS as u64).flat_map(|place| anchor(place).to_le_bytes()[..5].to_vec());
        (row << 40, anchors.collect())
    };
    let batch = segment_of(&folder, (0..1200).map(page))?;
    let order: Vec<KeepRank> = (0..1200).map(|row| KeepRank::from(row ^ 1)).collect();
    let common = |memory_bytes: usize| -> Result<Vec<String>> {
        let mut units = Vec::new();
        units_of(Sort::Anchors, &batch, &[], memory_bytes, &mut units);
        let keys = BatchKeys { batch: &batch, sort: units[0].sort, shingles: &[] };
        let (pages, passes) = (units[0].pages.clone(), units[0].passes);
        let index = KeyIndex::of(keys, pages, passes, None, &order, 2)?;
        let mut common: Vec<_> = index.common.0.iter().map(|it| format!("{it:?}")).collect();
        common.sort();
        Ok(common)
    };
    let once = common(1 << 20)?;
    assert_eq!(once.len(), 4);
    // Those with the same key in the next place stand together, the page whose next keys are the least first.
    assert!(once[0].starts_with("((0, 0), Groups { starts: [(0, 0), "), "{once:?}");
    for memory_bytes in [40, 4000, 40_000] {
        assert_eq!(common(memory_bytes)?, once, "{memory_bytes}");
    }
    Ok(())
}
