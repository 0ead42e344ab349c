//! The batch joined with itself by whichever design was chosen.

use std::sync::Arc;

use super::buckets::check_count;
use super::design::Design;
use super::multi_index::{Gathered, MultiIndex};
use super::probe::Hit;
use super::sorted::{self, Gathering, SortedJoin};
use crate::error::Result;
use crate::fingerprint::Fingerprint;

#[derive(Debug)]
pub struct SelfJoin<F>(Arrangement<F>);

#[derive(Debug)]
enum Arrangement<F> {
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
                Arrangement::MultiIndex(Arc::new(MultiIndex::for_itself(batch, k, threads)))
            }
            masked => {
                Arrangement::Sorted(SortedJoin::in_shares(Arc::clone(batch), masked, k, share)?)
            }
        }))
    }

    /// The batch by blocks, if it is joined by multi-index hashing.
    pub(super) fn multi_index(&self) -> Option<&Arc<MultiIndex<F>>> {
        match &self.0 {
            Arrangement::Sorted(_) => None,
            Arrangement::MultiIndex(multi_index) => Some(multi_index),
        }
    }

    /// What decides, with the batch, which pair falls into which part: the keys, or each block and its limit.
    pub fn keys(&self) -> Vec<u128> {
        match &self.0 {
            Arrangement::Sorted(sorted) => sorted.keys.iter().map(|key| key.to_u128()).collect(),
            Arrangement::MultiIndex(multi_index) => multi_index.keys(),
        }
    }

    /// The number of parts. It depends on the size of the batch alone.
    pub fn parts(&self) -> u32 {
        match &self.0 {
            Arrangement::Sorted(sorted) => sorted.parts(),
            Arrangement::MultiIndex(multi_index) => sorted::parts(multi_index.count()),
        }
    }

    /// Joins one part of the batch with itself. Over all parts, `found` is called exactly once for each pair
    /// within k: with the later one as the batch's, and the earlier one as the probed one.
    pub fn join(&self, part: u32, scratch: &mut SelfJoinScratch<F>, found: &mut dyn FnMut(Hit)) {
        match &self.0 {
            Arrangement::Sorted(sorted) => sorted.join(part, &mut scratch.sorted, found),
            Arrangement::MultiIndex(multi_index) => {
                let part = (part, self.parts());
                multi_index.join(part, &mut scratch.multi_index, found);
            }
        }
    }
}
