//! Notes for the journal: the ids of pages that were removed from the store.
//!
//! Pages that are remembered before a day has them stand in the folder `journal` of the store, which another process may
//! be writing. So a removal leaves a note there, while it holds the lock of the store. Whoever writes the journal
//! forgets these pages before it takes another one, and before it makes a day of them, and deletes the note then:
//!
//! ```text
//! journal/000007.journal               pages a, b, c
//! journal/removed/5e1f....ids          the digest of b
//! ```
//!
//! A page b that is remembered after that is a new page.

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::damage::damaged;
use crate::error::{At, Error, Kind, Result};
use crate::output::{Lock, files_in, sync_folder, write_file};
use crate::small_file;

/// The folder of the journal beside a store.
pub const JOURNAL: &str = "journal";
const NOTES: &str = "removed";
const SUFFIX: &str = ".ids";
const MAGIC: [u8; 12] = *b"DUPSNOTE\x01\0\0\0";
const LONGEST: u64 = 1 << 36;

#[derive(Debug)]
pub struct RemovalNote {
    path: PathBuf,
    ids: Vec<u128>,
}

impl RemovalNote {
    /// Leaves a note that these ids were removed, for the journal of `store`, if it has one. Returns whether it has.
    pub(super) fn leave(store: &Path, ids: &[u128], lock: &Lock) -> Result<bool> {
        let journal = store.join(JOURNAL);
        if ids.is_empty() || !journal.exists() {
            return Ok(false);
        }
        let notes = journal.join(NOTES);
        fs::create_dir_all(&notes).at(&notes)?;
        sync_folder(&journal)?;
        let digests: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        let mut bytes = [&MAGIC[..], &digests].concat();
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let name = format!("{:032x}{SUFFIX}", xxh3_128(&digests));
        write_file(&notes.join(name), &bytes, lock).map(|()| true)
    }

    pub fn all(journal: &Path) -> Result<Vec<RemovalNote>> {
        paths(journal)?.into_iter().map(RemovalNote::read).collect()
    }

    pub fn waits(store: &Path) -> Result<bool> {
        paths(&store.join(JOURNAL)).map(|paths| !paths.is_empty())
    }

    fn read(path: PathBuf) -> Result<RemovalNote> {
        let bytes = small_file::read(&path, LONGEST, Kind::BadData)?;
        let wrong = || -> Error {
            let error = damaged("this is not a note of removed pages").at(&path);
            error.help("delete it, and remove the pages again").job("store remove")
        };
        let (told, checksum) = bytes.split_last_chunk::<8>().ok_or_else(wrong)?;
        let digests = told.strip_prefix(&MAGIC).ok_or_else(wrong)?;
        let (digests, rest) = digests.as_chunks::<16>();
        let is_sound = xxh3_64(told) == u64::from_le_bytes(*checksum) && rest.is_empty();
        let ids: Vec<u128> = digests.iter().map(|id| u128::from_le_bytes(*id)).collect();
        if !is_sound || !ids.is_sorted() {
            return Err(wrong());
        }
        Ok(RemovalNote { path, ids })
    }

    pub fn names(&self, id: &str) -> bool {
        self.ids.binary_search(&xxh3_128(id.as_bytes())).is_ok()
    }

    /// Deletes the note: what it asks for is done.
    pub fn delete(&self) -> Result<()> {
        fs::remove_file(&self.path).at(&self.path)?;
        self.path.parent().map_or(Ok(()), sync_folder)
    }
}

fn paths(journal: &Path) -> Result<Vec<PathBuf>> {
    files_in(&journal.join(NOTES), |name| name.ends_with(SUFFIX))
}
