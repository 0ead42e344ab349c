//! Expands the arguments of `--input` into files: a file, a folder, a pattern, `-`.
//!
//! Links are followed, and a folder is walked once however many links lead to it. So a loop of links
//! ends, and no page is read twice. The result does not depend on the order in which the file system
//! lists names.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};
use rustix::io::Errno;
use walkdir::WalkDir;

use super::format::Format;
use super::inputs::{FileId, Input, Inputs, PassedOver};
use super::source::head;
use crate::error::{At, Error, Kind, Result};
use crate::progress::{self, Activity};

impl Inputs {
    /// Expands the arguments into files. An argument is the path of a file; a folder, which stands for
    /// all files below it; a pattern as in a shell, with `**` for any number of folders; or `-` for
    /// standard input. An argument that is the path of an existing file or folder is never a pattern.
    ///
    /// Files in folders that do not fit the format are not read; [`Inputs::passed_over`] counts them.
    ///
    /// # Errors
    /// An argument that matches nothing, or a link that leads nowhere, is [`Kind::Missing`]. An empty
    /// folder is not an error. A file in a format that dupsieve cannot read is [`Kind::Usage`].
    pub fn find(arguments: &[PathBuf], format: Format) -> Result<Inputs> {
        let mut inputs = Inputs::default();
        for argument in arguments {
            expand(argument, format, &mut inputs)?;
        }
        if u32::try_from(inputs.files.len()).is_err() {
            return Err(Error::new(Kind::Usage, "too many input files")
                .expected(format_args!("at most {}", u32::MAX))
                .found(inputs.files.len()));
        }
        Ok(inputs)
    }
}

/// Adds the files of one argument to `inputs`: in the order of their paths, each once.
fn expand(argument: &Path, format: Format, inputs: &mut Inputs) -> Result<()> {
    if argument == "-" {
        inputs.files.push(Input::standard(format.of_stream(argument)));
        return Ok(());
    }
    let mut found = Found::new(format);
    match fs::metadata(argument) {
        Ok(metadata) if metadata.is_dir() => found.folder(argument, argument)?,
        Ok(metadata) => found.file(argument, &metadata)?,
        Err(cause) if cause.kind() == ErrorKind::NotFound => found.matches(argument)?,
        Err(cause) => return Err(Error::io(argument, &cause)),
    }
    if found.files.is_empty() && !found.passed_over.is_empty() {
        return Err(Error::new(Kind::Missing, "no file in this folder has the format")
            .at(argument)
            .expected(format)
            .found(format_args!("other files, {}", found.passed_over))
            .help("name the files, or another --format"));
    }
    found.files.sort_by(|a, b| bytes(a.path()).cmp(bytes(b.path())));
    found.files.dedup_by(|a, b| a.path() == b.path());
    inputs.files.append(&mut found.files);
    inputs.walked.extend(found.walked);
    inputs.passed_over.add(found.passed_over);
    Ok(())
}

/// What was found for one argument so far.
struct Found {
    format: Format,
    files: Vec<Input>,
    /// The folders already walked.
    walked: HashSet<FileId>,
    passed_over: PassedOver,
    /// Whether anything matched the pattern.
    matched: bool,
}

/// One part of a pattern, between slashes.
enum Part {
    /// A plain name.
    Name(OsString),
    /// A name with wildcards, such as `*.jsonl`.
    Wild(Pattern),
    /// `**`: this folder and every folder below it.
    Deep,
    /// `**` or `**/*` at the end: every file below this folder.
    Everything,
}

impl Found {
    fn new(format: Format) -> Found {
        Found {
            format,
            files: Vec::new(),
            walked: HashSet::new(),
            passed_over: PassedOver::default(),
            matched: false,
        }
    }

    /// Takes a file that was named by itself.
    fn file(&mut self, path: &Path, metadata: &Metadata) -> Result<()> {
        let format = if metadata.is_file() {
            self.format.alone(path, || head(path))?
        } else {
            self.format.of_stream(path)
        };
        self.files.push(Input::new(path.to_path_buf(), path, format, metadata));
        Ok(())
    }

    /// Takes all files below `folder`, links followed. Their names are their paths below `root`. Each
    /// folder is walked once, however many links lead to it.
    fn folder(&mut self, folder: &Path, root: &Path) -> Result<()> {
        let mut walk = walk(folder);
        while let Some(entry) = walk.next() {
            progress::tick(Activity::Reading);
            let entry = match entry {
                Err(error) if error.loop_ancestor().is_some() => continue, // Walked already.
                entry => entry.map_err(|error| unreadable(folder, &error))?,
            };
            let metadata = entry.metadata().map_err(|error| unreadable(folder, &error))?;
            if metadata.is_file() {
                self.file_in(entry.into_path(), root, &metadata)?;
            } else if !metadata.is_dir() {
                self.passed_over.push(entry.into_path());
            } else if !self.walked.insert(FileId::of(&metadata)) {
                walk.skip_current_dir();
            }
        }
        Ok(())
    }

