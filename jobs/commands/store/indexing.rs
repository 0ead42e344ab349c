//! The index and the filters of a store: made, kept as segments come and go, and removed.

use std::sync::atomic::AtomicU64;

use dupsieve::error::Named;
use dupsieve::index::{self, IndexDesign};
use dupsieve::seen;
use dupsieve::store::{Kept, Store};
use dupsieve::{Kind, Result};

use super::listing::summary_of;
use crate::flags::GlobalFlags;
use crate::outcome::{Progress, Summary, Unit};

/// Gives the store the index and the filters that are asked for; by default the usual index.
pub(super) fn run(
    store: &Store,
    design: Option<IndexDesign>,
    filters: Option<bool>,
    global: &GlobalFlags,
) -> Result<Summary> {
    let design = design.or(filters.is_none().then(IndexDesign::default));
    let index = design.map(|design| set_index(store, design, global)).transpose()?;
    let filters = filters.map(|wanted| set_filters(store, wanted, global)).transpose()?;
    let done = Summary::new().already_done();
    Ok(index.into_iter().chain(filters).fold(done, Summary::then))
}

fn set_filters(store: &Store, wanted: bool, global: &GlobalFlags) -> Result<Summary> {
    let (filters, rows) = if wanted { seen::missing(store)? } else { (0, 0) };
    let summary = summary_of(store, &store.at(None)?);
    if global.dry_run {
        return Ok(summary.count("filters_made", filters).count("filter_rows", rows));
    }
    let was = seen::is_kept(store).ok();
    let kept = build("making filters", rows, global, |space, hashed| {
        seen::set(store, wanted, space, hashed)
    })?;
    let is_done = was == Some(wanted) && (kept.made, kept.removed) == (0, 0);
    let Kept { made, removed, files, bytes } = kept;
    let summary = summary
        .count("filters_made", made)
        .count("filter_files_removed", removed)
        .count("filter_files", files)
        .count("filter_bytes", bytes)
        .say(format!("filters: {files} files of {bytes} bytes"));
    Ok(if is_done { summary.already_done() } else { summary })
}

fn set_index(store: &Store, design: IndexDesign, global: &GlobalFlags) -> Result<Summary> {
    let (files, rows) = index::missing(store, design)?;
    let summary = summary_of(store, &store.at(None)?);
    if global.dry_run {
        return Ok(summary.count("index_made", files).count("index_fingerprints", rows));
    }
    let was = index::design_of(store).ok();
    let kept = build("indexing", rows, global, |space, sorted| {
        index::index(store, design, space, sorted)
    })?;
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

/// Makes what the index and the filters of a store lack after a change of the store.
pub(crate) fn keep(store: &Store, global: &GlobalFlags) -> Result<()> {
    let folder = store.path().named();
    let index = || {
        let design = index::design_of(store)?;
        if design == IndexDesign::None {
            return Ok(Kept::default());
        }
        let (_, rows) = index::missing(store, design)?;
        build("indexing", rows, global, |space, sorted| index::keep(store, space, sorted))
    };
    let filters = || {
        if !seen::is_kept(store)? {
            return Ok(Kept::default());
        }
        let (_, rows) = seen::missing(store)?;
        build("making filters", rows, global, |space, hashed| seen::keep(store, space, hashed))
    };
    let changed = |what| format!("the store has changed, but not {what}");
    or_later(index(), &changed("its index"), &format!("store index {folder}"))?;
    or_later(filters(), &changed("its filters"), &format!("store index {folder} --filters"))?;
    Ok(())
}

/// What was `done`. If that failed, warns, names the `command` that does it later, and gives nothing.
pub(super) fn or_later<T: Default>(done: Result<T>, what: &str, command: &str) -> Result<T> {
    match done {
        Err(error) if error.kind() != Kind::Temporary => {
            tracing::warn!("{what}: {error}; when that is mended, run `dupsieve {command}`");
            Ok(T::default())
        }
        done => done,
    }
}

/// Calls `build` with the memory for its sorts, the number of their threads and a counter of rows, and shows how far it is.
fn build(
    doing: &'static str,
    rows: u64,
    global: &GlobalFlags,
    build: impl FnOnce((usize, usize), &AtomicU64) -> Result<Kept>,
) -> Result<Kept> {
    let (sorted, _shown) = Progress::count(doing, Unit::Fingerprints, rows, global.quiet);
    let memory = usize::try_from(global.budget().whole()).unwrap_or(usize::MAX);
    build((memory, global.workers(1)), &sorted)
}
