//! How the fingerprints of a batch and of a store are distributed over the key space, told by samples of both.
//!
//! Two uniform fingerprints agree in a key of b bits once in 2^b. Those of real pages agree more often: all of a
//! slice of the key space begin alike, and where pages have much in common some bits are nearly always the same.
//! Whatever shares a key is compared, so the cost of every design follows from how many pairs agree in its keys. That is
//! counted here, for all of them ([`Distribution::meeting`]).
//!
//! An example with a key of 16 bits. If these are zeros in every second fingerprint of the batch and of the store, a
//! quarter of all pairs agree, where one of 65,536 is expected.

use std::ops::Range;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

use super::buckets::hash;
use super::slice::{FEWEST, Slice};
use crate::fingerprint::Fingerprint;

const MOST: usize = 8192;
/// Keys of so many bits show whether fingerprints are uniform.
const SHOWING_BITS: u32 = 16;
/// So many times as many pairs as expected, and a few more, may agree by chance.
const CHANCE: f64 = 2.0;
const FEW_PAIRS: f64 = 16.0;

#[derive(Clone, Debug, Default)]
pub struct Distribution {
    /// Which part of the key space they lie in.
    pub(super) slice: Slice,
    /// The bits in which any two of the batch differ.
    varying: u128,
    /// Some of the batch and of the store; none where all keys tell apart what they should.
    batch: Vec<u128>,
    store: Vec<u128>,
}

/// How often two fingerprints agree in a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meeting {
    /// The share of pairs that agree if all are uniform.
    pub(super) chance: f64,
    /// The share of all pairs that agree.
    pub(super) share: f64,
}

impl Distribution {
    /// Of `batch`, and of a store of which `some` are known, each of which stands for as many as the others. Both
    /// ascend. A store of which too few are known is taken to be like the batch.
    #[must_use]
    pub fn of<F: Fingerprint>(batch: &[F], some: &[F]) -> Distribution {
        let all = Distribution {
            slice: Slice::of(some, batch),
            varying: varying(batch).to_u128(),
            batch: sampled(batch),
            store: if some.len() < FEWEST { Vec::new() } else { sampled(some) },
        };
        if all.is_uniform(F::BITS) { all.uniform() } else { all }
    }

    /// The same slice, in which all fingerprints are uniform.
    pub(super) fn uniform(&self) -> Distribution {
        Distribution { slice: self.slice, ..Distribution::default() }
    }

    /// Whether no more pairs agree in any of the widest keys that a sample can tell of than by chance.
    fn is_uniform(&self, bits: u32) -> bool {
        let mut keys = (0..bits / SHOWING_BITS).map(|at| 0xffff << (at * SHOWING_BITS));
        let by_chance = |meeting: Meeting| meeting.share == meeting.chance;
        keys.all(|key| by_chance(self.meeting(key)) && by_chance(self.meeting_itself(key)))
    }

    /// How often one of the store and one of the batch agree in these bits.
    pub(super) fn meeting(&self, mask: u128) -> Meeting {
        if self.store.is_empty() {
            return self.meeting_itself(mask);
        }
        let keys = Keys::of(&self.batch, mask);
        let met = self.store.iter().map(|&fingerprint| keys.count(fingerprint));
        Meeting::counted(mask, self.batch.len() * self.store.len(), met)
    }

    /// How often two of the batch agree in these bits. It depends on the batch alone, and all machines find the same.
    pub(super) fn meeting_itself(&self, mask: u128) -> Meeting {
        let keys = Keys::of(&self.batch, mask);
        let met = self.batch.iter().map(|&fingerprint| keys.count(fingerprint) - 1);
        Meeting::counted(mask, self.batch.len() * self.batch.len().saturating_sub(1), met)
    }

    /// The bits of a fingerprint of `bits` bits from the first to the last that varies in the batch.
    pub(super) fn span(&self, bits: u32) -> Range<u32> {
        if self.batch.is_empty() { 0..bits } else { span(self.varying) }
    }
}

impl Meeting {
    pub(super) fn uniform(mask: u128) -> Meeting {
        let chance = 0.5_f64.powi(mask.count_ones() as i32);
        Meeting { chance, share: chance }
    }

    /// If of so many pairs each of the store meets so many.
    fn counted(mask: u128, pairs: usize, met: impl Iterator<Item = u32>) -> Meeting {
        let uniform = Meeting::uniform(mask);
        let agree: f64 = met.map(f64::from).sum();
        if agree < CHANCE * pairs as f64 * uniform.chance + FEW_PAIRS {
            return uniform;
        }
        Meeting { share: agree / pairs as f64, ..uniform }
    }
}

/// The bits in which any two of `batch` differ.
pub(super) fn varying<F: Fingerprint>(batch: &[F]) -> F {
    let Some(&first) = batch.first() else { return F::default() };
    batch.iter().fold(F::default(), |all, &fingerprint| all | (fingerprint ^ first))
}

