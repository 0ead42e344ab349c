//! The kept records of a corpus as they came: for each file of the input a file of the same name and format. Where texts are cut that cannot be put
//! back, as in web archives, the pages are copied as JSON Lines.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use dupsieve::document::{self, Format, IdList, Input, Inputs, PlaceIds, ReadOptions};
use dupsieve::error::{At, Named};
use dupsieve::output::{self, Lock, PackedFile, STDOUT, Staging};
use dupsieve::step::{self, Step};
use dupsieve::store::{Digest, Segment};
use dupsieve::{Error, Kind, Result};
use xxhash_rust::xxh3::Xxh3;

use super::copied;
use super::copier::Listed;
use super::copies::Copies;
use super::cutting::Cutting;
use crate::flags::GlobalFlags;
use crate::outcome::{Progress, Summary, Unit};

pub(crate) struct Kept {
    inputs: Inputs,
    options: ReadOptions,
    /// For each input file its path below the folder.
    names: Vec<PathBuf>,
    folder: PathBuf,
}

impl Kept {
    /// Copies of these files in `folder`, which is not there yet or holds such copies. `-` is standard output, where the records follow each
    /// other.
    pub(crate) fn of((inputs, options): (Inputs, ReadOptions), folder: &Path) -> Result<Kept> {
        let is_printed = folder == Path::new(STDOUT);
        let is_lost = |file: &Input| file.is_stream() && !(is_printed && file.path() == folder);
        if inputs.files().iter().any(is_lost) {
            return Err(Error::new(Kind::Usage, "standard input cannot be read a second time")
                .help("write it to a file first; `dedup --kept -` copies it to standard output"));
        }
        if is_printed {
            copied::format(&inputs)?;
            return Ok(Kept { inputs, options, names: Vec::new(), folder: folder.to_path_buf() });
        }
        inputs.check_apart(&[folder.to_path_buf()])?;
        if Copies::listed_in(folder)?.is_some() {
            check_outside(&inputs, folder)?;
        }
        let names = names(&inputs)?;
        Ok(Kept { inputs, options, names, folder: folder.to_path_buf() })
    }

    pub(crate) fn files(&self) -> u64 {
        self.names.len() as u64
    }

    /// The same copies, where all documents have their places as ids.
    pub(crate) fn by_place(mut self) -> Kept {
        self.options.fields.place_ids = PlaceIds::All;
        self
    }

    pub(crate) fn moved(self, folder: PathBuf) -> Kept {
        Kept { folder, ..self }
    }

    /// Whether the folder has the records whose ids are listed, of pages that were read as the segment `batch` says.
    pub(crate) fn stand(
        &self,
        ids: &IdList,
        cutting: Option<&Cutting>,
        batch: &Segment,
    ) -> Result<bool> {
        let made_of = self.made_of(ids, cutting, batch);
        let there = Copies::listed_in(&self.folder)?;
        there.map_or(Ok(false), |there| there.stand(&self.folder, made_of))
    }

    /// What decides the copies of the records whose ids are listed: the names of the files, what was read and how, the ids, and what is cut out.
    fn made_of(&self, ids: &IdList, cutting: Option<&Cutting>, batch: &Segment) -> Digest {
        let mut hasher = Xxh3::new();
        hasher.update(format!("{:?} {:?}", self.names, batch.identity()).as_bytes());
        ids.keys().iter().for_each(|key| hasher.update(&key.to_le_bytes()));
        cutting.iter().for_each(|it| hasher.update(&it.made_of.0.to_le_bytes()));
        Digest(hasher.digest128())
    }

    /// Copies the records whose ids are listed, without what is cut out of them. The folder appears complete, or does not change. Where the segment of the inputs is given, by
    /// which a rerun knows them, copies that are there already are not made again.
    pub(crate) fn copy(
        &self,
        ids: IdList,
        cutting: Option<Cutting>,
        batch: Option<&Segment>,
        global: &GlobalFlags,
    ) -> Result<Summary> {
        if self.folder == Path::new(STDOUT) {
            return self.print(ids, global);
        }
        if let Some(batch) = batch
            && self.stand(&ids, cutting.as_ref(), batch)?
        {
            let summary = Summary::new().count("copied", ids.len() as u64);
            return Ok(summary.path("kept", &self.folder).already_done());
        }
        let made_of = batch.map(|batch| self.made_of(&ids, cutting.as_ref(), batch));
        self.copy_listed(Listed::new(ids).cut(cutting), made_of, global)
    }

