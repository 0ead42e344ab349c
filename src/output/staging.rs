//! A folder that is absent or whole: built beside its place, renamed into it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::TempDir;

use super::disk::sync_folder;
use super::lock::{Fence, Lock};
use super::output_file::OutputFile;
use super::paths::{parent_of, resume_folder, sibling};
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
        let (parent, prefix) = (parent_of(target), sibling(target, TEMPORARY));
        let prefix = prefix.file_name().unwrap_or_default();
        let folder = tempfile::Builder::new()
            .prefix(prefix)
            .rand_bytes(RANDOM)
            .tempdir_in(parent)
            .at(parent)?;
        let mark = folder.path().join(UNFINISHED);
        File::create(&mark).at(&mark)?;
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
        self.check()?;
        let [unfinished, success] = [UNFINISHED, SUCCESS].map(|mark| self.folder().join(mark));
        fs::rename(unfinished, &success).at(&success)?;
        File::open(&success).and_then(|mark| mark.sync_all()).at(&success)?;
        sync_folder(self.folder())?;
        let Staging { target, folder, lock } = self;
        lock.check()?;
        put(&folder.keep(), &target)
    }
}

/// Renames a whole folder into place, and removes what stood there before.
pub fn put(folder: &Path, target: &Path) -> Result<()> {
    if !target.exists() {
        fs::rename(folder, target).at(target)?;
        return sync_folder(parent_of(target));
    }
    match renameat_with(CWD, folder, CWD, target, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => return replace(folder, target),
        exchanged => exchanged.map_err(|cause| Error::io(target, &cause.into()))?,
    }
    sync_folder(parent_of(target))?;
    // The folder now holds what was replaced.
    remove(folder)
}

/// Puts a whole folder in the place of another where the file system cannot exchange the two, as some
/// network file systems cannot: for a moment there is none.
fn replace(folder: &Path, target: &Path) -> Result<()> {
    let (parent, prefix) = (parent_of(target), sibling(target, TEMPORARY));
    let prefix = prefix.file_name().unwrap_or_default();
    let aside = tempfile::Builder::new().prefix(prefix).tempdir_in(parent).at(parent)?.keep();
    fs::rename(target, &aside).at(target)?;
    fs::rename(folder, target).at(target)?;
    sync_folder(parent)?;
    remove(&aside)
}

/// What the names of folders being built go on with, before some random characters.
const TEMPORARY: &str = ".tmp-";
/// How many random characters.
const RANDOM: usize = 6;
/// The empty file that marks a folder as one that is being built, and so as ours.
const UNFINISHED: &str = "_UNFINISHED";

/// Removes what attempts at `target` that died have left beside it, now that it is whole. Nobody may
/// but who holds the lock.
pub fn remove_leftovers(target: &Path, _: &Lock) -> Result<()> {
    remove_unfinished(target)?;
    let resume = resume_folder(target);
    match fs::symlink_metadata(&resume) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&resume).at(&resume),
        _ => Ok(()),
    }
}

/// Removes the folders in which attempts at `target` that died were building it. One that bears no mark
/// of ours stays, whatever it is called.
fn remove_unfinished(target: &Path) -> Result<()> {
    let (parent, prefix) = (parent_of(target), sibling(target, TEMPORARY));
    let prefix = prefix.file_name().unwrap_or_default().as_encoded_bytes();
    for entry in fs::read_dir(parent).at(parent)? {
        let entry = entry.at(parent)?;
        let path = entry.path();
        let name = entry.file_name();
        let random = name.as_encoded_bytes().strip_prefix(prefix);
        let is_named_so = random.is_some_and(|random| random.len() == RANDOM);
        if !is_named_so || !entry.file_type().at(&path)?.is_dir() {
            continue;
        }
        match [UNFINISHED, SUCCESS].iter().any(|mark| path.join(mark).exists()) {
            true => remove(&path)?,
            // The attempt died before it could mark the folder; one that holds anything stays.
            false => drop(fs::remove_dir(&path)),
        }
    }
    Ok(())
}

/// Removes a folder, its mark last: whatever is left of it at any moment is still known as ours.
fn remove(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).at(folder)? {
        let entry = entry.at(folder)?;
        let is_mark = [UNFINISHED, SUCCESS].iter().any(|mark| entry.file_name() == *mark);
        if !is_mark {
            let path = entry.path();
            match entry.file_type().at(&path)?.is_dir() {
                true => fs::remove_dir_all(&path).at(&path)?,
                false => fs::remove_file(&path).at(&path)?,
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
        assert_eq!(names(home.path()), ["out"]);
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

    #[test]
    fn two_runs_do_not_build_the_same_output() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let _first = staging(&target);
        assert_eq!(Lock::beside(&target).unwrap_err().kind(), Kind::Temporary);
    }
}
