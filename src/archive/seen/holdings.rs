//! What a version of a store holds: opened once, and asked by any number of threads.

use std::path::Path;
use std::sync::Arc;

use super::by::By;
use super::filter::{Filter, places};
use super::keeping::sidecars;
use crate::error::{Kind, Result};
use crate::fingerprint::{Fingerprint, Stamp, Width};
use crate::store::{Access, Dated, Ranked, Segment, Store, Version};

pub struct Holdings {
    version: Version,
    pub(super) shelves: Vec<Shelf>,
}

pub(super) struct Shelf {
    pub(super) dated: Dated,
    filters: [Option<Filter>; 2],
    fingerprints: Option<RowFingerprints>,
}

type RowFingerprints = Box<dyn Fn(u64) -> Result<u128> + Send + Sync>;

impl Holdings {
    pub fn open(store: &Store, version: Version) -> Result<Arc<Holdings>> {
        let folder = sidecars(store).folder();
        let dated = version.dated()?.into_iter();
        let shelves = dated.map(|dated| Shelf::open(dated, &folder)).collect::<Result<_>>()?;
        Ok(Arc::new(Holdings { version, shelves }))
    }

    /// Whether its pages can be looked for by their texts: the store keeps digests, or is empty.
    pub fn has_texts(&self) -> bool {
        let stamp = self.version.stamp().map(Stamp::parse);
        stamp.is_none_or(|stamp| stamp.is_ok_and(|stamp| stamp.has_digests()))
    }

    pub fn without_filter(&self, by: By) -> usize {
        self.shelves.iter().filter(|shelf| shelf.filter(by).is_none()).count()
    }
}

impl Shelf {
    /// Opens the filters of a segment that are in `folder`. A damaged one counts as missing.
    pub(super) fn open(dated: Dated, folder: &Path) -> Result<Shelf> {
        let segment = dated.segment();
        let mut filters = [None, None];
        for place in places(folder, segment) {
            filters[place.by as usize] = match place.open(segment) {
                Err(error) if error.kind() == Kind::BadData => None,
                filter => filter?,
            };
        }
        let is_asked_for_pages = filters[By::Texts as usize].is_some();
        let fingerprints = is_asked_for_pages.then(|| row_fingerprints(segment)).transpose()?;
        Ok(Shelf { dated, filters, fingerprints })
    }

    pub(super) fn filter(&self, by: By) -> Option<&Filter> {
        self.filters[by as usize].as_ref()
    }

    pub(super) fn fingerprint(&self, row: u64) -> Result<u128> {
        match &self.fingerprints {
            Some(fingerprint) => fingerprint(row),
            None => self.dated.segment().fingerprints().get(row),
        }
    }
}

fn row_fingerprints(segment: &Segment) -> Result<RowFingerprints> {
    match segment.width() {
        Width::W64 => ranked::<u64>(segment),
        Width::W128 => ranked::<u128>(segment),
    }
}

fn ranked<F: Fingerprint>(segment: &Segment) -> Result<RowFingerprints> {
    let ranked = Ranked::<F>::open(segment, Access::OnDisk)?;
    Ok(Box::new(move |row| ranked.get(row).map(F::to_u128)))
}
