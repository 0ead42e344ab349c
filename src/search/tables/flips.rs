//! Every way to differ in some bits: the words with a given number of set bits, in ascending order.

use crate::hamming::words;

/// The widest word for which the masks of up to [`WIDE_WEIGHT`] bits are listed.
pub(super) const WIDEST: u32 = 22;

/// The widest word for which the masks of any weight are listed.
pub(super) const NARROW: u32 = 12;

/// The heaviest mask of the wide words.
pub(super) const WIDE_WEIGHT: u32 = 3;

/// Words by how many bits are set in them.
#[derive(Debug)]
pub(super) struct Flips(Vec<Weight>);

#[derive(Debug)]
struct Weight {
    words: Vec<u32>,
    /// By width: how many of the words fit into it.
    counts: [usize; WIDEST as usize + 1],
}

impl Flips {
    pub(super) fn up_to(weight: u32) -> Flips {
        let of = |weight| Weight {
            words: words(if weight <= WIDE_WEIGHT { WIDEST } else { NARROW }, weight)
                .map(|word| word as u32)
                .collect(),
            counts: std::array::from_fn(|width| choose(width as u32, weight)),
        };
        Flips((0..=weight).map(of).collect())
    }

    /// The words of `width` bits of which `weight` are set. They ascend, so one list serves every width.
    #[inline]
    pub(super) fn of(&self, width: u32, weight: u32) -> &[u32] {
        let Weight { words, counts } = &self.0[weight as usize];
        &words[..counts[width as usize]]
    }
}

pub(super) fn choose(n: u32, k: u32) -> usize {
    if k > n {
        return 0;
    }
    (0..k as usize).fold(1, |product, i| product * (n as usize - i) / (i + 1))
}

/// The number of words of `width` bits of which at most `weight` are set.
pub(super) fn ball(width: u32, weight: u32) -> usize {
    (0..=weight).map(|weight| choose(width, weight)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_words_of_their_weight() {
        let masks = Flips::up_to(7);
        for (width, weight) in (0..=NARROW).flat_map(|width| (0..=7).map(move |w| (width, w))) {
            let words = (0..1_u32 << width).filter(|word| word.count_ones() == weight);
            assert!(words.eq(masks.of(width, weight).iter().copied()), "{weight} of {width}");
        }
        assert_eq!(masks.of(WIDEST, 3).len(), choose(WIDEST, 3));
        assert_eq!((ball(20, 3), ball(6, 0), ball(2, 2)), (1351, 1, 4));
    }
}
