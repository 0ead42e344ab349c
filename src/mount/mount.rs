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
use super::head::{DRAFT, Head};
use super::pull::pull;
use super::push::{self, push};
use super::single::Single;
use super::tree::{Listed, Tree, nearest, was_faster};

/// The variable of the environment by which children find the mounts of their parent.
const INHERITED: &str = "DUPSIEVE_MOUNTS";

/// The most bytes of a note.
const NOTE_BYTES: u64 = 4 << 10;

/// The mounts of this process.
static MOUNTS: Mutex<Vec<Mount>> = Mutex::new(Vec::new());

/// One mount.
pub(super) struct Mount {
    pub(super) address: Address,
    /// What stands for the address here: a folder, or a file if the address is one object. Nothing, if there is nothing yet.
    pub(super) place: PathBuf,
    pub(super) tree: Tree,
    /// The list of the tree when it was mounted or written last.
    pub(super) before: Option<Listed>,
    /// The list of what an unfinished run has written after that: this run, for its processes on other machines, or one that died.
    pub(super) draft: Option<Head>,
    /// The states of the files that are as the last of these lists says.
    pub(super) known: States,
    /// The object at the address; none if a tree is there.
    pub(super) single: Option<Single>,
    /// Keeps other processes out of the folder; none in a child of the process that holds it.
    pub(super) slot: Option<Lock>,
    /// The folder that the place is in.
    home: Option<FileNumber>,
}

/// Mounts `address`, or the tree it is in, below the folder `cache`. Returns the path here that stands for it. Mounting an
/// address again changes nothing.
///
/// # Errors
/// Those of the object store and of the disk. Something else in the place of a tree is [`Kind::Exists`].
pub fn mount(address: &Address, cache: &Path) -> Result<PathBuf> {
    mount_with(address, cache, |_, _| Ok(None))
}

/// As [`mount`], for what is to be written. It begins with what a run has left that died after it had shown its files to processes on
/// other machines, if the tree is at `address` itself: what adds a file to a tree must not publish an unfinished day.
///
/// # Errors
/// Those of [`mount`].
pub fn mount_output(address: &Address, cache: &Path) -> Result<PathBuf> {
    mount_with(address, cache, Tree::draft)
}

fn mount_with(
    address: &Address,
    cache: &Path,
    draft: impl FnOnce(&Tree, Option<&Listed>) -> Result<Option<Head>>,
) -> Result<PathBuf> {
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
            let draft = if root == *address { draft(&tree, before.as_ref())? } else { None };
            Mount::new(root, tree, (before, draft), cache)?
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

/// Whether the file or folder at `path` is in a mount that this process has filled for itself. Then the other processes of a run, which
/// are on other machines, have it in mounts of their own.
pub fn is_own(path: &Path) -> bool {
    mounts().iter().any(|mount| mount.slot.is_some() && path.starts_with(&mount.place))
}

pub(super) fn mounts() -> MutexGuard<'static, Vec<Mount>> {
    MOUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Mount {
    pub(super) fn new(
        address: Address,
        tree: Tree,
        (before, draft): (Option<Listed>, Option<Head>),
        cache: &Path,
    ) -> Result<Mount> {
        let (slot, folder) = free_slot(&address, cache)?;
        let mut mount = Mount {
            address: address.clone(),
            place: folder.join(address.last()),
            tree,
            before,
            draft,
            known: States::new(),
            single: None,
            slot: Some(slot),
            home: FileNumber::of(&folder),
        };
        mount.begin()?;
        mount.note()?;
        Ok(mount)
    }

    /// The mount of the parent of this process, which has filled it.
    fn attach(address: Address, place: PathBuf) -> Result<Mount> {
        let tree = Tree::at(&address)?;
        let before = tree.listed()?;
        let single = before.is_none().then(|| Single::at(&tree.objects)).transpose()?;
        let (known, home) = (States::new(), FileNumber::of(parent_of(&place)));
        let draft = None;
        let mount = Mount { address, place, tree, before, draft, known, single, slot: None, home };
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
    pub(super) fn check_held(&self) -> Result<()> {
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

    /// Fills the place, with what an unfinished run has left if that can be had.
    fn begin(&mut self) -> Result<()> {
        let Some(draft) = &self.draft else { return self.fill() };
        tracing::info!("an earlier run has left {} files at {}", draft.files.len(), self.address);
        if let Err(error) = self.fill() {
            // What is gone or damaged stays so. A server that fails may be back when the command is run again.
            if ![Kind::Missing, Kind::Temporary, Kind::BadData].contains(&error.kind()) {
                return Err(error);
            }
            tracing::warn!("what the earlier run has left is made again: {error}");
            // The commit deletes a draft, so this one says what the tree has.
            let held = self.before.as_ref().map(|listed| listed.head.clone());
            self.draft = Some(held.unwrap_or_else(|| Head::new("", None)));
            self.fill()?;
        }
        if self.before.is_none() {
            self.single = Some(Single::at(&self.tree.objects)?);
        }
        Ok(())
    }

    /// The list that says what the place holds, but for what this process has changed since; none if there is no tree.
    pub(super) fn list(&self) -> Option<&Head> {
        self.draft.as_ref().or_else(|| self.before.as_ref().map(|listed| &listed.head))
    }

    /// Makes the place here equal to what is at the address.
    pub(super) fn fill(&mut self) -> Result<()> {
        if let Some(head) = self.list() {
            if !self.place.is_dir() {
                // The address was one object when this slot was filled last.
                remove(&self.place)?;
            }
            pull(&self.tree.objects, head, &self.place)?;
            self.known = files::states(&self.place, head.files.keys());
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
        let lists = (self.before.as_ref(), self.draft.as_ref());
        let pushed = push(&self.tree, lists, &self.place, &mut known, &is_held);
        self.known = known;
        let pushed = pushed?;
        if self.draft.take().is_some() && pushed.is_none() {
            self.tree.objects.delete(DRAFT)?;
        }
        let Some(listed) = pushed else { return Ok(false) };
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
