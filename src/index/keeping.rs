//! Which index a store keeps, and its files made and removed as segments come and go.
//!
//! The file `INDEX` of a store names the design. Files of another design, and of segments that the newest version
//! does not have, are removed. What is missing is made: an index is built file by file, so a run that died goes on
//! where it stopped. A reader that finds a file missing asks that segment by flips.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::design::Design;
use super::table_file::TableFile;
use crate::error::{At, Error, Kind, Result};
use crate::output::{Lock, UNFINISHED, check_free_space, sync_folder, write_file};
use crate::small_file;
use crate::store::{Segment, Store};

/// The file of a store that names its design.
const INDEX: &str = "INDEX";

/// The most bytes that it may have.
const LONGEST: u64 = 1 << 10;

/// What was done to keep an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Files that were made.
    pub made: u64,
    /// Files that were removed.
    pub removed: u64,
    /// Files of the index now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The design of the index that a store keeps.
///
/// # Errors
/// A damaged `INDEX` is [`Kind::BadData`].
pub fn design_of(store: &Store) -> Result<Design> {
    let path = store.path().join(INDEX);
    let bytes = match small_file::read(&path, LONGEST, Kind::BadData) {
        Err(error) if error.kind() == Kind::Missing => return Ok(Design::None),
        bytes => bytes?,
    };
    let told = String::from_utf8_lossy(&bytes);
    let design = Design::ALL.into_iter().find(|&design| line(design) == told);
    design.ok_or_else(|| {
        Error::new(Kind::BadData, "this file does not name an index")
            .at(&path)
            .expected("the name of a design and a checksum")
            .found(format_args!("{told:.100?}"))
            .help("make the index again with `dupsieve store index`")
    })
}

/// The line of `INDEX`: the name and its XXH3-64.
fn line(design: Design) -> String {
    let name = design.to_string();
    format!("{name} {:016x}\n", xxh3_64(name.as_bytes()))
}

/// How many files the index of the newest version lacks, if it is of this design, and how many fingerprints go
/// into them.
///
/// # Errors
/// As [`Version::segments`](crate::store::Version::segments).
pub fn missing(store: &Store, design: Design) -> Result<(u64, u64)> {
    let tables = TableFile { store: store.path() };
    let mut missing = (0, 0);
    for segment in store.at(None)?.segments()? {
        for number in 0..design.files(segment.width())?.len() {
            if !is_there(&tables, &segment, design, number) {
                missing = (missing.0 + 1, missing.1 + segment.rows());
            }
        }
    }
    Ok(missing)
}

/// Gives a store the index of this design, and takes away any other. The sorts take about `memory_bytes`; `sorted`
/// grows by the fingerprints of each file that is done.
///
/// # Errors
/// Damage of a segment is [`Kind::BadData`], a store that another run is changing [`Kind::Temporary`].
pub fn index(
    store: &Store,
    design: Design,
    memory_bytes: usize,
    sorted: &AtomicU64,
) -> Result<Kept> {
    let lock = store.lock()?;
    let keeping = Keeping { store, tables: TableFile { store: store.path() }, lock };
    let mut kept = keeping.make(design, memory_bytes, sorted)?;
    if design_of(store).ok() != Some(design) {
        keeping.name(design)?;
    }
    keeping.remove_others(design, &mut kept)?;
    Ok(kept)
}

/// Makes what the index of a store lacks after a change, and removes what it no longer needs. A store without an
/// index stays as it is.
///
/// # Errors
/// As [`index`].
pub fn keep(store: &Store, memory_bytes: usize, sorted: &AtomicU64) -> Result<Kept> {
    match design_of(store)? {
        Design::None => Ok(Kept::default()),
        design => index(store, design, memory_bytes, sorted),
    }
}

/// The files of the index of a store and their bytes.
///
/// # Errors
/// Those of the system.
pub fn size(store: &Store) -> Result<(u64, u64)> {
    let mut size = (0, 0);
    for path in (TableFile { store: store.path() }).all()? {
        let bytes = fs::metadata(&path).map_or(0, |file| file.len());
        size = (size.0 + 1, size.1 + bytes);
    }
    Ok(size)
}

