//! The batch arranged for the store, or joined with itself, by whichever design was chosen.

use std::sync::Arc;

use super::buckets::check_count;
use super::conditioned::{Conditioned, Walk};
use super::design::Design;
use super::multi_index::{Gathered, MultiIndex, MultiIndexScratch};
use super::probe::{Hit, Probe};
use super::sorted::{self, Gathering, SortedJoin};
use crate::error::Result;
use crate::fingerprint::Fingerprint;

#[derive(Debug)]
pub struct ArrangedBatch<F: Fingerprint> {
    arrangement: Arrangement<F>,
    /// How many fingerprints are probed in one call, if the plan says so.
    window: Option<usize>,
}

#[derive(Debug)]
enum Arrangement<F: Fingerprint> {
    /// By a design of masks: sorted with each window of what is probed.
    Sorted(SortedJoin<F>),
    Conditioned(Conditioned<F>),
    MultiIndex(Arc<MultiIndex<F>>),
}

/// Memory that an [`ArrangedBatch`] works in: that of every design, all of it empty until it is needed.
#[derive(Debug, Default)]
pub struct MethodScratch<F: Fingerprint> {
    sorted: Gathering<F>,
    conditioned: Walk<F>,
    multi_index: MultiIndexScratch<F>,
}

impl<F: Fingerprint> ArrangedBatch<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`, on up to `threads` threads.
    pub fn build(
        batch: &Arc<[F]>,
        design: Design,
        k: u32,
        threads: usize,
    ) -> Result<ArrangedBatch<F>> {
        debug_assert!(batch.is_sorted_by(|a, b| a < b), "a batch is sorted and distinct");
        check_count(batch.len())?;
        design.check(F::WIDTH, k)?;
        let arrangement = match design {
            Design::Conditioned => Arrangement::Conditioned(Conditioned::new(batch, k)),
            Design::MultiIndex => {
                Arrangement::MultiIndex(Arc::new(MultiIndex::new(batch, k, threads)))
            }
            masked => Arrangement::Sorted(SortedJoin::new(Arc::clone(batch), masked, k)?),
        };
        Ok(ArrangedBatch { arrangement, window: None })
    }

    /// The batch as it is arranged for `itself`, if `design` would arrange it for the store in the same way.
    pub fn sharing(itself: &SelfJoin<F>, design: Design) -> Option<ArrangedBatch<F>> {
        let OwnArrangement::MultiIndex(multi_index) = &itself.0 else { return None };
        let is_same = design == Design::MultiIndex && multi_index.is_arranged_for_others();
        let arrangement = Arrangement::MultiIndex(Arc::clone(multi_index));
        is_same.then_some(ArrangedBatch { arrangement, window: None })
    }

    /// The same, probed in windows of so many fingerprints, as a [plan](super::plan) has it.
    #[must_use]
    pub fn in_windows(self, window: Option<usize>) -> ArrangedBatch<F> {
        ArrangedBatch { window, ..self }
    }

    /// How many bytes it holds, in addition to the batch that it was given.
    pub fn memory_bytes(&self) -> u64 {
        match &self.arrangement {
            Arrangement::Sorted(_) => 0,
            Arrangement::Conditioned(conditioned) => conditioned.memory_bytes(),
            Arrangement::MultiIndex(multi_index) => multi_index.memory_bytes(),
        }
    }
}

impl<F: Fingerprint> Probe<F> for ArrangedBatch<F> {
    type Scratch = MethodScratch<F>;

    fn probe(&self, runs: &[&[F]], scratch: &mut MethodScratch<F>, found: &mut dyn FnMut(Hit)) {
        match &self.arrangement {
            Arrangement::Sorted(it) => it.probe(runs, &mut scratch.sorted, found),
            Arrangement::Conditioned(it) => it.probe(runs, &mut scratch.conditioned, found),
            Arrangement::MultiIndex(it) => it.probe(runs, &mut scratch.multi_index, found),
        }
    }

    fn window(&self) -> usize {
        self.window.unwrap_or_else(|| match &self.arrangement {
            Arrangement::Sorted(it) => it.window(),
            Arrangement::Conditioned(it) => it.window(),
            Arrangement::MultiIndex(it) => it.window(),
        })
    }
}

/// The batch joined with itself by whichever design was chosen.
#[derive(Debug)]
pub struct SelfJoin<F>(OwnArrangement<F>);

#[derive(Debug)]
enum OwnArrangement<F> {
    Sorted(SortedJoin<F>),
    MultiIndex(Arc<MultiIndex<F>>),
}

#[derive(Debug, Default)]
pub struct SelfJoinScratch<F> {
    sorted: Gathering<F>,
    multi_index: Gathered,
}

impl<F: Fingerprint> SelfJoin<F> {
    /// The join of `batch`, which is sorted and distinct, for distances up to `k`: by multi-index hashing, or
    /// sorted by the keys of a design of masks, in shares of about `share` fingerprints at most. Builds on up to
    /// `threads` threads.
    pub fn new(
        batch: &Arc<[F]>,
        design: Design,
        k: u32,
        share: u64,
        threads: usize,
    ) -> Result<SelfJoin<F>> {
        check_count(batch.len())?;
        design.check(F::WIDTH, k)?;
        Ok(SelfJoin(match design {
            Design::MultiIndex => {
                OwnArrangement::MultiIndex(Arc::new(MultiIndex::for_itself(batch, k, threads)))
            }
            masked => {
                OwnArrangement::Sorted(SortedJoin::in_shares(Arc::clone(batch), masked, k, share)?)
            }
        }))
    }

    /// What decides, with the batch, which pair falls into which part: the keys, or each block and its limit.
    pub fn keys(&self) -> Vec<u128> {
        match &self.0 {
            OwnArrangement::Sorted(sorted) => sorted.keys.iter().map(|key| key.to_u128()).collect(),
            OwnArrangement::MultiIndex(multi_index) => multi_index.keys(),
        }
    }

    /// The number of parts. It depends on the size of the batch alone.
    pub fn parts(&self) -> u32 {
        match &self.0 {
            OwnArrangement::Sorted(sorted) => sorted.parts(),
            OwnArrangement::MultiIndex(multi_index) => sorted::parts(multi_index.count()),
        }
    }

    /// Joins one part of the batch with itself. Over all parts, `found` is called exactly once for each pair
    /// within k: with the later one as the batch's, and the earlier one as the probed one.
    pub fn join(&self, part: u32, scratch: &mut SelfJoinScratch<F>, found: &mut dyn FnMut(Hit)) {
        match &self.0 {
            OwnArrangement::Sorted(sorted) => sorted.join(part, &mut scratch.sorted, found),
            OwnArrangement::MultiIndex(multi_index) => {
                let part = (part, self.parts());
                multi_index.join(part, &mut scratch.multi_index, found);
            }
        }
    }
}
