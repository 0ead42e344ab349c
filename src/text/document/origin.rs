//! Where the bytes of an input are: in a file of this machine, in a stream, or in an object store.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use xxhash_rust::xxh3::xxh3_128;

use super::standard_input;
use crate::error::{At, Error, Kind, Result};
use crate::object_storage::ObjectFile;
use crate::output::FileId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    File(FoundFile),
    Pipe(FoundFile),
    Standard,
    Object(ObjectFile),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    id: FileId,
    bytes: u64,
    modified: (i64, i64),
    /// When anything of it was changed last; nobody can set this time.
    changed: (i64, i64),
    /// Whether it was at rest: of two changes at nearly the same time, the second may leave the time of the first.
    is_at_rest: bool,
}

/// How long ago the last change of a file must be for it to be at rest, in seconds. Some file systems count in steps of two.
const REST: i64 = 3;

impl From<&Metadata> for Origin {
    fn from(metadata: &Metadata) -> Origin {
        let found = FoundFile::of(metadata);
        if metadata.is_file() { Origin::File(found) } else { Origin::Pipe(found) }
    }
}

impl FoundFile {
    fn of(metadata: &Metadata) -> FoundFile {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        FoundFile {
            id: FileId::of(metadata),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            is_at_rest: metadata.ctime().saturating_add(REST) <= now,
        }
    }

    /// The device is left out: a file system may get another number when it is mounted again, or on another host.
    fn sign(&self) -> u128 {
        let FoundFile { id: FileId { inode, .. }, bytes, modified, changed, .. } = self;
        xxh3_128(format!("{inode} {bytes} {modified:?} {changed:?}").as_bytes())
    }
}

impl Origin {
    /// What it is known by that changes when its bytes change, on every host that sees it; none if there is nothing such.
    pub(super) fn sign(&self) -> Option<u128> {
        match self {
            Origin::File(found) => Some(found.sign()),
            Origin::Pipe(_) | Origin::Standard => None,
            Origin::Object(object) => object.sign().map(|sign| xxh3_128(sign.as_bytes())),
        }
    }

    pub(super) fn is_at_rest(&self) -> bool {
        !matches!(self, Origin::File(FoundFile { is_at_rest: false, .. }))
    }

    #[cfg(test)]
    pub(super) fn at_rest(self) -> Origin {
        match self {
            Origin::File(found) => Origin::File(FoundFile { is_at_rest: true, ..found }),
            other => other,
        }
    }

    pub(super) fn is_stream(&self) -> bool {
        match self {
            Origin::Pipe(_) => true,
            Origin::Standard => !standard_input::is_kept(),
            Origin::File(_) | Origin::Object(_) => false,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        match self {
            Origin::File(found) | Origin::Pipe(found) => found.bytes,
            Origin::Standard => standard_input::kept_bytes().unwrap_or(0),
            Origin::Object(object) => object.bytes(),
        }
    }

    pub(super) fn is(&self, id: FileId) -> bool {
        matches!(self, Origin::File(found) | Origin::Pipe(found) if found.id == id)
    }

    pub(super) fn open(&self, path: &Path) -> Result<Box<dyn Read>> {
        Ok(match self {
            Origin::File(_) | Origin::Pipe(_) => Box::new(File::open(path).at(path)?),
            Origin::Standard => standard_input::open(),
            Origin::Object(object) => Box::new(object.reader()),
        })
    }

    /// Whether it may have other contents than were found. Fails with [`Kind::Temporary`] if it certainly has; of streams nobody knows.
    pub(super) fn is_suspicious(&self, path: &Path) -> Result<bool> {
        match self {
            Origin::Pipe(_) | Origin::Standard => Ok(false),
            Origin::Object(object) => object.check_unchanged().map(|()| false),
            Origin::File(found) => {
                let now = FoundFile::of(&fs::metadata(path).at(path)?);
                match (now.bytes, now.modified) == (found.bytes, found.modified) {
                    true => Ok(now.sign() != found.sign()),
                    false => Err(changed(path)),
                }
            }
        }
    }
}

pub(super) fn changed(path: &Path) -> Error {
    Error::new(Kind::Temporary, "the input changed while it was read")
        .called("input-changed")
        .at(path)
        .help("try again when it is complete")
}
