//! The list of input files, and what is known of each before it is read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::io::{self, Read, Write};
use std::path::{self, Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::format::Format;
use super::origin::Origin;
use super::record::Position;
use crate::error::{At, Error, Kind, Named, Result, name_of};
use crate::output::FileId;

/// The input files in order: arguments as given, the files of one by the bytes of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    pub(super) files: Vec<Input>,
    pub(super) walked: HashSet<FileId>,
    pub(super) prefixes: Vec<PathBuf>,
    pub(super) passed_over: PassedOver,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    path: PathBuf,
    /// The path as it was given.
    given: PathBuf,
    name: PathBuf,
    format: Format,
    origin: Origin,
}

/// The files in input folders that are not read: their number and the first few names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    count: u64,
    first: Vec<PathBuf>,
    hidden: u64,
    first_hidden: Option<PathBuf>,
}

impl PassedOver {
    const NAMED: usize = 10;

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn hidden(&self) -> Option<(u64, &Path)> {
        self.first_hidden.as_deref().map(|first| (self.hidden, first))
    }

    pub(super) fn push(&mut self, path: PathBuf) {
        self.add(PassedOver { count: 1, first: vec![path], ..PassedOver::default() });
    }

    pub(super) fn hide(&mut self, path: PathBuf) {
        self.hidden += 1;
        self.first_hidden.get_or_insert(path);
    }

    pub(super) fn add(&mut self, others: PassedOver) {
        self.count += others.count;
        let room = PassedOver::NAMED - self.first.len();
        self.first.extend(others.first.into_iter().take(room));
        self.hidden += others.hidden;
        self.first_hidden = self.first_hidden.take().or(others.first_hidden);
    }
}

impl fmt::Display for PassedOver {
    /// `12 of them: a.csv, b.csv, ...`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.first.iter().map(|path| path.named()).collect();
        let more = if self.count > names.len() as u64 { ", ..." } else { "" };
        write!(f, "{} of them: {}{more}", self.count, names.join(", "))
    }
}

impl Inputs {
    pub fn one(file: &Input) -> Inputs {
        Inputs { files: vec![file.clone()], ..Inputs::default() }
    }

    pub fn passed_over(&self) -> &PassedOver {
        &self.passed_over
    }

    pub fn formats(&self) -> BTreeMap<Format, u64> {
        let mut formats = BTreeMap::new();
        for file in &self.files {
            *formats.entry(file.format).or_default() += 1;
        }
        formats
    }

    /// Fails with [`Kind::Usage`] if an output is an input file, or lies in an input folder, where the next run would read it.
    pub fn check_apart(&self, outputs: &[PathBuf]) -> Result<()> {
        for output in outputs {
            if let Some(id) = FileId::at(output)
                && let Some(input) = self.files.iter().find(|file| file.origin.is(id))
            {
                return Err(Error::new(Kind::Usage, "this file is both an input and an output")
                    .at(output)
                    .found(format_args!("it is the input {}", input.path.named()))
                    .help("choose another output"));
            }
            let whole = path::absolute(output).at(output)?;
            let named = name_of(&whole);
            let walked = |folder: &&Path| {
                FileId::at(folder).is_some_and(|folder| self.walked.contains(&folder))
            };
            let folder = whole.ancestors().skip(1).find(walked);
            let prefix = || self.prefixes.iter().find(|prefix| named.starts_with(prefix));
            if let Some(folder) = folder.or_else(|| prefix().map(PathBuf::as_path)) {
                return Err(Error::new(Kind::Usage, "the output lies in an input folder")
                    .called("output-in-input")
                    .at(output)
                    .found(format_args!("every file below {} is read", folder.named()))
                    .help(
                        "choose another place for the output, or name the input files by a pattern",
                    ));
            }
        }
        Ok(())
    }

    pub fn files(&self) -> &[Input] {
        &self.files
    }

    pub fn has_stream(&self) -> bool {
        self.files.iter().any(Input::is_stream)
    }

