//! Pairs of groups expanded to rows of documents, and the nearest page of the store for each group.
//!
//! An id is read from a segment in the order in which it stands there: what names a row of the batch is
//! sorted by that row first.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::matches::batch::allocated;
use crate::matches::partition::{Near, Standing, standings_at};
use crate::matches::{Against, Batch, Row, Similarity};
use crate::runs::{Record, Sorted, Sorter};
use crate::store::{Dated, Day, Ids, RowDays, Segment};

/// The page of the store that a dropped group is a copy of. Ordered by group, smallest id, earliest
/// day; and how alike the two are, where that was checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) group: u32,
    pub(super) id: String,
    pub(super) day: Day,
    pub(super) similarity: Option<Similarity>,
}

impl Record for Held {
    fn bytes(&self) -> usize {
        size_of::<Self>() + allocated(&self.id)
    }
}

/// A row of matches.tsv within the batch, before the existing id is known. Ordered by where that
/// stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Unnamed {
    /// The row of the existing document in the segment.
    pub(super) existing: u32,
    /// The rank of the new one.
    pub(super) new: u32,
    /// The Hamming distance.
    pub(super) distance: u8,
    /// How alike the two are, where that was checked.
    pub(super) similarity: Option<Similarity>,
}

impl Record for Unnamed {}

/// Looks up every standing pair once, in the order of the disk. Gives each group with a page of the
/// store within reach the nearest ones, and, where `rows` are wanted, every row of documents.
pub(super) fn expand_store(
    batch: &Batch,
    store: &[Dated],
    standings: Sorted<Standing>,
    nearest: &[u8],
    mut rows: Option<&mut Sorter<Row>>,
    held: &mut Sorter<Held>,
) -> Result<()> {
    let mut reader: Option<(u32, Ids, RowDays)> = None;
    standings_at(standings, |first, near| {
        let (_, ids, days) = match &mut reader {
            Some(reader) if reader.0 == first.segment => reader,
            other => {
                let dated = &store[first.segment as usize];
                other.insert((first.segment, dated.segment().ids(), dated.days()))
            }
        };
        // Of rows that share a fingerprint the first has the smallest id and its earliest day.
        let (id, day) = (ids.get(first.row)?, days.get(first.row)?);
        for &(group, distance, similarity) in near {
            if distance == nearest[group as usize] {
                held.push(Held { group, id: id.to_owned(), day, similarity })?;
            }
        }
        if let Some(rows) = &mut rows {
            for row in first.row..first.row + first.rows {
                let against = Against::Day(days.get(row)?);
                expand_row(batch, near, ids.get(row)?, against, rows)?;
            }
        }
        Ok(())
    })
}

fn expand_row(
    batch: &Batch,
    near: &[Near],
    existing: &str,
    against: Against,
    rows: &mut Sorter<Row>,
) -> Result<()> {
    near.iter().try_for_each(|&(group, distance, similarity)| {
        rows.extend(batch.rows_of(group).map(|row| {
            let existing = existing.to_owned();
            Row { new: batch.rank(row), distance, existing, against, similarity }
        }))
    })
}

/// Two documents of the batch: the larger id is the new one.
pub(super) fn pair(batch: &Batch, a: u32, b: u32, distance: u8) -> Unnamed {
    let (existing, new) = if batch.rank(a) < batch.rank(b) { (a, b) } else { (b, a) };
    let similarity = batch.similarity(existing, new);
    Unnamed { existing: batch.place(existing), new: batch.rank(new), distance, similarity }
}

/// Expands two near groups of the batch.
pub(super) fn expand_groups(
    batch: &Batch,
    a: u32,
    b: u32,
    distance: u8,
    rows: &mut Sorter<Unnamed>,
) -> Result<()> {
    batch.rows_of(a).try_for_each(|row| {
        rows.extend(batch.rows_of(b).map(|other| pair(batch, row, other, distance)))
    })
}

/// Expands the copies within each group.
pub(super) fn expand_copies(batch: &Batch, rows: &mut Sorter<Unnamed>) -> Result<()> {
    for group in 0..batch.groups() {
        for row in batch.rows_of(group) {
            let rest = row + 1..batch.rows_of(group).end;
            rows.extend(rest.map(|other| pair(batch, row, other, 0)))?;
        }
    }
    Ok(())
}