    /// Takes a file below `root`, if it fits the format.
    fn file_in(&mut self, path: PathBuf, root: &Path, metadata: &Metadata) -> Result<()> {
        match self.format.in_folder(&path, || head(&path))? {
            None => self.passed_over.push(path),
            Some(format) => {
                let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
                self.files.push(Input::new(path, &name, format, metadata));
            }
        }
        Ok(())
    }

    /// Takes all that matches a pattern, and all files below matching folders.
    fn matches(&mut self, pattern: &Path) -> Result<()> {
        let parts = parts(pattern)?;
        self.follow(PathBuf::new(), &parts)?;
        if !self.matched {
            return Err(Error::new(Kind::Missing, "there is no such input").at(pattern).help(
                "check the path or pattern; if it names a day, check that the day was fetched",
            ));
        }
        Ok(())
    }

    /// Takes what is at `path` or below it and matches the rest of the pattern.
    fn follow(&mut self, path: PathBuf, parts: &[Part]) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else { return self.matching(&path) };
        match part {
            Part::Name(name) => self.follow(path.join(name), rest),
            Part::Wild(pattern) => {
                let fits = |name: &OsString| pattern.matches_with(&name.to_string_lossy(), SHELL);
                let mut names = names(&path)?.into_iter().filter(fits);
                names.try_for_each(|name| self.follow(path.join(name), rest))
            }
            Part::Deep => {
                folders_at(&path)?.into_iter().try_for_each(|folder| self.follow(folder, rest))
            }
            Part::Everything => {
                folders_at(&path)?.iter().try_for_each(|folder| self.files_in(folder))
            }
        }
    }

    /// Takes the files in a folder, but not those in the folders in it.
    fn files_in(&mut self, folder: &Path) -> Result<()> {
        let shown = names(folder)?.into_iter().filter(|name| is_shown(name));
        for path in shown.map(|name| folder.join(name)) {
            if !existing(&path)?.is_some_and(|it| it.is_dir()) {
                self.matching(&path)?;
            }
        }
        Ok(())
    }

    /// Takes what is at a path that matches the whole pattern.
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

/// As in a shell, only a pattern that begins with a dot matches a name that does.
const SHELL: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: false,
    require_literal_leading_dot: true,
};

/// Divides a pattern into its parts. `**` at the end stands for all files below.
fn parts(pattern: &Path) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for component in pattern.components().filter(|part| *part != Component::CurDir) {
        let name = component.as_os_str();
        parts.push(match name.to_str() {
            Some("**") => Part::Deep,
            Some(text) if text.contains(['*', '?', '[']) => {
                Part::Wild(Pattern::new(text).map_err(|error| {
                    Error::new(Kind::Usage, "the pattern is invalid").at(pattern).found(error)
                })?)
            }
            _ => Part::Name(name.to_owned()),
        });
    }
    let ends_in_star = match &parts[..] {
        [.., Part::Deep, Part::Wild(last)] => last.as_str() == "*",
        _ => false,
    };
    if ends_in_star {
        parts.pop();
    }
    if let Some(last @ Part::Deep) = parts.last_mut() {
        *last = Part::Everything;
    }
    Ok(parts)
}

/// The folder at `path` and all folders below it, links followed: each once, and none whose name
/// begins with a dot. None if there is no such folder.
fn folders_at(path: &Path) -> Result<Vec<PathBuf>> {
    let mut seen = HashSet::new();
    let mut folders = Vec::new();
    if existing(here(path))?.is_none() {
        return Ok(folders);
    }
    let mut walk = walk(here(path));
    while let Some(entry) = walk.next() {
        progress::tick(Activity::Reading);
        let entry = match entry {
            // A link that leads nowhere is no folder, and one that leads up was walked already.
            Err(error) if leads_nowhere(&error) || error.loop_ancestor().is_some() => continue,
            entry => entry.map_err(|error| unreadable(path, &error))?,
        };
        if !entry.file_type().is_dir() {
            continue;
        }
        let metadata = entry.metadata().map_err(|error| unreadable(path, &error))?;
        if entry.depth() > 0 && !is_shown(entry.file_name()) || !seen.insert(FileId::of(&metadata))
        {
            walk.skip_current_dir();
            continue;
        }
        let below = entry.path().strip_prefix(here(path)).unwrap_or(entry.path());
        folders.push(if below == Path::new("") { path.to_path_buf() } else { path.join(below) });
    }
    Ok(folders)
}

