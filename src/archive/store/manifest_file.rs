//! How the manifest of a version lies on the disk: whole, or as what has changed since a base.
//!
//! A manifest has an entry for each day, so if every version repeated all of them, n days would take n^2 / 2 entries.
//! Most versions add one day. Such a version names an earlier one, its base, whose manifest is whole, and says what is
//! different:
//!
//! ```text
//! version   40            41               42                     43
//! file      40 entries    40, and 1 day    40, and 2 days ...     43 entries
//! read      1 file        2 files          2 files                1 file
//! ```
//!
//! So any version is read from two files at most. A version is whole again when what was written since its base comes to
//! as much as a whole manifest. With n days that is every sqrt(2n) versions, and all manifests together have about
//! n^1.5 entries instead of n^2 / 2.
//!
//! A base stays while a version needs it, also when it is no version any more because it was pruned.

use std::collections::HashSet;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::damage::damaged;
use super::manifest::{Base, Entry, FORMAT, Manifest, Merged, manifest_name};
use crate::day::Day;
use crate::error::{Error, Kind, Result};
use crate::output::{Lock, write_file};
use crate::small_file;

const CHECKSUM: &str = "xxh3-64 ";

/// The most bytes of a manifest: enough for a million days.
const LONGEST: u64 = 1 << 30;

const LEAST: usize = 32;

#[derive(Clone)]
struct FoundManifest {
    manifest: Manifest,
    checksum: u64,
}

/// Reads the manifests of several versions, and a base that they share once.
#[derive(Default)]
pub(super) struct ManifestReader {
    base: Option<FoundManifest>,
}

impl Manifest {
    /// Writes the manifest to `path`, if the lock of the store is still held. Returns the checksum of the
    /// file.
    pub(crate) fn write(&self, path: &Path, lock: &Lock) -> Result<u64> {
        let based = match FoundManifest::base_of_next(path, self)? {
            Some(base) => self.since(&base)?,
            None => None,
        };
        let json = serde_json::to_string_pretty(based.as_ref().unwrap_or(self));
        let lines = json.expect("a manifest is plain data") + "\n";
        let whole = format!("{lines}{CHECKSUM}{:016x}\n", xxh3_64(lines.as_bytes()));
        write_file(path, whole.as_bytes(), lock)?;
        Ok(xxh3_64(whole.as_bytes()))
    }

    pub(crate) fn read(path: &Path, version: u64) -> Result<(Manifest, u64)> {
        ManifestReader::default().read(path, version)
    }

    pub(super) fn base_of(path: &Path, version: u64) -> Result<Option<u64>> {
        Ok(FoundManifest::read(path, version)?.manifest.base.map(|base| base.version))
    }

    /// What has changed since `base`; none if a whole manifest is shorter.
    fn since(&self, base: &FoundManifest) -> Result<Option<Manifest>> {
        let old = &base.manifest;
        let is_new = |entry: &&Entry| old.entry(entry.day) != Some(*entry);
        let is_gone = |entry: &&Entry| self.entry(entry.day).is_none();
        let is_replaced = |merged: &&Merged| self.merged(&merged.file).is_none();
        let since = Manifest {
            entries: self.entries.iter().filter(is_new).cloned().collect(),
            merged: self.merged.iter().filter(|it| !old.merged.contains(it)).cloned().collect(),
            base: Some(Base {
                version: old.version,
                checksum: base.hex(),
                gone: old.entries.iter().filter(is_gone).map(|entry| entry.day).collect(),
                replaced: old.merged.iter().filter(is_replaced).map(|it| it.file.clone()).collect(),
            }),
            ..self.clone()
        };
        let versions = self.version.saturating_sub(old.version);
        let written = versions.saturating_mul(since.changes() as u64) / 2;
        let is_shorter = written <= (self.entries.len() + self.merged.len()) as u64;
        // What comes in another order, as after a rollback, is written whole.
        let is_same = is_shorter && since.clone().on(base)? == *self;
        Ok(is_same.then_some(since))
    }

    fn changes(&self) -> usize {
        let base = self.base.as_ref().map_or(0, |base| base.gone.len() + base.replaced.len());
        self.entries.len() + self.merged.len() + base
    }

