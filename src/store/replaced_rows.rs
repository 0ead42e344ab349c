//! The folder `replaced`: the rows that a version hides because pages of later days hold them.
//!
//! A version that hides such rows names a file of this folder by its digest. The file never changes, and versions that hide the
//! same rows share it. So a version shows what it showed when it was made, also after a rollback to it:
//!
//! ```text
//! version   2: a          3: a b          4: a b c        5: a b         back to version 3
//! replaced                b holds a 7     and c a 9
//! file                    5e1f....rows    7c0d....rows    5e1f....rows
//! rows                    a 7             a 7 9           a 7
//! ```
//!
//! A merge leaves the rows out, and then the file of the version after it does not name them.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::damage::damaged;
use super::digest::Digest;
use super::row_sets::{RowSetHead, RowSets, take};
use crate::error::{At, Error, Kind, Result};
use crate::output::{Lock, entries_in, sync_folder, write_file};
use crate::small_file;

/// The folder of a store for them.
pub(super) const REPLACED: &str = "replaced";
/// The end of their names.
const SUFFIX: &str = ".rows";
/// Their first bytes, and the version of the format.
const MAGIC: [u8; 12] = *b"DUPSHELD\x01\0\0\0";
/// The most bytes of such a file, since it is read whole.
const LONGEST: u64 = 2 << 30;

/// The part of the file that says how long the others are.
#[derive(Serialize, Deserialize)]
struct Head {
    files: Vec<RowSetHead>,
}

/// Writes a file with these rows into the store at `store`. Returns its digest; none if there are no rows.
///
/// # Errors
/// A file that would be too long is [`Kind::Usage`].
pub(super) fn write(store: &Path, rows: &RowSets, lock: &Lock) -> Result<Option<Digest>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let bytes = bytes(rows);
    let digest = Digest::of(&bytes);
    let (folder, path) = (store.join(REPLACED), path(store, digest));
    if bytes.len() as u64 > LONGEST {
        return Err(Error::new(Kind::Usage, "too many pages were replaced in this store")
            .at(path)
            .expected(format_args!("a list of at most {LONGEST} bytes"))
            .found(bytes.len())
            .help("merge the segments, which leaves these pages out")
            .job("store compact"));
    }
    if !folder.exists() {
        fs::create_dir_all(&folder).at(&folder)?;
        sync_folder(store)?;
    }
    write_file(&path, &bytes, lock)?;
    Ok(Some(digest))
}

/// The rows in the file with that digest; no rows without a digest.
///
/// # Errors
/// A file that is not there is [`Kind::Missing`], and damage is [`Kind::BadData`].
pub(super) fn read(store: &Path, digest: Option<Digest>) -> Result<RowSets> {
    let Some(digest) = digest else { return Ok(RowSets::default()) };
    let path = path(store, digest);
    let bytes = small_file::read(&path, LONGEST, Kind::BadData).map_err(|error| {
        if error.kind() != Kind::Missing {
            return error;
        }
        Error::new(Kind::Missing, "the store has lost a list of replaced pages")
            .at(&path)
            .help("restore it from a copy, or roll back to a version that does not need it")
    })?;
    let found = Digest::of(&bytes);
    if found != digest {
        return Err(damaged("this is not the list of replaced pages that the manifest names")
            .at(path)
            .expected(digest)
            .found(found));
    }
    parse(&bytes).map_err(|error| error.at(path))
}

/// The paths of all such files of the store at `store`.
pub(super) fn paths(store: &Path) -> Result<Vec<PathBuf>> {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let digest = name.strip_suffix(SUFFIX).and_then(|digest| digest.parse::<Digest>().ok());
        digest.is_some_and(|digest| self::path(store, digest) == *path)
    };
    let entries = entries_in(&store.join(REPLACED))?;
    Ok(entries.iter().map(DirEntry::path).filter(is_ours).collect())
}

/// The path of the file with that digest.
pub(super) fn path(store: &Path, digest: Digest) -> PathBuf {
    store.join(REPLACED).join(format!("{digest}{SUFFIX}"))
}

/// The whole file.
fn bytes(rows: &RowSets) -> Vec<u8> {
    let (files, bitmaps) = rows.bytes();
    let head = serde_json::to_vec(&Head { files }).expect("a head is plain data");
    [&MAGIC[..], &(head.len() as u32).to_le_bytes(), &head, &bitmaps].concat()
}

/// Reads the whole file.
pub(super) fn parse(mut rest: &[u8]) -> Result<RowSets> {
    if take(&mut rest, MAGIC.len() as u64)? != MAGIC {
        return Err(damaged("this is not a list of replaced pages"));
    }
    let head = take(&mut rest, 4)?.try_into().map_or(0, u32::from_le_bytes);
    let head: Head = serde_json::from_slice(take(&mut rest, head.into())?)
        .map_err(|cause| damaged(&format!("the list of replaced pages is wrong: {cause}")))?;
    let rows = RowSets::take(head.files, &mut rest)?;
    if rows.is_empty() || !rest.is_empty() {
        return Err(damaged("the list of replaced pages has another length than it says"));
    }
    Ok(rows)
}
