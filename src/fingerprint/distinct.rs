//! How many distinct hashes there were, counted in little memory.
//!
//! Wegman's adaptive sampling (Flajolet, "On adaptive sampling", Computing 43, 1990): the hashes that end
//! in a number of zero bits are kept. When they become too many, one more zero is asked for, which about
//! half of them have. So what is kept does not depend on the order. Up to [`ROOM`] hashes are counted
//! exactly, and more of them with a standard error of some 1.2 / sqrt([`ROOM`]), or 4 %.

use crate::features::by_hash::{self, ByHash};

/// The most hashes that are kept. The error of four percent is below the steps of one byte on a log scale.
const ROOM: usize = 1 << 10;

/// Counts distinct hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct Distinct {
    kept: ByHash<u64, ()>,
    zeros: u32,
}

impl Distinct {
    /// Takes a hash with 64 good bits.
    #[inline]
    pub(super) fn add(&mut self, hash: u64) {
        if hash.trailing_zeros() >= self.zeros {
            self.kept.insert(hash, ());
            while self.kept.len() > ROOM && self.zeros < u64::BITS {
                self.zeros += 1;
                self.kept.retain(|hash, ()| hash.trailing_zeros() >= self.zeros);
            }
        }
    }

    /// The number of distinct hashes that were taken, and forgets them.
    pub(super) fn finish(&mut self) -> u64 {
        let count = (self.kept.len() as u64) << self.zeros.min(u64::BITS - 11);
        by_hash::clear(&mut self.kept);
        self.zeros = 0;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;

    fn count(hashes: impl IntoIterator<Item = u64>) -> u64 {
        let mut distinct = Distinct::default();
        hashes.into_iter().for_each(|hash| distinct.add(hash));
        distinct.finish()
    }

    #[test]
    fn few_are_counted_exactly_and_many_nearly_so() {
        let hashes = |count: u64| (0..count).map(|it| Hash::Xxh3.of::<u64>(&it.to_string()));
        for few in [0, 1, 2, 100, ROOM as u64] {
            assert_eq!(count(hashes(few).chain(hashes(few))), few);
        }
        for many in [5_000, 50_000, 500_000] {
            let counted = count(hashes(many));
            let error = counted as f64 / many as f64 - 1.0;
            assert!(error.abs() < 0.12, "{counted} of {many}");
            let mut reversed: Vec<u64> = hashes(many).collect();
            reversed.reverse();
            assert_eq!(count(reversed), counted);
        }
    }

    #[test]
    fn hashes_that_end_in_zeros_end() {
        let hashes = (0..1 << 14).map(|it| it << 50);
        assert!(count(hashes) >= 1 << 50);
        let mut distinct = Distinct::default();
        distinct.add(0);
        assert_eq!([distinct.finish(), distinct.finish()], [1, 0]);
    }
}
