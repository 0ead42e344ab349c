//! The probe by two halves, each in the way that suits it: the high half by prefix, the low half by blocks.
//!
//! Let h + l = k - 1. Then for a pair within k either the high halves are within h or the low halves are
//! within l: else they would differ in (h + 1) + (l + 1) = k + 1 bits. The store is sorted by the high half,
//! so the conditioned probe ([`Conditioned`]) does that part, with at most 3 errors when the pair may have
//! 7 in all. By the low half the store is in no order, so blocks ([`Halves`]) do that part, at most two of
//! them. A pair that meets by both counts by the high half.
//!
//! | k | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
//! |---|---|---|---|---|---|---|---|---|
//! | high within | 0 | 0 | 1 | 1 | 2 | 2 | 3 | 3 |
//! | or low within | - | 0 | 0 | 1 | 1 | 2 | 2 | 3 |
//!
//! Fingerprints that share a high half can only be told apart by comparing them. If too many of the batch
//! share one, as when 64 bits are padded to 128, blocks of the whole fingerprint do everything.

use super::conditioned::{self, Conditioned, Walk};
use super::halves::{self, Block, BlocksCost, Halves, HalvesScratch};
use super::hit::Hit;
use super::prices::Prices;
use super::probe::{Arrange, Probe};
use super::problem::{Cost, Problem};
use crate::fingerprint::{Fingerprint, Width};

/// The most fingerprints of the batch that may share a high half.
const MOST_ALIKE: usize = 64;

/// The largest distance it is made for: that of the blocks.
pub(super) fn covers(width: Width) -> u32 {
    halves::covers(width)
}

/// What the two halves cost.
pub(super) fn cost(problem: &Problem, prices: &Prices) -> Cost {
    let &Problem { batch, store, k, width, workers, .. } = problem;
    let (high, low) = limits(k);
    let blocks = low.map_or(Vec::new(), |low| Block::of_low_half(width, low));
    let low = BlocksCost::of(problem, &blocks, prices);
    let high_ns = conditioned::nanoseconds(problem, high, width.bits() / 2, prices);
    let probe = high_ns + store as f64 * low.nanoseconds();
    Cost {
        tables: 1 + blocks.len() as u64,
        nanoseconds: probe / store.max(1) as f64,
        seconds: (probe + low.build_ns() * batch as f64) / 1e9,
        memory_bytes: conditioned::memory_bytes(batch, width, workers) + low.memory_bytes(),
    }
}

/// In how many bits of the high half pairs within `k` may differ, and in how many bits of the low half the
/// others; `None` if there are no others.
fn limits(k: u32) -> (u32, Option<u32>) {
    (k / 2, k.checked_sub(1).map(|k| k / 2))
}

/// The batch by its high half and by its low half.
#[derive(Debug)]
pub(super) struct HighLow<F> {
    /// `None` if too many fingerprints of the batch share a high half.
    high: Option<Conditioned<F>>,
    low: Option<Halves<F>>,
}

/// Memory that both probes work in.
#[derive(Debug)]
pub(super) struct HighLowScratch<F> {
    high: Walk<F>,
    low: HalvesScratch<F>,
}

impl<F> Default for HighLowScratch<F> {
    fn default() -> HighLowScratch<F> {
        HighLowScratch { high: Walk::default(), low: HalvesScratch::default() }
    }
}

impl<F: Fingerprint> Arrange<F> for HighLow<F> {
    fn arrange(batch: &[F], k: u32, threads: usize) -> HighLow<F> {
        let alike = batch.chunk_by(|&a, &b| (a ^ b) >> (F::BITS / 2) == F::default());
        if alike.map(<[F]>::len).max() > Some(MOST_ALIKE) {
            return HighLow { high: None, low: Some(Halves::arrange(batch, k, threads)) };
        }
        let (high, low) = limits(k);
        HighLow {
            high: Some(Conditioned::of_high_half(batch, k, high)),
            low: low.map(|low| Halves::of_low_half(batch, k, low, high, threads)),
        }
    }

    fn memory_bytes(&self) -> u64 {
        let high = self.high.as_ref().map_or(0, Conditioned::memory_bytes);
        high + self.low.as_ref().map_or(0, Halves::memory_bytes)
    }
}

impl<F: Fingerprint> Probe<F> for HighLow<F> {
    type Scratch = HighLowScratch<F>;

    fn probe(&self, runs: &[&[F]], scratch: &mut HighLowScratch<F>, found: &mut dyn FnMut(Hit)) {
        if let Some(high) = &self.high {
            high.probe(runs, &mut scratch.high, found);
        }
        if let Some(low) = &self.low {
            low.probe(runs, &mut scratch.low, found);
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
            let high_low = HighLow::arrange(&batch, k, 1);
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
        let high_low = HighLow::arrange(&batch, 7, 1);
        high_low.probe(&slices, &mut HighLowScratch::default(), &mut |hit| found.push(hit));
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
