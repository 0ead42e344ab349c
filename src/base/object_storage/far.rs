//! Files whose bytes stay in an object store. Below a mount, such a file holds a note: which object has the bytes, and how many bytes
//! these are. A program that reads the file finds the note, and only [`far`] finds the bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use super::Objects;
use super::remote::Remote;
use crate::error::{At, Result};

/// The most bytes of a note: the name of an object has up to 1024 bytes, and JSON writes each with up to 6.
const NOTE_BYTES: u64 = 8 << 10;

/// The folders whose files may be notes, each with the objects that the notes name. A process has one list, because a segment is opened by its
/// path in every room. Two users of the library at once do not disturb each other: the mounts of each are folders of its own, and a list
/// that has one folder twice, from the parent of the process, has the same objects twice.
static TREES: RwLock<Vec<(PathBuf, Objects)>> = RwLock::new(Vec::new());

#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    #[serde(rename = "dupsieve object")]
    pub object: String,
    pub bytes: u64,
}

impl Note {
    /// The note that the file at `path` holds; none if the file holds something else, or if there is no file.
    pub(crate) fn read(path: &Path) -> Result<Option<Note>> {
        if !fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= NOTE_BYTES) {
            return Ok(None);
        }
        Ok(serde_json::from_slice(&fs::read(path).at(path)?).ok())
    }
}

/// A folder whose files may be notes, until this is dropped.
#[cfg(feature = "object-store")]
pub(crate) struct FarTree(PathBuf);

#[cfg(feature = "object-store")]
impl FarTree {
    pub(crate) fn new(place: PathBuf, objects: Objects) -> FarTree {
        TREES.write().unwrap_or_else(PoisonError::into_inner).push((place.clone(), objects));
        FarTree(place)
    }
}

#[cfg(feature = "object-store")]
impl Drop for FarTree {
    fn drop(&mut self) {
        let mut trees = TREES.write().unwrap_or_else(PoisonError::into_inner);
        let own = trees.iter().position(|(place, _)| *place == self.0);
        trees.remove(own.expect("it is there as long as this"));
    }
}

pub fn far(path: &Path) -> Result<Option<Arc<dyn Remote>>> {
    let trees = TREES.read().unwrap_or_else(PoisonError::into_inner);
    let Some((_, objects)) = trees.iter().find(|(place, _)| path.starts_with(place)) else {
        return Ok(None);
    };
    let Some(Note { object, bytes }) = Note::read(path)? else { return Ok(None) };
    Ok(Some(Arc::new(objects.written_once(&object, bytes)?)))
}

pub fn bytes_of(path: &Path) -> io::Result<u64> {
    let here = fs::metadata(path)?.len();
    Ok(far(path).ok().flatten().map_or(here, |far| far.bytes()))
}
