//! A place in a sorted table, which moves forward.
//!
//! A table is a list of blocks, and the index of the table has the first key and the first row of each block. A cursor
//! starts before the first row. It reads a block when it enters the block, so blocks that a seek passes are not read:
//!
//! ```text
//! block 0        block 1        block 2          index: 0 "a", 3 "f", 6 "m"
//! a  b  d        f  g  k        m  p  r
//!    ^ next()                                    row 1
//!                               ^ seek("l")      row 6: block 1 may have keys from "l" on, so the cursor reads it too
//! ```

use std::ops::Range;

use super::bytes::take_number;
use super::table::Table;
use crate::error::Result;
use crate::progress::{self, Activity};

/// A row of a table, and the way to later ones. It begins before the first row.
pub(super) struct Cursor<'a> {
    table: &'a Table,
    /// The block that is read next.
    next_block: usize,
    block: Vec<u8>,
    at: usize,
    /// The row that comes next, and the first row of the next block.
    next_row: u64,
    end_row: u64,
    key: Vec<u8>,
    value: Range<usize>,
    is_on_row: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn of(table: &'a Table) -> Cursor<'a> {
        Cursor {
            table,
            next_block: 0,
            block: Vec::new(),
            at: 0,
            next_row: 0,
            end_row: 0,
            key: Vec::new(),
            value: 0..0,
            is_on_row: false,
        }
    }

    /// The key of the row.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The value of the row.
    pub(super) fn value(&self) -> &[u8] {
        &self.block[self.value.clone()]
    }

    /// The number of the row.
    pub(super) fn row(&self) -> u64 {
        self.next_row - 1
    }

    /// Whether the cursor is on a row.
    pub(super) fn is_on_row(&self) -> bool {
        self.is_on_row
    }

    /// Moves to the next row; false if there is none.
    pub(super) fn next(&mut self) -> Result<bool> {
        self.is_on_row = false;
        if self.next_row == self.end_row {
            if self.next_block == self.table.blocks() {
                return Ok(false);
            }
            self.enter(self.next_block)?;
        }
        if self.read_row().is_none() {
            return Err(self.table.damaged("a row cannot be read"));
        }
        self.next_row += 1;
        let ends = (self.next_row == self.end_row, self.at == self.block.len());
        if ends.0 != ends.1 {
            return Err(self.table.damaged("a block has not as many rows as the index says"));
        }
        self.is_on_row = true;
        Ok(true)
    }

    /// Advances to the first row with a key >= `key`. Does nothing if the cursor is on such a row or past it. Returns
    /// false if the table has no such row.
    pub(super) fn seek(&mut self, key: &[u8]) -> Result<bool> {
        if self.is_on_row && self.key.as_slice() >= key {
            return Ok(true);
        }
        let table = self.table;
        let first = self.later_block(|block| table.key(block) <= key);
        self.skip_to(first)?;
        while self.next()? {
            if self.key.as_slice() >= key {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Advances to row `row`, which must not be before the row that the cursor is on. Returns false if the table has no
    /// such row.
    pub(super) fn seek_row(&mut self, row: u64) -> Result<bool> {
        if self.is_on_row && self.row() >= row {
            return Ok(self.row() == row);
        }
        let table = self.table;
        let first = self.later_block(|block| table.first_row(block) <= row);
        self.skip_to(first)?;
        while self.next()? {
            if self.row() == row {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Of the blocks that were not read yet, the last block whose beginning is before the key or the row that is sought, if
    /// there is one. The search tries the next block first, then blocks at doubling distances.
    fn later_block(&self, begins_before: impl Fn(usize) -> bool) -> Option<usize> {
        let (first, blocks) = (self.next_block, self.table.blocks());
        let is_before = |block: usize| block < blocks && begins_before(block);
        let mut step = 1;
        while is_before(first + step - 1) {
            step *= 2;
        }
        let (mut low, mut high) = (first + step / 2, (first + step - 1).min(blocks));
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        (low > first).then(|| low - 1)
    }

    /// Moves before the first row of a block, if there is one to move to.
    fn skip_to(&mut self, block: Option<usize>) -> Result<()> {
        block.map_or(Ok(()), |block| self.enter(block))
    }

    fn enter(&mut self, block: usize) -> Result<()> {
        progress::tick(Activity::Reading);
        (self.next_row, self.end_row) = self.table.read_block(block, &mut self.block)?;
        self.next_block = block + 1;
        self.at = 0;
        self.key.clear();
        self.is_on_row = false;
        Ok(())
    }

    /// Reads the row at the place; none if it is no row, or if its key is not larger than the last.
    fn read_row(&mut self) -> Option<()> {
        let mut rest = &self.block[self.at..];
        let mut number = || usize::try_from(take_number(&mut rest)?).ok();
        let [same, own, value] = [number()?, number()?, number()?];
        let (end, is_first) = (self.block.len(), self.at == 0);
        let key_at = end - rest.len();
        let value_at = key_at.checked_add(own).filter(|&at| at <= end)?;
        let value_end = value_at.checked_add(value).filter(|&at| at <= end)?;
        let key = &self.block[key_at..value_at];
        let larger = match (self.key.get(same), key.first()) {
            _ if is_first => same == 0,
            (Some(last), Some(own)) => own > last,
            (None, Some(_)) => same == self.key.len(),
            (_, None) => false,
        };
        if !larger {
            return None;
        }
        self.key.truncate(same);
        self.key.extend_from_slice(key);
        (self.value, self.at) = (value_at..value_end, value_end);
        Some(())
    }
}
