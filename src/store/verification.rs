//! Verifies versions of a store: every segment they name is read once and held to all that their
//! manifests say of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use crate::error::Result;

use super::file_record::FileRecord;
use super::folder::{SEGMENTS, Store};
use super::manifest::Manifest;
use super::version::Version;

/// Versions of a store that are to be verified. Their manifests are read, their segments are not yet.
#[derive(Debug)]
pub struct Verification {
    segments: PathBuf,
    versions: u64,
    /// What the versions say of each file, at least one record each: mostly they say the same.
    files: BTreeMap<String, Vec<FileRecord>>,
}

impl Store {
    /// Prepares to verify the version of that number; without one, every version from the first to
    /// the newest, since each can be rolled back to.
    ///
    /// # Errors
    /// A version that never was is [`Kind::Missing`](crate::Kind::Missing), a damaged manifest
    /// [`Kind::BadData`](crate::Kind::BadData).
    pub fn verification(&self, number: Option<u64>) -> Result<Verification> {
        let newest = self.current()?.version;
        let mut verification = Verification {
            segments: self.path().join(SEGMENTS),
            versions: 0,
            files: BTreeMap::new(),
        };
        for number in number.map_or(1..=newest, |number| number..=number) {
            verification.add(&self.manifest(number)?);
        }
        Ok(verification)
    }

    /// Verifies every version, and returns the newest.
    ///
    /// # Errors
    /// As [`Store::verification`] and [`Verification::run`].
    pub fn verify(&self) -> Result<Version> {
        self.verification(None)?.run(&AtomicU64::new(0))?;
        self.at(None)
    }
}

impl Verification {
    fn add(&mut self, manifest: &Manifest) {
        self.versions += 1;
        for record in FileRecord::all(manifest) {
            let records = self.files.entry(record.file.clone()).or_default();
            if !records.contains(&record) {
                records.push(record);
            }
        }
    }

    /// How many versions it covers.
    pub fn versions(&self) -> u64 {
        self.versions
    }

    /// How many files they name.
    pub fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// How many bytes those files have, as the manifests say.
    pub fn bytes(&self) -> u64 {
        let bytes = self.files.values().flat_map(|records| records.first()).map(|it| it.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Reads every file and checks all of it. `read` counts the bytes on the way.
    ///
    /// # Errors
    /// A segment that is gone is [`Kind::Missing`](crate::Kind::Missing), a damaged one
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
