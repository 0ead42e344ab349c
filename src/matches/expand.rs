//! Pairs of groups expanded to rows of documents, and the nearest page of the store for each group.
//!
//! Ids are read from a segment in the order in which it holds them: rows that need the id of a page of
//! the batch are sorted by the row of that page first.

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::coverage::Coverage;
use super::match_row::MatchRow;
use super::nearest::{Judged, NearestStored};
use super::numbers::{Group, IdRank, Number, Row, SegmentRow, Span, below};
use super::origin::Origin;
use super::replaced::{Going, Replaced};
use super::similarity::Similarity;
use super::store_pair::{Near, StorePair, each_place};
use crate::error::Result;
use crate::runs::{Record, SortedRecords, Sorter};
use crate::store::{Column, Dated, Day, Ids, RowDays, Segment, Shown, Slack};

/// A row of matches.tsv within the batch, without the existing id. Ordered by the row in which the
/// segment holds that id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct UnnamedRow {
    /// The existing document.
    pub(super) existing: SegmentRow,
    /// The new one.
    pub(super) new: IdRank,
    /// The Hamming distance.
    pub(super) distance: u8,
    /// How alike the two are, where that was checked.
    pub(super) similarity: Option<Similarity>,
}

impl Record for UnnamedRow {}

/// The pairs with the store, once all groups are judged.
pub(super) struct StoreExpansion<'a> {
    pub(super) judged: &'a Judged<'a>,
    pub(super) store: &'a [Dated],
    /// The slack of its pages.
    pub(super) slack: &'a Slack,
    /// Whether a check confirmed the pairs.
    pub(super) checked: bool,
    /// Whether the check tells which of two pages holds the other one, so that pages of the store may go.
    pub(super) holds: bool,
}

impl StoreExpansion<'_> {
    /// Looks up every pair with the store once, in the order of the disk. Notes for each group the pages
    /// of the store that cover it best and the pages that it replaces, and if `rows` are wanted every row of documents.
    pub(super) fn expand(
        &self,
        pairs: SortedRecords<StorePair<Group>>,
        mut rows: Option<&mut Sorter<MatchRow>>,
        nearest: &mut Sorter<NearestStored>,
        replaced: &mut Replaced<'_>,
    ) -> Result<()> {
        let mut reader: Option<(u32, Ids, RowDays, Shown)> = None;
        each_place(pairs, self.store, &[Column::Ids, Column::Days], |first, near| {
            let (_, ids, days, shown) = match &mut reader {
                Some(reader) if reader.0 == first.segment => reader,
                other => {
                    let dated = &self.store[first.segment as usize];
                    let ids = dated.segment().ids();
                    other.insert((first.segment, ids, dated.days(), dated.shown()))
                }
            };
            // Rows with equal fingerprints are sorted by id, then by day, so the first row is the one that a verdict names.
            let id = ids.get(first.row)?;
            let day = days.get(first.row)?;
            for &Near { new: group, distance, coverages } in near {
                if coverages.of_first == Some(self.judged.nearest[group.index()]) {
                    let id = id.to_owned();
                    nearest.push(NearestStored { group, id, day, distance, coverages })?;
                }
            }
            let replacing = self.replacing(near);
            if rows.is_none() && replacing.is_none() {
                return Ok(());
            }
            let mut next = first.row;
            for _ in 0..first.rows {
                let row = shown.next(next)?;
                next = row + 1;
                let id = ids.get(row)?;
                let day = days.get(row)?;
                if let Some(rows) = &mut rows {
                    self.expand_row(near, id, Origin::Day(day), rows)?;
                }
                if let Some((coverage, by)) = replacing
                    && let Some(slack) = self.slack_left(id, day, coverage)
                {
                    let containment = coverage.share();
                    replaced.going(Going { by, id: id.to_owned(), day, containment, slack })?;
                }
            }
            Ok(())
        })
    }

    /// The kept page that stands best for a place of the store, if one can: of those that stand as well, the one with the
    /// smallest id.
    fn replacing(&self, near: &[Near<Group>]) -> Option<(Coverage, SegmentRow)> {
        let batch = self.judged.batch;
        let coverage = |near: &Near<Group>| {
            let coverage = near.coverages.of_second?;
            let row = self.judged.kept(near.new)?;
            Some((coverage, batch.rank(row), batch.segment_row(row)))
        };
        let best = near.iter().filter(|_| self.holds).filter_map(coverage).min()?;
        Some((best.0, best.2))
    }

    /// The slack that a page of the store leaves to one that stands so well for it; none if it lacks more than its slack there.
    fn slack_left(&self, id: &str, day: Day, coverage: Coverage) -> Option<u32> {
        match self.slack.get(id, day) {
            Some(slack) => Some(coverage.slack.min(slack.checked_sub(coverage.lacking)?)),
            None => Some(coverage.slack),
        }
    }

    fn expand_row(
        &self,
        near: &[Near<Group>],
        existing: &str,
        origin: Origin,
        rows: &mut Sorter<MatchRow>,
    ) -> Result<()> {
        near.iter().try_for_each(|&Near { new: group, distance, coverages }| {
            let similarity = self.checked.then(|| coverages.share());
            let batch = self.judged.batch;
            rows.extend(batch.rows_of(group).iter().map(|row| {
                let existing = existing.to_owned();
                MatchRow { new: batch.rank(row), distance, existing, origin, similarity }
            }))
        })
    }
}

