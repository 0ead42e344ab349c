//! The index of a store: made, kept as segments come and go, and removed.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use dupsieve::index::{self, Design};
use dupsieve::store::{Kept, Store};
use dupsieve::{Kind, Result};

use super::listing::summary_of;
use crate::flags::global::GlobalFlags;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;

/// Gives the store the index of this design, and takes away any other.
pub(super) fn run(store: &Store, design: Design, global: &GlobalFlags) -> Result<Summary> {
    let (files, rows) = index::missing(store, design)?;
    let summary = summary_of(store, &store.at(None)?);
    if global.dry_run {
        return Ok(summary.count("index_made", files).count("index_fingerprints", rows));
    }
    let was = index::design_of(store).ok();
    let kept = build(rows, global, |memory, sorted| index::index(store, design, memory, sorted))?;
    let is_done = was == Some(design) && (kept.made, kept.removed) == (0, 0);
    let Kept { made, removed, files, bytes } = kept;
    let summary = summary
        .count("index_made", made)
        .count("index_removed", removed)
        .count("index_files", files)
        .count("index_bytes", bytes)
        .say(format!("index {design}: {files} files of {bytes} bytes"));
    Ok(if is_done { summary.already_done() } else { summary })
}

/// Makes what the index of a store lacks after a change of the store.
///
/// # Errors
/// Only [`Kind::Temporary`]: the same command does it when run again. Any other failure is logged as a warning,
/// because the change is made, and the store answers without the index too.
pub(crate) fn keep(store: &Store, global: &GlobalFlags) -> Result<()> {
    let kept = || {
        let design = index::design_of(store)?;
        if design == Design::None {
            return Ok(());
        }
        let (_, rows) = index::missing(store, design)?;
        build(rows, global, |memory, sorted| index::keep(store, memory, sorted)).map(drop)
    };
    match kept() {
        Err(error) if error.kind() != Kind::Temporary => {
            tracing::warn!(
                "the store has changed, but not its index: {error}; when that is mended, run `dupsieve store index {}`",
                store.path().display()
            );
            Ok(())
        }
        kept => kept,
    }
}

/// Calls `build` with the memory for its sorts and a counter of fingerprints, and shows how far it is.
fn build(
    rows: u64,
    global: &GlobalFlags,
    build: impl FnOnce(usize, &AtomicU64) -> Result<Kept>,
) -> Result<Kept> {
    let sorted = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&sorted);
    let _shown = Progress::show("indexing", Unit::Fingerprints, rows, shown, global.quiet);
    let memory = usize::try_from(global.budget().whole()).unwrap_or(usize::MAX);
    build(memory, &sorted)
}
