//! What a folder of copies says of itself: what the copies were made of, and the sums of the files. So a second run finds them done without
//! reading the inputs again, and only files that are listed here are ever replaced.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use dupsieve::error::{At, is_named};
use dupsieve::output::{self, SUCCESS, Staging, Sum};
use dupsieve::store::Digest;
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

/// The file in the folder. Readers of folders pass over a name that begins with a dot, and so do patterns.
const NAME: &str = ".copies.json";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Copies {
    /// What decides them; none if that is not known.
    made_of: Option<Digest>,
    /// Their paths below the folder, with what is not ASCII escaped.
    files: BTreeMap<String, Sum>,
}

impl Copies {
    pub(super) fn found_in(folder: &Path, made_of: Option<Digest>) -> Result<Copies> {
        let sum = |path: PathBuf| Ok((name(folder, &path), Sum::of(&path)?));
        let files = files_below(folder)?.into_iter().map(sum).collect::<Result<_>>()?;
        Ok(Copies { made_of, files })
    }

    /// Those that the folder lists; none if there is no folder.
    pub(super) fn listed_in(folder: &Path) -> Result<Option<Copies>> {
        if folder.symlink_metadata().is_err() {
            return Ok(None);
        }
        let expected = "copies of kept records, marked as complete";
        let path = folder.join(NAME);
        let text = match fs::read(&path) {
            _ if folder.is_symlink() || !folder.join(SUCCESS).exists() => {
                return Err(output::foreign(folder, expected));
            }
            // At an address there are only files that its own list names.
            Err(none) if none.kind() == ErrorKind::NotFound && is_named(folder) => {
                return Copies::found_in(folder, None).map(Some);
            }
            Err(none) if none.kind() == ErrorKind::NotFound => {
                return Err(output::foreign(folder, expected));
            }
            read => read.at(&path)?,
        };
        let copies: Copies = serde_json::from_slice(&text)
            .map_err(|cause| Error::new(Kind::BadData, cause.to_string()).at(&path))?;
        let is_ours = |path: &PathBuf| copies.files.contains_key(&name(folder, path));
        match files_below(folder)?.into_iter().find(|path| !is_ours(path)) {
            None => Ok(Some(copies)),
            Some(stranger) => Err(output::foreign(&stranger, "a copy of an input file")),
        }
    }

    pub(super) fn stand(&self, folder: &Path, made_of: Digest) -> Result<bool> {
        Ok(self.made_of == Some(made_of) && *self == Copies::found_in(folder, self.made_of)?)
    }

    pub(super) fn write(&self, staging: &Staging) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("copies are plain data") + "\n";
        let mut file = staging.create(NAME)?;
        file.write(|out| out.write_all(text.as_bytes()))?;
        file.finish().map(drop)
    }

    /// Whether a file of this name says something of its folder, so that no copy can have the name.
    pub(super) fn is_mark(name: &Path) -> bool {
        name.components().count() == 1 && (Staging::is_mark(name) || name == Path::new(NAME))
    }
}

fn name(folder: &Path, path: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    below.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut folders, mut files) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(within) = folders.pop() {
        for entry in fs::read_dir(&within).at(&within)? {
            let path = entry.at(&within)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if !Copies::is_mark(path.strip_prefix(folder).unwrap_or(&path)) {
                files.push(path);
            }
        }
    }
    Ok(files)
}
