//! The keys of a batch, or of a part of it, in memory.

use std::ops::Range;
use std::sync::Arc;

use super::common_keys::{CommonKeys, Groups, MOST_SHARED, Standing};
use super::sort::{BatchKeys, Sort};
use crate::error::Result;
use crate::matches::numbers::KeepRank;
use crate::parallel::in_parallel;
use crate::tables::keys::{Keys, entry, key_of_entry, number_of};

#[derive(Debug)]
pub(super) struct KeyIndex {
    pub(super) sort: Sort,
    pub(super) pages: Range<u32>,
    pub(super) places: Vec<Keys>,
    pub(super) common: Arc<CommonKeys>,
    /// Of each page the [bytes](Sort::bytes_of) of its keys, by which pages with a common key are in order.
    pub(super) bytes: Vec<u64>,
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
        let mut bytes = vec![0; pages.len()];
        keys.each(pages.clone(), |(place, key), page, bytes_of_keys| {
            let page = page - pages.start;
            places[usize::from(place)].push(entry(key, page));
            bytes[page as usize] = bytes_of_keys;
        })?;
        let mut places = in_parallel(workers, &places, |entries| Keys::of(entries.clone()));
        let mut found = CommonKeys::default();
        for (place, keys) in (0..).zip(&mut places) {
            let standing = |&entry: &u64| {
                let page = number_of(entry);
                (Sort::behind(bytes[page as usize], place), page)
            };
            for pages in keys.each_mut() {
                let key = key_of_entry(pages[0]);
                let is_common = match &common {
                    Some(common) => pages.len() > 1 && common.get(place, key).is_some(),
                    None => pages.len() > MOST_SHARED,
                };
                if is_common {
                    pages.sort_unstable_by_key(standing);
                    // All pages of the batch are here, unless it is known what is common.
                    let groups = || Groups::of(pages.iter().map(standing).collect(), order);
                    found.0.extend(common.is_none().then(|| ((place, key), groups())));
                }
            }
        }
        let common = common.unwrap_or_else(|| found.into());
        Ok(KeyIndex { bytes, ..KeyIndex::new(keys.sort, pages, places, common) })
    }

    /// How many of the eight anchors of a page are those of a row with these bytes, as far as bytes tell it.
    pub(super) fn equal_keys(&self, page: u32, bytes: u64) -> usize {
        let number = (page - self.pages.start) as usize;
        let own = self.bytes.get(number).filter(|_| self.sort == Sort::Anchors);
        own.map_or(0, |own| (own ^ bytes).to_ne_bytes().into_iter().filter(|&it| it == 0).count())
    }

    /// Where the page with this number stands among those with which it has a key in common in this place.
    pub(super) fn standing(&self, place: u8, number: u32) -> Standing {
        (Sort::behind(self.bytes[number as usize], place), self.pages.start + number)
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
        KeyIndex { sort, pages, places, common, bytes: Vec::new(), keys_of_page }
    }
}
