//! What is in a store, and how it came there: `store list`, `store log`, and the summary of all changes.

use dupsieve::Result;
use dupsieve::index;
use dupsieve::join::Preset;
use dupsieve::seen;
use dupsieve::store::{Day, Digest, Entry, Merged, Revision, Store, Version};
use serde_json::json;

use crate::outcome::{Summary, answer, tally};

pub(super) fn log(store: &Store, as_json: bool) -> Result<Summary> {
    let history = store.history()?;
    let versions = history.iter().map(|revision| {
        let Revision { version, change, days, rows, replaced } = revision;
        let change = change.to_string();
        json!({ "version": version, "change": change, "days": days, "rows": rows, "replaced": replaced })
    });
    let object = json!({ "versions": versions.collect::<Vec<_>>() });
    answer::print(&object, include_str!("log.txt"), as_json)
}

/// Prints each day with the rows that it shows; then the segments that several days share, the rows of removed pages, of replaced pages
/// and of expired days in all files, what older versions need besides, the index and the filters.
pub(super) fn list(store: &Store, as_json: bool) -> Result<Summary> {
    let version = store.at(None)?;
    let older = store.bytes_besides(&version)?;
    let design = index::design_of(store)?;
    let (files, bytes) = index::size(store)?;
    let (missing, _) = index::missing(store, design)?;
    let filters = match seen::is_kept(store)? {
        true => Some(json!({ "bytes": seen::size(store)?.1, "missing": seen::missing(store)?.0 })),
        false => None,
    };
    let days = version.entries().iter().map(|entry| {
        let segment = segment_of(&version, entry);
        json!({
            "day": entry.day.to_string(),
            "version": entry.added_in,
            "rows": version.shown_of(entry),
            "replaced": version.replaced_of(entry),
            "bytes": segment.map(|(bytes, _)| bytes),
            "digest": segment.map(|(_, digest)| digest.to_string()),
        })
    });
    let merged = shared(&version).map(|Merged { file, rows, bytes, digest }| {
        let entries = version.entries().iter().filter(|entry| entry.file == *file);
        let days: Vec<Day> = entries.map(|entry| entry.day).collect();
        json!({ "days": days, "rows": rows, "bytes": bytes, "digest": digest.to_string() })
    });
    let object = json!({
        "version": version.number(),
        "fingerprints": version.shown_rows(),
        "removed": version.removed_rows(),
        "replaced": version.replaced_rows(),
        "expired": version.expired_rows(),
        "expired_before": version.expired_before().map(|first| first.to_string()),
        "segments": version.segment_count(),
        "preset": version.stamp().and_then(Preset::of),
        "days": days.collect::<Vec<_>>(),
        "merged": merged.collect::<Vec<_>>(),
        "older_bytes": older,
        "index": { "design": design.to_string(), "files": files, "bytes": bytes, "missing": missing },
        "filters": filters,
    });
    answer::print(&object, include_str!("list.txt"), as_json)
}

/// The size and the digest of the segment of a day: the segment that it was added as, as long as none of its rows has left the
/// disk. Else the segment that has the rest, if that has no other day.
fn segment_of(version: &Version, entry: &Entry) -> Option<(u64, Digest)> {
    if entry.dropped == 0 {
        return Some((entry.bytes, entry.digest));
    }
    let own = version.merged().iter().find(|merged| merged.file == entry.file);
    own.filter(|it| !is_shared(version, it)).map(|it| (it.bytes, it.digest))
}

fn shared(version: &Version) -> impl Iterator<Item = &Merged> {
    version.merged().iter().filter(|merged| is_shared(version, merged))
}

fn is_shared(version: &Version, merged: &Merged) -> bool {
    version.all_entries().iter().filter(|entry| entry.file == merged.file).count() > 1
}

/// Adds what the store has to the summary of a command that says it in counts.
pub(super) fn say_store(summary: Summary) -> Summary {
    let Some(store) = summary.named("store").filter(|_| summary.find("fingerprints").is_some())
    else {
        return summary;
    };
    let [pages, days, version] =
        ["fingerprints", "days", "version"].map(|name| summary.counted(name));
    let pages = tally(pages, "page(s)", &[]);
    let days = tally(days, "day(s)", &[]);
    let said = format!("the store {store} has {pages} of {days} (version {version})");
    summary.say(said)
}

pub(super) fn summary_of(store: &Store, version: &Version) -> Summary {
    Summary::new()
        .count("version", version.number())
        .count("days", version.entries().len() as u64)
        .count("segments", version.segment_count())
        .count("fingerprints", version.shown_rows())
        .path("store", store.path())
}
