//! Drafts: several versions that become part of the store together, or not at all.
//!
//! The manifests of a draft have the next numbers. `CURRENT` moves from the newest version to the last
//! of the draft in one step. With version 7 as the newest, replacing the days added in 6 and 7:
//!
//! ```text
//! draft from version 5   manifests 8 (= 5), 9 (a day added), 10 (another); CURRENT says 7
//! commit                 CURRENT says 10
//! ```
//!
//! A draft that is dropped, or whose process dies, changes nothing: its numbers are used again, and the
//! next change removes its segments.

use crate::error::{Error, Kind, Result};
use crate::output::Lock;

use super::addition::NewDay;
use super::folder::Store;
use super::going_back::ComingBack;
use super::manifest::Manifest;
use super::version::Version;
use crate::day::Day;

/// Versions that are being prepared. The store is locked until the draft is committed or dropped.
#[derive(Debug)]
pub struct Draft {
    store: Store,
    lock: Lock,
    last: Manifest,
    checksum: u64,
}

impl Store {
    /// Starts a draft. Its first version has the next number and the contents of version `base`, which a day of the newest version was
    /// joined with. If it was pruned since, the pages of `back` come back.
    pub fn draft(&self, newest: u64, base: u64, back: &ComingBack) -> Result<Draft> {
        let lock = self.lock()?;
        let current = self.at(None)?;
        if current.number() != newest {
            return Err(self.has_changed().expected(newest).found(current.number()));
        }
        self.remove_orphans(&lock)?;
        let last = self.going_back(current, base, newest + 1, back, &lock)?;
        let checksum = last.write(&self.manifest_path(last.version), &lock)?;
        Ok(Draft { store: self.clone(), lock, last, checksum })
    }

    /// The version with that number in an uncommitted draft.
    pub fn drafted(&self, number: u64) -> Result<Version> {
        let (manifest, _) = Manifest::read(&self.manifest_path(number), number)?;
        Version::of(self.path(), manifest)
    }
}

impl Draft {
    pub fn add(&mut self, new: &NewDay<'_>) -> Result<()> {
        let Some(addition) = self.store.addition(&self.last, new)? else {
            return Err(Error::new(Kind::Internal, format!("the draft already has {}", new.day)));
        };
        self.last = self.store.admit(&self.last, addition, &self.lock)?;
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        let path = self.store.manifest_path(self.last.version);
        self.checksum = self.last.write(&path, &self.lock)?;
        Ok(())
    }

    pub fn expire(&mut self, first: Day) -> Result<()> {
        self.last = self.store.expiring(&self.last, first, &self.lock)?;
        self.write()
    }

    pub fn commit(self) -> Result<()> {
        self.store.point_to(self.last.version, self.checksum, &self.lock)
    }
}
