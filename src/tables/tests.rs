//! Every way to find near pairs, against all pairs.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::fingerprint::Width;

/// The meaning: every pair, compared.
pub(super) fn all_pairs<F: Fingerprint>(batch: &[F], others: &[F], k: u32) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (batch, b) in (0..).zip(batch) {
        for (at, f) in (0..).zip(others) {
            let distance = b.distance(*f);
            if distance <= k {
                hits.push(Hit { batch, run: 0, at, distance: distance as u8 });
            }
        }
    }
    hits
}

/// Every hit, sorted; one reported twice stands there twice.
pub(super) fn probed<F: Fingerprint>(method: &impl Probe<F>, others: &[F]) -> Vec<Hit> {
    let mut hits = Vec::new();
    method.probe(&[others], &mut Scratch::default(), &mut |hit| hits.push(hit));
    hits.sort_unstable();
    hits
}

pub(super) fn set<F: Fingerprint>(fingerprints: impl IntoIterator<Item = F>) -> Vec<F> {
    let mut set: Vec<F> = fingerprints.into_iter().collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// `fingerprint` with `count` bits flipped, anywhere.
pub(super) fn off<F: Fingerprint>(random: &mut ChaCha8Rng, fingerprint: F, count: usize) -> F {
    let bits = rand::seq::index::sample(random, F::BITS as usize, count);
    bits.into_iter().fold(fingerprint, |f, bit| f ^ F::from_u128(1 << bit))
}

pub(super) fn uniform<F: Fingerprint>(random: &mut ChaCha8Rng, count: usize) -> Vec<F> {
    (0..count).map(|_| F::from_u128(random.random())).collect()
}

/// Pairs of batch and others: uniform with planted ones at k and k + 1, all in one neighbourhood,
/// all in the low bits, the extremes.
pub(super) fn inputs<F: Fingerprint>(random: &mut ChaCha8Rng, k: u32) -> Vec<(Vec<F>, Vec<F>)> {
    let k = k as usize;
    let batch = set(uniform::<F>(random, 120));
    let near = batch.iter().flat_map(|&b| [off(random, b, k), off(random, b, k + 1), b]);
    let near = set(near.collect::<Vec<_>>());
    let centre = F::from_u128(random.random());
    let mut around = |count: usize| {
        set((0..count).map(|i| off(random, centre, i % (k + 3))).collect::<Vec<_>>())
    };
    let clustered = (around(150), around(150));
    let low = |step: u128| set((0..150).map(move |i| F::from_u128(i * step)));
    let extremes = set([F::default(), F::MAX]);
    let towards = (0..k as u32 + 2).map(|bits| F::MAX >> (F::BITS - 1 - bits) >> 1);
    let extreme_others = set(towards.flat_map(|bits| [bits, !bits]));
    vec![
        (batch.clone(), near),
        clustered,
        (low(1), low(3)),
        (extremes, extreme_others),
        (Vec::new(), batch.clone()),
        (batch, Vec::new()),
    ]
}

fn designs(width: Width, k: u32) -> Vec<(Design, Way)> {
    let blocks = [1, 2, 3].map(|choose| Design::Blocks { blocks: k + choose, choose });
    let wide = Design::Blocks { blocks: 64, choose: 1 };
    let masks = Design::PAPER.into_iter().chain(blocks).chain([wide]);
    let ways = masks.flat_map(|design| [(design, Way::Indexed), (design, Way::Sorted)]);
    let others = Design::WITHOUT_MASKS.map(|design| (design, Way::Indexed));
    ways.chain(others).filter(|(design, _)| k <= design.covers(width)).collect()
}

/// What the plan has for such a batch and such a store.
fn planned<F: Fingerprint>(batch: &Arc<[F]>, others: &[F], k: u32) -> Method<F> {
    let (batch_count, store) = (batch.len() as u64, others.len() as u64);
    let problem =
        Problem { batch: batch_count, store, k, width: F::WIDTH, workers: 1, split: false };
    let plan = plan::choose(Design::Auto, &problem, u64::MAX).unwrap();
    Method::build(batch, plan.chosen.design, plan.chosen.way, k).unwrap()
}

fn every_design_finds_what_all_pairs_find<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for k in 0..=7 {
        for (batch, others) in inputs::<F>(&mut random, k) {
            let expected = all_pairs(&batch, &others, k);
            let batch = Arc::from(batch);
            for (design, way) in designs(F::WIDTH, k) {
                let method = Method::build(&batch, design, way, k).unwrap();
                assert_eq!(probed(&method, &others), expected, "{design} {way} at {k}");
            }
        }
    }
}

