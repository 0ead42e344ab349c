//! What a version of a store holds: opened once, and asked by any number of threads.

use std::sync::Arc;

use super::by::By;
use super::keeping::sidecars;
use super::shelf::Shelf;
use crate::error::Result;
use crate::fingerprint::Stamp;
use crate::store::{Store, Version};

pub struct Holdings {
    version: Version,
    shelves: Vec<Shelf>,
}

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

    pub(super) fn shelves(&self) -> &[Shelf] {
        &self.shelves
    }
}

impl std::fmt::Debug for Holdings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Holdings(version {}, {} segments)", self.version.number(), self.shelves.len())
    }
}