/// The row of two documents of the batch, which are this similar: the larger id is the new one.
pub(super) fn row_of_pair(
    batch: &Batch,
    a: Row,
    b: Row,
    distance: u8,
    similarity: Option<Similarity>,
) -> UnnamedRow {
    let (existing, new) = if batch.rank(a) < batch.rank(b) { (a, b) } else { (b, a) };
    let existing = batch.segment_row(existing);
    UnnamedRow { existing, new: batch.rank(new), distance, similarity }
}

/// Expands two near groups of the batch, which are this similar.
pub(super) fn expand_groups(
    batch: &Batch,
    groups: [Group; 2],
    distance: u8,
    similarity: Option<Similarity>,
    rows: &mut Sorter<UnnamedRow>,
) -> Result<()> {
    let [a, b] = groups.map(|group| batch.rows_of(group));
    a.iter().try_for_each(|row| {
        rows.extend(b.iter().map(|other| row_of_pair(batch, row, other, distance, similarity)))
    })
}

/// Expands the copies within each group.
pub(super) fn expand_copies(
    batch: &Batch,
    checked: bool,
    rows: &mut Sorter<UnnamedRow>,
) -> Result<()> {
    let similarity = checked.then_some(Similarity::SAME);
    for group in below(batch.groups()) {
        let copies = batch.rows_of(group);
        for row in copies.iter() {
            let rest = Span { start: Row::from(u32::from(row) + 1), ..copies };
            rows.extend(rest.iter().map(|other| row_of_pair(batch, row, other, 0, similarity)))?;
        }
    }
    Ok(())
}

/// Adds `unnamed` to `rows`, with the existing ids.
pub(super) fn name(
    unnamed: Sorter<UnnamedRow>,
    segment: &Segment,
    rows: &mut Sorter<MatchRow>,
) -> Result<()> {
    let mut ids = segment.ids();
    for row in unnamed.sorted()? {
        let UnnamedRow { existing, new, distance, similarity } = row?;
        let existing = ids.get(u32::from(existing).into())?.to_owned();
        rows.push(MatchRow { new, distance, existing, origin: Origin::Batch, similarity })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::fingerprint::Fingerprint;
    use crate::matches::numbers::FingerprintIndex;
    use crate::matches::{
        ConfirmedPairs, Detail, Finalize, Groups, KeepOrder, Pair, Place, distinct_fingerprints,
    };
    use crate::output::{Lock, Staging};
    use crate::runs::Space;
    use crate::store::{
        Codec, NewDay, RecordCounts, SegmentOptions, SegmentWriter, Store, Version,
    };
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
            writer.push(&Document::new(*fingerprint, id))?;
        }
        writer.finish(RecordCounts::default(), "")
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
        for (group, &fingerprint) in (0_u32..).zip(new) {
            let group = FingerprintIndex::from(group);
            let pairs = near(new, fingerprint, Place::Batch { group });
            sorter.extend(pairs.filter(|pair| pair.new > group))?;
        }
        Ok(())
    }

    fn near(new: &[u64], held: u64, existing: Place) -> impl Iterator<Item = Pair> {
        (0_u32..).zip(new).filter_map(move |(new, fingerprint)| {
            let new = new.into();
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
        pairs(&distinct_fingerprints(batch)?, &segments, &mut sorter)?;
        let finalize = Finalize {
            segment: batch,
            confirm: None,
            store: &version.dated()?,
            slack: &version.slack()?,
            distance: 3,
            keep: KeepOrder::FirstId,
            detail,
            max_matches: u64::MAX,
            memory_bytes: 1 << 20,
            ids_bytes: 1 << 20,
            signatures_bytes: 1 << 20,
            format: Default::default(),
            workers: 2,
        };
        let out = folder.path().join("out");
        let staging = Staging::beside(&out, Lock::beside(&out)?)?;
        let space = Space { folder: folder.path(), memory_bytes: 1 << 20 };
        let groups = Groups::load::<u64>(batch, None, space, 2)?;
        let pairs = ConfirmedPairs::unchecked(sorter.sorted()?);
        let outcome = finalize.write::<u64>(groups.into(), None, pairs, &staging)?;
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
            store.add(&NewDay::whole(&path, day.parse()?), None)?;
        }
        let batch = segment(&folder.path().join("batch"), 4)?;
        let plain = store.at(None)?;
        store.compact(Codec::Huffman, &AtomicU64::new(0))?;
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
