//! The file `REMOVED`: the pages that were taken out of a store for good.
//!
//! It lies beside the versions and holds for each of them, so a rollback brings no page back. For every file
//! of a version it has the rows to leave out, and for every removed id its digest, with the day up to
//! which it stays away:
//!
//! ```text
//! segments/2026-11-20-5e1f....seg    rows 17, 20045          whoever reads the file leaves them out
//! segments/compacted-000007.seg      rows 90, 71002
//! ids   7c0d12... until 2026-11-21   a page of that id and of a later day is a new page
//! ```
//!
//! The file is replaced by one rename. Who opens a version reads it before the segments are opened, and what is no longer
//! needed leaves it after the segments have gone. So nobody meets a removed row without its mark.
//!
//! It counts the removals, and `CURRENT` repeats the count. So a lost or an old list is noticed. The list is written first:
//!
//! ```text
//! REMOVED   0   1   1   2   2      a removal that died between the two is done again
//! CURRENT   0   0   1   1   2      whoever reads `CURRENT` first finds at least so many in `REMOVED`
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::damage::damaged;
use super::digest::Digest;
use super::pointer::{CURRENT, Pointer};
use super::row_sets::{RowSetHead, RowSets, read_list, read_sets, write_list, write_sets};
use crate::day::Day;
use crate::document::IdSieve;
use crate::error::{Error, Kind, Result};
use crate::frames::Magic;
use crate::output::{Lock, write_file};
use crate::small_file;

const REMOVED: &str = "REMOVED";
const MAGIC: Magic = *b"DUPSGONE\x01\0\0\0";
const CHECKSUM: usize = 8;
/// The most bytes it may have, since it is read whole: those of a hundred million ids. No longer one is written.
const LONGEST: u64 = 2 << 30;
const ID_BYTES: usize = 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Removals {
    pub(super) count: u64,
    pub(super) files: RowSets,
    ids: BTreeMap<u128, Day>,
}

#[derive(Serialize, Deserialize)]
struct RemovalsHead {
    removals: u64,
    files: Vec<RowSetHead>,
    ids: u64,
}

impl Removals {
    /// What was removed from the store at `store`; nothing if it has no such file.
    pub(crate) fn read(store: &Path) -> Result<Arc<Removals>> {
        // First, because the list of a removal is written before `CURRENT` expects it.
        let expected = expected(store)?;
        let path = store.join(REMOVED);
        let removals = match small_file::read(&path, LONGEST, Kind::BadData) {
            Err(error) if error.kind() == Kind::Missing => Removals::default(),
            bytes => Removals::parse(&bytes?).map_err(|error| error.at(&path))?,
        };
        match removals.count {
            0 if expected > 0 => {
                Err(lost(Kind::Missing, "the store has lost its list of removed pages").at(path))
            }
            found if found < expected => {
                let error = lost(Kind::BadData, "this list of removed pages is too old").at(path);
                Err(error.expected(format_args!("{expected} removals")).found(found))
            }
            _ => Ok(Arc::new(removals)),
        }
    }

    pub(super) fn write(&self, store: &Path, lock: &Lock) -> Result<()> {
        let (path, bytes) = (store.join(REMOVED), self.bytes());
        if bytes.len() as u64 > LONGEST {
            return Err(Error::new(Kind::Usage, "too many pages were removed from this store")
                .at(path)
                .expected(format_args!("a list of at most {LONGEST} bytes, 20 for each id"))
                .found(bytes.len())
                .help("make another store of the pages that stay"));
        }
        write_file(&path, &bytes, lock)
    }

    pub(super) fn counted(self) -> Removals {
        Removals { count: self.count + 1, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.ids.is_empty()
    }

    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = (Digest, Day)> {
        self.ids.iter().map(|(&id, &until)| (Digest(id), until))
    }

    pub(super) fn search(&self) -> impl Fn(&str) -> Option<(Digest, Day)> + Sync {
        let sieve = IdSieve::of(self.ids.keys().copied());
        move |id| {
            let digest = xxh3_128(id.as_bytes());
            let until = sieve.may_have(digest).then(|| self.ids.get(&digest)).flatten();
            until.map(|&until| (Digest(digest), until))
        }
    }

    pub(super) fn has(&self, id: &str, day: Day) -> bool {
        self.has_digest(xxh3_128(id.as_bytes()), day)
    }

    pub(super) fn has_digest(&self, id: u128, day: Day) -> bool {
        self.ids.get(&id).is_some_and(|until| day <= *until)
    }

    pub(super) fn reaches(&self, day: Day) -> bool {
        self.ids.values().any(|until| day <= *until)
    }

    pub(super) fn add_ids(&mut self, ids: &[u128], until: Day) -> bool {
        let mut is_new = false;
        for &id in ids {
            let last = self.ids.get(&id).copied();
            if last.is_none_or(|last| last < until) {
                self.ids.insert(id, until);
                is_new = true;
            }
        }
        is_new
    }

    fn bytes(&self) -> Vec<u8> {
        let (files, bitmaps) = write_sets(&self.files);
        let head = RemovalsHead { removals: self.count, files, ids: self.ids.len() as u64 };
        let mut bytes = write_list(&MAGIC, &head, &bitmaps);
        for (id, until) in &self.ids {
            bytes.extend(id.to_le_bytes());
            bytes.extend((until.number() as u32).to_le_bytes());
        }
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Removals> {
        let wrong = || damaged("this is not a list of removed pages");
        let (mut rest, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(wrong)?;
        if xxh3_64(rest) != u64::from_le_bytes(*checksum) {
            return Err(damaged("the checksum of the list of removed pages is wrong"));
        }
        let head: RemovalsHead = read_list(&MAGIC, "removed", &mut rest)?;
        let mut removals = Removals { count: head.removals, ..Removals::default() };
        if head.removals == 0 {
            return Err(damaged("the list of removed pages says that nothing was removed"));
        }
        removals.files = read_sets(head.files, &mut rest)?;
        if rest.len() as u64 != head.ids.saturating_mul(ID_BYTES as u64) {
            return Err(damaged("the list of removed pages has another length than it says"));
        }
        let mut last = None;
        for id in rest.chunks_exact(ID_BYTES) {
            let (id, until) = id.split_first_chunk::<16>().ok_or_else(wrong)?;
            let until = until.try_into().map_or(0, u32::from_le_bytes);
            let until = Day::of_number(until.into()).ok_or_else(wrong)?;
            let id = u128::from_le_bytes(*id);
            if last.replace(id).is_some_and(|last| last >= id) {
                return Err(damaged("the removed ids are out of order"));
            }
            removals.ids.insert(id, until);
        }
        Ok(removals)
    }
}

fn expected(store: &Path) -> Result<u64> {
    match Pointer::read(store, CURRENT) {
        Err(error) if error.kind() == Kind::Missing => Ok(0),
        pointer => Ok(pointer?.removals),
    }
}

fn lost(kind: Kind, what: &str) -> Error {
    Error::new(kind, what).help(
        "restore it from a copy; without one, take the last number out of `CURRENT` and remove again all pages \
         that were removed, by their ids",
    )
    .job("store remove")
}