    fn on(mut self, found: &FoundManifest) -> Result<Manifest> {
        let Some(base) = self.base.take() else { return Ok(self) };
        let wrong = |what: &str| Err(damaged(what));
        if !found.is(&base) {
            return Err(damaged("this is not the manifest that another one is based on")
                .expected(format_args!("checksum {}", base.checksum))
                .found(found.hex()));
        }
        let old = &found.manifest;
        if old.base.is_some() {
            return wrong("the base of a manifest is not whole");
        }
        if !base.gone.iter().all(|day| old.entry(*day).is_some())
            || !base.replaced.iter().all(|file| old.merged(file).is_some())
        {
            return wrong("a manifest takes out what its base does not have");
        }
        let changed = self.entries.iter().map(|entry| entry.day);
        let gone: HashSet<Day> = changed.chain(base.gone).collect();
        let replaced: HashSet<String> = base.replaced.into_iter().collect();
        self.entries.extend(old.entries.iter().filter(|it| !gone.contains(&it.day)).cloned());
        self.entries.sort_by_key(|entry| entry.day);
        let kept = old.merged.iter().filter(|it| !replaced.contains(&it.file)).cloned();
        self.merged = kept.chain(self.merged).collect();
        Ok(self)
    }
}

impl ManifestReader {
    /// Reads version `version` from `path`. Also returns the checksum of the file.
    pub(super) fn read(&mut self, path: &Path, version: u64) -> Result<(Manifest, u64)> {
        let found = FoundManifest::read(path, version)?;
        let checksum = found.checksum;
        let Some(base) = &found.manifest.base else {
            let manifest = found.manifest.clone();
            manifest.check().map_err(|error| error.at(path))?;
            self.base = Some(found);
            return Ok((manifest, checksum));
        };
        let at = path.with_file_name(manifest_name(base.version));
        let held = self.base.take().filter(|held| held.is(base));
        let held = held.map_or_else(|| FoundManifest::read(&at, base.version), Ok)?;
        let manifest = found.manifest.on(&held).map_err(|error| error.at(at))?;
        manifest.check().map_err(|error| error.at(path))?;
        self.base = Some(held);
        Ok((manifest, checksum))
    }
}

impl FoundManifest {
    fn is(&self, base: &Base) -> bool {
        self.manifest.version == base.version && self.hex() == base.checksum
    }

    fn hex(&self) -> String {
        format!("{:016x}", self.checksum)
    }

    /// The base of the manifest `next` at `path`: that of the version before, or this version. None if `next` is to be
    /// whole in any case.
    fn base_of_next(path: &Path, next: &Manifest) -> Result<Option<FoundManifest>> {
        if next.entries.len() < LEAST || next.version < 2 {
            return Ok(None);
        }
        let read =
            |version| FoundManifest::read(&path.with_file_name(manifest_name(version)), version);
        let last = read(next.version - 1)?;
        match &last.manifest.base {
            Some(base) => read(base.version).map(Some),
            None => Ok(Some(last)),
        }
    }

    fn read(path: &Path, version: u64) -> Result<FoundManifest> {
        let whole = String::from_utf8(small_file::read(path, LONGEST, Kind::BadData)?)
            .map_err(|_| damaged("the manifest is not UTF-8").at(path))?;
        let last = whole.trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
        let (lines, last) = whole.split_at(last);
        let told = format!("{CHECKSUM}{:016x}\n", xxh3_64(lines.as_bytes()));
        if last != told {
            let error = damaged("the checksum of the manifest is wrong").at(path);
            return Err(error.expected(told.trim_end()).found(last.trim_end()));
        }
        let manifest: Manifest = serde_json::from_str(lines)
            .map_err(|cause| damaged(&format!("the manifest is wrong: {cause}")).at(path))?;
        if (manifest.format, manifest.version) != (FORMAT, version) {
            return Err(Error::new(Kind::BadData, "this manifest is of another version")
                .at(path)
                .expected(format_args!("format {FORMAT}, version {version}"))
                .found(format_args!("format {}, version {}", manifest.format, manifest.version)));
        }
        Ok(FoundManifest { manifest, checksum: xxh3_64(whole.as_bytes()) })
    }
}
