//! A file that is absent or whole: it is written beside its place, synced and renamed into it.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::copy::copy;
use super::lock::{Fence, Lock};
use super::paths::{RANDOM, leftovers, parent_of, sync_folder};
use crate::error::{At, Error, Result};
use crate::progress::{self, Activity};

pub const UNFINISHED: &str = ".unfinished-";

/// A file under construction. If it is dropped before [`NewFile::publish`], nothing remains.
#[derive(Debug)]
pub struct NewFile {
    temporary: NamedTempFile,
    path: PathBuf,
    fence: Option<Fence>,
}

impl NewFile {
    pub fn beside(path: impl AsRef<Path>) -> Result<NewFile> {
        let path = path.as_ref().to_path_buf();
        let temporary = tempfile::Builder::new()
            .prefix(&unfinished(&path))
            .rand_bytes(RANDOM)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(parent_of(&path))
            .map_err(|cause| Error::io(parent_of(&path), &cause))?;
        Ok(NewFile { temporary, path, fence: None })
    }

    pub fn fenced(&mut self, fence: &Fence) {
        self.fence = Some(fence.clone());
    }

    /// Makes the file, which is still empty, a copy of the one at `source`. On file systems such as XFS and
    /// Btrfs the two share their blocks; elsewhere the copy costs one read and one write of the file.
    pub fn copy(&mut self, source: &Path) -> Result<()> {
        copy(&File::open(source).at(source)?, self.temporary.as_file()).at(&self.path)
    }

    pub fn unfinished(&self) -> &Path {
        self.temporary.path()
    }

    pub fn written(&self) -> io::Result<File> {
        self.temporary.reopen()
    }

    /// Writes everything to the disk, so that only the rename is left.
    pub fn sync(&self) -> Result<()> {
        self.temporary.as_file().sync_all().at(&self.path)
    }

    /// Writes everything to the disk and renames the file to its path. It replaces a file that is there.
    pub fn publish(self) -> Result<()> {
        let path = self.path.clone();
        self.publish_at(&path)
    }

    pub fn publish_at(self, path: &Path) -> Result<()> {
        let NewFile { temporary, fence, .. } = self;
        temporary.as_file().sync_all().at(path)?;
        fence.map_or(Ok(()), |fence| fence.check())?;
        temporary.persist(path).map_err(|failed| Error::io(path, &failed.error))?;
        sync_folder(parent_of(path))
    }
}

impl Lock {
    pub fn on_file(target: &Path) -> Result<Lock> {
        let lock = Lock::beside(target)?;
        remove_unfinished(target)?;
        Ok(lock)
    }

    /// Removes what runs that died have left of `file`. This is the lock that protects `file`.
    pub fn remove_unfinished(&self, file: &Path) -> Result<()> {
        remove_unfinished(file)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        progress::tick(Activity::Writing);
        self.temporary.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.as_file_mut().flush()
    }
}

fn unfinished(path: &Path) -> OsString {
    let mut prefix = OsString::from(UNFINISHED);
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push("-");
    prefix
}

pub(super) fn remove_unfinished(path: &Path) -> Result<()> {
    for entry in leftovers(path, &unfinished(path))? {
        if entry.file_type().at(entry.path())?.is_file() {
            fs::remove_file(entry.path()).at(entry.path())?;
        }
    }
    Ok(())
}

pub fn write_file(path: &Path, bytes: &[u8], lock: &Lock) -> Result<()> {
    let mut file = NewFile::beside(path)?;
    file.fenced(lock.fence());
    file.write_all(bytes).at(path)?;
    file.publish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_died_is_removed_and_nothing_of_others() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let dead = |name: &str| {
            let file = NewFile::beside(folder.path().join(name))?;
            Ok::<_, Error>(file.temporary.keep().unwrap().1)
        };
        let of_a = dead("a")?;
        let of_a_b = dead("a-b")?;
        remove_unfinished(&folder.path().join("a"))?;
        assert_eq!((of_a.exists(), of_a_b.exists()), (false, true));
        Ok(())
    }
}
