//! What the disk under an output must do: keep names after a power failure, and have room.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{At, Error, Kind, Result};

/// Writes the names in a folder to the disk, so that a rename survives a power failure.
pub fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).at(folder)?.sync_all().at(folder)
}

pub fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(gone) if gone.kind() == ErrorKind::NotFound => Ok(()),
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
