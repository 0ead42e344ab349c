//! The batch arranged by whichever design was chosen.

use std::sync::Arc;

use super::buckets::check_count;
use super::conditioned::{Conditioned, Walk};
use super::design::Design;
use super::multi_index::{MultiIndex, MultiIndexScratch};
use super::probe::{Hit, Probe};
use super::self_join::SelfJoin;
use super::sorted::{Gathering, SortedJoin};
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
    #[must_use]
    pub fn sharing(itself: &SelfJoin<F>, design: Design) -> Option<ArrangedBatch<F>> {
        let multi_index = itself.multi_index().filter(|it| it.is_arranged_for_others())?;
        let arrangement = Arrangement::MultiIndex(Arc::clone(multi_index));
        let is_same = design == Design::MultiIndex;
        is_same.then_some(ArrangedBatch { arrangement, window: None })
    }

    /// The same, probed in windows of so many fingerprints, as a [plan](super::plan) has it.
    #[must_use]
    pub fn in_windows(self, window: Option<usize>) -> ArrangedBatch<F> {
        ArrangedBatch { window, ..self }
    }

    /// How many bytes it holds, in addition to the batch that it was given.
    #[must_use]
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
