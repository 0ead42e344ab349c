//! All mounts of one user of the library: a program has one [`Mounts`], and those of two users know nothing of each other.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use super::cache::{KEPT, remove_unused};
use super::head::Head;
use super::mount::Mount;
use super::tree::{Listed, Tree, nearest};
use crate::error::Result;
use crate::object_storage::Address;
use crate::parallel::lock;

/// The variable of the environment by which children find the mounts of their parent.
const INHERITED: &str = "DUPSIEVE_MOUNTS";

/// Places in object stores that are mounted below one folder. When it is dropped, all of them are let go, and nothing is published: their
/// folders stay, for the next mount to begin with.
pub struct Mounts {
    cache: PathBuf,
    mounts: Mutex<Vec<Mount>>,
}

impl Mounts {
    pub fn new(cache: PathBuf) -> Mounts {
        Mounts { cache, mounts: Mutex::default() }
    }

    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Mounts `address`, or the tree it is in. Returns the path here that stands for it. Mounting an address again changes nothing.
    pub fn mount(&self, address: &Address) -> Result<PathBuf> {
        self.mount_with(address, |_, _| Ok(None))
    }

    /// As [`Mounts::mount`], for what is to be written. It begins with what a run has left that died after it had shown its files to processes
    /// on other machines, if the tree is at `address` itself: what adds a file to a tree must not publish an unfinished day.
    pub fn mount_output(&self, address: &Address) -> Result<PathBuf> {
        self.mount_with(address, Tree::draft)
    }

    fn mount_with(
        &self,
        address: &Address,
        draft: impl FnOnce(&Tree, Option<&Listed>) -> Result<Option<Head>>,
    ) -> Result<PathBuf> {
        let mut mounts = self.all();
        let wanted = address.to_string();
        if let Some(place) = mounts.iter().find_map(|mount| mount.place_of(&wanted)) {
            return Ok(place);
        }
        if mounts.is_empty() {
            remove_unused(&self.cache, KEPT);
        }
        let mut mount = match inherited(&wanted) {
            Some((address, place)) => Mount::attach(address, place)?,
            None => {
                let (root, tree, before) = nearest(address)?;
                let draft = if root == *address { draft(&tree, before.as_ref())? } else { None };
                Mount::new(root, tree, (before, draft), &self.cache)?
            }
        };
        let place = mount.place_of(&wanted).expect("the address is in what was mounted for it");
        mount.make_known();
        mounts.push(mount);
        Ok(place)
    }

    pub fn publish(&self) -> Result<()> {
        self.all().iter_mut().try_for_each(Mount::publish)
    }

    /// Deletes from the object stores what the trees no longer name: without it, that stays until the next change, for
    /// those who read what was there before.
    pub fn sweep(&self) -> Result<()> {
        self.all().iter_mut().try_for_each(Mount::sweep)
    }

    /// Whether the file or folder at `path` is in a mount that this process has filled for itself. Then the other processes of a run, which
    /// are on other machines, have it in mounts of their own.
    pub fn is_own(&self, path: &Path) -> bool {
        self.all().iter().any(|mount| mount.slot.is_some() && path.starts_with(&mount.place))
    }

    pub fn inheritance(&self) -> Option<(&'static str, String)> {
        let mounts = self.all();
        let all = mounts.iter().map(|mount| (mount.address.with_secrets(), &mount.place));
        let all: Vec<_> = all.collect();
        let told =
            serde_json::to_string(&all).expect("addresses and paths of UTF-8 are plain data");
        (!all.is_empty()).then_some((INHERITED, told))
    }

    pub(super) fn all(&self) -> MutexGuard<'_, Vec<Mount>> {
        lock(&self.mounts)
    }
}

fn inherited(wanted: &str) -> Option<(Address, PathBuf)> {
    let told = std::env::var(INHERITED).ok()?;
    let all: Vec<(PathBuf, PathBuf)> = serde_json::from_str(&told).ok()?;
    let all = all.into_iter().filter_map(|(told, place)| Some((Address::of(&told).ok()??, place)));
    all.into_iter().find(|(address, _)| {
        let rest = wanted.strip_prefix(&address.to_string());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
