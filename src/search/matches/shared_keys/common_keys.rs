//! Common keys: those that more than [`MOST_SHARED`] pages of a batch have.
//!
//! The pages that have such a key are in the order of their other keys, those of the places behind it first, then of their fingerprints: so those
//! that share most keys in a row stand together. They are in groups of [`GROUP`]. A row that has the key too meets the groups around
//! its own place; a row of the batch fewer of these, and the pages that come [first](MOST_FIRST) in keep order. What it meets depends on all
//! pages with the key, so the groups are known first, should the keys of the batch not fit into memory.
//!
//! ```text
//! pages with the key     3 905 9 ... | 201 7 ... | 410 ... | 588 ... | ...
//! where groups begin     3             201         410       588
//! ```

use std::collections::HashMap;
use std::ops::Range;

use super::sort::{BatchKeys, Sort};
use crate::error::Result;
use crate::matches::numbers::KeepRank;

/// How many pages have a key that is not common.
pub(super) const MOST_SHARED: usize = 1 << 8;

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

/// Where a page stands among those that have a key: the [other keys](Sort::behind), and the page.
pub(super) type Standing = (u64, u32);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Groups {
    starts: Vec<Standing>,
    /// The pages that come first in keep order, with their places, in order.
    first: Vec<(KeepRank, u32)>,
}

impl CommonKeys {
    /// Those of a batch of which a part of so many `parts` fits into memory.
    pub(super) fn of(keys: BatchKeys<'_>, parts: u32, order: &[KeepRank]) -> Result<CommonKeys> {
        // A page that stands among others takes more than a key.
        let parts = 2 * u64::from(parts);
        let mut common = HashMap::new();
        for part in 0..parts {
            let mut all: Vec<((u8, u64), Standing)> = Vec::new();
            keys.each(0..keys.batch.rows() as u32, |(place, key), page, bytes| {
                if key % parts == part {
                    all.push(((place, key), (Sort::behind(bytes, place), page)));
                }
            })?;
            all.sort_unstable();
            let by_key = all.chunk_by(|one, other| one.0 == other.0);
            for pages in by_key.filter(|pages| pages.len() > MOST_SHARED) {
                let groups = Groups::of(pages.iter().map(|it| it.1).collect(), order);
                common.insert(pages[0].0, groups);
            }
        }
        Ok(CommonKeys(common))
    }

    pub(super) fn get(&self, place: u8, key: u64) -> Option<&Groups> {
        self.0.get(&(place, key))
    }
}

impl Groups {
    /// Those of pages in the order in which they stand, with the places of all pages in keep `order`.
    pub(super) fn of(pages: Vec<Standing>, order: &[KeepRank]) -> Groups {
        let in_order = |&(_, page): &Standing| Some((*order.get(page as usize)?, page));
        let mut first: Vec<(KeepRank, u32)> = pages.iter().filter_map(in_order).collect();
        first.sort_unstable();
        first.truncate(MOST_FIRST);
        first.shrink_to_fit();
        Groups { starts: pages.into_iter().step_by(GROUP).collect(), first }
    }

    /// Where so many `groups` around a row begin and end; `is_before` tells of a page whether it stands before the row.
    pub(super) fn around(
        &self,
        groups: usize,
        is_before: impl Fn(Standing) -> bool,
    ) -> Range<Standing> {
        let starts = &self.starts;
        let middle = starts.partition_point(|&page| is_before(page));
        let first = middle.saturating_sub(groups / 2).min(starts.len().saturating_sub(groups));
        starts[first]..starts.get(first + groups).copied().unwrap_or((u64::MAX, u32::MAX))
    }

    /// The pages that come first in keep order, among these.
    pub(super) fn first(&self, pages: Range<u32>) -> impl Iterator<Item = u32> {
        self.first.iter().map(|it| it.1).filter(move |page| pages.contains(page))
    }
}
