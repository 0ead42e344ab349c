//! The rows that a version hides because pages of later days hold them.
//!
//! A version that hides such rows names a file of the folder `replaced` by its digest (see `digest_files`). Versions that hide the
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

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::damage::damaged;
use super::digest::Digest;
use super::digest_files::Listed;
use super::row_sets::{RowSetHead, RowSets, take};
use crate::error::Result;
use crate::output::Lock;

const MAGIC: [u8; 12] = *b"DUPSHELD\x01\0\0\0";

#[derive(Serialize, Deserialize)]
struct Head {
    files: Vec<RowSetHead>,
}

pub(super) fn write(store: &Path, rows: &RowSets, lock: &Lock) -> Result<Option<Digest>> {
    (!rows.is_empty()).then(|| Listed::Rows.write(store, &bytes(rows), lock)).transpose()
}

pub(super) fn read(store: &Path, digest: Option<Digest>) -> Result<RowSets> {
    let Some(digest) = digest else { return Ok(RowSets::default()) };
    let bytes = Listed::Rows.read(store, digest)?;
    parse(&bytes).map_err(|error| error.at(Listed::Rows.path(store, digest)))
}

fn bytes(rows: &RowSets) -> Vec<u8> {
    let (files, bitmaps) = rows.bytes();
    let head = serde_json::to_vec(&Head { files }).expect("a head is plain data");
    [&MAGIC[..], &(head.len() as u32).to_le_bytes(), &head, &bitmaps].concat()
}

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
