//! A place in an object store, as a folder or file of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{At, Error, Kind, Result};
use crate::output::{Lock, parent_of};
use crate::small_file;
use crate::storage::{self, Address, Mounted, Objects};

use super::files::{self, States, digest};
use super::pull::{self, RemoteFiles};
use super::push::{self, push};
use super::tree::{Listed, Tree, was_faster};

/// How many processes of this machine can have one address mounted at the same time.
const SLOTS: u32 = 64;

/// The variable of the environment by which children find the mounts of their parent.
const INHERITED: &str = "DUPSIEVE_MOUNTS";

/// The most bytes of a note.
const NOTE_BYTES: u64 = 64;

/// The mounts of this process.
static MOUNTS: Mutex<Vec<Mount>> = Mutex::new(Vec::new());

/// One mount.
struct Mount {
    address: Address,
    /// What stands for the address here: a folder, or a file if the address is one object. Nothing, if there is nothing yet.
    place: PathBuf,
    tree: Tree,
    /// The list of the tree when it was mounted or written last.
    before: Option<Listed>,
    /// The files whose bytes stay at the address.
    remote: RemoteFiles,
    /// The states of the files that are as the list says.
    known: States,
    /// The digest of the file when it was mounted or written last.
    file: Option<String>,
    /// Keeps other processes out of the folder; none in a child of the process that holds it.
    _slot: Option<Lock>,
}

/// Mounts `address`, or the tree it is in, below the folder `cache`. Returns the path here that stands for it. Mounting an
/// address again changes nothing.
///
/// # Errors
/// Those of the object store and of the disk. Something else in the place of a tree is [`Kind::Exists`].
pub fn mount(address: &Address, cache: &Path) -> Result<PathBuf> {
    let mut mounts = mounts();
    let wanted = address.to_string();
    if let Some(place) = storage::place_of(&wanted) {
        return Ok(place);
    }
    let mount = match inherited(&wanted) {
        Some((address, place)) => Mount::attach(&address, place)?,
        None => {
            let (root, tree, before) = nearest(address)?;
            Mount::new(root, tree, before, cache)?
        }
    };
    let (address, place) = (mount.address.to_string(), mount.place.clone());
    storage::add_mount(Mounted { address, place, remote: mount.remote.clone() });
    mounts.push(mount);
    storage::place_of(&wanted).ok_or_else(|| {
        Error::new(Kind::Internal, "an address was mounted and is not there").at(wanted)
    })
}

/// Writes what has changed in the mounts of this process to where they belong, each as a whole or not at all.
///
/// # Errors
/// Those of the object store and of the disk; [`Kind::Temporary`] if another run has written there since.
pub fn publish() -> Result<()> {
    mounts().iter_mut().try_for_each(Mount::publish)
}

/// Deletes from the object stores what the trees of this process no longer name: without it, that stays until the next change, for
/// those who read what was there before.
///
/// # Errors
/// Those of the object store; [`Kind::Temporary`] if another run has written there since.
pub fn sweep() -> Result<()> {
    mounts().iter_mut().try_for_each(|mount| {
        if let Some(listed) = &mount.before {
            mount.before = Some(push::sweep(&mount.tree, listed)?);
            mount.note()?;
        }
        Ok(())
    })
}

/// Lets go of all mounts of this process, without publishing anything. Their folders stay, for the next mount to begin with.
pub fn unmount() {
    mounts().drain(..).for_each(|mount| storage::remove_mount(&mount.address.to_string()));
}

fn mounts() -> MutexGuard<'static, Vec<Mount>> {
    MOUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tree that `address` is in; if there is none, the tree that can be made there.
fn nearest(address: &Address) -> Result<(Address, Tree, Option<Listed>)> {
    let tree = Tree::at(address)?;
    if let Some(listed) = tree.listed()? {
        return Ok((address.clone(), tree, Some(listed)));
    }
    let mut above = address.parent();
    while let Some(address) = above {
        let tree = Tree::at(&address)?;
        match tree.listed() {
            Ok(Some(listed)) => return Ok((address, tree, Some(listed))),
            // What others have there is not ours to look at, or not allowed.
            Err(error) if ![Kind::Exists, Kind::Permission].contains(&error.kind()) => {
                return Err(error);
            }
            _ => above = address.parent(),
        }
    }
    Ok((address.clone(), tree, None))
}

impl Mount {
    fn new(address: Address, tree: Tree, before: Option<Listed>, cache: &Path) -> Result<Mount> {
        let (slot, folder) = free_slot(&address, cache)?;
        let place = folder.join(address.last());
        let mut mount = Mount {
            address,
            place,
            tree,
            before,
            remote: RemoteFiles::new(),
            known: States::new(),
            file: None,
            _slot: Some(slot),
        };
        mount.fill()?;
        mount.note()?;
        Ok(mount)
    }

