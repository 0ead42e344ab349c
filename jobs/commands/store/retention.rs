//! What a store forgets: pages that are removed, and then purged from the disk.

use std::path::Path;
use std::time::{Duration, Instant};

use dupsieve::document::IdList;
use dupsieve::journal::Journal;
use dupsieve::store::{Day, Purge, Removed, Store};
use dupsieve::{Error, Kind, Result};

use super::indexing;
use super::listing::summary_of;
use super::upkeep::{show_merging, show_verifying};
use crate::flags::GlobalFlags;
use crate::outcome::{Progress, Summary, Unit, counted};

pub(super) fn remove(
    store: &Store,
    ids: &Path,
    until: Option<Day>,
    global: &GlobalFlags,
) -> Result<Summary> {
    let removal = store.removal(IdList::read(ids, global.budget().whole())?, until)?;
    let threads = global.workers(1);
    let removed = {
        let rows = removal.rows();
        let (count, _shown) =
            Progress::count("looking for ids", Unit::Fingerprints, rows, global.quiet);
        match global.dry_run {
            true => removal.would(threads, &count)?,
            false => removal.run(threads, &count)?,
        }
    };
    let Removed { listed, held, rows, is_new } = removed;
    if held < listed {
        tracing::warn!("ids that the store does not hold: {} of {listed}", listed - held);
    }
    // A row may stand in several versions, so rows are no count of pages.
    let by = format!("the pages of {}", counted(held, "id(s)"));
    let summary = summary_of(store, &store.at(None)?)
        .count("listed", listed)
        .count("held", held)
        .count("removed", rows)
        .say(match (is_new, global.dry_run) {
            (false, _) => "the pages of these ids are removed already".to_owned(),
            (true, true) => format!("would remove {by}"),
            (true, false) => format!("removed {by}"),
        });
    Ok(if is_new { summary } else { summary.already_done() })
}

/// Rewrites and prunes until no byte of a removed page is left, and proves it. After the first step that ends later than
/// `deadline` from now, it stops.
pub(super) fn purge(
    store: &Store,
    deadline: Option<Duration>,
    global: &GlobalFlags,
) -> Result<Summary> {
    let deadline = deadline.and_then(|time| Instant::now().checked_add(time));
    let stop_in_time = || match deadline {
        Some(deadline) if Instant::now() >= deadline => Err(is_late(store)),
        _ => Ok(()),
    };
    let Purge { segments, rows, ids, .. } = store.purge()?;
    if !global.dry_run && segments > 0 {
        let (count, _shown) = show_merging(rows, global);
        while store.rewrite_removed(&count)? {
            stop_in_time()?;
        }
    }
    let last = store.purge()?.last;
    let first = *store.versions()?.start();
    if let Some(last) = last {
        tracing::info!(
            "versions {first} to {last} have segments with removed pages, and {} deleted",
            if global.dry_run { "would be" } else { "are" }
        );
    }
    let pruned = last.map_or(0, |last| last + 1 - first);
    let summary = |store: &Store| {
        let summary = summary_of(store, &store.at(None)?);
        let summary = summary.count("rewritten", segments).count("pruned_versions", pruned);
        Ok(summary.count("ids", ids))
    };
    if global.dry_run {
        return summary(store);
    }
    if let Some(last) = last {
        let (read, _shown) = show_verifying(0, global);
        store.prune_removed(last, &read)?;
        stop_in_time()?;
    }
    indexing::keep(store, global)?;
    let certified = ids > 0 && {
        clear_journal(store)?;
        let (read, _shown) = show_verifying(store.verification(None)?.bytes(), global);
        store.certify(&read)?
    };
    let done = "no byte of the removed pages is left; the certificate is in purges".to_owned();
    let summary = summary(store)?.say_if((ids > 0).then_some(done));
    let is_done = segments == 0 && pruned == 0 && !certified;
    Ok(if is_done { summary.already_done() } else { summary })
}

/// Makes the journal forget the removed pages, unless a service runs, which does so itself.
fn clear_journal(store: &Store) -> Result<()> {
    match Journal::leave_out_removed_at(store.path()) {
        Err(error) if error.kind() == Kind::Temporary => Ok(()),
        cleared => cleared,
    }
}

fn is_late(store: &Store) -> Error {
    Error::new(Kind::Temporary, "the purge has stopped at its deadline, after a whole step")
        .called("deadline")
        .at(store.path())
        .help("run the same command again: it goes on with what is left")
}
