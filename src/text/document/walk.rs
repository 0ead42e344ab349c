//! Walks folders, links followed, in an order that is not that in which the file system lists names.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use walkdir::WalkDir;

use crate::error::{At, Error, Kind, Result};
use crate::output::FileId;
use crate::progress::{self, Activity};

/// Whether a file or folder of this name in a folder is read: it begins neither with a dot nor with `_`. Spark, Hive and DuckDB do
/// the same, and read `_day=7`, which is a folder of pages.
pub(super) fn is_shown(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.starts_with(b".") && (!name.starts_with(b"_") || name.contains(&b'='))
}

pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| !is_shown(name))
}

/// The folder at `path` and all folders below it, links followed: each once, and none whose name
/// begins with a dot or `_`. None if there is no such folder.
pub(super) fn folders_at(path: &Path) -> Result<Vec<PathBuf>> {
    let mut seen = HashSet::new();
    let mut folders = Vec::new();
    if existing(here(path))?.is_none() {
        return Ok(folders);
    }
    let mut walk = walk(here(path));
    while let Some(entry) = walk.next() {
        progress::tick(Activity::Reading);
        let entry = match entry {
            // A link that leads nowhere is no folder, and one that leads up was walked already.
            Err(error) if leads_nowhere(&error) || error.loop_ancestor().is_some() => continue,
            // The walk follows a link before its name is looked at.
            Err(error) if error.depth() > 0 && error.path().is_some_and(is_hidden) => continue,
            entry => entry.map_err(|error| unreadable(path, &error))?,
        };
        if !entry.file_type().is_dir() {
            continue;
        }
        let metadata = entry.metadata().map_err(|error| unreadable(path, &error))?;
        if entry.depth() > 0 && !is_shown(entry.file_name()) || !seen.insert(FileId::of(&metadata))
        {
            walk.skip_current_dir();
            continue;
        }
        let below = entry.path().strip_prefix(here(path)).unwrap_or(entry.path());
        folders.push(if below == Path::new("") { path.to_path_buf() } else { path.join(below) });
    }
    Ok(folders)
}

pub(super) fn walk(folder: &Path) -> walkdir::IntoIter {
    WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter()
}

pub(super) fn unreadable(folder: &Path, error: &walkdir::Error) -> Error {
    let path = error.path().unwrap_or(folder);
    match error.io_error() {
        Some(_) if leads_nowhere(error) => dangling(path),
        Some(cause) => Error::io(path, cause),
        None => Error::new(Kind::Io, error.to_string()),
    }
}

fn leads_nowhere(error: &walkdir::Error) -> bool {
    error.io_error().is_some_and(|cause| is_absent(cause) || is_circle(cause))
}

pub(super) fn names(folder: &Path) -> Result<Vec<OsString>> {
    progress::tick(Activity::Reading);
    let entries = match fs::read_dir(here(folder)) {
        Err(cause) if is_absent(&cause) => return Ok(Vec::new()),
        entries => entries.at(folder)?.collect::<io::Result<Vec<_>>>().at(folder)?,
    };
    let mut names: Vec<OsString> = entries.into_iter().map(|entry| entry.file_name()).collect();
    names.sort_unstable_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    Ok(names)
}

/// The path to give to the system: an empty path stands for the working directory.
fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

pub(super) fn existing(path: &Path) -> Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(cause) if is_absent(&cause) || is_circle(&cause) => Ok(None),
        Err(cause) => Err(Error::io(path, &cause)),
    }
}

pub(super) fn dangling(link: &Path) -> Error {
    Error::new(Kind::Missing, "the link leads nowhere, so a page may be missing")
        .at(link)
        .help("restore what it points to, or remove the link")
}

fn is_circle(cause: &io::Error) -> bool {
    cause.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

fn is_absent(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
