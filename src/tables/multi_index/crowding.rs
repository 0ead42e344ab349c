//! How crowded a batch is: how many of its pairs meet.

use super::block::{Block, MOST_OFF};
use super::cost::{self, ANYWHERE};
use super::probe::blocks;
use crate::fingerprint::Fingerprint;
use crate::tables::flips::Flips;

/// How many times as many pairs of `batch`, which is distinct, meet in a block by multi-index hashing as if it
/// were uniform; at least 1. It depends on the batch and `k` alone, so all machines find the same.
///
/// Fingerprints that share a block are compared all with all. If half of the batch has zeros there, a quarter of all
/// pairs meet, where one of some thousand is expected. A store that looks like the batch meets it as often as
/// the batch meets itself. No store meets it much more often: a crowd that is too small to
/// count among the pairs of the batch has few fingerprints that one of a store can meet.
pub fn crowding<F: Fingerprint>(batch: &[F], k: u32) -> f64 {
    let count = batch.len() as u64;
    if count < 2 || k > cost::covers(F::WIDTH) {
        return 1.0;
    }
    let flips = Flips::up_to(MOST_OFF);
    let met: u128 = blocks(batch, k, ANYWHERE).iter().map(|&block| met(batch, block, &flips)).sum();
    let blocks = cost::blocks(count as f64, F::BITS, k, ANYWHERE);
    let share = |block: Block| block.ball() as f64 / block.values() as f64;
    let share: f64 = Block::divide(0..F::BITS, blocks, k).into_iter().map(share).sum();
    let pairs = count as f64 * (count - 1) as f64;
    (met as f64 / (pairs * share)).max(1.0)
}

/// How many pairs of different fingerprints of `batch` meet in a block, each counted from both sides.
fn met<F: Fingerprint>(batch: &[F], block: Block, flips: &Flips) -> u128 {
    let mut rows = vec![0_u64; block.values()];
    batch.iter().for_each(|&fingerprint| rows[block.value(fingerprint) as usize] += 1);
    let near = |value: usize| -> u64 {
        let rings = (0..=block.limit).flat_map(|off| flips.of(block.bits, off));
        rings.map(|&flip| rows[value ^ flip as usize]).sum()
    };
    let occupied = rows.iter().enumerate().filter(|(_, rows)| **rows > 0);
    occupied.map(|(value, &rows)| u128::from(rows) * u128::from(near(value) - 1)).sum()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::tables::tests::{crowded, set, uniform};

    /// The meaning: every pair in every block.
    fn met_by_all_pairs<F: Fingerprint>(batch: &[F], block: Block) -> u128 {
        let meets = |a: F| batch.iter().filter(|&&b| a != b && block.meets(a ^ b)).count() as u128;
        batch.iter().map(|&a| meets(a)).sum()
    }

    fn what_meets_is_counted<F: Fingerprint>() {
        let mut random = ChaCha8Rng::seed_from_u64(21);
        let flips = Flips::up_to(MOST_OFF);
        for batch in crowded::<F>(&mut random, 300) {
            for block in [3, 7, 10, 12].into_iter().flat_map(|k| blocks(&batch, k, ANYWHERE)) {
                assert_eq!(met(&batch, block, &flips), met_by_all_pairs(&batch, block));
            }
        }
    }

    #[test]
    fn pairs_that_meet_are_counted() {
        what_meets_is_counted::<u64>();
        what_meets_is_counted::<u128>();
    }

    #[test]
    fn a_uniform_batch_is_not_crowded_and_the_others_are() {
        let mut random = ChaCha8Rng::seed_from_u64(22);
        let batch = set(uniform::<u64>(&mut random, 100_000));
        assert!((1.0..1.1).contains(&crowding(&batch, 7)));
        for (at, batch) in crowded::<u64>(&mut random, 20_000).iter().enumerate() {
            assert!(crowding(batch, 7) > 50.0, "{at}: {}", crowding(batch, 7));
        }
        assert_eq!([&[], &[1][..], &[1, 2]].map(|batch| crowding::<u64>(batch, 13)), [1.0; 3]);
        assert_eq!([&[], &[1][..]].map(|batch| crowding::<u64>(batch, 7)), [1.0; 2]);
        assert!(crowding::<u64>(&[1, 2], 7) > 1.0);
    }
}
