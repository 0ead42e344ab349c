//! Tables of results: matches, verdicts, clusters and the like, in formats that other programs read.
//!
//! A table has typed columns. A row is given and read as its texts, divided by tabs, and so the TSV is the definition: every
//! format holds the same texts, each value as its column's type has it. An empty text is a null.
//!
//! | [`Values`] | TSV | JSON Lines | Parquet |
//! |---|---|---|---|
//! | `Text`, `Names` | as it is | string | UTF-8 string |
//! | `Bits` | `3` | `3` | 8 bits, unsigned |
//! | `Share` | `0.8125` | `0.8125` | double |
//! | `Count` | `12` | `12` | 64 bits |
//! | `Change` | `+1` | `1` | 8 bits |
//! | `Day` | `2026-11-20` | string | date |
//! | empty | nothing | `null` | null |
//!
//! - `format`: the formats, by name. `column`: the columns of a table.
//! - `writer`: rows to a stream, or to a file of an output. `reader`: any format read back.
//! - `lines`: the lines of a list or a TSV. `json_lines`, `parquet`: the other two formats.
//!
//! Imports `day`, `output` and what stands before it. Start with [`ResultWriter`].
//!
//! ```
//! use dupsieve_base::results::{ResultColumn, ResultFormat, ResultWriter, Values};
//!
//! let columns = [ResultColumn::new("id", Values::Text), ResultColumn::new("distance", Values::Bits).or_null()];
//! let mut table = ResultWriter::new(Vec::new(), "out".as_ref(), ResultFormat::JsonLines, &columns)?;
//! table.rows("a\t3\nb\t\n")?;
//! let written = String::from_utf8(table.finish()?)?;
//! assert_eq!(written, "{\"id\":\"a\",\"distance\":3}\n{\"id\":\"b\",\"distance\":null}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod column;
mod format;
mod json_lines;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use column::{ResultColumn, Sorted, Values};
pub use format::ResultFormat;
#[cfg(feature = "parquet")]
pub use parquet::{CREATED_BY, Gaps, ParquetFile, RowGroup, trying, unwritten, values_of};
pub use reader::ResultReader;
pub use writer::{ResultFile, ResultWriter};
