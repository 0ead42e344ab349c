//! The rows of the output: what each dropped document is dropped for, and the matches.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::document::Id;
use crate::error::Result;
use crate::matches::{
    Detail, Edge, IdRank, Judgement, Judgements, KeepRank, MatchRow, Number, Origin, Unlikeness,
    below,
};
use crate::runs::{Record, SortedRecords, Sorter};

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
    /// The documents of each group, for [`Detail::All`].
    members: Members,
    spill: (&'a Path, usize),
}

/// Rows with all their ids, sorted as they are written.
pub(super) struct Named {
    pub(super) ids: SortedRecords<Id>,
    pub(super) matches: SortedRecords<MatchRow<Unlikeness>>,
    pub(super) verdicts: SortedRecords<MatchRow<Unlikeness>>,
    /// The ids that were asked for.
    pub(super) wanted: Vec<String>,
}

impl<'a> Rows<'a> {
    /// No rows yet.
    pub(super) fn new(batch: &'a Batch, detail: Detail, spill: (&'a Path, usize)) -> Rows<'a> {
        let sorter = || Sorter::new(spill.0, spill.1);
        let members = match detail {
            Detail::All => Members::of(batch),
            Detail::Best => Members::default(),
        };
        Rows { batch, detail, matches: sorter(), verdicts: sorter(), members, spill }
    }

    /// With [`Detail::All`], takes the matches of two groups.
    pub(super) fn matching(&mut self, edge: &Edge<Unlikeness>) -> Result<()> {
        if self.detail == Detail::Best {
            return Ok(());
        }
        let Rows { members, matches, .. } = self;
        for &one in members.of_group(edge.later) {
            let others = members.of_group(edge.earlier).iter();
            matches.extend(others.map(|&other| Unnamed::of_pair(one, other, edge.distance)))?;
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

    /// Takes the verdicts. With [`Detail::Best`] these are the matches too.
    pub(super) fn judged(&mut self, judgements: &Judgements<Unlikeness>) -> Result<()> {
        let Batch { groups, leaders, .. } = self.batch;
        for (rank, &group) in (0..).zip(groups) {
            let new = IdRank::from(rank);
            let (kept, distance) = match judgements.get(group) {
                Judgement::Kept if leaders[group.index()] == new => continue,
                Judgement::Kept => (group, Unlikeness::SAME),
                Judgement::Dropped { near } => near.expect("a dropped group is near a kept one"),
            };
            let existing = leaders[kept.index()];
            self.verdicts.push(Unnamed { existing, new, distance })?;
            if self.detail == Detail::Best {
                self.matches.push(Unnamed::of_pair(new, existing, distance))?;
            }
        }
        Ok(())
    }

    /// Looks up the ids, and those of the `wanted` documents besides.
    pub(super) fn name(self, ids: SortedRecords<Id>, wanted: &[IdRank]) -> Result<Named> {
        let folder = self.spill.0;
        let mut matches = Naming::new(self.matches, self.spill)?;
        let mut verdicts = Naming::new(self.verdicts, self.spill)?;
        let mut found = BTreeMap::new();
        let named = (0..).zip(ids).map(|(rank, id)| {
            let (rank, id) = (IdRank::from(rank), id?);
            matches.name(rank, &id.0)?;
            verdicts.name(rank, &id.0)?;
            if wanted.contains(&rank) {
                found.insert(rank, id.0.clone());
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

/// Rows that get the ids of their existing documents in the order of these.
struct Naming {
    rows: Peekable<SortedRecords<Unnamed>>,
    named: Sorter<MatchRow<Unlikeness>>,
}

impl Naming {
    fn new(rows: Sorter<Unnamed>, (folder, memory_bytes): (&Path, usize)) -> Result<Naming> {
        Ok(Naming { rows: rows.sorted()?.peekable(), named: Sorter::new(folder, memory_bytes) })
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

/// The documents of each group.
#[derive(Default)]
struct Members {
    /// Where the documents of each group begin, and the number of documents at the end.
    starts: Vec<u32>,
    documents: Vec<IdRank>,
}

impl Members {
    fn of(batch: &Batch) -> Members {
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

    fn of_group(&self, group: KeepRank) -> &[IdRank] {
        let [start, end] = [group.index(), group.index() + 1].map(|at| self.starts[at] as usize);
        &self.documents[start..end]
    }
}
