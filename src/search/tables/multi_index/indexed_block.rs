//! The batch sorted by one block.

use std::ops::Range;

use super::block::Block;
use crate::fingerprint::Fingerprint;
use crate::hamming::lanes::Lanes;

/// The bytes of a row: its columns, and its place in the batch.
pub(super) const ROW_BYTES: usize = 10;

#[derive(Debug)]
pub(super) struct IndexedBlock {
    pub(super) block: Block,
    /// What is compared of the rows, in the order of the values of the block.
    pub(super) lanes: Lanes,
    /// The places of the rows in the batch, in the same order.
    pub(super) places: Vec<u32>,
    /// Value v has the rows `starts[v]..starts[v + 1]`.
    starts: Vec<u32>,
}

impl IndexedBlock {
    pub(super) fn new<F: Fingerprint>(block: Block, batch: &[F]) -> IndexedBlock {
        let mut starts = vec![0; block.values() + 1];
        batch.iter().for_each(|&fingerprint| starts[block.value(fingerprint) as usize] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut lanes = Lanes::new(batch.len());
        let mut places = vec![0; batch.len()];
        for (place, &fingerprint) in (0..).zip(batch) {
            let start = &mut starts[block.value(fingerprint) as usize];
            *start -= 1;
            lanes.set(*start as usize, block.others(fingerprint));
            places[*start as usize] = place;
        }
        IndexedBlock { block, lanes, places, starts }
    }

    #[inline(always)]
    pub(super) fn rows(&self, value: usize) -> Range<usize> {
        self.starts[value] as usize..self.starts[value + 1] as usize
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.lanes.memory_bytes() + size_of_val(&self.places[..]) + size_of_val(&self.starts[..]))
            as u64
    }
}
