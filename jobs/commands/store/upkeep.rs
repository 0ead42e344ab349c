//! What keeps a store small and fast: merging its segments.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use dupsieve::Result;
use dupsieve::store::{Codec, Compacted, Merger, Store};

use super::listing::summary_of;
use crate::flags::global::GlobalFlags;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;

/// Merges all segments, with their fingerprints coded by `codec`. Without a codec, does all merges that are
/// due by the rule of the tiers.
pub(super) fn compact(
    store: &Store,
    codec: Option<Codec>,
    global: &GlobalFlags,
) -> Result<Summary> {
    let current = store.at(None)?;
    let would = codec.map_or(Ok(current.due().is_some()), |codec| store.would_compact(codec))?;
    if !would {
        return Ok(summary_of(store, &current).already_done());
    }
    if global.dry_run {
        return Ok(summary_of(store, &current));
    }
    let merged = match codec {
        Some(codec) => {
            let (count, _shown) = show(current.rows(), global);
            store.compact(codec, &count)?;
            current.segment_count()
        }
        None => compact_all_tiers(store, global)?,
    };
    Ok(summary_of(store, &store.at(None)?).count("merged", merged))
}

/// Merges until nothing is due. Returns how many segments were merged.
fn compact_all_tiers(store: &Store, global: &GlobalFlags) -> Result<u64> {
    let mut all = 0;
    loop {
        match compact_tiers(store, global)? {
            0 => return Ok(all),
            merged => all += merged,
        }
    }
}

/// Does the merge that is due by the rule of the tiers, if one is. Returns how many segments it merged.
pub(crate) fn compact_tiers(store: &Store, global: &GlobalFlags) -> Result<u64> {
    let Some(due) = store.at(None)?.due() else { return Ok(0) };
    let (count, _shown) = show(due.rows, global);
    match store.compact_tiers(&count)? {
        Compacted::New(version) => {
            tracing::info!("{}; store version {}", describe(&due), version.number());
            Ok(due.segments() as u64)
        }
        Compacted::Already(_) => Ok(0),
    }
}

/// A counter for the fingerprints that are merged, and the display of it.
fn show(rows: u64, global: &GlobalFlags) -> (Arc<AtomicU64>, Progress) {
    let count = Arc::new(AtomicU64::new(0));
    let shown =
        Progress::show("merging", Unit::Fingerprints, rows, Arc::clone(&count), global.quiet);
    (count, shown)
}

fn describe(Merger { days, rows, .. }: &Merger) -> String {
    let [first, last] = [days.first(), days.last()].map(|day| day.expect("a segment has a day"));
    format!("{} days from {first} to {last}, {rows} fingerprints, are one segment now", days.len())
}
