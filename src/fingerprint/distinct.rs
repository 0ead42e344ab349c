//! How many distinct hashes there were, counted in little memory.
//!
//! Wegman's adaptive sampling (Flajolet, "On adaptive sampling", Computing 43, 1990): the hashes that end
//! in a number of zero bits are kept. When they become too many, one more zero is asked for, which about
//! half of them have. So what is kept does not depend on the order. Up to [`ROOM`] hashes are counted
//! exactly, and more of them with a standard error of some 1.2 / sqrt([`ROOM`]), or 4 %.

use std::hash::BuildHasher;

use crate::features::by_hash::Keyed;

/// The most hashes that are kept. The error of four percent is below the steps of one byte on a log scale.
const ROOM: usize = 1 << 10;

/// The places for hashes, at most about half of them taken. There are more than hashes are kept for at the end, so that
/// most pages need not drop any before.
const PLACES: usize = 4 * ROOM;

/// Counts distinct hashes.
#[derive(Clone, Debug)]
pub(super) struct Distinct {
    /// Each hash that is kept stands at the first free place from the one that its key names; 0 where there is none.
    kept: Box<[u64; PLACES]>,
    key: Keyed,
    /// How many are kept, the hash 0 among them.
    count: usize,
    has_zero: bool,
    zeros: u32,
    /// Hashes that end in enough zeros and are yet to be kept, and how many there are.
    waiting: [u64; WAITING],
    waiting_count: usize,
}

/// How many hashes wait.
const WAITING: usize = 64;

impl Default for Distinct {
    fn default() -> Distinct {
        let kept = Box::new([0; PLACES]);
        Distinct {
            kept,
            key: Keyed::default(),
            count: 0,
            has_zero: false,
            zeros: 0,
            waiting: [0; WAITING],
            waiting_count: 0,
        }
    }
}

impl Distinct {
    /// The number that is counted of these hashes, which all differ.
    pub(super) fn of_set(hashes: &[u64]) -> u64 {
        let (mut count, mut zeros) = (hashes.len(), 0);
        while count > ROOM && zeros < u64::BITS {
            zeros += 1;
            count = hashes.iter().filter(|hash| hash.trailing_zeros() >= zeros).count();
        }
        shown(count, zeros)
    }

    /// Takes a hash with 64 good bits.
    #[inline(always)]
    pub(super) fn add(&mut self, hash: u64) {
        // Which hashes are kept cannot be foreseen, so none is branched upon.
        self.waiting[self.waiting_count] = hash;
        self.waiting_count += usize::from(hash.trailing_zeros() >= self.zeros);
        if self.waiting_count == WAITING {
            self.keep_waiting();
        }
    }

    /// Keeps the hashes that wait.
    #[inline(never)]
    fn keep_waiting(&mut self) {
        for at in 0..std::mem::take(&mut self.waiting_count) {
            self.keep(self.waiting[at]);
        }
        if self.count > PLACES / 2 {
            self.thin();
        }
    }

    #[inline]
    fn keep(&mut self, hash: u64) {
        if hash == 0 {
            self.count += usize::from(!self.has_zero);
            self.has_zero = true;
            return;
        }
        let mut place = self.key.hash_one(hash) as usize % PLACES;
        while self.kept[place] != 0 && self.kept[place] != hash {
            place = (place + 1) % PLACES;
        }
        self.count += usize::from(self.kept[place] == 0);
        self.kept[place] = hash;
    }

    /// Keeps only those with more zeros, until there is room.
    #[cold]
    fn thin(&mut self) {
        self.ask_for_zeros();
        let (mut stay, mut count) = ([0; PLACES], 0);
        for hash in std::mem::replace(&mut *self.kept, [0; PLACES]) {
            stay[count] = hash;
            count += usize::from(self.is_kept(hash));
        }
        self.count = usize::from(self.has_zero);
        stay[..count].iter().for_each(|&hash| self.keep(hash));
    }

    /// Whether this is a hash, not 0, that ends in enough zeros.
    #[inline(always)]
    fn is_kept(&self, hash: u64) -> bool {
        (hash != 0) & (hash.trailing_zeros() >= self.zeros)
    }

    /// Asks for more zeros, as long as too many hashes have them.
    fn ask_for_zeros(&mut self) {
        while self.count > ROOM && self.zeros < u64::BITS {
            self.zeros += 1;
            let stay = self.kept.iter().filter(|&&hash| self.is_kept(hash)).count();
            self.count = usize::from(self.has_zero) + stay;
        }
    }

    /// The number of distinct hashes that were taken, and forgets them.
    pub(super) fn finish(&mut self) -> u64 {
        self.keep_waiting();
        self.ask_for_zeros();
        let count = shown(self.count, self.zeros);
        self.kept.fill(0);
        (self.count, self.has_zero, self.zeros) = (0, false, 0);
        count
    }
}

/// The number of distinct hashes of which so many end in so many zeros.
fn shown(count: usize, zeros: u32) -> u64 {
    (count as u64) << zeros.min(u64::BITS - 11)
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

    proptest::proptest! {
        #[test]
        fn equals_its_definition(
            count in 0..6_000_u64, shift in 0..54_u32, repeated in 1..3_u64, zero: bool,
        ) {
            let hash = |it: u64| Hash::Xxh3.of::<u64>(&(it / repeated).to_string()) << shift;
            let hashes: Vec<u64> = (0..count).map(hash).chain(zero.then_some(0)).collect();
            let mut kept: std::collections::BTreeSet<u64> = hashes.iter().copied().collect();
            let set: Vec<u64> = kept.iter().copied().collect();
            let mut zeros = 0;
            while kept.len() > ROOM && zeros < u64::BITS {
                zeros += 1;
                kept.retain(|hash| hash.trailing_zeros() >= zeros);
            }
            let expected = (kept.len() as u64) << zeros.min(53);
            proptest::prop_assert_eq!([count_of(&hashes), Distinct::of_set(&set)], [expected; 2]);
        }
    }

    fn count_of(hashes: &[u64]) -> u64 {
        count(hashes.iter().copied())
    }
}
