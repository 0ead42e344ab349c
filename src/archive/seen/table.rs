//! A table that says which rows of a segment have a hash: a segment of its own, of 64 bits and without ids.
//!
//! An entry is the beginning of a hash, and behind it the number of the row, in as many bits as the last row needs.
//! With a hundred million rows, 27 bits are the row and 37 the hash. So the entries of a hash are next to each
//! other, and one in a thousand hashes that no row has meets an entry all the same. What is found is looked at in the
//! segment.

use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;
use crate::store::{Access, Cursor, Digest, Ranked, open_side_table};

use super::by::{By, advised};

pub(super) struct Table {
    ranked: Ranked<u64>,
    row_bits: u32,
    rows: u64,
}

impl Table {
    /// Opens the table at `path` of a segment with so many `rows` and this digest; none if there is none, or one of
    /// another segment.
    pub(super) fn open(path: &Path, by: By, of: Digest, rows: u64) -> Result<Option<Table>> {
        let Some(segment) = open_side_table(path, &stamp(by, of), Width::W64)? else {
            return Ok(None);
        };
        let ranked = Ranked::open(&segment, Access::OnDisk)?;
        Ok(Some(Table { ranked, row_bits: row_bits(rows), rows }))
    }

    pub(super) fn find(&self, hash: u64, rows: &mut Vec<u64>) -> Result<()> {
        let low = beginning(hash, self.row_bits);
        let mask = hash_mask(self.row_bits);
        let mut cursors = [Cursor::default()];
        self.ranked.seek(&[low], &mut cursors)?;
        self.ranked.read_to(cursors[0], low | !mask, usize::MAX, |_, entry| {
            rows.push(entry & !mask);
        })?;
        match rows.last() {
            Some(&row) if row >= self.rows => Err(self.beyond(row)),
            _ => Ok(()),
        }
    }

    pub(super) fn verify(&self) -> Result<()> {
        self.ranked.segment().verify()
    }

    fn beyond(&self, row: u64) -> Error {
        let what = "a table names a row that its segment does not have";
        let error = Error::new(Kind::BadData, what).at(self.ranked.segment().path());
        advised(error.expected(format_args!("a row below {}", self.rows)).found(row))
    }
}

pub(super) fn entry(hash: u64, row: u64, rows: u64) -> u64 {
    beginning(hash, row_bits(rows)) | row
}

fn row_bits(rows: u64) -> u32 {
    u64::BITS - rows.saturating_sub(1).leading_zeros()
}

fn hash_mask(row_bits: u32) -> u64 {
    u64::MAX.checked_shl(row_bits).unwrap_or(0)
}

fn beginning(hash: u64, row_bits: u32) -> u64 {
    hash & hash_mask(row_bits)
}

/// What the file says about itself, in place of a recipe.
pub(super) fn stamp(by: By, of: Digest) -> String {
    format!("{{\"seen\":\"{}\",\"of\":\"{of}\"}}", by.name())
}
