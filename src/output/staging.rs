//! A folder that is absent or whole: built beside its place, renamed into it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::{Fence, Lock, OutputFile, parent_of, resume_folder, sibling, sync_folder};
use crate::error::{At, Error, Result};

/// The empty file that says an output folder is whole.
pub const SUCCESS: &str = "_SUCCESS";

/// An output folder that is being built. Dropped before [`Staging::commit`], it leaves nothing.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    folder: TempDir,
    lock: Lock,
}

impl Staging {
    /// Begins to build `target`, whose lock is held, in a folder beside it, cleaning up after attempts
    /// that died.
    pub fn beside(target: &Path, lock: Lock) -> Result<Staging> {
        remove_unfinished(target)?;
        let (parent, prefix) = (parent_of(target), sibling(target, UNFINISHED));
        let prefix = prefix.file_name().unwrap_or_default();
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent).at(parent)?;
        Ok(Staging { target: target.to_path_buf(), folder, lock })
    }

    /// The folder while it is being built; a place for spilled runs too, which have no name.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A new file of the output.
    pub fn create(&self, name: &str) -> Result<OutputFile> {
        OutputFile::create(&self.folder().join(name))
    }

    /// Fails if another run has taken the lock over, and with it what stands in the folder.
    pub fn check(&self) -> Result<()> {
        self.lock.check()
    }

    /// What tells the other processes of the run whether the lock is still held.
    pub fn fence(&self) -> &Fence {
        self.lock.fence()
    }

    /// Marks the folder as whole and renames it into place, instead of what stood there before.
    ///
    /// # Errors
    /// [`Kind::Temporary`](crate::Kind::Temporary) if another run has taken the lock over.
    pub fn commit(self) -> Result<()> {
        self.create(SUCCESS)?.finish()?;
        sync_folder(self.folder())?;
        let Staging { target, folder, lock } = self;
        lock.check()?;
        if !target.exists() {
            fs::rename(folder.path(), &target).at(&target)?;
            let _ = folder.keep();
        } else {
            // The folder now holds what is replaced, and goes with it.
            renameat_with(CWD, folder.path(), CWD, &target, RenameFlags::EXCHANGE)
                .map_err(|cause| Error::io(&target, &cause.into()))?;
        }
        sync_folder(parent_of(&target))
    }
}

/// What the names of folders being built go on with.
const UNFINISHED: &str = ".tmp-";

/// Removes what attempts at `target` that died have left beside it, now that it is whole. Nobody may
/// but who holds the lock.
pub fn remove_leftovers(target: &Path, _: &Lock) -> Result<()> {
    remove_unfinished(target)?;
    match fs::remove_dir_all(resume_folder(target)) {
        Err(none) if none.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.at(target),
    }
}

/// Removes the folders in which attempts at `target` that died were building it.
fn remove_unfinished(target: &Path) -> Result<()> {
    let (parent, prefix) = (parent_of(target), sibling(target, UNFINISHED));
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
    use crate::error::Kind;

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
    fn a_run_that_was_superseded_does_not_commit() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let frozen = staging(&target);
        fs::remove_file(home.path().join(".out.lock")).unwrap();
        staging(&target).commit().unwrap();
        let late = Staging { folder: tempfile::tempdir_in(home.path()).unwrap(), ..frozen };
        assert_eq!(late.commit().unwrap_err().kind(), Kind::Temporary);
        assert_eq!(names(&target), [SUCCESS]);
    }

    #[test]
    fn two_runs_do_not_build_the_same_output() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let _first = staging(&target);
        assert_eq!(Lock::beside(&target).unwrap_err().kind(), Kind::Temporary);
    }
}
