//! Pairs partitioned into what the keep rule needs, and counted before anything is expanded.

use super::batch::Batch;
use super::confirm::{Candidates, Confirmed, confirm};
use super::detail::{Detail, too_many};
use super::frequent::MostFrequent;
use super::group_key::GroupKeys;
use super::keep_order::Leaders;
use super::keep_rule::Edge;
use super::nearness::Nearness;
use super::numbers::{Group, KeepRank, Number, below};
use super::pair::{Pair, Place};
use super::sieve::Sieve;
use super::standing::{Standing, Standings};
use super::store_pair::StorePair;
use crate::error::Result;
use crate::runs::{SortedRecords, Sorter, Space};
use crate::store::Dated;

/// The pairs of a join, partitioned by where their existing side is.
#[derive(Debug)]
pub(super) struct Partition {
    /// Near groups of the batch.
    pub(super) edges: Sorter<Edge<Standing>>,
    /// Pairs with the store.
    pub(super) with_store: Sorter<StorePair<Group>>,
    /// For each group how well the best page of the store stands for it, or [`Standing::KEPT`].
    pub(super) nearest: Vec<Standing>,
    /// The ranks of groups whose pairs with each other are not all among the edges.
    pub(super) crowded: Vec<KeepRank>,
    /// How many rows of matches.tsv each distance has when every pair is expanded to documents. A million
    /// copies on both sides are 10^12 of them. Counted for [`Detail::All`] only.
    pub(super) rows: Vec<u128>,
    /// With a check, the pairs that it confirmed or did not.
    pub(super) candidates: Option<Candidates>,
    /// The groups with the most rows, counted where they are the new ones.
    pub(super) most_matches: MostFrequent,
}

/// What is partitioned, and how.
#[derive(Clone, Copy)]
pub(super) struct Partitioning<'a> {
    pub(super) batch: &'a Batch,
    pub(super) leaders: &'a Leaders,
    pub(super) store: &'a [Dated],
    /// The largest distance that counts as near.
    pub(super) distance: u32,
    /// For [`Detail::Best`] nothing is counted, and of crowds only the pairs that the [`Sieve`] passes
    /// are taken.
    pub(super) detail: Detail,
    /// How many rows may be confirmed, for [`Detail::All`].
    pub(super) most: u64,
    /// The space of a sort.
    pub(super) space: Space<'a>,
}

