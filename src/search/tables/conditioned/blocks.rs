//! The two blocks of bits behind a prefix, and the keys that they give.

use super::level::low;
use crate::fingerprint::Fingerprint;
use crate::hamming::bitmap::BLOCK;
use crate::hamming::multiversion::Multiversion;

/// The two blocks that follow a prefix, and the keys they give a fingerprint: X counts from 0, Y from
/// 2^width.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    pub(super) width: u32,
    x_shift: u32,
    y_shift: u32,
}

impl Blocks {
    /// Of the first of `rest` bits, those before the `tail`, two blocks of `width`; Y is narrower where
    /// no more is left.
    pub(super) fn of(rest: u32, tail: u32, width: u32) -> Blocks {
        let x_shift = rest - width;
        Blocks { width, x_shift, y_shift: x_shift.saturating_sub(width).max(tail) }
    }

    pub(super) fn y_width(self) -> u32 {
        self.x_shift - self.y_shift
    }

    pub(super) fn keys(self) -> usize {
        2 << self.width
    }

    #[inline(always)]
    pub(super) fn x<F: Fingerprint>(self, fingerprint: F) -> u32 {
        low(fingerprint >> self.x_shift) & ((1 << self.width) - 1)
    }

    #[inline(always)]
    pub(super) fn y<F: Fingerprint>(self, fingerprint: F) -> u32 {
        low(fingerprint >> self.y_shift) & ((1 << self.y_width()) - 1) | 1 << self.width
    }

    /// What is left of a fingerprint before the blocks.
    pub(super) fn prefix<F: Fingerprint>(self, fingerprint: F) -> F {
        fingerprint >> (self.x_shift + self.width - 1) >> 1
    }
}

#[derive(Debug)]
pub(super) struct BlockKeys {
    pub(super) x: [u32; BLOCK],
    pub(super) y: [u32; BLOCK],
}

impl Default for BlockKeys {
    fn default() -> BlockKeys {
        BlockKeys { x: [0; BLOCK], y: [0; BLOCK] }
    }
}

pub(super) struct Cut<'a, F> {
    pub(super) blocks: Blocks,
    pub(super) fingerprints: &'a [F],
    pub(super) keys: &'a mut BlockKeys,
}

impl<F: Fingerprint> Multiversion for Cut<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Cut { blocks, fingerprints, keys } = self;
        let places = keys.x.iter_mut().zip(&mut keys.y);
        for ((x, y), &fingerprint) in places.zip(fingerprints) {
            (*x, *y) = (blocks.x(fingerprint), blocks.y(fingerprint));
        }
    }
}