/// Adds what is `unnamed` to `rows`, with the existing ids.
pub(super) fn name(
    unnamed: Sorter<Unnamed>,
    segment: &Segment,
    rows: &mut Sorter<Row>,
) -> Result<()> {
    let mut ids = segment.ids();
    for row in unnamed.sorted()? {
        let Unnamed { existing, new, distance, similarity } = row?;
        let existing = ids.get(existing.into())?.to_owned();
        rows.push(Row { new, distance, existing, against: Against::Batch, similarity })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::fingerprint::{Class, Fingerprint};
    use crate::matches::{Detail, KeepOrder, Pair, Place, Settlement, groups};
    use crate::output::{Lock, Staging};
    use crate::store::{Codec, Counts, SegmentOptions, SegmentWriter, Store, Version};
    use crate::store::{Row as Document, Segment};

    /// A segment of pages near to a few, with ids that come again under other days.
    fn segment(path: &Path, seed: u64) -> Result<Segment> {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % below
        };
        let mut pages: Vec<(u64, String)> = (0..400)
            .map(|_| {
                let flips =
                    (0..random(4)).map(|_| 1 << random(64)).fold(0, |all, bit: u64| all | bit);
                let page = (random(20) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ flips;
                (page, format!("page-{}", random(30)))
            })
            .collect();
        pages.sort();
        pages.dedup();
        let mut writer = SegmentWriter::create(path, SegmentOptions::default())?;
        for (fingerprint, id) in &pages {
            let fingerprint = *fingerprint;
            writer.push(&Document {
                fingerprint,
                id,
                length: 0,
                time: None,
                class: Class::Full,
                day: None,
                check: &[],
            })?;
        }
        writer.finish(Counts::default(), "")
    }

    /// Every near pair, by comparing all with all.
    fn pairs(new: &[u64], segments: &[Segment], sorter: &mut Sorter<Pair>) -> Result<()> {
        for (number, segment) in (0..).zip(segments) {
            let mut fingerprints = segment.fingerprints();
            let held: Vec<u128> =
                (0..segment.rows()).map(|row| fingerprints.get(row)).collect::<Result<_>>()?;
            let mut row = 0;
            for copies in held.chunk_by(|a, b| a == b) {
                let rows = copies.len() as u64;
                let existing = Place::Store { segment: number, row, rows };
                sorter.extend(near(new, copies[0] as u64, existing))?;
                row += rows;
            }
        }
        for (group, &fingerprint) in (0..).zip(new) {
            let pairs = near(new, fingerprint, Place::Batch { group });
            sorter.extend(pairs.filter(|pair| pair.new > group))?;
        }
        Ok(())
    }

    fn near(new: &[u64], held: u64, existing: Place) -> impl Iterator<Item = Pair> {
        (0..).zip(new).filter_map(move |(new, fingerprint)| {
            let distance = fingerprint.distance(held) as u8;
            (distance <= 3).then_some(Pair { new, existing, distance })
        })
    }

    /// The files that a join of `batch` with `version` writes.
    fn output(
        batch: &Segment,
        version: &Version,
        detail: Detail,
    ) -> Result<BTreeMap<String, Vec<u8>>> {
        let folder = tempfile::tempdir().unwrap();
        let segments = version.segments()?;
        let mut sorter = Sorter::new(folder.path(), 1 << 20);
        pairs(&groups(batch)?, &segments, &mut sorter)?;
        let settlement = Settlement {
            segment: batch,
            confirm: None,
            store: &version.dated(segments),
            distance: 3,
            keep: KeepOrder::FirstId,
            detail,
            max_matches: u64::MAX,
            memory_bytes: 1 << 20,
        };
        let out = folder.path().join("out");
        let staging = Staging::beside(&out, Lock::beside(&out)?)?;
        let outcome = settlement.write::<u64>(sorter.sorted()?, &staging)?;
        assert!(outcome.dropped > 0 && outcome.matches > 0);
        let read = |name: String| std::fs::read(staging.folder().join(&name)).map(|it| (name, it));
        Ok(outcome.files.into_keys().map(|name| read(name).unwrap()).collect())
    }

    #[test]
    fn compaction_changes_no_byte_of_an_output() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = Store::init(folder.path().join("store"))?;
        for (seed, day) in [(1, "2026-11-21"), (2, "2026-11-19"), (3, "2026-11-20")] {
            let path = folder.path().join(day);
            segment(&path, seed)?;
            store.add(&path, day.parse()?, None, None)?;
        }
        let batch = segment(&folder.path().join("batch"), 4)?;
        let plain = store.at(None)?;
        store.compact(Codec::Dense)?;
        let compacted = store.at(None)?;
        assert_eq!((plain.segments()?.len(), compacted.segments()?.len()), (3, 1));
        for detail in [Detail::All, Detail::Best] {
            let expected = output(&batch, &plain, detail)?;
            let days = ["2026-11-19", "2026-11-20", "2026-11-21"];
            let matches = String::from_utf8_lossy(&expected["matches.tsv"]);
            assert!(detail == Detail::Best || days.iter().all(|day| matches.contains(day)));
            assert!(output(&batch, &compacted, detail)? == expected, "{detail}");
        }
        Ok(())
    }
}
