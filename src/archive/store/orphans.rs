//! Files in the folder of a store that belong to no version: remains of runs that died and of versions that
//! were pruned, and files of other programs.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::{At, Result};

use super::digest_files::{self, REPLACED};
use super::folder::Store;
use super::manifest::{COMPACTED, MANIFESTS, Manifest, PURGED, SEGMENTS, manifest_name};
use super::pointer::CURRENT;
use super::removals::Removals;
use super::version::Version;
use crate::day::Day;
use crate::object_storage::bytes_of;
use crate::output::{Lock, UNFINISHED, files_in};

impl Store {
    /// Removes what runs that died have left, and what is left of pruned versions: unfinished files,
    /// segments of no version, and then the manifests of versions before the oldest, but for the base of the oldest. (Later
    /// versions have the same base or a later one.) Only files with the names
    /// that a store gives are removed. Everything else is not ours and stays.
    pub(super) fn remove_orphans(&self, lock: &Lock) -> Result<()> {
        self.remove_remains(false, lock)
    }

    /// As [`Store::remove_orphans`], and leaves no segment of no version, however old it is.
    pub(super) fn remove_all_orphans(&self, lock: &Lock) -> Result<()> {
        self.remove_remains(true, lock)
    }

    fn remove_remains(&self, of_any_age: bool, lock: &Lock) -> Result<()> {
        let [manifests, segments] = [MANIFESTS, SEGMENTS].map(|part| self.path().join(part));
        let versions = self.versions()?;
        let oldest = *versions.start();
        let base = Manifest::base_of(&self.manifest_path(oldest), oldest)?;
        let is_pruned = |name: &str| {
            let number = name.strip_suffix(".json").and_then(|number| number.parse().ok());
            let is_before = |it: u64| it < oldest && base != Some(it);
            number.is_some_and(|it| is_before(it) && name == manifest_name(it))
        };
        let pruned = files_in(&manifests, is_pruned)?;
        let mut remains = Vec::new();
        let replaced = self.path().join(REPLACED);
        for place in [self.path(), &manifests, &segments, &replaced] {
            remains.extend(files_in(place, |name| name.starts_with(UNFINISHED))?);
        }
        remains.extend(self.orphans(versions.clone(), of_any_age || !pruned.is_empty())?);
        remains.extend(pruned);
        // If another run has taken over, its new segments look like orphans, but are not.
        lock.check()?;
        remains.iter().try_for_each(|path| fs::remove_file(path).at(path))?;
        self.forget_rows(lock)
    }

    /// Forgets the removed rows of segments that have gone. Nobody can open these without their marks any more.
    fn forget_rows(&self, lock: &Lock) -> Result<()> {
        let segments = self.path().join(SEGMENTS);
        let removals = Removals::read(self.path())?;
        if removals.files.keys().all(|file| segments.join(file).exists()) {
            return Ok(());
        }
        let mut rest = Removals::clone(&*removals);
        rest.files.retain(|file, _| segments.join(file).exists());
        rest.write(self.path(), lock)
    }

    /// The segments, and the files of the folder `replaced`, that none of `versions` names. If only runs that died can have left any, these are no
    /// older than `CURRENT`, and the manifests of all versions need not be read in order to know that there are
    /// none. (Where a copy of a store has other times, some stay until versions are pruned.)
    fn orphans(&self, versions: RangeInclusive<u64>, of_any_age: bool) -> Result<Vec<PathBuf>> {
        let segments = self.path().join(SEGMENTS);
        let mut orphans = files_in(&segments, is_segment_name)?;
        orphans.extend(digest_files::paths(self.path())?);
        let modified = |path: &Path| fs::metadata(path).and_then(|it| it.modified());
        let moved = modified(&self.path().join(CURRENT)).at(self.path())?;
        if !of_any_age {
            orphans.retain(|path| modified(path).map_or(true, |modified| modified >= moved));
        }
        let mut manifests = self.manifests(versions.rev());
        while !orphans.is_empty()
            && let Some(read) = manifests.next()
        {
            let (_, manifest) = read?;
            let held = manifest.entries.iter().map(|entry| segments.join(&entry.file));
            let lists = manifest.lists().map(|(listed, it)| listed.path(self.path(), it));
            let held: HashSet<PathBuf> = held.chain(lists).collect();
            orphans.retain(|path| !held.contains(path));
        }
        Ok(orphans)
    }

    /// The bytes of the segments in the folder that `version` does not name: older versions have them.
    pub fn bytes_besides(&self, version: &Version) -> Result<u64> {
        let segments = self.path().join(SEGMENTS);
        let named: HashSet<PathBuf> =
            version.entries().iter().map(|entry| segments.join(&entry.file)).collect();
        let besides = files_in(&segments, is_segment_name)?.into_iter();
        let bytes = |path: PathBuf| match bytes_of(&path) {
            // Another run has pruned it in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            bytes => bytes.at(&path),
        };
        besides.filter(|path| !named.contains(path)).map(bytes).sum()
    }
}

/// Whether a store gives such names to segments: a day, `compacted` or `purged`, a dash, anything, `.seg`.
fn is_segment_name(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".seg") else { return false };
    let day = stem.get(..10).is_some_and(|day| day.parse::<Day>().is_ok());
    let merged = [COMPACTED, PURGED].into_iter().filter_map(|prefix| stem.strip_prefix(prefix));
    day && stem[10..].starts_with('-') || merged.into_iter().any(|rest| rest.starts_with('-'))
}
