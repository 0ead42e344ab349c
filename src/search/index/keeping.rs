//! Which index a store keeps. Its files come and go with the segments (see `store/sidecars.rs`).
//!
//! The file `INDEX` of a store names the design. Files of another design, and of segments that the newest version
//! does not have, are removed, and what is missing is made. A reader that finds a file missing asks that segment by flips.

use std::sync::atomic::AtomicU64;

use super::design::IndexDesign;
use super::table_file::{TableFile, files, sidecars};
use crate::error::{Error, Kind, Named, Result};
use crate::store::{Kept, Segment, Sidecar, Store};

/// The design of the index that a store keeps.
pub fn design_of(store: &Store) -> Result<IndexDesign> {
    let advised = |error: Error| error.help("make the index again").job("store index");
    let sidecars = sidecars(store);
    let Some(name) = sidecars.named().map_err(advised)? else {
        return Ok(IndexDesign::None);
    };
    let design = IndexDesign::ALL.into_iter().find(|design| design.to_string() == name);
    design.ok_or_else(|| {
        let error = Error::new(Kind::BadData, "there is no such index");
        advised(error.at(store.path().join(sidecars.marker)).found(name))
    })
}

fn files_of(store: &Store, design: IndexDesign) -> impl Fn(&Segment) -> Result<Vec<TableFile>> {
    let folder = sidecars(store).folder();
    move |segment| files(&folder, segment, design)
}

/// How many files an index of this design of the newest version lacks, and how many fingerprints go into them.
pub fn missing(store: &Store, design: IndexDesign) -> Result<(u64, u64)> {
    sidecars(store).missing(files_of(store, design))
}

/// Gives a store the index of this design, and takes away any other. The sorts of so many threads take about
/// `memory_bytes` together; `sorted` grows by the fingerprints of each file that is done.
pub fn index(
    store: &Store,
    design: IndexDesign,
    (memory_bytes, threads): (usize, usize),
    sorted: &AtomicU64,
) -> Result<Kept> {
    let name = (design != IndexDesign::None).then(|| design.to_string());
    let files = files_of(store, design);
    sidecars(store).change(name, files, TableFile::is_there, (memory_bytes, threads), sorted)
}

/// Makes the files that the index of a store lacks after a change, and removes the files that the
/// index no longer needs. A store without an index stays as it is.
pub fn keep(store: &Store, space: (usize, usize), sorted: &AtomicU64) -> Result<Kept> {
    match design_of(store)? {
        IndexDesign::None => Ok(Kept::default()),
        design => index(store, design, space, sorted),
    }
}

/// The files of the index of a store and their bytes.
pub fn size(store: &Store) -> Result<(u64, u64)> {
    sidecars(store).size()
}

/// Reads and checks every file of the index of a store, and that none is missing. Returns how many there are.
pub fn verify(store: &Store) -> Result<u64> {
    let sidecars = sidecars(store);
    let paths = sidecars.all()?;
    paths.iter().try_for_each(|path| Segment::open(path)?.verify())?;
    let design = design_of(store)?;
    sidecars.each(files_of(store, design), |segment, file| match file.open(segment)? {
        Some(_) => Ok(()),
        None => {
            let error = sidecars.lacking(&file.paths()[0]).help("make the index again");
            let error = error.job(format!("store index {}", store.path().named()));
            Err(error.setting(format!("design {design}")))
        }
    })?;
    Ok(paths.len() as u64)
}
