//! Random fingerprints in ascending order: any number of them, in one pass and a few kilobytes.
//!
//! The set is divided bit by bit, the highest bit first. Of `n` fingerprints with the same prefix, as
//! many get 1 as their next bit as there are ones among `n` random bits: the same as a coin toss for
//! each. The lower half is divided first, then the upper. When at most 256 fingerprints share a prefix,
//! the rest of their bits is drawn for each, and they are sorted. For 1000 fingerprints, for example:
//!
//! ```text
//! 1000 in all            1000 random bits have 507 ones
//! 493 begin with 0        493 random bits have 241 ones
//! 252 begin with 00       few enough: draw 252 x 62 bits, sort, deliver
//! 241 begin with 01       likewise, and so on with the 507 that begin with 1
//! ```
//!
//! So the first fingerprints of a set of eight billion cost little, and no floating point is involved.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fingerprint::{Fingerprint, Width};

const OUTRIGHT: u64 = 256;

/// The largest set: far fewer than there are keys, so that distinct ones are found quickly.
pub const MAX_COUNT: u64 = 1 << 40;

pub struct RandomSorted<F: Fingerprint> {
    random: ChaCha8Rng,
    parts: Vec<RandomPart>,
    planted: Vec<F>,
}

struct RandomPart {
    prefix: u128,
    bits: u32,
    count: u64,
}

impl<F: Fingerprint> RandomSorted<F> {
    /// The set of `count` random fingerprints that follows from `seed`, and `planted` in addition.
    pub fn new(seed: u64, count: u64, mut planted: Vec<F>) -> RandomSorted<F> {
        assert!(count <= MAX_COUNT, "{count} fingerprints are more than {MAX_COUNT}");
        planted.sort_unstable_by(|a, b| b.cmp(a));
        planted.dedup();
        let parts = vec![RandomPart { prefix: 0, bits: 0, count }];
        RandomSorted { random: ChaCha8Rng::seed_from_u64(seed), parts, planted }
    }

    /// Makes `run` the next fingerprints, perhaps none. Returns `false` after the last.
    pub fn next(&mut self, run: &mut Vec<F>) -> bool {
        run.clear();
        while let Some(part) = self.parts.pop() {
            if part.count <= OUTRIGHT {
                self.fill(&part, run);
                return true;
            }
            let ones = tails(&mut self.random, part.count);
            let RandomPart { prefix, bits, count } = part;
            let half = |bit, count| RandomPart { prefix: prefix << 1 | bit, bits: bits + 1, count };
            self.parts.extend([half(1, ones), half(0, count - ones)]);
        }
        false
    }

    fn fill(&mut self, part: &RandomPart, run: &mut Vec<F>) {
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

fn random<F: Fingerprint>(random: &mut impl Rng) -> F {
    let low = u128::from(random.next_u64());
    F::from_u128(match F::WIDTH {
        Width::W64 => low,
        Width::W128 => u128::from(random.next_u64()) << 64 | low,
    })
}

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
            let narrow = drawn::<u64>(1, count, &[]);
            let wide = drawn::<u128>(1, count, &[]);
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