    /// The mount of the parent of this process, which has filled it.
    fn attach(address: &str, place: PathBuf) -> Result<Mount> {
        let address = Address::of(Path::new(address))?.ok_or_else(|| {
            Error::new(Kind::Internal, "the mounts of the parent cannot be read").found(address)
        })?;
        let tree = Tree::at(&address)?;
        let before = tree.listed()?;
        let attempt = before.as_ref().map_or("", |listed| &listed.head.attempt);
        let noted = note_of(&place);
        if small_file::read_text(&noted, NOTE_BYTES, Kind::Internal)? != attempt {
            return Err(was_faster(&address));
        }
        let remote = match &before {
            Some(listed) => pull::placed(&tree.objects, &listed.head, &place)?,
            None => RemoteFiles::new(),
        };
        let names = remote.keys().filter_map(|path| path.strip_prefix(&place).ok()?.to_str());
        let names: Vec<String> = names.map(str::to_owned).collect();
        let known = files::states(&place, names.iter());
        // A file may be here that no earlier child could write: it is written again.
        let file = None;
        Ok(Mount { address, place, tree, before, remote, known, file, _slot: None })
    }

    /// Notes, for children, which list the folder stands for.
    fn note(&self) -> Result<()> {
        let attempt = self.before.as_ref().map_or("", |listed| &listed.head.attempt);
        let path = note_of(&self.place);
        fs::write(&path, attempt).at(&path)
    }

    /// Makes the place here equal to what is at the address.
    fn fill(&mut self) -> Result<()> {
        if let Some(listed) = &self.before {
            self.remote = pull::pull(&self.tree.objects, &listed.head, &self.place)?;
            self.known = files::states(&self.place, listed.head.files.keys());
            return Ok(());
        }
        remove(&self.place)?;
        if let Some(object) = self.tree.objects.find("")? {
            tracing::info!("fetching {} ({} bytes)", self.address, object.bytes);
            self.file = Some(pull::fetch_object(&self.tree.objects.file(&object)?, &self.place)?);
        }
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        if self.place.is_file() {
            return self.publish_file();
        }
        let pushed = push(&self.tree, self.before.as_ref(), &self.place, &mut self.known)?;
        if let Some(listed) = pushed {
            tracing::info!("written to {}", self.address);
            self.before = Some(listed);
            self.note()?;
        }
        Ok(())
    }

    /// Writes an output that is one file, and what lies beside it. The file itself comes last.
    fn publish_file(&mut self) -> Result<()> {
        let now = digest(&self.place)?;
        if self.file.as_ref() == Some(&now) {
            return Ok(());
        }
        for (suffix, path) in beside(&self.place)? {
            let address = self.address.with_key(&format!("{}{suffix}", self.address.key()));
            Objects::open(&address)?.upload("", &path)?;
        }
        self.tree.objects.upload("", &self.place)?;
        tracing::info!("written to {}", self.address);
        self.file = Some(now);
        Ok(())
    }
}

/// The variable of the environment, and its value, by which children find the mounts of this process; none without mounts.
pub fn inheritance() -> Option<(&'static str, String)> {
    let mounts = mounts();
    let all = mounts.iter().map(|mount| (mount.address.to_string(), &mount.place));
    let all: Vec<_> = all.collect();
    let told = serde_json::to_string(&all).expect("addresses and paths of UTF-8 are plain data");
    (!all.is_empty()).then_some((INHERITED, told))
}

/// The mount of the parent of this process that `wanted` is in.
fn inherited(wanted: &str) -> Option<(String, PathBuf)> {
    let told = std::env::var(INHERITED).ok()?;
    let all: Vec<(String, PathBuf)> = serde_json::from_str(&told).ok()?;
    all.into_iter().find(|(address, _)| {
        wanted.strip_prefix(address).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// The file beside a mount that names the list it stands for.
fn note_of(place: &Path) -> PathBuf {
    parent_of(place).join(".attempt")
}

/// The files whose names begin with that of `file` and a dot: what the name adds, and the path.
fn beside(file: &Path) -> Result<Vec<(String, PathBuf)>> {
    let folder = parent_of(file);
    let name = format!("{}.", file.file_name().unwrap_or_default().to_string_lossy());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).at(folder)? {
        let path = entry.at(folder)?.path();
        let rest =
            path.file_name().and_then(|it| it.to_str()?.strip_prefix(&name).map(str::to_owned));
        if let Some(rest) = rest.filter(|_| path.is_file()) {
            found.push((format!(".{rest}"), path));
        }
    }
    found.sort();
    Ok(found)
}

/// Removes what is at `place`, if anything.
fn remove(place: &Path) -> Result<()> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(place).at(place),
        Ok(_) => fs::remove_file(place).at(place),
        Err(_) => Ok(()),
    }
}

/// A folder below `cache` for `address` that no other process uses, and the lock that keeps it so.
fn free_slot(address: &Address, cache: &Path) -> Result<(Lock, PathBuf)> {
    fs::create_dir_all(cache).at(cache)?;
    let cache = cache.canonicalize().at(cache)?;
    let home = cache.join(format!("{:016x}", xxh3_64(address.to_string().as_bytes())));
    fs::create_dir_all(&home).at(&home)?;
    let mut held = None;
    for slot in 0..SLOTS {
        match Lock::take(&home.join(format!("{slot}.lock"))) {
            Ok(lock) => {
                let folder = home.join(slot.to_string());
                fs::create_dir_all(&folder).at(&folder)?;
                return Ok((lock, folder));
            }
            Err(error) if error.kind() == Kind::Temporary => held = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(held.expect("there is at least one slot"))
}
