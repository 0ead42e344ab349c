//! Anchors of passages: a sample of the runs of words of a page, by which pages that share a passage find each other.
//!
//! Of every 41 consecutive runs of ten words the one with the least hash is an anchor (winnowing; Schleimer, Wilkerson and Aiken 2003). A stretch of
//! 50 words has 41 runs, so two pages that share one share an anchor, wherever it stands in each:
//!
//! ```text
//! hashes of runs    7 3 9 | 8 5 6 4 | 1 ...       the least of each four: 3, 3, 5, 4, 4, 1
//! ```

use std::collections::VecDeque;

use crate::tables::keys::{KEY_BYTES, key_of};

/// The least words of a passage that is sure to have an anchor.
pub const LEAST_WORDS: usize = RUN + RUNS - 1;

const RUN: usize = 10;

/// Of so many consecutive runs one is an anchor.
const RUNS: usize = 41;

/// The anchors of a page with these words, ascending, each once, in [`KEY_BYTES`] each, the lowest first.
pub fn anchors_of(words: &[u32]) -> Vec<u8> {
    let mut anchors: Vec<u64> = Vec::new();
    // The runs that may still be the least of their 41: their numbers and hashes, ascending in both.
    let mut least: VecDeque<(usize, u64)> = VecDeque::new();
    for (at, hash) in hashes_of_runs(words).enumerate() {
        while least.back().is_some_and(|&(_, last)| last >= hash) {
            least.pop_back();
        }
        least.push_back((at, hash));
        if at + 1 < RUNS {
            continue;
        }
        if least[0].0 + RUNS <= at {
            least.pop_front();
        }
        let (_, anchor) = least[0];
        if anchors.last() != Some(&anchor) {
            anchors.push(anchor);
        }
    }
    anchors.sort_unstable();
    anchors.dedup();
    anchors.iter().flat_map(|anchor| anchor.to_le_bytes().into_iter().take(KEY_BYTES)).collect()
}

/// How many anchors a page of so many different words has, on average: of runs in random order, the least of 41 changes twice in 42 steps.
pub(super) fn mean_anchors(words: f64) -> f64 {
    let later = words - LEAST_WORDS as f64;
    if later < 0.0 { 0.0 } else { 1.0 + later * 2.0 / (RUNS + 1) as f64 }
}

pub(crate) fn each_anchor(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(key_of)
}

/// The hashes of runs, as long as an anchor.
fn hashes_of_runs(words: &[u32]) -> impl Iterator<Item = u64> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let leaving = (0..RUN).fold(1, |power: u64, _| power.wrapping_mul(BASE));
    let mut sum = 0_u64;
    (0..words.len()).filter_map(move |at| {
        sum = sum.wrapping_mul(BASE).wrapping_add(mixed(words[at].into()));
        if at >= RUN {
            sum = sum.wrapping_sub(leaving.wrapping_mul(mixed(words[at - RUN].into())));
        }
        (at + 1 >= RUN).then(|| mixed(sum) >> (64 - 8 * KEY_BYTES))
    })
}

/// Mixes all bits (the finalizer of SplitMix64).
fn mixed(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn anchors(words: &[u32]) -> BTreeSet<u64> {
        each_anchor(&anchors_of(words)).collect()
    }

    proptest! {
        /// The definition: the least of each 41 hashes.
        #[test]
        fn anchors_are_the_least_of_their_runs(words in prop::collection::vec(0..6_u32, 0..300)) {
            let hashes: Vec<u64> = words.windows(RUN).map(|run| hashes_of_runs(run).next().unwrap()).collect();
            let least = hashes.windows(RUNS).map(|runs| *runs.iter().min().unwrap());
            prop_assert_eq!(anchors(&words), least.collect());
        }
    }

    #[test]
    fn periodic_pages_have_few_anchors() {
        assert_eq!(anchors(&[7; 100_000]).len(), 1);
        let periodic: Vec<u32> = (0..100_000).map(|at| at % 3).collect();
        assert_eq!(anchors(&periodic).len(), 1);
        assert!(anchors(&[7; LEAST_WORDS - 1]).is_empty());
    }
}