/// Walks a folder, links followed, each folder in the order of its names.
fn walk(folder: &Path) -> walkdir::IntoIter {
    WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter()
}

/// What failed on a walk below `folder`.
fn unreadable(folder: &Path, error: &walkdir::Error) -> Error {
    let path = error.path().unwrap_or(folder);
    match error.io_error() {
        Some(_) if leads_nowhere(error) => dangling(path),
        Some(cause) => Error::io(path, cause),
        None => Error::new(Kind::Io, error.to_string()),
    }
}

/// Whether a walk failed because a link leads nowhere.
fn leads_nowhere(error: &walkdir::Error) -> bool {
    error.io_error().is_some_and(|cause| is_absent(cause) || is_circle(cause))
}

/// Whether `*` matches this name: it does not begin with a dot.
fn is_shown(name: &OsStr) -> bool {
    !name.as_encoded_bytes().starts_with(b".")
}

/// The names in a folder, in the order of their bytes; none if there is no such folder.
fn names(folder: &Path) -> Result<Vec<OsString>> {
    progress::tick(Activity::Reading);
    let entries = match fs::read_dir(here(folder)) {
        Err(cause) if is_absent(&cause) => return Ok(Vec::new()),
        entries => entries.at(folder)?.collect::<io::Result<Vec<_>>>().at(folder)?,
    };
    let mut names: Vec<OsString> = entries.into_iter().map(|entry| entry.file_name()).collect();
    names.sort_unstable_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    Ok(names)
}

/// The path to give to the system: an empty path stands for the working directory.
fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The file or folder at `path`, links followed. `None` if there is none.
fn existing(path: &Path) -> Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(cause) if is_absent(&cause) || is_circle(&cause) => Ok(None),
        Err(cause) => Err(Error::io(path, &cause)),
    }
}

fn dangling(link: &Path) -> Error {
    Error::new(Kind::Missing, "the link leads nowhere, so a page may be missing")
        .at(link)
        .help("restore what it points to, or remove the link")
}

