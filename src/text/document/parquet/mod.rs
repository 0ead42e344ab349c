//! Parquet: a page is a row, its fields are columns.
//!
//! Only the columns of the fields are read, row group by row group and page by page, so that a row group of many
//! gigabytes takes no more memory than a few of its pages. A field `meta.url` is the leaf `url` of the group `meta`,
//! or a column of that name. A value that is null counts as missing.
//!
//! `copy` copies rows with all their columns. `file` goes from row group to row group, `column` decodes one column, `list` one of vectors
//! (`levels`: where lists begin). Imports `columns`.

mod column;
mod copy;
mod file;
mod levels;
mod list;
#[cfg(test)]
mod tests;

pub use copy::ParquetCopy;
pub(super) use file::ParquetGroups;
