//! The list of pages that were dropped as duplicates of pages that a store shows no more.

use std::path::Path;

use dupsieve::error::Named as _;
use dupsieve::output::{Lock, PackedFile, PackedUnit, parent_of};
use dupsieve::report::{self, Dropped, Outputs};
use dupsieve::store::{Day, Store};
use dupsieve::{Kind, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::listing::summary_of;
use crate::flags::{GlobalFlags, Outputs as Named};
use crate::outcome::{Summary, counted};

/// Lists in the file `path` the dropped pages of `outputs` whose kept page was removed, has expired, or gave its place to a page without its text.
pub(super) fn readmit(
    store: &Store,
    outputs: &[Named],
    path: &Path,
    global: &GlobalFlags,
) -> Result<Summary> {
    let version = store.at(None)?;
    // A page whose day is not known is of any day.
    let earliest = version.all_entries().first().map(|entry| entry.day);
    let has_gone = |id: &str, day: Option<Day>| {
        let is_removed = |day| version.is_removed(xxh3_128(id.as_bytes()), day);
        day.is_some() && day < version.expired_before() || day.or(earliest).is_some_and(is_removed)
    };
    // What has gone itself does not come back.
    let is_readmitted = |page: Dropped<'_>| {
        let is_alone = page.is_lost || has_gone(page.of, page.against.or(page.day));
        is_alone && !has_gone(page.id, page.day)
    };
    // A day that was rolled back has left its output behind.
    let mut paths = Vec::new();
    for path in Named::here(outputs)? {
        paths.extend(report::whole_outputs(&path)?);
    }
    let outputs = Outputs::open(&paths, |day| version.entry(day).is_some())?;
    let mut ids = outputs.readmit(is_readmitted, parent_of(path), global.budget().rows())?;
    let summary = summary_of(store, &version).path("readmit", path);
    if global.dry_run {
        let count = ids.try_fold(0, |count, id| id.map(|_| count + 1))?;
        let would = format!("would list {}", counted(count, "id(s)"));
        return Ok(summary.count("readmitted", count).say(would));
    }
    let lock = Lock::on_file(path)?;
    let mut file = PackedFile::locked(PackedUnit::File, path, &lock)?;
    let mut count = 0;
    for id in ids {
        file.line(id?.as_bytes())?;
        count += 1;
    }
    let was_there = file.finish(global.overwrite).map_err(|error| match error.kind() {
        Kind::Exists => error.help("give another file, or replace this one with --overwrite"),
        _ => error,
    })?;
    let summary = summary.count("readmitted", count);
    let summary = summary.say(format!("{} in {}", counted(count, "id(s) listed"), path.named()));
    Ok(if was_there { summary.already_done() } else { summary })
}
