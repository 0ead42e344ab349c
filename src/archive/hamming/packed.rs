//! Numbers of a few bytes each, one behind the other, compared with another one.

use crate::fingerprint::Fingerprint;

/// Numbers of 4 bytes that are compared at once.
const GROUP: usize = 8;

const WORD_BYTES: usize = size_of::<u64>();

/// How many numbers of so many `bytes` are best compared together.
#[inline(always)]
pub fn group_of(bytes: usize) -> u32 {
    if bytes == 4 { GROUP as u32 } else { 1 }
}

/// The low bytes of a fingerprint.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The highest 8 of these bytes, as a word. Fewer bytes fill the top of the word.
    word: u64,
    bytes: usize,
}

impl Asked {
    /// The low `bytes` of `fingerprint`, at least one.
    #[inline(always)]
    pub fn of<F: Fingerprint>(fingerprint: F, bytes: usize) -> Asked {
        let word = fingerprint.to_u128() << (128 - 8 * bytes);
        Asked { word: (word >> 64) as u64, bytes }
    }

    /// Whether a number in `packed` may be within `distance` bits of these bytes. The answer `false` is exact. The
    /// answer `true` is not: of a number longer than 8 bytes, the function compares the highest 8 bytes alone.
    ///
    /// `packed` ends with the last number. For numbers shorter than 8 bytes, `packed` must start with (8 - bytes) padding
    /// bytes.
    #[inline(always)]
    pub fn is_near_any(self, packed: &[u8], distance: u32) -> bool {
        if self.bytes == 4 {
            self.by_groups(packed, distance)
        } else {
            self.by_words(packed, distance)
        }
    }

    /// The same for numbers of any length.
    #[inline(always)]
    fn by_words(self, packed: &[u8], distance: u32) -> bool {
        let drop = 64_u32.saturating_sub(8 * self.bytes as u32);
        let mut any = false;
        for word in packed.windows(WORD_BYTES).step_by(self.bytes) {
            let word = u64::from_le_bytes(*word.first_chunk().expect("a window is a word"));
            any |= ((word ^ self.word) >> drop).count_ones() <= distance;
        }
        any
    }

    /// The same for numbers of 4 bytes.
    #[inline(always)]
    fn by_groups(self, packed: &[u8], distance: u32) -> bool {
        let asked = (self.word >> 32) as u32;
        let (numbers, _) = packed.get(4..).unwrap_or_default().as_chunks::<4>();
        let (groups, rest) = numbers.as_chunks::<GROUP>();
        let mut any = false;
        for group in groups {
            for &number in group {
                any |= (u32::from_le_bytes(number) ^ asked).count_ones() <= distance;
            }
        }
        for &number in rest {
            any |= (u32::from_le_bytes(number) ^ asked).count_ones() <= distance;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hamming::multiversion::{Multiversion, counting, widest};

    #[derive(Clone, Copy)]
    struct Ask<'a>(Asked, &'a [u8], u32);

    impl Multiversion for Ask<'_> {
        type Output = bool;

        #[inline(always)]
        fn run(self) -> bool {
            self.0.is_near_any(self.1, self.2)
        }
    }

    proptest! {
        /// Random numbers and one a few bits away, of every length, in every version.
        #[test]
        fn it_is_told_whether_any_is_near(
            numbers in prop::collection::vec(any::<u128>(), 0..40),
            place: prop::sample::Index,
            flips: [u128; 4],
            bytes in 1_usize..=16,
            distance in 0_u32..9,
        ) {
            let all = u128::MAX >> (128 - 8 * bytes);
            let flips = flips.iter().fold(u128::MAX, |all, &flip| all & flip);
            let asked = numbers.get(place.index(40)).map_or(7, |it| it ^ flips);
            let mut packed = vec![0xa5; WORD_BYTES.saturating_sub(bytes)];
            for number in &numbers {
                packed.extend_from_slice(&number.to_le_bytes()[..bytes]);
            }
            let skipped = bytes.saturating_sub(WORD_BYTES);
            let packed = packed.get(skipped..).unwrap_or_default();
            let highest = |number: u128| (number & all) >> (8 * skipped);
            let near = |&it: &u128| (highest(it) ^ highest(asked)).count_ones() <= distance;
            let ask = Ask(Asked::of(asked, bytes), packed, distance);
            prop_assert_eq!(ask.run(), numbers.iter().any(near));
            prop_assert_eq!(widest(ask), ask.run());
            prop_assert_eq!(counting(ask), ask.run());
        }
    }
}