/// Reads and checks every file of the index of a store. Returns how many there are.
///
/// # Errors
/// Damage is [`Kind::BadData`].
pub fn verify(store: &Store) -> Result<u64> {
    let paths = (TableFile { store: store.path() }).all()?;
    paths.iter().try_for_each(|path| Segment::open(path)?.verify())?;
    design_of(store).map(|_| paths.len() as u64)
}

/// About how many bytes a table of `segment` takes, with those of a sort that does not fit into its memory.
fn bytes_to_write(segment: &Segment, memory_bytes: usize) -> u64 {
    let table: u64 = segment.cuts().map(|(_, bytes)| bytes).sum();
    let sorted = segment.rows() * u64::from(segment.width().bits() / 8);
    if sorted + sorted / 2 < memory_bytes as u64 { table } else { table + sorted }
}

/// Whether table `number` of `segment` is there and can be opened.
fn is_there(tables: &TableFile<'_>, segment: &Segment, design: Design, number: usize) -> bool {
    matches!(tables.open(segment, design, number), Ok(Some(_)))
}

/// A store whose index is changed, and nothing else at the same time.
struct Keeping<'a> {
    store: &'a Store,
    tables: TableFile<'a>,
    lock: Lock,
}

impl Keeping<'_> {
    /// Makes the files of `design` that the newest version lacks.
    fn make(&self, design: Design, memory_bytes: usize, sorted: &AtomicU64) -> Result<Kept> {
        let mut kept = Kept::default();
        let folder = self.tables.folder();
        for segment in self.store.at(None)?.segments()? {
            for (number, permutation) in design.files(segment.width())?.iter().enumerate() {
                if !is_there(&self.tables, &segment, design, number) {
                    fs::create_dir_all(&folder).at(&folder)?;
                    check_free_space(&folder, bytes_to_write(&segment, memory_bytes))?;
                    let table = (number, permutation);
                    self.tables.make(&segment, design, table, memory_bytes, self.lock.fence())?;
                    sorted.fetch_add(segment.rows(), Ordering::Relaxed);
                    kept.made += 1;
                }
            }
        }
        Ok(kept)
    }

    /// Makes `design` the one that the store keeps.
    fn name(&self, design: Design) -> Result<()> {
        let path = self.store.path().join(INDEX);
        if design != Design::None {
            return write_file(&path, line(design).as_bytes(), &self.lock);
        }
        self.lock.check()?;
        match fs::exists(&path).at(&path)? {
            true => fs::remove_file(&path).at(&path).and_then(|()| sync_folder(self.store.path())),
            false => Ok(()),
        }
    }

    /// Removes the files that the index of the newest version does not have, and those of runs that died.
    fn remove_others(&self, design: Design, kept: &mut Kept) -> Result<()> {
        let folder = self.tables.folder();
        let mut own: Vec<PathBuf> = Vec::new();
        for segment in self.store.at(None)?.segments()? {
            let files = design.files(segment.width())?.len();
            own.extend((0..files).map(|at| self.tables.path(segment.digest(), design, at)));
        }
        self.lock.check()?;
        for path in self.tables.all()? {
            if own.contains(&path) {
                kept.files += 1;
                kept.bytes += fs::metadata(&path).at(&path)?.len();
            } else {
                fs::remove_file(&path).at(&path)?;
                kept.removed += 1;
            }
        }
        if !folder.exists() {
            return Ok(());
        }
        for entry in fs::read_dir(&folder).at(&folder)? {
            let path = entry.at(&folder)?.path();
            let name = path.file_name().unwrap_or_default();
            if name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                fs::remove_file(&path).at(&path)?;
            }
        }
        if own.is_empty() {
            // It stays if somebody else's files are in it.
            let _ = fs::remove_dir(&folder);
        }
        Ok(())
    }
}
