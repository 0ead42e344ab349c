//! MinHash: signatures whose share of agreeing slots estimates how alike two sets are.
//!
//! Broder, "On the resemblance and containment of documents" (SEQUENCES 1997): under a random
//! permutation two sets have the same least element with probability |A ∩ B| / |A ∪ B|, their Jaccard
//! similarity. A signature of n slots is n such trials. [`Permutations::Many`] makes them one by one;
//! [`Permutations::One`] cuts a single permutation into n ranges and takes the least of each (Li, Owen
//! and Zhang, "One Permutation Hashing", NIPS 2012), which costs one hash a feature whatever n is.
//! A range that no feature falls in borrows from one drawn at random, the same one in every text, so that
//! small sets are estimated as well as they can be. The draws are made by those that lend (Mai, Rao, Kapilevich, Rossi,
//! Abbasi-Yadkori and Sinha, "On Densification for Minwise Hashing", UAI 2019): if those that borrow make them, a set of one
//! feature takes n² draws.
//!
//! Of each slot only the lowest b bits are kept (Li and König, "b-Bit Minwise Hashing", WWW 2010).
//! Different elements agree in them by chance in 2^-b of all cases, and [`similarity`] corrects for that.

use crate::hash::folded;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permutations {
    One,
    Many,
}

const EMPTY: u64 = u64::MAX;

/// Makes signatures of sets of hashed features. Order and repetition of the hashes do not matter.
#[derive(Clone, Debug)]
pub struct MinHash {
    permutations: Permutations,
    bits: u32,
    least: Vec<u64>,
}

impl MinHash {
    /// Signatures of `slots` slots of `bits` bits: 1, 2, 4 or 8, and whole bytes in all.
    pub fn new(permutations: Permutations, slots: usize, bits: u32) -> MinHash {
        assert!([1, 2, 4, 8].contains(&bits), "a slot has 1, 2, 4 or 8 bits");
        assert!(
            slots > 0 && (slots * bits as usize).is_multiple_of(8),
            "no part of a byte is left"
        );
        MinHash { permutations, bits, least: vec![EMPTY; slots] }
    }

    /// Takes a feature of the set, by a hash with 64 good bits.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        match self.permutations {
            Permutations::One => {
                let slot = scaled(hash, self.least.len());
                self.least[slot] = self.least[slot].min(hash);
            }
            Permutations::Many => {
                for (seed, slot) in (0..).zip(&mut self.least) {
                    *slot = mixed(hash, seed).min(*slot);
                }
            }
        }
    }

    /// Appends the signature of what was taken, and forgets it. That of no feature is all zeros.
    pub fn finish(&mut self, signature: &mut Vec<u8>) {
        self.densify();
        let slots_per_byte = (8 / self.bits) as usize;
        let low = |least: u64| least & ((1 << self.bits) - 1);
        for slots in self.least.chunks(slots_per_byte) {
            let byte = slots.iter().rev().fold(0, |byte, &least| byte << self.bits | low(least));
            signature.push(byte as u8);
        }
        self.least.fill(EMPTY);
    }

    pub fn finish_slots(&mut self, slots: &mut Vec<u32>) {
        self.densify();
        slots.extend(self.least.iter().map(|&least| least as u32));
        self.least.fill(EMPTY);
    }

    /// Fills the slots that hold nothing. In each round each slot that held something offers it to another one, which takes the first offer. Of n slots
    /// all are full after some n ln n offers, whether one slot held something or half of them.
    fn densify(&mut self) {
        let mut empty = self.least.iter().filter(|&&least| least == EMPTY).count();
        if empty == self.least.len() {
            return self.least.fill(0);
        }
        if empty == 0 {
            return;
        }
        let held = self.least.iter().copied().zip(0_u64..).filter(|&(least, _)| least != EMPTY);
        let held: Vec<(u64, u64)> = held.collect();
        for round in 1.. {
            for &(least, slot) in &held {
                let other = scaled(mixed(slot, round), self.least.len());
                if self.least[other] == EMPTY {
                    self.least[other] = least;
                    empty -= 1;
                }
            }
            if empty == 0 {
                return;
            }
        }
    }
}

/// The place of `hash` among `count` equal ranges of all hashes.
#[inline]
fn scaled(hash: u64, count: usize) -> usize {
    ((u128::from(hash) * count as u128) >> 64) as usize
}

