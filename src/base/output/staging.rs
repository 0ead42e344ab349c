//! An output folder that is absent or whole: it is built beside its place and renamed into it.
//!
//! For an output `day/out` the steps are:
//!
//! ```text
//! day/.out.lock                             the lock, held from the beginning to the end
//! day/.out.tmp-k3f9Zq/_UNFINISHED, ...      the files are written here
//! day/.out.tmp-k3f9Zq/_SUCCESS, ...         all files are synced, the mark is renamed
//! day/out/_SUCCESS, ...                     the folder is renamed: the commit
//! ```
//!
//! A run that dies before the last step leaves `day/out` as it was. The next run removes the rest.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::TempDir;

use super::lock::{Fence, Lock};
use super::output_file::OutputFile;
use super::paths::{RANDOM, leftovers, parent_of, resume_folder, sibling, sync_folder};
use crate::error::{At, Error, Result};
use crate::parallel::in_parallel;

pub const SUCCESS: &str = "_SUCCESS";

/// An output folder under construction. If it is dropped before [`Staging::commit`], nothing remains.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    folder: TempDir,
    lock: Lock,
}

impl Staging {
    /// Starts to build `target` in a folder beside it, under the lock of `target`. Removes what runs
    /// that died have left.
    pub fn beside(target: &Path, lock: Lock) -> Result<Staging> {
        remove_unfinished(target)?;
        let parent = parent_of(target);
        let folder = tempfile::Builder::new()
            .prefix(&temporary_prefix(target))
            .rand_bytes(RANDOM)
            .tempdir_in(parent)
            .at(parent)?;
        let mark = folder.path().join(UNFINISHED);
        File::create(&mark).at(&mark)?;
        Ok(Staging { target: target.to_path_buf(), folder, lock })
    }

    /// The temporary folder. Unnamed files of a sort may use it too.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn create(&self, name: &str) -> Result<OutputFile> {
        OutputFile::create(&self.folder().join(name))
    }

    pub fn is_mark(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == SUCCESS || name == UNFINISHED)
    }

    /// Fails if another run has taken over the lock; that run has removed the folder, too.
    pub fn check(&self) -> Result<()> {
        self.lock.check()
    }

    pub fn fence(&self) -> &Fence {
        self.lock.fence()
    }

    /// As [`Staging::commit`], for files of which none is on the disk yet. All are synced first, many at a time: for a disk many are hardly
    /// more work than one.
    pub fn commit_all(self) -> Result<()> {
        let paths = paths_below(self.folder())?;
        let sync = |path: &PathBuf| File::open(path).and_then(|it| it.sync_all()).at(path);
        in_parallel(SYNCS, &paths, sync).into_iter().collect::<Result<()>>()?;
        self.commit()
    }

    /// Marks the folder as complete and renames it into place. It replaces a folder that is there.
    pub fn commit(self) -> Result<()> {
        self.check()?;
        let [unfinished, success] = [UNFINISHED, SUCCESS].map(|mark| self.folder().join(mark));
        fs::rename(unfinished, &success).at(&success)?;
        File::open(&success).and_then(|mark| mark.sync_all()).at(&success)?;
        sync_folder(self.folder())?;
        let Staging { target, folder, lock } = self;
        lock.check()?;
        publish_folder(&folder.keep(), &target)
    }
}

pub fn publish_folder(folder: &Path, target: &Path) -> Result<()> {
    if !target.exists() {
        fs::rename(folder, target).at(target)?;
        return sync_folder(parent_of(target));
    }
    match renameat_with(CWD, folder, CWD, target, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => return replace(folder, target),
        exchanged => exchanged.map_err(|cause| Error::io(target, &cause.into()))?,
    }
    sync_folder(parent_of(target))?;
    // The two were exchanged: `folder` is the old one now.
    remove(folder)
}

/// Replaces a folder on a file system that cannot exchange two folders, as some network file systems
/// cannot. For a moment there is no folder at `target`.
fn replace(folder: &Path, target: &Path) -> Result<()> {
    let parent = parent_of(target);
    let prefix = temporary_prefix(target);
    let aside = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent).at(parent)?.keep();
    fs::rename(target, &aside).at(target)?;
    fs::rename(folder, target).at(target)?;
    sync_folder(parent)?;
    remove(&aside)
}

