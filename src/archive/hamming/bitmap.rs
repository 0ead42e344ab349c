//! Sets of small numbers, a bit for each, of which many are looked up at once.
//!
//! A look into memory at 8 addresses is one instruction since Haswell (2013): a gather. It finds the words of
//! 8 numbers, a shift by 8 amounts brings their bits to the top, and one more instruction collects those.
//! Written with one number after another, the same takes 2.7 times as long (Sapphire Rapids); 16 at once
//! take as long as 8.

pub const BLOCK: usize = 256;

/// For each number of a block, whether it was found: the first is the lowest bit.
pub type FoundBits = [u64; BLOCK / 64];

const MOST: usize = 1 << 31;

/// A set of small numbers. Numbers count modulo its size, so that larger ones may be taken for each other.
#[derive(Debug)]
pub struct Bitmap {
    /// A power of two of them, at most [`MOST`] bits.
    words: Vec<u32>,
    last: u32,
}

impl Default for Bitmap {
    fn default() -> Bitmap {
        Bitmap { words: vec![0], last: 31 }
    }
}

impl Bitmap {
    /// Forgets all numbers, and makes the size the power of two that is not below `bits`: 32 or more.
    pub fn reset(&mut self, bits: usize) {
        // This is the proof that `any_by_gathers` rests on: its places are signed numbers of 32 bits.
        assert!(bits <= MOST, "a number has at most 31 bits");
        let words = bits.next_power_of_two().div_ceil(32);
        self.words.clear();
        self.words.resize(words, 0);
        self.last = (32 * words - 1) as u32;
    }

    #[inline(always)]
    pub fn insert(&mut self, number: u32) {
        self.words[((number & self.last) >> 5) as usize] |= 1 << (number & 31);
    }

    #[inline(always)]
    pub fn contains(&self, number: u32) -> bool {
        (self.words[((number & self.last) >> 5) as usize] >> (number & 31)) & 1 == 1
    }

    /// At which places it has the number of any of the `lists`, which are equally long, with at most [`BLOCK`]
    /// numbers.
    #[inline]
    pub fn any_of<const LISTS: usize>(&self, lists: [&[u32]; LISTS]) -> FoundBits {
        let count = lists[0].len();
        assert!(count <= BLOCK && lists.iter().all(|list| list.len() == count), "equal lists");
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just asked for the instructions.
            return unsafe { self.any_by_gathers(lists) };
        }
        self.any_from(0, lists)
    }

    /// [`any_of`](Bitmap::any_of) without vectors, for the places from `first` on.
    #[inline(always)]
    fn any_from<const LISTS: usize>(&self, first: usize, lists: [&[u32]; LISTS]) -> FoundBits {
        let mut found = FoundBits::default();
        for at in first..lists[0].len() {
            let any = lists.iter().fold(false, |any, list| any | self.contains(list[at]));
            found[at / 64] |= u64::from(any) << (at % 64);
        }
        found
    }

    /// [`any_of`](Bitmap::any_of), 8 places at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn any_by_gathers<const LISTS: usize>(&self, lists: [&[u32]; LISTS]) -> FoundBits {
        use std::arch::x86_64::*;
        let last = _mm256_set1_epi32((32 * self.words.len() - 1) as i32);
        let top = _mm256_set1_epi32(31);
        let memory = self.words.as_ptr().cast();
        let whole = lists[0].len() / 8;
        let mut found = self.any_from(8 * whole, lists);
        let lists = lists.map(|list| list.as_chunks::<8>().0);
        for at in 0..whole {
            let mut any = _mm256_setzero_si256();
            for list in lists {
                // SAFETY: a chunk has the 8 numbers that are read.
                let numbers = unsafe { _mm256_loadu_si256(list[at].as_ptr().cast()) };
                let numbers = _mm256_and_si256(numbers, last);
                let places = _mm256_srli_epi32::<5>(numbers);
                // SAFETY: no number is above the last bit, so its word is within `words`. There are at
                // most 2^26 words, which `reset` asserts, so no place is taken for a negative one.
                let words = unsafe { _mm256_i32gather_epi32::<4>(memory, places) };
                // The bit of number n moves up by 31 - n % 32.
                let bits = _mm256_sllv_epi32(words, _mm256_andnot_si256(numbers, top));
                any = _mm256_or_si256(any, bits);
            }
            let tops = _mm256_movemask_ps(_mm256_castsi256_ps(any)) as u8;
            found[at / 8] |= u64::from(tops) << (8 * (at % 8));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every version against the set and against each other, at the ends of the bitmap and in part of a
        /// block; what was forgotten is gone.
        #[test]
        fn every_version_finds_what_the_set_has(
            width in 0_u32..20,
            numbers in prop::collection::vec(any::<u32>(), 0..500),
            before in prop::collection::vec(0_u32..32, 0..5),
            a in prop::collection::vec(any::<u32>(), BLOCK),
            b in prop::collection::vec(any::<u32>(), BLOCK),
            count in 0..=BLOCK,
        ) {
            let (a, b) = (&a[..count], &b[..count]);
            let last = (1_u32 << width.max(5)) - 1;
            let set: HashSet<u32> = numbers.iter().map(|number| number & last).collect();
            let mut bitmap = Bitmap::default();
            bitmap.reset(32);
            before.iter().for_each(|&number| bitmap.insert(number));
            bitmap.reset(1 << width);
            numbers.iter().for_each(|&number| bitmap.insert(number));
            let both = bitmap.any_of([a, b]);
            let first = bitmap.any_of([a]);
            prop_assert_eq!(both, bitmap.any_from(0, [a, b]));
            prop_assert_eq!(first, bitmap.any_from(0, [a]));
            for at in 0..BLOCK {
                let bit = |found: FoundBits| found[at / 64] >> (at % 64) & 1 == 1;
                let has = |list: &[u32]| list.get(at).is_some_and(|it| set.contains(&(it & last)));
                prop_assert_eq!(bit(first), has(a));
                prop_assert_eq!(bit(both), has(a) || has(b));
            }
        }
    }

    #[test]
    #[should_panic(expected = "equal lists")]
    fn lists_of_different_lengths_are_refused() {
        Bitmap::default().any_of([&[0; 9], &[0; 8]]);
    }
}
