//! What was found for one argument: files of this machine, by their paths, or by a pattern.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use crate::document::format::Format;
use crate::document::inputs::{Input, Inputs};
use crate::document::source::head;
use crate::document::walk::{
    dangling, existing, folders_at, is_hidden, is_shown, names, unreadable, walk,
};
use crate::error::{At, Error, Kind, Result};
use crate::object_storage::SHELL;
use crate::output::FileId;
use crate::progress::{self, Activity};

#[derive(Default)]
pub(super) struct FoundFiles<'e> {
    pub(super) format: Format,
    pub(super) exclude: &'e [Pattern],
    /// What stands before `/./` in the argument, and is no part of how files are named.
    pub(super) base: Option<PathBuf>,
    pub(super) inputs: Inputs,
    pub(super) matched: bool,
}

pub(super) enum PatternPart {
    Name(OsString),
    Wild(Pattern),
    Deep,
    /// `**` or `**/*` at the end: every file below this folder.
    Everything,
}

impl FoundFiles<'_> {
    /// Whether a file is left out at this path, or at this one below the folder: a pattern without a slash fits any such name.
    pub(super) fn is_excluded(&self, path: &Path) -> bool {
        self.exclude.iter().any(|pattern| {
            let has_slash = pattern.as_str().contains('/');
            let named = if has_slash { Some(path.as_os_str()) } else { path.file_name() };
            named.is_some_and(|name| pattern.matches(&name.to_string_lossy()))
        })
    }

    fn given<'p>(&self, path: &'p Path) -> &'p Path {
        let below = self.base.as_ref().and_then(|base| path.strip_prefix(base).ok());
        let below = below.unwrap_or(path);
        below.strip_prefix(".").unwrap_or(below)
    }

    pub(super) fn file(&mut self, path: &Path, metadata: &Metadata) -> Result<()> {
        if self.is_excluded(path) {
            return Ok(());
        }
        let format = if metadata.is_file() {
            self.format.alone(path, &|| head_of(path))?
        } else {
            self.format.of_stream(path)
        };
        let given = self.given(path);
        self.inputs.files.push(Input::new(path.to_path_buf(), [given; 2], format, metadata.into()));
        Ok(())
    }

    /// Takes all files below `folder`, links followed. Their names are their paths below `root`. Each
    /// folder is walked once, however many links lead to it.
    pub(super) fn folder(&mut self, folder: &Path, root: &Path) -> Result<()> {
        let mut walk = walk(folder);
        while let Some(entry) = walk.next() {
            progress::tick(Activity::Reading);
            let entry = match entry {
                Err(error) if error.loop_ancestor().is_some() => continue, // Walked already.
                Err(error) if error.depth() > 0 && error.path().is_some_and(is_hidden) => continue,
                entry => entry.map_err(|error| unreadable(folder, &error))?,
            };
            let metadata = entry.metadata().map_err(|error| unreadable(folder, &error))?;
            if entry.depth() > 0 && !is_shown(entry.file_name()) {
                self.inputs.passed_over.hide(entry.into_path());
                if metadata.is_dir() {
                    walk.skip_current_dir();
                }
            } else if metadata.is_file() {
                self.file_in(entry.into_path(), root, &metadata)?;
            } else if !metadata.is_dir() {
                self.inputs.passed_over.push(entry.into_path());
            } else if !self.inputs.walked.insert(FileId::of(&metadata)) {
                walk.skip_current_dir();
            }
        }
        Ok(())
    }

    fn file_in(&mut self, path: PathBuf, root: &Path, metadata: &Metadata) -> Result<()> {
        if self.is_excluded(path.strip_prefix(root).unwrap_or(&path)) {
            return Ok(());
        }
        if self.format == Format::Auto && is_of_dataset(&path) {
            self.inputs.passed_over.push(path);
            return Ok(());
        }
        match self.format.in_folder(&path, &|| head_of(&path))? {
            None => self.inputs.passed_over.push(path),
            Some(format) => {
                let given = self.given(&path);
                let name = path.strip_prefix(root).ok().filter(|_| root != Path::new(""));
                let names = [given, name.unwrap_or(given)];
                let file = Input::new(path.clone(), names, format, metadata.into());
                self.inputs.files.push(file);
            }
        }
        Ok(())
    }

    pub(super) fn matches(&mut self, pattern: &Path) -> Result<()> {
        let parts = parts(pattern)?;
        self.follow(PathBuf::new(), &parts)?;
        if self.matched { Ok(()) } else { Err(missing(pattern)) }
    }

    fn follow(&mut self, path: PathBuf, parts: &[PatternPart]) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else { return self.matching(&path) };
        match part {
            PatternPart::Name(name) => self.follow(path.join(name), rest),
            PatternPart::Wild(pattern) => {
                let fits = |name: &OsString| pattern.matches_with(&name.to_string_lossy(), SHELL);
                let mut names = names(&path)?.into_iter().filter(fits);
                names.try_for_each(|name| self.follow(path.join(name), rest))
            }
            PatternPart::Deep => {
                folders_at(&path)?.into_iter().try_for_each(|folder| self.follow(folder, rest))
            }
            PatternPart::Everything => {
                folders_at(&path)?.iter().try_for_each(|folder| self.files_in(folder))
            }
        }
    }

    fn files_in(&mut self, folder: &Path) -> Result<()> {
        let shown = names(folder)?.into_iter().filter(|name| is_shown(name));
        for path in shown.map(|name| folder.join(name)) {
            if !existing(&path)?.is_some_and(|it| it.is_dir()) {
                self.matching(&path)?;
            }
        }
        Ok(())
    }

    fn matching(&mut self, path: &Path) -> Result<()> {
        match existing(path)? {
            Some(folder) if folder.is_dir() => self.folder(path, Path::new(""))?,
            Some(file) => self.file(path, &file)?,
            None if path.is_symlink() => return Err(dangling(path)),
            None => return Ok(()),
        }
        self.matched = true;
        Ok(())
    }
}

