//! However many blocks there are, what is found is what all pairs find.

use std::sync::Arc;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::tables::multi_index::block::MOST_OFF;
use crate::tables::tests::{
    all_own_pairs, all_pairs, all_pairs_of_runs, inputs, joined, off, probed, probed_runs, set,
    uniform,
};
use crate::tables::{ArrangedBatch, Design, SelfJoin, SelfJoinScratch};

fn itself<F: Fingerprint>(multi_index: &MultiIndex<F>) -> Vec<Hit> {
    let mut scratch = Default::default();
    joined(7, |part, found| multi_index.join((part, 7), &mut scratch, found))
}

fn any_number_of_blocks_is_exact<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(16);
    for k in 0..=12 {
        for (batch, others) in inputs::<F>(&mut random, k) {
            for blocks in (1..=k + 1).filter(|blocks| k / blocks <= MOST_OFF) {
                let multi_index = MultiIndex::by(&batch, k, blocks);
                let expected = all_pairs(&batch, &others, k);
                assert_eq!(probed(&multi_index, &others), expected, "{blocks} at {k}");
                assert_eq!(itself(&multi_index), all_own_pairs(&batch, k), "{blocks} at {k}");
            }
        }
    }
}

#[test]
fn all_numbers_of_blocks_are_exact() {
    any_number_of_blocks_is_exact::<u64>();
    any_number_of_blocks_is_exact::<u128>();
}

type Inputs<'a, F> = &'a dyn Fn(&mut ChaCha8Rng, usize) -> Vec<F>;

/// Neighbourhoods of which a value has more than a group of lanes and more rows than are copied at once, a
/// slice of the key space, and fingerprints that end in zeros.
fn crowds_and_slices<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let centre = uniform::<F>(&mut random, 1)[0];
    let around = |random: &mut ChaCha8Rng, count: usize| -> Vec<F> {
        (0..count).map(|i| off(random, centre, i % 9)).collect()
    };
    let slice = |random: &mut ChaCha8Rng, count| -> Vec<F> {
        uniform::<F>(random, count).into_iter().map(|f| f >> 20 | (centre >> 44 << 44)).collect()
    };
    let zeros = |random: &mut ChaCha8Rng, count| -> Vec<F> {
        uniform::<F>(random, count).into_iter().map(|f| f >> 17 << 16).collect()
    };
    let kinds: [Inputs<'_, F>; 3] = [&around, &slice, &zeros];
    for inputs in kinds {
        let batch = set(inputs(&mut random, 1500));
        let near = batch.iter().map(|&b| off(&mut random, b, 3)).collect::<Vec<F>>();
        let near: Vec<F> = near.into_iter().step_by(3).chain(inputs(&mut random, 900)).collect();
        let others = set(near.into_iter().chain(uniform(&mut random, 300)));
        for (k, blocks) in [(3, 2), (4, 4), (7, 4), (7, 2), (10, 3), (12, 8)] {
            let multi_index = MultiIndex::by(&batch, k, blocks);
            assert!(probed(&multi_index, &others) == all_pairs(&batch, &others, k), "{k} {blocks}");
            assert!(itself(&multi_index) == all_own_pairs(&batch, k), "{k} {blocks}");
        }
    }
}

#[test]
fn crowds_and_slices_are_exact() {
    crowds_and_slices::<u64>();
    crowds_and_slices::<u128>();
}

#[test]
fn tiny_batches_are_exact() {
    let mut random = ChaCha8Rng::seed_from_u64(18);
    for count in 0..6 {
        let batch = set(uniform::<u64>(&mut random, count));
        let near = batch.iter().flat_map(|&b| [0, 1, 7, 8].map(|bits| (b, bits)));
        let near = near.collect::<Vec<_>>();
        let others = set(near.into_iter().map(|(b, bits)| off(&mut random, b, bits)));
        for k in 0..=12 {
            let multi_index = MultiIndex::new(&batch, k, 1);
            assert_eq!(probed(&multi_index, &others), all_pairs(&batch, &others, k), "{count} {k}");
            assert_eq!(itself(&multi_index), all_own_pairs(&batch, k), "{count} {k}");
        }
    }
}

#[test]
fn the_batch_and_itself_are_joined_by_name() {
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let batch = uniform::<u64>(&mut random, 400);
    let near = batch.iter().map(|&b| off(&mut random, b, 7)).collect::<Vec<u64>>();
    let batch: Arc<[u64]> = set(batch.into_iter().chain(near)).into();
    let join = SelfJoin::new(&batch, Design::MultiIndex, 7, u64::MAX, 1).unwrap();
    let mut scratch = SelfJoinScratch::default();
    let hits = joined(join.parts(), |part, found| join.join(part, &mut scratch, found));
    assert_eq!(hits, all_own_pairs(&batch, 7));
    let others = uniform::<u64>(&mut random, 100).into_iter().chain(batch.iter().map(|it| it ^ 9));
    let others = set(others);
    if let Some(shared) = ArrangedBatch::sharing(&join, Design::MultiIndex) {
        assert_eq!(probed(&shared, &others), all_pairs(&batch, &others, 7));
    }
    assert!(ArrangedBatch::sharing(&join, Design::Conditioned).is_none());
    assert!(SelfJoin::new(&batch, Design::Conditioned, 3, u64::MAX, 1).is_err());
    assert!(SelfJoin::new(&batch, Design::MultiIndex, 13, u64::MAX, 1).is_err());
}

proptest! {
    /// Pairs at exactly k and k + 1 bits, the bits anywhere, in several runs.
    #[test]
    fn pairs_at_k_are_in_and_pairs_beyond_are_out(
        seed: u64,
        k in 0_u32..=12,
        runs in 1_usize..4,
        blocks in 1_u32..=8,
    ) {
        let blocks = blocks.clamp(k.div_ceil(MOST_OFF + 1).max(1), k + 1);
        prop_assume!(k / blocks <= MOST_OFF);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let batch = set(uniform::<u64>(&mut random, 20));
        let mut others: Vec<Vec<u64>> = vec![Vec::new(); runs];
        for (at, &b) in batch.iter().enumerate() {
            others[at % runs].push(off(&mut random, b, k as usize + at % 2));
            others[random.random_range(0..runs)].push(random.random());
        }
        others.iter_mut().for_each(|run| run.sort_unstable());
        let slices: Vec<&[u64]> = others.iter().map(Vec::as_slice).collect();
        let multi_index = MultiIndex::by(&batch, k, blocks);
        let found = probed_runs(&multi_index, &slices, &mut Default::default());
        prop_assert_eq!(found, all_pairs_of_runs(&batch, &slices, k));
    }
}
