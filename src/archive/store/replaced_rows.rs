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
use super::row_sets::{RowSetHead, RowSets, read_list, read_sets, write_list, write_sets};
use crate::error::Result;
use crate::frames::Magic;
use crate::output::Lock;

const MAGIC: Magic = *b"DUPSHELD\x01\0\0\0";

#[derive(Serialize, Deserialize)]
struct Head {
    files: Vec<RowSetHead>,
}

pub(super) fn write(store: &Path, rows: &RowSets, lock: &Lock) -> Result<Option<Digest>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let (files, bitmaps) = write_sets(rows);
    Listed::Rows.write(store, &write_list(&MAGIC, &Head { files }, &bitmaps), lock).map(Some)
}

pub(super) fn read(store: &Path, digest: Option<Digest>) -> Result<RowSets> {
    let Some(digest) = digest else { return Ok(RowSets::default()) };
    let bytes = Listed::Rows.read(store, digest)?;
    parse(&bytes).map_err(|error| error.at(Listed::Rows.path(store, digest)))
}

pub(super) fn parse(mut rest: &[u8]) -> Result<RowSets> {
    let Head { files } = read_list(&MAGIC, "replaced", &mut rest)?;
    let rows = read_sets(files, &mut rest)?;
    if rows.is_empty() || !rest.is_empty() {
        return Err(damaged("the list of replaced pages has another length than it says"));
    }
    Ok(rows)
}
