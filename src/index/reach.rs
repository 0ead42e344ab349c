//! How far one table of an index reaches: which of the fingerprints within the distance it finds.

use crate::fingerprint::Fingerprint;

/// A table finds what differs in at most `within` of the bits of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// The bits of the key, where they are in a fingerprint.
    pub(super) mask: u128,
    /// How many of them may differ.
    pub(super) within: u32,
}

impl Reach {
    /// Whether the table finds what differs in these bits.
    pub(super) fn covers<F: Fingerprint>(self, difference: F) -> bool {
        (difference.to_u128() & self.mask).count_ones() <= self.within
    }
}

/// The words of `width` bits in which `weight` bits are set, in ascending order.
pub(super) fn flips<F: Fingerprint>(width: u32, weight: u32) -> impl Iterator<Item = F> {
    let first = (weight <= width).then(|| (1_u128 << weight) - 1);
    let next = move |&word: &u128| {
        // The lowest run of ones moves its highest bit up by one, and the others to the bottom.
        let lowest = word & word.wrapping_neg();
        let carried = word + lowest;
        let next =
            (word > 0).then(|| carried | (((word ^ carried) >> 2) >> lowest.trailing_zeros()));
        next.filter(|word| word >> width == 0)
    };
    std::iter::successors(first, next).map(F::from_u128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_are_all_words_of_their_weight() {
        for (width, weight) in (0..10).flat_map(|width| (0..=10).map(move |it| (width, it))) {
            let words = (0..1_u64 << width).filter(|word| word.count_ones() == weight);
            assert!(words.eq(flips::<u64>(width, weight)), "{weight} of {width}");
        }
    }
}
