//! A filter of values, in which values that differ in one bit are close together.
//!
//! A Bloom filter of three bits for each value, all in one word, so that a look costs one access. The
//! high bits of a value choose the word, and all the others choose the bits in it. So ascending values
//! sweep the filter in order. Flipping a high bit leads to the same bits of another word, and flipping a
//! low bit to other bits of the same word.

use crate::hamming::memory::{prefetch, zeroed};

/// How many values there are for each word, at most, where there is memory for that.
const WORD_LOAD: u64 = 4;

/// The most words, as a power of two: 512 MiB.
const MOST_WORDS: u32 = 26;

/// How many bits mark a value.
pub(in crate::rooms::tables) const MARKS: u32 = 3;

/// How many words a filter for `count` values of `width` bits has, as a power of two.
pub(in crate::rooms::tables) fn word_bits(count: u64, width: u32) -> u32 {
    let words = count.div_ceil(WORD_LOAD).max(2);
    (u64::BITS - (words - 1).leading_zeros()).min(MOST_WORDS).min(width)
}

/// The value with one more bit flipped, counted from its high end.
#[inline]
pub(super) fn flip(value: u64, bit: u32) -> u64 {
    value ^ 1 << (63 - bit)
}

/// A set of values that may also seem to contain others. Values are at the high end of their 64 bits.
#[derive(Debug)]
pub(super) struct Filter {
    words: Vec<u64>,
    word_bits: u32,
}

impl Filter {
    /// An empty filter for `count` values of `width` bits.
    pub(super) fn new(count: u64, width: u32) -> Filter {
        let word_bits = word_bits(count, width);
        Filter { words: zeroed(1 << word_bits), word_bits }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        size_of_val(&self.words[..]) as u64
    }

    /// Adds `value`, and all values that differ from it in one of the first `flips` bits.
    pub(super) fn add(&mut self, value: u64, flips: u32) {
        let word = self.word(value);
        let marks = self.marks(value);
        for bit in 0..self.word_bits.min(flips) {
            let there = word ^ self.step(bit);
            self.words[there] |= marks;
        }
        let low = (self.word_bits..flips).map(|bit| self.marks(flip(value, bit)));
        self.words[word] |= low.fold(marks, |all, marks| all | marks);
    }

    /// Whether it may hold `value`.
    #[inline]
    pub(super) fn has(&self, value: u64) -> bool {
        let marks = self.marks(value);
        self.words[self.word(value)] & marks == marks
    }

    /// Which of the first `flips` bits, at most 64, lead from `value` to something it may hold.
    #[inline]
    pub(super) fn flips(&self, value: u64, flips: u32) -> u64 {
        let word = self.word(value);
        let marks = self.marks(value);
        let mut held = 0;
        for bit in 0..self.word_bits.min(flips) {
            let there = self.words[word ^ self.step(bit)];
            held |= u64::from(there & marks == marks) << bit;
        }
        let here = self.words[word];
        for bit in self.word_bits..flips {
            let marks = self.marks(flip(value, bit));
            held |= u64::from(here & marks == marks) << bit;
        }
        held
    }

    /// Begins to bring the word of `value` into the cache.
    #[inline]
    pub(super) fn prefetch(&self, value: u64) {
        prefetch(&self.words, self.word(value));
    }

    #[inline]
    fn word(&self, value: u64) -> usize {
        (value >> (64 - self.word_bits)) as usize
    }

    /// From a word to that of the values with this bit flipped.
    #[inline]
    fn step(&self, bit: u32) -> usize {
        1 << (self.word_bits - 1 - bit)
    }

    #[inline]
    fn marks(&self, value: u64) -> u64 {
        let hash = (value << self.word_bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..MARKS).fold(0, |marks, mark| marks | 1 << (hash >> (58 - 6 * mark) & 63))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What was added is held, with all its flips; and flips are what looking for each would find.
        #[test]
        fn nothing_added_is_lost(
            values in prop::collection::vec(any::<u64>(), 1..50),
            width in 21_u32..=64,
            room in 1_u64..5000,
            flips in 0_u32..=64,
        ) {
            let values = values.iter().map(|value| value >> (64 - width) << (64 - width));
            let mut filter = Filter::new(room, width);
            let flips = flips.min(width);
            values.clone().for_each(|value| filter.add(value, flips));
            for value in values {
                prop_assert!(filter.has(value));
                let all = (0..flips).fold(0_u64, |all, bit| all | 1 << bit);
                prop_assert_eq!(filter.flips(value, flips), all);
                let other = flip(value.rotate_left(7), 0);
                let found = filter.flips(other, 64);
                for bit in 0..64 {
                    prop_assert_eq!(filter.has(flip(other, bit)), found >> bit & 1 == 1);
                }
            }
        }
    }

    #[test]
    fn little_else_is_held() {
        let value = |i: u64| i.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32 << 32;
        let mut filter = Filter::new(1000 * 33, 32);
        (0..1000).for_each(|i| filter.add(value(i), 32));
        let held = (1000..100_000).filter(|&i| filter.has(value(i))).count();
        assert!(held < 2000, "{held}");
    }
}
