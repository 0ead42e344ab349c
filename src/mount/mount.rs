//! A place in an object store, as a folder or file of this machine.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{At, Error, Kind, Result, forget_name, give_name};
use crate::output::{Lock, parent_of};
use crate::small_file;
use crate::storage::{Address, add_tree, remove_tree};

use super::cache::{KEPT, free_slot, remove_unused};
use super::files::{self, FileNumber, States};
use super::pull::pull;
use super::push::{self, push};
use super::single::Single;
use super::tree::{Listed, Tree, was_faster};

/// The variable of the environment by which children find the mounts of their parent.
const INHERITED: &str = "DUPSIEVE_MOUNTS";

/// The most bytes of a note.
const NOTE_BYTES: u64 = 4 << 10;

/// The mounts of this process.
static MOUNTS: Mutex<Vec<Mount>> = Mutex::new(Vec::new());

/// One mount.
pub(super) struct Mount {
    address: Address,
    /// What stands for the address here: a folder, or a file if the address is one object. Nothing, if there is nothing yet.
    pub(super) place: PathBuf,
    tree: Tree,
    /// The list of the tree when it was mounted or written last.
    before: Option<Listed>,
    /// The states of the files that are as the list says.
    known: States,
    /// The object at the address; none if a tree is there.
    single: Option<Single>,
    /// Keeps other processes out of the folder; none in a child of the process that holds it.
    slot: Option<Lock>,
    /// The folder that the place is in.
    home: Option<FileNumber>,
}

/// Mounts `address`, or the tree it is in, below the folder `cache`. Returns the path here that stands for it. Mounting an
/// address again changes nothing.
///
/// # Errors
/// Those of the object store and of the disk. Something else in the place of a tree is [`Kind::Exists`].
pub fn mount(address: &Address, cache: &Path) -> Result<PathBuf> {
    let mut mounts = mounts();
    let wanted = address.to_string();
    if let Some(place) = mounts.iter().find_map(|mount| mount.place_of(&wanted)) {
        return Ok(place);
    }
    if mounts.is_empty() {
        remove_unused(cache, KEPT);
    }
    let mount = match inherited(&wanted) {
        Some((address, place)) => Mount::attach(address, place)?,
        None => {
            let (root, tree, before) = nearest(address)?;
            Mount::new(root, tree, before, cache)?
        }
    };
    let place = mount.place_of(&wanted).ok_or_else(|| {
        Error::new(Kind::Internal, "an address was mounted and is not there").at(wanted)
    })?;
    let (named, name) = mount.name();
    give_name(named, name);
    add_tree(mount.place.clone(), mount.tree.objects.clone());
    mounts.push(mount);
    Ok(place)
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
    for mount in mounts().drain(..) {
        forget_name(&mount.name().0);
        remove_tree(&mount.place);
    }
}

fn mounts() -> MutexGuard<'static, Vec<Mount>> {
    MOUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tree that `address` is in; if there is none, the tree that can be made there.
