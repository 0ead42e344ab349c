//! However the tree is cut and the memory bounded, what is found is what all pairs find.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::tables::tests::{
    all_pairs, all_pairs_of_runs, inputs, off, probed, probed_runs, set, uniform,
};

/// Shapes with everything at its least and at its most.
fn shapes() -> Vec<Shape> {
    let shape = |root, digit, widest, shallowest, most_keys| Shape {
        root,
        digit,
        widest,
        shallowest,
        most_keys,
        side_by_side: 0,
    };
    vec![
        SHAPE,
        shape(0, 1, 1, 64, 1),
        shape(1, 2, 3, 20, 50),
        shape(5, 6, 9, 200, 1000),
        shape(12, 3, 22, 30, 7),
        shape(12, 6, 12, 18, 1 << 18),
        shape(11, 12, 22, 0, 1),
    ]
}

fn every_shape_finds_what_all_pairs_find<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(13);
    for k in 0..=COVERS {
        for (batch, others) in inputs::<F>(&mut random, k) {
            let expected = all_pairs(&batch, &others, k);
            for shape in shapes() {
                let conditioned = Conditioned::shaped(&batch, k, shape);
                assert_eq!(probed(&conditioned, &others), expected, "{shape:?} at {k}");
            }
        }
    }
}

#[test]
fn every_shape_is_exact() {
    every_shape_finds_what_all_pairs_find::<u64>();
    every_shape_finds_what_all_pairs_find::<u128>();
}

/// More candidates than are held at once, in one neighbourhood and in the last bits.
fn crowds<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(14);
    let centre = uniform::<F>(&mut random, 1)[0];
    let around = |random: &mut ChaCha8Rng, count: usize| {
        set((0..count).map(|i| off(random, centre, i % 6)).collect::<Vec<F>>())
    };
    let low = |count: u128| set((0..count).map(|i| centre ^ F::from_u128(i)));
    for (batch, others) in [
        (around(&mut random, 300), around(&mut random, 20_000)),
        (around(&mut random, 20_000), around(&mut random, 300)),
        (low(500), low(9000)),
        (low(9000), low(500)),
    ] {
        for (k, shape) in [(1, SHAPE), (3, SHAPE), (3, shapes()[4]), (5, SHAPE)] {
            let conditioned = Conditioned::shaped(&batch, k, shape);
            let found = probed(&conditioned, &others);
            assert!(found == all_pairs(&batch, &others, k), "{shape:?} at {k}");
        }
    }
}

#[test]
fn crowds_are_exact() {
    crowds::<u64>();
    crowds::<u128>();
}

#[test]
fn one_scratch_serves_windows_and_batches_in_turn() {
    let mut random = ChaCha8Rng::seed_from_u64(16);
    let dense = |f: u64| f >> 12;
    let store = set(uniform::<u64>(&mut random, 30_000).into_iter().map(dense));
    let batches = [0, 1].map(|_| {
        let near = store.iter().step_by(30).map(|&f| off(&mut random, f, 2)).collect::<Vec<u64>>();
        set(near)
    });
    let shape = Shape { shallowest: 30, ..SHAPE };
    let conditioned = [0, 1].map(|at| Conditioned::shaped(&batches[at], 3, shape));
    let mut scratch = Walk::default();
    let mut found = [Vec::new(), Vec::new()];
    for (number, window) in store.chunks(1000).enumerate() {
        for (conditioned, found) in conditioned.iter().zip(&mut found) {
            let first = 1000 * number as u32;
            conditioned.probe(&[window], &mut scratch, &mut |hit| {
                found.push(Hit { at: first + hit.at, ..hit });
            });
        }
    }
    for (batch, mut found) in batches.iter().zip(found) {
        found.sort_unstable();
        assert_eq!(found, all_pairs(batch, &store, 3));
    }
}

/// Many runs side by side and gathered, whose leaves lie at the bag's depth and below it.
fn many_runs<F: Fingerprint>() {
    let mut random = ChaCha8Rng::seed_from_u64(15);
    let mut dense = |count| uniform::<F>(&mut random, count).into_iter().map(|f| f >> 20);
    let batch = set(dense(600));
    let mut others = dense(100_000).collect::<Vec<F>>();
    let near = batch.iter().enumerate().map(|(at, &b)| off(&mut random, b, at % 5));
    others.extend(near.map(|f| f & F::MAX >> 20));
    let mut runs = vec![Vec::new(); 7];
    for (at, &fingerprint) in others.iter().enumerate() {
        runs[if at % 3 == 0 { 0 } else { at % 6 }].push(fingerprint);
    }
    runs.iter_mut().for_each(|run| run.sort_unstable());
    let runs: Vec<&[F]> = runs.iter().map(Vec::as_slice).collect();
    let expected = all_pairs_of_runs(&batch, &runs, 3);
    for (shallowest, side_by_side) in [(0, 9), (0, 0), (30, 0)] {
        let shape = Shape { shallowest, side_by_side, ..SHAPE };
        let conditioned = Conditioned::shaped(&batch, 3, shape);
        assert!(side_by_side > 0 || conditioned.depth(&runs) > 20);
        let mut scratch = Walk::default();
        assert_eq!(probed_runs(&conditioned, &runs, &mut scratch), expected, "{shape:?}");
        assert_eq!(scratch.bag.fingerprints.is_empty(), side_by_side > 0);
    }
}

#[test]
fn many_runs_are_one() {
    many_runs::<u64>();
    many_runs::<u128>();
}
