//! Locks: one run at a time makes an output or changes a store.
//!
//! Two things keep other runs out:
//!
//! - The system's lock on the lock file. It ends with the process that holds it, so the run after a
//!   dead one need not wait. But not every shared file system carries it from machine to machine.
//! - The owner, written in the lock file under the next number (a fencing token). Before a run
//!   commits, it reads the file again. If it finds another owner, that run has superseded it and it
//!   must not commit. This happens to a run that was suspended for a while.
//!
//! ```text
//! run A  takes the lock: {"token":1, "host":"a", ...}      is suspended
//! run B                                                    takes the lock: token 2, commits
//! run A                                                    wakes up, reads token 2, gives up (75)
//! ```
//!
//! A superseded run may also miss files of its own, because the other run has removed them. So
//! whoever reports a failure asks [`Locks::superseded`] first.

use std::cell::RefCell;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fmt, process};

use rustix::fs::OFlags;
use rustix::system::uname;
use serde::{Deserialize, Serialize};
use time::UtcDateTime;

use super::paths::{FileId, parent_of, sibling};
use crate::error::{At, Error, Kind, Result};
use crate::parallel::lock;

const OWNER_BYTES: u64 = 4 << 10;

thread_local! {
    static LOCKS: RefCell<Locks> = RefCell::default();
}

/// A lock on a path. It is held until it is dropped or the process ends, in whatever way.
#[derive(Debug)]
pub struct Lock {
    fence: Fence,
    /// None in a process that shares the lock of another.
    file: Option<File>,
    locks: Locks,
}

/// The locks of one job. Each thread has its own, so two jobs in two threads of a process know nothing of each other.
#[derive(Clone, Debug, Default)]
pub struct Locks(Arc<Mutex<JobLocks>>);

#[derive(Debug, Default)]
struct JobLocks {
    fences: Vec<Fence>,
    /// Those whose files go with them.
    passing: Vec<Fence>,
    /// The error of the first lock that had been taken over when it was released.
    lost: Option<Error>,
}

impl JobLocks {
    fn forget(&mut self, fence: &Fence) {
        self.fences.retain(|it| it != fence);
        self.passing.retain(|it| it != fence);
    }
}

/// Checks that a lock is still held, where the lock itself is out of reach: in another process of the
/// run, for example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    path: PathBuf,
    owner: Owner,
}

impl Locks {
    pub fn of_this_thread() -> Locks {
        LOCKS.with_borrow(Locks::clone)
    }

    /// Lets this thread work for the job of these locks: each lock that the thread takes becomes one of them.
    pub fn enter(self) {
        LOCKS.set(self);
    }

    /// The error that another run has taken over a lock of this job, if that happened. It explains every
    /// other failure of the job.
    pub fn superseded(&self) -> Option<Error> {
        let held = self.held().fences.clone();
        held.iter().find_map(Fence::taken_over).or_else(|| self.held().lost.clone())
    }

    /// Removes the files that go with the locks of this job: its process ends without dropping them.
    pub fn end(&self) {
        let passing = self.held().passing.clone();
        let held = passing.iter().filter(|fence| fence.taken_over().is_none());
        held.for_each(|fence| drop(fs::remove_file(&fence.path)));
    }

    fn held(&self) -> MutexGuard<'_, JobLocks> {
        lock(&self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    /// Counts how often the lock was taken.
    token: u64,
    host: String,
    process: u32,
    since: i64,
    /// Distinguishes two owners that took the lock at the same moment without seeing each other.
    nonce: u64,
}

impl Lock {
    /// Takes the lock on an output. The lock file is beside the output and is removed when the lock is
    /// dropped. Creates the folder of the output if it does not exist.
    pub fn beside(target: &Path) -> Result<Lock> {
        if target == Path::new("-") {
            return Err(Error::new(Kind::Usage, "this output cannot go to standard output")
                .expected("a path")
                .found("`-`")
                .help("for a file of that name write ./-"));
        }
        let parent = parent_of(target);
        fs::create_dir_all(parent).at(parent)?;
        let lock = Lock::take(&sibling(target, ".lock"))?;
        lock.pass();
        Ok(lock)
    }

    /// Takes the lock. The lock file stays when it is dropped.
    pub fn take(path: &Path) -> Result<Lock> {
        let file = loop {
            let file = open_ours(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(held(path)),
                // This file system has no locks: the owner in the file must do.
                Err(TryLockError::Error(cause)) if cause.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(cause)) => return Err(Error::io(path, &cause)),
            }
            // The last owner may have removed the file between the two steps. Then others would lock
            // a new file, and this lock would keep nobody out.
            if is_at(&file, path).at(path)? {
                break file;
            }
        };
        let owner = Owner::after(Owner::read(path)?);
        owner.write(&file).at(path)?;
        Ok(Lock::new(Fence { path: path.to_path_buf(), owner }, Some(file)))
    }

