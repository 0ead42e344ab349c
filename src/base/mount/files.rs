//! The files of a folder that belong to its tree.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::{At, Error, Kind, Result};

/// The states of files by their names: a file in the same state has the same bytes, and need not be read to know that.
pub(super) type States = HashMap<String, State>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(u64, u64, u64, i64, i64);

pub(super) fn states<'a>(folder: &Path, names: impl Iterator<Item = &'a String>) -> States {
    let state = |name: &String| Some((name.clone(), State::of(&folder.join(name))?));
    names.filter_map(state).collect()
}

impl State {
    fn of(path: &Path) -> Option<State> {
        let file = fs::symlink_metadata(path).ok()?;
        Some(State(file.dev(), file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) files: Vec<String>,
    pub(super) empty_folders: Vec<String>,
}

/// What is below `folder`, without locks and unfinished files. Nothing if it is not there.
pub(super) fn below(folder: &Path) -> Result<Names> {
    let mut names = Names::default();
    if fs::exists(folder).at(folder)? {
        add(folder, "", &mut names)?;
    }
    names.files.sort();
    names.empty_folders.sort();
    Ok(names)
}

/// Adds what is below `folder`, whose name ends with a slash or is empty.
fn add(folder: &Path, name: &str, names: &mut Names) -> Result<()> {
    let before = names.files.len() + names.empty_folders.len();
    for entry in fs::read_dir(folder).at(folder)? {
        let entry = entry.at(folder)?;
        let path = entry.path();
        let Some(last) = entry.file_name().to_str().map(str::to_owned) else {
            return Err(Error::new(Kind::Usage, "the name of this file is not UTF-8").at(&path));
        };
        if last.starts_with('.') || last == "LOCK" {
            continue;
        }
        let name = format!("{name}{last}");
        if entry.file_type().at(&path)?.is_dir() {
            add(&path, &format!("{name}/"), names)?;
        } else {
            names.files.push(name);
        }
    }
    if names.files.len() + names.empty_folders.len() == before && !name.is_empty() {
        names.empty_folders.push(name.trim_end_matches('/').to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_and_unfinished_files_do_not_belong_to_a_tree() {
        let home = tempfile::tempdir().unwrap();
        for folder in ["a/b", "a/empty", ".out.resume"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        for file in ["z", "a/b/c", "a/LOCK", ".unfinished-1", ".out.resume/x"] {
            fs::write(home.path().join(file), file).unwrap();
        }
        let names = below(home.path()).unwrap();
        assert_eq!(
            (names.files, names.empty_folders),
            (vec!["a/b/c".to_owned(), "z".to_owned()], vec!["a/empty".to_owned()],)
        );
        assert_eq!(below(&home.path().join("none")).unwrap(), Names::default());
    }
}
