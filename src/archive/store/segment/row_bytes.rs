//! Columns with bytes for each row: signatures, band keys and digests, of equal length, and sketches and anchors, of as many as each needs.
//! They look random, so they are not compressed. Words, anchors of passages and what records declare are: pages have much in common.

use std::mem;
use std::ops::Range;

use crate::document::Declared;
use crate::error::Result;
use crate::fingerprint::check::AS_NEEDED;
use crate::store::damage::damaged;

use super::directory::{Column, LENGTH_BYTES, PACKED_LENGTH_BYTES, is_anchors};
use super::lookup::{Held, place};
use super::open::Segment;

impl Segment {
    /// Looks up signatures by row, if the segment has them.
    pub fn checks(&self) -> Option<RowBytes> {
        RowBytes::new(self, Column::Checks)
    }

    /// Looks up the band keys of rows, if the segment has them.
    pub fn bands(&self) -> Option<RowBytes> {
        RowBytes::new(self, Column::Bands)
    }

    /// Looks up the anchors of rows, if the segment has them.
    pub fn anchors(&self) -> Option<RowBytes> {
        RowBytes::new(self, Column::Anchors)
    }

    /// Looks up the words of rows, if the segment has them.
    pub fn words(&self) -> Option<RowBytes> {
        RowBytes::new(self, Column::Words)
    }

    /// Looks up the anchors of passages, if the segment has them.
    pub fn passage_anchors(&self) -> Option<RowBytes> {
        RowBytes::new(self, Column::PassageAnchors)
    }

    /// Looks up the digests of texts by row, if the segment has them.
    pub fn digests(&self) -> Option<TextDigests> {
        TextDigests::new(self, Column::Digests)
    }

    /// Looks up the hashes of the keys of pages by row, if the segment has them.
    pub fn keys(&self) -> Option<TextDigests> {
        TextDigests::new(self, Column::Keys)
    }

    /// Looks up what records declare of their pages, if the segment has it.
    pub fn declared(&self) -> Option<DeclaredRows> {
        RowBytes::new(self, Column::Declared).map(DeclaredRows)
    }
}

/// Looks up bytes by row. Keeps the last block, so ascending rows read every block once.
pub struct RowBytes {
    segment: Segment,
    column: Column,
    block_rows: usize,
    held: Held,
    bytes: usize,
    /// What the length of each row takes, where they differ in length.
    length_bytes: usize,
    /// Where each row of the block ends, where they differ in length.
    ends: Vec<usize>,
}

impl RowBytes {
    pub(super) fn new(segment: &Segment, column: Column) -> Option<RowBytes> {
        let coding = segment.column(column)?.head.coding;
        let block_rows = coding.block_rows() as usize;
        let bytes = segment.row_bytes(column);
        Some(RowBytes {
            segment: segment.clone(),
            column,
            block_rows,
            held: Held::of(coding),
            bytes,
            length_bytes: if coding.is_packed() { PACKED_LENGTH_BYTES } else { LENGTH_BYTES },
            ends: Vec::new(),
        })
    }

    pub fn get(&mut self, row: u64) -> Result<&[u8]> {
        let (index, at) = place(row, self.block_rows);
        self.turn_to(index)?;
        Ok(self.rows().get(at))
    }

    /// The rows of a block, which the segment has: their numbers, and their bytes.
    pub fn block_of(&mut self, index: usize) -> Result<(Range<u64>, RowBlock<'_>)> {
        self.turn_to(index)?;
        let first = (index * self.block_rows) as u64;
        let rows = self.segment.rows_in(self.column, index) as u64;
        Ok((first..first + rows, self.rows()))
    }

    fn rows(&self) -> RowBlock<'_> {
        let RowBytes { bytes, length_bytes, ref ends, .. } = *self;
        RowBlock { block: self.held.bytes(), bytes, length_bytes, ends }
    }

    fn turn_to(&mut self, index: usize) -> Result<()> {
        let RowBytes { segment, column, held, bytes, length_bytes, ends, .. } = self;
        held.turn_to(segment, *column, index, |block| {
            let rows = segment.rows_in(*column, index);
            let expected = match *bytes {
                AS_NEEDED => ends_of(block, rows, *length_bytes, ends),
                bytes => rows * bytes,
            };
            if block.len() != expected {
                return Err(damaged("a block has a wrong length")
                    .expected(expected)
                    .found(block.len()));
            }
            let mut start = 0;
            let mut lengths =
                ends.iter().map(|&end| end - LENGTH_BYTES - mem::replace(&mut start, end));
            if *column == Column::Anchors && !lengths.all(is_anchors) {
                return Err(damaged("a row has no such number of anchors"));
            }
            Ok(())
        })
    }
}

pub struct RowBlock<'a> {
    block: &'a [u8],
    bytes: usize,
    length_bytes: usize,
    ends: &'a [usize],
}

impl<'a> RowBlock<'a> {
    #[inline]
    pub fn get(&self, at: usize) -> &'a [u8] {
        if self.bytes != AS_NEEDED {
            return &self.block[at * self.bytes..][..self.bytes];
        }
        let start = self.length_bytes + if at == 0 { 0 } else { self.ends[at - 1] };
        &self.block[start..self.ends[at]]
    }

    pub fn each(&self) -> impl Iterator<Item = &'a [u8]> {
        let rows = match self.bytes {
            AS_NEEDED => self.ends.len(),
            bytes => self.block.len() / bytes,
        };
        (0..rows).map(|at| self.get(at))
    }
}

/// Where the rows of a block end, each behind its length. Gives the end of the last one.
fn ends_of(block: &[u8], rows: usize, length_bytes: usize, ends: &mut Vec<usize>) -> usize {
    ends.clear();
    let mut end = 0;
    for _ in 0..rows {
        let bytes = block.get(end..end + length_bytes).unwrap_or_default();
        let length = match *bytes {
            [low, high] => u16::from_le_bytes([low, high]).into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as usize,
            _ => 0,
        };
        end += length_bytes + length;
        ends.push(end);
    }
    end
}

/// Looks up digests by row: of texts, or of keys.
pub struct TextDigests(RowBytes);

impl TextDigests {
    pub(super) fn new(segment: &Segment, column: Column) -> Option<TextDigests> {
        RowBytes::new(segment, column).map(TextDigests)
    }

    /// The XXH3-128 of the text of `row`, which the segment has; 0 if it is not known.
    pub fn get(&mut self, row: u64) -> Result<u128> {
        let bytes = self.0.get(row)?;
        let digest = bytes.try_into().map(u128::from_le_bytes);
        digest.map_err(|_| damaged("a digest has a wrong length").expected(16).found(bytes.len()))
    }
}

pub struct DeclaredRows(RowBytes);

impl DeclaredRows {
    pub fn get(&mut self, row: u64) -> Result<Declared> {
        let bytes = self.0.get(row)?;
        Declared::of_row(bytes).ok_or_else(|| damaged("a row declares neither digest nor address"))
    }
}
