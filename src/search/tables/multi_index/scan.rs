//! All that meets in some values of a block, compared.

use std::ops::Range;

use super::block::Block;
use super::gathered::{Gathered, MOST};
use super::indexed_block::IndexedBlock;
use super::tiles::Tiles;
use crate::hamming::lanes::Strip;
use crate::hamming::multiversion::Multiversion;
use crate::progress::{self, Activity};
use crate::tables::flips::Flips;

/// Where many meet many, there is a sign of progress about every so many comparisons of one fingerprint
/// with one group: less than a millisecond.
const TICK_COMPARISONS: usize = 1 << 16;

/// Compares each of the tiles, whose values are those of the block from `first` on, with the rows whose value
/// is within the limit of theirs.
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
                Some(tiles) => tiles.lanes(value - self.first),
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
        let tile = match window {
            Some(tiles) => tiles.strip(lanes.clone()),
            None => indexed.strip(lanes.clone()),
        };
        let place = |lane: usize| match window {
            Some(tiles) => tiles.place(lanes.start + lane),
            None => indexed.place(lanes.start + lane),
        };
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
                compare(indexed.strip(rows.clone()), tile, k - off, &mut |row, lane| {
                    near(indexed.place(rows.start + row), place(lane));
                });
            }
        }
        compare(gathered.strip(), tile, k, &mut |at, lane| {
            near(indexed.place(gathered.row(at)), place(lane));
        });
    }

    /// Compares the rows of a tile with each other.
    #[inline(always)]
    fn own(&mut self, rows: &Range<usize>) {
        let Scan { indexed, k, .. } = *self;
        let Scan { near, .. } = self;
        let mut ticks = Ticks::every(indexed.strip(rows.clone()).groups());
        for row in rows.clone() {
            ticks.count();
            let columns = indexed.strip(row..row + 1).columns(0);
            indexed.strip(row + 1..rows.end).near(columns, k, &mut |at| {
                near(indexed.place(row), indexed.place(row + 1 + at));
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
