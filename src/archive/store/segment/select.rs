//! Finds a place in a [`unary`](super::unary) vector without reading what is before it.
//!
//! The numbers are cut into ranges of one length, a power of two, so that about ten of the numbers are in each.
//! For each range it is kept how many numbers are below it. That alone tells which rows a range has. And where
//! the numbers from g on begin is bit g + the count of those below, so the rest of the way is counted from there,
//! a word at a time. For the numbers 0 0 0 3 4 and ranges of two:
//!
//! ```text
//! vector, lowest bit first: 1 1 1 0 0 0 1 0 1      range 0, 1: none below; range 2, 3: three below; range 4: four
//! numbers from 3 on: range 2, 3 begins at bit 2 + 3; zero 3 is there, so they begin with number 3, behind it
//! ```
//!
//! Elias, "Efficient storage and retrieval by content and address of static files" (1974).

use std::ops::Range;

use super::unary::{WORD_BYTES, words};

const RANGE_ROWS: u64 = 8;

#[derive(Debug)]
pub(super) struct Select {
    /// For each range, the count of the numbers below it; then the count of all.
    pub(super) below: Box<[u16]>,
    shift: u32,
    /// The distance of the first number from the beginning of the range of that number. With this
    /// distance, the ranges of a block and of the next block are cut at the same bits of a
    /// fingerprint.
    phase: u64,
}

/// A place in a vector: a word, what is left of its bits, and how many numbers come before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) word_at: u32,
    pub(super) word: u64,
    pub(super) row: u32,
}

impl Select {
    /// That of a `vector` with `rows` numbers, at most 65,535, and so many `zeros` before the last. The numbers are
    /// counted from `base`.
    pub(super) fn of(vector: &[u8], rows: u16, zeros: u64, base: u64) -> Select {
        let most = (u64::from(rows) / RANGE_ROWS).max(1);
        let shift = zeros.div_ceil(most).next_power_of_two().ilog2();
        let phase = base & ((1 << shift) - 1);
        let mut below = Vec::with_capacity(((zeros + phase) >> shift) as usize + 2);
        below.push(0);
        // The zero behind which the next range begins, and the zeros of the words before.
        let (mut next, mut before) = ((1 << shift) - phase, 0);
        for (at, word) in (0..).step_by(64).zip(words(vector)) {
            let in_word = u64::from(word.count_zeros());
            while next <= zeros && next <= before + in_word {
                let bit: u64 = at + u64::from(nth(!word, next - before));
                below.push((bit + 1 - next) as u16);
                next += 1 << shift;
            }
            before += in_word;
        }
        below.push(rows);
        Select { below: below.into(), shift, phase }
    }

    #[inline(always)]
    pub(super) fn range_of(&self, number: u64) -> usize {
        ((number + self.phase) >> self.shift) as usize
    }

    /// The rows of the ranges that have the numbers from `first` to `last`. The vector has a number that is not
    /// below `last`.
    #[inline(always)]
    pub(super) fn rows(&self, first: u64, last: u64) -> Range<u32> {
        let [first, last] = [self.range_of(first), self.range_of(last)];
        self.below[first].into()..self.below[last + 1].into()
    }

    #[inline(always)]
    pub(super) fn bit_of(&self, number: u64) -> u64 {
        let range = self.range_of(number);
        u64::from(self.below[range]) + self.begin_of(range)
    }

    #[inline(always)]
    fn begin_of(&self, range: usize) -> u64 {
        ((range as u64) << self.shift).saturating_sub(self.phase)
    }

    /// Where the numbers from `number` on begin. The vector has a number that is not below it.
    #[inline]
    pub(super) fn after(&self, vector: &[u8], number: u64) -> Spot {
        let bit = self.bit_of(number);
        let (mut at, bit) = ((bit / 64) as u32, bit % 64);
        let mut wanted = number - self.begin_of(self.range_of(number));
        if wanted == 0 {
            let word = word(vector, at) & (u64::MAX << bit);
            return Spot { word_at: at, word, row: 64 * at + bit as u32 - number as u32 };
        }
        let mut zeros = !word(vector, at) & (u64::MAX << bit);
        while u64::from(zeros.count_ones()) < wanted {
            wanted -= u64::from(zeros.count_ones());
            at += 1;
            zeros = !word(vector, at);
        }
        let bit = nth(zeros, wanted);
        let word = word(vector, at) & !(u64::MAX >> (63 - bit));
        let row = u64::from(64 * at + bit + 1) - number;
        Spot { word_at: at, word, row: row as u32 }
    }
}

/// The place of the `wanted`th one, counted from 1, in a word that has so many.
#[inline]
fn nth(mut word: u64, mut wanted: u64) -> u32 {
    let mut place = 0;
    for half in [32, 16, 8, 4, 2, 1] {
        // Without branches, which nobody could predict.
        let ones = u64::from((word & ((1 << half) - 1)).count_ones());
        let skip = u64::from(ones < wanted);
        wanted -= ones & skip.wrapping_neg();
        let step = half & skip.wrapping_neg() as u32;
        word >>= step;
        place += step;
    }
    place
}

#[inline]
pub(super) fn word(vector: &[u8], at: u32) -> u64 {
    let bytes = vector[WORD_BYTES * at as usize..].first_chunk::<WORD_BYTES>();
    u64::from_le_bytes(*bytes.expect("a vector has whole words"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::segment::unary;

    proptest! {
        #[test]
        fn every_number_begins_where_a_scan_finds_it(
            steps in prop::collection::vec(prop_oneof![8 => 0u64..3, 1 => 0u64..2000], 1..400),
            copies in 1usize..20,
            base: u64,
        ) {
            let mut last = 0;
            let numbers: Vec<u64> = steps.iter().enumerate().flat_map(|(at, step)| {
                last += if at == 0 { 0 } else { *step };
                vec![last; 1 + at % copies]
            }).collect();
            let mut vector = Vec::new();
            unary::write(numbers.iter().map(|&it| it.into()), last.into(), &mut vector);
            let select = Select::of(&vector, numbers.len() as u16, last, base);
            prop_assert!(select.below.len() <= numbers.len() / 2 + 4, "{} counts", select.below.len());
            for number in (0..=last).step_by(1 + last as usize / 500) {
                let spot = select.after(&vector, number);
                let row = numbers.partition_point(|&it| it < number);
                prop_assert_eq!(spot.row as usize, row);
                let bit = spot.word.trailing_zeros();
                let found = if bit < 64 { Some(64 * u64::from(spot.word_at) + u64::from(bit)) } else { None };
                if let Some(found) = found {
                    prop_assert_eq!(found, numbers[row] + row as u64);
                }
                // The ranges of the numbers up to another one, cut at bits of the sum with the base.
                let end = last.min(number + base % 100);
                let cut = |number: u64| (number + select.phase) >> select.shift;
                let rows = numbers.partition_point(|&it| cut(it) < cut(number)) as u32
                    ..numbers.partition_point(|&it| cut(it) <= cut(end)) as u32;
                prop_assert_eq!(select.rows(number, end), rows);
            }
            prop_assert_eq!(select.phase, base % (1 << select.shift));
        }
    }
}
