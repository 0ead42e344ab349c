//! Tables in Parquet.
//!
//! The bytes depend on the rows alone: the sizes of row groups are fixed, and no clock and no version of a library is
//! written. `writer` collects a row group, `column_values` encodes it, `reader` gives the texts back; `library` calls the library, which
//! panics on some damaged files, and decodes a column. `file`, `pages`, `grammar`: a file that is open, what bounds its pages, and what
//! it may say of itself.

mod column_values;
mod file;
mod grammar;
mod library;
mod pages;
mod reader;
mod writer;

pub use file::{ParquetFile, RowGroup};
pub use library::{trying, unwritten, values_of};
pub use pages::Gaps;
pub(super) use reader::ParquetReader;
pub use writer::CREATED_BY;
pub(super) use writer::ParquetWriter;
