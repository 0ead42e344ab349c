//! What a store's folder should not hold: the leavings of runs that died, and things of others.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::error::{At, Error, Kind, Result};

use super::day::Day;
use super::folder::{CURRENT, LOCK, MANIFESTS, SEGMENTS, Store};
use super::manifest::Manifest;
use crate::output::{Lock, UNFINISHED};

impl Store {
    /// Removes what attempts that died have left: unfinished files, and segments and manifests of no
    /// version. Only files with names that a store gives are removed; what else lies there is not ours
    /// and stays.
    pub(super) fn sweep(&self, current: &Manifest, lock: &Lock) -> Result<()> {
        let segments = self.path().join(SEGMENTS);
        let mut orphans = files(&segments, is_segment_name)?;
        for number in (1..=current.version).rev() {
            if orphans.is_empty() {
                break;
            }
            let manifest = self.manifest(number)?;
            let held: HashSet<&str> = manifest.entries.iter().map(|entry| &*entry.file).collect();
            orphans.retain(|name| !held.contains(name.as_str()));
        }
        let mut unfinished = Vec::new();
        let is_unfinished = |name: &str| name.starts_with(UNFINISHED);
        for place in [self.path().to_path_buf(), self.path().join(MANIFESTS), segments.clone()] {
            let names = files(&place, is_unfinished)?;
            unfinished.extend(names.into_iter().map(|name| place.join(name)));
        }
        // What a run that has taken over is about to add is no orphan.
        lock.check()?;
        for orphan in orphans.iter().map(|name| segments.join(name)).chain(unfinished) {
            fs::remove_file(&orphan).at(&orphan)?;
        }
        Ok(())
    }

    /// Fails if the folder holds anything that an unfinished `init` would not have left.
    pub(super) fn refuse_strangers(&self) -> Result<()> {
        let ours = |name: &OsString| {
            let name = name.to_string_lossy();
            [LOCK, MANIFESTS, SEGMENTS].contains(&&*name) || name.starts_with(UNFINISHED)
        };
        match names(self.path())?.iter().find(|name| !ours(name)) {
            None => Ok(()),
            Some(stranger) => Err(Error::new(Kind::Exists, "the folder holds other things")
                .at(self.path())
                .found(format_args!("{stranger:?}"))
                .help("give the store a folder of its own")),
        }
    }

    /// Fails if the folder holds segments, which an unfinished `init` has not: it is that of a store
    /// whose newest version can no longer be told, and no new one.
    pub(super) fn refuse_headless(&self) -> Result<()> {
        match names(&self.path().join(SEGMENTS))?.first() {
            None => Ok(()),
            Some(segment) => Err(Error::new(Kind::BadData, "the store has lost its CURRENT")
                .at(self.path().join(CURRENT))
                .found(format_args!("{segment:?} among the segments"))
                .help("put the file back: it names the newest manifest")),
        }
    }
}

/// The names in a folder.
fn names(folder: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(folder).at(folder)?;
    entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>().at(folder)
}

/// The names in a folder that `are_ours` and are no folders.
fn files(folder: &Path, are_ours: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let ours = names(folder)?.into_iter().filter_map(|name| name.into_string().ok());
    let mut files = Vec::new();
    for name in ours.filter(|name| are_ours(name)) {
        let path = folder.join(&name);
        if !fs::symlink_metadata(&path).at(&path)?.is_dir() {
            files.push(name);
        }
    }
    Ok(files)
}

/// Whether a store would give this name to a segment: a day or `compacted`, then what follows.
fn is_segment_name(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".seg") else { return false };
    let day = stem.get(..10).is_some_and(|day| day.parse::<Day>().is_ok());
    day && stem[10..].starts_with('-') || stem.starts_with("compacted-")
}
