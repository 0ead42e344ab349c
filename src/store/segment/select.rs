//! Finds a place in a [`unary`](super::unary) vector without reading what is before it.
//!
//! Where do the numbers from g on begin? After zero g of the vector. So the places of some zeros are kept, and
//! the rest of the way is counted a word at a time. For the numbers 0 0 0 3 4:
//!
//! ```text
//! vector, lowest bit first: 1 1 1 0 0 0 1 0 1      zeros 1 to 4 are bits 3, 4, 5 and 7
//! numbers from 3 on: zero 3 is bit 5; before it are 5 + 1 - 3 = 3 ones, so they begin with number 3
//! ```
//!
//! Elias, "Efficient storage and retrieval by content and address of static files" (1974); the kept places are
//! those of Clark, "Compact Pat trees" (1996).

use super::unary::WORD_BYTES;

/// The bits of a vector for which one place is kept, on average.
const SAMPLED_BITS: u64 = 256;

/// The places of some zeros of a vector.
#[derive(Debug)]
pub(super) struct Select {
    /// The place of zero `1 + (i << shift)`.
    samples: Box<[u32]>,
    shift: u32,
}

/// A place in a vector: a word, what is left of its bits, and how many numbers come before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) word_at: u32,
    pub(super) word: u64,
    pub(super) row: u32,
}

impl Select {
    /// That of a `vector` with so many `zeros` before its last number.
    pub(super) fn of(vector: &[u8], zeros: u64) -> Select {
        let samples = 8 * vector.len() as u64 / SAMPLED_BITS + 1;
        let shift = zeros.div_ceil(samples).next_power_of_two().ilog2();
        let mut places = Vec::with_capacity((zeros >> shift) as usize + 1);
        let (mut next, mut before) = (1, 0);
        for (at, word) in (0..).step_by(64).zip(words(vector)) {
            let in_word = u64::from(word.count_zeros());
            while next <= zeros && next <= before + in_word {
                places.push(at + nth((!word, next - before)));
                next += 1 << shift;
            }
            before += in_word;
        }
        Select { samples: places.into(), shift }
    }

    /// Which sample [`Select::after`] looks at.
    pub(super) fn sample_of(&self, number: u64) -> usize {
        (number.saturating_sub(1) >> self.shift) as usize
    }

    /// The samples, to be prefetched.
    pub(super) fn samples(&self) -> &[u32] {
        &self.samples
    }

    /// The byte of the vector that [`Select::after`] begins with.
    pub(super) fn byte_of(&self, number: u64) -> usize {
        self.samples.get(self.sample_of(number)).map_or(0, |&bit| bit as usize / 8)
    }

    /// Where the numbers from `number` on begin. The vector has at least so many zeros before its last number.
    #[inline]
    pub(super) fn after(&self, vector: &[u8], number: u64) -> Spot {
        if number == 0 {
            return Spot { word_at: 0, word: word(vector, 0), row: 0 };
        }
        let sample = self.sample_of(number);
        let bit = self.samples[sample];
        let mut at = bit / 64;
        // The zeros from the sampled one on, and how many of them are wanted.
        let mut zeros = !word(vector, at) >> (bit % 64) << (bit % 64);
        let mut wanted = number - ((sample as u64) << self.shift);
        while u64::from(zeros.count_ones()) < wanted {
            wanted -= u64::from(zeros.count_ones());
            at += 1;
            zeros = !word(vector, at);
        }
        let bit = nth((zeros, wanted));
        let rest = word(vector, at) & !(u64::MAX >> (63 - bit));
        Spot {
            word_at: at,
            word: rest,
            row: (64 * u64::from(at) + u64::from(bit) + 1 - number) as u32,
        }
    }
}

/// The place of the `wanted`th one, counted from 1, in a word that has so many.
#[inline]
fn nth((mut word, mut wanted): (u64, u64)) -> u32 {
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

/// A word of a vector.
#[inline]
pub(super) fn word(vector: &[u8], at: u32) -> u64 {
    let bytes = vector[WORD_BYTES * at as usize..].first_chunk::<WORD_BYTES>();
    u64::from_le_bytes(*bytes.expect("a vector has whole words"))
}

fn words(vector: &[u8]) -> impl Iterator<Item = u64> {
    vector.as_chunks::<WORD_BYTES>().0.iter().map(|&word| u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::segment::unary;

    #[test]
    fn the_example_of_the_text() {
        let mut vector = Vec::new();
        unary::write([0, 0, 0, 3, 4].into_iter(), 4, &mut vector);
        let select = Select::of(&vector, 4);
        assert_eq!(select.after(&vector, 3), Spot { word_at: 0, word: 0b1_0100_0000, row: 3 });
        assert_eq!(select.after(&vector, 0).row, 0);
    }

    proptest! {
        /// Crowds, gaps and both.
        #[test]
        fn every_number_begins_where_a_scan_finds_it(
            steps in prop::collection::vec(prop_oneof![8 => 0u64..3, 1 => 0u64..2000], 1..400),
            copies in 1usize..20,
        ) {
            let mut last = 0;
            let numbers: Vec<u64> = steps.iter().enumerate().flat_map(|(at, step)| {
                last += if at == 0 { 0 } else { *step };
                vec![last; 1 + at % copies]
            }).collect();
            let mut vector = Vec::new();
            unary::write(numbers.iter().map(|&it| it.into()), last.into(), &mut vector);
            let select = Select::of(&vector, last);
            for number in (0..=last).step_by(1 + last as usize / 500) {
                let spot = select.after(&vector, number);
                let row = numbers.partition_point(|&it| it < number);
                prop_assert_eq!(spot.row as usize, row);
                let bit = spot.word.trailing_zeros();
                let found = if bit < 64 { Some(64 * u64::from(spot.word_at) + u64::from(bit)) } else { None };
                if let Some(found) = found {
                    prop_assert_eq!(found, numbers[row] + row as u64);
                }
            }
        }
    }
}
