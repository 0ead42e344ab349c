//! Common keys: those that more than [`MOST_SHARED`] pages of a batch have.
//!
//! The pages that have such a key are in the order of their fingerprints, in groups of [`GROUP`]. A row that has it too meets the groups around
//! its own fingerprint. What it meets depends on all pages with the key, so these are counted first, should the keys of the batch not fit into
//! memory.
//!
//! ```text
//! pages with the key     3 5 9 ... | 201 207 ... | 410 ... | 588 ... | ...
//! where groups begin     3           201           410       588
//! ```

use std::collections::HashMap;
use std::ops::Range;

use super::sort::{Sort, each_key};
use crate::error::Result;
use crate::store::Segment;
use crate::tables::keys::{Keys, key_of_entry, number_of};

/// To how many pages of the batch a key leads.
const MOST_SHARED: usize = GROUP * GROUPS;

/// The pages of a group; the last one may have fewer.
const GROUP: usize = 1 << 6;

/// How many groups a row meets.
const GROUPS: usize = 1 << 3;

/// The common keys of a batch, by place and key.
#[derive(Debug, Default)]
pub(super) struct CommonKeys(pub(super) HashMap<(u8, u64), Groups>);

/// The first pages of the groups of a common key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Groups(Vec<u32>);

impl CommonKeys {
    /// Those of a batch whose keys are all in memory, and whose pages are counted from 0.
    pub(super) fn among(places: &[Keys]) -> CommonKeys {
        let mut common = HashMap::new();
        for (place, keys) in (0..).zip(places) {
            for pages in keys.each().filter(|pages| pages.len() > MOST_SHARED) {
                let starts = pages.iter().step_by(GROUP).map(|&page| number_of(page));
                common.insert((place, key_of_entry(pages[0])), Groups(starts.collect()));
            }
        }
        CommonKeys(common)
    }

    /// Those of a batch of which a part of so many `parts` fits into memory.
    pub(super) fn of(batch: &Segment, sort: Sort, parts: u32) -> Result<CommonKeys> {
        // A key that is counted takes more than one that is sorted.
        let parts = 2 * u64::from(parts);
        let mut common = CommonKeys::default();
        for part in 0..parts {
            let mut counted: HashMap<(u8, u64), Count> = HashMap::new();
            each_key(batch, sort, 0..batch.rows() as u32, |place, key, page| {
                if key % parts != part {
                    return;
                }
                let key = (place as u8, key);
                let count = counted.entry(key).or_insert(Count { pages: 0, first: page });
                if count.pages == GROUP as u32 {
                    common.0.insert(key, Groups(vec![count.first]));
                }
                if count.pages > 0 && count.pages.is_multiple_of(GROUP as u32) {
                    common.0.entry(key).and_modify(|groups| groups.0.push(page));
                }
                count.pages += 1;
            })?;
            common.0.retain(|key, _| {
                counted.get(key).is_none_or(|count| count.pages as usize > MOST_SHARED)
            });
        }
        Ok(common)
    }

    pub(super) fn get(&self, place: u8, key: u64) -> Option<&Groups> {
        self.0.get(&(place, key))
    }
}

/// How many pages have a key so far.
struct Count {
    pages: u32,
    first: u32,
}

impl Groups {
    /// The pages that a row meets; `is_before` tells of a page whether its fingerprint is before that of the row.
    pub(super) fn around(&self, is_before: impl Fn(u32) -> bool) -> Range<u32> {
        let Groups(starts) = self;
        let middle = starts.partition_point(|&page| is_before(page));
        let first = middle.saturating_sub(GROUPS / 2).min(starts.len() - GROUPS);
        starts[first]..starts.get(first + GROUPS).copied().unwrap_or(u32::MAX)
    }
}
