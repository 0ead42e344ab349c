//! Sorting against the meaning: every pair, compared.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::tables::masked::Masked;
use crate::tables::tests::{
    all_own_pairs, all_pairs, inputs, joined, off, probed, probed_runs, set, uniform,
};

fn itself<F: Fingerprint>(batch: &[F], design: Masked, k: u32) -> Vec<Hit> {
    let sorted = SortedJoin::new(batch.into(), design.into(), k).unwrap();
    let mut scratch = Gathering::default();
    joined(sorted.parts(), |part, found| sorted.join(part, &mut scratch, found))
}

fn is_exact<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for k in [0, 1, 3, 4, 7] {
        let blocks = [1, 2, 3].map(|choose| Masked::Blocks { blocks: k + choose, choose });
        let paper = Masked::PAPER.into_iter().filter(|design| k <= design.covers());
        for design in paper.chain(blocks) {
            for (mut batch, others) in inputs::<F>(&mut random, k) {
                batch.extend(others);
                let batch = set(batch);
                assert_eq!(itself(&batch, design, k), all_own_pairs(&batch, k), "{design} at {k}");
            }
        }
    }
}

#[test]
fn a_batch_finds_itself() {
    is_exact::<u64>();
    is_exact::<u128>();
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

#[test]
fn a_pair_names_its_run() {
    let batch: Arc<[u64]> = Arc::from([5, 1 << 40]);
    let sorted = SortedJoin::new(batch, Masked::Ten.into(), 1).unwrap();
    let runs: [&[u64]; 4] = [&[4, 1 << 41], &[], &[5, 1 << 40 | 1], &[5]];
    let found = probed_runs(&sorted, &runs, &mut Gathering::default());
    let hit = |batch, run, at, distance| Hit { batch, run, at, distance };
    assert_eq!(found, [hit(0, 0, 0, 1), hit(0, 2, 0, 0), hit(0, 3, 0, 0), hit(1, 2, 1, 1)]);
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
