//! Files that are kept beside the segments of the newest version, such as those of an index: a folder for each kind,
//! and a file of the store that names what is kept in it.
//!
//! ```text
//! INDEX       mirror 5a3c...               the name, and its checksum
//! index/      <digest>-mirror.seg          one or more for each segment, named by the digest of that
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{At, Error, Kind, Result};
use crate::output::{Lock, UNFINISHED, entries_in, remove_if_there, sync_folder, write_file};
use crate::small_file;
use crate::storage::bytes_of;

const LONGEST: u64 = 1 << 10;

/// What was done to keep files beside segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Files that were made.
    pub made: u64,
    /// Files that were removed.
    pub removed: u64,
    /// Files that there are now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sidecars<'a> {
    pub(crate) store: &'a Path,
    pub(crate) folder: &'static str,
    /// The file of the store that names what is kept.
    pub(crate) marker: &'static str,
    /// Whether files of this kind have such names. Others belong to somebody else and stay.
    pub(crate) is_ours: fn(&str) -> bool,
}

impl Sidecars<'_> {
    pub(crate) fn folder(&self) -> PathBuf {
        self.store.join(self.folder)
    }

    pub(crate) fn named(&self) -> Result<Option<String>> {
        let path = self.store.join(self.marker);
        let bytes = match small_file::read(&path, LONGEST, Kind::BadData) {
            Err(error) if error.kind() == Kind::Missing => return Ok(None),
            bytes => bytes?,
        };
        let told = String::from_utf8_lossy(&bytes);
        let name = told.split_once(' ').map(|(name, _)| name.to_owned());
        name.filter(|name| line(name) == told).map(Some).ok_or_else(|| {
            Error::new(Kind::BadData, "this file does not name what is kept beside the segments")
                .at(&path)
                .expected("a name and its checksum")
                .found(format_args!("{told:.100?}"))
        })
    }

    /// Makes `name` what is kept; none: nothing.
    pub(crate) fn name(&self, name: Option<&str>, lock: &Lock) -> Result<()> {
        let path = self.store.join(self.marker);
        if let Some(name) = name {
            return write_file(&path, line(name).as_bytes(), lock);
        }
        lock.check()?;
        remove_if_there(&path)?;
        sync_folder(self.store)
    }

    pub(crate) fn all(&self) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in entries_in(&self.folder())? {
            let is_file = entry.file_type().at(entry.path())?.is_file();
            if is_file && entry.file_name().to_str().is_some_and(self.is_ours) {
                paths.push(entry.path());
            }
        }
        Ok(paths)
    }

    pub(crate) fn size(&self) -> Result<(u64, u64)> {
        let mut size = (0, 0);
        for path in self.all()? {
            let bytes = bytes_of(&path).unwrap_or(0);
            size = (size.0 + 1, size.1 + bytes);
        }
        Ok(size)
    }

    /// The error for a file that belongs beside a segment and is missing, or is that of another segment. A run that is changing the
    /// store, which then cannot be locked, may still be making it.
    pub(crate) fn lacking(&self, path: &Path, lock: Result<Lock>) -> Error {
        match lock {
            Err(error) if error.kind() == Kind::Temporary => error,
            _ if path.exists() => {
                Error::new(Kind::BadData, "this file was made from another segment").at(path)
            }
            _ => Error::new(Kind::Missing, "a file that is kept beside a segment is missing")
                .at(path),
        }
    }

    /// Removes all but `own`, and what runs that died have left. Counts them in `kept`.
    pub(crate) fn remove_others(
        &self,
        own: &[PathBuf],
        lock: &Lock,
        kept: &mut Kept,
    ) -> Result<()> {
        let folder = self.folder();
        lock.check()?;
        for path in self.all()? {
            if own.contains(&path) {
                kept.files += 1;
                kept.bytes += bytes_of(&path).at(&path)?;
            } else {
                fs::remove_file(&path).at(&path)?;
                kept.removed += 1;
            }
        }
        for entry in entries_in(&folder)? {
            if entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                fs::remove_file(entry.path()).at(entry.path())?;
            }
        }
        if own.is_empty() {
            // It stays if somebody else's files are in it.
            let _ = fs::remove_dir(&folder);
        }
        Ok(())
    }
}

/// The line that names what is kept: the name and its XXH3-64.
fn line(name: &str) -> String {
    format!("{name} {:016x}\n", xxh3_64(name.as_bytes()))
}
