//! All that meets in some values of a block, compared.

use super::indexed_block::{IndexedBlock, Row};
use super::tiles::Tiles;
use crate::hamming::multiversion::Multiversion;
use crate::tables::flips::Flips;

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
    /// Whether rows whose value is less than the tile's are left out.
    pub(super) ascending: bool,
    pub(super) gathered: &'a mut Vec<Row>,
    pub(super) near: &'a mut dyn FnMut(Near),
}

impl Multiversion for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for tile in 0..self.count {
            if !self.tiles.of(tile).is_empty() {
                for off in 0..=self.indexed.block.limit {
                    self.ring(tile, off);
                }
            }
        }
    }
}

impl Scan<'_> {
    /// Compares a tile with the rows whose value differs from its own in `off` bits.
    #[inline(always)]
    fn ring(&mut self, tile: usize, off: u32) {
        let Scan { indexed, flips, first, ascending, .. } = *self;
        let value = first + tile;
        let mut count = 0;
        for &flip in flips.of(indexed.block.bits, off) {
            let other = value ^ flip as usize;
            if !ascending || other >= value {
                let many = indexed.gather(other, self.gathered, &mut count);
                compare(self.tiles, tile, many, self.k - off, self.near);
            }
        }
        compare(self.tiles, tile, &self.gathered[..count], self.k - off, self.near);
    }
}

/// Compares a tile with `rows`, and calls `near` for each that may be near one of a group.
#[inline(always)]
fn compare(tiles: &Tiles, tile: usize, rows: &[Row], limit: u32, near: &mut dyn FnMut(Near)) {
    if rows.is_empty() {
        return;
    }
    for group in tiles.of(tile) {
        let lanes = tiles.groups[group];
        for &row in rows {
            if lanes.may_have(row.columns, limit) {
                near(Near { row, group, limit });
            }
        }
    }
}
