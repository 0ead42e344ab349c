//! A segment with its filters.

use std::path::Path;

use super::by::By;
use super::filter::{Filter, places};
use crate::error::{Kind, Result};
use crate::fingerprint::Width;
use crate::store::{Access, Dated, Ranked, Segment};

pub(super) struct Shelf {
    pub(super) dated: Dated,
    filters: [Option<Filter>; 2],
    fingerprints: Option<RowFingerprints>,
}

enum RowFingerprints {
    W64(Ranked<u64>),
    W128(Ranked<u128>),
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
        let fingerprints =
            is_asked_for_pages.then(|| RowFingerprints::open(segment)).transpose()?;
        Ok(Shelf { dated, filters, fingerprints })
    }

    pub(super) fn filter(&self, by: By) -> Option<&Filter> {
        self.filters[by as usize].as_ref()
    }

    pub(super) fn fingerprint(&self, row: u64) -> Result<u128> {
        match &self.fingerprints {
            Some(RowFingerprints::W64(ranked)) => ranked.get(row).map(u128::from),
            Some(RowFingerprints::W128(ranked)) => ranked.get(row),
            None => self.dated.segment().fingerprints().get(row),
        }
    }
}

impl RowFingerprints {
    fn open(segment: &Segment) -> Result<RowFingerprints> {
        Ok(match segment.width() {
            Width::W64 => RowFingerprints::W64(Ranked::open(segment, Access::OnDisk)?),
            Width::W128 => RowFingerprints::W128(Ranked::open(segment, Access::OnDisk)?),
        })
    }
}
