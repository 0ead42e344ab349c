//! Reads the fingerprints of a key range, in order and in large pieces.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fingerprint::Fingerprint;

use super::Segment;
use super::block::{self, BLOCK_ROWS};
use super::directory::Column;

/// The bytes that are read at once, unless one block is longer or another number was asked for.
const PIECE_BYTES: u64 = 2 << 20;

/// The fingerprints from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct KeyRange<F: Fingerprint> {
    /// The lowest fingerprint of the range.
    pub low: F,
    /// The highest fingerprint of the range.
    pub high: F,
}

impl<F: Fingerprint> KeyRange<F> {
    /// Every fingerprint there can be.
    pub fn all() -> KeyRange<F> {
        KeyRange { low: F::default(), high: F::MAX }
    }

    /// Whether `fingerprint` is in the range.
    pub fn contains(&self, fingerprint: F) -> bool {
        (self.low..=self.high).contains(&fingerprint)
    }
}

/// A pass over the fingerprints of a range.
#[derive(Debug)]
pub struct Scan<F: Fingerprint> {
    segment: Segment,
    range: KeyRange<F>,
    /// The next block, and the end of those that may hold fingerprints of the range.
    next: usize,
    end: usize,
    /// The end of the blocks that `piece` holds, and where in the file it starts.
    read_to: usize,
    piece_bytes: u64,
    piece: Vec<u8>,
    piece_offset: u64,
}

impl<F: Fingerprint> Scan<F> {
    pub(crate) fn new(segment: Segment, range: KeyRange<F>) -> Scan<F> {
        let firsts = &segment.fingerprint_blocks().firsts;
        // The block before the first that starts within the range may reach into it.
        let starts_below = firsts.partition_point(|&first| first < range.low.to_u128());
        let next = starts_below.saturating_sub(1);
        let end = firsts.partition_point(|&first| first <= range.high.to_u128());
        let (piece_bytes, piece) = (PIECE_BYTES, Vec::new());
        Scan { segment, range, next, end, read_to: next, piece_bytes, piece, piece_offset: 0 }
    }

    /// Reads `bytes` at once, for a reader of many segments.
    pub(crate) fn in_pieces_of(self, bytes: u64) -> Scan<F> {
        Scan { piece_bytes: bytes, ..self }
    }

    /// Makes `run` the next fingerprints of the range, one or more, and returns the row of the
    /// first; `None` when there are no more. The same `run` is best passed each time.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`]; nothing is handed out before its checksum was right.
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

    /// Drops what is not of the range, and says how many from the front.
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
        self.read_ahead(index)?;
        let blocks = self.segment.fingerprint_blocks();
        let block = blocks.all[index];
        let start = (block.offset - self.piece_offset) as usize;
        let bytes = &self.piece[start..start + block.bytes as usize];
        self.segment.check(&block, bytes)?;
        run.resize(self.segment.rows_in(Column::Fingerprints, index), F::default());
        block::decode(bytes, F::from_u128(blocks.firsts[index]), run)
            .map_err(|error| error.at(self.segment.path()).offset(block.offset))
    }

    /// Reads block `index` and those that follow, up to a piece, unless they have been read.
    fn read_ahead(&mut self, index: usize) -> Result<()> {
        if index < self.read_to {
            return Ok(());
        }
        let wanted = &self.segment.fingerprint_blocks().all[index..self.end];
        let start = wanted[0].offset;
        let fit =
            wanted.partition_point(|block| block.range().end <= start + self.piece_bytes).max(1);
        self.segment.read(start..wanted[fit - 1].range().end, &mut self.piece)?;
        (self.piece_offset, self.read_to) = (start, index + fit);
        Ok(())
    }
}
