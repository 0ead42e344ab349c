//! The batch sorted by one block.

use super::block::Block;
use crate::fingerprint::Fingerprint;
use crate::hamming::lanes::Columns;

/// How many rows are copied at once, needed or not: a copy of a fixed length takes no longer than the decision
/// how many to copy. In a small batch most values have [`FEW`] rows or less.
const COPY: usize = 32;
const FEW: usize = 8;

/// What is compared of a fingerprint of the batch, and its place there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub(super) place: u32,
    pub(super) columns: Columns,
}

/// The batch sorted by one block.
#[derive(Debug)]
pub(super) struct IndexedBlock {
    pub(super) block: Block,
    /// The rows by the value of the block, and some empty ones at the end.
    rows: Vec<Row>,
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
        let mut rows = vec![Row::default(); batch.len() + COPY];
        for (place, &fingerprint) in (0..).zip(batch) {
            let start = &mut starts[block.value(fingerprint) as usize];
            *start -= 1;
            rows[*start as usize] = Row { place, columns: block.others(fingerprint) };
        }
        IndexedBlock { block, rows, starts }
    }

    /// The rows of one value.
    #[inline(always)]
    pub(super) fn rows(&self, value: usize) -> &[Row] {
        &self.rows[self.starts[value] as usize..self.starts[value + 1] as usize]
    }

    /// Adds the rows of one value to the first `count` of `gathered`, if they are few, and returns how many
    /// `gathered` has then. Rows that are many are returned as they are.
    #[inline(always)]
    pub(super) fn gather<'a>(
        &'a self,
        value: usize,
        gathered: &mut Vec<Row>,
        count: &mut usize,
    ) -> &'a [Row] {
        let start = self.starts[value] as usize;
        let length = self.starts[value + 1] as usize - start;
        if length > COPY {
            return &self.rows[start..start + length];
        }
        if gathered.len() < *count + COPY {
            gathered.resize(*count + COPY, Row::default());
        }
        if length <= FEW {
            gathered[*count..*count + FEW].copy_from_slice(&self.rows[start..start + FEW]);
        } else {
            gathered[*count..*count + COPY].copy_from_slice(&self.rows[start..start + COPY]);
        }
        *count += length;
        &[]
    }

    /// How many bytes it holds.
    pub(super) fn memory_bytes(&self) -> u64 {
        (size_of_val(&self.rows[..]) + size_of_val(&self.starts[..])) as u64
    }
}
