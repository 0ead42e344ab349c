//! Arguments that are addresses in an object store: one object, a pattern, or all objects below.
//!
//! There are no folders there, only names with slashes. They are read as a folder with the same files would be.

use std::path::{Path, PathBuf};

use super::found::{FoundFiles, PatternPart, missing, parts};
use crate::document::inputs::Input;
use crate::document::origin::Origin;
use crate::document::source::head;
use crate::document::walk::is_shown;
use crate::error::Result;
use crate::object_storage::{Address, ObjectFile, Objects, SHELL, folders_in};
use crate::parallel::in_parallel;

const AT_ONCE: usize = 64;

const MOST_FOLDERS: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Alone,
    InFolder,
}

impl FoundFiles<'_> {
    pub(super) fn address(&mut self, address: &Address) -> Result<()> {
        if let Some(object) = Objects::open(address)?.one()? {
            return self.objects(vec![(Named::Alone, object.address().to_string(), object)]);
        }
        let is_pattern = address.key().contains(['*', '?', '[']);
        match is_pattern {
            _ if address.is_one_object() => Err(missing(Path::new(&address.to_string()))),
            true => self.objects_like(address),
            false => self.objects_below(address),
        }
    }

    fn objects_below(&mut self, address: &Address) -> Result<()> {
        let all = Objects::open(address)?.all()?;
        let root = PathBuf::from(address.to_string());
        if all.is_empty() {
            return Err(missing(&root));
        }
        self.inputs.prefixes.push(root.clone());
        let mut shown = Vec::new();
        for (name, object) in all {
            match name.split('/').all(|name| is_shown(name.as_ref())) {
                true => shown.push((Named::InFolder, name, object)),
                false => self.inputs.passed_over.hide(root.join(name)),
            }
        }
        self.objects(shown)
    }

    fn objects(&mut self, mut all: Vec<(Named, String, ObjectFile)>) -> Result<()> {
        all.retain(|(_, name, _)| !self.is_excluded(Path::new(name)));
        let format = self.format;
        let looked = in_parallel(AT_ONCE, &all, |(named, _, object)| {
            let path = PathBuf::from(object.address().to_string());
            let head = || head_of(object, &path);
            match named {
                Named::Alone => format.alone(&path, &head).map(Some),
                Named::InFolder => format.in_folder(&path, &head),
            }
        });
        for ((_, name, object), format) in all.into_iter().zip(looked) {
            let path = PathBuf::from(object.address().to_string());
            match format? {
                None => self.inputs.passed_over.push(path),
                Some(format) => {
                    let (names, origin) = ([&*path, Path::new(&name)], Origin::Object(object));
                    self.inputs.files.push(Input::new(path.clone(), names, format, origin));
                }
            }
        }
        Ok(())
    }

    fn objects_like(&mut self, pattern: &Address) -> Result<()> {
        let shown = PathBuf::from(pattern.to_string());
        let parts = parts(Path::new(pattern.key())).map_err(|error| error.at(&shown))?;
        let (folders, rest) = folders_like(Objects::open(&pattern.with_key(""))?, &parts)?;
        let mut found = Vec::new();
        for listed in in_parallel(AT_ONCE, &folders, Objects::all) {
            found.extend(listed?.into_iter().filter_map(|(name, object)| {
                let names: Vec<&str> = name.split('/').collect();
                Some((named(rest, &names)?, object.address().to_string(), object))
            }));
        }
        if found.is_empty() { Err(missing(&shown)) } else { self.objects(found) }
    }
}

/// The folders that are to be listed for a pattern, and the parts of it that what is below them must match. Only folders that
/// match are looked into, unless they are so many that one long listing is quicker.
fn folders_like(bucket: Objects, parts: &[PatternPart]) -> Result<(Vec<Objects>, &[PatternPart])> {
    let mut folders = vec![bucket];
    let mut rest = parts;
    while let [part, below @ ..] = rest
        && !below.is_empty()
    {
        let next = match part {
            PatternPart::Name(name) => {
                folders.iter().map(|folder| folder.below(&name.to_string_lossy())).collect()
            }
            PatternPart::Wild(pattern) => folders_in(&folders, pattern)?,
            PatternPart::Deep | PatternPart::Everything => break,
        };
        if next.len() > MOST_FOLDERS {
            break;
        }
        (folders, rest) = (next, below);
    }
    Ok((folders, rest))
}

fn named(parts: &[PatternPart], names: &[&str]) -> Option<Named> {
    let Some((part, rest)) = parts.split_first() else {
        return Some(if names.is_empty() { Named::Alone } else { Named::InFolder });
    };
    let (name, below) = names.split_first()?;
    let is_shown = |name: &&str| is_shown(name.as_ref());
    match part {
        PatternPart::Name(wanted) => named(rest, below).filter(|_| wanted == name),
        PatternPart::Wild(pattern) => {
            named(rest, below).filter(|_| pattern.matches_with(name, SHELL))
        }
        PatternPart::Deep => {
            let deeper = || Some(name).filter(|it| is_shown(it)).and_then(|_| named(parts, below));
            named(rest, names).or_else(deeper)
        }
        PatternPart::Everything => names.iter().all(is_shown).then_some(Named::Alone),
    }
}

fn head_of(object: &ObjectFile, path: &Path) -> Result<Vec<u8>> {
    head(object.glance()?, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_what_it_would_name_in_folders() {
        for line in include_str!("objects.tsv").lines() {
            let [pattern, name, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!()
            };
            let parts = parts(Path::new(pattern)).unwrap();
            let names: Vec<&str> = name.split('/').collect();
            let found = named(&parts, &names).map_or("-".to_owned(), |it| format!("{it:?}"));
            assert_eq!(found, expected, "{pattern} {name}");
        }
    }
}
