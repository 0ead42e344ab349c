//! Whether a store keeps filters, and how the files of the filters follow the segments.
//!
//! The file `FILTERS` of a store says that the store keeps filters. Each run makes the filters that
//! are missing, filter by filter, so the run after a run that died goes on where the dead run
//! stopped. Each run removes the filters of segments that the newest version does not have. A
//! reader that finds no filter reads the segment.

use std::fs;
use std::sync::atomic::AtomicU64;

use super::filter::{FilterPlace, is_ours, kinds_of};
use crate::error::{At, Error, Kind, Named, Result};
use crate::output::check_free_space;
use crate::store::{Kept, Segment, Sidecars, Store};

const FUSE: &str = "fuse";
/// About how many bytes of files and of sorted runs a row needs while its filter is made.
const ROW_BYTES: u64 = 24;

pub(super) fn sidecars(store: &Store) -> Sidecars<'_> {
    Sidecars { store: store.path(), folder: "filters", marker: "FILTERS", is_ours }
}

pub fn is_kept(store: &Store) -> Result<bool> {
    match sidecars(store).named().map_err(advised)?.as_deref() {
        Some(FUSE) => Ok(true),
        None => Ok(false),
        Some(other) => {
            let error = Error::new(Kind::BadData, "there are no such filters").at(store.path());
            Err(advised(error.found(other)))
        }
    }
}

pub(super) fn advised(error: Error) -> Error {
    error.help("make the filters again").job("store index").setting("filters")
}

/// How many filters the newest version of a store lacks, and how many rows go into them.
pub fn missing(store: &Store) -> Result<(u64, u64)> {
    let mut missing = (0, 0);
    each(store, |segment, place| {
        if !matches!(place.open(segment), Ok(Some(_))) {
            missing = (missing.0 + 1, missing.1 + segment.rows());
        }
        Ok(())
    })?;
    Ok(missing)
}

/// Gives a store filters, or takes them away. The sorts take about `memory_bytes`; `hashed` grows by the rows of each
/// filter that is made. Filters that are there are read and checked, and damaged ones made again.
pub fn set(store: &Store, wanted: bool, memory_bytes: usize, hashed: &AtomicU64) -> Result<Kept> {
    let check = |place: &FilterPlace, segment: &Segment| {
        place.open(segment).is_ok_and(|filter| filter.is_some_and(|it| it.verify().is_ok()))
    };
    change(store, wanted, memory_bytes, hashed, check)
}

/// Makes the filters that a store lacks after a change, and removes the filters that the store no
/// longer needs. A store without filters stays as it is.
pub fn keep(store: &Store, memory_bytes: usize, hashed: &AtomicU64) -> Result<Kept> {
    if !is_kept(store)? {
        return Ok(Kept::default());
    }
    let is_there =
        |place: &FilterPlace, segment: &Segment| matches!(place.open(segment), Ok(Some(_)));
    change(store, true, memory_bytes, hashed, is_there)
}

pub fn size(store: &Store) -> Result<(u64, u64)> {
    sidecars(store).size()
}

/// Reads and checks every filter of the newest version of a store, and that none is missing. Returns how many there are.
pub fn verify(store: &Store) -> Result<u64> {
    let is_kept = is_kept(store)?;
    let mut filters = 0;
    each(store, |segment, place| match place.open(segment)? {
        Some(filter) => {
            filters += 1;
            filter.verify()
        }
        None if is_kept => {
            let paths = place.paths();
            let path = paths.iter().find(|path| !path.exists()).unwrap_or(&paths[0]);
            let error = advised(sidecars(store).lacking(path, store.lock()));
            Err(error.job(format!("store index {}", store.path().named())))
        }
        None => Ok(()),
    })?;
    Ok(filters)
}

/// Makes the filters of the newest version for which `is_there` is false, and removes all others; or removes them all.
fn change(
    store: &Store,
    wanted: bool,
    memory_bytes: usize,
    hashed: &AtomicU64,
    is_there: impl Fn(&FilterPlace, &Segment) -> bool,
) -> Result<Kept> {
    let lock = store.lock()?;
    let sidecars = sidecars(store);
    let folder = sidecars.folder();
    let (mut kept, mut own) = (Kept::default(), Vec::new());
    if wanted {
        each(store, |segment, place| {
            if !is_there(&place, segment) {
                fs::create_dir_all(&folder).at(&folder)?;
                check_free_space(&folder, ROW_BYTES * segment.rows())?;
                place.make(segment, memory_bytes, hashed, lock.fence())?;
                kept.made += 1;
            }
            own.extend(place.paths());
            Ok(())
        })?;
    }
    if is_kept(store).ok() != Some(wanted) {
        sidecars.name(wanted.then_some(FUSE), &lock)?;
    }
    sidecars.remove_others(&own, &lock, &mut kept)?;
    Ok(kept)
}

fn each(store: &Store, mut each: impl FnMut(&Segment, FilterPlace) -> Result<()>) -> Result<()> {
    let folder = sidecars(store).folder();
    for segment in store.at(None)?.segments()? {
        for by in kinds_of(&segment) {
            each(&segment, FilterPlace::new(&folder, segment.digest(), by))?;
        }
    }
    Ok(())
}
