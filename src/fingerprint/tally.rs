//! A tally: the features of one text with the weight of each, where a weight depends on how often
//! its feature occurs, or on the weights of the others.

use std::cmp::Reverse;

use crate::features::{ONE, frequency};
use crate::fingerprint::recipe::Weights;

/// The occurrences of a text's features, by their hashes.
#[derive(Clone, Debug)]
pub(super) struct Tally<F> {
    weights: Weights,
    keywords: Option<usize>,
    /// Hashes with the weight of the occurrence, later of all its occurrences.
    weighed: Vec<(F, i64)>,
}

impl<F: Copy + Ord> Tally<F> {
    /// No features yet; of those that come the `keywords` heaviest will stay, or all.
    pub(super) fn new(weights: Weights, keywords: Option<usize>) -> Tally<F> {
        Tally { weights, keywords, weighed: Vec::new() }
    }

    /// Takes an occurrence of a feature, and what it weighs where each occurrence counts.
    #[inline]
    pub(super) fn push(&mut self, hash: F, weight: i64) {
        self.weighed.push((hash, weight));
    }

    /// The features with their weights, each once; the tally is empty when they are dropped.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (F, i64)> + '_ {
        self.weighed.sort_unstable_by_key(|&(hash, _)| hash);
        self.merge();
        if let Some(keywords) = self.keywords.filter(|&most| most < self.weighed.len()) {
            let order = |&(hash, weight): &(F, i64)| (Reverse(weight), hash);
            self.weighed.select_nth_unstable_by_key(keywords, order);
            self.weighed.truncate(keywords);
        }
        self.weighed.drain(..)
    }

    /// Puts one entry for each run of equal hashes.
    fn merge(&mut self) {
        let (mut from, mut to) = (0, 0);
        while from < self.weighed.len() {
            let hash = self.weighed[from].0;
            let run = self.weighed[from..].iter().take_while(|next| next.0 == hash);
            let (count, sum) = run.fold((0, 0_i64), |(count, sum), &(_, weight)| {
                (count + 1, sum.saturating_add(weight))
            });
            self.weighed[to] = (hash, weigh(self.weights, count, sum));
            (from, to) = (from + count as usize, to + 1);
        }
        self.weighed.truncate(to);
    }
}

/// What a feature weighs that occurs `count` times, when its occurrences weigh `sum`.
fn weigh(weights: Weights, count: u64, sum: i64) -> i64 {
    match weights {
        Weights::Uniform => ONE,
        Weights::Tf | Weights::TfIdf => sum,
        Weights::LogTf => frequency::log(count),
        Weights::SqrtTf => frequency::sqrt(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn equals_its_definition(
            hashes in prop::collection::vec(0..20_u64, 0..60),
            keywords in prop::option::of(1..25_usize),
        ) {
            let weights = [Weights::Uniform, Weights::Tf, Weights::LogTf, Weights::SqrtTf];
            for weights in weights {
                let mut counts = BTreeMap::new();
                hashes.iter().for_each(|&hash| *counts.entry(hash).or_insert(0_u64) += 1);
                let mut expected: Vec<(u64, i64)> = counts
                    .iter()
                    .map(|(&hash, &count)| (hash, weigh(weights, count, count as i64 * ONE)))
                    .collect();
                expected.sort_by_key(|&(hash, weight)| (-weight, hash));
                expected.truncate(keywords.unwrap_or(usize::MAX));
                expected.sort();

                let mut tally = Tally::new(weights, keywords);
                for _ in 0..2 {
                    hashes.iter().for_each(|&hash| tally.push(hash, ONE));
                    let mut found: Vec<(u64, i64)> = tally.drain().collect();
                    found.sort();
                    prop_assert_eq!(&found, &expected);
                }
            }
        }
    }
}