/// Whether links lead in a circle.
fn is_circle(cause: &io::Error) -> bool {
    cause.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

fn is_absent(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    /// A folder of the files named, each holding its own name.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        folder
    }

    fn find(folder: &tempfile::TempDir, argument: &str, format: Format) -> Result<Inputs> {
        Inputs::find(&[folder.path().join(argument)], format)
    }

    /// The names of all files found, relative to `folder`.
    fn names(folder: &tempfile::TempDir, inputs: &Inputs) -> Vec<String> {
        let name = |input: &Input| {
            let name = input.name().strip_prefix(folder.path()).unwrap_or(input.name());
            name.to_str().unwrap().to_owned()
        };
        inputs.files().iter().map(name).collect()
    }

    #[test]
    fn a_folder_is_walked_in_the_order_of_its_paths() {
        let folder = folder(&["a/x.txt", "a-b/x", "a.tsv", "b/c/d.jsonl.gz", ".hidden"]);
        let all = find(&folder, "", Format::Auto).unwrap();
        assert_eq!(
            names(&folder, &all),
            [".hidden", "a-b/x", "a.tsv", "a/x.txt", "b/c/d.jsonl.gz"]
        );
        assert_eq!(all.bytes(), 7 + 5 + 5 + 7 + 14);
        let formats: Vec<_> = all.files().iter().map(Input::format).collect();
        use Format::{Jsonl, Text, Tsv};
        assert_eq!(formats, [Text, Text, Tsv, Text, Jsonl]);
        let lines = find(&folder, "", Format::Jsonl).unwrap();
        assert_eq!(names(&folder, &lines), ["b/c/d.jsonl.gz"]);
        assert_eq!(lines.passed_over().count(), 4);
        assert!(lines.passed_over().to_string().contains("a.tsv"), "{}", lines.passed_over());
        let text = find(&folder, "", Format::Text).unwrap();
        assert!(text.files().iter().all(|file| file.format() == Text && !file.is_stream()));
    }

    #[test]
    fn arguments_keep_their_order_and_globs_are_sorted() {
        let folder = folder(&["b.txt", "a/copyright", "c/copyright", "d.d/copyright/x"]);
        let arguments = ["b.txt", "*/copyright"].map(|name| folder.path().join(name));
        let inputs = Inputs::find(&arguments, Format::Text).unwrap();
        assert_eq!(
            names(&folder, &inputs),
            ["b.txt", "a/copyright", "c/copyright", "d.d/copyright/x"]
        );
        assert_eq!(inputs.files()[1].name(), inputs.files()[1].path());
        let deep = find(&folder, "**/*", Format::Text).unwrap();
        assert_eq!(deep.files().len(), 4);
    }

    #[test]
    fn a_path_that_holds_glob_signs_is_itself() {
        let folder = folder(&["a[1].txt", "a1.txt"]);
        let one = find(&folder, "a[1].txt", Format::Auto).unwrap();
        assert_eq!(names(&folder, &one), ["a[1].txt"]);
    }

    #[test]
    fn what_is_not_there_is_missing() {
        let folder = folder(&["a.txt", "sub/b.txt"]);
        for nothing in ["b.txt", "*.tsv", "*/x.tsv"] {
            let error = find(&folder, nothing, Format::Auto).unwrap_err();
            assert_eq!(error.kind(), Kind::Missing, "{error}");
            assert!(error.to_string().contains(nothing), "{error}");
        }
        let error = find(&folder, "a.txt/x", Format::Auto).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "a path leads through a file: {error}");
        let error = find(&folder, "", Format::Tsv).unwrap_err();
        assert_eq!(error.kind(), Kind::Missing);
        assert!(
            error.to_string().contains("expected tsv, found other files, 2 of them"),
            "{error}"
        );
        assert_eq!(find(&folder, "***", Format::Tsv).unwrap_err().kind(), Kind::Usage);
    }

    #[test]
    fn an_empty_folder_holds_nothing_and_that_is_well() {
        let inputs = find(&folder(&[]), "", Format::Jsonl).unwrap();
        assert_eq!((inputs.files(), inputs.bytes()), (&[][..], 0));
        assert!(inputs.contents().unwrap().is_some());
    }

    #[test]
    fn links_are_followed_but_never_in_circles() {
        let folder = folder(&["a/x.txt", "b/y.txt"]);
        let at = |name: &str| folder.path().join(name);
        symlink(at("a/x.txt"), at("linked.txt")).unwrap();
        for name in ["a/up", "a/self", "b/up", "b/other"] {
            let to = if name == "a/self" { at("a") } else { folder.path().into() };
            symlink(to, at(name)).unwrap();
        }
        for everything in ["", "**", "**/*"] {
            let inputs = find(&folder, everything, Format::Text).unwrap();
            assert_eq!(names(&folder, &inputs), ["a/x.txt", "b/y.txt", "linked.txt"]);
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_refused() {
        let folder = folder(&["a/x.txt"]);
        symlink("nowhere", folder.path().join("a/dangling.txt")).unwrap();
        symlink("circle.txt", folder.path().join("circle.txt")).unwrap();
        for argument in ["a", "a/*", "**/*.txt", "a/dangling.txt", "circle*"] {
            let error = find(&folder, argument, Format::Text).unwrap_err();
            assert_eq!(error.kind(), Kind::Missing, "{argument}: {error}");
            assert!(error.to_string().contains("the link leads nowhere"), "{argument}: {error}");
        }
        find(&folder, "a/x*", Format::Text).unwrap();
    }

    #[test]
    fn two_stars_at_the_end_take_everything_below() {
        let folder = folder(&["d/a.jsonl", "d/e/b.jsonl", "d/e/f/c.jsonl", "x.jsonl", "d/.h"]);
        let all = ["d/a.jsonl", "d/e/b.jsonl", "d/e/f/c.jsonl"];
        for argument in ["d/**", "d/**/*", "d/**/*.jsonl", "*/**", "**/d/**/**"] {
            let inputs = find(&folder, argument, Format::Auto).unwrap();
            assert_eq!(names(&folder, &inputs), all, "{argument}");
        }
        let inputs = find(&folder, "**/?.jsonl", Format::Auto).unwrap();
        assert_eq!(inputs.files().len(), 4);
    }

    #[test]
    fn a_name_that_is_not_utf_8_is_found() {
        let folder = folder(&["a/b.txt"]);
        let odd = folder.path().join(OsStr::from_bytes(b"a/\xff.txt"));
        fs::write(&odd, "").unwrap();
        for argument in ["a", "a/*", "**", "*/*.txt", "a/?.txt"] {
            let inputs = find(&folder, argument, Format::Text).unwrap();
            assert_eq!(inputs.files().len(), 2, "{argument}");
            assert_eq!(inputs.files()[1].path(), odd, "{argument}");
        }
    }
}
