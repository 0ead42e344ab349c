//! However many blocks there are, what is found is what all pairs find.

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::tables::multi_index::block::MOST_OFF;
use crate::tables::tests::{all_own_pairs, all_pairs, inputs, joined, off, probed, set, uniform};
use crate::tables::{ArrangedBatch, Design, SelfJoin};

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

#[test]
fn the_batch_and_itself_are_joined_by_name() {
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let batch = uniform::<u64>(&mut random, 400);
    let near = batch.iter().map(|&b| off(&mut random, b, 7)).collect::<Vec<u64>>();
    let batch: Arc<[u64]> = set(batch.into_iter().chain(near)).into();
    let join = SelfJoin::new(&batch, Design::MultiIndex, 7, u64::MAX, 1).unwrap();
    let others = uniform::<u64>(&mut random, 100).into_iter().chain(batch.iter().map(|it| it ^ 9));
    let others = set(others);
    if let Some(shared) = ArrangedBatch::sharing(&join, Design::MultiIndex) {
        assert_eq!(probed(&shared, &others), all_pairs(&batch, &others, 7));
    }
    assert!(ArrangedBatch::sharing(&join, Design::Conditioned).is_none());
    assert!(SelfJoin::new(&batch, Design::Conditioned, 3, u64::MAX, 1).is_err());
    assert!(SelfJoin::new(&batch, Design::MultiIndex, 13, u64::MAX, 1).is_err());
}
