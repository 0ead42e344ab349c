//! Every way to find near pairs, against all pairs.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use std::sync::Arc;

use super::masked::MAX_DISTANCE;
use super::sorted::SortedJoin;
use super::*;
use crate::error::Kind;
use crate::fingerprint::Fingerprint;

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

/// Every hit of the others, dealt to as many runs, sorted; one reported twice is there twice.
pub(super) fn probed<F: Fingerprint>(method: &impl Probe<F>, others: &[F]) -> Vec<Hit> {
    let count = 1 + others.len() % 4;
    let run = |run| others.iter().copied().skip(run).step_by(count).collect();
    let runs: Vec<Vec<F>> = (0..count).map(run).collect();
    let runs: Vec<&[F]> = runs.iter().map(Vec::as_slice).collect();
    let mut hits = probed_runs(method, &runs, &mut Default::default());
    hits.iter_mut().for_each(|hit| (hit.run, hit.at) = (0, hit.at * count as u32 + hit.run));
    hits.sort_unstable();
    hits
}

pub(super) fn probed_runs<F: Fingerprint, P: Probe<F>>(
    method: &P,
    runs: &[&[F]],
    scratch: &mut P::Scratch,
) -> Vec<Hit> {
    let mut hits = Vec::new();
    method.probe(runs, scratch, &mut |hit| hits.push(hit));
    hits.sort_unstable();
    hits
}

pub(super) fn all_pairs_of_runs<F: Fingerprint>(batch: &[F], runs: &[&[F]], k: u32) -> Vec<Hit> {
    let of_run =
        |(run, others)| all_pairs(batch, others, k).into_iter().map(move |hit| Hit { run, ..hit });
    let mut hits: Vec<Hit> = (0..).zip(runs.iter().copied()).flat_map(of_run).collect();
    hits.sort_unstable();
    hits
}

pub(super) fn all_own_pairs<F: Fingerprint>(batch: &[F], k: u32) -> Vec<Hit> {
    all_pairs(batch, batch, k).into_iter().filter(|pair| pair.at < pair.batch).collect()
}

/// The pairs of so many parts, sorted; one found twice is there twice.
pub(super) fn joined(parts: u32, mut join: impl FnMut(u32, &mut dyn FnMut(Hit))) -> Vec<Hit> {
    let mut hits = Vec::new();
    (0..parts).for_each(|part| join(part, &mut |hit| hits.push(hit)));
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

/// Fingerprints of which many share the value of a block: a gap of zeros; the same first bits in all but two;
/// few bits set; those of 64 bits and one with a lower half; the same first bits in one of four.
pub(super) fn crowded<F: Fingerprint>(random: &mut ChaCha8Rng, count: usize) -> [Vec<F>; 5] {
    let centre = uniform::<F>(random, 1)[0] >> (F::BITS - 24) << (F::BITS - 24);
    let gap = F::from_u128(0xffff_0000);
    let uniform = |random: &mut ChaCha8Rng| uniform::<F>(random, count).into_iter();
    let gaps = uniform(random).map(|f| f & !gap);
    let first = uniform(random).map(|f| f >> 24 | centre).chain([F::default(), F::MAX]);
    let light = (0..count).map(|_| off(random, F::default(), F::BITS as usize * 3 / 16));
    let light: Vec<F> = light.collect();
    let half = F::BITS / 2;
    let padded = uniform(random).map(|f| f >> half << half).chain([F::from_u128(1)]);
    let some = uniform(random).enumerate();
    let some = some.map(|(at, f)| if at % 4 == 0 { f >> 24 | centre } else { f });
    [set(gaps), set(first), set(light), set(padded), set(some)]
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

fn designs(k: u32) -> Vec<Design> {
    let blocks = [1, 2, 3].map(|choose| Masked::Blocks { blocks: k + choose, choose });
    let wide = Masked::Blocks { blocks: 64, choose: 1 };
    let masks = Masked::PAPER.into_iter().chain(blocks).chain([wide]).map(Design::from);
    let all = masks.chain([Design::Conditioned, Design::MultiIndex]);
    all.filter(|design| k <= design.covers()).collect()
}

fn every_design_finds_what_all_pairs_find<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for k in 0..=MAX_DISTANCE {
        for (batch, others) in inputs::<F>(&mut random, k) {
            let expected = all_pairs(&batch, &others, k);
            let both: Arc<[F]> = set(batch.iter().chain(&others).copied()).into();
            let (batch, own) = (Arc::from(batch), all_own_pairs(&both, k));
            for design in designs(k) {
                let method = ArrangedBatch::build(&batch, design, k, 1).unwrap();
                assert_eq!(probed(&method, &others), expected, "{design} at {k}");
                if design != Design::Conditioned {
                    assert_eq!(itself(&both, design, k), own, "{design} at {k}");
                }
            }
        }
    }
}

#[test]
fn every_design_is_exact() {
    every_design_finds_what_all_pairs_find::<u64>();
    every_design_finds_what_all_pairs_find::<u128>();
}

fn crowds_lose_nothing<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for batch in crowded::<F>(&mut random, 700) {
        for k in [3, 7, 10] {
            let near = batch.iter().map(|&b| off(&mut random, b, k)).collect::<Vec<F>>();
            let others = set(near.into_iter().step_by(3).chain(batch.iter().copied().step_by(2)));
            let batch = Arc::from(&batch[..]);
            let k = k as u32;
            let expected = all_pairs(&batch, &others, k);
            let pairs = all_own_pairs(&batch, k);
            let sorted = Masked::Blocks { blocks: k + 2, choose: 2 }.into();
            for design in [Design::MultiIndex, sorted] {
                let method = ArrangedBatch::build(&batch, design, k, 1).unwrap();
                assert!(probed(&method, &others) == expected, "{design} at {k}");
                assert!(itself(&batch, design, k) == pairs, "{design} at {k}");
            }
        }
    }
}

fn itself<F: Fingerprint>(batch: &Arc<[F]>, design: Design, k: u32) -> Vec<Hit> {
    let join = SelfJoin::new(batch, design, k, 40, 2).unwrap();
    let mut scratch = SelfJoinScratch::default();
    joined(join.parts(), |part, found| join.join(part, &mut scratch, found))
}

#[test]
fn crowds_are_exact() {
    crowds_lose_nothing::<u64>();
    crowds_lose_nothing::<u128>();
}

#[test]
fn a_design_that_does_not_cover_k_is_refused() {
    for (design, k) in [(Masked::Four.into(), 4), (Design::Conditioned, 8), (Design::Auto, 16)] {
        let refused = ArrangedBatch::build(&Arc::from([1_u64]), design, k, 1).unwrap_err();
        assert_eq!(refused.kind(), Kind::Usage);
    }
    let without_masks = SortedJoin::new(Arc::from([1_u64]), Design::Conditioned, 3).unwrap_err();
    assert_eq!(without_masks.kind(), Kind::Usage);
}
