//! The rows of the output: what each dropped document is dropped for, and the matches.

use std::collections::BTreeMap;
use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::finding::StoreMatch;
use super::held::Least;
use super::stored::{NearestPage, each_named};
use crate::error::Result;
use crate::matches::{
    Detail, Edge, IdRank, Judgement, Judgements, KeepRank, MatchRow, Nearness, Number, Origin,
    Unlikeness, below,
};
use crate::runs::{Record, SortedRecords, Sorter, Space};
use crate::store::{Dated, Day};

/// A row without the existing id. Ordered by the rank of that id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Unnamed {
    existing: IdRank,
    new: IdRank,
    distance: Unlikeness,
}

impl Record for Unnamed {}

/// Rows that wait for the ids of their existing documents.
pub(super) struct Rows<'a> {
    batch: &'a Batch,
    detail: Detail,
    matches: Sorter<Unnamed>,
    verdicts: Sorter<Unnamed>,
    named_matches: Sorter<MatchRow<Unlikeness>>,
    named_verdicts: Sorter<MatchRow<Unlikeness>>,
    /// The documents of each group, for [`Detail::All`] and for a store.
    members: Members,
    space: Space<'a>,
}

/// Rows with all their ids, sorted as they are written.
pub(super) struct Named {
    pub(super) ids: SortedRecords<String>,
    pub(super) matches: SortedRecords<MatchRow<Unlikeness>>,
    pub(super) verdicts: SortedRecords<MatchRow<Unlikeness>>,
    /// The ids that were asked for.
    pub(super) wanted: Vec<String>,
}

impl<'a> Rows<'a> {
    /// No rows yet.
    pub(super) fn new(
        batch: &'a Batch,
        detail: Detail,
        has_store: bool,
        space: Space<'a>,
    ) -> Rows<'a> {
        let has_members = has_store || detail == Detail::All;
        Rows {
            batch,
            detail,
            matches: space.sorter(),
            verdicts: space.sorter(),
            named_matches: space.sorter(),
            named_verdicts: space.sorter(),
            members: if has_members { Members::of(batch) } else { Members::default() },
            space,
        }
    }

    /// Takes the matches with the `store`: with [`Detail::All`] as rows. Gives the nearest pages to each group.
    pub(super) fn stored(
        &mut self,
        matches: impl Iterator<Item = Result<StoreMatch>>,
        store: &[Dated],
        least: &Least,
    ) -> Result<Sorter<NearestPage>> {
        let mut nearest = self.space.sorter();
        let is_least = |it: &StoreMatch| least[it.group.index()] == Some(it.distance);
        each_named(matches, store, |found, id, day| {
            let StoreMatch { group, distance, .. } = found;
            if is_least(&found) {
                nearest.push(NearestPage { group, id: id.to_owned(), day })?;
            }
            match self.detail {
                Detail::Best => Ok(()),
                Detail::All => {
                    let rows = self.members.of_group(group).iter();
                    let rows = rows.map(|&new| stored_row(new, distance, id, day));
                    self.named_matches.extend(rows)
                }
            }
        })?;
        Ok(nearest)
    }

    /// With [`Detail::All`], takes the matches of two groups.
    pub(super) fn matching(&mut self, edge: &Edge<Unlikeness>) -> Result<()> {
        if self.detail == Detail::Best {
            return Ok(());
        }
        let Rows { members, matches, .. } = self;
        let distance = edge.of_later.expect("pages that overlap stand for each other");
        for &one in members.of_group(edge.later) {
            let others = members.of_group(edge.earlier).iter();
            matches.extend(others.map(|&other| Unnamed::of_pair(one, other, distance)))?;
        }
        Ok(())
    }

    /// With [`Detail::All`], takes the matches within each group.
    pub(super) fn copies(&mut self) -> Result<()> {
        if self.detail == Detail::Best {
            return Ok(());
        }
        let Rows { batch, members, matches, .. } = self;
        for group in below::<KeepRank>(batch.len()) {
            let copies = members.of_group(group);
            for (at, &one) in copies.iter().enumerate() {
                let others = copies[..at].iter();
                matches
                    .extend(others.map(|&other| Unnamed::of_pair(one, other, Unlikeness::SAME)))?;
            }
        }
        Ok(())
    }

    /// Takes the verdicts. With [`Detail::Best`] these are the matches too. A page of the store is named before one of the
    /// batch that is as near.
    pub(super) fn judged(
        &mut self,
        judgements: &Judgements<Unlikeness>,
        least: &Least,
        nearest: Sorter<NearestPage>,
    ) -> Result<()> {
        let within = |group: KeepRank| match judgements.get(group) {
            Judgement::Kept => Some((group, Unlikeness::SAME)),
            Judgement::Dropped { near } => {
                let stored = least[group.index()];
                near.filter(|&(_, distance)| stored.is_none_or(|stored| distance < stored))
            }
        };
        let mut last = None;
        for page in nearest.sorted()? {
            let NearestPage { group, id, day } = page?;
            let is_first = last.replace(group) != Some(group);
            let Some(distance) = least[group.index()].filter(|_| is_first) else { continue };
            if within(group).is_some() {
                continue;
            }
            for &new in self.members.of_group(group) {
                let row = stored_row(new, distance, &id, day);
                if self.detail == Detail::Best {
                    self.named_matches.push(row.clone())?;
                }
                self.named_verdicts.push(row)?;
            }
        }
        let Batch { groups, leaders, .. } = self.batch;
        for (rank, &group) in (0..).zip(groups) {
            let new = IdRank::from(rank);
            let Some((kept, distance)) = within(group) else { continue };
            let existing = leaders[kept.index()];
            if existing == new {
                continue;
            }
            self.verdicts.push(Unnamed { existing, new, distance })?;
            if self.detail == Detail::Best {
                self.matches.push(Unnamed::of_pair(new, existing, distance))?;
            }
        }
        Ok(())
    }

    /// Looks up the ids, and those of the `wanted` documents besides.
    pub(super) fn name(self, ids: SortedRecords<String>, wanted: &[IdRank]) -> Result<Named> {
        let folder = self.space.folder;
        let mut matches = Naming::new(self.matches, self.named_matches)?;
        let mut verdicts = Naming::new(self.verdicts, self.named_verdicts)?;
        let mut found = BTreeMap::new();
        let named = (0..).zip(ids).map(|(rank, id)| {
            let (rank, id) = (IdRank::from(rank), id?);
            matches.name(rank, &id)?;
            verdicts.name(rank, &id)?;
            if wanted.contains(&rank) {
                found.insert(rank, id.clone());
            }
            Ok(id)
        });
        let ids = SortedRecords::through_disk(folder, named)?;
        let wanted = wanted.iter().map(|rank| found[rank].clone()).collect();
        let [matches, verdicts] = [matches.named.sorted()?, verdicts.named.sorted()?];
        Ok(Named { ids, matches, verdicts, wanted })
    }
}

