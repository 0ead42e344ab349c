//! The column of checks: a signature of equal length for each row. Signatures look random, so they are
//! not compressed.

use std::io::Write;
use std::path::Path;

use crate::error::Result;
use crate::store::damage::damaged;

use super::columns::Spool;
use super::directory::{Coding, Column, Head, SIGNATURE_ROWS};
use super::lookup::{Held, place};
use super::open::Segment;

/// The signatures of a segment that is being written.
pub(crate) struct SignatureColumn {
    spool: Spool,
    bytes: usize,
    rows: u64,
    block: Vec<u8>,
}

impl SignatureColumn {
    /// An empty column of the segment at `path`, for signatures of `bytes` bytes.
    pub(crate) fn beside(path: &Path, bytes: usize) -> Result<SignatureColumn> {
        Ok(SignatureColumn { spool: Spool::beside(path)?, bytes, rows: 0, block: Vec::new() })
    }

    pub(crate) fn push(&mut self, signature: &[u8]) -> Result<()> {
        assert_eq!(signature.len(), self.bytes, "signatures of one segment have one length");
        self.block.extend(signature);
        self.rows += 1;
        if self.rows.is_multiple_of(SIGNATURE_ROWS as u64) { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.spool.put(&self.block, &[])?;
        self.block.clear();
        Ok(())
    }

    /// Writes the last block, then all of them to the end of `segment`.
    pub(crate) fn append_to(&mut self, segment: &mut impl Write) -> Result<(Head, &[u8])> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        self.spool.append_to(segment)?;
        let head = self.spool.head(Column::Checks, Coding::Signatures, self.rows);
        Ok((head, &self.spool.entries))
    }
}

impl Segment {
    /// Looks up signatures by row, if the segment has them.
    pub fn checks(&self) -> Option<Checks> {
        self.column(Column::Checks).map(|_| Checks::new(self.clone()))
    }
}

/// Looks up signatures by row. Keeps the last block, so ascending rows read every block once.
pub struct Checks {
    segment: Segment,
    held: Held,
    bytes: usize,
}

impl Checks {
    fn new(segment: Segment) -> Checks {
        let bytes = segment.check_bytes();
        Checks { segment, held: Held::default(), bytes }
    }

    /// The signature of `row`, which the segment has.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub fn get(&mut self, row: u64) -> Result<&[u8]> {
        let (index, at) = place(row, SIGNATURE_ROWS);
        let rows = self.segment.rows_in(Column::Checks, index);
        self.held.turn_to(&self.segment, Column::Checks, index, |block| {
            if block.len() != rows * self.bytes {
                return Err(damaged("a block of signatures has a wrong length")
                    .expected(rows * self.bytes)
                    .found(block.len()));
            }
            Ok(())
        })?;
        Ok(&self.held.bytes()[at * self.bytes..][..self.bytes])
    }
}
