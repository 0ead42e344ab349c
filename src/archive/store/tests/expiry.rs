//! Days that have expired: which rows are hidden, and what the manifest remembers of them.

use proptest::prelude::*;
use roaring::RoaringTreemap;

use super::*;
use crate::store::dated::{Expired, Hidden};
use crate::store::row_sets::RowSet;

/// A segment whose rows have these days of January.
fn of_days(days: &[u8]) -> (TempDir, Segment, Vec<Day>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("days.seg");
    let options = SegmentOptions { days: true, ..options("r") };
    let mut writer = SegmentWriter::<u64>::create(&path, options).unwrap();
    let days: Vec<Day> = days.iter().map(|day| Day::of(2026, 1, *day).unwrap()).collect();
    for (row, &day) in (0..).zip(&days) {
        let document = Document::new(row / 7, format!("{row:06}"));
        let row = Row { day: Some(day), ..document.row() };
        writer.push(&row).unwrap();
    }
    let rows = days.len() as u64;
    let counts = RecordCounts { read: rows, fingerprinted: rows, ..RecordCounts::default() };
    (folder, writer.finish(counts, "").unwrap(), days)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_row_is_shown_unless_it_was_removed_or_is_too_old(
        days in prop::collection::vec(1..6u8, 1..3000),
        first in prop::option::of(1..7u8),
        removed in prop::collection::btree_set(0..3000u64, 0..1500),
        starts in prop::collection::vec(0..3000u64, 20),
    ) {
        let (_folder, segment, days) = of_days(&days);
        let rows = segment.rows();
        let removed: RoaringTreemap = removed.into_iter().filter(|row| *row < rows).collect();
        let first = first.map(|first| Day::of(2026, 1, first).unwrap());
        let is_old = |row: u64| first.is_some_and(|first| days[row as usize] < first);
        let is_shown = |row: u64| !is_old(row) && !removed.contains(row);
        let mut gone = RowSet::default();
        gone.add(removed.iter().map(|row| (row, days[row as usize])), [].into_iter());
        let old = (0..rows).filter(|row| is_old(*row)).count() as u64;
        let hidden = Hidden {
            gone: (!removed.is_empty()).then(|| gone.into()),
            expired: first.map(|before| Expired { before, rows: old }),
        };
        let hidden_rows = (0..rows).filter(|row| !is_shown(*row)).count() as u64;
        prop_assert_eq!(hidden.counts(), (hidden_rows, 0));
        prop_assert_eq!(hidden.is_any(), hidden.digest().is_some());
        let dated = Dated::new(segment.clone(), None).hiding(hidden);
        let mut shown = dated.shown();
        for row in (0..rows).chain(starts.iter().copied().filter(|row| *row < rows)) {
            prop_assert_eq!(shown.get(row)?, is_shown(row));
        }
        for &start in starts.iter().filter(|row| **row < rows) {
            let next = (start..rows).find(|row| is_shown(*row));
            // A caller that asks for more than there is gets an error, and soon.
            prop_assert_eq!(shown.next(start).ok(), next);
            let end = rows.min(start + 40);
            let among = (start..end).filter(|row| is_shown(*row)).count() as u64;
            let expected = next.filter(|_| among > 0).map(|next| (next, among));
            prop_assert_eq!(shown.among(start, end - start)?, expected);
        }
    }
}

/// Adds four days of 100 pages, of which the first two are one segment.
fn four_days() -> Result<(TempDir, Store)> {
    let (folder, store) = new_store();
    for (seed, day) in (1..).zip(["2026-01-01", "2026-01-02", "2026-01-04", "2026-01-05"]) {
        add(&store, &batch(&folder, seed, 100), day)?;
        if seed == 2 {
            store.compact(Codec::default(), &AtomicU64::new(0))?;
        }
    }
    Ok((folder, store))
}

#[test]
fn a_shared_segment_stays_while_one_of_its_days_is_shown() -> Result<()> {
    let (_folder, store) = four_days()?;
    store.expire(Retention::From(day("2026-01-02")))?.unwrap();
    let version = store.at(None)?;
    assert_eq!((version.segment_count(), version.rows(), version.shown_rows()), (3, 400, 300));

    // Day 3 is not there: three days back from day 5 are from day 3 on.
    store.expire(Retention::Days(NonZero::new(3).unwrap()))?.unwrap();
    let version = store.verify()?;
    assert_eq!((version.segment_count(), version.rows()), (2, 200));
    assert_eq!(version.expired_before(), Some(day("2026-01-03")));

    // The digest is that of a store that never had the other days.
    let (other_folder, other) = new_store();
    add(&other, &batch(&other_folder, 3, 100), "2026-01-04")?;
    add(&other, &batch(&other_folder, 4, 100), "2026-01-05")?;
    assert_eq!(version.digest(), other.at(None)?.digest());
    Ok(())
}

#[test]
fn a_segment_is_rewritten_when_more_than_half_of_it_is_hidden() -> Result<()> {
    let (folder, store) = new_store();
    for at in 1..=10 {
        add(&store, &batch(&folder, at, 100), &format!("2026-01-{at:02}"))?;
    }
    let merge = |store: &Store| store.compact_tiers(&AtomicU64::new(0));
    merge(&store)?;
    let rows = |first: &str| {
        store.expire(Retention::From(day(first)))?;
        let shown = dated(&store.at(None)?)?;
        merge(&store)?;
        let version = store.verify()?;
        assert_eq!(dated(&version)?, shown);
        Ok::<_, crate::Error>((version.rows(), version.expired_rows()))
    };
    assert_eq!(rows("2026-01-06")?, (1000, 500));
    assert_eq!(rows("2026-01-07")?, (400, 0));
    assert_eq!(rows("2026-01-09")?, (400, 200));
    assert_eq!(rows("2026-01-10")?, (100, 0));
    assert_eq!(store.at(None)?.due(), None);
    Ok(())
}
