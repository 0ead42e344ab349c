//! The kept records of a corpus as they came: for each file of the input a file of the same name and format.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use dupsieve::rooms::document::{self, IdList, Input, Inputs, PlaceIds, ReadOptions};
use dupsieve::rooms::error::{At, Named};
use dupsieve::rooms::output::{self, Lock, PackedFile, SUCCESS, Staging, Sum};
use dupsieve::rooms::step::{self, Step};
use dupsieve::{Error, Kind, Result};

use super::copied;
use super::copier::Listed;
use crate::flags::global::GlobalFlags;
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;

/// Copies of the kept records of a corpus.
pub(crate) struct Kept {
    inputs: Inputs,
    options: ReadOptions,
    /// For each input file its path below the folder.
    names: Vec<PathBuf>,
    folder: PathBuf,
}

impl Kept {
    /// Copies of these files in `folder`, which is not there yet or holds such copies.
    ///
    /// # Errors
    /// [`Kind::Usage`] if an input can be read only once, if two copies would have one name, or if the folder and the inputs are not
    /// apart; [`Kind::Exists`] if the folder holds something else.
    pub(crate) fn of((inputs, options): (Inputs, ReadOptions), folder: &Path) -> Result<Kept> {
        if inputs.files().iter().any(Input::is_stream) {
            return Err(Error::new(Kind::Usage, "standard input cannot be read a second time")
                .help("write it to a file first; only files can be copied"));
        }
        copied::check(&inputs)?;
        inputs.check_apart(&[folder.to_path_buf()])?;
        if folder.is_symlink() || folder.exists() && !folder.join(SUCCESS).exists() {
            return Err(output::foreign(folder, "copies of kept records, marked as complete"));
        }
        if folder.exists() {
            check_outside(&inputs, folder)?;
        }
        let names = names(&inputs)?;
        Ok(Kept { inputs, options, names, folder: folder.to_path_buf() })
    }

    /// The same copies, where all documents have their places as ids.
    pub(crate) fn by_place(mut self) -> Kept {
        self.options.fields.place_ids = PlaceIds::All;
        self
    }

    /// Copies the records whose ids are listed. The folder appears complete, or does not change.
    ///
    /// # Errors
    /// [`Kind::Exists`] if the folder holds other copies; with `--overwrite` they are replaced.
    pub(crate) fn copy(&self, ids: IdList, global: &GlobalFlags) -> Result<Summary> {
        self.copy_listed(Listed::new(ids), global)
    }

    /// Copies the records of all ids but these, in the same way.
    ///
    /// # Errors
    /// As [`Kept::copy`].
    pub(crate) fn copy_all_but(&self, ids: IdList, global: &GlobalFlags) -> Result<Summary> {
        self.copy_listed(Listed::all_but(ids), global)
    }

    fn copy_listed(&self, mut listed: Listed, global: &GlobalFlags) -> Result<Summary> {
        step::begin(Step::Reading);
        let staging = Staging::beside(&self.folder, Lock::beside(&self.folder)?)?;
        let total = self.inputs.bytes();
        let (progress, _shown) = Progress::count("copying", Unit::Bytes, total, global.quiet);
        for (file, name) in self.inputs.files().iter().zip(&self.names) {
            let path = staging.folder().join(name);
            if !file.format().is_whole_file() {
                let one = Inputs::one(file);
                let unit = copied::unit(copied::format(&one)?);
                let out = PackedFile::staged(unit, document::packing(file)?, &path)?;
                listed.copy(&one, &self.options, &progress, out)?.finish(false)?;
            } else if file.name().to_str().is_some_and(|id| listed.is_next(id)) {
                copy_whole(file, &path)?;
            }
        }
        listed.expect_all()?;
        self.inputs.check_unchanged(&[])?;
        let summary = Summary::new().count("copied", listed.len()).path("kept", &self.folder);
        if self.publish(staging, global)? { Ok(summary.already_done()) } else { Ok(summary) }
    }

    /// Moves the copies to their folder. Returns whether the same ones are there already.
    fn publish(&self, staging: Staging, global: &GlobalFlags) -> Result<bool> {
        step::begin(Step::Writing);
        let folder = &*self.folder;
        if folder.symlink_metadata().is_ok() {
            let found = sums(folder)?;
            if found == sums(staging.folder())? {
                return Ok(true);
            }
            if !global.overwrite {
                return Err(Error::new(Kind::Exists, "the folder holds other copies")
                    .at(folder)
                    .help("choose another folder, or replace these copies with --overwrite"));
            }
            let names: BTreeSet<&PathBuf> = self.names.iter().collect();
            if let Some(stranger) = found.keys().find(|name| !names.contains(name)) {
                return Err(output::foreign(&folder.join(stranger), "a copy of an input file"));
            }
        }
        staging.commit_all().map(|()| false)
    }
}

/// Copies a file that is one page, byte by byte.
fn copy_whole(file: &Input, path: &Path) -> Result<()> {
    let parent = output::parent_of(path);
    fs::create_dir_all(parent).at(parent)?;
    file.copy(&mut File::create_new(path).at(path)?).map(drop)
}

/// Fails if an input file lies in the folder of the copies, which is replaced as a whole.
fn check_outside(inputs: &Inputs, folder: &Path) -> Result<()> {
    let real = output::resolved(folder);
    let within = |file: &&Input| output::resolved(file.path()).starts_with(&real);
    match inputs.files().iter().find(within) {
        None => Ok(()),
        Some(file) => {
            Err(Error::new(Kind::Usage, "an input file lies in the folder of the copies")
                .at(folder)
                .found(file.path().named())
                .help("choose another folder: the inputs are never changed"))
        }
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
        check_name(file, name)?;
        if let Some(other) = of.insert(name.to_path_buf(), file.path()) {
            return Err(one_place(file, other, name));
        }
        names.push(name.to_path_buf());
    }
    for (file, name) in inputs.files().iter().zip(&names) {
        if let Some(other) = name.ancestors().skip(1).find_map(|above| of.get(above)) {
            return Err(one_place(file, other, name));
        }
    }
    Ok(names)
}

/// The error that the copies of two files would be in one place.
fn one_place(file: &Input, other: &Path, name: &Path) -> Error {
    Error::new(Kind::Usage, "the copies of two input files would have one name")
        .at(file.path())
        .found(format_args!("the copy of {} and {} in one place", other.named(), name.named()))
        .help("give --input the folder that both are below")
}

/// Refuses a name that a copy cannot have.
fn check_name(file: &Input, name: &Path) -> Result<()> {
    if !Staging::is_mark(name) || name.components().count() > 1 {
        return Ok(());
    }
    let what = "a file of this name marks a folder as complete, so no copy can have the name";
    Err(Error::new(Kind::Usage, what).at(file.path()).help("rename the file"))
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
