//! In whatever order and however crowded, what is found is what all pairs find.

use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::tables::tests::{all_pairs, inputs, off, probed, set, uniform};

fn what_is_probed_needs_no_order<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(23);
    for k in 0..=covers(F::WIDTH) {
        for (batch, mut others) in inputs::<F>(&mut random, k) {
            others.extend_from_within(..others.len() / 3);
            others.shuffle(&mut random);
            let halves = Halves::arrange(&batch, k, 2);
            assert_eq!(probed(&halves, &others), all_pairs(&batch, &others, k), "{k}");
        }
    }
}

#[test]
fn what_is_probed_needs_no_order_at_64_bits() {
    what_is_probed_needs_no_order::<u64>();
}

#[test]
fn what_is_probed_needs_no_order_at_128_bits() {
    what_is_probed_needs_no_order::<u128>();
}

#[test]
fn parts_and_runs_are_counted_through() {
    let run = vec![1_u64; PART * 2 + 5];
    let halves = Halves::arrange(&[0, 1 << 40 | 7], 3, 2);
    let mut found = Vec::new();
    halves
        .probe(&[&run, &[], &run[..9]], &mut HalvesScratch::default(), &mut |hit| found.push(hit));
    found.sort_unstable();
    let all = all_pairs(&[0, 1 << 40 | 7], &run, 3);
    let expected: Vec<Hit> = (all.iter().copied())
        .flat_map(|hit| [Some(hit), (hit.at < 9).then_some(Hit { run: 2, ..hit })])
        .flatten()
        .collect();
    assert_eq!(found, set_of_hits(expected));
}

fn set_of_hits(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_unstable();
    hits
}

/// Batches of which all share one block, or all but a few bits of it; and others from there.
fn crowds_are_exact_in_bounded_memory<F: Fingerprint>(shifts: [u32; 2]) {
    let mut random = ChaCha8Rng::seed_from_u64(24);
    let centre = uniform::<F>(&mut random, 1)[0];
    for (shift, k) in shifts.into_iter().zip([3, 2]) {
        let crowd = |i: u64| centre ^ F::from_u128(i.into()) << shift;
        let scattered = (0..1 << 16).map(|_| crowd(random.random_range(0..1 << 30)));
        let batch = set((0..1 << 15).map(crowd).chain(scattered.collect::<Vec<F>>()));
        let near = batch.iter().step_by(batch.len() / 50);
        let others: Vec<F> =
            near.zip((0..6).cycle()).map(|(&b, bits)| off(&mut random, b, bits)).collect();
        let halves = Halves::arrange(&batch, k, 2);
        let bound = (SPARE as u64 + 2) * 30 + 16 * 70 / 8 * 4;
        assert!(halves.memory_bytes() < 2 * bound * batch.len() as u64);
        assert_eq!(probed(&halves, &others), all_pairs(&batch, &others, k), "{shift}");
    }
}

#[test]
fn crowds_are_exact_at_64_bits() {
    crowds_are_exact_in_bounded_memory::<u64>([0, 32]);
}

#[test]
fn crowds_are_exact_at_128_bits() {
    crowds_are_exact_in_bounded_memory::<u128>([0, 96]);
}

proptest! {
    #[test]
    fn skewed_bits_are_exact(
        batch in prop::collection::vec((any::<u64>(), 0_u32..64), 0..80),
        others in prop::collection::vec((any::<u64>(), 0_u32..64, 0_u32..64), 0..80),
        k in 0_u32..=3,
    ) {
        let batch = set(batch.iter().map(|(bits, by)| bits >> by));
        let others: Vec<u64> =
            others.iter().map(|(bits, by, bit)| bits >> by ^ 1 << bit).collect();
        prop_assert_eq!(probed(&Halves::arrange(&batch, k, 2), &others), all_pairs(&batch, &others, k));
    }
}
