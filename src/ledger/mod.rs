//! The ledger of a join: the chunks that are finished, each with its pairs and its receipt, in files
//! that only grow. FORMAT.md beside this file has their bytes.

mod chunk;
mod folder;
mod frame;
mod writer;

#[cfg(test)]
mod tests;

pub use chunk::{Chunk, Probed, chunks};
pub use folder::{Finished, Ledger, Pairs, ledger_key};
pub use writer::LedgerWriter;
