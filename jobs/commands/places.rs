//! What becomes of outputs that are mounted, and how reports name places: the command works on folders of this machine, and what it
//! has made is published when it is done.

use std::fs;
use std::path::{self, Path, PathBuf};

use dupsieve::error::{At, Named, is_named, name_of};
use dupsieve::flow::Processes;
use dupsieve::object_storage::Address;
use dupsieve::output::parent_of;
use dupsieve::{Error, Kind, Result};
use serde_json::Value;

use crate::flags::{GlobalFlags, Place, mounts};

/// Fails if the folder that the file `output` is to be written to does not exist: most likely its name was mistyped.
pub(crate) fn expect_folder(output: &Path) -> Result<()> {
    let folder = parent_of(output);
    if is_named(output) || folder.is_dir() {
        return Ok(());
    }
    Err(Error::new(Kind::Missing, "the folder of the output does not exist")
        .at(folder)
        .help("make the folder, or correct --output"))
}

pub(crate) fn publish(global: &GlobalFlags) -> Result<()> {
    if global.dry_run { Ok(()) } else { mounts().publish() }
}

/// As [`publish`], for a job of several processes: process 0 publishes, and the others wait until it has. If it fails, all fail alike.
pub(crate) fn publish_job(processes: &mut Processes, global: &GlobalFlags) -> Result<()> {
    processes.agree("publish", || publish(global))
}

/// Where a file is put that tells of a failed job: nothing of a mount is published then, and the next mount clears it away.
pub(crate) fn of_failure(path: PathBuf) -> Result<PathBuf> {
    if !is_named(&path) {
        return Ok(path);
    }
    let folder = mounts().cache().join("failed");
    fs::create_dir_all(&folder).at(&folder)?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    let name: String = path.named().chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    Ok(folder.join(name))
}

/// The path as a report names it: an address, or an absolute path.
pub(crate) fn named(path: &Path) -> PathBuf {
    let absolute = path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    name_of(&absolute).into_owned()
}

/// What a report with this part `run` says it was made from under `name`, if it is still there.
pub(crate) fn input_of(run: &Value, name: &str) -> Result<Option<PathBuf>> {
    let named = run["inputs"][name].as_str().map(|named| Place::from(named).here());
    Ok(named.transpose()?.filter(|path| path.exists()))
}

/// The input of pages as a report names it: an address without secrets, an absolute path, or `-`.
pub(crate) fn named_input(input: &str) -> String {
    let path = Path::new(input);
    match Address::of(path) {
        Ok(Some(address)) => address.to_string(),
        _ if input == "-" => input.to_owned(),
        _ => {
            let local = Address::local(path).unwrap_or_else(|| path.to_path_buf());
            path::absolute(&local).unwrap_or(local).named()
        }
    }
}

/// The same, with `/./` before a path that was given from the working directory: so its files have the names that they were given.
pub(crate) fn kept_input(input: &str) -> String {
    if input == "-" || input.contains("://") || Path::new(input).is_absolute() {
        return named_input(input);
    }
    path::absolute(".").unwrap_or_default().join(".").join(input).named()
}

/// The input of pages as it was given, but without secrets.
pub(crate) fn shown_input(input: &str) -> String {
    let address = Address::of(Path::new(input)).ok().flatten();
    address.map_or_else(|| input.to_owned(), |address| address.to_string())
}

/// Where outputs are in the end. `run --redo` makes the outputs of a day in one folder, and moves them to another folder
/// when all of them are complete. Whatever is said of an output names the second folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Destination {
    /// The folder that outputs are made in, and the folder that they are moved to. None: outputs stay where they are made.
    folders: Option<(PathBuf, PathBuf)>,
}

impl Destination {
    pub(crate) fn moved(made: PathBuf, last: PathBuf) -> Destination {
        Destination { folders: Some((made, last)) }
    }

    pub(crate) fn of(&self, path: &Path) -> PathBuf {
        let below = |(made, last): &(PathBuf, PathBuf)| {
            path.strip_prefix(made).ok().map(|name| last.join(name))
        };
        self.folders.as_ref().and_then(below).unwrap_or_else(|| path.to_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_named_so_that_they_can_be_found_from_anywhere() {
        for (input, named) in [
            ("-", "-"),
            ("/data/{date}/*.gz", "/data/{date}/*.gz"),
            ("file:///data/a", "/data/a"),
            ("s3://crawl/{date}/part-?.gz", "s3://crawl/{date}/part-?.gz"),
            ("https://user:secret@host/a.jsonl", "https://host/a.jsonl"),
        ] {
            assert_eq!(named_input(input), named);
        }
        assert!(Path::new(&named_input("pages/a")).is_absolute());
        assert!(kept_input("pages/a").ends_with("/./pages/a"));
        assert_eq!(kept_input("/data/a"), "/data/a");
    }
}
