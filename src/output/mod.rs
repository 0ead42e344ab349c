//! Output that is absent or whole: a file or a folder, built beside its place and renamed there once,
//! under a lock.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, Kind, Result};

mod list_file;
mod lock;
mod new_file;
mod output_file;
mod staging;

pub use list_file::{ListFile, Listed};
pub use lock::{Fence, Lock, superseded};
pub use new_file::NewFile;
pub(crate) use new_file::{UNFINISHED, write_whole};
pub use output_file::{OutputFile, Sum};
pub use staging::{SUCCESS, Staging, put, remove_leftovers};

/// Makes the names in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).at(folder)?.sync_all().at(folder)
}

/// Whether two paths lead to one file, by whatever links.
pub fn are_one(one: &Path, other: &Path) -> bool {
    let id = |path| std::fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    id(one).is_some_and(|one| Some(one) == id(other))
}

/// The folder that a path stands in.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Where a path leads: without links as far as it stands, and as it is from there.
pub fn resolved(path: &Path) -> PathBuf {
    let resolve = |path: &Path| path.canonicalize().ok();
    let beyond = || Some(resolve(parent_of(path))?.join(path.file_name()?));
    resolve(path).or_else(beyond).unwrap_or_else(|| path.to_path_buf())
}

/// Whether `path` is a file that starts with `mark`, as one of ours does.
pub fn bears(path: &Path, mark: &[u8]) -> Result<bool> {
    let mut start = Vec::new();
    if !path.is_file() {
        return Ok(false);
    }
    File::open(path)
        .and_then(|file| file.take(mark.len() as u64).read_to_end(&mut start))
        .at(path)?;
    Ok(start == mark)
}

/// Fails with [`Kind::Io`] if the disk of `folder` has no room for about `needed` bytes more. There may
/// be less room by the time they are written, which is then found out. The folder need not exist yet.
pub fn check_room(folder: &Path, needed: u64) -> Result<()> {
    let folder = folder.ancestors().find(|above| above.exists()).unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(folder).map_err(|cause| Error::io(folder, &cause.into()))?;
    let free = u128::from(disk.f_bavail) * u128::from(disk.f_frsize);
    match u128::from(needed) <= free {
        true => Ok(()),
        false => Err(Error::new(Kind::Io, "the disk has too little room")
            .at(folder)
            .expected(format_args!("about {needed} bytes"))
            .found(format_args!("{free} bytes"))
            .help("free some space and run the same command again")),
    }
}

/// The folder, beside an output that is not whole yet, for what a rerun need not do again.
pub fn resume_folder(target: &Path) -> PathBuf {
    sibling(target, ".resume")
}

/// A hidden name beside `target` that ends in `suffix`.
fn sibling(target: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(suffix);
    parent_of(target).join(name)
}
