//! Fingerprints of the window, side by side with those that have the same value in a block.

use std::ops::Range;

use crate::hamming::lanes::{Columns, LANES, Lanes};

/// Fingerprints by the value of some bits of a block: each value has groups of lanes of its own.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    pub(super) lanes: Lanes,
    pub(super) places: Vec<u32>,
    tiles: Vec<Range<u32>>,
}

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
        let Tiles { lanes, places, tiles } = self;
        tiles.clear();
        tiles.resize(values, 0..0);
        items.clone().for_each(|item| tiles[item.value].end += 1);
        let mut end = 0;
        for tile in tiles.iter_mut() {
            let count = tile.end;
            *tile = end..end;
            end += count.next_multiple_of(LANES as u32);
        }
        lanes.make_room(end as usize);
        places.resize((end as usize).max(places.len()), 0);
        items.for_each(|Item { value, columns, place }| {
            let lane = tiles[value].end as usize;
            tiles[value].end += 1;
            lanes.set(lane, columns);
            places[lane] = place;
        });
    }

    #[inline(always)]
    pub(super) fn tile(&self, value: usize) -> Range<usize> {
        let Range { start, end } = self.tiles[value];
        start as usize..end as usize
    }
}
