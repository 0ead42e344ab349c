//! Parquet: a page is a row, its fields are columns.
//!
//! Only the columns of the fields are read, row group by row group and page by page, so that a row group of many
//! gigabytes takes no more memory than a few of its pages. A field `meta.url` is the leaf `url` of the group `meta`,
//! or a column of that name. A value that is null counts as missing.
//!
//! `copy` copies rows with all their columns. `file` says which columns have the fields, and goes from row group to row group, `column` decodes one column, `list` one of
//! vectors. `cutter` cuts a file into portions of rows. `opened` is a file that is read at any place.

mod column;
mod copy;
mod cutter;
mod file;
mod list;
mod opened;
#[cfg(test)]
mod tests;

pub use copy::ParquetCopy;
pub(super) use cutter::{ParquetCutter, first_rows};
