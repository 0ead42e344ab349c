//! Names around an output: the folder it is in, hidden names beside it, where links lead. And what the disk under it must do: keep
//! names after a power failure, and have room.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Kind, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    pub inode: u64,
}

impl FileId {
    pub fn of(metadata: &Metadata) -> FileId {
        FileId { device: metadata.dev(), inode: metadata.ino() }
    }

    pub fn at(path: &Path) -> Option<FileId> {
        fs::metadata(path).ok().as_ref().map(FileId::of)
    }
}

pub fn is_same_file(one: &Path, other: &Path) -> bool {
    FileId::at(one).is_some_and(|one| Some(one) == FileId::at(other))
}

pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The path without links. The last part need not exist yet; a path whose folder does not exist
/// either is returned as it is.
pub fn resolved(path: &Path) -> PathBuf {
    let resolve = |path: &Path| path.canonicalize().ok();
    let in_parent = || Some(resolve(parent_of(path))?.join(path.file_name()?));
    resolve(path).or_else(in_parent).unwrap_or_else(|| path.to_path_buf())
}

pub fn entries_in(folder: &Path) -> Result<Vec<DirEntry>> {
    match fs::read_dir(folder) {
        Err(none) if none.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect).at(folder),
    }
}

/// The files in a folder whose names `are_ours`; none if there is no folder. What another run removes meanwhile may be left out.
pub fn files_in(folder: &Path, are_ours: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut entries = entries_in(folder)?;
    entries.retain(|entry| entry.file_name().to_str().is_some_and(&are_ours));
    let mut paths = Vec::new();
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {}
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => {}
            kind => kind.at(entry.path()).map(|_| paths.push(entry.path()))?,
        }
    }
    Ok(paths)
}

pub(super) const RANDOM: usize = 6;

/// What has a name beside `target` that is `prefix` and [`RANDOM`] characters: what attempts that died have left.
pub(super) fn leftovers(target: &Path, prefix: &OsStr) -> Result<Vec<DirEntry>> {
    let mut entries = entries_in(parent_of(target))?;
    entries.retain(|entry| {
        let name = entry.file_name();
        let random = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        random.is_some_and(|random| random.len() == RANDOM)
    });
    Ok(entries)
}

pub fn has_magic(path: &Path, magic: &[u8]) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    let length = magic.len() as u64;
    File::open(path).and_then(|file| file.take(length).read_to_end(&mut start)).at(path)?;
    Ok(start == magic)
}

/// The folder beside an unfinished output that keeps what a rerun need not do again.
pub fn resume_folder(target: &Path) -> PathBuf {
    sibling(target, ".resume")
}

/// A hidden name beside `target` that ends in `suffix`: for `day/out` and `.lock`, `day/.out.lock`.
pub(super) fn sibling(target: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(suffix);
    parent_of(target).join(name)
}

pub fn foreign(path: &Path, expected: &str) -> Error {
    let what = "something else is here already, and dupsieve replaces only its own outputs";
    let error = Error::new(Kind::Exists, what).at(path).expected(expected);
    error.help("choose another output, or move this away")
}

/// The path `output` with `suffix` appended to its name. A slash at the end is ignored, so that the
/// result is beside a folder and not in it.
pub fn beside(output: &Path, suffix: &str) -> PathBuf {
    let mut name = output.components().as_path().as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Writes the names in a folder to the disk, so that a rename survives a power failure.
pub fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).at(folder)?.sync_all().at(folder)
}

pub fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.at(path),
    }
}

/// Fails if the disk of `folder` has no space for about `needed` bytes more. The folder need not
/// exist yet. Other programs may fill the disk before the bytes are written; that write then fails.
pub fn check_free_space(folder: &Path, needed: u64) -> Result<()> {
    let folder = folder.ancestors().find(|above| above.exists()).unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(folder).map_err(|cause| Error::io(folder, &cause.into()))?;
    let free = u128::from(disk.f_bavail) * u128::from(disk.f_frsize);
    if u128::from(needed) <= free {
        return Ok(());
    }
    Err(Error::new(Kind::Io, "the disk has too little free space")
        .at(folder)
        .expected(format_args!("about {needed} bytes"))
        .found(format_args!("{free} bytes"))
        .help("free some space and try again"))
}