pub(super) fn nearest(address: &Address) -> Result<(Address, Tree, Option<Listed>)> {
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
    pub(super) fn new(
        address: Address,
        tree: Tree,
        before: Option<Listed>,
        cache: &Path,
    ) -> Result<Mount> {
        let (slot, folder) = free_slot(&address, cache)?;
        let mut mount = Mount {
            address: address.clone(),
            place: folder.join(address.last()),
            tree,
            before,
            known: States::new(),
            single: None,
            slot: Some(slot),
            home: FileNumber::of(&folder),
        };
        mount.fill()?;
        mount.note()?;
        Ok(mount)
    }

    /// The mount of the parent of this process, which has filled it.
    fn attach(address: Address, place: PathBuf) -> Result<Mount> {
        let tree = Tree::at(&address)?;
        let before = tree.listed()?;
        let single = before.is_none().then(|| Single::at(&tree.objects)).transpose()?;
        let (known, home) = (States::new(), FileNumber::of(parent_of(&place)));
        let mount = Mount { address, place, tree, before, known, single, slot: None, home };
        match mount.is_noted()? {
            true => Ok(mount),
            false => Err(was_faster(&mount.address)),
        }
    }

    /// The path here that stands for `wanted`; none if that is not in this mount.
    fn place_of(&self, wanted: &str) -> Option<PathBuf> {
        let rest = wanted.strip_prefix(&self.address.to_string())?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(self.place.join(rest)),
            None => rest.is_empty().then(|| self.place.clone()),
        }
    }

    /// The folder of the place, and its address: lists of a file are beside it, with names of their own. Of a bucket, which is in no
    /// folder, the place itself.
    fn name(&self) -> (PathBuf, PathBuf) {
        match self.address.parent() {
            Some(above) => (parent_of(&self.place).to_path_buf(), above.to_string().into()),
            None => (self.place.clone(), self.address.to_string().into()),
        }
    }

    /// What is at the address, as the note beside the place says it.
    fn state(&self) -> String {
        match (&self.before, &self.single) {
            (Some(listed), _) => listed.head.attempt.clone(),
            (None, Some(single)) => single.tags(),
            (None, None) => String::new(),
        }
    }

    /// Notes, for children, what the place stands for.
    fn note(&self) -> Result<()> {
        let path = note_of(&self.place);
        fs::write(&path, self.state()).at(&path)
    }

    /// Whether the note says what this process has seen at the address.
    fn is_noted(&self) -> Result<bool> {
        let noted = small_file::read_text(&note_of(&self.place), NOTE_BYTES, Kind::Internal)?;
        Ok(noted == self.state())
    }

    /// Fails with [`Kind::Temporary`] if the place is no longer the one that was filled. A folder that was deleted is not an
    /// empty tree.
    fn check_held(&self) -> Result<()> {
        let home = parent_of(&self.place);
        let is_locked = self.slot.as_ref().is_none_or(|slot| slot.check().is_ok());
        if is_locked && FileNumber::of(home) == self.home && self.is_noted() == Ok(true) {
            return Ok(());
        }
        Err(Error::new(
            Kind::Temporary,
            "the copy in the cache was deleted or replaced meanwhile, so nothing is written",
        )
        .at(home)
        .help("try again, and leave the cache alone until it has ended"))
    }

    /// Makes the place here equal to what is at the address.
    fn fill(&mut self) -> Result<()> {
        if let Some(listed) = &self.before {
            if !self.place.is_dir() {
                // The address was one object when this slot was filled last.
                remove(&self.place)?;
            }
            pull(&self.tree.objects, &listed.head, &self.place)?;
            self.known = files::states(&self.place, listed.head.files.keys());
            return Ok(());
        }
        remove(&self.place)?;
        self.single = Some(Single::pull(&self.tree.objects, &self.place)?);
        Ok(())
    }

    pub(super) fn publish(&mut self) -> Result<()> {
        self.check_held()?;
        let pushed = match &mut self.single {
            Some(single) if self.place.is_file() => single.push(&self.place),
            _ => self.publish_tree(),
        };
        // A cache that was deleted meanwhile explains every other failure.
        if pushed.map_err(|error| self.check_held().err().unwrap_or(error))? {
            tracing::info!("written to {}", self.address);
            self.note()?;
        }
        Ok(())
    }

    /// Returns whether anything had changed.
    fn publish_tree(&mut self) -> Result<bool> {
        let mut known = mem::take(&mut self.known);
        let is_held = || self.check_held();
        let pushed = push(&self.tree, self.before.as_ref(), &self.place, &mut known, &is_held);
        self.known = known;
        let Some(listed) = pushed? else { return Ok(false) };
        self.before = Some(listed);
        Ok(true)
    }
}

/// The variable of the environment, and its value, by which children find the mounts of this process; none without mounts.
pub fn inheritance() -> Option<(&'static str, String)> {
    let mounts = mounts();
    let all = mounts.iter().map(|mount| (mount.address.with_secrets(), &mount.place));
    let all: Vec<_> = all.collect();
    let told = serde_json::to_string(&all).expect("addresses and paths of UTF-8 are plain data");
    (!all.is_empty()).then_some((INHERITED, told))
}

/// The mount of the parent of this process that `wanted` is in.
fn inherited(wanted: &str) -> Option<(Address, PathBuf)> {
    let told = std::env::var(INHERITED).ok()?;
    let all: Vec<(PathBuf, PathBuf)> = serde_json::from_str(&told).ok()?;
    let all = all.into_iter().filter_map(|(told, place)| Some((Address::of(&told).ok()??, place)));
    all.into_iter().find(|(address, _)| {
        let rest = wanted.strip_prefix(&address.to_string());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// The file beside a mount that names the list it stands for.
fn note_of(place: &Path) -> PathBuf {
    parent_of(place).join(".attempt")
}

/// Removes what is at `place`, if anything.
fn remove(place: &Path) -> Result<()> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(place).at(place),
        Ok(_) => fs::remove_file(place).at(place),
        Err(_) => Ok(()),
    }
}
