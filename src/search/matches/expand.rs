//! Pairs of groups expanded to rows of documents, and the nearest page of the store for each group.
//!
//! Ids are read from a segment in the order in which it holds them: rows that need the id of a page of
//! the batch are sorted by the row of that page first.

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::by_key::ByKey;
use super::coverage::Coverage;
use super::match_row::{MatchRow, Origin};
use super::nearest::{Judged, NearestStored};
use super::numbers::{Group, IdRank, Number, Row, SegmentRow, Span, below};
use super::replaced::{Going, Replaced};
use super::similarity::Similarity;
use super::store_pair::{StorePair, each_place};
use crate::error::Result;
use crate::runs::{Record, SortedRecords, Sorter};
use crate::store::{Column, Dated, Day, Ids, RowDays, Segment, Shown, Slack, TextDigests};

/// A row of matches.tsv within the batch, ordered by the row whose id it lacks, as the segment holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct UnnamedRow {
    pub(super) existing: SegmentRow,
    pub(super) new: IdRank,
    pub(super) distance: u8,
    pub(super) similarity: Option<Similarity>,
}

impl Record for UnnamedRow {}

pub(super) struct StoreExpansion<'a> {
    pub(super) judged: &'a Judged<'a>,
    pub(super) store: &'a [Dated],
    pub(super) slack: &'a Slack,
    pub(super) checked: bool,
    /// Whether the check tells which of two pages holds the other one, so that pages of the store may go.
    pub(super) holds: bool,
    pub(super) by_key: &'a ByKey,
}

impl StoreExpansion<'_> {
    /// Looks up every pair with the store once, in the order of the disk. Notes for each group the pages
    /// of the store that cover it best and the pages that it replaces, and if `rows` are wanted every row of documents.
    pub(super) fn expand(
        &self,
        pairs: SortedRecords<StorePair>,
        mut rows: Option<&mut Sorter<MatchRow>>,
        nearest: &mut Sorter<NearestStored>,
        replaced: &mut Replaced<'_>,
    ) -> Result<()> {
        let mut reader: Option<(u32, Ids, RowDays, Shown, Option<TextDigests>)> = None;
        each_place(pairs, self.store, &[Column::Ids, Column::Days], |first, near| {
            let (_, ids, days, shown, keys) = match &mut reader {
                Some(reader) if reader.0 == first.segment => reader,
                other => {
                    let dated = &self.store[first.segment as usize];
                    let (ids, keys) = (dated.segment().ids(), self.by_key.keys_of(dated));
                    other.insert((first.segment, ids, dated.days(), dated.shown(), keys))
                }
            };
            // Rows with equal fingerprints are sorted by id, then by day, so the first row is the one that a verdict names.
            let id = ids.get(first.row)?;
            let day = days.get(first.row)?;
            for &StorePair { new: group, distance, coverages, .. } in near {
                if coverages.of_first == Some(self.judged.nearest[group.index()]) {
                    let id = id.to_owned();
                    let key = key_of(keys, first.row)?;
                    nearest.push(NearestStored { group, id, day, distance, coverages, key })?;
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
                    && !self.by_key.is_of_key(by, key_of(keys, row)?)
                {
                    let containment = coverage.share();
                    replaced.going.push(Going {
                        by,
                        id: id.to_owned(),
                        day,
                        containment,
                        slack,
                    })?;
                }
            }
            Ok(())
        })
    }

    /// The kept page that stands best for a place of the store, if one can: of equal ones that with the smallest id.
    fn replacing(&self, near: &[StorePair]) -> Option<(Coverage, SegmentRow)> {
        let batch = self.judged.batch;
        let coverage = |near: &StorePair| {
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
        near: &[StorePair],
        existing: &str,
        origin: Origin,
        rows: &mut Sorter<MatchRow>,
    ) -> Result<()> {
        near.iter().try_for_each(|&StorePair { new: group, distance, coverages, .. }| {
            let similarity = self.checked.then(|| coverages.share());
            let batch = self.judged.batch;
            rows.extend(batch.rows_of(group).iter().map(|row| {
                let existing = existing.to_owned();
                MatchRow { new: batch.rank(row), distance, existing, origin, similarity }
            }))
        })
    }
}

fn key_of(keys: &mut Option<TextDigests>, row: u64) -> Result<Option<u128>> {
    keys.as_mut().map(|keys| keys.get(row)).transpose()
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
