//! The entry to the walk: the batch arranged, and probed at a depth that suits the store.

use std::sync::Arc;

use super::cost::{self, SHAPE, Shape};
use super::level::{COVERS, Level};
use super::walk::{Conditioned, Walk, Walking};
use crate::fingerprint::Fingerprint;
use crate::tables::flips::Flips;
use crate::tables::probe::{Hit, Probe};

impl<F: Fingerprint> Conditioned<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`.
    pub(in crate::tables) fn new(batch: &[F], k: u32) -> Conditioned<F> {
        Conditioned::shaped(batch, k, SHAPE)
    }

    /// How many bytes it holds; each worker holds about as much again.
    pub(in crate::tables) fn memory_bytes(&self) -> u64 {
        size_of_val(&self.root.entries[..]) as u64
    }

    pub(super) fn shaped(batch: &[F], k: u32, shape: Shape) -> Conditioned<F> {
        let ones = batch.iter().fold(F::default(), |ones, &fingerprint| ones | fingerprint);
        let tail = ones.to_u128().trailing_zeros().min(F::BITS / 2);
        assert!(k <= COVERS, "the design was checked");
        let root = Level::root(batch, k, shape.root);
        let flips = Flips::up_to(k);
        let identity = Arc::new(());
        Conditioned { root, identity, flips, k, tail, shape }
    }

    /// How many bits the prefixes of leaves are to have: what is cheapest for as many fingerprints as
    /// these runs would be if they were not a part of the key space only.
    fn depth(&self, runs: &[&[F]]) -> u32 {
        let Shape { root, digit, .. } = self.shape;
        let count: usize = runs.iter().map(|run| run.len()).sum();
        let lowest = runs.iter().filter_map(|run| run.first()).min();
        let highest = runs.iter().filter_map(|run| run.last()).max();
        let (Some(&lowest), Some(&highest)) = (lowest, highest) else { return 0 };
        let share =
            ((highest.to_u128() - lowest.to_u128()) as f64 + 1.0) / 2_f64.powi(F::BITS as i32);
        let store = (count as f64 / share).min(1e15);
        let batch = self.root.entries.len() as f64;
        cost::best(batch, store, self.k, F::BITS - self.tail, root, digit).bits
    }
}

impl<F: Fingerprint> Probe<F> for Conditioned<F> {
    type Scratch = Walk<F>;

    fn probe(&self, runs: &[&[F]], scratch: &mut Walk<F>, found: &mut dyn FnMut(Hit)) {
        debug_assert!(runs.iter().all(|run| run.is_sorted()), "runs are sorted");
        let Walk { leaf, spare, slices, bag } = scratch;
        let depth = self.depth(runs);
        let first = cost::first(depth, self.shape.root, self.shape.digit);
        let gathered = runs.len() > self.shape.side_by_side && depth > 0;
        let gathered = (gathered && bag.fill(runs, F::BITS - depth)).then_some((&*bag, runs));
        let whole = [&bag.fingerprints[..]];
        let runs = if gathered.is_some() { &whole } else { runs };
        slices.clear();
        slices.resize(runs.len(), 0..0);
        let mut walking = Walking { of: self, runs, gathered, leaf, spare, slices, found };
        walking.below(&self.root, first, F::MAX);
    }
}

#[cfg(test)]
mod tests;
