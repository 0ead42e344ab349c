//! The batch arranged by whichever design was chosen.

use std::sync::Arc;

use super::design::Design;
use super::hit::Hit;
use super::indexed::{Survivors, Tables};
use super::multi_index::MultiIndex;
use super::probe::Probe;
use super::self_join::SelfJoin;
use super::sorted::{Gathering, SortedJoin};
use super::table::check_count;
use super::unmasked::{Arranged, Scratches, Unmasked};
use super::way::Way;
use crate::error::Result;
use crate::fingerprint::Fingerprint;

/// The batch arranged by whichever design was chosen.
#[derive(Debug)]
pub struct ArrangedBatch<F: Fingerprint> {
    arrangement: Arrangement<F>,
    /// How many fingerprints are probed in one call, if the plan says so.
    window: Option<usize>,
}

#[derive(Debug)]
enum Arrangement<F: Fingerprint> {
    /// By a design of masks.
    Tables(Tables<F>),
    /// By a design of masks, sorted anew for each window of what is probed.
    Sorted(SortedJoin<F>),
    /// By a design without masks.
    Unmasked(Arranged<F>),
    /// By multi-index hashing, arranged as for the batch and itself.
    Shared(Arc<MultiIndex<F>>),
}

/// Memory that an [`ArrangedBatch`] works in: that of every design, all of it empty until it is needed.
#[derive(Debug, Default)]
pub struct MethodScratch<F: Fingerprint> {
    tables: Survivors,
    sorted: Gathering<F>,
    unmasked: Scratches<F>,
}

impl<F: Fingerprint> ArrangedBatch<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`, by `design` in this
    /// way, as a [plan](super::plan) has it. Builds on up to `threads` threads.
    ///
    /// # Errors
    /// [`Kind::Usage`](crate::Kind::Usage) if the design does not cover `k`, for [`Design::Auto`], and
    /// if the batch has more than `u32::MAX` fingerprints.
    pub fn build(
        batch: &Arc<[F]>,
        design: Design,
        way: Way,
        k: u32,
        threads: usize,
    ) -> Result<ArrangedBatch<F>> {
        debug_assert!(batch.is_sorted_by(|a, b| a < b), "a batch is sorted and distinct");
        check_count(batch.len())?;
        design.check(F::WIDTH, k)?;
        let arrangement = match (design, way) {
            (Design::Unmasked(design), _) => {
                Arrangement::Unmasked(Arranged::new(design, batch, k, threads))
            }
            (design, Way::Indexed) => {
                Arrangement::Tables(Tables::build(batch, design, k, threads)?)
            }
            (design, Way::Sorted) => {
                Arrangement::Sorted(SortedJoin::new(Arc::clone(batch), design, k)?)
            }
        };
        Ok(ArrangedBatch { arrangement, window: None })
    }

    /// The batch as it is arranged for `itself`, if `design` would arrange it for the store in the same way.
    #[must_use]
    pub fn sharing(itself: &SelfJoin<F>, design: Design) -> Option<ArrangedBatch<F>> {
        let multi_index = itself.multi_index().filter(|it| it.is_arranged_for_others())?;
        let arrangement = Arrangement::Shared(Arc::clone(multi_index));
        let is_same = design == Unmasked::MultiIndex.into();
        is_same.then_some(ArrangedBatch { arrangement, window: None })
    }

    /// The same, probed in windows of so many fingerprints, as a [plan](super::plan) has it.
    #[must_use]
    pub fn in_windows(self, window: Option<usize>) -> ArrangedBatch<F> {
        ArrangedBatch { window, ..self }
    }

    /// How many bytes it holds for itself.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        match &self.arrangement {
            Arrangement::Tables(tables) => tables.memory_bytes(),
            Arrangement::Sorted(_) => 0,
            Arrangement::Unmasked(arranged) => arranged.memory_bytes(),
            Arrangement::Shared(_) => 0,
        }
    }
}

impl<F: Fingerprint> Probe<F> for ArrangedBatch<F> {
    type Scratch = MethodScratch<F>;

    fn probe(&self, runs: &[&[F]], scratch: &mut MethodScratch<F>, found: &mut dyn FnMut(Hit)) {
        match &self.arrangement {
            Arrangement::Tables(tables) => tables.probe(runs, &mut scratch.tables, found),
            Arrangement::Sorted(sorted) => sorted.probe(runs, &mut scratch.sorted, found),
            Arrangement::Unmasked(arranged) => {
                arranged.probe(runs, &mut scratch.unmasked, found);
            }
            Arrangement::Shared(shared) => {
                shared.probe(runs, &mut scratch.unmasked.multi_index, found)
            }
        }
    }

    fn window(&self) -> usize {
        self.window.unwrap_or_else(|| match &self.arrangement {
            Arrangement::Tables(tables) => tables.window(),
            Arrangement::Sorted(sorted) => sorted.window(),
            Arrangement::Unmasked(arranged) => arranged.window(),
            Arrangement::Shared(shared) => shared.window(),
        })
    }
}
