//! The blocks that a fingerprint is divided into, and in how many bits a pair may differ in each.

use crate::fingerprint::{Fingerprint, Width};

/// Consecutive bits of a fingerprint, at most 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rooms::tables) struct Block {
    /// How many bits are below them.
    low: u32,
    /// How many there are.
    pub(in crate::rooms::tables) width: u32,
    /// In how many of them a pair may differ to meet here: 0 or 1.
    pub(super) limit: u32,
}

impl Block {
    /// The blocks of the whole fingerprint in which pairs within `k` meet, the highest first.
    pub(in crate::rooms::tables) fn all(width: Width, k: u32) -> Vec<Block> {
        let (bits, parts) = (width.bits(), (k / 2 + 1).max(2));
        let low = |part: u32| (parts - part) * bits / parts;
        let block = |part| Block {
            low: low(part + 1),
            width: low(part) - low(part + 1),
            limit: u32::from(part + parts <= k),
        };
        (0..parts.min(k + 1)).map(block).collect()
    }

    /// The bits of the block in a fingerprint.
    pub(in crate::rooms::tables) fn mask(self) -> u128 {
        u128::MAX >> (128 - self.width) << self.low
    }

    /// The first so many of these bits.
    pub(super) fn first(self, bits: u32) -> u128 {
        self.mask() & !(self.mask() >> bits)
    }

    /// How many bits may be flipped, one at a time.
    pub(in crate::rooms::tables) fn flips(self) -> u32 {
        self.width * self.limit
    }

    /// The block of `fingerprint` at the high end of a word.
    #[inline]
    pub(super) fn value<F: Fingerprint>(self, fingerprint: F) -> u64 {
        let high = fingerprint << (F::BITS - self.low - self.width) >> (F::BITS - 64);
        high.to_u128() as u64 >> (64 - self.width) << (64 - self.width)
    }

    /// `fingerprint` with one bit of the block flipped, counted from the block's high end.
    #[inline]
    pub(super) fn flip<F: Fingerprint>(self, fingerprint: F, bit: u32) -> F {
        fingerprint ^ F::from_u128(1 << (self.low + self.width - 1 - bit))
    }

    /// How many of the differing bits are in the block.
    #[inline]
    pub(super) fn off<F: Fingerprint>(self, differing: F) -> u32 {
        self.value(differing).count_ones()
    }

    /// Whether a pair with these differing bits meets here.
    #[inline]
    pub(super) fn meets<F: Fingerprint>(self, differing: F) -> bool {
        self.off(differing) <= self.limit
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(width: Width, k: u32) -> Vec<(u32, u32)> {
        Block::all(width, k).iter().map(|block| (block.width, block.limit)).collect()
    }

    #[test]
    fn limits_exceeded_everywhere_exceed_k() {
        for (width, k) in (0..=7).flat_map(|k| [(Width::W64, k), (Width::W128, k)]) {
            let sum: u32 = limits(width, k).iter().map(|(_, limit)| limit + 1).sum();
            assert_eq!(sum, k + 1);
        }
        assert_eq!(limits(Width::W64, 3), [(32, 1), (32, 1)]);
        assert_eq!(limits(Width::W64, 0), [(32, 0)]);
        assert_eq!(limits(Width::W128, 2), [(64, 1), (64, 0)]);
        assert_eq!(limits(Width::W128, 4), [(43, 1), (43, 1), (42, 0)]);
        assert_eq!(limits(Width::W128, 7), [(32, 1); 4]);
    }

    proptest! {
        #[test]
        fn a_value_is_the_bits_of_the_block(fingerprint: u128, bit: u32, k in 0_u32..=7) {
            for block in Block::all(Width::W128, k) {
                let value = u128::from(block.value(fingerprint)) << 64 >> (128 - block.width);
                prop_assert_eq!(value << block.low, fingerprint & block.mask());
                let flipped = block.flip(fingerprint, bit % block.width);
                prop_assert_eq!(block.off(fingerprint ^ flipped), 1);
                prop_assert_eq!(
                    block.value(flipped),
                    super::super::filter::flip(block.value(fingerprint), bit % block.width)
                );
            }
        }
    }
}
