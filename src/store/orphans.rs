//! Files in the folder of a store that belong to no version: remains of runs that died, and files of
//! other programs.

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
    /// Removes what runs that died have left: unfinished files, and segments of no version. Only files
    /// with the names that a store gives are removed. Everything else is not ours and stays.
    pub(super) fn remove_orphans(&self, current: &Manifest, lock: &Lock) -> Result<()> {
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
        // If another run has taken over, its new segments look like orphans, but are not.
        lock.check()?;
        for orphan in orphans.iter().map(|name| segments.join(name)).chain(unfinished) {
            fs::remove_file(&orphan).at(&orphan)?;
        }
        Ok(())
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

/// The names in a folder for which `are_ours` is true, without folders.
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

/// Whether a store gives such names to segments: a day or `compacted`, a dash, anything, `.seg`.
fn is_segment_name(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".seg") else { return false };
    let day = stem.get(..10).is_some_and(|day| day.parse::<Day>().is_ok());
    day && stem[10..].starts_with('-') || stem.starts_with("compacted-")
}
