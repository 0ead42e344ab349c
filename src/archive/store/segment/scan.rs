//! Reads the fingerprints of a key range in order.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fingerprint::Fingerprint;

use super::block::BLOCK_ROWS;
use super::directory::Column;
use super::open::Segment;
use super::pieces::Pieces;

/// The fingerprints from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct KeyRange<F: Fingerprint> {
    pub low: F,
    pub high: F,
}

impl<F: Fingerprint> KeyRange<F> {
    pub fn all() -> KeyRange<F> {
        KeyRange { low: F::default(), high: F::MAX }
    }

    pub fn contains(&self, fingerprint: F) -> bool {
        (self.low..=self.high).contains(&fingerprint)
    }
}

#[derive(Debug)]
pub struct Scan<F: Fingerprint> {
    segment: Segment,
    range: KeyRange<F>,
    /// The next block, and the end of the blocks that may have fingerprints of the range.
    next: usize,
    end: usize,
    pieces: Pieces,
}

impl Segment {
    /// Reads the fingerprints of `range`, in order.
    pub fn scan<F: Fingerprint>(&self, range: KeyRange<F>) -> Scan<F> {
        let firsts = &self.fingerprint_blocks().firsts;
        // The range may begin in the block before the first block that starts within the range.
        let starts_below = firsts.partition_point(|&first| first < range.low.to_u128());
        let end = firsts.partition_point(|&first| first <= range.high.to_u128());
        Scan::new(self.clone(), range, starts_below.saturating_sub(1)..end)
    }

    pub(crate) fn scan_blocks<F: Fingerprint>(&self, blocks: Range<usize>) -> Scan<F> {
        Scan::new(self.clone(), KeyRange::all(), blocks)
    }
}

impl<F: Fingerprint> Scan<F> {
    fn new(segment: Segment, range: KeyRange<F>, blocks: Range<usize>) -> Scan<F> {
        assert_eq!(F::WIDTH, segment.width(), "a segment is scanned at its own width");
        let pieces = Pieces::new(segment.clone(), blocks.clone());
        Scan { segment, range, next: blocks.start, end: blocks.end, pieces }
    }

    pub fn in_pieces_of(self, bytes: u64) -> Scan<F> {
        Scan { pieces: self.pieces.of_bytes(bytes), ..self }
    }

    /// Makes `run` the next fingerprints of the range, at least one, and returns the row of the first.
    /// Returns `None` after the last. Pass the same `run` each time to reuse its memory.
    pub fn next(&mut self, run: &mut Vec<F>) -> Result<Option<u64>> {
        while self.next < self.end {
            let index = self.next;
            self.next += 1;
            self.decode(index, run)?;
            let skipped = self.trim(run);
            if !run.is_empty() {
                return Ok(Some((index * BLOCK_ROWS + skipped) as u64));
            }
        }
        run.clear();
        Ok(None)
    }

    /// Drops what is not in the range. Returns how many were dropped from the front.
    fn trim(&self, run: &mut Vec<F>) -> usize {
        if run.last().is_some_and(|&last| last > self.range.high) {
            run.truncate(run.partition_point(|&fingerprint| fingerprint <= self.range.high));
        }
        match run.first() {
            Some(&first) if first < self.range.low => {
                let below = run.partition_point(|&fingerprint| fingerprint < self.range.low);
                run.drain(..below);
                below
            }
            _ => 0,
        }
    }

    fn decode(&mut self, index: usize, run: &mut Vec<F>) -> Result<()> {
        let block = self.segment.fingerprint_blocks().all[index];
        let bytes = self.pieces.get(&block)?;
        self.segment.check(&block, bytes)?;
        run.resize(self.segment.rows_in(Column::Fingerprints, index), F::default());
        self.segment.decode(index, bytes, run)
    }
}
