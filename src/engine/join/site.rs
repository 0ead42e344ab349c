//! Where a join writes, and who watches it.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::flow::Role;
use crate::output::Staging;
use crate::store::Digest;

/// Where a join writes.
pub struct Site<'a> {
    /// The output folder. The ledgers are beside it until it is complete.
    pub output: &'a Path,
    /// The build that the ledgers name, see [`build`](super::build()). All processes take that of process 0.
    pub build: Digest,
    /// The memory for the batch and itself, in bytes. All processes take that of process 0, because it decides how
    /// the batch is divided.
    pub itself_bytes: u64,
    /// The output while it is built, in process 0.
    pub staging: Role<Staging>,
    /// Called when probing starts.
    pub watch: Watch<'a>,
}

/// Watches a long step. It is called with the number of fingerprints that this process will probe, roughly,
/// and with a counter of those it has probed. What it returns is dropped when the step ends.
pub type Watch<'a> = &'a dyn Fn(u64, Arc<AtomicU64>) -> Box<dyn Any>;

/// Watches nothing.
pub fn unwatched(_: u64, _: Arc<AtomicU64>) -> Box<dyn Any> {
    Box::new(())
}
