//! All that meets in some values of a block, compared.

use std::ops::Range;

use super::block::{Block, IndexedBlock};
use crate::hamming::lanes::{Columns, LANES, Lanes, Strip};
use crate::hamming::multiversion::Multiversion;
use crate::progress::{self, Activity};
use crate::tables::flips::Flips;

/// There is a sign of progress about every so many comparisons with a group: less than a millisecond.
const TICK_COMPARISONS: usize = 1 << 16;

/// The most rows of a value that are gathered. They are copied at once, needed or not: a copy of a fixed length takes no longer
/// than the decision how many to copy. In a small batch most values have [`FEW`] rows or less.
const MOST: usize = LANES;
const FEW: usize = 8;

/// Compares each of the tiles, whose values begin with `first`, with the rows whose value is within their limit.
pub(super) struct Scan<'a> {
    pub(super) indexed: &'a IndexedBlock,
    pub(super) flips: &'a Flips,
    /// The tiles of the window. If there are none, the rows themselves are the tiles. Then each pair is compared once: rows whose
    /// value is less than that of the tile are left out.
    pub(super) window: Option<&'a Tiles>,
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) k: u32,
    pub(super) gathered: &'a mut Gathered,
    /// Called with the place of a row in the batch, and the place of a fingerprint of a tile, that may be near each other.
    pub(super) near: &'a mut dyn FnMut(u32, u32),
}

impl Multiversion for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for value in self.first..self.first + self.count {
            let lanes = match self.window {
                Some(tiles) => tiles.tile(value - self.first),
                None => self.indexed.rows(value),
            };
            if lanes.is_empty() {
                continue;
            }
            if self.window.is_none() {
                self.own(&lanes);
            }
            self.others(value, &lanes);
        }
    }
}

impl Scan<'_> {
    /// Compares the tile of a value with the rows whose value is within the limit of this one, but for the rows of the tile.
    #[inline(always)]
    fn others(&mut self, value: usize, lanes: &Range<usize>) {
        let Scan { indexed, flips, window, k, .. } = *self;
        let Scan { gathered, near, .. } = self;
        let (tile, places) = match window {
            Some(tiles) => (tiles.lanes.strip(lanes.clone()), &tiles.places),
            None => (indexed.lanes.strip(lanes.clone()), &indexed.places),
        };
        let place = |lane: usize| places[lanes.start + lane];
        let Block { bits, limit, .. } = indexed.block;
        gathered.begin(indexed.block.ball());
        for off in 0..=limit {
            for &flip in flips.of(bits, off) {
                let other = value ^ flip as usize;
                if window.is_none() && other <= value {
                    continue;
                }
                let rows = indexed.rows(other);
                if rows.len() <= MOST {
                    gathered.add(indexed, rows);
                    continue;
                }
                compare(indexed.lanes.strip(rows.clone()), tile, k - off, &mut |row, lane| {
                    near(indexed.places[rows.start + row], place(lane));
                });
            }
        }
        compare(gathered.strip(), tile, k, &mut |at, lane| {
            near(indexed.places[gathered.row(at)], place(lane));
        });
    }

    /// Compares the rows of a tile with each other.
    #[inline(always)]
    fn own(&mut self, rows: &Range<usize>) {
        let Scan { indexed, k, .. } = *self;
        let Scan { near, .. } = self;
        let mut ticks = Ticks::every(indexed.lanes.strip(rows.clone()).groups());
        for row in rows.clone() {
            ticks.count();
            let columns = indexed.lanes.strip(row..row + 1).columns(0);
            indexed.lanes.strip(row + 1..rows.end).near(columns, k, &mut |at| {
                near(indexed.places[row], indexed.places[row + 1 + at]);
            });
        }
    }
}

/// Compares rows with a tile, and calls `near` with the numbers of those that may be near each other. One side is taken group
/// by group and the other one by one, whichever way takes fewer comparisons.
#[inline(always)]
fn compare(rows: Strip<'_>, tile: Strip<'_>, limit: u32, near: &mut dyn FnMut(usize, usize)) {
    if tile.count() * rows.groups() <= rows.count() * tile.groups() {
        each(tile, rows, limit, &mut |lane, row| near(row, lane));
    } else {
        each(rows, tile, limit, near);
    }
}

#[inline(always)]
fn each(singles: Strip<'_>, strip: Strip<'_>, limit: u32, near: &mut dyn FnMut(usize, usize)) {
    let mut ticks = Ticks::every(strip.groups());
    for single in 0..singles.count() {
        ticks.count();
        strip.near(singles.columns(single), limit, &mut |at| near(single, at));
    }
}

struct Ticks {
    /// After so many are compared there is a sign.
    step: usize,
    left: usize,
}

impl Ticks {
    /// For fingerprints that are each compared with so many groups.
    #[inline(always)]
    fn every(groups: usize) -> Ticks {
        let step = TICK_COMPARISONS / groups.max(1) + 1;
        Ticks { step, left: step }
    }

    #[inline(always)]
    fn count(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            progress::tick(Activity::Working);
            self.left = self.step;
        }
    }
}

/// Fingerprints by the value of some bits of a block: each value has groups of lanes of its own.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    lanes: Lanes,
    places: Vec<u32>,
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
    fn tile(&self, value: usize) -> Range<usize> {
        let Range { start, end } = self.tiles[value];
        start as usize..end as usize
    }
}

/// Rows of several values of a block, side by side.
#[derive(Debug, Default)]
pub(in crate::tables) struct Gathered {
    lanes: Lanes,
    count: usize,
    /// For the rows of each value: where they begin here, and where they begin among all rows of the block.
    runs: Vec<(u32, u32)>,
}

impl Gathered {
    /// Forgets all rows, and makes room for those of so many values.
    #[inline(always)]
    fn begin(&mut self, values: usize) {
        self.lanes.make_room(values * MOST);
        self.count = 0;
        self.runs.clear();
    }

    /// Adds the rows of one value, at most [`MOST`].
    #[inline(always)]
    fn add(&mut self, indexed: &IndexedBlock, rows: Range<usize>) {
        self.runs.push((self.count as u32, rows.start as u32));
        let length = rows.len();
        let strip = indexed.lanes.strip(rows);
        if length <= FEW {
            self.lanes.copy::<FEW>(self.count, strip);
        } else {
            self.lanes.copy::<MOST>(self.count, strip);
        }
        self.count += length;
    }

    #[inline(always)]
    fn strip(&self) -> Strip<'_> {
        self.lanes.strip(0..self.count)
    }

    fn row(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|run| run.0 as usize <= at) - 1;
        let (begin, start) = self.runs[run];
        at - begin as usize + start as usize
    }
}