    pub fn shared(fence: Fence) -> Lock {
        Lock::new(fence, None)
    }

    fn new(fence: Fence, file: Option<File>) -> Lock {
        let locks = Locks::of_this_thread();
        locks.held().fences.push(fence.clone());
        Lock { fence, file, locks }
    }

    /// Fails with [`Kind::Temporary`] if another run has taken over the lock. To be called right before
    /// each commit.
    pub fn check(&self) -> Result<()> {
        self.fence.check()
    }

    /// Lets go of the lock and removes its file: what it kept others out of has gone.
    pub fn remove(self) {
        self.pass();
    }

    fn pass(&self) {
        self.locks.held().passing.push(self.fence.clone());
    }

    pub fn fence(&self) -> &Fence {
        &self.fence
    }
}

impl Drop for Lock {
    /// Checks the lock for the last time: the report of a failure may ask [`Locks::superseded`] later.
    fn drop(&mut self) {
        let passes = self.locks.held().passing.contains(&self.fence);
        self.locks.held().forget(&self.fence);
        match (&self.file, self.fence.taken_over()) {
            (Some(_), Some(lost)) => drop(self.locks.held().lost.get_or_insert(lost)),
            // The lock is still held here, so nobody else takes it in this moment.
            (Some(_), None) if passes => drop(fs::remove_file(&self.fence.path)),
            _ => {}
        }
        // A process that another thread is just starting has this file open too, until it runs its own program. Closing alone would leave
        // the file locked until then.
        let _ = self.file.as_ref().map(File::unlock);
    }
}

impl Fence {
    fn taken_over(&self) -> Option<Error> {
        self.check().err().filter(|error| error.kind() == Kind::Temporary)
    }

    pub fn check(&self) -> Result<()> {
        let found = Owner::read(&self.path)?;
        if found.as_ref() == Some(&self.owner) {
            return Ok(());
        }
        let found = found.map_or("no owner".to_owned(), |owner| owner.to_string());
        let what = "another run has taken over the lock, so this run must not commit";
        Err(Error::new(Kind::Temporary, what)
            .at(&self.path)
            .expected(&self.owner)
            .found(found)
            .help("check whether that run made the output; if not, try again"))
    }
}

impl Owner {
    fn after(last: Option<Owner>) -> Owner {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_secs());
        Owner {
            token: last.map_or(0, |last| last.token) + 1,
            host: uname().nodename().to_string_lossy().into_owned(),
            process: process::id(),
            since: since as i64,
            nonce: rand::random(),
        }
    }

    fn read(path: &Path) -> Result<Option<Owner>> {
        let mut line = Vec::new();
        match File::open(path) {
            Err(none) if none.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.and_then(|file| file.take(OWNER_BYTES).read_to_end(&mut line)).at(path)?,
        };
        let first = line.split(|&byte| byte == b'\n').next();
        Ok(first.and_then(|line| serde_json::from_slice(line).ok()))
    }

    fn write(&self, file: &File) -> io::Result<()> {
        let line = serde_json::to_string(self)? + "\n";
        file.write_all_at(line.as_bytes(), 0)?;
        file.set_len(line.len() as u64)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Owner { token, host, process, since, .. } = self;
        write!(f, "process {process} on {host}")?;
        if let Ok(since) = UtcDateTime::from_unix_timestamp(*since) {
            let (hour, minute, second) = since.time().as_hms();
            write!(f, " since {} {hour:02}:{minute:02}:{second:02} UTC", since.date())?;
        }
        write!(f, ", owner {token}")
    }
}

fn open_ours(path: &Path) -> Result<File> {
    let foreign = || {
        Error::new(Kind::Exists, "another file has the name of the lock file")
            .at(path)
            .help("move it away, or choose another output")
    };
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(foreign());
    }
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    let no_links = OFlags::NOFOLLOW.bits().cast_signed();
    let file = options.custom_flags(no_links).open(path).at(path)?;
    let mut start = [0; OWNER_START.len()];
    let read = file.read_at(&mut start, 0).at(path)?;
    if is_ours(&start[..read]) { Ok(file) } else { Err(foreign()) }
}

const OWNER_START: &[u8] = b"{\"token\":";

