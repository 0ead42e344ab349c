//! The keys of a batch, or of a part of it, in memory.

use std::ops::Range;
use std::sync::Arc;

use super::common_keys::CommonKeys;
use super::sort::{Sort, each_key};
use crate::error::Result;
use crate::matches::numbers::KeepRank;
use crate::parallel::in_parallel;
use crate::store::Segment;
use crate::tables::keys::{Keys, entry};

/// The keys of consecutive pages of a batch.
#[derive(Debug)]
pub(super) struct KeyIndex {
    pub(super) sort: Sort,
    pub(super) pages: Range<u32>,
    pub(super) places: Vec<Keys>,
    pub(super) common: Arc<CommonKeys>,
}

impl KeyIndex {
    /// The keys of these pages, in one of so many passes. Which keys are common in the batch is known to the pass before. `order` has the place of
    /// each page of the batch in keep order.
    pub(super) fn of(
        batch: &Segment,
        sort: Sort,
        pages: Range<u32>,
        passes: u32,
        common: Option<Arc<CommonKeys>>,
        order: &[KeepRank],
        workers: usize,
    ) -> Result<KeyIndex> {
        let common = match common {
            None if passes > 1 => Some(CommonKeys::of(batch, sort, passes, order)?.into()),
            known => known,
        };
        let mut places: Vec<Vec<u64>> = vec![Vec::new(); sort.places(batch)];
        each_key(batch, sort, pages.clone(), |place, key, page| {
            places[place].push(entry(key, page - pages.start));
        })?;
        let places = in_parallel(workers, &places, |entries| Keys::of(entries.clone()));
        let common = common.unwrap_or_else(|| CommonKeys::among(&places, order).into());
        Ok(KeyIndex { sort, pages, places, common })
    }
}