/// From the first to the last of these bits.
pub(super) fn span<F: Fingerprint>(bits: F) -> Range<u32> {
    match bits.to_u128() {
        0 => 0..0,
        bits => bits.trailing_zeros()..128 - bits.leading_zeros(),
    }
}

/// The same random ones of `all` on every machine.
fn sampled<F: Fingerprint>(all: &[F]) -> Vec<u128> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let places = sample(&mut random, all.len(), all.len().min(MOST));
    places.into_iter().map(|place| all[place].to_u128()).collect()
}

/// How many of a sample have each key, by the hash of the key.
struct Keys {
    mask: u128,
    /// Where a hash is not at the place of its first bits, it is at one of the next.
    places: Vec<(u64, u32)>,
}

impl Keys {
    fn of(sample: &[u128], mask: u128) -> Keys {
        let places = (2 * sample.len()).next_power_of_two().max(2);
        let mut keys = Keys { mask, places: vec![(0, 0); places] };
        for &fingerprint in sample {
            let place = keys.place(fingerprint);
            keys.places[place] = (hash(fingerprint & mask), keys.places[place].1 + 1);
        }
        keys
    }

    /// Where the key of `fingerprint` is, or belongs.
    fn place(&self, fingerprint: u128) -> usize {
        let key = hash(fingerprint & self.mask);
        let first = (key >> (u64::BITS - self.places.len().ilog2())) as usize;
        let is_it = |&place: &usize| {
            let (other, count) = self.places[place];
            count == 0 || other == key
        };
        let mut places = (first..self.places.len()).chain(0..first);
        places.find(is_it).expect("half of the places are free")
    }

    fn count(&self, fingerprint: u128) -> u32 {
        self.places[self.place(fingerprint)].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{crowded, set, uniform};

    /// The meaning: every pair.
    fn agreeing<F: Fingerprint>(batch: &[F], others: &[F], mask: F) -> usize {
        let agree = |a: F| batch.iter().filter(|&&b| (a ^ b) & mask == F::default()).count();
        others.iter().map(|&other| agree(other)).sum()
    }

    fn what_agrees_is_counted<F: Fingerprint>() {
        let mut random = ChaCha8Rng::seed_from_u64(21);
        for (batch, store) in crowded::<F>(&mut random, 900).iter().zip(crowded(&mut random, 700)) {
            let distribution = Distribution::of(batch, &store);
            for mask in [0xffff_0000_u128, 0xfff_ff00_0000, 0xffff] {
                let pairs = agreeing(batch, &store, F::from_u128(mask)) as f64;
                let all = (batch.len() * store.len()) as f64;
                let meeting = distribution.meeting(mask);
                assert!(meeting.share == meeting.chance || meeting.share == pairs / all);
                let own = agreeing(batch, batch, F::from_u128(mask)) - batch.len();
                let all = (batch.len() * (batch.len() - 1)) as f64;
                let meeting = distribution.meeting_itself(mask);
                assert!(meeting.share == meeting.chance || meeting.share == own as f64 / all);
            }
        }
    }

    #[test]
    fn pairs_that_agree_are_counted() {
        what_agrees_is_counted::<u64>();
        what_agrees_is_counted::<u128>();
    }

    #[test]
    fn uniform_fingerprints_are_no_crowd_and_the_others_are() {
        let mut random = ChaCha8Rng::seed_from_u64(22);
        let [batch, store] = [100_000, 3000].map(|count| set(uniform::<u64>(&mut random, count)));
        for store in [&store[..], &[]] {
            let distribution = Distribution::of(&batch, store);
            for mask in [0xffff, 0xff_ffff, u128::from(u64::MAX)] {
                assert_eq!(distribution.meeting(mask), Meeting::uniform(mask));
            }
            assert_eq!(distribution.span(64), 0..64);
        }
        for (at, batch) in crowded::<u64>(&mut random, 20_000).iter().enumerate() {
            let blocks =
                (0..4).map(|block| Distribution::of(batch, &[]).meeting(0xffff << (16 * block)));
            let most = blocks.map(|it| it.share / it.chance).fold(0.0, f64::max);
            assert!(most > 20.0, "{at}: {most}");
        }
        for batch in [&[][..], &[1], &[1, 2]] {
            assert_eq!(Distribution::of::<u64>(batch, batch).meeting(7), Meeting::uniform(7));
        }
    }

    #[test]
    fn a_crowd_agrees_more_often_than_by_chance() {
        let mut random = ChaCha8Rng::seed_from_u64(23);
        let gap = 0xffff_0000;
        let all = uniform::<u64>(&mut random, 8000).into_iter().enumerate();
        let batch = set(all.map(|(at, f)| if at.is_multiple_of(2) { f & !gap } else { f }));
        let share = Distribution::of(&batch, &batch).meeting(gap.into()).share;
        assert!((0.2..0.3).contains(&share), "{share}");
    }
}
