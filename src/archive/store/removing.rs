//! Removing pages: no version shows them from then on, whatever file they are in.
//!
//! Ids lie in the order of the fingerprints, so those of all files are read, on all cores. What is found is written
//! to `REMOVED` (see `removals`) in one step. For example, removing the ids `b` and `d`:
//!
//! ```text
//! file   2026-11-20   a b c      compacted-000007   a b c d e
//! rows                  1                             1   3
//! ids    b until 2026-11-21, d until 2026-11-21      the newest day of any version, or a later one that is given
//! ```
//!
//! The ids are kept as digests. If a segment of one of these days is added later, its pages with these ids stay
//! out. A page of a later day is a new page: it was crawled after the removal. Pages in a journal, which no version
//! has yet, are forgotten by whoever writes the journal (see `removal_note`).

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicU64;

use super::file_record::FileRecord;
use super::folder::Store;
use super::id_search::find;
use super::pointer::{CURRENT, Pointer};
use super::removal_note::RemovalNote;
use super::removals::Removals;
use super::row_sets::copy_of;
use crate::day::Day;
use crate::document::IdList;
use crate::error::{Error, Kind, Result};
use crate::output::Lock;

#[derive(Debug)]
pub struct Removal {
    store: Store,
    ids: IdList,
    versions: RangeInclusive<u64>,
    files: BTreeMap<String, FileRecord>,
    until: Day,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub listed: u64,
    /// Those of them that a version has, or had until they were removed.
    pub held: u64,
    /// The rows that are left out from now on, in all files together.
    pub rows: u64,
    /// Whether anything has changed, or may have in the journal.
    pub is_new: bool,
}

impl Store {
    /// Prepares to remove the pages with these ids from all versions, and to keep them out of segments of days up to
    /// `until`: without it, up to the newest day of any version.
    pub fn removal(&self, ids: IdList, until: Option<Day>) -> Result<Removal> {
        let versions = self.versions()?;
        let mut files = BTreeMap::new();
        let mut newest = None;
        for read in self.manifests(versions.clone()) {
            let (_, manifest) = read?;
            newest = newest.max(manifest.entries.last().map(|entry| entry.day));
            let records = FileRecord::all(&manifest).into_iter();
            files.extend(records.map(|record| (record.file.clone(), record)));
        }
        let until = self.until(newest, until)?;
        Ok(Removal { store: self.clone(), ids, versions, files, until })
    }

    fn until(&self, newest: Option<Day>, given: Option<Day>) -> Result<Day> {
        let refuse = |what: &str| Error::new(Kind::Usage, what).at(self.path());
        match (newest, given) {
            (Some(newest), Some(given)) if given < newest => {
                let error = refuse("pages of later days than the last one to be removed are here");
                Err(error.expected(format_args!("{newest} or later")).found(given))
            }
            (newest, given) => given.or(newest).ok_or_else(|| {
                refuse("the store has no day, up to which these pages could be kept out")
                    .help("name the day")
                    .setting("until")
            }),
        }
    }
}

impl Removal {
    pub fn ids(&self) -> &IdList {
        &self.ids
    }

    pub fn rows(&self) -> u64 {
        self.files.values().map(|record| record.rows).fold(0, u64::saturating_add)
    }

    /// Removes the pages. Reads on `threads` threads, and `read` grows by the rows that were looked through.
    pub fn run(&self, threads: usize, read: &AtomicU64) -> Result<Removed> {
        let lock = self.store.lock()?;
        if self.store.versions()? != self.versions {
            return Err(self.store.has_changed());
        }
        // Later they would be older than `CURRENT`, by which they are known.
        self.store.remove_orphans(&lock)?;
        let (removals, mut removed) = self.find(threads, read)?;
        let is_told = RemovalNote::leave(self.store.path(), self.ids.keys(), &lock)?;
        if removed.is_new {
            removals.write(self.store.path(), &lock)?;
        }
        self.expect(&removals, &lock)?;
        removed.is_new |= is_told;
        Ok(removed)
    }

    /// Lets `CURRENT` expect these removals, unless it does.
    fn expect(&self, removals: &Removals, lock: &Lock) -> Result<()> {
        let current = Pointer::read(self.store.path(), CURRENT)?;
        if current.removals < removals.count {
            let next = Pointer { removals: removals.count, ..current };
            next.write(self.store.path(), CURRENT, lock)?;
        }
        Ok(())
    }

    pub fn would(&self, threads: usize, read: &AtomicU64) -> Result<Removed> {
        self.find(threads, read).map(|(_, removed)| removed)
    }

    fn find(&self, threads: usize, read: &AtomicU64) -> Result<(Removals, Removed)> {
        let mut removals = Removals::clone(&*Removals::read(self.store.path())?);
        let mut removed = Removed { listed: self.ids.len() as u64, ..Removed::default() };
        let mut held = vec![false; self.ids.len()];
        for (file, record) in &self.files {
            let dated = record.dated(self.store.path())?;
            let found = find(&dated, threads, read, |id| self.ids.place(id))?;
            found.wanted().for_each(|&place| held[place] = true);
            let mut rows = copy_of(&removals.files, file);
            let new = found.add_to(&mut rows);
            if new > 0 {
                removals.files.insert(file.clone(), rows.into());
                removed.rows += new;
            }
        }
        removed.held = held.iter().filter(|held| **held).count() as u64;
        let is_noted = removals.add_ids(self.ids.keys(), self.until);
        removed.is_new = removed.rows > 0 || is_noted;
        Ok((if removed.is_new { removals.counted() } else { removals }, removed))
    }
}
