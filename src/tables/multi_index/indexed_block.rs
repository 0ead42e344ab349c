//! The batch sorted by one block.

use std::ops::Range;

use super::block::Block;
use crate::fingerprint::Fingerprint;
use crate::hamming::lanes::{LANES, Lanes, Strip};

/// The most rows of a value that are copied. They are copied at once, needed or not: a copy of a fixed length takes no longer
/// than the decision how many to copy. In a small batch most values have [`FEW`] rows or less.
const COPY: usize = LANES;
const FEW: usize = 8;

/// The bytes of a row: its columns, and its place in the batch.
pub(super) const ROW_BYTES: usize = 10;

/// The batch sorted by one block.
#[derive(Debug)]
pub(super) struct IndexedBlock {
    pub(super) block: Block,
    /// What is compared of the rows, in the order of the values of the block.
    lanes: Lanes,
    /// The places of the rows in the batch, in the same order.
    places: Vec<u32>,
    /// Value v has the rows `starts[v]..starts[v + 1]`.
    starts: Vec<u32>,
}

impl IndexedBlock {
    /// Sorts `batch` by a block.
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

    /// The rows of one value.
    #[inline(always)]
    pub(super) fn rows(&self, value: usize) -> Range<usize> {
        self.starts[value] as usize..self.starts[value + 1] as usize
    }

    /// What is compared of some rows.
    #[inline(always)]
    pub(super) fn strip(&self, rows: Range<usize>) -> Strip<'_> {
        self.lanes.strip(rows)
    }

    /// The place of a row in the batch.
    #[inline]
    pub(super) fn place(&self, row: usize) -> u32 {
        self.places[row]
    }

    /// Adds the rows of one value to the first `count` of `gathered`, if they are few, and returns how many
    /// `gathered` has then. Rows that are many are not added.
    #[inline(always)]
    pub(super) fn gather(&self, value: usize, gathered: &mut Lanes, count: usize) -> usize {
        let rows = self.rows(value);
        let length = rows.len();
        if length > COPY {
            return count;
        }
        let strip = self.strip(rows);
        if length <= FEW {
            gathered.copy::<FEW>(count, strip);
        } else {
            gathered.copy::<COPY>(count, strip);
        }
        count + length
    }

    /// Whether the rows of one value are too many to be gathered.
    #[inline(always)]
    pub(super) fn has_many(&self, value: usize) -> bool {
        self.rows(value).len() > COPY
    }

    /// How many bytes it holds.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.lanes.memory_bytes() + size_of_val(&self.places[..]) + size_of_val(&self.starts[..]))
            as u64
    }
}

/// Memory to gather rows of up to so many values in.
pub(super) fn room_to_gather(values: usize) -> usize {
    values * COPY
}
