//! Which build of the program this is. A corrected build must not take over what a faulty one found.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{At, Result};
use crate::output::Sum;
use crate::store::Digest;

/// The file that this process runs, even after another file has replaced it.
const RUNNING: &str = "/proc/self/exe";

/// The digest of the program's version and of its executable file.
///
/// # Errors
/// [`Kind::Io`](crate::Kind::Io) if the file cannot be read.
pub fn build() -> Result<Digest> {
    let running = PathBuf::from(RUNNING);
    let path =
        if running.exists() { running } else { env::current_exe().at(Path::new("dupsieve"))? };
    let executable = Sum::of(&path)?;
    Ok(Digest::of(format!("{} {}", env!("CARGO_PKG_VERSION"), executable.xxh3).as_bytes()))
}
