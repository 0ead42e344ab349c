//! Groups compared: the listed candidates, and those of crowded buckets when the keep rule asks.

use std::cell::{Cell, RefCell};

use super::batch::Batch;
use super::buckets::Candidate;
use super::confirmation::Comparison;
use crate::error::{Error, Result};
use crate::matches::{Block, Crowd, Edge, KeepRank, Unlikeness};

/// The candidates that match, in their order.
pub(super) fn compare(
    batch: &Batch,
    comparison: &Comparison,
    candidates: &[Candidate],
) -> Result<Vec<Edge<Unlikeness>>> {
    let mut buffers = [Vec::new(), Vec::new()];
    let mut edges = Vec::new();
    for &Candidate { later, earlier } in candidates {
        if let Some(distance) = unlikeness(batch, comparison, later, earlier, &mut buffers)? {
            edges.push(Edge { later, earlier, distance });
        }
    }
    Ok(edges)
}

fn unlikeness(
    batch: &Batch,
    comparison: &Comparison,
    one: KeepRank,
    other: KeepRank,
    [first, second]: &mut [Vec<u8>; 2],
) -> Result<Option<Unlikeness>> {
    let one = batch.evidence(one, first)?;
    let other = batch.evidence(other, second)?;
    Ok(comparison.compare(one, other).map(Unlikeness::from))
}

/// Compares the groups of hot buckets, while the keep rule asks.
pub(super) struct Near<'a> {
    batch: &'a Batch,
    comparison: Comparison,
    buffers: RefCell<[Vec<u8>; 2]>,
    /// How many pairs were compared.
    looked_up: Cell<u64>,
    failure: RefCell<Option<Error>>,
}

impl Near<'_> {
    pub(super) fn new(batch: &Batch, comparison: Comparison) -> Near<'_> {
        Near {
            batch,
            comparison,
            buffers: RefCell::default(),
            looked_up: Cell::new(0),
            failure: RefCell::new(None),
        }
    }

    /// How far two groups are apart, if they match. A failure is kept for the end.
    fn unlikeness(&self, one: KeepRank, other: KeepRank) -> Option<Unlikeness> {
        self.looked_up.set(self.looked_up.get() + 1);
        let buffers = &mut self.buffers.borrow_mut();
        unlikeness(self.batch, &self.comparison, one, other, buffers).unwrap_or_else(|error| {
            self.failure.borrow_mut().get_or_insert(error);
            None
        })
    }

    /// How many pairs were compared, unless one could not be read.
    pub(super) fn finish(&self) -> Result<u64> {
        self.failure.take().map_or(Ok(self.looked_up.get()), Err)
    }
}

/// The groups of hot buckets, and how the keep rule finds the kept ones near them.
pub(super) fn crowd<'a>(
    crowds: &'a [(KeepRank, u64)],
    near: &'a Near<'a>,
) -> Crowd<
    impl Fn(KeepRank) -> Vec<Block> + 'a,
    impl Fn(KeepRank, KeepRank) -> Option<Unlikeness> + 'a,
> {
    let buckets = |rank: KeepRank| {
        let start = crowds.partition_point(|&(group, _)| group < rank);
        let own = crowds[start..].iter().take_while(|(group, _)| *group == rank);
        own.map(|&(_, key)| (0, u128::from(key))).collect()
    };
    let ranks = crowds.iter().map(|&(group, _)| group).collect();
    Crowd::new(ranks, buckets, |one, other| near.unlikeness(one, other))
}
