//! Permutations of the bits of a fingerprint, by which the tables of an index are sorted.

use crate::fingerprint::Fingerprint;

/// A permutation that brings the bits of a mask to the front. The bits of the mask keep their order, and so do
/// the others.
///
/// For example, with the mask `0011_1100` the bits `abcd_efgh` become `cdef_abgh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permutation {
    width: u32,
    parts: Vec<MovedBits>,
}

/// Neighbouring bits, and by how many places they move to the left: a negative number, to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MovedBits {
    mask: u128,
    left: i32,
}

impl Permutation {
    pub(super) fn of(mask: u128, width: u32) -> Permutation {
        let all = u128::MAX >> (128 - width);
        let mut to = width as i32;
        let mut parts = Vec::new();
        for chosen in [mask & all, !mask & all] {
            let mut rest = chosen;
            while rest != 0 {
                let end = 128 - rest.leading_zeros();
                let length = (rest << (128 - end)).leading_ones();
                let begin = end - length;
                let part = (u128::MAX >> (128 - length)) << begin;
                to -= length as i32;
                parts.push(MovedBits { mask: part, left: to - begin as i32 });
                rest &= !part;
            }
        }
        Permutation { width, parts }
    }

    pub(super) fn is_identity(&self) -> bool {
        self.parts.iter().all(|part| part.left == 0)
    }

    #[inline]
    pub(super) fn apply<F: Fingerprint>(&self, bits: F) -> F {
        let bits = bits.to_u128();
        F::from_u128(
            self.parts.iter().fold(0, |all, part| all | shift(bits & part.mask, part.left)),
        )
    }

    #[inline]
    pub(super) fn undo<F: Fingerprint>(&self, bits: F) -> F {
        let bits = bits.to_u128();
        let back = |part: &MovedBits| shift(bits & shift(part.mask, part.left), -part.left);
        F::from_u128(self.parts.iter().fold(0, |all, part| all | back(part)))
    }
}

#[inline]
fn shift(bits: u128, left: i32) -> u128 {
    if left >= 0 { bits << left } else { bits >> -left }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bits_of_the_mask_come_first() {
        let permutation = Permutation::of(0b0011_1100, 8);
        assert_eq!(permutation.apply(0b0101_1001_u64), 0b0110_0101);
        let half = Permutation::of(u128::from(u32::MAX), 64);
        assert_eq!(half.apply(0x0123_4567_89ab_cdef_u64), 0x89ab_cdef_0123_4567);
        assert!(Permutation::of(0xf0, 8).is_identity() && !half.is_identity());
    }

    proptest! {
        #[test]
        fn it_is_undone(mask: u128, bits: u128) {
            let wide = Permutation::of(mask, 128);
            prop_assert_eq!(wide.undo(wide.apply(bits)), bits);
            let ones = mask.count_ones();
            let first = if ones == 0 { 0 } else { wide.apply(mask) >> (128 - ones) };
            prop_assert_eq!(first.count_ones(), ones);
            let narrow = Permutation::of(mask, 64);
            prop_assert_eq!(narrow.undo(narrow.apply(bits as u64)), bits as u64);
        }
    }
}