/// Whether a file with this start is a lock file: it names an owner, or its writer died before.
fn is_ours(start: &[u8]) -> bool {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    OWNER_START.starts_with(start.trim_ascii_end()) || start.iter().all(blank)
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = FileId::of(&file.metadata()?);
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(FileId::of(&found) == own),
        Err(none) if none.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(cause),
    }
}

fn held(path: &Path) -> Error {
    let error = Error::new(Kind::Temporary, "another run holds the lock").called("locked").at(path);
    let error = match Owner::read(path) {
        Ok(Some(owner)) => error.found(owner),
        _ => error,
    };
    error.help("wait until it has ended and try again")
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn a_lock_that_is_held_names_its_owner() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let first = Lock::take(&path).unwrap();
        let error = Lock::take(&path).unwrap_err();
        assert_eq!(error.kind(), Kind::Temporary);
        let told = error.to_string();
        let owner =
            format!("process {} on {}", process::id(), uname().nodename().to_string_lossy());
        assert!(told.contains(&owner) && told.contains(" UTC, owner 1"), "{told}");
        drop(first);
        let second = Lock::take(&path).unwrap();
        assert_eq!(second.fence.owner.token, 2);
        second.check().unwrap();
    }

    /// The case in which the system's lock does not reach the other machine.
    #[test]
    fn who_was_superseded_is_told_so() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let first = Lock::take(&path).unwrap();
        let other = Owner { host: "elsewhere".into(), ..Owner::after(Owner::read(&path).unwrap()) };
        other.write(&File::options().write(true).open(&path).unwrap()).unwrap();
        let error = first.check().unwrap_err();
        assert_eq!(error.kind(), Kind::Temporary);
        assert!(error.to_string().contains("on elsewhere"), "{error}");
        fs::remove_file(&path).unwrap();
        assert!(first.check().unwrap_err().to_string().contains("no owner"));
        let second = Lock::take(&path).unwrap();
        assert!(second.check().is_ok() && first.check().is_err());
        let locks = Locks::of_this_thread();
        assert!(locks.superseded().unwrap().to_string().contains("taken over"));
        drop((first, second));
        assert!(locks.superseded().is_some(), "it is known later, too");
        assert!(locks.held().fences.is_empty());
    }

    #[test]
    fn of_two_jobs_at_once_each_knows_its_own_locks() {
        let home = tempfile::tempdir().unwrap();
        let both_hold = Barrier::new(2);
        let job = &|name: &str| {
            let path = home.path().join(name);
            let lock = Lock::take(&path).unwrap();
            both_hold.wait();
            if name == "loses" {
                fs::remove_file(&path).unwrap();
            }
            both_hold.wait();
            drop(lock);
            Locks::of_this_thread()
        };
        let [loses, keeps] = thread::scope(|scope| {
            let jobs = ["loses", "keeps"].map(|name| scope.spawn(move || job(name)));
            jobs.map(|job| job.join().unwrap())
        });
        assert!(loses.superseded().is_some() && keeps.superseded().is_none());
        assert!(Locks::of_this_thread().superseded().is_none());
        // A thread that works for a job takes the locks of the job.
        thread::scope(|scope| {
            scope.spawn(|| {
                keeps.clone().enter();
                let lock = Lock::take(&home.path().join("shared")).unwrap();
                fs::remove_file(home.path().join("shared")).unwrap();
                assert!(keeps.superseded().is_some());
                drop(lock);
            });
        });
    }

    #[test]
    fn a_lock_leaves_no_file_and_a_file_of_others_alone() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let path = home.path().join(".out.lock");
        let first = Lock::beside(&target).unwrap();
        assert_eq!(Lock::beside(&target).unwrap_err().kind(), Kind::Temporary);
        assert!(path.exists());
        drop(first);
        assert!(!path.exists());
        fs::write(&path, "{\"lockfileVersion\": 3}").unwrap();
        assert_eq!(Lock::beside(&target).unwrap_err().kind(), Kind::Exists);
        assert_eq!(fs::read(&path).unwrap(), b"{\"lockfileVersion\": 3}");
        fs::rename(&path, home.path().join("theirs")).unwrap();
        std::os::unix::fs::symlink("theirs", &path).unwrap();
        assert_eq!(Lock::beside(&target).unwrap_err().kind(), Kind::Exists);
        assert!(path.is_symlink());
    }

    #[test]
    fn a_lock_file_that_says_nothing_can_be_taken() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        for odd in ["", "\n", "{", "{\"token\":1}", "\0\0\0"] {
            fs::write(&path, odd).unwrap();
            Lock::take(&path).unwrap().check().unwrap();
        }
    }
}
