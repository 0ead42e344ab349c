//! SimHash: Charikar, "Similarity Estimation Techniques from Rounding Algorithms" (STOC 2002).
//!
//! For each bit i there is a sum `V[i]`; a feature of weight w adds w to it where bit i of its hash is
//! 1, and takes w from it where it is 0. Bit i of the fingerprint is 1 when `V[i] > 0`.
//!
//! The sums are not stored as such. Let `P[i]` be the weight of the features whose bit i is 1, and T
//! the weight of all: `V[i]` = `P[i]` - (T - `P[i]`), so `V[i] > 0` when 2 `P[i]` > T. The `P[i]` are counted
//! upright: plane b holds bit b of every `P[i]`, and adding a hash at plane b is one addition with
//! carry over all bits at once. The comparison with T, too, goes over all
//! bits at once, plane by plane. A negative weight is its absolute on the inverted hash.
//!
//! Most features weigh 1. Sixteen of these are added at once by a tree of carry-save adders (Harley and
//! Seal), which takes three hashes of one plane to two, one of them of the next plane.
//!
//! Nothing overflows: a weight is at most 2^63 and no text has 2^48 features, so T stays below 2^111
//! in 128 planes. Sums are exact, so the order of the features does not matter.

use serde::{Deserialize, Serialize};

use crate::features::SCALE_BITS;
use crate::fingerprint::Fingerprint;

/// The plane of the weight 1.
const UNIT: usize = SCALE_BITS as usize;

const TOGETHER: usize = 16;

/// What a bit becomes when `V[i]` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// 0: a bit is set when `V[i] > 0`.
    Clear,
    /// 1: a bit is set when `V[i] >= 0`.
    Set,
}

#[derive(Clone, Debug)]
pub struct SimHash<F> {
    planes: Box<[F; 128]>,
    /// Hashes of weight 1 that are yet to be added, and how many there are.
    waiting: [F; TOGETHER],
    waiting_length: usize,
    /// The weight of all features, without those that wait.
    total: u128,
    ties: Ties,
}

impl<F: Fingerprint> SimHash<F> {
    pub fn new(ties: Ties) -> SimHash<F> {
        let planes = Box::new([F::default(); 128]);
        let waiting = [F::default(); TOGETHER];
        SimHash { planes, waiting, waiting_length: 0, total: 0, ties }
    }

    #[inline]
    pub fn add_one(&mut self, hash: F) {
        self.waiting[self.waiting_length] = hash;
        self.waiting_length += 1;
        if self.waiting_length == TOGETHER {
            self.add_waiting();
        }
    }

    /// Adds the hashes that wait, all sixteen, by a tree of adders over planes of 1, 2, 4 and 8.
    fn add_waiting(&mut self) {
        let [ones, twos, fours, eights] = self.planes[UNIT..].first_chunk_mut().expect("planes");
        let mut halves = [F::default(); 2];
        for (half, hashes) in halves.iter_mut().zip(self.waiting.as_chunks::<8>().0) {
            let mut quarters = [F::default(); 2];
            for (quarter, hashes) in quarters.iter_mut().zip(hashes.as_chunks::<4>().0) {
                let first = add_two(ones, hashes[0], hashes[1]);
                let second = add_two(ones, hashes[2], hashes[3]);
                *quarter = add_two(twos, first, second);
            }
            *half = add_two(fours, quarters[0], quarters[1]);
        }
        let sixteens = add_two(eights, halves[0], halves[1]);
        self.carry(UNIT + 4, sixteens);
        self.total += (TOGETHER as u128) << UNIT;
        self.waiting_length = 0;
    }

    /// Counts a feature by its hash. A feature of weight 0 does not count.
    #[inline]
    pub fn add(&mut self, hash: F, weight: i64) {
        if weight == 0 {
            return;
        }
        let hash = if weight < 0 { !hash } else { hash };
        let weight = weight.unsigned_abs();
        self.total += u128::from(weight);
        let first = weight.trailing_zeros() as usize;
        let end = 64 - weight.leading_zeros() as usize;
        let mut carry = F::default();
        for (bit, plane) in (first..end).zip(&mut self.planes[first..end]) {
            let addend = if weight >> bit & 1 == 1 { hash } else { F::default() };
            let sum = *plane ^ addend;
            (*plane, carry) = (sum ^ carry, (*plane & addend) | (sum & carry));
        }
        self.carry(end, carry);
    }

