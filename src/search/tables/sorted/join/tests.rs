//! Sorting against the meaning: every pair, compared.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::tables::masked::Masked;
use crate::tables::tests::{all_own_pairs, all_pairs, joined, off, probed, set, uniform};

fn itself<F: Fingerprint>(batch: &[F], design: Masked, k: u32) -> Vec<Hit> {
    let sorted = SortedJoin::new(batch.into(), design.into(), k).unwrap();
    let mut scratch = Gathering::default();
    joined(sorted.parts(), |part, found| sorted.join(part, &mut scratch, found))
}

#[test]
fn batches_about_the_edges_of_groups_are_exact() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for count in [0, 1, 2, 3, 1023, 1024, 2047, 2048, 2049, 5000] {
        let batch: Vec<u64> = uniform(&mut random, count / 2);
        let near: Vec<u64> = batch.iter().map(|&b| off(&mut random, b, 3)).collect();
        let batch = set(batch.into_iter().chain(near));
        for design in [Masked::Four, Masked::Ten] {
            assert_eq!(itself(&batch, design, 3), all_own_pairs(&batch, 3), "{count}");
        }
    }
}

/// A neighbourhood so dense that what meets is sorted again, and again.
#[test]
fn crowds_are_divided_and_stay_exact() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let centre = 0xabcd_ef01_2345_0000_u64 << 2;
    let low = (0..1 << 12).map(|i| centre ^ i);
    let ball = (0..3000).map(|i| off(&mut random, centre, i % 4)).collect::<Vec<_>>();
    let batch = set(low.chain(ball));
    let others = set((0..400).map(|i| off(&mut random, centre, i % 6)).collect::<Vec<_>>());
    for design in [Masked::Four, Masked::Ten, Masked::Blocks { blocks: 64, choose: 1 }] {
        assert_eq!(itself(&batch, design, 3), all_own_pairs(&batch, 3), "{design}");
        let sorted = SortedJoin::new(Arc::from(&batch[..]), design.into(), 3).unwrap();
        assert_eq!(probed(&sorted, &others), all_pairs(&batch, &others, 3), "{design}");
    }
}

/// Ledgers hold parts, and a join may be resumed with other memory and other workers.
#[test]
fn what_a_part_has_does_not_depend_on_the_memory() {
    let mut random = ChaCha8Rng::seed_from_u64(10);
    let near = uniform::<u64>(&mut random, 1 << 15).into_iter().flat_map(|it| [it, it ^ 1 << 40]);
    let batch: Arc<[u64]> = set(near.collect::<Vec<_>>()).into();
    for design in [Masked::Four, Masked::Ten] {
        let join =
            |most| SortedJoin::in_shares(Arc::clone(&batch), design.into(), 3, most).unwrap();
        let [usual, tight] = [MOST, 1 << 9].map(join);
        assert!(usual.leads.iter().zip(&tight.leads).any(|(a, b)| a.shares() < b.shares()));
        assert_eq!(usual.parts(), tight.parts());
        let mut found = 0;
        for part in 0..usual.parts() {
            let [one, other] = [&usual, &tight].map(|join| {
                let mut hits = Vec::new();
                join.join(part, &mut Gathering::default(), &mut |hit| hits.push(hit));
                hits
            });
            assert_eq!(one, other, "{design}, part {part}");
            found += one.len();
        }
        assert!(found >= 1 << 15, "{found}");
    }
}
