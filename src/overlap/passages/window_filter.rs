//! Which windows may have been met twice, in two bits or three for each: what was met once need not be sorted.
//!
//! Each hash has two of the 32 bits in half a word, and is met if both are set. Where they are set already, the same two bits of the other half are
//! set too:
//!
//! ```text
//!                  met           met twice
//! a comes          1 0 0 1 0     0 0 0 0 0
//! b comes          1 1 0 1 0     0 0 0 0 0
//! a comes again    1 1 0 1 0     1 0 0 1 0
//! ```
//!
//! Others can have set the bits of a window, so some are taken for repeated that are not. None that is repeated is passed over, whichever thread
//! comes first: a word changes in one step.

use std::sync::atomic::{AtomicU64, Ordering};

/// The bits for each window, if there is memory for them: of a corpus without repeats one window in thirty is taken for repeated then.
const BITS: u64 = 16;

#[derive(Debug)]
pub(super) struct WindowFilter {
    /// What was met in the lower half of each, and what was met twice in the upper half.
    words: Vec<AtomicU64>,
}

impl WindowFilter {
    pub(super) fn new(windows: u64, memory_bytes: usize) -> WindowFilter {
        let words = (WindowFilter::bytes(windows, memory_bytes) / size_of::<u64>()).max(1);
        WindowFilter { words: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    pub(super) fn bytes(windows: u64, memory_bytes: usize) -> usize {
        let wanted = windows.saturating_mul(BITS) / 8;
        usize::try_from(wanted).map_or(memory_bytes, |wanted| wanted.min(memory_bytes))
    }

    #[inline]
    pub(super) fn meet(&self, hash: u128) {
        let (word, bits) = self.place(hash);
        let is_known = |found: u64| found & (bits << 32) == bits << 32;
        // What all pages have is soon known, and then nobody writes.
        if !is_known(word.load(Ordering::Relaxed)) {
            let before = word.fetch_or(bits, Ordering::Relaxed);
            if before & bits == bits {
                word.fetch_or(bits << 32, Ordering::Relaxed);
            }
        }
    }

    /// Whether it was met; sometimes also if it was not.
    #[inline]
    pub(super) fn was_met(&self, hash: u128) -> bool {
        let (word, bits) = self.place(hash);
        word.load(Ordering::Relaxed) & bits == bits
    }

    /// Whether it was met twice; sometimes also if it was not.
    #[inline]
    pub(super) fn was_met_twice(&self, hash: u128) -> bool {
        let (word, bits) = self.place(hash);
        word.load(Ordering::Relaxed) >> 32 & bits == bits
    }

    /// The word of a hash, and its two bits of 32.
    #[inline]
    fn place(&self, hash: u128) -> (&AtomicU64, u64) {
        // A window of one word is that word alone, in the lower half of 64 bits: the product brings it up.
        let mixed = (hash as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = (u128::from(mixed) * self.words.len() as u128) >> 64;
        (&self.words[word as usize], 1 << (mixed & 31) | 1 << (mixed >> 5 & 31))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::parallel::in_parallel;

    proptest! {
        #[test]
        fn what_was_met_is_known(
            hashes in prop::collection::vec(0..80_u64, 0..300),
            memory_bytes in 0_usize..200,
            threads in 1_usize..4,
        ) {
            let hashes: Vec<u128> = hashes.iter().map(|hash| u128::from((hash * hash) << 40)).collect();
            let filter = WindowFilter::new(80, memory_bytes);
            in_parallel(threads, &hashes, |&hash| filter.meet(hash));
            let mut times: HashMap<u128, usize> = HashMap::new();
            hashes.iter().for_each(|&hash| *times.entry(hash).or_default() += 1);
            for (hash, times) in times {
                prop_assert!(filter.was_met(hash));
                prop_assert!(times < 2 || filter.was_met_twice(hash));
            }
        }
    }
}
