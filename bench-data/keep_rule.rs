//! The keep rule by one pass over sorted pairs, as `matches/keep_rule.rs` does it, beside the same rule as a fixed point in
//! differential dataflow:
//!
//! ```text
//! cargo bench --bench keep_rule -- [--pages 1e6] [--near 4] [--chain 100] [--workers 2]
//! ```
//!
//! Half of the pages are near `near` random pages before them, the others stand in chains of `chain` pages, each near the one before.

#[path = "../tests/oracle/fixed_point.rs"]
mod fixed_point;

use std::collections::BTreeSet;
use std::env;
use std::time::Instant;

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

fn main() {
    let words: Vec<String> = env::args().collect();
    let number = |name: &str, default: f64| {
        let at = words.iter().position(|word| word == name);
        at.map_or(default, |at| words[at + 1].parse().expect("a number"))
    };
    let is_test = words.iter().any(|word| word == "--test");
    let pages = if is_test { 1e3 } else { number("--pages", 1e6) } as u32;
    let (near, chain) = (number("--near", 4.0) as u32, number("--chain", 100.0) as u32);
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let mut pairs = Vec::new();
    for page in 1..pages {
        if page >= pages / 2 {
            pairs.extend((!page.is_multiple_of(chain)).then_some((page, page - 1)));
        } else {
            pairs.extend((0..near).map(|_| (page, random.random_range(0..page))));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    println!("{pages} pages, {} pairs, chains of {chain}", pairs.len());
    let began = Instant::now();
    let expected = one_pass(pages, &pairs);
    println!(
        "{:>24}: {:8.3} s, {} dropped",
        "one pass",
        began.elapsed().as_secs_f64(),
        expected.len()
    );
    for workers in 1..=number("--workers", 2.0) as usize {
        let began = Instant::now();
        let found = fixed_point::dropped(&pairs, workers);
        let name = format!("fixed point, {workers} workers");
        println!("{name:>24}: {:8.3} s, {} dropped", began.elapsed().as_secs_f64(), found.len());
        assert_eq!(found, expected, "two definitions of one rule");
    }
}

fn one_pass(pages: u32, pairs: &[(u32, u32)]) -> BTreeSet<u32> {
    let mut is_dropped = vec![false; pages as usize];
    for &(later, earlier) in pairs {
        is_dropped[later as usize] |= !is_dropped[earlier as usize];
    }
    (0..pages).filter(|&page| is_dropped[page as usize]).collect()
}
