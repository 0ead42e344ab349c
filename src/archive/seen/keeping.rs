//! Whether a store keeps filters. Their files come and go with the segments (see `store/sidecars.rs`).
//!
//! The file `FILTERS` of a store says that the store keeps filters. A reader that finds no filter reads the segment.

use std::sync::atomic::AtomicU64;

use super::by::advised;
use super::filter::{FilterPlace, is_ours, places};
use crate::error::{Error, Kind, Named, Result};
use crate::store::{Kept, Segment, Sidecar, Sidecars, Store};

const FUSE: &str = "fuse";

pub(super) fn sidecars(store: &Store) -> Sidecars<'_> {
    Sidecars { store, folder: "filters", marker: "FILTERS", is_ours }
}

fn places_of(store: &Store) -> impl Fn(&Segment) -> Result<Vec<FilterPlace>> {
    let folder = sidecars(store).folder();
    move |segment| Ok(places(&folder, segment))
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

/// How many filters the newest version of a store lacks, and how many rows go into them.
pub fn missing(store: &Store) -> Result<(u64, u64)> {
    sidecars(store).missing(places_of(store))
}

/// Gives a store filters, or takes them away. The sorts of so many threads take about `memory_bytes` together; `hashed` grows by the rows of each
/// filter that is made. Filters that are there are read and checked, and damaged ones made again.
pub fn set(
    store: &Store,
    wanted: bool,
    (memory_bytes, threads): (usize, usize),
    hashed: &AtomicU64,
) -> Result<Kept> {
    let is_sound = |place: &FilterPlace, segment: &Segment| {
        place.open(segment).is_ok_and(|filter| filter.is_some_and(|it| it.verify().is_ok()))
    };
    let all = places_of(store);
    let places = |segment: &Segment| if wanted { all(segment) } else { Ok(Vec::new()) };
    let name = wanted.then(|| FUSE.to_owned());
    sidecars(store).change(name, places, is_sound, (memory_bytes, threads), hashed)
}

/// Makes the filters that a store lacks after a change, and removes the filters that the store no
/// longer needs. A store without filters stays as it is.
pub fn keep(store: &Store, space: (usize, usize), hashed: &AtomicU64) -> Result<Kept> {
    if !is_kept(store)? {
        return Ok(Kept::default());
    }
    let (name, places) = (Some(FUSE.to_owned()), places_of(store));
    sidecars(store).change(name, places, FilterPlace::is_there, space, hashed)
}

pub fn size(store: &Store) -> Result<(u64, u64)> {
    sidecars(store).size()
}

/// Reads and checks every filter of the newest version of a store, and that none is missing. Returns how many there are.
pub fn verify(store: &Store) -> Result<u64> {
    let is_kept = is_kept(store)?;
    let sidecars = sidecars(store);
    let mut filters = 0;
    sidecars.each(places_of(store), |segment, place| match place.open(segment)? {
        Some(filter) => {
            filters += 1;
            filter.verify()
        }
        None if is_kept => {
            let paths = place.paths();
            let path = paths.iter().find(|path| !path.exists()).unwrap_or(&paths[0]);
            let error = advised(sidecars.lacking(path));
            Err(error.job(format!("store index {}", store.path().named())))
        }
        None => Ok(()),
    })?;
    Ok(filters)
}
