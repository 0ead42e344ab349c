//! The folder `replaced`: files that are named by the digest of their bytes, so that they never change and versions share them.
//!
//! ```text
//! replaced/5e1f....rows      the rows that a version hides because pages of later days contain them (see `replaced_rows`)
//! replaced/7c0d....slack     what a day says about the slack of pages (see `slack`)
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use super::damage::damaged;
use super::digest::Digest;
use crate::error::{At, Error, Kind, Result};
use crate::output::{Lock, files_in, sync_folder, write_file};
use crate::small_file;

pub(super) const REPLACED: &str = "replaced";

/// The most bytes of such a file, since it is read whole.
const LONGEST: u64 = 2 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Listed {
    Rows,
    Slack,
}

impl Listed {
    pub(super) fn path(self, store: &Path, digest: Digest) -> PathBuf {
        store.join(REPLACED).join(format!("{digest}.{}", self.suffix()))
    }

    pub(super) fn write(self, store: &Path, bytes: &[u8], lock: &Lock) -> Result<Digest> {
        let digest = Digest::of(bytes);
        let (folder, path) = (store.join(REPLACED), self.path(store, digest));
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
        write_file(&path, bytes, lock)?;
        Ok(digest)
    }

    pub(super) fn read(self, store: &Path, digest: Digest) -> Result<Vec<u8>> {
        let path = self.path(store, digest);
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
        Ok(bytes)
    }

    fn suffix(self) -> &'static str {
        match self {
            Listed::Rows => "rows",
            Listed::Slack => "slack",
        }
    }
}

pub(super) fn paths(store: &Path) -> Result<Vec<PathBuf>> {
    files_in(&store.join(REPLACED), |name| {
        let (digest, suffix) = name.split_once('.').unwrap_or_default();
        let is_listed = [Listed::Rows, Listed::Slack].iter().any(|it| it.suffix() == suffix);
        is_listed && digest.parse::<Digest>().is_ok()
    })
}
