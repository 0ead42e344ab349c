//! Purging: the bytes of removed pages leave the disk.
//!
//! The segments of the newest version that have removed rows are rewritten without them, each in a version of its own.
//! Then all versions leave that name a segment with removed rows, and with them these segments. For
//! example, with rows of `a` and of `m` removed:
//!
//! ```text
//! version   2: a   3: a b   4: m   5: m c        m has a and b
//! rewrite   6: n c                               n is m without the removed rows
//! prune     6: n c                               version 5 is the last that names m
//! ```
//!
//! Every step is whole by itself. A purge that was interrupted goes on with what is left, when it is run again. At the end all that
//! is left is read, and it is proved that no removed page is there. A certificate says so: it names the digests of the
//! ids, never the ids.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use serde::Serialize;

use super::compact::Merger;
use super::digest::Digest;
use super::folder::Store;
use super::removals::Removals;
use super::segment::Codec;
use crate::error::{At, Result};
use crate::output::write_file;

/// The folder of a store for certificates.
const PURGES: &str = "purges";
/// The version of the certificate's format.
const FORMAT: u32 = 1;

/// What a purge would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purge {
    /// The segments of the newest version that are rewritten.
    pub segments: u64,
    /// Their fingerprints.
    pub rows: u64,
    /// The last version that leaves; none if all stay.
    pub last: Option<u64>,
    /// The number of removed ids.
    pub ids: u64,
}

/// What a purge has proved.
#[derive(Debug, Serialize)]
struct Certificate {
    format: u32,
    /// The newest version and the oldest.
    version: u64,
    oldest: u64,
    /// The digests of the segments of all versions between: they were read, and hold no page with one of the ids.
    segments: BTreeMap<String, Digest>,
    /// The digests of the removed ids, each with the last day whose page was removed.
    ids: BTreeMap<String, String>,
}

impl Store {
    /// What is left to be purged.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`](crate::Kind::BadData).
    pub fn purge(&self) -> Result<Purge> {
        let removals = Removals::read(self.path())?;
        let versions = self.versions()?;
        let is_touched = |file: &str| removals.of(file).is_some();
        let newest = self.at(None)?;
        let touched = newest.files().into_iter().filter(|record| is_touched(&record.file));
        let (segments, rows) =
            touched.fold((0, 0), |(files, rows), record| (files + 1, rows + record.rows()));
        let mut last = None;
        for number in versions.rev() {
            let manifest = self.manifest_of(number)?;
            if manifest.entries.iter().any(|entry| is_touched(&entry.file)) {
                last = Some(number);
                break;
            }
        }
        Ok(Purge { segments, rows, last, ids: removals.ids().len() as u64 })
    }

    /// Rewrites one segment of the newest version that has removed rows, in a version of its own. Returns whether there was
    /// one. `merged` grows by the fingerprints that were read.
    ///
    /// # Errors
    /// As [`Store::compact`].
    pub fn rewrite_removed(&self, merged: &AtomicU64) -> Result<bool> {
        let lock = self.lock()?;
        let removals = Removals::read(self.path())?;
        let newest = self.at(None)?;
        let touched = newest.files().into_iter().find(|it| removals.of(&it.file).is_some());
        let Some(record) = touched else { return Ok(false) };
        self.merge(&newest, &Merger::of(vec![record]), Codec::default(), &lock, merged)?;
        Ok(true)
    }

    /// Removes the versions up to `last`, which name segments with removed rows, and these segments. `read` grows by the
    /// bytes that are read before.
    ///
    /// # Errors
    /// As [`Pruning::run`](super::Pruning::run).
    pub fn prune_removed(&self, last: u64, read: &AtomicU64) -> Result<()> {
        let keep = self.versions()?.end().saturating_sub(last);
        NonZero::new(keep).map_or(Ok(()), |keep| self.pruning(keep)?.run(read))
    }

    /// Reads all that is left and writes the certificate that no removed page is there. Returns whether it is a new one.
    /// `read` grows by the bytes read.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`](crate::Kind::BadData), and so is a page that is there.
    pub fn certify(&self, read: &AtomicU64) -> Result<bool> {
        let lock = self.lock()?;
        // What is not needed any more must be gone before this is said.
        self.remove_orphans(&lock)?;
        let certificate = self.certificate()?;
        let folder = self.path().join(PURGES);
        let path = folder.join(format!("{:06}.json", certificate.version));
        let json = serde_json::to_string_pretty(&certificate).expect("it is plain data") + "\n";
        if fs::read_to_string(&path).is_ok_and(|held| held == json) {
            return Ok(false);
        }
        self.verification(None)?.run(read)?;
        fs::create_dir_all(&folder).at(&folder)?;
        write_file(&path, json.as_bytes(), &lock)?;
        Ok(true)
    }

    /// What the certificate is to say.
    fn certificate(&self) -> Result<Certificate> {
        let versions = self.versions()?;
        let mut segments = BTreeMap::new();
        for number in versions.clone() {
            let version = self.at(Some(number))?;
            for (record, segment) in version.files().iter().zip(version.segments()?) {
                segments.insert(record.file.clone(), segment.digest());
            }
        }
        let removals = Removals::read(self.path())?;
        let ids = removals.ids().map(|(id, until)| (id.to_string(), until.to_string()));
        let (oldest, version) = (*versions.start(), *versions.end());
        Ok(Certificate { format: FORMAT, version, oldest, segments, ids: ids.collect() })
    }
}
