//! The probe of two halves, each by what suits it: the high half by prefix, the low half by blocks.
//!
//! Of a pair within k, with h + l = k - 1, either the high halves are within h or the low halves within
//! l: else they would differ in h + 1 + l + 1 = k + 1 bits. The store is sorted by the high half, so that
//! is the conditioned probe's ([`Conditioned`]), at no more than 3 errors where there may be 7 in all. By
//! the low half it is in no order, so that is left to blocks ([`Halves`]), two at most. A pair that meets
//! by both counts by the high half.
//!
//! | k | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
//! |---|---|---|---|---|---|---|---|---|
//! | high within | 0 | 0 | 1 | 1 | 2 | 2 | 3 | 3 |
//! | or low within | - | 0 | 0 | 1 | 1 | 2 | 2 | 3 |
//!
//! What shares a high half can be told apart by nothing but comparing it. Where too much of the batch
//! does, as when 64 bits are padded to 128, all is left to blocks of the whole.

use super::conditioned::Conditioned;
use super::halves::{self, Halves};
use super::{Hit, Probe, Scratch};
use crate::fingerprint::{Fingerprint, Width};

/// The most fingerprints of the batch that may share a high half.
const MOST_ALIKE: usize = 64;

/// The largest distance it is made for: that of the blocks, of which it takes those of the low half.
pub(super) fn covers(width: Width) -> u32 {
    halves::covers(width)
}

/// In how many bits of the high half pairs within `k` may differ, and in how many of the low half the
/// others; `None` where there are no others.
pub(super) fn limits(k: u32) -> (u32, Option<u32>) {
    (k / 2, k.checked_sub(1).map(|k| k / 2))
}

/// The batch by its high half and by its low half.
#[derive(Debug)]
pub struct HighLow<F> {
    /// None where too much of the batch shares a high half.
    high: Option<Conditioned<F>>,
    low: Option<Halves<F>>,
}

impl<F: Fingerprint> HighLow<F> {
    /// Arranges `batch`, which is sorted and distinct and has at most `u32::MAX` fingerprints, for
    /// distances up to `k`.
    pub(super) fn new(batch: &[F], k: u32) -> HighLow<F> {
        let alike = batch.chunk_by(|&a, &b| (a ^ b) >> (F::BITS / 2) == F::default());
        if alike.map(<[F]>::len).max() > Some(MOST_ALIKE) {
            return HighLow { high: None, low: Some(Halves::new(batch, k)) };
        }
        let (high, low) = limits(k);
        HighLow {
            high: Some(Conditioned::of_high_half(batch, k, high)),
            low: low.map(|low| Halves::of_low_half(batch, k, low, high)),
        }
    }

    /// How many bytes it holds.
    pub fn memory_bytes(&self) -> u64 {
        let high = self.high.as_ref().map_or(0, Conditioned::memory_bytes);
        high + self.low.as_ref().map_or(0, Halves::memory_bytes)
    }
}

impl<F: Fingerprint> Probe<F> for HighLow<F> {
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        if let Some(high) = &self.high {
            high.probe(runs, scratch, found);
        }
        if let Some(low) = &self.low {
            low.probe(runs, scratch, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::tables::tests::{all_pairs, off, probed, set, uniform};

    #[test]
    fn the_limits_leave_no_room_between_them() {
        assert_eq!(limits(0), (0, None));
        for k in 1..=covers(Width::W128) {
            let (high, low) = limits(k);
            assert_eq!(high + low.unwrap(), k - 1);
        }
    }

    fn a_shared_high_half_is_left_to_blocks<F: Fingerprint>(k: u32) {
        let mut random = ChaCha8Rng::seed_from_u64(31);
        for (count, shared) in [(MOST_ALIKE, false), (MOST_ALIKE + 1, true), (5000, true)] {
            let low = uniform::<F>(&mut random, count).into_iter().map(|f| f >> (F::BITS / 2));
            let batch = set(low.chain(uniform(&mut random, 100)));
            let others = batch.iter().zip((0..=k as usize + 1).cycle());
            let others =
                set(others.map(|(&b, bits)| off(&mut random, b, bits)).collect::<Vec<F>>());
            let high_low = HighLow::new(&batch, k);
            assert_eq!(high_low.high.is_none(), shared);
            assert_eq!(probed(&high_low, &others), all_pairs(&batch, &others, k));
        }
    }

    #[test]
    fn a_shared_high_half_is_exact_at_64_bits() {
        a_shared_high_half_is_left_to_blocks::<u64>(3);
    }

    #[test]
    fn a_shared_high_half_is_exact_at_128_bits() {
        a_shared_high_half_is_left_to_blocks::<u128>(7);
    }

    /// As the sweep hands them over: segment by segment, with copies among them.
    #[test]
    fn many_runs_are_as_good_as_one() {
        let mut random = ChaCha8Rng::seed_from_u64(32);
        let batch = set(uniform::<u128>(&mut random, 500));
        let others = batch.iter().zip((0..9).cycle());
        let others: Vec<u128> = others.map(|(&b, bits)| off(&mut random, b, bits)).collect();
        let mut runs: Vec<Vec<u128>> = others.chunks(60).map(<[u128]>::to_vec).collect();
        runs[3].extend_from_slice(&others[..30]);
        runs.iter_mut().for_each(|run| run.sort_unstable());
        let slices: Vec<&[u128]> = runs.iter().map(Vec::as_slice).collect();
        let mut found = Vec::new();
        let high_low = HighLow::new(&batch, 7);
        high_low.probe(&slices, &mut Scratch::default(), &mut |hit| found.push(hit));
        found.sort_unstable();
        let mut expected = Vec::new();
        for (number, run) in (0..).zip(&runs) {
            let of_run = |hit| Hit { run: number, ..hit };
            expected.extend(all_pairs(&batch, run, 7).into_iter().map(of_run));
        }
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
