//! The ledger of a join: which chunks are finished, and the pairs that were found in each.
//!
//! A join can be killed at any moment. Each worker therefore writes the pairs of a chunk, and then a
//! [`Receipt`], to a file of its own before any pair is exchanged. A chunk whose receipt is in the file
//! is finished. A rerun reads such chunks back and probes only the others. FORMAT.md beside this file
//! defines the bytes.
//!
//! This room knows chunks, pairs and files, and nothing of the engine. It may import what stands above it
//! in `lib.rs`. Start reading at `folder.rs`, which reads the ledgers of earlier runs; `writer.rs` writes
//! the ledger of one worker, and `frame.rs` has the bytes.

mod chunk;
mod finished;
mod folder;
mod frame;
mod key;
mod writer;

#[cfg(test)]
mod tests;

pub use chunk::Receipt;
pub use finished::{ChunkPairs, Finished};
pub use folder::Ledger;
pub use writer::LedgerWriter;

pub(crate) use chunk::{Chunk, chunks};
pub(crate) use key::LedgerKey;
pub(crate) use writer::create;
