//! The keys of a batch, or of a part of it, in memory.

use std::ops::Range;
use std::sync::Arc;

use super::common_keys::CommonKeys;
use super::sort::{BatchKeys, Sort};
use crate::error::Result;
use crate::matches::numbers::KeepRank;
use crate::parallel::in_parallel;
use crate::tables::keys::{Keys, entry, key_of_entry, number_of};

/// The keys of consecutive pages of a batch.
#[derive(Debug)]
pub(super) struct KeyIndex {
    pub(super) sort: Sort,
    pub(super) pages: Range<u32>,
    pub(super) places: Vec<Keys>,
    pub(super) common: Arc<CommonKeys>,
    /// Of short pages: how many keys each page has that are not common. None if no page is short.
    pub(super) keys_of_page: Vec<u8>,
}

impl KeyIndex {
    /// The keys of these pages, in one of so many passes. Which keys are common in the batch is known to the pass before. `order` has the place of
    /// each page of the batch in keep order.
    pub(super) fn of(
        keys: BatchKeys<'_>,
        pages: Range<u32>,
        passes: u32,
        common: Option<Arc<CommonKeys>>,
        order: &[KeepRank],
        workers: usize,
    ) -> Result<KeyIndex> {
        let common = match common {
            None if passes > 1 => Some(CommonKeys::of(keys, passes, order)?.into()),
            known => known,
        };
        let mut places: Vec<Vec<u64>> = vec![Vec::new(); keys.sort.places(keys.batch)];
        keys.each(pages.clone(), |place, key, page| {
            places[place].push(entry(key, page - pages.start));
        })?;
        let places = in_parallel(workers, &places, |entries| Keys::of(entries.clone()));
        let common = common.unwrap_or_else(|| CommonKeys::among(&places, order).into());
        Ok(KeyIndex::new(keys.sort, pages, places, common))
    }

    pub(super) fn new(
        sort: Sort,
        pages: Range<u32>,
        places: Vec<Keys>,
        common: Arc<CommonKeys>,
    ) -> KeyIndex {
        let mut keys_of_page = Vec::new();
        if sort == Sort::Parts && places.iter().any(|keys| keys.each().next().is_some()) {
            keys_of_page.resize(pages.len(), 0);
            for (place, keys) in (0..).zip(&places) {
                let is_known = |it: &&[u64]| common.get(place, key_of_entry(it[0])).is_none();
                for &entry in keys.each().filter(is_known).flatten() {
                    keys_of_page[number_of(entry) as usize] += 1;
                }
            }
        }
        KeyIndex { sort, pages, places, common, keys_of_page }
    }
}
