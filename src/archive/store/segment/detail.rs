//! The types of details: in which kind of column the rows of each are written and looked up.

use crate::error::Result;

use super::columns::SpooledColumn;
use super::directory::Column;
use super::lookup::{Integer, Integers};
use super::open::Segment;
use super::row_bytes::{RowBytes, TextDigests};

pub(super) trait DetailType: Sized {
    type Lookup;
    const NONE: Self;

    fn lookup(segment: &Segment, column: Column) -> Option<Self::Lookup>;

    fn write(&self, column: &mut SpooledColumn) -> Result<()>;

    fn read(&mut self, lookup: &mut Self::Lookup, row: u64) -> Result<()>;

    fn outside_bytes(&self) -> usize {
        0
    }
}

impl<T: Integer> DetailType for T {
    type Lookup = Integers<T>;
    const NONE: T = <T as Integer>::NONE;

    fn lookup(segment: &Segment, column: Column) -> Option<Integers<T>> {
        segment.integers(column)
    }

    fn write(&self, column: &mut SpooledColumn) -> Result<()> {
        column.push_integer(self.number())
    }

    fn read(&mut self, lookup: &mut Integers<T>, row: u64) -> Result<()> {
        *self = lookup.get(row)?;
        Ok(())
    }
}

impl DetailType for Vec<u8> {
    type Lookup = RowBytes;
    const NONE: Vec<u8> = Vec::new();

    fn lookup(segment: &Segment, column: Column) -> Option<RowBytes> {
        RowBytes::new(segment, column)
    }

    fn write(&self, column: &mut SpooledColumn) -> Result<()> {
        column.push_bytes(self)
    }

    fn read(&mut self, lookup: &mut RowBytes, row: u64) -> Result<()> {
        lookup.get(row)?.clone_into(self);
        Ok(())
    }

    fn outside_bytes(&self) -> usize {
        self.len()
    }
}

impl DetailType for u128 {
    type Lookup = TextDigests;
    const NONE: u128 = 0;

    fn lookup(segment: &Segment, column: Column) -> Option<TextDigests> {
        TextDigests::new(segment, column)
    }

    fn write(&self, column: &mut SpooledColumn) -> Result<()> {
        column.push_bytes(&self.to_le_bytes())
    }

    fn read(&mut self, lookup: &mut TextDigests, row: u64) -> Result<()> {
        *self = lookup.get(row)?;
        Ok(())
    }
}

/// How options say of a detail whether a segment has it: by a flag, or by the bytes of a row, of which there are none
/// without the column.
pub(super) trait Kept: Ord {
    fn in_column(segment: &Segment, column: Column) -> Self;
}

impl Kept for bool {
    fn in_column(segment: &Segment, column: Column) -> bool {
        segment.column(column).is_some()
    }
}

impl Kept for usize {
    fn in_column(segment: &Segment, column: Column) -> usize {
        segment.row_bytes(column)
    }
}
