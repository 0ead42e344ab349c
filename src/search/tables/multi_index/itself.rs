//! The batch joined with itself, part by part.

use super::gathered::Gathered;
use super::indexed_block::IndexedBlock;
use super::probe::{MultiIndex, divided};
use crate::fingerprint::Fingerprint;
use crate::progress::{self, Activity};
use crate::tables::probe::Hit;

#[derive(Debug, Default)]
pub(in crate::tables) struct SelfScratch {
    gathered: Gathered,
}

impl<F: Fingerprint> MultiIndex<F> {
    pub(in crate::tables) fn keys(&self) -> Vec<u128> {
        let key = |indexed: &IndexedBlock| [indexed.block.mask(), indexed.block.limit.into()];
        self.blocks.iter().flat_map(key).collect()
    }

    pub(in crate::tables) fn count(&self) -> usize {
        self.batch.len()
    }

    /// Joins one of so many parts of the batch with itself. Over all parts, `found` is called exactly once for
    /// each pair within k: with the later one as the batch's, and the earlier one as the probed one.
    pub(in crate::tables) fn join(
        &self,
        (part, parts): (u32, u32),
        scratch: &mut SelfScratch,
        found: &mut dyn FnMut(Hit),
    ) {
        for (turn, indexed) in self.blocks.iter().enumerate() {
            let (buckets, _) = divided(indexed.block);
            for bucket in (part as usize..buckets).step_by(parts as usize) {
                progress::tick(Activity::Sorting);
                self.bucket(turn, bucket, scratch, found);
            }
        }
    }

    /// Joins those that begin with one value in block `turn` with the batch. Of two that have different
    /// values, the one with the lower value is in the tile.
    fn bucket(
        &self,
        turn: usize,
        bucket: usize,
        scratch: &mut SelfScratch,
        found: &mut dyn FnMut(Hit),
    ) {
        self.scan(turn, bucket, None, &mut scratch.gathered, &mut |one, other| {
            let differing = self.batch[one as usize] ^ self.batch[other as usize];
            if let Some(distance) = self.distance_first_met(differing, turn) {
                let (batch, at) = (one.max(other), one.min(other));
                found(Hit { batch, run: 0, at, distance });
            }
        });
    }
}