impl Unnamed {
    /// The row of two documents: the larger id is the new one.
    fn of_pair(one: IdRank, other: IdRank, distance: Unlikeness) -> Unnamed {
        Unnamed { existing: one.min(other), new: one.max(other), distance }
    }
}

/// The row of a document and a page of the store.
fn stored_row(new: IdRank, distance: Unlikeness, id: &str, day: Day) -> MatchRow<Unlikeness> {
    let origin = Origin::Day(day);
    MatchRow { new, distance, existing: id.to_owned(), origin, similarity: None }
}

/// Rows that get the ids of their existing documents in the order of these.
struct Naming {
    rows: Peekable<SortedRecords<Unnamed>>,
    named: Sorter<MatchRow<Unlikeness>>,
}

impl Naming {
    fn new(rows: Sorter<Unnamed>, named: Sorter<MatchRow<Unlikeness>>) -> Result<Naming> {
        Ok(Naming { rows: rows.sorted()?.peekable(), named })
    }

    /// Names the document of this rank, the next one.
    fn name(&mut self, rank: IdRank, id: &str) -> Result<()> {
        let Naming { rows, named } = self;
        let is_next = |row: &Result<Unnamed>| row.as_ref().map_or(true, |row| row.existing == rank);
        while let Some(row) = rows.next_if(is_next) {
            let Unnamed { new, distance, .. } = row?;
            let existing = id.to_owned();
            let origin = Origin::Batch;
            named.push(MatchRow { new, distance, existing, origin, similarity: None })?;
        }
        Ok(())
    }
}

/// The documents of each group, in the order of their ids.
#[derive(Default)]
pub(super) struct Members {
    /// Where the documents of each group begin, and the number of documents at the end.
    starts: Vec<u32>,
    documents: Vec<IdRank>,
}

impl Members {
    pub(super) fn of(batch: &Batch) -> Members {
        let mut starts = vec![0];
        let mut end = 0;
        starts.extend(batch.sizes.iter().map(|size| {
            end += size;
            end
        }));
        let mut next = starts.clone();
        let mut documents = vec![IdRank::from(0); batch.groups.len()];
        for (rank, group) in (0..).zip(&batch.groups) {
            let place = &mut next[group.index()];
            documents[*place as usize] = IdRank::from(rank);
            *place += 1;
        }
        Members { starts, documents }
    }

    pub(super) fn of_group(&self, group: KeepRank) -> &[IdRank] {
        let [start, end] = [group.index(), group.index() + 1].map(|at| self.starts[at] as usize);
        &self.documents[start..end]
    }
}
