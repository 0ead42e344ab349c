//! The size of a join, and how the fingerprints of its batch and its store are distributed over the key space, told by samples of both.
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

use crate::features::by_hash::ByHash;
use crate::fingerprint::{Fingerprint, Width};

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

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meeting {
    /// The share of pairs that agree if all are uniform.
    pub(super) chance: f64,
    pub(super) share: f64,
}

impl Distribution {
    /// Of `batch`, and of a store of which `some` are known, each of which stands for as many as the others. Both
    /// ascend. A store of which too few are known is taken to be like the batch.
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
        let keys = keys(&self.batch, mask);
        let met = self.store.iter().map(|it| keys.get(&(it & mask)).copied().unwrap_or_default());
        Meeting::counted(mask, self.batch.len() * self.store.len(), met)
    }

    /// How often two of the batch agree in these bits. It depends on the batch alone, and all machines find the same.
    pub(super) fn meeting_itself(&self, mask: u128) -> Meeting {
        let met = keys(&self.batch, mask).into_values().map(|count| count * (count - 1));
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

/// How many of a sample have each key.
fn keys(sample: &[u128], mask: u128) -> ByHash<u128, u32> {
    let mut keys = ByHash::default();
    sample.iter().for_each(|&fingerprint| *keys.entry(fingerprint & mask).or_default() += 1);
    keys
}

/// About how many fingerprints of a uniform batch are expected where those of a real one are counted.
const EXPECTED: f64 = 64.0;
/// Fewer fingerprints of a store than this tell nothing of where it lies.
const FEWEST: usize = 16;
/// About how many of them are asked.
const ASKED: usize = 512;

/// The part of the key space that a store lies in: one host's share of the keys, say, or all that begin alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slice {
    /// How many times as dense the store is there as if it filled the key space.
    pub(super) store: f64,
    /// The same of the batch, in the same part.
    pub(super) batch: f64,
}

impl Default for Slice {
    fn default() -> Slice {
        Slice { store: 1.0, batch: 1.0 }
    }
}

impl Slice {
    /// The slice of a store, of which each of `some` fingerprints stands for as many, and of `batch`. Both ascend.
    fn of<F: Fingerprint>(some: &[F], batch: &[F]) -> Slice {
        if some.len() < FEWEST {
            return Slice::default();
        }
        let asked: Vec<F> = some.iter().step_by(some.len().div_ceil(ASKED)).copied().collect();
        let all = 2_f64.powi(F::BITS as i32);
        let gap = |pair: &[F]| (pair[1].to_u128() - pair[0].to_u128()) as f64;
        let mut gaps: Vec<f64> = asked.windows(2).map(gap).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let store = all / asked.len() as f64 / gaps[gaps.len() / 2].max(1.0);
        let expected = EXPECTED.min(batch.len() as f64);
        let half = (all / 2.0 * expected / batch.len().max(1) as f64) as u128;
        let near = |fingerprint: F| {
            let at = fingerprint.to_u128();
            let low = F::from_u128(at.saturating_sub(half));
            let high = F::from_u128(at.saturating_add(half).min(F::MAX.to_u128()));
            batch.partition_point(|&b| b <= high) - batch.partition_point(|&b| b < low)
        };
        let met: usize = asked.iter().map(|&fingerprint| near(fingerprint)).sum();
        let batch = met as f64 / (asked.len() as f64 * expected.max(1.0));
        // Chance makes no slice, and it is not so fine that it would leave nothing to tell apart.
        let round =
            |times: f64| if (0.5..2.0).contains(&times) { 1.0 } else { times.clamp(1e-9, 1e9) };
        Slice { store: round(store).max(1.0), batch: round(batch) }
    }

    /// How many of the first bits the batch and the store have in common, so that they tell nothing.
    pub(super) fn shared(&self) -> f64 {
        self.batch.max(1.0).log2()
    }
}

/// The rule of `store::chunk_bytes`: a large store has 64 chunks or more; a store whose chunks would be smaller than 4 MiB then has fewer, but 16.
const CHUNKS: u64 = 64;
const FEWEST_CHUNKS: u64 = 16;
const WINDOW_BYTES: u64 = 4 << 20;
/// The bytes that a segment saves of each fingerprint, about, since neighbours begin alike.
const SHARED_BYTES: u64 = 3;

#[derive(Clone, Debug)]
pub struct Problem {
    /// The number of distinct fingerprints of the batch.
    pub batch: u64,
    pub store: u64,
    pub k: u32,
    pub width: Width,
    pub workers: u64,
    pub distribution: Distribution,
}

impl Problem {
    /// Of fingerprints that lie anywhere in the key space.
    pub fn uniform(batch: u64, store: u64, k: u32, width: Width, workers: u64) -> Problem {
        Problem { batch, store, k, width, workers, distribution: Distribution::default() }
    }

    /// About how many fingerprints a chunk of the store has, at least one. No window is larger.
    pub(super) fn chunk(&self) -> u64 {
        let window = WINDOW_BYTES / (u64::from(self.width.bits()) / 8 - SHARED_BYTES);
        (self.store / CHUNKS).max((self.store / FEWEST_CHUNKS).min(window)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::tests::{crowded, set, uniform};

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
}
