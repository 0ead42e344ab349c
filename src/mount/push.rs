//! Writes what has changed in a folder here into its tree in an object store.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use crate::error::{At, Error, Kind, Result};
use crate::parallel::in_parallel;
use crate::storage::Note;

use super::files::{self, States, digest};
use super::head::{ATTEMPT, HEAD, Head, Held};
use super::pull::AT_ONCE;
use super::tree::{Listed, Tree};

/// Makes the tree equal to `folder`, on the condition that its list is still `before`. Returns the new list; none if nothing
/// has changed. `known` are the states of files that are as `before` says. Right before the commit, `check` is called, and the folder
/// must still be as it was listed: what has gone meanwhile was deleted by somebody else.
pub(super) fn push(
    tree: &Tree,
    before: Option<&Listed>,
    folder: &Path,
    known: &mut States,
    check: &dyn Fn() -> Result<()>,
) -> Result<Option<Listed>> {
    let names = files::below(folder)?;
    let states = files::states(folder, names.files.iter());
    let check = || {
        check()?;
        let is_listed = files::below(folder).is_ok_and(|now| now == names)
            && files::states(folder, names.files.iter()) == states;
        if is_listed { Ok(()) } else { Err(changed(folder)) }
    };
    let mut head = Head::new(&new_attempt(), before.map(|before| &before.head));
    head.empty_folders.clone_from(&names.empty_folders);
    let old = before.map_or_else(BTreeMap::new, |before| before.head.files.clone());
    let entry = |name: &String| match old.get(name) {
        Some(old) if known.contains_key(name) && known.get(name) == states.get(name) => {
            Ok(old.clone())
        }
        _ => here(folder, name, &old, &head.attempt),
    };
    let entries = in_parallel(AT_ONCE, &names.files, entry);
    for (name, entry) in names.files.iter().zip(entries) {
        head.files.insert(name.clone(), entry?);
    }
    let is_empty = head.files.is_empty() && head.empty_folders.is_empty();
    if before.map_or(is_empty, |before| before.head.holds_as(&head)) {
        check()?;
        *known = states;
        return Ok(None);
    }
    if let Some(name) = head.unsafe_name() {
        let what = "a file of this name cannot be kept in an object store";
        return Err(Error::new(Kind::Usage, what)
            .at(folder.join(name))
            .expected("a name without a backslash, of less than 1000 bytes"));
    }
    // What is there before the commit, and not named, belongs to attempts that will have lost, or was released by the last commit.
    let strays = tree.strays(before)?;
    upload(tree, folder, &head)?;
    head.released = released(&old, &head);
    check()?;
    let listed = tree.commit(head, before)?;
    *known = states;
    for name in &strays {
        // Whoever commits next finds it again.
        if let Err(error) = tree.objects.delete(name) {
            tracing::warn!("an object that nobody needs is still there: {error}");
        }
    }
    Ok(Some(listed))
}

/// A name that no other attempt has, and nothing of others.
pub(super) fn new_attempt() -> String {
    format!("{ATTEMPT}{:016x}", rand::random::<u64>())
}

/// What the list says of a file. One that has not changed keeps its object.
fn here(folder: &Path, name: &String, old: &BTreeMap<String, Held>, attempt: &str) -> Result<Held> {
    let path = folder.join(name);
    if name == HEAD && fs::metadata(&path).at(&path)?.len() > 0 {
        return Err(
            Error::new(Kind::Exists, "this file has the name of the list of a tree").at(&path)
        );
    }
    if let Some(note) = Note::read(&path)? {
        // A note of another run names no object of this tree.
        let noted = old.values().find(|held| held.object == note.object);
        return noted.cloned().ok_or_else(|| changed(&path));
    }
    let bytes = fs::metadata(&path).at(&path)?.len();
    let digest = digest(&path)?;
    Ok(match old.get(name).filter(|old| old.bytes == bytes && old.digest == digest) {
        Some(old) => old.clone(),
        None => Held { object: format!("{attempt}/{name}"), bytes, digest },
    })
}

/// The error that a file or folder is not as this run has left it.
fn changed(path: &Path) -> Error {
    Error::new(Kind::Temporary, "somebody else has changed this in the meantime")
        .at(path)
        .help("try again")
}

/// Commits the tree of `listed` once more, and deletes all objects that it does not name: also those that the commit before has
/// released, which else stay until the next.
///
/// # Errors
/// Those of the object store; what could not be deleted is one.
pub(super) fn sweep(tree: &Tree, listed: &Listed) -> Result<Listed> {
    let head = listed.head.again(&new_attempt());
    let strays = tree.strays(Some(listed))?;
    let listed = tree.commit(head, Some(listed))?;
    strays.iter().try_for_each(|name| tree.objects.delete(name))?;
    Ok(listed)
}

/// Writes the files whose objects are of this attempt.
fn upload(tree: &Tree, folder: &Path, head: &Head) -> Result<()> {
    let attempt = format!("{}/", head.attempt);
    let new: Vec<(&String, &Held)> =
        head.files.iter().filter(|(_, held)| held.object.starts_with(&attempt)).collect();
    let sent = in_parallel(AT_ONCE, &new, |(name, held)| {
        let path = folder.join(name);
        match format!("{:032x}", tree.objects.upload(&held.object, &path)?) == held.digest {
            true => Ok(()),
            false => Err(changed(&path)),
        }
    });
    sent.into_iter().collect()
}

/// The objects that only the old list names.
fn released(old: &BTreeMap<String, Held>, head: &Head) -> Vec<String> {
    let named: HashSet<&str> = head.files.values().map(|held| held.object.as_str()).collect();
    let mut released: Vec<String> = old.values().map(|held| held.object.clone()).collect();
    released.retain(|object| !named.contains(object.as_str()));
    released.sort();
    released
}
