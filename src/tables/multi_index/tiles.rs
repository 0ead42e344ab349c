//! Fingerprints of the window, side by side with those that have the same value in a block.

use std::ops::Range;

use crate::hamming::lanes::{Columns, LANES, Lanes};

/// A lane without a fingerprint.
const EMPTY: u32 = u32::MAX;

/// Fingerprints by the value of some bits of a block: each value has groups of lanes of its own.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    pub(super) groups: Vec<Lanes>,
    /// The place of the fingerprint in each lane, or [`EMPTY`].
    places: Vec<u32>,
    /// Value v has the groups `starts[v]..starts[v + 1]`.
    starts: Vec<u32>,
    /// The next free lane of each value.
    free: Vec<u32>,
}

/// A fingerprint for a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) value: usize,
    pub(super) columns: Columns,
    pub(super) place: u32,
}

impl Tiles {
    /// Makes them tiles of `items`, whose values are less than `values`.
    #[inline]
    pub(super) fn fill(&mut self, values: usize, items: impl Iterator<Item = Item> + Clone) {
        let Tiles { groups, places, starts, free } = self;
        free.clear();
        free.resize(values, 0);
        items.clone().for_each(|item| free[item.value] += 1);
        starts.clear();
        starts.push(0);
        let mut end = 0;
        for count in free.iter_mut() {
            let groups = count.div_ceil(LANES as u32);
            *count = end * LANES as u32;
            end += groups;
            starts.push(end);
        }
        groups.resize((end as usize).max(groups.len()), Lanes::default());
        places.clear();
        places.resize(end as usize * LANES, EMPTY);
        items.for_each(|Item { value, columns, place }| {
            let lane = free[value] as usize;
            free[value] += 1;
            groups[lane / LANES].set(lane % LANES, columns);
            places[lane] = place;
        });
    }

    /// The groups of a value.
    #[inline(always)]
    pub(super) fn of(&self, value: usize) -> Range<usize> {
        self.starts[value] as usize..self.starts[value + 1] as usize
    }

    /// The places of the fingerprints in a group that may be within `limit` bits of these columns.
    #[inline]
    pub(super) fn within(
        &self,
        group: usize,
        columns: Columns,
        limit: u32,
    ) -> impl Iterator<Item = u32> + '_ {
        let lanes = self.groups[group].within(columns, limit);
        lanes.map(move |lane| self.places[group * LANES + lane]).filter(|&place| place != EMPTY)
    }
}
