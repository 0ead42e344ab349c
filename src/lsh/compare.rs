//! Groups compared: the candidates of small buckets, and those of crowded ones when the keep rule asks.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use super::batch::Batch;
use super::confirmation::Comparison;
use crate::error::Result;
use crate::matches::{Block, Comparing, Crowd, Edge, KeepRank, Nearness, Unlikeness};

/// Two groups that share a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The key of the bucket.
    pub(super) key: u64,
    pub(super) later: KeepRank,
    pub(super) earlier: KeepRank,
}

/// What comparing some candidates gave.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// How many of them were compared.
    pub(super) compared: u64,
    /// Those that match, in their order.
    pub(super) edges: Vec<Edge<Unlikeness>>,
}

/// Compares candidates. A pair that shares several buckets is compared in the first of these, and passed over in the
/// others.
pub(super) fn compare(
    batch: &Batch,
    comparison: &Comparison,
    candidates: &[Candidate],
) -> Result<Compared> {
    let mut buffers = [Vec::new(), Vec::new()];
    let mut done = Compared::default();
    for &Candidate { key, later, earlier } in candidates {
        let [one, other] = &mut buffers;
        let one = batch.item(later, one)?;
        let other = batch.item(earlier, other)?;
        if one.first_shared(&other).is_some_and(|first| first < key) {
            continue;
        }
        done.compared += 1;
        if let Some(similarity) = comparison.compare(one.evidence, other.evidence) {
            done.edges.push(Edge::mutual(later, earlier, similarity.into()));
        }
    }
    Ok(done)
}

/// Compares the groups of crowded buckets, while the keep rule asks.
pub(super) struct Near<'a> {
    batch: &'a Batch,
    comparison: Comparison,
    buffers: RefCell<[Vec<u8>; 2]>,
    /// How many pairs were compared.
    looked_up: Cell<u64>,
}

impl Near<'_> {
    pub(super) fn new(batch: &Batch, comparison: Comparison) -> Near<'_> {
        Near { batch, comparison, buffers: RefCell::default(), looked_up: Cell::new(0) }
    }

    /// How far two groups are apart, if they match.
    fn unlikeness(&self, one: KeepRank, other: KeepRank) -> Result<Option<Unlikeness>> {
        self.looked_up.set(self.looked_up.get() + 1);
        let [first, second] = &mut *self.buffers.borrow_mut();
        let one = self.batch.item(one, first)?;
        let other = self.batch.item(other, second)?;
        Ok(self.comparison.compare(one.evidence, other.evidence).map(Unlikeness::from))
    }

    /// The band keys of a group.
    fn keys(&self, group: KeepRank) -> Result<Vec<u64>> {
        let mut keys = Vec::with_capacity(self.batch.bands());
        let [buffer, _] = &mut *self.buffers.borrow_mut();
        self.batch.each_key(group, buffer, |key| {
            keys.push(key);
            Ok(())
        })?;
        Ok(keys)
    }

    /// How many pairs were compared.
    pub(super) fn looked_up(&self) -> u64 {
        self.looked_up.get()
    }
}

/// Crowded buckets, and how the keep rule finds the kept groups near those in them.
pub(super) struct Bucketed<'a> {
    /// The keys of these buckets.
    pub(super) keys: &'a HashSet<u64>,
    pub(super) near: &'a Near<'a>,
}

impl Bucketed<'_> {
    /// The crowd of the groups with these `ranks`.
    pub(super) fn crowd(self, ranks: Vec<KeepRank>) -> Crowd<Self> {
        Crowd::new(ranks, self)
    }
}

impl Comparing for Bucketed<'_> {
    type Sketch = ();
    type Distance = Unlikeness;

    fn blocks(&self, rank: KeepRank) -> Result<Vec<Block>> {
        let keys = self.near.keys(rank)?.into_iter();
        let crowded = keys.filter(|key| self.keys.contains(key));
        Ok(crowded.map(|key| (0, u128::from(key))).collect())
    }

    fn sketch(&self, _: KeepRank) {}

    /// All that share a bucket may match.
    fn find(&self, _: (), kept: &[()], mut found: impl FnMut(usize, Unlikeness)) {
        (0..kept.len()).for_each(|at| found(at, Unlikeness::SAME));
    }

    fn distance(&mut self, one: KeepRank, other: KeepRank) -> Result<Option<Unlikeness>> {
        self.near.unlikeness(one, other)
    }
}
