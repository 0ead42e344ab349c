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

fn kind(estimate: &Estimate) -> String {
    match estimate.design {
        Design::Masked(_) => "sorted".to_owned(),
        design => design.to_string(),
    }
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

/// A batch of a million and a store, of which samples have this shape.
fn shaped(store: u64, k: u32, shapes: [fn(u64) -> u64; 2]) -> Problem {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let [batch, some] =
        shapes.map(|shape| set(uniform::<u64>(&mut random, 20_000).into_iter().map(shape)));
    let distribution = Distribution::of(&batch, &some);
    Problem { distribution, ..problem(1_000_000, store, k, Width::W64) }
}

/// With the store, and with itself where that is named.
#[test]
fn the_cheapest_design_is_taken() {
    let [whole, slice, crowd]: [fn(u64) -> u64; 3] =
        [|bits| bits, |bits| bits >> 6, |bits| bits & !(0xffff << 16)];
    const MILLION: u64 = 1_000_000;
    let millions = |batch, store, k, width| problem(batch * MILLION, store * MILLION, k, width);
    for (problem, memory, chosen, itself) in [
        (millions(1, 8000, 3, Width::W64), u64::MAX, "conditioned", ""),
        (millions(1, 8000, 3, Width::W128), u64::MAX, "conditioned", ""),
        (millions(1, 8000, 7, Width::W128), u64::MAX, "multi-index", ""),
        (millions(1, 10, 3, Width::W64), u64::MAX, "multi-index", ""),
        (millions(100, 100, 3, Width::W64), 1 << 30, "sorted", ""),
        (millions(100, 100, 3, Width::W128), 1 << 30, "sorted", ""),
        (millions(1, 0, 3, Width::W64), 1 << 30, "sorted", ""),
        (millions(1, 10, 7, Width::W64), 1 << 30, "multi-index", "multi-index"),
        (millions(1, 1000, 10, Width::W64), 1 << 30, "multi-index", "multi-index"),
        (problem(20 * MILLION, 1, 7, Width::W64), u64::MAX, "", "sorted"),
        (millions(1, 1, 7, Width::W64), 1 << 30, "", "multi-index"),
        (shaped(MILLION, 7, [crowd, crowd]), 1 << 30, "", "sorted"),
        (shaped(100 * MILLION, 3, [slice, slice]), u64::MAX, "conditioned", ""),
        (shaped(100 * MILLION, 3, [whole, slice]), u64::MAX, "conditioned", ""),
    ] {
        let plan = choose(Design::Auto, &problem, memory).unwrap();
        for (found, expected) in [(&plan.chosen, chosen), (&plan.itself, itself)] {
            assert!(kind(found).starts_with(expected), "{problem:?}: {}", plan.why);
        }
        assert!(problem.store > 0 || plan.chosen.seconds == 0.0);
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
    let alone = Problem { k: 7, ..alone };
    let asked = choose(Design::MultiIndex, &alone, u64::MAX).unwrap();
    assert_eq!(asked.itself.design, Design::MultiIndex);
}

#[test]
fn every_worker_takes_memory_or_a_smaller_window() {
    let chosen = |design, store, k, workers| {
        let problem = Problem { workers, ..problem(1_000_000, store, k, Width::W64) };
        choose(design, &problem, u64::MAX).unwrap().chosen
    };
    let memory = |workers| chosen(Design::Conditioned, 8_000_000_000, 3, workers).memory_bytes;
    assert_eq!(memory(3) - memory(2), memory(2) - memory(1));
    assert!(memory(16) > 8 * memory(1));
    let vectors = |workers| chosen(Design::MultiIndex, 1_000_000_000, 7, workers);
    assert!(vectors(16).window < vectors(1).window);
    assert!(vectors(64).memory_bytes <= vectors(2).memory_bytes);
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
    assert_eq!(kind(&small.chosen), "sorted", "{}", small.why);
    assert!(small.chosen.window < Some(1 << 14));
    let error = plan(1_000_000, 8_000_000_000, 5, Width::W64, 1 << 20).unwrap_err();
    assert!(error.to_string().contains("allow more memory"), "{error}");
}
