//! One argument of `--input` expanded into the files that it stands for.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Format, Input};
use crate::error::{At, Error, Kind, Result};

/// The files that one argument stands for.
pub(super) fn expand(argument: &Path, format: Format) -> Result<Vec<Input>> {
    if argument == "-" {
        return Ok(vec![Input::standard(format)]);
    }
    let mut found = Found { format, files: Vec::new(), folders: HashSet::new(), passed_over: 0 };
    match fs::metadata(argument) {
        Ok(metadata) if metadata.is_dir() => found.folder(argument, argument, &metadata)?,
        Ok(metadata) => found.file(argument, &metadata)?,
        Err(cause) if is_absent(&cause) => found.matches(argument)?,
        Err(cause) => return Err(Error::io(argument, &cause)),
    }
    if found.files.is_empty() && found.passed_over > 0 {
        return Err(Error::new(Kind::Missing, "no file in this folder fits the format")
            .at(argument)
            .expected(format)
            .found(format_args!("other files, {} of them", found.passed_over))
            .help("name the files, or another --format"));
    }
    Ok(found.sorted())
}

/// What has been found for one argument so far.
struct Found {
    format: Format,
    files: Vec<Input>,
    /// Device and inode of the folders already walked.
    folders: HashSet<(u64, u64)>,
    passed_over: u64,
}

impl Found {
    /// A file named by itself.
    fn file(&mut self, path: &Path, metadata: &Metadata) -> Result<()> {
        let format = self.format.alone(path)?;
        self.files.push(Input::new(path.to_path_buf(), path, format, metadata));
        Ok(())
    }

    /// All files below `folder`, named by their paths below `root`.
    fn folder(&mut self, folder: &Path, root: &Path, metadata: &Metadata) -> Result<()> {
        if !self.folders.insert((metadata.dev(), metadata.ino())) {
            return Ok(());
        }
        let entries =
            fs::read_dir(folder).at(folder)?.collect::<io::Result<Vec<_>>>().at(folder)?;
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
        for path in paths {
            match existing(&path)? {
                Some(metadata) if metadata.is_dir() => self.folder(&path, root, &metadata)?,
                Some(metadata) if metadata.is_file() => self.file_in(path, root, &metadata),
                _ => {}
            }
        }
        Ok(())
    }

    /// A file below `root`, where its name fits the format.
    fn file_in(&mut self, path: PathBuf, root: &Path, metadata: &Metadata) {
        match self.format.in_folder(&path) {
            None => self.passed_over += 1,
            Some(format) => {
                let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
                self.files.push(Input::new(path, &name, format, metadata));
            }
        }
    }

    /// All that matches a pattern; folders among it are walked.
    fn matches(&mut self, pattern: &Path) -> Result<()> {
        let nothing = || {
            Error::new(Kind::Missing, "there is no such input").at(pattern).help(
                "see whether the path or pattern is right and, of a day, whether it was fetched",
            )
        };
        let text = pattern.to_str().ok_or_else(nothing)?;
        let options =
            glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
        let paths = glob::glob_with(text, options).map_err(|error| {
            Error::new(Kind::Usage, "the pattern cannot be read").at(pattern).found(error)
        })?;
        let mut any = false;
        for path in paths {
            let path = path.map_err(|error| Error::io(error.path(), error.error()))?;
            match existing(&path)? {
                Some(metadata) if metadata.is_dir() => {
                    self.folder(&path, Path::new(""), &metadata)?
                }
                Some(metadata) => self.file(&path, &metadata)?,
                None => continue,
            }
            any = true;
        }
        if any { Ok(()) } else { Err(nothing()) }
    }

    /// The files in the order of their paths, each once.
    fn sorted(mut self) -> Vec<Input> {
        self.files.sort_by(|a, b| bytes(a.path()).cmp(bytes(b.path())));
        self.files.dedup_by(|a, b| a.path() == b.path());
        self.files
    }
}

/// What is at `path`, links followed; `None` for a link that leads nowhere.
fn existing(path: &Path) -> Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(cause) if is_absent(&cause) => Ok(None),
        Err(cause) => Err(Error::io(path, &cause)),
    }
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
    use crate::document::Inputs;
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
        for nothing in ["b.txt", "*.tsv", "a.txt/x"] {
            let error = find(&folder, nothing, Format::Auto).unwrap_err();
            assert_eq!(error.kind(), Kind::Missing, "{error}");
            assert!(error.to_string().contains(nothing), "{error}");
        }
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
        assert!(inputs.digest().unwrap().is_some());
    }

    #[test]
    fn links_are_followed_but_never_in_circles() {
        let folder = folder(&["a/x.txt"]);
        let at = |name: &str| folder.path().join(name);
        symlink(at("a/x.txt"), at("linked.txt")).unwrap();
        symlink(folder.path(), at("a/circle")).unwrap();
        symlink(at("nowhere"), at("dangling.txt")).unwrap();
        let inputs = find(&folder, "", Format::Text).unwrap();
        assert_eq!(names(&folder, &inputs), ["a/x.txt", "linked.txt"]);
    }
}
