//! Pairs partitioned into what the keep rule needs, and counted before anything is expanded.

use super::batch::Batch;
use super::confirmed::Confirmed;
use super::coverage::Coverage;
use super::frequent::MostFrequent;
use super::keep_order::Leaders;
use super::keep_rule::Edge;
use super::numbers::{Group, KeepRank, Number, below};
use super::pair::{Pair, Place};
use super::sieve::Sieve;
use super::store_pair::StorePair;
use crate::error::Result;
use crate::runs::{SortSpace, Sorter};

#[derive(Debug)]
pub(super) struct Partition {
    pub(super) edges: Sorter<Edge>,
    pub(super) with_store: Sorter<StorePair>,
    /// For each group how well the best page of the store covers it, or [`Coverage::KEPT`].
    pub(super) nearest: Vec<Coverage>,
    /// The ranks of groups whose pairs with each other are not all among the edges.
    pub(super) crowded: Vec<KeepRank>,
    /// How many rows of matches.tsv each distance has when every pair is expanded to documents. A million
    /// copies on both sides are 10^12 of them. Counted if all are wanted.
    pub(super) rows: Vec<u128>,
    /// The groups with the most rows, counted where they are the new ones.
    pub(super) most_matches: MostFrequent,
}

impl Partition {
    /// Unless `all` rows are wanted, nothing is counted. If it `sifts`, of crowds only the pairs are taken that the [`Sieve`] passes.
    pub(super) fn of(
        pairs: impl Iterator<Item = Result<Confirmed>>,
        (batch, leaders): (&Batch, &Leaders),
        (all, sifts): (bool, bool),
        space: SortSpace<'_>,
    ) -> Result<Partition> {
        let mut partition = Partition {
            edges: space.sorter(),
            with_store: space.sorter(),
            nearest: vec![Coverage::KEPT; batch.groups() as usize],
            crowded: Vec::new(),
            rows: vec![0; usize::from(u8::MAX)],
            most_matches: MostFrequent::default(),
        };
        let mut sieve = sifts.then(|| Sieve::new(batch.groups() as usize, true));
        // The rows of a group so far.
        let mut last = (Group::from(0), 0);
        for confirmed in pairs {
            let confirmed = confirmed?;
            let pair = &confirmed.pair;
            if sieve.as_mut().is_some_and(|sieve| !sieve.passes(pair)) {
                continue;
            }
            if all {
                let rows = batch.rows_of_pair(pair);
                partition.rows[usize::from(pair.distance)] += rows;
                if last.0 != pair.new {
                    partition.most_matches.offer(last.1, last.0);
                    last = (pair.new, 0);
                }
                last.1 += rows;
            }
            partition.place(leaders, confirmed)?;
        }
        if all {
            partition.most_matches.offer(last.1, last.0);
            let groups = below::<Group>(batch.groups());
            partition.rows[0] += groups.map(|group| copies(batch.size(group))).sum::<u128>();
        }
        let crowded = sieve.iter().flat_map(Sieve::crowded::<Group>);
        partition.crowded.extend(crowded.map(|mark| leaders.rank(mark.new)));
        Ok(partition)
    }

    fn place(&mut self, leaders: &Leaders, Confirmed { pair, coverages }: Confirmed) -> Result<()> {
        let Pair { new, existing, distance } = pair;
        match existing {
            Place::Batch { group } => {
                self.edges.push(Edge::of([leaders.rank(new), leaders.rank(group)], coverages))
            }
            Place::Store { segment, row, rows } => {
                let nearest = &mut self.nearest[new.index()];
                *nearest = coverages.of_first.map_or(*nearest, |coverage| coverage.min(*nearest));
                self.with_store.push(StorePair { segment, row, rows, new, distance, coverages })
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

pub(crate) fn copies(size: u128) -> u128 {
    size * size.saturating_sub(1) / 2
}
