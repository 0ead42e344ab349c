//! What formats of columns share: a page is a row, its fields are columns.
//!
//! `rows` are the fields of some rows, and the documents that they are. `opened` is a file that is read at any place, `blocks` such a
//! file in an object store. `places`: which columns have the fields. `bound` is how much of a file a reader of columns holds at once.

#[cfg(feature = "object-store")]
mod blocks;
mod bound;
mod opened;
mod places;
mod rows;

pub(super) use bound::held_bytes;
pub(super) use opened::{Opened, Stretch, bytes_of};
pub(super) use places::{OfFields, Wanted};
pub(super) use rows::{Row, RowPortion, Value};
