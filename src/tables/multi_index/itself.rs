//! The batch joined with itself, part by part.

use super::indexed_block::{IndexedBlock, Row};
use super::probe::{MultiIndex, divided};
use super::scan::Near;
use super::tiles::{Item, Tiles};
use crate::fingerprint::Fingerprint;
use crate::progress::{self, Activity};
use crate::tables::hit::Hit;

/// Memory that the join of the batch with itself works in.
#[derive(Debug, Default)]
pub(in crate::rooms::tables) struct SelfScratch {
    tiles: Tiles,
    gathered: Vec<Row>,
}

impl<F: Fingerprint> MultiIndex<F> {
    /// Each block, and its limit.
    pub(in crate::rooms::tables) fn keys(&self) -> Vec<u128> {
        let key = |indexed: &IndexedBlock| [indexed.block.mask(), indexed.block.limit.into()];
        self.blocks.iter().flat_map(key).collect()
    }

    /// How many fingerprints the batch has.
    pub(in crate::rooms::tables) fn count(&self) -> usize {
        self.batch.len()
    }

    /// Joins one of so many parts of the batch with itself. Over all parts, `found` is called exactly once for
    /// each pair within k: with the later one as the batch's, and the earlier one as the probed one.
    pub(in crate::rooms::tables) fn join(
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
    /// values, the one with the lower value is in the tile; two that have the same are met from both sides.
    fn bucket(
        &self,
        turn: usize,
        bucket: usize,
        scratch: &mut SelfScratch,
        found: &mut dyn FnMut(Hit),
    ) {
        let SelfScratch { tiles, gathered } = scratch;
        let indexed = &self.blocks[turn];
        let block = indexed.block;
        let (_, rest) = divided(block);
        let first = bucket << rest;
        tiles.fill(
            1 << rest,
            (0..1 << rest).flat_map(|value| {
                let item = move |&Row { place, columns }: &Row| Item { value, columns, place };
                indexed.rows(first + value).iter().map(item)
            }),
        );
        self.scan(turn, bucket, tiles, true, gathered, &mut |Near { row, .. }, place| {
            let differing = self.batch[row.place as usize] ^ self.batch[place as usize];
            let is_second = block.value(differing) == 0 && row.place <= place;
            let distance = self.distance_first_met(differing, turn).filter(|_| !is_second);
            if let Some(distance) = distance {
                let batch = row.place.max(place);
                let at = row.place.min(place);
                found(Hit { batch, run: 0, at, distance });
            }
        });
    }
}
