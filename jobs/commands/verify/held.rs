//! Checks that the store still holds a day as the output of that day says.

use std::path::Path;

use dupsieve::rooms::error::Named;
use dupsieve::rooms::matches::replacements_in;
use dupsieve::rooms::store::{Entry, NewDay, Replacements, Segment, Store};
use dupsieve::{Error, Kind, Result};

use dupsieve::rooms::report::{Made, Report};

use crate::commands::places;

/// Fails if the store that a day of `run` entered now holds something else for that day: another batch, other
/// pages of the same batch, nothing, or pages that were kept by a join with another version. `found` is the
/// output of the join of `batch`. A store that no longer exists is not checked.
pub(crate) fn check(found: &Path, batch: &Segment) -> Result<()> {
    let Some(report) = Report::read(found)? else { return Ok(()) };
    let Some(path) = places::input_of(&report.run, "store")? else { return Ok(()) };
    // An output of `dedup` alone has no day and enters no store.
    let Some(day) = report.day else { return Ok(()) };
    let store = Store::open(&path)?;
    let keep = found.join("keep.txt");
    let is_unchanged = |entry: &Entry| {
        let only = entry.only.map(|_| keep.as_path());
        let listed = entry.replaces.or(entry.slack).map(|_| replacements_in(found)).transpose();
        let Ok(listed) = listed else { return false };
        let replaced = match entry.replaces {
            Some(_) => listed,
            None => listed.map(Replacements::replacing_none),
        };
        let joined = store.before(day).map(|version| version.digest().to_string());
        let (segment, replaces) = (batch.path(), replaced.as_ref());
        store.would_add(&NewDay { segment, day, only, replaces }) == Ok(false)
            && joined.as_ref().ok() == report.parameters.get("store")
    };
    let current = store.at(None)?;
    let held = match current.entry(day) {
        Some(entry) if is_unchanged(entry) => return Ok(()),
        Some(entry) => format!("segment {} in version {}", entry.source, current.number()),
        None => format!("nothing in version {}", current.number()),
    };
    Err(Error::new(Kind::BadData, "the store does not hold what this output says")
        .at(found)
        .expected(format_args!("{day} as segment {}", batch.digest()))
        .found(format_args!("{held} of {}", path.named()))
        .help(format!(
            "`store log` shows what happened to {day}; run the day again, or make it again with --redo"
        )))
}