    /// Whether all of them are files, which can be read again and cost no request.
    pub fn are_files(&self) -> bool {
        self.files.iter().all(|file| matches!(file.origin, Origin::File(_)))
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.origin.bytes()).sum()
    }

    pub fn names_digest(&self) -> u128 {
        let mut hasher = Xxh3::new();
        for file in &self.files {
            for part in [file.path.as_os_str().as_encoded_bytes(), file.format.name().as_bytes()] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            hasher.update(&file.origin.bytes().to_le_bytes());
        }
        hasher.digest128()
    }

    /// Names files by their whole paths where two of them have one path below their folders.
    pub(super) fn tell_apart(&mut self) {
        let mut names = HashMap::new();
        for file in &self.files {
            *names.entry(file.name.clone()).or_insert(0_u32) += 1;
        }
        for file in &mut self.files {
            if names[&file.name] > 1 {
                file.name.clone_from(&file.given);
            }
        }
    }

    /// XXH3-128 of the names of all files, in order, which decide the ids of records that get their places as ids.
    pub fn place_digest(&self) -> u128 {
        let names: Vec<String> = self.files.iter().map(Input::name_in_ids).collect();
        xxh3_128(names.join("\n").as_bytes())
    }

    #[cfg(test)]
    pub(super) fn at_rest(&self) -> Inputs {
        let at_rest =
            |file: &Input| Input { origin: file.origin.clone().at_rest(), ..file.clone() };
        Inputs { files: self.files.iter().map(at_rest).collect(), ..self.clone() }
    }

    pub(super) fn place(&self, position: Position) -> String {
        escape(self.files[position.file as usize].path())
    }
}

impl Input {
    /// A file at `path` that was `given` as this, or below a folder; its `name` is its path below the folder, or as it was given.
    pub(super) fn new(
        path: PathBuf,
        [given, name]: [&Path; 2],
        format: Format,
        origin: Origin,
    ) -> Input {
        let [given, name] = [given, name].map(Path::to_path_buf);
        Input { path, given, name, format, origin }
    }

    pub(super) fn standard(format: Format) -> Input {
        let path = Path::new("-");
        Input::new(path.to_path_buf(), [path; 2], format, Origin::Standard)
    }

    /// The path, or the address of an object without secrets; `-` is standard input.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the document if the file is one: the path below the input folder, or the path itself.
    pub fn name(&self) -> &Path {
        &self.name
    }

    pub(super) fn name_in_ids(&self) -> String {
        escape(&self.name)
    }

    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether it is a pipe or the like, which only one process can read, and only once.
    pub fn is_stream(&self) -> bool {
        self.origin.is_stream()
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    pub fn copy(&self, out: &mut impl Write) -> Result<u64> {
        io::copy(&mut self.open()?, out).at(&self.path)
    }

    pub(super) fn open(&self) -> Result<Box<dyn Read>> {
        self.origin.open(&self.path)
    }
}

/// Escapes a path for one field of a TSV file or for an id: control characters, backslashes and what is not UTF-8.
fn escape(path: &Path) -> String {
    let mut escaped = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() || character == '\\' {
                escaped.extend(character.escape_default());
            } else {
                escaped.push(character);
            }
        }
        escaped.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn digest(format: Format, files: &[(&str, &str)]) -> u128 {
        let folder = tempfile::tempdir().unwrap();
        for (name, contents) in files {
            fs::write(folder.path().join(name), contents).unwrap();
        }
        let inputs = Inputs::find(&[folder.path().into()], format).unwrap();
        inputs.digest(&inputs.contents().unwrap().unwrap())
    }

    #[test]
    fn the_digest_is_of_the_contents_and_of_the_ids() {
        let pages = digest(Format::Auto, &[("a.txt", "page"), ("b.txt", "page")]);
        assert_eq!(pages, digest(Format::Text, &[("a.txt", "page"), ("b.txt", "page")]));
        assert_ne!(pages, digest(Format::Auto, &[("a.txt", "pag"), ("b.txt", "epage")]));
        assert_ne!(pages, digest(Format::Auto, &[("a.txt", "page"), ("c.txt", "page")]));
        // Of files of lines the names do not matter.
        let lines = digest(Format::Auto, &[("a.tsv", "one\n"), ("b.tsv", "two\n")]);
        assert_eq!(lines, digest(Format::Auto, &[("b.tsv", "one\n"), ("c.tsv", "two\n")]));
        assert_ne!(lines, digest(Format::Auto, &[("a.tsv", "one\ntwo\n"), ("b.tsv", "")]));
        assert_ne!(lines, digest(Format::Auto, &[("a.jsonl", "one\n"), ("b.jsonl", "two\n")]));
    }
}
