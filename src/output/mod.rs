//! Output that is absent or whole: a file or a folder, built beside its place and renamed there once.

mod new_file;

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{At, Error, Kind, Result};
use crate::progress::{self, Activity};

pub use new_file::NewFile;
pub(crate) use new_file::{UNFINISHED, write_whole};

/// The empty file that says an output folder is whole.
pub const SUCCESS: &str = "_SUCCESS";

/// An output folder that is being built. Dropped before [`Staging::commit`], it leaves nothing.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    folder: TempDir,
    _lock: Lock,
}

impl Staging {
    /// Begins to build `target`, whose lock is held, in a folder beside it, cleaning up after attempts
    /// that died.
    pub fn beside(target: &Path, lock: Lock) -> Result<Staging> {
        let parent = parent_of(target);
        let prefix = sibling(target, ".tmp-");
        remove_leftovers(parent, &prefix)?;
        let prefix = prefix.file_name().unwrap_or_default();
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent).at(parent)?;
        Ok(Staging { target: target.to_path_buf(), folder, _lock: lock })
    }

    /// The folder while it is being built; a place for spilled runs too, which have no name.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A new file of the output.
    pub fn create(&self, name: &str) -> Result<OutputFile> {
        OutputFile::create(&self.folder().join(name))
    }

    /// Marks the folder as whole and renames it into place, instead of what stood there before.
    pub fn commit(self) -> Result<()> {
        self.create(SUCCESS)?.finish()?;
        sync_folder(self.folder())?;
        let Staging { target, folder, _lock } = self;
        if !target.exists() {
            fs::rename(folder.keep(), &target).at(&target)?;
        } else {
            // The folder now holds what is replaced, and goes with it.
            renameat_with(CWD, folder.path(), CWD, &target, RenameFlags::EXCHANGE)
                .map_err(|cause| Error::io(&target, &cause.into()))?;
        }
        sync_folder(parent_of(&target))
    }
}

/// A lock on a path, held until dropped or until the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock on an output, which stands beside it, in a folder that is made if need be.
    pub fn beside(target: &Path) -> Result<Lock> {
        let parent = parent_of(target);
        fs::create_dir_all(parent).at(parent)?;
        Lock::take(&sibling(target, ".lock"))
    }

    /// Takes the lock on an output that is one file, cleaning up after attempts that died.
    pub fn on_file(target: &Path) -> Result<Lock> {
        let lock = Lock::beside(target)?;
        new_file::remove_unfinished(target)?;
        Ok(lock)
    }

    /// Takes the lock; one that another run holds is [`Kind::Temporary`].
    pub fn take(path: &Path) -> Result<Lock> {
        let file = File::options().create(true).append(true).open(path).at(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::Error(cause)) => Err(Error::io(path, &cause)),
            Err(TryLockError::WouldBlock) => {
                Err(Error::new(Kind::Temporary, "another run holds the lock")
                    .at(path)
                    .help("wait until it has ended and run the same command again"))
            }
        }
    }
}

/// What stands in a finished file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    /// Its length in bytes.
    pub bytes: u64,
    /// XXH3-128 of its bytes, in hex.
    pub xxh3: String,
}

/// A file of the output, summed as it is written.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: BufWriter<Summing>,
}

impl OutputFile {
    /// A new file; one that stands there is replaced.
    pub fn create(path: &Path) -> Result<OutputFile> {
        let file = File::create(path).at(path)?;
        let summing = Summing { file, bytes: 0, hash: Box::new(Xxh3::new()) };
        let file = BufWriter::with_capacity(1 << 20, summing);
        Ok(OutputFile { path: path.to_path_buf(), file })
    }

    /// Calls `write` with the file; what fails is reported with its path.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        write(&mut self.file).at(&self.path)
    }

    /// Brings everything to the disk and says what stands there.
    pub fn finish(self) -> Result<Sum> {
        let OutputFile { path, file } = self;
        let summing = file.into_inner().map_err(|cause| Error::io(&path, cause.error()))?;
        summing.file.sync_all().at(&path)?;
        Ok(Sum { bytes: summing.bytes, xxh3: format!("{:032x}", summing.hash.digest128()) })
    }
}

struct Summing {
    file: File,
    bytes: u64,
    hash: Box<Xxh3>,
}

impl std::fmt::Debug for Summing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Summing").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Write for Summing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        progress::tick(Activity::Writing);
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Makes the names in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).at(folder)?.sync_all().at(folder)
}

/// The folder that a path stands in.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A hidden name beside `target` that ends in `suffix`.
fn sibling(target: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(suffix);
    parent_of(target).join(name)
}

fn remove_leftovers(parent: &Path, prefix: &Path) -> Result<()> {
    let prefix = prefix.file_name().unwrap_or_default().as_encoded_bytes();
    for entry in fs::read_dir(parent).at(parent)? {
        let entry = entry.at(parent)?;
        if entry.file_name().as_encoded_bytes().starts_with(prefix) {
            fs::remove_dir_all(entry.path()).at(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn staging(target: &Path) -> Staging {
        Staging::beside(target, Lock::beside(target).unwrap()).unwrap()
    }

    #[test]
    fn an_output_is_absent_until_it_is_whole() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let staging = staging(&target);
        let mut file = staging.create("a.txt").unwrap();
        file.write(|out| out.write_all(b"hello")).unwrap();
        assert_eq!(file.finish().unwrap().bytes, 5);
        assert!(!target.exists());
        staging.commit().unwrap();
        assert_eq!(names(&target), [SUCCESS, "a.txt"]);
        assert_eq!(names(home.path()), [".out.lock", "out"]);
    }

    #[test]
    fn what_died_is_cleaned_up_and_what_stood_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        fs::create_dir_all(home.path().join(".out.tmp-dead")).unwrap();
        fs::create_dir_all(&target).unwrap();
        fs::write(target.join("old"), "old").unwrap();
        staging(&target).commit().unwrap();
        assert_eq!(names(&target), [SUCCESS]);
        assert_eq!(names(home.path()), [".out.lock", "out"]);
    }

    #[test]
    fn two_runs_do_not_build_the_same_output() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let _first = staging(&target);
        assert_eq!(Lock::beside(&target).unwrap_err().kind(), Kind::Temporary);
    }
}
