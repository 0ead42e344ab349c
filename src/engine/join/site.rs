//! Where a join writes, who watches it, and which build of the program it is.

use std::any::Any;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::error::{At, Result};
use crate::flow::Role;
use crate::output::{Staging, Sum};
use crate::store::Digest;

/// Where a join writes.
pub struct Site<'a> {
    /// The output folder. The ledgers are beside it until it is complete.
    pub output: &'a Path,
    /// The build that the ledgers name, see [`build`]. All processes take that of process 0.
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

/// The file that this process runs, even after another file has replaced it.
const RUNNING: &str = "/proc/self/exe";

/// The digest of the program's version and of its executable file: a corrected build must not take over what a faulty one found.
pub fn build() -> Result<Digest> {
    let running = PathBuf::from(RUNNING);
    let path =
        if running.exists() { running } else { env::current_exe().at(Path::new("dupsieve"))? };
    let executable = Sum::of(&path)?;
    Ok(Digest::of(format!("{} {}", env!("CARGO_PKG_VERSION"), executable.xxh3).as_bytes()))
}
