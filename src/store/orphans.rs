//! Files in the folder of a store that belong to no version: remains of runs that died and of versions that
//! were pruned, and files of other programs.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Kind, Result};

use super::day::Day;
use super::folder::{CURRENT, LOCK, Store};
use super::manifest::{MANIFESTS, Manifest, SEGMENTS, manifest_name, manifest_path};
use super::version::Version;
use crate::output::{Lock, UNFINISHED};

impl Store {
    /// Removes what runs that died have left, and what is left of pruned versions: unfinished files,
    /// manifests of versions before the oldest, and then segments of no version. Only files with the names that
    /// a store gives are removed. Everything else is not ours and stays.
    pub(super) fn remove_orphans(&self, current: &Manifest, lock: &Lock) -> Result<()> {
        let [manifests, segments] = [MANIFESTS, SEGMENTS].map(|part| self.path().join(part));
        let oldest = *self.versions()?.start();
        let is_pruned = |name: &str| {
            let number = name.strip_suffix(".json").and_then(|number| number.parse().ok());
            number.is_some_and(|number| number < oldest && name == manifest_name(number))
        };
        let is_unfinished = |name: &str| name.starts_with(UNFINISHED);
        let mut remains = paths(&manifests, is_pruned)?;
        for place in [self.path(), &manifests, &segments] {
            remains.extend(paths(place, is_unfinished)?);
        }
        remains.extend(self.orphans(oldest, current.version)?);
        // If another run has taken over, its new segments look like orphans, but are not.
        lock.check()?;
        remains.iter().try_for_each(|path| fs::remove_file(path).at(path))
    }

    /// The bytes of the segments in the folder that `version` does not name: older versions have them.
    pub fn bytes_besides(&self, version: &Version) -> Result<u64> {
        let segments = self.path().join(SEGMENTS);
        let named: HashSet<PathBuf> =
            version.entries().iter().map(|entry| segments.join(&entry.file)).collect();
        let besides = paths(&segments, is_segment_name)?.into_iter();
        let bytes = |path: PathBuf| fs::metadata(&path).at(&path).map(|file| file.len());
        besides.filter(|path| !named.contains(path)).map(bytes).sum()
    }

    /// The segments that no version from `oldest` to `newest` names.
    fn orphans(&self, oldest: u64, newest: u64) -> Result<Vec<PathBuf>> {
        let segments = self.path().join(SEGMENTS);
        let mut orphans = paths(&segments, is_segment_name)?;
        for number in (oldest..=newest).rev() {
            if orphans.is_empty() {
                break;
            }
            let (manifest, _) = Manifest::read(&manifest_path(self.path(), number), number)?;
            let held: HashSet<PathBuf> =
                manifest.entries.iter().map(|entry| segments.join(&entry.file)).collect();
            orphans.retain(|path| !held.contains(path));
        }
        Ok(orphans)
    }

    /// Fails if the folder has anything in it that an interrupted `init` would not have left.
    pub(super) fn refuse_other_files(&self) -> Result<()> {
        let ours = |name: &OsString| {
            let name = name.to_string_lossy();
            [LOCK, MANIFESTS, SEGMENTS].contains(&&*name) || name.starts_with(UNFINISHED)
        };
        match names(self.path())?.iter().find(|name| !ours(name)) {
            None => Ok(()),
            Some(stranger) => Err(Error::new(Kind::Exists, "the folder is not empty")
                .at(self.path())
                .found(format_args!("{stranger:?}"))
                .help("give the store a folder of its own")),
        }
    }

    /// Fails if the folder has segments. An interrupted `init` leaves none, so this is a store that has
    /// lost its `CURRENT`, and must not become an empty one.
    pub(super) fn refuse_lost_current(&self) -> Result<()> {
        match names(&self.path().join(SEGMENTS))?.first() {
            None => Ok(()),
            Some(segment) => Err(Error::new(Kind::BadData, "the store has lost its CURRENT")
                .at(self.path().join(CURRENT))
                .found(format_args!("{segment:?} among the segments"))
                .help("restore the file: it names the newest manifest")),
        }
    }
}

/// The names in a folder.
fn names(folder: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(folder).at(folder)?;
    entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>().at(folder)
}

/// The paths in a folder whose names `are_ours`, without folders.
fn paths(folder: &Path, are_ours: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let ours = names(folder)?.into_iter().filter(|name| name.to_str().is_some_and(&are_ours));
    let mut paths = Vec::new();
    for path in ours.map(|name| folder.join(name)) {
        if !fs::symlink_metadata(&path).at(&path)?.is_dir() {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// Whether a store gives such names to segments: a day or `compacted`, a dash, anything, `.seg`.
fn is_segment_name(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".seg") else { return false };
    let day = stem.get(..10).is_some_and(|day| day.parse::<Day>().is_ok());
    day && stem[10..].starts_with('-') || stem.starts_with("compacted-")
}
