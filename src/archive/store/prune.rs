//! Pruning: the oldest versions leave the store, and with them the files that only they used.
//!
//! Versions share files, and a merge leaves the old ones to the versions before it. For example, with
//! segments a, b and c, of which version 4 has merged a and b:
//!
//! ```text
//! version   2: a   3: a b   4: m   5: m c        keep 2 versions: 4 and 5
//! OLDEST    "000004 <checksum>"                  versions 2 and 3 are gone from here on
//! removed   a and b, then manifests 1, 2, 3      m has their days
//! ```
//!
//! One rename, of `OLDEST`, decides. What a run that died after it has left, the next change removes. No
//! file is removed before the file of the newest version that has its days was read from end to end and is
//! sound.
//!
//! A reader that has opened its version goes on, because an open file stays readable. (Where hosts share a
//! file system that does not keep that promise, such as NFS, it ends with an error; so keep as many versions as
//! are made while the longest join runs.) A reader that comes too late to open it is told so, with
//! [`Kind::Temporary`](crate::Kind::Temporary); run again, it reads the newest.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicU64;

use crate::error::Result;

use super::file_record::FileRecord;
use super::folder::Store;
use super::verification::Verification;
use crate::day::Day;

/// What leaves a store when it keeps only its newest versions.
#[derive(Debug)]
pub struct Pruning {
    store: Store,
    versions: RangeInclusive<u64>,
    oldest: u64,
    files: BTreeMap<String, u64>,
    /// The files of the newest version that have their days.
    heirs: Verification,
}

impl Store {
    /// Prepares to remove all versions but the newest `keep`, and the files that only they use. With as many or
    /// fewer versions there is nothing to remove.
    pub fn pruning(&self, keep: NonZero<u64>) -> Result<Pruning> {
        let versions = self.versions()?;
        let (first, newest) = (*versions.start(), *versions.end());
        let oldest = first.max(newest.saturating_sub(keep.get() - 1));
        let heirs = Verification::new(self);
        let mut pruning =
            Pruning { store: self.clone(), versions, oldest, files: BTreeMap::new(), heirs };
        if oldest > first {
            pruning.find_files()?;
        }
        Ok(pruning)
    }
}

impl Pruning {
    fn find_files(&mut self) -> Result<()> {
        let (first, newest) = (*self.versions.start(), *self.versions.end());
        let mut kept = HashSet::new();
        for read in self.store.manifests(self.oldest..=newest) {
            let (_, manifest) = read?;
            kept.extend(manifest.entries.into_iter().map(|entry| entry.file));
        }
        let mut days: HashSet<Day> = HashSet::new();
        for read in self.store.manifests(first..self.oldest) {
            let records = FileRecord::all(&read?.1);
            for record in records.into_iter().filter(|it| !kept.contains(&it.file)) {
                days.extend(record.days());
                self.files.insert(record.file, record.bytes);
            }
        }
        let records = FileRecord::all(&self.store.manifest_of(newest)?);
        let shares = |record: &FileRecord| record.days().any(|day| days.contains(&day));
        records.into_iter().filter(shares).for_each(|record| self.heirs.add(record, newest));
        Ok(())
    }

    /// Removes them, and what a run that died has left. `read` grows by the bytes that are read to check what
    /// takes their place.
    pub fn run(&self, read: &AtomicU64) -> Result<()> {
        let lock = self.store.lock()?;
        if self.store.versions()? != self.versions {
            return Err(self.store.has_changed());
        }
        if self.versions() > 0 {
            self.heirs.run(read)?;
            self.store.begin_with(self.oldest, &lock)?;
        }
        // However old they are: the manifest of a version that leaves can stay as a base, and then nothing else tells of it.
        self.store.remove_all_orphans(&lock)
    }

    pub fn versions(&self) -> u64 {
        self.oldest - self.versions.start()
    }

    pub fn segments(&self) -> u64 {
        self.files.len() as u64
    }

    pub fn bytes(&self) -> u64 {
        self.files.values().fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }

    pub fn bytes_to_read(&self) -> u64 {
        self.heirs.bytes()
    }
}
