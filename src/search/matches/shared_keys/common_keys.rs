//! Common keys: those that more than [`MOST_SHARED`] pages of a batch have.
//!
//! The pages that have such a key are in the order of their fingerprints, in groups of [`GROUP`]. A row that has it too meets the groups around
//! its own fingerprint; a row of the batch fewer of these, and the pages that come [first](MOST_FIRST) in keep order. What it meets depends on all
//! pages with the key, so these are counted first, should the keys of the batch not fit into memory.
//!
//! ```text
//! pages with the key     3 5 9 ... | 201 207 ... | 410 ... | 588 ... | ...
//! where groups begin     3           201           410       588
//! ```

use std::collections::HashMap;
use std::ops::Range;

use super::sort::BatchKeys;
use crate::error::Result;
use crate::matches::numbers::KeepRank;
use crate::tables::keys::{Keys, key_of_entry, number_of};

/// How many pages have a key that is not common.
const MOST_SHARED: usize = 1 << 8;

/// The pages of a group; the last one may have fewer.
const GROUP: usize = 1 << 4;

/// How many groups a row of the store meets, and one of the batch.
pub(super) const GROUPS_OF_STORE: usize = 1 << 5;
pub(super) const GROUPS_OF_BATCH: usize = 1 << 1;

/// How many of the pages that come first in keep order a row of the batch meets.
const MOST_FIRST: usize = 1 << 4;

/// The common keys of a batch, by place and key.
#[derive(Debug, Default)]
pub(super) struct CommonKeys(pub(super) HashMap<(u8, u64), Groups>);

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    starts: Vec<u32>,
    /// The pages that come first in keep order, with their places, in order once all are there.
    first: Vec<(KeepRank, u32)>,
}

impl CommonKeys {
    /// Those of a batch whose keys are all in memory, and whose pages are counted from 0. `order` has the place of each page in keep order.
    pub(super) fn among(places: &[Keys], order: &[KeepRank]) -> CommonKeys {
        let mut common = HashMap::new();
        for (place, keys) in (0..).zip(places) {
            for pages in keys.each().filter(|pages| pages.len() > MOST_SHARED) {
                let starts = pages.iter().step_by(GROUP).map(|&page| number_of(page)).collect();
                let mut groups = Groups { starts, first: Vec::new() };
                pages.iter().for_each(|&page| groups.offer(number_of(page), order));
                groups.finish();
                common.insert((place, key_of_entry(pages[0])), groups);
            }
        }
        CommonKeys(common)
    }

    /// Those of a batch of which a part of so many `parts` fits into memory.
    pub(super) fn of(keys: BatchKeys<'_>, parts: u32, order: &[KeepRank]) -> Result<CommonKeys> {
        let all = 0..keys.batch.rows() as u32;
        // A key that is counted takes more than one that is sorted.
        let parts = 2 * u64::from(parts);
        let mut common = CommonKeys::default();
        for part in 0..parts {
            let mut counted: HashMap<(u8, u64), Count> = HashMap::new();
            keys.each(all.clone(), |place, key, page| {
                if key % parts != part {
                    return;
                }
                let key = (place as u8, key);
                let count = counted.entry(key).or_insert(Count { pages: 0, first: page });
                if count.pages == GROUP as u32 {
                    let starts = vec![count.first];
                    common.0.insert(key, Groups { starts, first: Vec::new() });
                }
                if count.pages > 0 && count.pages.is_multiple_of(GROUP as u32) {
                    common.0.entry(key).and_modify(|groups| groups.starts.push(page));
                }
                count.pages += 1;
            })?;
            common.0.retain(|key, _| {
                counted.get(key).is_none_or(|count| count.pages as usize > MOST_SHARED)
            });
        }
        keys.each(all, |place, key, page| {
            if let Some(groups) = common.0.get_mut(&(place as u8, key)) {
                groups.offer(page, order);
            }
        })?;
        common.0.values_mut().for_each(Groups::finish);
        Ok(common)
    }

    pub(super) fn get(&self, place: u8, key: u64) -> Option<&Groups> {
        self.0.get(&(place, key))
    }
}

struct Count {
    pages: u32,
    first: u32,
}

impl Groups {
    /// The pages of so many `groups` around a row; `is_before` tells of a page whether its fingerprint is before that of the row.
    pub(super) fn around(&self, groups: usize, is_before: impl Fn(u32) -> bool) -> Range<u32> {
        let starts = &self.starts;
        let middle = starts.partition_point(|&page| is_before(page));
        let first = middle.saturating_sub(groups / 2).min(starts.len().saturating_sub(groups));
        starts[first]..starts.get(first + groups).copied().unwrap_or(u32::MAX)
    }

    /// The pages that come first in keep order, among these.
    pub(super) fn first(&self, pages: Range<u32>) -> impl Iterator<Item = u32> {
        self.first.iter().map(|it| it.1).filter(move |page| pages.contains(page))
    }

    fn offer(&mut self, page: u32, order: &[KeepRank]) {
        self.first.extend(order.get(page as usize).map(|&place| (place, page)));
        if self.first.len() >= 4 * MOST_FIRST {
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.first.sort_unstable();
        self.first.truncate(MOST_FIRST);
    }
}
