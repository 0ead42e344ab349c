//! What the model takes for which problem.

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::tables::distribution::Distribution;
use crate::tables::tests::{set, uniform};

const WIDTHS: [Width; 2] = [Width::W64, Width::W128];

fn problem(batch: u64, store: u64, k: u32, width: Width) -> Problem {
    Problem::uniform(batch, store, k, width, 1)
}

fn is_sorted(estimate: &Estimate) -> bool {
    matches!(estimate.design, Design::Masked(_))
}

fn plan(batch: u64, store: u64, k: u32, width: Width, memory_bytes: u64) -> Result<Plan> {
    choose(Design::Auto, &problem(batch, store, k, width), memory_bytes)
}

#[test]
fn there_is_a_plan_for_every_distance() {
    for (k, width) in (0..=15).flat_map(|k| WIDTHS.map(|width| (k, width))) {
        for batch in [0, 1, 1000, 1_000_000, u64::from(u32::MAX)] {
            let plan = plan(batch, 8_000_000_000, k, width, u64::MAX).unwrap();
            for chosen in [&plan.chosen, &plan.itself] {
                assert!(chosen.design.check(width, k).is_ok());
            }
            assert!(plan.alternatives.iter().all(|other| other.seconds >= plan.chosen.seconds));
        }
    }
    assert_eq!(plan(1, 1, 16, Width::W64, u64::MAX).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn a_dense_store_takes_the_conditioned_probe_and_a_batch_too_large_for_tables_is_sorted() {
    for (store, k, width, design) in [
        (8_000_000_000, 3, Width::W64, Design::Conditioned),
        (8_000_000_000, 3, Width::W128, Design::Conditioned),
        (8_000_000_000, 7, Width::W128, Design::MultiIndex),
        (10_000_000, 3, Width::W64, Design::MultiIndex),
    ] {
        let plan = plan(1_000_000, store, k, width, u64::MAX).unwrap();
        assert_eq!(plan.chosen.design, design, "{}", plan.why);
    }
    for width in WIDTHS {
        let large = plan(100_000_000, 100_000_000, 3, width, 1 << 30).unwrap();
        assert!(is_sorted(&large.chosen), "{}", large.why);
        let alone = plan(1_000_000, 0, 3, width, u64::MAX).unwrap();
        assert_eq!((is_sorted(&alone.chosen), alone.chosen.seconds), (true, 0.0));
    }
}

#[test]
fn what_is_asked_for_is_done() {
    let problem = problem(10_000_000, 100, 3, Width::W64);
    let plan = choose(Masked::Ten.into(), &problem, 1 << 20).unwrap();
    assert_eq!(plan.chosen.design, Masked::Ten.into());
    let alone = Problem { store: 0, ..problem.clone() };
    let itself = |asked| choose(asked, &alone, 1 << 30).unwrap().itself.design;
    assert_eq!(
        [Masked::Four, Masked::Twenty].map(Design::from).map(itself),
        [Masked::Four, Masked::Twenty].map(Design::from)
    );
    assert_eq!(itself(Design::Conditioned), plan.itself.design);
    let plan = choose(Design::Conditioned, &problem, 1 << 30).unwrap();
    assert_eq!(plan.chosen.design, Design::Conditioned);
    assert!(choose(Masked::Ten.into(), &Problem { k: 4, ..problem }, 1 << 30).is_err());
}

#[test]
fn every_worker_takes_its_memory() {
    let problem = problem(1_000_000, 8_000_000_000, 3, Width::W64);
    let memory = |workers| {
        let problem = Problem { workers, ..problem.clone() };
        choose(Design::Conditioned, &problem, u64::MAX).unwrap().chosen.memory_bytes
    };
    assert_eq!(memory(3) - memory(2), memory(2) - memory(1));
    assert!(memory(16) > 8 * memory(1));
}

#[test]
fn of_masks_a_million_against_eight_thousand_million_takes_the_papers_ten_tables() {
    let cheapest = |width| {
        let plan = plan(1_000_000, 8_000_000_000, 3, width, u64::MAX).unwrap();
        let mut others = plan.alternatives.iter();
        let cheapest = others.find(|other| other.design.masks(width, 3).is_ok()).unwrap();
        cheapest.design
    };
    assert_eq!(WIDTHS.map(cheapest), [Masked::Ten.into(), Masked::Four.into()]);
}

#[test]
fn seven_bits_of_64_are_left_to_vectors_for_the_store_and_for_the_batch() {
    for store in [10_000_000, 100_000_000, 1_000_000_000] {
        for k in [7, 10] {
            let plan = plan(1_000_000, store, k, Width::W64, 1 << 30).unwrap();
            assert_eq!(plan.chosen.design, Design::MultiIndex, "{}", plan.why);
            assert_eq!(plan.itself.design, Design::MultiIndex, "{}", plan.why);
        }
    }
    let large = plan(20_000_000, 1, 7, Width::W64, u64::MAX).unwrap();
    assert!(is_sorted(&large.itself), "{}", large.why);
    let alone = problem(20_000_000, 0, 7, Width::W64);
    let asked = choose(Design::MultiIndex, &alone, u64::MAX).unwrap();
    assert_eq!(asked.itself.design, Design::MultiIndex);
    let other = choose(Design::Conditioned, &Problem { k: 3, ..alone.clone() }, u64::MAX).unwrap();
    assert!(is_sorted(&other.itself), "{}", other.why);
}

/// A batch of a million and a store, of which samples have this shape.
fn shaped(store: u64, k: u32, shapes: [fn(u64) -> u64; 2]) -> Problem {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let [batch, some] =
        shapes.map(|shape| set(uniform::<u64>(&mut random, 20_000).into_iter().map(shape)));
    let distribution = Distribution::of(&batch, &some);
    Problem { distribution, ..problem(1_000_000, store, k, Width::W64) }
}

#[test]
fn a_crowded_batch_is_left_to_designs_that_divide_crowds() {
    let uniform = problem(1_000_000, 1_000_000, 7, Width::W64);
    let crowded = shaped(1_000_000, 7, [|fingerprint| fingerprint & !(0xffff << 16); 2]);
    let itself = |problem| choose(Design::Auto, &problem, 1 << 30).unwrap().itself;
    assert_eq!(itself(uniform).design, Design::MultiIndex);
    assert!(is_sorted(&itself(crowded)));
}

#[test]
fn many_workers_take_smaller_windows_and_not_more_memory() {
    let at = |workers| {
        let problem = Problem { workers, ..problem(1_000_000, 1_000_000_000, 7, Width::W64) };
        choose(Design::MultiIndex, &problem, u64::MAX).unwrap().chosen
    };
    assert!(at(16).window < at(1).window);
    assert!(at(64).memory_bytes <= at(2).memory_bytes);
}

#[test]
fn the_vectors_take_the_memory_they_say() {
    use crate::tables::ArrangedBatch;
    let batch: Arc<[u64]> = (0..20_000).map(|i| i * (u64::MAX / 20_000)).collect();
    let count = batch.len() as u64;
    let problem = Problem { workers: 0, ..problem(count, 1, 3, Width::W64) };
    let said = choose(Design::MultiIndex, &problem, u64::MAX).unwrap().chosen.memory_bytes;
    let taken = ArrangedBatch::build(&batch, Design::MultiIndex, 3, 1).unwrap().memory_bytes();
    assert!(taken.abs_diff(said) < 1 << 12, "{taken} {said}");
}

#[test]
fn less_memory_takes_less_until_none_is_left() {
    let free = plan(1_000_000, 8_000_000_000, 9, Width::W64, u64::MAX).unwrap();
    let tight = plan(1_000_000, 8_000_000_000, 9, Width::W64, free.chosen.memory_bytes - 1);
    assert!(tight.unwrap().chosen.memory_bytes < free.chosen.memory_bytes);
    let small = plan(1000, 100_000_000, 3, Width::W64, 400 << 10).unwrap();
    assert!(is_sorted(&small.chosen) && small.chosen.window < Some(1 << 14), "{}", small.why);
    let error = plan(1_000_000, 8_000_000_000, 5, Width::W64, 1 << 20).unwrap_err();
    assert!(error.to_string().contains("allow more memory"), "{error}");
}

#[test]
fn a_slice_of_the_key_space_is_left_to_the_prefix() {
    let whole = |fingerprint| fingerprint;
    let slice = |fingerprint| fingerprint >> 6;
    for batch in [slice, whole] {
        let problem = shaped(100_000_000, 3, [batch, slice]);
        let plan = choose(Design::Auto, &problem, u64::MAX).unwrap();
        assert_eq!(plan.chosen.design, Design::Conditioned, "{}", plan.why);
    }
}
