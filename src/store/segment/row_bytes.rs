//! Columns with bytes of equal length for each row: signatures, band keys and digests. They look random, so they are
//! not compressed.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::store::damage::damaged;

use super::columns::{Spool, Spooled};
use super::directory::{Column, Head};
use super::lookup::{Held, place};
use super::open::Segment;

/// A column of bytes of a segment that is being written.
pub(crate) struct RowBytesColumn {
    column: Column,
    spool: Spool,
    bytes: usize,
    rows: u64,
    block: Vec<u8>,
}

impl RowBytesColumn {
    /// An empty column of the segment at `path`, with so many `bytes` for each row.
    pub(crate) fn beside(path: &Path, column: Column, bytes: usize) -> Result<RowBytesColumn> {
        let spool = Spool::beside(path)?;
        Ok(RowBytesColumn { column, spool, bytes, rows: 0, block: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`Kind::BadData`] if the row has not as many bytes as all have, such as one without its signature.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() != self.bytes {
            let what =
                format!("a row has no {:?} of the length that the segment keeps", self.column);
            return Err(Error::new(Kind::BadData, what)
                .expected(format_args!("{} bytes", self.bytes))
                .found(format_args!("{} bytes", bytes.len())));
        }
        self.block.extend(bytes);
        self.rows += 1;
        if self.rows.is_multiple_of(self.column.coding().block_rows()) {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.spool.put(&self.block, &[])?;
        self.block.clear();
        Ok(())
    }
}

impl Spooled for RowBytesColumn {
    fn append_to(&mut self, segment: &mut impl Write) -> Result<(Head, &[u8])> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        self.spool.append_to(segment)?;
        Ok((self.spool.head(self.column, self.column.coding(), self.rows), &self.spool.entries))
    }
}

impl Segment {
    /// Looks up signatures by row, if the segment has them.
    pub fn checks(&self) -> Option<RowBytes> {
        RowBytes::new(self, Column::Checks)
    }

    /// Looks up the band keys of rows, if the segment has them.
    pub fn bands(&self) -> Option<RowBytes> {
        RowBytes::new(self, Column::Bands)
    }

    /// Looks up the digests of texts by row, if the segment has them.
    pub fn digests(&self) -> Option<TextDigests> {
        TextDigests::new(self, Column::Digests)
    }
}

/// Looks up bytes by row. Keeps the last block, so ascending rows read every block once.
pub struct RowBytes {
    segment: Segment,
    column: Column,
    block_rows: usize,
    held: Held,
    bytes: usize,
}

impl RowBytes {
    pub(super) fn new(segment: &Segment, column: Column) -> Option<RowBytes> {
        let block_rows = segment.column(column)?.head.coding.block_rows() as usize;
        let bytes = segment.row_bytes(column);
        Some(RowBytes {
            segment: segment.clone(),
            column,
            block_rows,
            held: Held::default(),
            bytes,
        })
    }

    /// The bytes of `row`, which the segment has.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub fn get(&mut self, row: u64) -> Result<&[u8]> {
        let (index, at) = place(row, self.block_rows);
        let bytes = self.bytes;
        Ok(&self.block(index)?[at * bytes..][..bytes])
    }

    /// The rows of a block, and the bytes of all these rows, row after row. `None` after the last
    /// block.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub fn rows_of(&mut self, index: usize) -> Result<Option<(Range<u64>, &[u8])>> {
        let first = (index * self.block_rows) as u64;
        let rows = self.segment.rows_in(self.column, index) as u64;
        if first >= self.segment.rows() {
            return Ok(None);
        }
        self.block(index).map(|block| Some((first..first + rows, block)))
    }

    fn block(&mut self, index: usize) -> Result<&[u8]> {
        let bytes = self.segment.rows_in(self.column, index) * self.bytes;
        self.held.turn_to(&self.segment, self.column, index, |block| {
            if block.len() != bytes {
                return Err(damaged("a block has a wrong length")
                    .expected(bytes)
                    .found(block.len()));
            }
            Ok(())
        })?;
        Ok(self.held.bytes())
    }
}

/// Looks up the digests of texts by row.
pub struct TextDigests(RowBytes);

impl TextDigests {
    pub(super) fn new(segment: &Segment, column: Column) -> Option<TextDigests> {
        RowBytes::new(segment, column).map(TextDigests)
    }

    /// The XXH3-128 of the text of `row`, which the segment has; 0 if it is not known.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub fn get(&mut self, row: u64) -> Result<u128> {
        let bytes = self.0.get(row)?;
        let digest = bytes.try_into().map(u128::from_le_bytes);
        digest.map_err(|_| damaged("a digest has a wrong length").expected(16).found(bytes.len()))
    }
}
