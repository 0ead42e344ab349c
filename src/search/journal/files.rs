//! The files of the folder `journal`: their names, and the pages that they hold.

use std::fs;
use std::path::{Path, PathBuf};

use super::file::{self, JournalFile};
use super::header::{Header, damaged};
use super::part::Part;
use crate::error::{At, Error, Kind, Named, Result};
use crate::output::{Lock, UNFINISHED, sync_folder};

const SUFFIX: &str = ".journal";

pub(super) fn file_name(number: u64) -> String {
    format!("{number:06}{SUFFIX}")
}

/// The journals in a folder, read; and the one that takes pages, which is made if there is none.
pub(super) fn open_parts(
    folder: &Path,
    header: &Header,
    lock: &Lock,
) -> Result<(Vec<(u64, Part)>, JournalFile)> {
    let mut parts = Vec::new();
    let mut last = None;
    for number in numbers(folder)? {
        let path = folder.join(file_name(number));
        if last.take().is_some() {
            return Err(damaged("a journal without a seal comes before this one").at(path));
        }
        let contents = file::read(&path)?;
        if !contents.header.is_like(header) {
            return Err(Error::new(Kind::Exists, "the journal has pages of another recipe")
                .at(path)
                .expected(&header.options.stamp)
                .found(&contents.header.options.stamp)
                .help("serve the store with that recipe and commit them first"));
        }
        if contents.torn > 0 {
            tracing::warn!(
                "{}: cut off {} bytes of a frame that was never finished; no page of it was acknowledged",
                path.named(),
                contents.torn
            );
        }
        let part = Part::of(header, contents.pages, contents.sealed);
        if part.sealed.is_none() {
            last = Some(JournalFile::append_to(&path, contents.end)?);
        }
        parts.push((number, part));
    }
    let file = match last {
        Some(file) => file,
        None => {
            let number = parts.last().map_or(1, |(number, _)| number + 1);
            let file =
                JournalFile::create(&folder.join(file_name(number)), header, &[], lock.fence())?;
            parts.push((number, Part::of(header, Vec::new(), None)));
            file
        }
    };
    Ok((parts, file))
}

pub(super) fn header_of(folder: &Path) -> Result<Option<Header>> {
    let first = numbers(folder)?.first().map(|&number| folder.join(file_name(number)));
    first.map(|path| file::read_header(&path)).transpose()
}

/// Removes the files and folders that writers which died have left in a folder: pages may lie in them. Nobody else may write there.
pub(super) fn remove_unfinished(folder: &Path) -> Result<()> {
    let unfinished = unfinished(folder)?;
    for path in &unfinished {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.at(path)?;
    }
    if unfinished.is_empty() { Ok(()) } else { sync_folder(folder) }
}

pub(super) fn unfinished(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut unfinished = Vec::new();
    for entry in fs::read_dir(folder).at(folder)? {
        let entry = entry.at(folder)?;
        let is_ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        if is_ours && entry.file_type().is_ok_and(|it| it.is_file() || it.is_dir()) {
            unfinished.push(entry.path());
        }
    }
    Ok(unfinished)
}

fn numbers(folder: &Path) -> Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).at(folder)? {
        let name = entry.at(folder)?.file_name().into_string().unwrap_or_default();
        let number = name.strip_suffix(SUFFIX).and_then(|number| number.parse().ok());
        numbers.extend(number.filter(|&number| name == file_name(number)));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
