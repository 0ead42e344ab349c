//! Rows of several values of a block, side by side.

use std::ops::Range;

use super::indexed_block::IndexedBlock;
use crate::hamming::lanes::{LANES, Lanes, Strip};

/// The most rows of a value that are gathered. They are copied at once, needed or not: a copy of a fixed length takes no longer
/// than the decision how many to copy. In a small batch most values have [`FEW`] rows or less.
pub(super) const MOST: usize = LANES;
const FEW: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Gathered {
    lanes: Lanes,
    count: usize,
    /// For the rows of each value: where they begin here, and where they begin among all rows of the block.
    runs: Vec<(u32, u32)>,
}

impl Gathered {
    /// Forgets all rows, and makes room for those of so many values.
    #[inline(always)]
    pub(super) fn begin(&mut self, values: usize) {
        self.lanes.make_room(values * MOST);
        self.count = 0;
        self.runs.clear();
    }

    /// Adds the rows of one value, at most [`MOST`].
    #[inline(always)]
    pub(super) fn add(&mut self, indexed: &IndexedBlock, rows: Range<usize>) {
        self.runs.push((self.count as u32, rows.start as u32));
        let length = rows.len();
        let strip = indexed.strip(rows);
        if length <= FEW {
            self.lanes.copy::<FEW>(self.count, strip);
        } else {
            self.lanes.copy::<MOST>(self.count, strip);
        }
        self.count += length;
    }

    #[inline(always)]
    pub(super) fn strip(&self) -> Strip<'_> {
        self.lanes.strip(0..self.count)
    }

    pub(super) fn row(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|run| run.0 as usize <= at) - 1;
        let (begin, start) = self.runs[run];
        at - begin as usize + start as usize
    }
}