/// Another hash of a hash for each seed: the halves of a product of 128 bits, folded, and SplitMix64's
/// finish (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[inline]
pub fn mixed(hash: u64, seed: u64) -> u64 {
    let seeded = hash ^ seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bits = folded(seeded ^ 0x2d35_8dcc_aa6c_78a5, 0xd6e8_feb8_6659_fd93);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

pub fn differing(one: &[u8], another: &[u8], bits: u32) -> u32 {
    let lowest = u64::MAX / ((1_u128 << bits) - 1) as u64;
    let (ones, rest_of_one) = one.as_chunks::<8>();
    let (others, rest_of_other) = another.as_chunks::<8>();
    let words = ones.iter().zip(others).map(|(one, other)| word(one) ^ word(other));
    let rest = word(rest_of_one) ^ word(rest_of_other);
    let count = |word: u64| {
        let mut any = word;
        let mut shift = bits / 2;
        while shift > 0 {
            any |= any >> shift;
            shift /= 2;
        }
        (any & lowest).count_ones()
    };
    words.map(count).sum::<u32>() + count(rest)
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The estimate of the Jaccard similarity of the sets behind two signatures of one length, from 0 to
/// 1. Its variance is about (J + c)(1 - J) / n for n slots, with c = 1 / (2^b - 1) for chance.
pub fn similarity(one: &[u8], another: &[u8], bits: u32) -> f64 {
    let slots = (one.len() * 8) as f64 / f64::from(bits);
    let agreeing = 1.0 - f64::from(differing(one, another, bits)) / slots;
    let chance = 1.0 / f64::from(1_u32 << bits);
    ((agreeing - chance) / (1.0 - chance)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signature(minhash: &mut MinHash, set: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let mut signature = Vec::new();
        set.into_iter().for_each(|element| minhash.add(mixed(element, 99)));
        minhash.finish(&mut signature);
        signature
    }

    /// Signatures are kept in stores: these bytes never change.
    #[test]
    fn signatures_stay_as_they_are() {
        let of = |permutations, slots, bits, elements| {
            let bytes = signature(&mut MinHash::new(permutations, slots, bits), 0..elements);
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        assert_eq!(of(Permutations::One, 8, 8, 1000), "228d1593df5b1a64");
        assert_eq!(of(Permutations::One, 16, 4, 5), "8eea8e5aaa5885a8");
        assert_eq!(of(Permutations::Many, 8, 8, 1000), "634d3f296fda753d");
        assert_eq!(of(Permutations::Many, 64, 1, 1), "9c1869889e4cc6ce");
        assert_eq!(of(Permutations::One, 8, 8, 0), "0000000000000000");
    }

    /// If each slot looked for one that holds something, there would be four thousand million looks.
    #[test]
    fn a_small_set_takes_no_more_time_than_a_large_one() {
        let start = std::time::Instant::now();
        let mut minhash = MinHash::new(Permutations::One, 1 << 16, 8);
        let one = signature(&mut minhash, [7]);
        assert!(one.iter().all(|&slot| slot == one[0]));
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    /// The mean over many pairs of sets is the exact similarity: densification, too, has no bias.
    #[test]
    fn the_estimate_is_the_exact_jaccard_within_its_interval() {
        const TRIALS: u64 = 200;
        for permutations in [Permutations::One, Permutations::Many] {
            for (slots, bits) in [(64, 8), (128, 4), (256, 1)] {
                let mut minhash = MinHash::new(permutations, slots, bits);
                for (size, shared) in [(10, 5), (40, 36), (300, 100), (300, 297), (200, 0)] {
                    let exact = shared as f64 / (2 * size - shared) as f64;
                    let estimates: Vec<f64> = (0..TRIALS)
                        .map(|trial| {
                            let (first, second) = (trial * 10_000, trial * 10_000 + size - shared);
                            let one = signature(&mut minhash, first..first + size);
                            let two = signature(&mut minhash, second..second + size);
                            // Not cut off at 0, so that chance agreement averages out.
                            let differ = f64::from(differing(&one, &two, bits)) / slots as f64;
                            1.0 - differ / (1.0 - 0.5_f64.powi(bits as i32))
                        })
                        .collect();
                    let mean = estimates.iter().sum::<f64>() / TRIALS as f64;
                    let spread = |estimate: &f64| (estimate - mean).powi(2);
                    let variance = estimates.iter().map(spread).sum::<f64>() / (TRIALS - 1) as f64;
                    let error = (mean - exact).abs() / (variance / TRIALS as f64).sqrt().max(1e-9);
                    assert!(error < 4.0, "{permutations:?} {slots}x{bits} {exact:.3}: {mean:.3}");
                    // Slots of small sets repeat one another; those of large ones do not.
                    let chance = 1.0 / (2_f64.powi(bits as i32) - 1.0);
                    let theory = (exact + chance) * (1.0 - exact) / slots as f64;
                    let is_near = (0.7..1.4).contains(&(variance / theory));
                    assert!(is_near || permutations == Permutations::One, "{slots}x{bits} {exact}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn slots_are_counted_as_they_are_defined(
            bytes in prop::collection::vec((any::<u8>(), any::<u8>()), 0..40),
            exponent in 0..4_u32,
        ) {
            let bits = 1 << exponent;
            let (one, two): (Vec<u8>, Vec<u8>) = bytes.iter().copied().unzip();
            let slot = |bytes: &[u8], at: u32| {
                u32::from(bytes[(at * bits / 8) as usize]) >> (at * bits % 8) & ((1 << bits) - 1)
            };
            let slots = one.len() as u32 * 8 / bits;
            let differ = (0..slots).filter(|&at| slot(&one, at) != slot(&two, at)).count() as u32;
            prop_assert_eq!(differing(&one, &two, bits), differ);
        }
    }
}
