//! What a store forgets: pages that are removed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use dupsieve::Result;
use dupsieve::document::IdList;
use dupsieve::store::{Removed, Store};

use super::listing::summary_of;
use crate::flags::global::GlobalFlags;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;

/// Removes the pages whose ids are in the file `ids` from all versions.
pub(super) fn remove(store: &Store, ids: &Path, global: &GlobalFlags) -> Result<Summary> {
    let removal = store.removal(IdList::read(ids, global.budget().whole())?)?;
    let threads = global.workers(1);
    let removed = {
        let (count, _shown) = show_looking(removal.rows(), global);
        match global.dry_run {
            true => removal.would(threads, &count)?,
            false => removal.run(threads, &count)?,
        }
    };
    let Removed { listed, held, rows, is_new } = removed;
    if held < listed {
        tracing::warn!("ids that the store does not hold: {} of {listed}", listed - held);
    }
    let summary = summary_of(store, &store.at(None)?)
        .count("listed", listed)
        .count("held", held)
        .count("removed", rows);
    Ok(if is_new { summary } else { summary.already_done() })
}

/// A counter for the fingerprints that are looked through, and the display of it.
fn show_looking(rows: u64, global: &GlobalFlags) -> (Arc<AtomicU64>, Progress) {
    let count = Arc::new(AtomicU64::new(0));
    let shown = Progress::show(
        "looking for ids",
        Unit::Fingerprints,
        rows,
        Arc::clone(&count),
        global.quiet,
    );
    (count, shown)
}
