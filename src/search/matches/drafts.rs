//! The rows of matches.tsv and verdicts.tsv while they are collected, before they are listed.

use super::batch::Batch;
use super::confirmed::Detail;
use super::dropped_pages::{DroppedPages, DroppedTally, Lost, LostTally};
use super::expand::{UnnamedRow, name, row_of_pair};
use super::hosts::{DroppedHost, DroppedRows, HostOf};
use super::match_row::{MatchRow, Origin};
use super::nearest::{Nearest, NearestStored};
use super::numbers::{Group, Number, Row, below};
use crate::error::Result;
use crate::runs::{SortSpace, SortedRecords, Sorter};
use crate::store::Segment;

/// The rows found so far. A row whose existing page is in the batch waits without its id, until all such
/// rows are [named](Drafts::finish) in the order of the disk.
pub(super) struct Drafts<'a> {
    batch: &'a Batch,
    /// How many shingles each group has, where a check tells it.
    shingles: Option<&'a [u32]>,
    checked: bool,
    detail: Detail,
    /// How many rows of matches.tsv each distance has.
    counted: Vec<u128>,
    /// How many rows are duplicates of each row of the batch, by the rank of its id.
    duplicates: Vec<u32>,
    lost: LostTally,
    tally: DroppedTally,
    dropped: DroppedRows<'a>,
    pub(super) matches: Sorter<MatchRow>,
    pub(super) unnamed_matches: Sorter<UnnamedRow>,
    verdicts: Sorter<MatchRow>,
    unnamed_verdicts: Sorter<UnnamedRow>,
}

pub(super) struct Drafted {
    pub(super) counted: Vec<u128>,
    pub(super) duplicates: Vec<u32>,
    /// The hosts of these, and the hosts of most dropped pages, where a check tells what is lost.
    pub(super) hosts: Option<(SortedRecords<HostOf>, Vec<DroppedHost>)>,
    pub(super) lost: Option<Lost>,
    pub(super) dropped_pages: DroppedPages,
    pub(super) matches: SortedRecords<MatchRow>,
    pub(super) verdicts: SortedRecords<MatchRow>,
}

impl<'a> Drafts<'a> {
    /// No rows yet. With [`Detail::All`] all matches were `counted` before.
    pub(super) fn new(
        batch: &'a Batch,
        shingles: Option<&'a [u32]>,
        checked: bool,
        detail: Detail,
        counted: Vec<u128>,
        space: SortSpace<'a>,
    ) -> Drafts<'a> {
        Drafts {
            batch,
            shingles,
            checked,
            detail,
            counted,
            duplicates: vec![0; batch.rows() as usize],
            lost: LostTally::default(),
            tally: DroppedTally::default(),
            dropped: DroppedRows::new(space),
            matches: space.sorter(),
            unnamed_matches: space.sorter(),
            verdicts: space.sorter(),
            unnamed_verdicts: space.sorter(),
        }
    }

    /// Takes a dropped row and the page it is dropped for. With [`Detail::Best`] that is a match too.
    pub(super) fn dropped(&mut self, row: Row, of: Nearest<'_>) -> Result<()> {
        let is_match = self.detail == Detail::Best;
        if is_match {
            self.counted[usize::from(of.coverage().distance)] += 1;
        }
        if let Some(shingles) = self.shingles {
            let shingles = shingles[self.batch.group_of(row).index()];
            self.lost.add(shingles.into(), of.coverage());
            let of = if let Nearest::Row(of, _) = of { Some(self.batch.rank(of)) } else { None };
            self.dropped.push(self.batch.segment_row(row), of)?;
        }
        let new = self.batch.rank(row);
        let held = self.shingles.map(|_| of.coverage().share());
        match of {
            Nearest::Row(existing, coverage) => {
                let distance = coverage.distance;
                self.tally.add(Origin::Batch, held);
                self.duplicates[self.batch.rank(existing).index()] += 1;
                if is_match {
                    let alike = self.checked.then(|| coverage.similarity());
                    let pair = row_of_pair(self.batch, row, existing, distance, alike);
                    self.unnamed_matches.push(pair)?;
                }
                let existing = self.batch.segment_row(existing);
                let verdict = UnnamedRow { existing, new, distance, similarity: held };
                self.unnamed_verdicts.push(verdict)
            }
            Nearest::Stored(NearestStored { id, day, distance, coverages, .. }, _) => {
                let existing = id.clone();
                let (distance, origin) = (*distance, Origin::Day(*day));
                self.tally.add(origin, held);
                let similarity = self.checked.then(|| coverages.share());
                let row = MatchRow { new, distance, existing, origin, similarity };
                if is_match {
                    self.matches.push(row.clone())?;
                }
                self.verdicts.push(MatchRow { similarity: held, ..row })
            }
        }
    }

    /// Everything that was taken, with the rows in the order of ids.
    pub(super) fn finish(mut self, segment: &Segment) -> Result<Drafted> {
        let of_group = |(group, &shingles): (Group, &u32)| {
            u64::from(shingles) * self.batch.rows_of(group).len() as u64
        };
        let shingles = self.shingles.map(|it| below(self.batch.groups()).zip(it).map(of_group));
        let lost = shingles.map(|shingles| self.lost.lost(shingles.sum()));
        name(self.unnamed_matches, segment, &mut self.matches)?;
        name(self.unnamed_verdicts, segment, &mut self.verdicts)?;
        Ok(Drafted {
            counted: self.counted,
            duplicates: self.duplicates,
            hosts: self.shingles.map(|_| self.dropped.hosts(segment)).transpose()?,
            lost,
            dropped_pages: self.tally.counted(),
            matches: self.matches.sorted()?,
            verdicts: self.verdicts.sorted()?,
        })
    }
}