    pub(crate) fn copy_all_but(&self, ids: IdList, global: &GlobalFlags) -> Result<Summary> {
        self.copy_listed(Listed::all_but(ids), None, global)
    }

    pub(crate) fn copy_cut(&self, cutting: Cutting, global: &GlobalFlags) -> Result<Summary> {
        let all = Listed::all_but(IdList::of(Path::new(""), Vec::new()));
        self.copy_listed(all.cut(Some(cutting)), None, global)
    }

    fn print(&self, ids: IdList, global: &GlobalFlags) -> Result<Summary> {
        step::begin(Step::Reading);
        let total = self.inputs.bytes();
        let (progress, _shown) = Progress::count("copying", Unit::Bytes, total, global.quiet);
        let mut listed = Listed::new(ids);
        let unit = copied::unit(copied::format(&self.inputs)?);
        let out = PackedFile::create_by(unit, &self.folder)?;
        let out = listed.copy(&self.inputs, &self.options, &progress, out)?;
        listed.expect_all()?;
        out.finish(false)?;
        Ok(Summary::new().count("copied", listed.len()))
    }

    fn copy_listed(
        &self,
        mut listed: Listed,
        made_of: Option<Digest>,
        global: &GlobalFlags,
    ) -> Result<Summary> {
        step::begin(Step::Reading);
        let staging = Staging::beside(&self.folder, Lock::beside(&self.folder)?)?;
        let total = self.inputs.bytes();
        let (progress, _shown) = Progress::count("copying", Unit::Bytes, total, global.quiet);
        for (file, name) in self.inputs.files().iter().zip(&self.names) {
            let one = Inputs::one(file);
            let are_pages = listed.makes_pages(&one, &self.options.fields);
            let name = if are_pages { &copied::name_of_pages(name) } else { name };
            let path = staging.folder().join(name);
            if are_pages || !file.format().is_whole_file() {
                let format = if are_pages { Format::Jsonl } else { copied::format(&one)? };
                let unit = copied::unit(format);
                let out = PackedFile::staged(unit, document::packing(file)?, &path)?;
                listed.copy(&one, &self.options, &progress, out)?.finish(false)?;
            } else if file.name().to_str().is_some_and(|id| listed.is_next(id)) {
                copy_whole(file, &path)?;
            }
        }
        listed.expect_all()?;
        self.inputs.check_unchanged(&[])?;
        let summary = Summary::new().count("copied", listed.len()).path("kept", &self.folder);
        let summary = listed.count_cut(summary);
        let is_old = self.publish(staging, made_of, global)?;
        Ok(if is_old { summary.already_done() } else { summary })
    }

    /// Moves the copies to their folder. Returns whether the same ones are there already.
    fn publish(
        &self,
        staging: Staging,
        made_of: Option<Digest>,
        global: &GlobalFlags,
    ) -> Result<bool> {
        step::begin(Step::Writing);
        let copies = Copies::found_in(staging.folder(), made_of)?;
        if Copies::listed_in(&self.folder)?.is_some() {
            let found = Copies::found_in(&self.folder, made_of)?;
            if found == copies {
                return Ok(true);
            }
            if !global.overwrite {
                return Err(Error::new(Kind::Exists, "the copies here are not as they would be made: a file was changed, added or is missing")
                    .at(&self.folder)
                    .help("choose another folder, or replace these copies with --overwrite"));
            }
        }
        copies.write(&staging)?;
        staging.commit_all().map(|()| false)
    }
}

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
        if Copies::is_mark(name) {
            let what =
                "a file of this name says something of its folder, so no copy can have the name";
            return Err(Error::new(Kind::Usage, what).at(file.path()).help("rename the file"));
        }
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

fn one_place(file: &Input, other: &Path, name: &Path) -> Error {
    Error::new(Kind::Usage, "the copies of two input files would have one name")
        .at(file.path())
        .found(format_args!("the copy of {} and {} in one place", other.named(), name.named()))
        .help("give --input the folder that both are below")
}
