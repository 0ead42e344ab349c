//! Verifies versions of a store: reads each of their segments once and compares it with all that the
//! manifests say about it.

use std::collections::BTreeMap;
use std::iter;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use crate::error::Result;

use super::file_record::FileRecord;
use super::folder::Store;
use super::manifest::{Manifest, SEGMENTS};
use super::version::Version;

/// Versions of a store to verify. Their manifests were read, their segments not yet.
#[derive(Debug)]
pub struct Verification {
    segments: PathBuf,
    versions: u64,
    /// What the versions say about each file: mostly all the same, so one record.
    files: BTreeMap<String, Vec<FileRecord>>,
}

impl Store {
    /// Prepares to verify the version with that number; without a number all versions, because the store
    /// can be rolled back to each.
    ///
    /// # Errors
    /// A version that never existed is [`Kind::Missing`](crate::Kind::Missing); a damaged manifest is
    /// [`Kind::BadData`](crate::Kind::BadData).
    pub fn verification(&self, number: Option<u64>) -> Result<Verification> {
        let mut verification = Verification::new(self);
        let manifests: Box<dyn Iterator<Item = Result<Manifest>>> = match number {
            Some(number) => Box::new(iter::once(self.manifest(number))),
            None => Box::new(self.versions()?.map(|number| self.manifest_of(number))),
        };
        for manifest in manifests {
            verification.versions += 1;
            FileRecord::all(&manifest?).into_iter().for_each(|record| verification.add(record));
        }
        Ok(verification)
    }

    /// Verifies every version and returns the newest.
    ///
    /// # Errors
    /// Those of [`Store::verification`] and [`Verification::run`].
    pub fn verify(&self) -> Result<Version> {
        self.verification(None)?.run(&AtomicU64::new(0))?;
        self.at(None)
    }
}

impl Verification {
    /// Nothing to verify yet, in `store`.
    pub(super) fn new(store: &Store) -> Verification {
        let segments = store.path().join(SEGMENTS);
        Verification { segments, versions: 0, files: BTreeMap::new() }
    }

    /// Adds what a version says about one of its files.
    pub(super) fn add(&mut self, record: FileRecord) {
        let records = self.files.entry(record.file.clone()).or_default();
        if !records.contains(&record) {
            records.push(record);
        }
    }

    /// The number of versions.
    pub fn versions(&self) -> u64 {
        self.versions
    }

    /// The number of their files.
    pub fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// The bytes of these files, according to the manifests.
    pub fn bytes(&self) -> u64 {
        let bytes = self.files.values().flat_map(|records| records.first()).map(|it| it.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Reads and checks every file. `read` grows by the bytes read.
    ///
    /// # Errors
    /// A missing segment is [`Kind::Missing`](crate::Kind::Missing); a damaged one is
    /// [`Kind::BadData`](crate::Kind::BadData).
    pub fn run(&self, read: &AtomicU64) -> Result<()> {
        for records in self.files.values() {
            let segment = records[0].open(&self.segments)?;
            let days = segment.verify_counting(read)?;
            for record in records {
                record.check(&segment)?;
                record.check_days(&segment, &days)?;
            }
        }
        Ok(())
    }
}
