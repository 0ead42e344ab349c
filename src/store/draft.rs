//! Drafts: versions that are made one after the other and become the store's together, or not at all.
//!
//! The manifests of a draft bear the next numbers, and `CURRENT` moves from the newest version to the last
//! of the draft in one step. A draft that is given up, or whose process dies, changes nothing: its
//! numbers are given again, and the next change sweeps its segments away.

use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::output::Lock;

use super::day::Day;
use super::folder::{SEGMENTS, Store};
use super::manifest::Manifest;
use super::version::Version;

/// Versions on their way into a store, which nobody else can change meanwhile.
#[derive(Debug)]
pub struct Draft {
    store: Store,
    lock: Lock,
    last: Manifest,
    checksum: u64,
}

impl Store {
    /// Begins a draft. Its first version has the next number and holds what version `base` held.
    ///
    /// # Errors
    /// A store whose newest version is no longer `newest`, and one that another run is changing, is
    /// [`Kind::Temporary`].
    pub fn draft(&self, newest: u64, base: u64) -> Result<Draft> {
        let lock = self.lock()?;
        let current = self.current()?;
        if current.version != newest {
            return Err(self.has_changed().expected(newest).found(current.version));
        }
        self.sweep(&current, &lock)?;
        let mut last = self.manifest(base)?;
        last.version = newest + 1;
        let checksum = last.write(&self.manifest_path(last.version), &lock)?;
        Ok(Draft { store: self.clone(), lock, last, checksum })
    }

    /// The version of that number in a draft that is being made.
    pub fn drafted(&self, number: u64) -> Result<Version> {
        let (manifest, _) = Manifest::read(&self.manifest_path(number), number)?;
        Ok(Version::new(&self.path().join(SEGMENTS), manifest))
    }
}

impl Draft {
    /// Adds a segment under `day` in the next version of the draft, as [`Store::add`] would.
    pub fn add(&mut self, segment: &Path, day: Day, only: Option<&Path>) -> Result<()> {
        let Some(prospect) = self.store.prospect(&self.last, segment, day, only)? else {
            return Err(Error::new(Kind::Internal, format!("the draft holds {day} already")));
        };
        self.last = self.store.admit(&self.last, prospect, day, &self.lock)?;
        let path = self.store.manifest_path(self.last.version);
        self.checksum = self.last.write(&path, &self.lock)?;
        Ok(())
    }

    /// Makes the last version of the draft the newest of the store.
    pub fn commit(self) -> Result<()> {
        self.store.point_to(self.last.version, self.checksum, &self.lock)
    }
}
