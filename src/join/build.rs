//! Which build of the program this is: a mended one does not take up what the old one found.

use std::env;
use std::path::{Path, PathBuf};

use dupsieve::Result;
use dupsieve::error::At;
use dupsieve::output::Sum;
use dupsieve::store::Digest;

/// The file that this process runs, also after another one was put in its place.
const RUNNING: &str = "/proc/self/exe";

/// The digest of the program's version and of its executable file.
pub(super) fn build() -> Result<Digest> {
    let running = PathBuf::from(RUNNING);
    let path =
        if running.exists() { running } else { env::current_exe().at(Path::new("dupsieve"))? };
    let executable = Sum::of(&path)?;
    Ok(Digest::of(format!("{} {}", env!("CARGO_PKG_VERSION"), executable.xxh3).as_bytes()))
}