fn paths_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut folders, mut paths) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(within) = folders.pop() {
        for entry in fs::read_dir(&within).at(&within)? {
            let entry = entry.at(&within)?;
            if entry.file_type().at(&within)?.is_dir() {
                folders.push(entry.path());
            }
            paths.push(entry.path());
        }
    }
    Ok(paths)
}

const SYNCS: usize = 32;

const TEMPORARY: &str = ".tmp-";
/// The empty file that marks a folder under construction, and so as one of ours.
const UNFINISHED: &str = "_UNFINISHED";

fn temporary_prefix(target: &Path) -> OsString {
    sibling(target, TEMPORARY).file_name().unwrap_or_default().to_owned()
}

/// Removes what runs that died have left beside `target`, once `target` is complete. Only the holder of
/// the lock may do this.
pub fn remove_leftovers(target: &Path, _: &Lock) -> Result<()> {
    remove_unfinished(target)?;
    let resume = resume_folder(target);
    match fs::symlink_metadata(&resume) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&resume).at(&resume),
        _ => Ok(()),
    }
}

/// Removes the temporary folders of runs that died. A folder without a mark of ours stays, whatever its
/// name.
fn remove_unfinished(target: &Path) -> Result<()> {
    for entry in leftovers(target, &temporary_prefix(target))? {
        let path = entry.path();
        if !entry.file_type().at(&path)?.is_dir() {
            continue;
        }
        if [UNFINISHED, SUCCESS].iter().any(|mark| path.join(mark).exists()) {
            remove(&path)?;
        } else {
            // The run died before it marked the folder. This removes the folder only if it is empty.
            drop(fs::remove_dir(&path));
        }
    }
    Ok(())
}

/// Removes a folder, its mark last, so that what is left at any moment still shows the mark.
fn remove(folder: &Path) -> Result<()> {
    if folder.is_symlink() {
        // What was replaced is a link. The folder that it names may be needed elsewhere.
        return fs::remove_file(folder).at(folder);
    }
    for entry in fs::read_dir(folder).at(folder)? {
        let entry = entry.at(folder)?;
        let is_mark = [UNFINISHED, SUCCESS].iter().any(|mark| entry.file_name() == *mark);
        if !is_mark {
            let path = entry.path();
            if entry.file_type().at(&path)?.is_dir() {
                fs::remove_dir_all(&path).at(&path)?;
            } else {
                fs::remove_file(&path).at(&path)?;
            }
        }
    }
    fs::remove_dir_all(folder).at(folder)
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
    fn a_folder_is_replaced_where_the_two_cannot_be_exchanged() {
        let home = tempfile::tempdir().unwrap();
        let [folder, target] = ["new", "out"].map(|name| home.path().join(name));
        for (path, file) in [(&folder, "new.txt"), (&target, "old.txt")] {
            fs::create_dir(path).unwrap();
            fs::write(path.join(SUCCESS), "").unwrap();
            fs::write(path.join(file), "").unwrap();
        }
        replace(&folder, &target).unwrap();
        assert_eq!(names(&target), [SUCCESS, "new.txt"]);
        assert_eq!(names(home.path()), ["out"]);
    }

    #[test]
    fn what_died_is_cleaned_up_and_what_stood_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let dead = staging(&target).folder.keep();
        let empty = home.path().join(".out.tmp-empty1");
        fs::create_dir_all(&empty).unwrap();
        fs::create_dir_all(&target).unwrap();
        fs::write(target.join("old"), "old").unwrap();
        staging(&target).commit().unwrap();
        assert_eq!(names(&target), [SUCCESS]);
        assert!(!dead.exists() && !empty.exists());
        assert_eq!(names(home.path()), ["out"]);
    }

    #[test]
    fn what_others_have_put_beside_an_output_stays() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        fs::create_dir_all(home.path().join(".out.tmp-backup")).unwrap();
        fs::write(home.path().join(".out.tmp-backup/letter"), "dear").unwrap();
        fs::create_dir_all(home.path().join("theirs")).unwrap();
        fs::write(home.path().join("theirs").join(SUCCESS), "").unwrap();
        for link in [".out.tmp-linked", ".out.resume"] {
            std::os::unix::fs::symlink("theirs", home.path().join(link)).unwrap();
        }
        staging(&target).commit().unwrap();
        remove_leftovers(&target, &Lock::beside(&target).unwrap()).unwrap();
        let left = [".out.resume", ".out.tmp-backup", ".out.tmp-linked", "out", "theirs"];
        assert_eq!(names(home.path()), left);
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
}
