//! What a clustering leaves to threads: the part that `flow` does as a dataflow.

use std::path::Path;
use std::sync::Arc;

use super::forest::Forest;
use crate::error::Result;

/// Does the part of a clustering that many threads share. `Processes` is one: its workers, and those of
/// other processes.
pub trait Engine {
    /// Joins in `forest` the two pages of every link of the state in `folder`.
    fn unite(&mut self, forest: &Arc<Forest>, folder: &Path) -> Result<()>;
}

/// Links in portions, each of which one thread takes.
pub trait Portions: Send + Sync + 'static {
    /// How many there are.
    fn portions(&self) -> u64;

    /// The links of one portion.
    fn portion(&self, number: u64) -> Result<Vec<(u32, u32)>>;
}
