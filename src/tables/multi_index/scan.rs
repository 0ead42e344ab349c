//! All that meets in some values of a block, compared.

use std::ops::Range;

use super::indexed_block::{IndexedBlock, Row};
use super::tiles::Tiles;
use crate::hamming::lanes::{LANES, apart};
use crate::hamming::multiversion::Multiversion;
use crate::progress::{self, Activity};
use crate::tables::flips::Flips;

/// Where many rows meet many groups, there is a sign of progress about every so many comparisons of one row
/// with one group: less than a millisecond.
const TICK_COMPARISONS: usize = 1 << 16;

/// A row that may be near a fingerprint of a group, and the limit that was held against it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) row: Row,
    pub(super) group: usize,
    pub(super) limit: u32,
}

/// Compares each of the tiles, whose values are those of the block from `first` on, with the rows whose value
/// is within the limit of theirs.
pub(super) struct Scan<'a> {
    pub(super) indexed: &'a IndexedBlock,
    pub(super) flips: &'a Flips,
    pub(super) tiles: &'a Tiles,
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) k: u32,
    /// Whether the tiles hold the rows themselves, value by value. Then rows whose value is less than the
    /// tile's are left out, and no row is compared with itself.
    pub(super) itself: bool,
    pub(super) gathered: &'a mut Vec<Row>,
    pub(super) near: &'a mut dyn FnMut(Near),
}

impl Multiversion for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for tile in 0..self.count {
            if self.tiles.of(tile).is_empty() {
                continue;
            }
            if self.itself {
                self.own(tile);
            } else {
                self.ring(tile, 0);
            }
            for off in 1..=self.indexed.block.limit {
                self.ring(tile, off);
            }
        }
    }
}

impl Scan<'_> {
    /// Compares a tile with the rows whose value differs from its own in `off` bits.
    #[inline(always)]
    fn ring(&mut self, tile: usize, off: u32) {
        let Scan { indexed, flips, first, itself, .. } = *self;
        let value = first + tile;
        let groups = self.tiles.of(tile);
        let mut count = 0;
        for &flip in flips.of(indexed.block.bits, off) {
            let other = value ^ flip as usize;
            if !itself || other >= value {
                let many = indexed.gather(other, self.gathered, &mut count);
                compare(self.tiles, groups.clone(), many, self.k - off, self.near);
            }
        }
        compare(self.tiles, groups, &self.gathered[..count], self.k - off, self.near);
    }

    /// Compares a tile with the rows that are in it, each in the group that its lane is in.
    #[inline(always)]
    fn own(&mut self, tile: usize) {
        let Range { start, end } = self.tiles.of(tile);
        let rows = self.indexed.rows(self.first + tile);
        for (rows, group) in rows.chunks(LANES).zip(start..end) {
            compare(self.tiles, start..group, rows, self.k, self.near);
            compare(self.tiles, group + 1..end, rows, self.k, self.near);
            for (at, row) in rows.iter().enumerate() {
                for (other_at, other) in rows.iter().enumerate() {
                    if apart(row.columns, other.columns) <= self.k && at != other_at {
                        (self.near)(Near { row: *row, group, limit: self.k });
                        break;
                    }
                }
            }
        }
    }
}

/// Compares `groups` with `rows`, and calls `near` for each row that may be near one of a group.
#[inline(always)]
fn compare(
    tiles: &Tiles,
    groups: Range<usize>,
    rows: &[Row],
    limit: u32,
    near: &mut dyn FnMut(Near),
) {
    if rows.is_empty() {
        return;
    }
    let step = TICK_COMPARISONS / rows.len() + 1;
    let mut next = groups.start + step;
    for group in groups {
        if group == next {
            progress::tick(Activity::Working);
            next += step;
        }
        let lanes = tiles.groups[group];
        for &row in rows {
            if lanes.may_have(row.columns, limit) {
                near(Near { row, group, limit });
            }
        }
    }
}