    /// Adds 2^plane to `P[i]` for each bit i of `carry`. Planes go by eights, since a carry seldom
    /// ends at once and never at a place that could be foreseen.
    #[inline]
    fn carry(&mut self, plane: usize, mut carry: F) {
        for planes in self.planes[plane..].as_chunks_mut::<8>().0 {
            for plane in planes {
                (*plane, carry) = (*plane ^ carry, *plane & carry);
            }
            if carry == F::default() {
                break;
            }
        }
    }

    /// The fingerprint of the features counted, `None` if there were none. Counting starts again.
    pub fn finish(&mut self) -> Option<F> {
        let waiting = std::mem::take(&mut self.waiting_length);
        for at in 0..waiting {
            self.add(self.waiting[at], 1 << UNIT);
        }
        let planes = 128 - self.total.leading_zeros() as usize;
        let fingerprint = (self.total > 0).then(|| self.compare(planes));
        self.planes[..planes].fill(F::default());
        self.total = 0;
        fingerprint
    }

    /// The bits i with 2 `P[i]` > T, or >= T, from the highest plane down; T has `planes` bits.
    fn compare(&self, planes: usize) -> F {
        let mut greater = F::default();
        let mut equal = F::MAX;
        for bit in (0..=planes).rev() {
            let doubled = if bit == 0 { F::default() } else { self.planes[bit - 1] };
            let total = if self.total >> bit & 1 == 1 { F::MAX } else { F::default() };
            greater = greater | (equal & doubled & !total);
            equal = equal & !(doubled ^ total);
        }
        match self.ties {
            Ties::Clear => greater,
            Ties::Set => greater | equal,
        }
    }
}

/// Adds two bits to each bit of a plane, and returns the bits that carry.
#[inline]
fn add_two<F: Fingerprint>(plane: &mut F, one: F, another: F) -> F {
    let either = one ^ another;
    let carry = (one & another) | (either & *plane);
    *plane = *plane ^ either;
    carry
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn definition<F: Fingerprint>(features: &[(F, i64)], ties: Ties) -> Option<F> {
        let bit = |i: u32| {
            let sign = |hash: F| if hash.to_u128() >> i & 1 == 1 { 1 } else { -1 };
            let sum: i128 = features.iter().map(|&(hash, w)| sign(hash) * i128::from(w)).sum();
            u128::from(sum > 0 || sum == 0 && ties == Ties::Set) << i
        };
        let none = features.iter().all(|&(_, weight)| weight == 0);
        (!none).then(|| F::from_u128((0..F::BITS).map(bit).sum()))
    }

    fn check<F: Fingerprint>(texts: &[Vec<(u128, i64)>]) {
        for ties in [Ties::Clear, Ties::Set] {
            let mut simhash = SimHash::new(ties);
            for text in texts {
                let features: Vec<(F, i64)> =
                    text.iter().map(|&(hash, weight)| (F::from_u128(hash), weight)).collect();
                for &(hash, weight) in &features {
                    if weight == 1 << UNIT {
                        simhash.add_one(hash);
                    } else {
                        simhash.add(hash, weight);
                    }
                }
                assert_eq!(simhash.finish(), definition(&features, ties));
            }
        }
    }

    #[test]
    fn the_heaviest_weights_do_not_overflow() {
        let hashes = [u128::MAX, 0, 0x5555 << 100 | 0x3333, 7];
        for weight in [i64::MIN, i64::MAX, i64::MIN + 1, -1] {
            let text: Vec<_> = (0..4000).map(|i| (hashes[i % 3], weight)).collect();
            check::<u64>(&[text.clone(), vec![(7, 1)], text.clone()]);
            check::<u128>(&[text]);
        }
    }

    proptest! {
        #[test]
        fn equals_its_definition(
            equal in prop::collection::vec((any::<u128>(), Just(1 << 20)), 0..300),
            small in prop::collection::vec((any::<u128>(), -4..4i64), 0..40),
            any in prop::collection::vec((any::<u128>(), any::<i64>()), 0..40),
        ) {
            let texts = [equal, small, any];
            check::<u64>(&texts);
            check::<u128>(&texts);
        }
    }
}
