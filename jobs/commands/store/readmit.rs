//! The list of pages that were dropped as duplicates of pages that leave a store.

use std::path::PathBuf;

use clap::Args;
use dupsieve::rooms::output::{Lock, PackedFile, PackedUnit, parent_of};
use dupsieve::rooms::report::{Dropped, Outputs};
use dupsieve::rooms::store::{Day, Store};
use dupsieve::{Kind, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::listing::summary_of;
use crate::flags::global::GlobalFlags;
use crate::flags::place::Outputs as Named;
use crate::outcome::summary::Summary;

/// What is written of pages that have lost the page in whose favour they were dropped.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReadmitFlags {
    /// Write the ids of the pages that were dropped as duplicates of a page that leaves, one a line, sorted. No kept
    /// page contains them any more: feed these pages to the next crawl
    #[arg(long, value_name = "FILE", requires = "outputs")]
    readmit: Option<PathBuf>,
    /// Finished outputs whose verdicts are read for --readmit: folders of `dedup`, or of days of `run`
    #[arg(long, value_name = "OUTPUT", num_args = 1.., requires = "readmit")]
    outputs: Vec<Named>,
}

/// A list that is to be written, and the outputs that were found for it.
pub(super) struct Readmit<'a>(Option<(&'a PathBuf, Outputs)>);

impl ReadmitFlags {
    /// Checks that the outputs are there, before the store is changed.
    pub(super) fn open(&self) -> Result<Readmit<'_>> {
        let file = self.readmit.as_ref();
        Ok(Readmit(
            file.map(|file| Ok((file, Outputs::open(&Named::here(&self.outputs)?)?)))
                .transpose()?,
        ))
    }
}

/// Lists in the file `path` the dropped pages of `outputs` whose kept page has expired, or gave its place to a page without its text.
pub(super) fn readmit(
    store: &Store,
    outputs: &[Named],
    path: &PathBuf,
    global: &GlobalFlags,
) -> Result<Summary> {
    let version = store.at(None)?;
    let first = version.expired_before();
    let is_expired = |day: Option<Day>| day.is_some() && day < first;
    let is_removed = |page: Dropped<'_>| {
        page.day.is_some_and(|day| version.is_removed(xxh3_128(page.id.as_bytes()), day))
    };
    // A page of a day that has expired itself does not come back, nor does one that was removed.
    let is_readmitted = |page: Dropped<'_>| {
        (page.is_lost || is_expired(page.against)) && !is_expired(page.day) && !is_removed(page)
    };
    let outputs = Outputs::open(&Named::here(outputs)?)?;
    let summary = summary_of(store, &version);
    Readmit(Some((path, outputs))).write(is_readmitted, (summary, false), global)
}

impl Readmit<'_> {
    /// Lists the dropped pages for which `is_readmitted`, and counts them in `summary`, which says whether the store was
    /// `changed`. It is done already if the store was not changed and the same list was there.
    pub(super) fn write(
        &self,
        is_readmitted: impl Fn(Dropped<'_>) -> bool,
        (summary, is_changed): (Summary, bool),
        global: &GlobalFlags,
    ) -> Result<Summary> {
        let ending = |summary: Summary, is_done| match is_done {
            true => summary.already_done(),
            false => summary,
        };
        let Some((path, outputs)) = &self.0 else { return Ok(ending(summary, !is_changed)) };
        let mut ids = outputs.readmit(is_readmitted, parent_of(path), global.budget().rows())?;
        let summary = summary.path("readmit", path);
        if global.dry_run {
            let count = ids.try_fold(0, |count, id| id.map(|_| count + 1))?;
            return Ok(ending(summary.count("readmitted", count), !is_changed));
        }
        let lock = Lock::on_file(path)?;
        let mut file = PackedFile::locked(PackedUnit::File, path, &lock)?;
        let mut count = 0;
        for id in ids {
            file.line(id?.as_bytes())?;
            count += 1;
        }
        let was_there = file.finish(global.overwrite).map_err(|error| match error.kind() {
            Kind::Exists => error.help("the store has changed; run the same command again with another file, or with --overwrite"),
            _ => error,
        })?;
        Ok(ending(summary.count("readmitted", count), !is_changed && was_there))
    }
}
