//! Draws random fingerprints in ascending order: one pass, a few kilobytes, any number of them.
//!
//! The fingerprints are drawn a bit at a time, the highest first, all of them at once. Of `n` that
//! share a prefix, as many have 1 for their next bit as there are ones among `n` random bits, which
//! is what tossing a coin for each would give. The halves are taken in turn, the lower one first, and
//! cut again, until so few share a prefix that the rest of their bits is drawn outright and sorted.
//! So the first fingerprints of a set of eight billion cost next to nothing, however few are taken,
//! and no float is ever rounded.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fingerprint::{Fingerprint, Width};

/// The most fingerprints that are drawn outright.
const OUTRIGHT: u64 = 256;

/// The largest set that can be drawn: far fewer than there are keys, so that none need come twice.
pub const MAX_COUNT: u64 = 1 << 40;

/// A set of distinct random fingerprints, in ascending order.
pub struct RandomSorted<F: Fingerprint> {
    random: ChaCha8Rng,
    /// What is still to be drawn, the lowest last.
    parts: Vec<Part>,
    /// Fingerprints that must be in the set, the lowest last.
    planted: Vec<F>,
}

/// How many fingerprints of the set have `prefix` as their first `bits` bits.
struct Part {
    prefix: u128,
    bits: u32,
    count: u64,
}

impl<F: Fingerprint> RandomSorted<F> {
    /// The set of `count` random fingerprints that `seed` stands for, and of `planted` besides.
    ///
    /// # Panics
    /// If `count` exceeds [`MAX_COUNT`].
    pub fn new(seed: u64, count: u64, mut planted: Vec<F>) -> RandomSorted<F> {
        assert!(count <= MAX_COUNT, "a set of {count} leaves too few keys out");
        planted.sort_unstable_by(|a, b| b.cmp(a));
        planted.dedup();
        let parts = vec![Part { prefix: 0, bits: 0, count }];
        RandomSorted { random: ChaCha8Rng::seed_from_u64(seed), parts, planted }
    }

    /// Makes `run` the next fingerprints, some or none; `false` when there are no more.
    pub fn next(&mut self, run: &mut Vec<F>) -> bool {
        run.clear();
        while let Some(part) = self.parts.pop() {
            if part.count <= OUTRIGHT {
                self.fill(&part, run);
                return true;
            }
            let ones = tails(&mut self.random, part.count);
            let Part { prefix, bits, count } = part;
            let half = |bit, count| Part { prefix: prefix << 1 | bit, bits: bits + 1, count };
            self.parts.extend([half(1, ones), half(0, count - ones)]);
        }
        false
    }

    fn fill(&mut self, part: &Part, run: &mut Vec<F>) {
        let free = F::BITS - part.bits;
        let low = F::from_u128(part.prefix.checked_shl(free).unwrap_or(0));
        let high = low | F::MAX >> part.bits;
        while let Some(planted) = self.planted.pop_if(|planted| *planted <= high) {
            run.push(planted);
        }
        let wanted = run.len() + part.count as usize;
        while run.len() < wanted {
            for _ in run.len()..wanted {
                run.push(low | random::<F>(&mut self.random) >> part.bits);
            }
            run.sort_unstable();
            run.dedup();
        }
    }
}

/// A fingerprint of random bits.
fn random<F: Fingerprint>(random: &mut impl Rng) -> F {
    let low = u128::from(random.next_u64());
    F::from_u128(match F::WIDTH {
        Width::W64 => low,
        Width::W128 => u128::from(random.next_u64()) << 64 | low,
    })
}

/// The number of ones among `count` random bits.
fn tails(random: &mut impl Rng, count: u64) -> u64 {
    let whole: u64 = (0..count / 64).map(|_| u64::from(random.next_u64().count_ones())).sum();
    let rest = random.next_u64() & ((1 << (count % 64)) - 1);
    whole + u64::from(rest.count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn<F: Fingerprint>(seed: u64, count: u64, planted: &[F]) -> Vec<F> {
        let mut sorted = RandomSorted::new(seed, count, planted.to_vec());
        let mut run = Vec::new();
        let mut all = Vec::new();
        while sorted.next(&mut run) {
            all.extend(&run);
        }
        all
    }

    fn ascends<F: Fingerprint>(all: &[F]) -> bool {
        all.is_sorted_by(|a, b| a < b)
    }

    #[test]
    fn as_many_as_asked_ascending_and_by_seed() {
        for count in [0, 1, 255, 256, 257, 100_000] {
            let (narrow, wide) = (drawn::<u64>(1, count, &[]), drawn::<u128>(1, count, &[]));
            assert_eq!((narrow.len() as u64, wide.len() as u64), (count, count));
            assert!(ascends(&narrow) && ascends(&wide));
            assert_eq!(narrow, drawn::<u64>(1, count, &[]));
            assert!(count == 0 || narrow != drawn::<u64>(2, count, &[]));
        }
    }

    #[test]
    fn planted_fingerprints_are_in_the_set_once() {
        let random = drawn::<u64>(3, 5000, &[]);
        let mut planted = vec![0, 1, 1, u64::MAX, random[17], random[4000], random[17] + 1];
        let all = drawn(3, 5000, &planted);
        planted.dedup();
        assert_eq!(all.len(), 5000 + planted.len());
        assert!(ascends(&all) && planted.iter().all(|f| all.binary_search(f).is_ok()));
    }

    #[test]
    fn fingerprints_are_spread_evenly() {
        let all = drawn::<u64>(4, 1 << 20, &[]);
        for bit in 0..64 {
            let ones = all.iter().filter(|&f| f >> bit & 1 == 1).count() as f64;
            // Six standard deviations of 2^20 tosses.
            assert!((ones - 524_288.0).abs() < 6.0 * 512.0, "bit {bit}: {ones}");
        }
        for sixteenth in all.chunk_by(|a, b| a >> 60 == b >> 60) {
            assert!((sixteenth.len() as f64 - 65_536.0).abs() < 6.0 * 248.0);
        }
    }
}