impl Partitioning<'_> {
    /// Partitions `pairs`. If the batch has group `keys`, only pairs that they confirm are taken.
    ///
    /// # Errors
    /// [`too_many`] as soon as more rows are confirmed than allowed.
    pub(super) fn partition(
        self,
        pairs: SortedRecords<Pair>,
        keys: Option<&mut GroupKeys>,
    ) -> Result<Partition> {
        let mut partition = Partition {
            edges: self.space.sorter(),
            with_store: self.space.sorter(),
            nearest: vec![Standing::KEPT; self.batch.groups() as usize],
            crowded: Vec::new(),
            rows: vec![0; usize::from(u8::MAX)],
            candidates: None,
            most_matches: MostFrequent::default(),
        };
        match self.detail {
            Detail::Best => self.take_best(pairs, keys, &mut partition)?,
            Detail::All => self.take_all(pairs, keys, &mut partition)?,
        }
        Ok(partition)
    }

    /// Takes the pairs that the verdicts need: with sketches all that are confirmed, and else those that pass the sieve.
    fn take_best(
        self,
        pairs: SortedRecords<Pair>,
        keys: Option<&mut GroupKeys>,
        partition: &mut Partition,
    ) -> Result<()> {
        let Partitioning { batch, leaders, store, space, .. } = self;
        let mut sieve = Sieve::new(batch.groups() as usize, true);
        match keys {
            Some(keys) if keys.has_direction() => {
                let take = |confirmed: Confirmed| match confirmed.pair.existing {
                    Place::Crowd => Ok(()),
                    _ => partition.place(leaders, confirmed),
                };
                partition.candidates = Some(confirm(batch, keys, store, pairs, space, None, take)?);
                return Ok(());
            }
            Some(keys) => {
                let take = |confirmed: Confirmed| match sieve.passes(&confirmed.pair) {
                    true => partition.place(leaders, confirmed),
                    false => Ok(()),
                };
                confirm(batch, keys, store, pairs, space, None, take)?;
            }
            None => {
                for pair in pairs {
                    let confirmed = unchecked(pair?);
                    if sieve.passes(&confirmed.pair) {
                        partition.place(leaders, confirmed)?;
                    }
                }
            }
        }
        let standings = Standings::default();
        let mut marks = sieve.crowded().map(|pair| Confirmed { pair, standings });
        marks.try_for_each(|mark| partition.place(leaders, mark))
    }

    /// Takes and counts all pairs.
    fn take_all(
        self,
        pairs: SortedRecords<Pair>,
        keys: Option<&mut GroupKeys>,
        partition: &mut Partition,
    ) -> Result<()> {
        let Partitioning { batch, store, most, space, .. } = self;
        match keys {
            None => self.count(pairs.map(|pair| pair.map(unchecked)), partition)?,
            Some(keys) => {
                let mut confirmed = space.sorter();
                let mut rows = 0;
                let take = |confirmation: Confirmed| {
                    rows += rows_of(batch, &confirmation.pair);
                    if rows > u128::from(most) {
                        return Err(too_many(format_args!("more than {most}"), most));
                    }
                    confirmed.push(confirmation)
                };
                let is_checked = keys.confirm().is_some();
                let known = Some(self.distance);
                let candidates = confirm(batch, keys, store, pairs, space, known, take)?;
                partition.candidates = is_checked.then_some(candidates);
                self.count(confirmed.sorted()?, partition)?;
            }
        }
        let size = |group: Group| batch.rows_of(group).len() as u128;
        partition.rows[0] += below(batch.groups()).map(|group| copies(size(group))).sum::<u128>();
        Ok(())
    }

    /// Takes all pairs of groups, which come in order, and counts their rows.
    fn count(
        self,
        pairs: impl Iterator<Item = Result<Confirmed>>,
        partition: &mut Partition,
    ) -> Result<()> {
        let mut group = Group::from(0);
        let mut rows = 0;
        for pair in pairs {
            let confirmed = pair?;
            let pair = confirmed.pair;
            if group != pair.new {
                partition.most_matches.offer(rows, group);
                group = pair.new;
                rows = 0;
            }
            partition.place(self.leaders, confirmed)?;
            let of_pair = rows_of(self.batch, &pair);
            partition.rows[usize::from(pair.distance)] += of_pair;
            rows += of_pair;
        }
        partition.most_matches.offer(rows, group);
        Ok(())
    }
}

impl Partition {
    /// Puts a pair where it belongs.
    fn place(&mut self, leaders: &Leaders, Confirmed { pair, standings }: Confirmed) -> Result<()> {
        let Pair { new, existing, distance } = pair;
        match existing {
            Place::Batch { group } => {
                self.edges.push(Edge::of([leaders.rank(new), leaders.rank(group)], standings))
            }
            Place::Store { segment, row, rows } => {
                let nearest = &mut self.nearest[new.index()];
                *nearest = standings.of_first.map_or(*nearest, |standing| standing.min(*nearest));
                self.with_store.push(StorePair { segment, row, rows, new, distance, standings })
            }
            Place::Crowd => {
                self.crowded.push(leaders.rank(new));
                Ok(())
            }
            // A confirmed pair is of groups.
            Place::StoreRow { .. } | Place::BatchRow { .. } => Ok(()),
        }
    }
}

/// A pair of a batch without group keys: every near pair matches.
fn unchecked(pair: Pair) -> Confirmed {
    let standings = Standings::mutual(Standing::near(pair.distance));
    Confirmed { pair: pair.of_groups(), standings }
}

/// How many rows of matches.tsv a pair of groups has.
fn rows_of(batch: &Batch, pair: &Pair<Group>) -> u128 {
    let size = |group: Group| batch.rows_of(group).len() as u128;
    let existing = match pair.existing {
        Place::Batch { group } => size(group),
        Place::Store { rows, .. } => u128::from(rows),
        Place::StoreRow { .. } | Place::BatchRow { .. } | Place::Crowd => 0,
    };
    size(pair.new) * existing
}

/// The pairs within a group of this size.
pub(crate) fn copies(size: u128) -> u128 {
    size * size.saturating_sub(1) / 2
}
