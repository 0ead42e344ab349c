//! The rows of matches.tsv and verdicts.tsv while they are collected, before they are listed.

use std::path::Path;

use super::batch::Batch;
use super::detail::Detail;
use super::expand::{NearestStored, UnnamedRow, name, row_of_pair, similarity};
use super::group_key::GroupKeys;
use super::match_row::MatchRow;
use super::nearest::Nearest;
use super::numbers::Row;
use super::origin::Origin;
use crate::error::Result;
use crate::runs::{SortedRecords, Sorter};
use crate::store::Segment;

/// The rows found so far. A row whose existing page is in the batch waits without its id, until all such
/// rows are [named](Drafts::finish) in the order of the disk.
pub(super) struct Drafts<'a> {
    batch: &'a Batch,
    keys: Option<&'a GroupKeys>,
    detail: Detail,
    /// How many rows of matches.tsv each distance has.
    pub(super) counted: Vec<u128>,
    pub(super) matches: Sorter<MatchRow>,
    pub(super) unnamed_matches: Sorter<UnnamedRow>,
    verdicts: Sorter<MatchRow>,
    unnamed_verdicts: Sorter<UnnamedRow>,
}

impl<'a> Drafts<'a> {
    /// No rows yet. With [`Detail::All`] all matches were `counted` before.
    pub(super) fn new(
        batch: &'a Batch,
        keys: Option<&'a GroupKeys>,
        detail: Detail,
        counted: Vec<u128>,
        (folder, memory_bytes): (&Path, usize),
    ) -> Drafts<'a> {
        Drafts {
            batch,
            keys,
            detail,
            counted,
            matches: Sorter::new(folder, memory_bytes),
            unnamed_matches: Sorter::new(folder, memory_bytes),
            verdicts: Sorter::new(folder, memory_bytes),
            unnamed_verdicts: Sorter::new(folder, memory_bytes),
        }
    }

    /// Takes a dropped row and the page it is dropped for. With [`Detail::Best`] that is a match too.
    pub(super) fn dropped(&mut self, row: Row, of: Nearest<&NearestStored>) -> Result<()> {
        let is_match = self.detail == Detail::Best;
        if is_match {
            self.counted[usize::from(of.distance())] += 1;
        }
        let new = self.batch.rank(row);
        match of {
            Nearest::Row(existing, distance) => {
                if is_match {
                    let alike = similarity(self.batch, self.keys, [row, existing], distance)?;
                    let pair = row_of_pair(self.batch, row, existing, distance, alike);
                    self.unnamed_matches.push(pair)?;
                }
                let existing = self.batch.segment_row(existing);
                let verdict = UnnamedRow { existing, new, distance, similarity: None };
                self.unnamed_verdicts.push(verdict)
            }
            Nearest::Stored(NearestStored { id, day, similarity, .. }, distance) => {
                let existing = id.clone();
                let origin = Origin::Day(*day);
                let row = MatchRow { new, distance, existing, origin, similarity: *similarity };
                if is_match {
                    self.matches.push(row.clone())?;
                }
                self.verdicts.push(row)
            }
        }
    }

    /// All rows in the order of ids: those of matches.tsv, and those that the verdicts name.
    pub(super) fn finish(mut self, segment: &Segment) -> Result<[SortedRecords<MatchRow>; 2]> {
        name(self.unnamed_matches, segment, &mut self.matches)?;
        name(self.unnamed_verdicts, segment, &mut self.verdicts)?;
        Ok([self.matches.sorted()?, self.verdicts.sorted()?])
    }
}