#[test]
fn every_design_is_exact_at_64_bits() {
    every_design_finds_what_all_pairs_find::<u64>();
}

#[test]
fn every_design_is_exact_at_128_bits() {
    every_design_finds_what_all_pairs_find::<u128>();
}

#[test]
fn auto_is_exact_up_to_the_largest_distance() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for k in 8..=MAX_DISTANCE {
        for (batch, others) in inputs::<u64>(&mut random, k) {
            let method = planned(&Arc::from(&batch[..]), &others, k);
            assert_eq!(probed(&method, &others), all_pairs(&batch, &others, k), "{k}");
        }
    }
}

fn filters_and_blocks_lose_nothing<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let batch = set(uniform::<F>(&mut random, 20_000));
    let planted = batch.iter().step_by(20);
    let planted = planted.zip((0..8).cycle()).map(|(&b, bits)| off(&mut random, b, bits));
    let others = set(planted.collect::<Vec<F>>());
    let batch = Arc::from(batch);
    for (k, design, way) in [
        (3, Design::Ten, Way::Indexed),
        (3, Design::Sixteen, Way::Indexed),
        (3, Design::Sixteen, Way::Sorted),
        (3, Design::Conditioned, Way::Indexed),
        (3, Design::Halves, Way::Indexed),
        (3, Design::HighLow, Way::Indexed),
        (F::BITS / 32 * 2 - 1, Design::HighLow, Way::Indexed),
        (6, Design::Blocks { blocks: 8, choose: 2 }, Way::Sorted),
        (6, Design::Blocks { blocks: 8, choose: 2 }, Way::Indexed),
    ] {
        let method = Method::build(&batch, design, way, k).unwrap();
        let hits = probed(&method, &others);
        assert!(hits.len() >= others.len() / 8 * (k as usize + 1));
        assert_eq!(hits, all_pairs(&batch, &others, k), "{design} {way} at {k}");
    }
}

#[test]
fn a_batch_of_thousands_is_exact() {
    filters_and_blocks_lose_nothing::<u64>();
    filters_and_blocks_lose_nothing::<u128>();
}

/// A neighbourhood so dense that its buckets are arranged again, and those of its tables too.
#[test]
fn crowds_are_divided_and_stay_exact() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let high = 0xabcd_ef01_2345_0000_u64 << 2;
    let batch = set((0..1_u64 << 17).map(|i| high ^ i).chain(uniform(&mut random, 1000)));
    let inside = uniform::<u64>(&mut random, 40).into_iter().map(|f| high ^ f >> 46);
    let others = set(inside.map(|f| off(&mut random, f, 2)).collect::<Vec<u64>>());
    for design in [Design::Four, Design::Ten] {
        let tables = Tables::build(&batch, design, 3).unwrap();
        assert!(
            tables.memory_bytes() < (SPARE as u64 + 2) * 13 * design.tables() * batch.len() as u64
        );
        assert!(tables.tables.iter().any(Table::is_divided_twice));
        assert_eq!(probed(&tables, &others), all_pairs(&batch, &others, 3), "{design}");
    }
}

#[test]
fn a_run_longer_than_a_block_is_counted_through() {
    let others = vec![0_u64; BLOCK_BYTES / 8 * 2 + 5];
    let tables = Tables::build(&[1, 1 << 40], Design::Ten, 1).unwrap();
    let hits = probed(&tables, &others);
    assert_eq!(hits, all_pairs(&[1, 1 << 40], &others, 1));
}

#[test]
fn a_design_that_does_not_cover_k_is_refused() {
    for (design, k) in [(Design::Four, 4), (Design::Conditioned, 8), (Design::Auto, 16)] {
        for way in [Way::Indexed, Way::Sorted] {
            let refused = Method::build(&Arc::from([1_u64]), design, way, k).unwrap_err();
            assert_eq!(refused.kind(), Kind::Usage);
        }
    }
    assert_eq!(Tables::build(&[1_u64], Design::Conditioned, 3).unwrap_err().kind(), Kind::Usage);
}
