//! What formats of columns share: a page is a row, its fields are columns.
//!
//! `cutter` goes through a file of any of them ([`ColumnFile`]). `rows` are the fields of some rows, and the documents that they are. `opened` is a file that is read at any place, `blocks` such a
//! file in an object store. `places`: which columns have the fields.

mod blocks;
mod cutter;
mod opened;
mod places;
mod rows;

pub(super) use cutter::{ColumnCutter, ColumnFile, NextBatch, first_rows};
pub(super) use opened::{Opened, Stretch, bytes_of};
pub(super) use places::Wanted;
pub(super) use rows::{Value, held_bytes};
