//! The kept records of a corpus as they came: for each file of the input a file of the same name and format.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use dupsieve::rooms::document::{IdList, Input, Inputs, ReadOptions};
use dupsieve::rooms::error::At;
use dupsieve::rooms::output::{self, Lock, PackedFile, SUCCESS, Staging, Sum};
use dupsieve::rooms::step::{self, Step};
use dupsieve::{Error, Kind, Result};

use super::copied;
use super::copier::{Listed, WholeFiles};
use crate::flags::global::GlobalFlags;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;

/// Copies of the kept records of a corpus.
pub(crate) struct Kept<'a> {
    inputs: Inputs,
    options: ReadOptions,
    /// For each input file its path below the folder.
    names: Vec<PathBuf>,
    folder: &'a Path,
}

impl Kept<'_> {
    /// Copies of these files in `folder`, which is not there yet or holds such copies.
    ///
    /// # Errors
    /// [`Kind::Usage`] if an input can be read only once, if two inputs have one name, or if the folder is among the inputs;
    /// [`Kind::Exists`] if the folder holds something else.
    pub(crate) fn of((inputs, options): (Inputs, ReadOptions), folder: &Path) -> Result<Kept<'_>> {
        if inputs.files().iter().any(Input::is_stream) {
            return Err(Error::new(Kind::Usage, "standard input cannot be read a second time")
                .help("write it to a file first, or leave out --kept"));
        }
        inputs.check_apart(&[folder.to_path_buf()])?;
        if folder.symlink_metadata().is_ok() && !folder.join(SUCCESS).exists() {
            return Err(output::foreign(folder, "copies of kept records, marked as complete"));
        }
        let names = names(&inputs)?;
        Ok(Kept { inputs, options, names, folder })
    }

    /// Copies the records whose ids are in the file `ids`. The folder appears complete, or does not change.
    ///
    /// # Errors
    /// [`Kind::Exists`] if the folder holds other copies; with `--overwrite` they are replaced.
    pub(crate) fn copy(&self, ids: &Path, global: &GlobalFlags) -> Result<Summary> {
        step::begin(Step::Reading);
        let mut listed = Listed::new(IdList::read(ids, global.budget().whole())?);
        let staging = Staging::beside(self.folder, Lock::beside(self.folder)?)?;
        let progress = Arc::new(AtomicU64::new(0));
        let (total, counter) = (self.inputs.bytes(), Arc::clone(&progress));
        let _shown = Progress::show("copying", Unit::Bytes, total, counter, global.quiet);
        for (file, name) in self.inputs.files().iter().zip(&self.names) {
            let is_page = file.format().is_whole_file();
            if is_page && !file.name().to_str().is_some_and(|id| listed.has(id)) {
                continue;
            }
            let one = Inputs::one(file);
            let path = staging.folder().join(name);
            let out = PackedFile::create_by(copied::unit(copied::format(&one)?), &path)?;
            listed
                .copy(&one, &self.options, WholeFiles::AsTheyAre, &progress, out)?
                .finish(false)?;
        }
        listed.expect_all()?;
        let summary = Summary::new().count("copied", listed.len()).path("kept", self.folder);
        if self.publish(staging, global)? { Ok(summary.already_done()) } else { Ok(summary) }
    }

    /// Moves the copies to their folder. Returns whether the same ones are there already.
    fn publish(&self, staging: Staging, global: &GlobalFlags) -> Result<bool> {
        step::begin(Step::Writing);
        let folder = self.folder;
        if folder.symlink_metadata().is_ok() {
            let found = sums(folder)?;
            if found == sums(staging.folder())? {
                return Ok(true);
            }
            if !global.overwrite {
                return Err(Error::new(Kind::Exists, "the folder holds other copies")
                    .at(folder)
                    .help("choose another --kept, or replace these copies with --overwrite"));
            }
            if let Some(stranger) = found.keys().find(|name| !self.names.contains(name)) {
                return Err(output::foreign(&folder.join(stranger), "a copy of an input file"));
            }
        }
        staging.commit().map(|()| false)
    }
}

/// The paths of the copies below their folder: below a folder that was given the same path, else the name of the file alone.
fn names(inputs: &Inputs) -> Result<Vec<PathBuf>> {
    let mut of: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    let mut names = Vec::with_capacity(inputs.files().len());
    for file in inputs.files() {
        let is_below = |part: Component<'_>| matches!(part, Component::Normal(_));
        let name = match file.name() {
            whole if whole != file.path() && whole.components().all(is_below) => whole,
            whole => Path::new(whole.file_name().unwrap_or(whole.as_os_str())),
        };
        if let Some(other) = of.insert(name.to_path_buf(), file.path()) {
            return Err(Error::new(
                Kind::Usage,
                "the copies of two input files would have one name",
            )
            .at(file.path())
            .found(format_args!("{} is named {} too", other.display(), name.display()))
            .help("give --input the folder that both are below"));
        }
        names.push(name.to_path_buf());
    }
    Ok(names)
}

/// The sizes and digests of all files below a folder but its marks.
fn sums(folder: &Path) -> Result<BTreeMap<PathBuf, Sum>> {
    let (mut folders, mut sums) = (vec![folder.to_path_buf()], BTreeMap::new());
    while let Some(within) = folders.pop() {
        for entry in fs::read_dir(&within).at(&within)? {
            let path = entry.at(&within)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if within != folder || !Staging::is_mark(&path) {
                let sum = Sum::of(&path)?;
                sums.insert(path.strip_prefix(folder).unwrap_or(&path).to_path_buf(), sum);
            }
        }
    }
    Ok(sums)
}
