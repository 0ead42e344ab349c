//! Makes a folder here equal to a tree in an object store.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::error::{At, Error, Kind, Result};
use crate::object_storage::{Note, ObjectFile, Objects};
use crate::output::{NewFile, Sum, copy_hashed, parent_of};
use crate::parallel::in_parallel;

use super::files;
use super::head::{Head, Held};

pub(super) const AT_ONCE: usize = 8;

/// Makes `folder` equal to what `head` names. In the place of segments there are notes: their bytes are read when they are needed.
pub(super) fn pull(objects: &Objects, head: &Head, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).at(folder)?;
    remove_unfinished(folder)?;
    for name in files::below(folder)?.files.iter().filter(|it| !head.files.contains_key(*it)) {
        let path = folder.join(name);
        fs::remove_file(&path).at(&path)?;
    }
    remove_empty(folder, "", &head.empty_folders)?;
    for name in &head.empty_folders {
        let path = folder.join(name);
        fs::create_dir_all(&path).at(&path)?;
    }
    let listed: Vec<(&String, &Held)> = head.files.iter().collect();
    let pulled = in_parallel(AT_ONCE, &listed, |(name, held)| {
        let path = folder.join(name);
        fs::create_dir_all(parent_of(&path)).at(parent_of(&path))?;
        if is_read_in_place(name) { write_note(held, &path) } else { fetch(objects, held, &path) }
    });
    pulled.into_iter().collect()
}

/// Removes what a run that died was about to change, except what it can go on with.
fn remove_unfinished(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).at(folder)? {
        let path = entry.at(folder)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && !name.ends_with(".resume") && path.is_dir() {
            fs::remove_dir_all(&path).at(&path)?;
        }
    }
    Ok(())
}

/// Removes the folders below `folder` that have nothing in them, but for those that the list names. The name of `folder` ends with a
/// slash or is empty.
fn remove_empty(folder: &Path, name: &str, listed: &[String]) -> Result<()> {
    for entry in fs::read_dir(folder).at(folder)? {
        let entry = entry.at(folder)?;
        let path = entry.path();
        if !entry.file_type().at(&path)?.is_dir() {
            continue;
        }
        let name = format!("{name}{}", entry.file_name().to_string_lossy());
        remove_unfinished(&path)?;
        remove_empty(&path, &format!("{name}/"), listed)?;
        if !listed.contains(&name) && fs::read_dir(&path).at(&path)?.next().is_none() {
            fs::remove_dir(&path).at(&path)?;
        }
    }
    Ok(())
}

/// Whether the bytes of a file stay in the object store: those of the segments of a store and of its index, which are
/// read by ranges.
fn is_read_in_place(name: &str) -> bool {
    let is_in = |folder| name.starts_with(folder) || name.contains(&format!("/{folder}"));
    name.ends_with(".seg") && ["segments/", "index/"].into_iter().any(is_in)
}

fn write_note(held: &Held, path: &Path) -> Result<()> {
    let note = Note { object: held.object.clone(), bytes: held.bytes };
    let mut file = NewFile::beside(path)?;
    serde_json::to_writer(&mut file, &note).map_err(io::Error::from).at(path)?;
    file.publish()
}

fn fetch(objects: &Objects, held: &Held, path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() == held.bytes)
        && Sum::of(path)?.xxh3 == held.digest
    {
        return Ok(());
    }
    let (file, found) = copy(&objects.written_once(&held.object, held.bytes)?, path)?;
    if found != held.digest {
        return Err(Error::new(Kind::BadData, "the object is not the one that the list names")
            .at(objects.at(&held.object).to_string())
            .expected(format_args!("digest {}", held.digest))
            .found(found));
    }
    file.publish()
}

pub(super) fn fetch_object(object: &ObjectFile, path: &Path) -> Result<String> {
    let (file, digest) = copy(object, path)?;
    file.publish().map(|()| digest)
}

fn copy(object: &ObjectFile, path: &Path) -> Result<(NewFile, String)> {
    let mut file = NewFile::beside(path)?;
    let digest = read_all(object, &mut file).at(path)?;
    Ok((file, digest))
}

pub(super) fn digest_of(object: &ObjectFile) -> Result<String> {
    read_all(object, &mut io::sink()).at(object.address().to_string())
}

fn read_all(object: &ObjectFile, out: &mut dyn Write) -> io::Result<String> {
    copy_hashed(&mut object.reader(), out).map(|(_, digest)| format!("{digest:032x}"))
}
