//! Writes what has changed in a folder here into its tree in an object store.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use crate::error::{At, Error, Kind, Result};
use crate::object_storage::Note;
use crate::output::Sum;
use crate::parallel::in_parallel;

use super::files::{self, Names, States};
use super::head::{ATTEMPT, DRAFT, HEAD, Head, Held};
use super::pull::AT_ONCE;
use super::tree::{Listed, Tree};

/// Makes the tree equal to `folder`, on the condition that its list is still `before`. Returns the new list; none if nothing
/// has changed. `draft` is the list of what was written after `before`, and `known` are the states of files that are as the last of the two
/// says. Right before the commit, `check` is called, and the folder must still be as it was listed: what has gone meanwhile was deleted by
/// somebody else.
pub(super) fn push(
    tree: &Tree,
    (before, draft): (Option<&Listed>, Option<&Head>),
    folder: &Path,
    known: &mut States,
    check: &dyn Fn() -> Result<()>,
) -> Result<Option<Listed>> {
    let old = before.map(|before| &before.head);
    let mut found = Found::of(folder, old, draft, known)?;
    let check = |found: &Found| check().and_then(|()| found.check(folder));
    if found.is_as(old) {
        check(&found)?;
        *known = found.states;
        return Ok(None);
    }
    // What is there before the commit, and not named, belongs to attempts that will have lost, or was released by the last commit.
    let strays = tree.strays([old, Some(&found.head)])?;
    upload(tree, folder, &found.head)?;
    found.head.released = released(old, &found.head);
    check(&found)?;
    let Found { head, states, .. } = found;
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

/// Writes what has changed in `folder` since the last of the lists `before` and `draft`, and notes a new draft. The tree stays as it is.
/// Returns the new draft; none if nothing has changed.
pub(super) fn push_draft(
    tree: &Tree,
    (before, draft): (Option<&Listed>, Option<&Head>),
    folder: &Path,
    known: &mut States,
) -> Result<Option<Head>> {
    let old = before.map(|before| &before.head);
    let found = Found::of(folder, old, draft, known)?;
    let is_new = !found.is_as(draft.or(old));
    if is_new {
        upload(tree, folder, &found.head)?;
    }
    found.check(folder)?;
    let Found { head, states, .. } = found;
    if is_new {
        tree.objects.put(DRAFT, head.to_bytes())?;
    }
    *known = states;
    Ok(is_new.then_some(head))
}

struct Found {
    head: Head,
    names: Names,
    states: States,
}

impl Found {
    /// Looks at `folder`. The list follows `before`; what `draft`, or else `before`, has in the same bytes keeps its objects.
    fn of(
        folder: &Path,
        before: Option<&Head>,
        draft: Option<&Head>,
        known: &States,
    ) -> Result<Found> {
        let names = files::below(folder)?;
        let states = files::states(folder, names.files.iter());
        let mut head = Head::new(&new_attempt(), before);
        head.empty_folders.clone_from(&names.empty_folders);
        let nothing = BTreeMap::new();
        let old = draft.or(before).map_or(&nothing, |list| &list.files);
        let entry = |name: &String| match old.get(name) {
            Some(old) if known.contains_key(name) && known.get(name) == states.get(name) => {
                Ok(old.clone())
            }
            _ => here(folder, name, old, &head.attempt),
        };
        let entries = in_parallel(AT_ONCE, &names.files, entry);
        for (name, entry) in names.files.iter().zip(entries) {
            head.files.insert(name.clone(), entry?);
        }
        match head.unsafe_name() {
            None => Ok(Found { head, names, states }),
            Some(name) => {
                let what = "a file of this name cannot be kept in an object store";
                Err(Error::new(Kind::Usage, what)
                    .at(folder.join(name))
                    .expected("a name without a backslash, of less than 1000 bytes"))
            }
        }
    }

    fn is_as(&self, list: Option<&Head>) -> bool {
        let is_empty = self.head.files.is_empty() && self.head.empty_folders.is_empty();
        list.map_or(is_empty, |list| list.holds_as(&self.head))
    }

    fn check(&self, folder: &Path) -> Result<()> {
        let is_same = files::below(folder).is_ok_and(|now| now == self.names)
            && files::states(folder, self.names.files.iter()) == self.states;
        if is_same { Ok(()) } else { Err(changed(folder)) }
    }
}

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
    let Sum { bytes, xxh3: digest } = Sum::of(&path)?;
    Ok(match old.get(name).filter(|old| old.bytes == bytes && old.digest == digest) {
        Some(old) => old.clone(),
        None => Held { object: format!("{attempt}/{name}"), bytes, digest },
    })
}

fn changed(path: &Path) -> Error {
    Error::new(Kind::Temporary, "somebody else has changed this in the meantime")
        .at(path)
        .help("try again")
}

/// Commits the tree of `listed` once more, and deletes all objects that it does not name: also those that the commit before has
/// released, which else stay until the next.
pub(super) fn sweep(tree: &Tree, listed: &Listed) -> Result<Listed> {
    let head = listed.head.again(&new_attempt());
    let strays = tree.strays([Some(&listed.head), None])?;
    let listed = tree.commit(head, Some(listed))?;
    strays.iter().try_for_each(|name| tree.objects.delete(name))?;
    Ok(listed)
}

fn upload(tree: &Tree, folder: &Path, head: &Head) -> Result<()> {
    let attempt = format!("{}/", head.attempt);
    let new: Vec<(&String, &Held)> =
        head.files.iter().filter(|(_, held)| held.object.starts_with(&attempt)).collect();
    let sent = in_parallel(AT_ONCE, &new, |(name, held)| {
        let path = folder.join(name);
        let sent = format!("{:032x}", tree.objects.upload(&held.object, &path)?);
        if sent == held.digest { Ok(()) } else { Err(changed(&path)) }
    });
    sent.into_iter().collect()
}

fn released(old: Option<&Head>, head: &Head) -> Vec<String> {
    let old = old.into_iter().flat_map(|old| old.files.values());
    let mut released: Vec<String> = old.map(|held| held.object.clone()).collect();
    let named: HashSet<&str> = head.files.values().map(|held| held.object.as_str()).collect();
    released.retain(|object| !named.contains(object.as_str()));
    released.sort();
    released
}
