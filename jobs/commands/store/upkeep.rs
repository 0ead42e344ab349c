//! What keeps a store fast and small: merging its segments, removing old versions, and letting days expire.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use dupsieve::Result;
use dupsieve::error::Named;
use dupsieve::store::{Codec, Day, Expiry, Merger, Pruning, Retention, Store};

use super::indexing;
use super::listing::summary_of;
use crate::flags::GlobalFlags;
use crate::outcome::{Progress, Summary, Unit, counted};

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
        return Ok(summary_of(store, &current).already_done().say("there is nothing to merge"));
    }
    if global.dry_run {
        return Ok(summary_of(store, &current).say("would merge segments"));
    }
    let merged = match codec {
        Some(codec) => {
            let (count, _shown) = show_merging(current.rows(), global);
            store.compact(codec, &count)?;
            current.segment_count()
        }
        None => compact_all_tiers(store, global)?,
    };
    indexing::keep(store, global)?;
    let summary = summary_of(store, &store.at(None)?).count("merged", merged);
    Ok(summary.say(counted(merged, "segment(s) merged")))
}

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
fn compact_tiers(store: &Store, global: &GlobalFlags) -> Result<u64> {
    let Some(due) = store.at(None)?.due() else { return Ok(0) };
    let (count, _shown) = show_merging(due.rows, global);
    let Some(version) = store.compact_tiers(&count)? else { return Ok(0) };
    tracing::debug!("{}; store version {}", describe(&due), version.number());
    Ok(due.segments() as u64)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Upkeep {
    pub(crate) pruned: u64,
    pub(crate) merged: u64,
}

/// Keeps a store small after a day was added: removes all versions but the newest `keep`, which may free the
/// space that a merge needs, does the merge that is due if it `merges`, removes what this leaves behind, and makes the
/// index of the new segments, if the store has one.
pub(crate) fn keep_up(
    store: &Store,
    merges: bool,
    keep: Option<NonZero<u64>>,
    global: &GlobalFlags,
) -> Result<Upkeep> {
    let folder = store.path().named();
    let prune = || match keep {
        Some(keep) => {
            let pruned = prune_to(store, keep, global).map(|pruning| pruning.versions());
            or_later(pruned, &format!("store prune {folder} --keep-versions {keep}"))
        }
        None => Ok(0),
    };
    let pruned = prune()?;
    let merged = match merges {
        true => or_later(compact_tiers(store, global), &format!("store compact {folder} --tiers"))?,
        false => 0,
    };
    let freed = if merged > 0 { prune()? } else { 0 };
    indexing::keep(store, global)?;
    Ok(Upkeep { pruned: pruned + freed, merged })
}

/// The count of what was `done` after a day was added; 0 if that failed.
fn or_later(done: Result<u64>, command: &str) -> Result<u64> {
    indexing::or_later(done, "the day is in the store, which could not be tidied", command)
}

pub(super) fn show_merging(rows: u64, global: &GlobalFlags) -> (Arc<AtomicU64>, Progress) {
    Progress::count("merging", Unit::Fingerprints, rows, global.quiet)
}

pub(crate) fn show_verifying(bytes: u64, global: &GlobalFlags) -> (Arc<AtomicU64>, Progress) {
    Progress::count("verifying", Unit::Bytes, bytes, global.quiet)
}

fn describe(Merger { days, rows, .. }: &Merger) -> String {
    let [first, last] = [days.first(), days.last()].map(|day| day.expect("a segment has a day"));
    match days.len() {
        1 => format!("wrote the segment of {first} anew, without hidden pages ({rows} before)"),
        count => format!("merged the {count} days from {first} to {last}, {rows} pages"),
    }
}

pub(super) fn prune(store: &Store, keep: NonZero<u64>, global: &GlobalFlags) -> Result<Summary> {
    let pruning =
        if global.dry_run { store.pruning(keep)? } else { prune_to(store, keep, global)? };
    let summary = summary_of(store, &store.at(None)?)
        .count("pruned_versions", pruning.versions())
        .count("pruned_segments", pruning.segments())
        .count("pruned_bytes", pruning.bytes());
    let would = format!("would remove {}", counted(pruning.versions(), "version(s)"));
    Ok(match pruning.versions() {
        0 => summary.already_done().say("there are no older versions"),
        _ => summary.say_if(global.dry_run.then_some(would)),
    })
}

fn prune_to(store: &Store, keep: NonZero<u64>, global: &GlobalFlags) -> Result<Pruning> {
    let pruning = store.pruning(keep)?;
    let (read, _shown) = show_verifying(pruning.bytes_to_read(), global);
    pruning.run(&read)?;
    if pruning.versions() > 0 {
        tracing::info!(
            "pruned {} of the store, and {} ({} bytes) that only old versions used",
            counted(pruning.versions(), "old version(s)"),
            counted(pruning.segments(), "segment(s)"),
            pruning.bytes()
        );
    }
    Ok(pruning)
}

/// Lets the days expire that `retention` does not keep; then merges what is due, if it `compacts`.
pub(super) fn expire(
    store: &Store,
    retention: Retention,
    compacts: bool,
    global: &GlobalFlags,
) -> Result<Summary> {
    let (expiry, merged) = match global.dry_run {
        true => (store.at(None)?.expiry(retention), 0),
        false => {
            let expiry = store.expire(retention)?;
            // A run that died after the days had expired may have left a merge.
            (expiry, keep_up(store, compacts, None, global)?.merged)
        }
    };
    log_expiry(expiry.as_ref(), global.dry_run);
    let version = store.at(None)?;
    let is_changed = expiry.is_some() || merged > 0;
    let (days, rows) = expiry.map_or((0, 0), |expiry| (expiry.days.len() as u64, expiry.rows));
    let summary = summary_of(store, &version)
        .count("expired_days", days)
        .count("expired", rows)
        .count("merged", merged);
    Ok(if is_changed { summary } else { summary.already_done().say("no day is older than that") })
}

/// Lets the days of a store expire but the last `days`, after a day was added. Returns how many have.
pub(crate) fn expire_days(store: &Store, days: NonZero<u64>) -> Result<u64> {
    let kept = Retention::Days(days);
    // A day that was confirmed itself does not say that all others may leave.
    let is_meant = store.at(None).and_then(|version| version.expect_kept(kept, Day::today()));
    let expired = is_meant.and_then(|()| store.expire(kept)).map(|expiry| {
        log_expiry(expiry.as_ref(), false);
        expiry.map_or(0, |expiry| expiry.days.len() as u64)
    });
    or_later(expired, &format!("store expire {} --keep-days {days}", store.path().named()))
}

pub(crate) fn log_expiry(expiry: Option<&Expiry>, is_dry: bool) {
    let Some(Expiry { first, days, rows }) = expiry else { return };
    let have = if is_dry { "would expire" } else { "expired" };
    let listed = match &days[..] {
        [oldest, .., newest] => format!("{} days from {oldest} to {newest}", days.len()),
        days => days.iter().map(Day::to_string).collect(),
    };
    let pages = counted(*rows, "page(s)");
    tracing::info!("{listed} {have}, with {pages}; the store shows the days from {first} on");
}
