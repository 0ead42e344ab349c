//! Where the bytes of an input are: in a file of this machine, in a stream, or in an object store.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use crate::error::{At, Error, Kind, Result};
use crate::storage::ObjectFile;

/// Where the bytes of an input are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A file of this machine.
    File(FoundFile),
    /// A pipe or the like.
    Pipe(FoundFile),
    /// Standard input.
    Standard,
    /// An object.
    Object(ObjectFile),
}

/// What a file was when it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    id: FileId,
    bytes: u64,
    modified: Option<SystemTime>,
}

/// Identifies a file or folder, whatever path leads to it: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileId(u64, u64);

impl FileId {
    pub(super) fn of(metadata: &Metadata) -> FileId {
        FileId(metadata.dev(), metadata.ino())
    }

    pub(super) fn at(path: &Path) -> Option<FileId> {
        fs::metadata(path).ok().as_ref().map(FileId::of)
    }
}

impl From<&Metadata> for Origin {
    fn from(metadata: &Metadata) -> Origin {
        let found = FoundFile {
            id: FileId::of(metadata),
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        };
        if metadata.is_file() { Origin::File(found) } else { Origin::Pipe(found) }
    }
}

impl Origin {
    /// Whether it can be read only once.
    pub(super) fn is_stream(&self) -> bool {
        matches!(self, Origin::Pipe(_) | Origin::Standard)
    }

    /// Its size.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Origin::File(found) | Origin::Pipe(found) => found.bytes,
            Origin::Standard => 0,
            Origin::Object(object) => object.bytes(),
        }
    }

    /// Whether it is this file of the machine.
    pub(super) fn is(&self, id: FileId) -> bool {
        matches!(self, Origin::File(found) | Origin::Pipe(found) if found.id == id)
    }

    /// Opens it for reading in order. `path` is the one it was found at.
    pub(super) fn open(&self, path: &Path) -> Result<Box<dyn Read>> {
        Ok(match self {
            Origin::File(_) | Origin::Pipe(_) => Box::new(File::open(path).at(path)?),
            Origin::Standard => Box::new(io::stdin()),
            Origin::Object(object) => Box::new(object.reader()),
        })
    }

    /// Fails with [`Kind::Temporary`] if it is no longer what was found. Of streams nobody can know.
    pub(super) fn check_unchanged(&self, path: &Path) -> Result<()> {
        match self {
            Origin::Pipe(_) | Origin::Standard => Ok(()),
            Origin::Object(object) => object.check_unchanged(),
            Origin::File(found) => {
                let now = fs::metadata(path).at(path)?;
                if (now.len(), now.modified().ok()) == (found.bytes, found.modified) {
                    return Ok(());
                }
                Err(Error::new(Kind::Temporary, "the input changed while it was read")
                    .at(path)
                    .help("try again when it is complete"))
            }
        }
    }
}
