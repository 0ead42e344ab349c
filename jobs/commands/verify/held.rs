//! Whether the store still holds a day as the output of that day says.

use std::path::{Path, PathBuf};

use dupsieve::store::{Entry, Segment, Store};
use dupsieve::{Error, Kind, Result};

use crate::outcome::report::Report;

/// Fails if the store that a day of `run` entered holds something else under it now: another batch, other
/// pages of it, nothing at all, or what a join with other pages kept. `found` is what was found of the
/// day's `batch`. A store that is no longer where it was is passed over.
pub(crate) fn check(found: &Path, batch: &Segment) -> Result<()> {
    let Some(report) = Report::read(found)? else { return Ok(()) };
    let path = report.run["inputs"]["store"].as_str().map(PathBuf::from);
    let Some(path) = path.filter(|path| path.exists()) else { return Ok(()) };
    // What `dedup` alone has made says nothing of what enters a store.
    let Some(day) = report.day else { return Ok(()) };
    let store = Store::open(&path)?;
    let keep = found.join("keep.txt");
    let is_as_told = |entry: &Entry| {
        let only = entry.only.map(|_| keep.as_path());
        let joined = store.at(Some(entry.added_in - 1)).map(|version| version.digest().to_string());
        store.would_add(batch.path(), day, only) == Ok(false)
            && joined.as_ref().ok() == report.parameters.get("store")
    };
    let current = store.at(None)?;
    let held = match current.entry(day) {
        Some(entry) if is_as_told(entry) => return Ok(()),
        Some(entry) => format!("segment {} in version {}", entry.source, current.number()),
        None => format!("nothing in version {}", current.number()),
    };
    Err(Error::new(Kind::BadData, "the store holds something else than this output says")
        .at(found)
        .expected(format_args!("{day} as segment {}", batch.digest()))
        .found(format_args!("{held} of {}", path.display()))
        .help(format!(
            "`store log` shows what became of {day}; run it again, or make it again with --redo"
        )))
}
