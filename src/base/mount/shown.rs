//! What process 0 of a run has in its mounts, shown to the processes on other machines.
//!
//! Each machine has mounts of its own. Process 0 writes the files that it has made below an attempt of its own, without putting the list of the tree,
//! and tells the others what its mounts hold; they fill theirs alike. So all of them work on the same files, and no reader sees any
//! before the commit.
//!
//! ```text
//! process 0                            object store                          another process
//! dupsieve-3fa9.../batch.seg --------> dupsieve-3fa9.../batch.seg
//! the list of these -----------------> _UNFINISHED (for a run after this)
//! the same list --------------------------------------------------------->   fetches what it lacks
//! ```

use serde::{Deserialize, Serialize};

use super::head::Head;
use super::mount::Mount;
use super::mounts::Mounts;
use super::push::push_draft;
use crate::error::{Error, Kind, Result};

#[derive(Debug, Serialize, Deserialize)]
struct ShownMount {
    address: String,
    list: Option<Head>,
    tags: String,
}

impl Mounts {
    /// What this process has in the mounts that it has filled for itself, as text for [`Mounts::see`]. What is new in them is written for the other
    /// processes to fetch.
    pub fn shown(&self) -> Result<String> {
        let mut mounts = self.all();
        let own = mounts.iter_mut().filter(|mount| mount.slot.is_some());
        let shown = own.map(Mount::show).collect::<Result<Vec<ShownMount>>>()?;
        Ok(serde_json::to_string(&shown).expect("lists are plain data"))
    }

    pub fn see(&self, shown: &str) -> Result<()> {
        let shown: Vec<ShownMount> = serde_json::from_str(shown).map_err(|cause| {
            Error::new(Kind::Internal, format!("not what is in mounts: {cause}"))
        })?;
        let lists = shown.iter().filter_map(|shown| shown.list.as_ref());
        if let Some(name) = lists.filter_map(Head::unsafe_name).next() {
            return Err(Error::new(Kind::BadData, "process 0 has shown a file outside its mounts")
                .found(name));
        }
        for mount in self.all().iter_mut().filter(|mount| mount.slot.is_some()) {
            let address = mount.address.to_string();
            if let Some(shown) = shown.iter().find(|shown| shown.address == address) {
                mount.see(shown)?;
            }
        }
        Ok(())
    }
}

impl Mount {
    fn show(&mut self) -> Result<ShownMount> {
        self.check_held()?;
        if self.place.is_dir() {
            let lists = (self.before.as_ref(), self.draft.as_ref());
            let draft = push_draft(&self.tree, lists, &self.place, &mut self.known)?;
            self.draft = draft.or(self.draft.take());
        }
        let address = self.address.to_string();
        Ok(ShownMount { address, list: self.list().cloned(), tags: self.tags() })
    }

    fn see(&mut self, shown: &ShownMount) -> Result<()> {
        if self.list() == shown.list.as_ref() && (shown.list.is_some() || self.tags() == shown.tags)
        {
            return Ok(());
        }
        self.before = None;
        self.draft.clone_from(&shown.list);
        self.fill()?;
        if shown.list.is_some() || self.tags() == shown.tags {
            return Ok(());
        }
        let what = "another run has written here since process 0 has looked";
        Err(Error::new(Kind::Temporary, what).at(&shown.address).help("try again"))
    }

    fn tags(&self) -> String {
        self.single.as_ref().map(|single| single.tags()).unwrap_or_default()
    }
}
