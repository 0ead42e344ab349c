//! Which index a store keeps, and its files made and removed as segments come and go.
//!
//! The file `INDEX` of a store names the design. Files of another design, and of segments that the newest version
//! does not have, are removed. What is missing is made: an index is built file by file, so a run that died goes on
//! where it stopped. A reader that finds a file missing asks that segment by flips.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::design::IndexDesign;
use super::table_file::{Content, TableFile};
use crate::error::{At, Error, Kind, Named, Result};
use crate::fingerprint::check::ANCHORS;
use crate::output::{Lock, check_free_space};
use crate::store::{Kept, Segment, Store};

const ANCHOR_ENTRY_BYTES: u64 = 7;

/// The design of the index that a store keeps.
pub fn design_of(store: &Store) -> Result<IndexDesign> {
    let advised = |error: Error| error.help("make the index again").job("store index");
    let sidecars = TableFile { store: store.path() }.sidecars();
    let Some(name) = sidecars.named().map_err(advised)? else {
        return Ok(IndexDesign::None);
    };
    let design = IndexDesign::ALL.into_iter().find(|design| design.to_string() == name);
    design.ok_or_else(|| {
        let error = Error::new(Kind::BadData, "there is no such index");
        advised(error.at(store.path().join(sidecars.marker)).found(name))
    })
}

/// How many files the index of the newest version lacks, if it is of this design, and how many fingerprints go
/// into them.
pub fn missing(store: &Store, design: IndexDesign) -> Result<(u64, u64)> {
    let tables = TableFile { store: store.path() };
    let mut missing = (0, 0);
    for segment in store.at(None)?.segments()? {
        for content in tables.contents(&segment, design)? {
            if !is_there(&tables, &segment, &content) {
                missing = (missing.0 + 1, missing.1 + segment.rows());
            }
        }
    }
    Ok(missing)
}

/// Gives a store the index of this design, and takes away any other. The sorts take about `memory_bytes`; `sorted`
/// grows by the fingerprints of each file that is done.
pub fn index(
    store: &Store,
    design: IndexDesign,
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

/// Makes the files that the index of a store lacks after a change, and removes the files that the
/// index no longer needs. A store without an index stays as it is.
pub fn keep(store: &Store, memory_bytes: usize, sorted: &AtomicU64) -> Result<Kept> {
    match design_of(store)? {
        IndexDesign::None => Ok(Kept::default()),
        design => index(store, design, memory_bytes, sorted),
    }
}

/// The files of the index of a store and their bytes.
pub fn size(store: &Store) -> Result<(u64, u64)> {
    TableFile { store: store.path() }.sidecars().size()
}

/// Reads and checks every file of the index of a store, and that none is missing. Returns how many there are.
pub fn verify(store: &Store) -> Result<u64> {
    let tables = TableFile { store: store.path() };
    let paths = tables.sidecars().all()?;
    paths.iter().try_for_each(|path| Segment::open(path)?.verify())?;
    let design = design_of(store)?;
    for segment in store.at(None)?.segments()? {
        for content in tables.contents(&segment, design)? {
            if tables.open(&segment, &content)?.is_none() {
                let path = tables.path(segment.digest(), &content);
                let error = tables.sidecars().lacking(&path, store.lock());
                let error = error
                    .help("make the index again")
                    .job(format!("store index {}", store.path().named()));
                return Err(error.setting(format!("design {design}")));
            }
        }
    }
    Ok(paths.len() as u64)
}

fn bytes_to_write(segment: &Segment, content: &Content, memory_bytes: usize) -> u64 {
    let (table, sorted) = match content {
        Content::Permuted { .. } => {
            let bytes = segment.rows() * u64::from(segment.width().bits() / 8);
            (segment.cuts().map(|(_, bytes)| bytes).sum(), bytes)
        }
        Content::Anchors => {
            let anchors = segment.rows() * ANCHORS as u64;
            (anchors * ANCHOR_ENTRY_BYTES, anchors * size_of::<u128>() as u64)
        }
    };
    if sorted + sorted / 2 < memory_bytes as u64 { table } else { table + sorted }
}

fn is_there(tables: &TableFile<'_>, segment: &Segment, content: &Content) -> bool {
    matches!(tables.open(segment, content), Ok(Some(_)))
}

struct Keeping<'a> {
    store: &'a Store,
    tables: TableFile<'a>,
    lock: Lock,
}

impl Keeping<'_> {
    fn make(&self, design: IndexDesign, memory_bytes: usize, sorted: &AtomicU64) -> Result<Kept> {
        let mut kept = Kept::default();
        let folder = self.tables.sidecars().folder();
        for segment in self.store.at(None)?.segments()? {
            for content in self.tables.contents(&segment, design)? {
                if !is_there(&self.tables, &segment, &content) {
                    fs::create_dir_all(&folder).at(&folder)?;
                    check_free_space(&folder, bytes_to_write(&segment, &content, memory_bytes))?;
                    self.tables.make(&segment, &content, memory_bytes, self.lock.fence())?;
                    sorted.fetch_add(segment.rows(), Ordering::Relaxed);
                    kept.made += 1;
                }
            }
        }
        Ok(kept)
    }

    fn name(&self, design: IndexDesign) -> Result<()> {
        let name = (design != IndexDesign::None).then(|| design.to_string());
        self.tables.sidecars().name(name.as_deref(), &self.lock)
    }

    fn remove_others(&self, design: IndexDesign, kept: &mut Kept) -> Result<()> {
        let mut own: Vec<PathBuf> = Vec::new();
        for segment in self.store.at(None)?.segments()? {
            let contents = self.tables.contents(&segment, design)?;
            own.extend(contents.iter().map(|it| self.tables.path(segment.digest(), it)));
        }
        self.tables.sidecars().remove_others(&own, &self.lock, kept)
    }
}