/// Divides a pattern into its parts. `**` at the end stands for all files below.
pub(super) fn parts(pattern: &Path) -> Result<Vec<PatternPart>> {
    let mut parts = Vec::new();
    for component in pattern.components().filter(|part| *part != Component::CurDir) {
        let name = component.as_os_str();
        parts.push(match name.to_str() {
            Some("**") => PatternPart::Deep,
            Some(text) if text.contains(['*', '?', '[']) => {
                PatternPart::Wild(Pattern::new(text).map_err(|error| {
                    Error::new(Kind::Usage, "the pattern is invalid").at(pattern).found(error)
                })?)
            }
            _ => PatternPart::Name(name.to_owned()),
        });
    }
    let ends_in_star = match &parts[..] {
        [.., PatternPart::Deep, PatternPart::Wild(last)] => last.as_str() == "*",
        _ => false,
    };
    if ends_in_star {
        parts.pop();
    }
    if let Some(last @ PatternPart::Deep) = parts.last_mut() {
        *last = PatternPart::Everything;
    }
    Ok(parts)
}

/// Whether this file says something of a dataset that `save_to_disk` of Hugging Face datasets has written, and holds no pages.
fn is_of_dataset(path: &Path) -> bool {
    let is_beside = |name: &str| path.with_file_name(name).is_file();
    match path.file_name().and_then(|name| name.to_str()) {
        Some("state.json" | "dataset_info.json") => {
            is_beside("state.json") && is_beside("dataset_info.json")
        }
        Some("dataset_dict.json") => true,
        _ => false,
    }
}

fn head_of(path: &Path) -> Result<Vec<u8>> {
    head(File::open(path).at(path)?, path)
}

pub(super) fn missing(argument: &Path) -> Error {
    Error::new(Kind::Missing, "there is no such input")
        .called("no-input")
        .at(argument)
        .help("check the path or pattern; if it names a day, check that the day was fetched")
}
