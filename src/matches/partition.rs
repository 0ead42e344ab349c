//! Pairs partitioned into what the keep rule needs, and counted before anything is expanded.

use super::batch::Batch;
use super::confirm::{Confirmed, Sieving, confirm};
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
use super::texts::{ComparedGroups, PageRuns, TextReading};
use crate::error::Result;
use crate::progress::{self, Activity};
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
    /// With a check, how many rows there would be without it.
    pub(super) candidates: Option<u128>,
    /// The groups with the most rows, counted where they are the new ones.
    pub(super) most_matches: MostFrequent,
    /// The groups in pairs of candidates and in crowds, where texts are compared.
    compared: ComparedGroups,
    /// The runs of these groups.
    pub(super) runs: Option<PageRuns>,
}

/// What is partitioned, and how.
#[derive(Clone, Copy)]
pub(super) struct Partitioning<'a> {
    pub(super) batch: &'a Batch,
    pub(super) leaders: &'a Leaders,
    pub(super) store: &'a [Dated],
    /// Pairs beyond this distance share a band. They are few for each page, and all are taken.
    pub(super) distance: u32,
    /// For [`Detail::Best`] nothing is counted, and of crowds only the pairs that the [`Sieve`] passes
    /// are taken.
    pub(super) detail: Detail,
    /// How many rows may be confirmed, for [`Detail::All`].
    pub(super) most: u64,
    /// Reads the texts of the batch, if they are compared.
    pub(super) texts: Option<TextReading<'a>>,
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
            compared: ComparedGroups::new(self.texts.map_or(0, |_| self.batch.groups())),
            runs: None,
        };
        match self.detail {
            Detail::Best => self.take_best(pairs, keys, &mut partition)?,
            Detail::All => self.take_all(pairs, keys, &mut partition)?,
        }
        Ok(partition)
    }

    /// Takes the pairs that the verdicts need.
    fn take_best(
        self,
        pairs: SortedRecords<Pair>,
        mut keys: Option<&mut GroupKeys>,
        partition: &mut Partition,
    ) -> Result<()> {
        let Partitioning { batch, leaders, store, distance, space, .. } = self;
        // The nearest page of the store need not be the one that holds most.
        let by_distance = keys.as_ref().is_none_or(|keys| !keys.has_direction());
        let sieve = Sieve::new(batch.groups() as usize, by_distance);
        let mut sieving = Sieving { sieve, distance };
        match keys.as_deref_mut() {
            Some(keys) => {
                let take = |confirmed| partition.place(leaders, confirmed);
                confirm(batch, keys, store, pairs, space, Some(&mut sieving), take)?;
            }
            None => {
                for pair in pairs {
                    let confirmed = unchecked(pair?);
                    if sieving.sieve.passes(&confirmed.pair) {
                        partition.place(leaders, confirmed)?;
                    }
                }
            }
        }
        let standings = Standings::default();
        let mut marks = sieving.sieve.crowded().map(|pair| Confirmed { pair, standings });
        marks.try_for_each(|mark| partition.place(leaders, mark))?;
        match (self.texts, keys) {
            (Some(texts), Some(keys)) => self.compare_edges(texts, keys, partition),
            _ => Ok(()),
        }
    }

    /// Compares the texts of the candidates among the edges, and leaves those that match.
    fn compare_edges(
        self,
        texts: TextReading<'_>,
        keys: &GroupKeys,
        partition: &mut Partition,
    ) -> Result<()> {
        let runs = texts.read(keys, &partition.compared)?;
        let edges = self.space.sorter();
        let candidates = std::mem::replace(&mut partition.edges, edges);
        for candidate in candidates.sorted()? {
            progress::tick(Activity::Working);
            let candidate = candidate?;
            let ranks = [candidate.later, candidate.earlier];
            let groups = ranks.map(|rank| self.leaders.group(rank));
            let standings = runs.standings(groups, candidate.distance())?;
            if standings.any() {
                partition.edges.push(Edge::of(ranks, standings))?;
            }
        }
        partition.runs = Some(runs);
        Ok(())
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
                    if let Pair { new, existing: Place::Batch { group }, .. } = confirmation.pair {
                        partition.compared.add([new, group]);
                    }
                    confirmed.push(confirmation)
                };
                let is_checked = keys.confirm().is_some();
                let candidates = confirm(batch, keys, store, pairs, space, None, take)?;
                partition.candidates = is_checked.then_some(candidates);
                let compared = &partition.compared;
                let runs = self.texts.map(|texts| texts.read(keys, compared)).transpose()?;
                let matching = confirmed.sorted()?.filter_map(|pair| match (pair, &runs) {
                    (Ok(pair), Some(runs)) => matching(pair, runs).transpose(),
                    (pair, _) => Some(pair),
                });
                self.count(matching, partition)?;
                partition.runs = runs;
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
                self.compared.add([new, group]);
                self.edges.push(Edge::of([leaders.rank(new), leaders.rank(group)], standings))
            }
            Place::Store { segment, row, rows } => {
                let nearest = &mut self.nearest[new.index()];
                *nearest = standings.of_first.map_or(*nearest, |standing| standing.min(*nearest));
                self.with_store.push(StorePair { segment, row, rows, new, distance, standings })
            }
            Place::Crowd => {
                self.compared.add([new]);
                self.crowded.push(leaders.rank(new));
                Ok(())
            }
        }
    }
}

/// A pair of candidates by their texts, if these match; a pair with the store as it is.
fn matching(confirmed: Confirmed, runs: &PageRuns) -> Result<Option<Confirmed>> {
    let Pair { new, existing: Place::Batch { group }, distance } = confirmed.pair else {
        return Ok(Some(confirmed));
    };
    progress::tick(Activity::Working);
    let standings = runs.standings([new, group], distance)?;
    Ok(standings.any().then_some(Confirmed { standings, ..confirmed }))
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
        Place::Crowd => 0,
    };
    size(pair.new) * existing
}

/// The pairs within a group of this size.
pub(crate) fn copies(size: u128) -> u128 {
    size * size.saturating_sub(1) / 2
}
