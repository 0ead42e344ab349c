//! A place in an object store, as a folder or file of this machine.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};

use crate::error::{At, Error, GivenName, Kind, Result};
use crate::object_storage::{Address, FarTree};
use crate::output::{FileId, Lock, parent_of};
use crate::small_file;

use super::cache::free_slot;
use super::files::{self, States};
use super::head::{DRAFT, Head};
use super::pull::pull;
use super::push::{self, push};
use super::single::Single;
use super::tree::{Listed, Tree, was_faster};

const NOTE_BYTES: u64 = 4 << 10;

pub(super) struct Mount {
    pub(super) address: Address,
    /// What stands for the address here: a folder, or a file if the address is one object. Nothing, if there is nothing yet.
    pub(super) place: PathBuf,
    pub(super) tree: Tree,
    pub(super) before: Option<Listed>,
    /// The list of what an unfinished run has written after that: this run, for its processes on other machines, or one that died.
    pub(super) draft: Option<Head>,
    /// The states of the files that are as the last of these lists says.
    pub(super) known: States,
    pub(super) single: Option<Single>,
    /// Keeps other processes out of the folder; none in a child of the process that holds it.
    pub(super) slot: Option<Lock>,
    home: Option<FileId>,
    /// By what every room knows the address and the objects of what is at the place; none until it is filled.
    known_as: Option<(GivenName, FarTree)>,
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
            home: FileId::at(&folder),
            known_as: None,
        };
        mount.begin()?;
        mount.note()?;
        Ok(mount)
    }

    pub(super) fn attach(address: Address, place: PathBuf) -> Result<Mount> {
        let tree = Tree::at(&address)?;
        let before = tree.listed()?;
        let single = before.is_none().then(|| Single::at(&tree.objects)).transpose()?;
        let home = FileId::at(parent_of(&place));
        let (draft, known, slot, known_as) = (None, States::new(), None, None);
        let mount =
            Mount { address, place, tree, before, draft, known, single, slot, home, known_as };
        if mount.is_noted()? { Ok(mount) } else { Err(was_faster(&mount.address)) }
    }

    pub(super) fn place_of(&self, wanted: &str) -> Option<PathBuf> {
        let rest = wanted.strip_prefix(&self.address.to_string())?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(self.place.join(rest)),
            None => rest.is_empty().then(|| self.place.clone()),
        }
    }

    pub(super) fn make_known(&mut self) {
        let (named, name) = self.name();
        let tree = FarTree::new(self.place.clone(), self.tree.objects.clone());
        self.known_as = Some((GivenName::new(named, name), tree));
    }

    /// The folder of the place, and its address: lists of a file are beside it, with names of their own. Of a bucket, which is in no
    /// folder, the place itself.
    fn name(&self) -> (PathBuf, PathBuf) {
        match self.address.parent() {
            Some(above) => (parent_of(&self.place).to_path_buf(), above.to_string().into()),
            None => (self.place.clone(), self.address.to_string().into()),
        }
    }

    fn state(&self) -> String {
        match (&self.before, &self.single) {
            (Some(listed), _) => listed.head.attempt.clone(),
            (None, Some(single)) => single.tags(),
            (None, None) => String::new(),
        }
    }

    fn note(&self) -> Result<()> {
        let path = note_of(&self.place);
        fs::write(&path, self.state()).at(&path)
    }

    fn is_noted(&self) -> Result<bool> {
        let noted = small_file::read_text(&note_of(&self.place), NOTE_BYTES, Kind::Internal)?;
        Ok(noted == self.state())
    }

    /// Fails with [`Kind::Temporary`] if the place is no longer the one that was filled. A folder that was deleted is not an
    /// empty tree.
    pub(super) fn check_held(&self) -> Result<()> {
        let home = parent_of(&self.place);
        let is_locked = self.slot.as_ref().is_none_or(|slot| slot.check().is_ok());
        if is_locked && FileId::at(home) == self.home && self.is_noted() == Ok(true) {
            return Ok(());
        }
        let what = "the copy in the cache was deleted or replaced meanwhile, so nothing is written";
        let error = Error::new(Kind::Temporary, what).at(home);
        Err(error.help("try again, and leave the cache alone until it has ended"))
    }

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

    pub(super) fn sweep(&mut self) -> Result<()> {
        if let Some(listed) = &self.before {
            self.before = Some(push::sweep(&self.tree, listed)?);
            self.note()?;
        }
        Ok(())
    }

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

fn note_of(place: &Path) -> PathBuf {
    parent_of(place).join(".attempt")
}

fn remove(place: &Path) -> Result<()> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(place).at(place),
        Ok(_) => fs::remove_file(place).at(place),
        Err(_) => Ok(()),
    }
}
