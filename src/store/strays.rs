//! What a store's folder should not hold: the leavings of runs that died, and things of others.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::error::{At, Error, Kind, Result};

use super::folder::{CURRENT, LOCK, MANIFESTS, SEGMENTS, Store};
use super::manifest::Manifest;
use crate::output::{Lock, UNFINISHED};

impl Store {
    /// Removes what attempts that died have left: unfinished files, and segments that no version
    /// holds. (A manifest after the newest is replaced by the one that comes to bear its number.)
    pub(super) fn sweep(&self, current: &Manifest, lock: &Lock) -> Result<()> {
        let mut strays = names(&self.path().join(SEGMENTS))?;
        for number in (1..=current.version).rev() {
            if strays.is_empty() {
                break;
            }
            let manifest = self.manifest(number)?;
            let held: HashSet<&str> = manifest.entries.iter().map(|entry| &*entry.file).collect();
            strays.retain(|name| !held.contains(name.as_str()));
        }
        // What a run that has taken over is about to add is no stray.
        lock.check()?;
        for stray in strays {
            remove(&self.path().join(SEGMENTS).join(stray))?;
        }
        for place in [self.path().to_path_buf(), self.path().join(MANIFESTS)] {
            for name in names(&place)?.iter().filter(|name| name.starts_with(UNFINISHED)) {
                remove(&place.join(name))?;
            }
        }
        Ok(())
    }

    /// Fails if the folder holds anything that an unfinished `init` would not have left.
    pub(super) fn refuse_strangers(&self) -> Result<()> {
        let ours = |name: &String| {
            [LOCK, MANIFESTS, SEGMENTS].contains(&name.as_str()) || name.starts_with(UNFINISHED)
        };
        match names(self.path())?.iter().find(|name| !ours(name)) {
            None => Ok(()),
            Some(stranger) => Err(Error::new(Kind::Exists, "the folder holds other things")
                .at(self.path())
                .found(format_args!("`{stranger}`"))
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
                .found(format_args!("`{segment}` among the segments"))
                .help("put the file back: it names the newest manifest")),
        }
    }
}

/// The names in a folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).at(folder)?;
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    entries.map(|entry| entry.map(name)).collect::<Result<_, _>>().at(folder)
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).at(path)
}
