//! Arrow IPC, as streams (`save_to_disk` of Hugging Face datasets) and as files (Feather 2): a page is a row, its fields are columns.
//!
//! ```text
//! message        how many bytes, then a table of flatbuffers; behind it a body
//!   schema       names and types of the columns
//!   dictionary   values that columns name by number
//!   record batch for each column, where its buffers are in the body
//! ```
//!
//! The buffers of the columns of the fields are read row by row, beside each other: a batch of many gigabytes takes no more memory
//! than a record and some blocks, whether it is compressed or not. Dictionaries, and compressed blocks of columns of views, are held
//! within a bound. Every number of a file is checked against the bytes that are there.
//!
//! `flat` reads tables, `schema` finds the columns, `messages` goes from message to message, `file` from batch to
//! batch, `batch` opens the buffers, `column` has the values of a column. Imports `columns`.

mod batch;
mod column;
mod damage;
mod file;
mod flat;
mod messages;
mod schema;
#[cfg(test)]
mod tests;

pub(super) use file::ArrowFile;
