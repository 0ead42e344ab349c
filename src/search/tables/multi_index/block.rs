//! The blocks that a fingerprint is divided into, in how many bits a pair may differ in each, and the batch sorted by one of them.

use std::ops::Range;

use crate::fingerprint::Fingerprint;
use crate::hamming::lanes::{Columns, Lanes, columns};
use crate::tables::flips::{WIDE_WEIGHT, ball};

/// The most bits of a block by which the batch is sorted: so many values that each has few fingerprints of a
/// million, and so few that each has some.
pub(super) const MOST_BITS: u32 = 16;

/// The largest limit of a block: of 16 bits, 697 values are within 3 bits of one, and 2,517 within 4. No larger
/// one is listed for blocks that wide.
pub(super) const MOST_OFF: u32 = WIDE_WEIGHT;

/// The largest distance for which there are blocks: beyond it the limits of four leave hardly anything out.
pub(in crate::tables) const COVERS: u32 = 12;

/// The bytes of a row: its columns, and its place in the batch.
pub(super) const ROW_BYTES: usize = 10;

/// Consecutive bits of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// How many bits are below them.
    low: u32,
    pub(super) bits: u32,
    /// In how many of them a pair may differ to meet here.
    pub(super) limit: u32,
}

impl Block {
    /// Divides the bits of `span` into `count` blocks, at most k + 1, in which all pairs within `k` meet. The
    /// wider ones, which are the first, have the larger limits. Of a wide block only the first bits are used.
    /// Where a limit leaves nothing out, all pairs meet, so there are no blocks after that one.
    pub(super) fn divide(span: Range<u32>, count: u32, k: u32) -> Vec<Block> {
        let all = span.end - span.start;
        let mut end = span.end;
        let block = |at: u32| {
            end -= all / count + u32::from(at < all % count);
            let width = all / count + u32::from(at < all % count);
            let bits = width.min(MOST_BITS);
            let limit = (k + 1) / count + u32::from(at < (k + 1) % count) - 1;
            Block { low: end + width - bits, bits, limit: limit.min(bits) }
        };
        let mut blocks: Vec<Block> = (0..count).map(block).collect();
        let all = blocks.iter().position(|block| block.limit == block.bits);
        blocks.truncate(all.map_or(blocks.len(), |all| all + 1));
        blocks
    }

    pub(super) fn values(self) -> usize {
        1 << self.bits
    }

    /// How many values are within the limit of one.
    pub(super) fn ball(self) -> usize {
        ball(self.bits, self.limit)
    }

    pub(super) fn mask(self) -> u128 {
        (self.values() as u128 - 1) << self.low
    }

    #[inline(always)]
    pub(super) fn value<F: Fingerprint>(self, fingerprint: F) -> u32 {
        let low = (fingerprint >> self.low).to_u128() as u32;
        low & ((1 << self.bits) - 1)
    }

    /// The bits that are compared first: those that come before the block, and of the others the last.
    #[inline(always)]
    pub(super) fn others<F: Fingerprint>(self, fingerprint: F) -> Columns {
        let above = (F::BITS - self.low - self.bits).min(F::BITS - 1);
        let low = self.low + self.bits;
        if low >= F::BITS {
            return columns(fingerprint);
        }
        columns(fingerprint >> low | fingerprint << above)
    }

    #[inline]
    pub(super) fn meets<F: Fingerprint>(self, differing: F) -> bool {
        self.value(differing).count_ones() <= self.limit
    }
}

/// The batch sorted by one block.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_exceeded_everywhere_exceed_k() {
        for (k, count) in (0..=15).flat_map(|k| (1..=k + 1).map(move |count| (k, count))) {
            let blocks = Block::divide(0..128, count, k);
            let sum: u32 = blocks.iter().map(|block| block.limit + 1).sum();
            assert!(sum == k + 1 || blocks.iter().any(|block| block.limit == block.bits));
        }
        let limits = |k| Block::divide(0..64, 4, k).iter().map(|block| block.limit).collect();
        let limits: [Vec<u32>; 3] = [3, 7, 10].map(limits);
        assert_eq!(limits, [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 1]]);
    }

    #[test]
    fn nothing_comes_after_a_block_in_which_all_pairs_meet() {
        assert_eq!(Block::divide(0..0, 4, 7), [Block { low: 0, bits: 0, limit: 0 }]);
        assert_eq!(Block::divide(8..12, 4, 7), [Block { low: 11, bits: 1, limit: 1 }]);
        assert_eq!(Block::divide(0..64, 4, 7).len(), 4);
    }
}
