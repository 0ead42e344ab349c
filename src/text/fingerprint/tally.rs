//! A tally: the features of one text, where a weight depends on how often its feature occurs, or on the other weights.

use std::cmp::Reverse;
use std::hash::Hash;

use crate::features::by_hash::{self, ByHash};
use crate::features::text_rank::ranks;
use crate::features::{ONE, SCALE_BITS, frequency};
use crate::fingerprint::recipe::{Keywords, Weights};

#[derive(Clone, Debug)]
pub(super) struct Tally<F> {
    weights: Weights,
    keywords: Option<Keywords>,
    /// How often each feature occurs, and what one occurrence weighs.
    occurrences: ByHash<F, (u64, i64)>,
    /// The features in their order, where that decides the weights.
    sequence: Vec<F>,
    weighed: Vec<(F, i64)>,
}

impl<F: Copy + Ord + Hash> Tally<F> {
    /// No features yet; of those that come the heaviest will stay, as many as `keywords` says, or all.
    pub(super) fn new(weights: Weights, keywords: Option<Keywords>) -> Tally<F> {
        let occurrences = ByHash::default();
        let sequence = Vec::new();
        Tally { weights, keywords, occurrences, sequence, weighed: Vec::new() }
    }

    /// Takes an occurrence of a feature; `weight` says what each of them weighs, and is asked at the first.
    #[inline]
    pub(super) fn push(&mut self, hash: F, weight: impl FnOnce() -> i64) {
        if self.weights == Weights::TextRank {
            self.sequence.push(hash);
        }
        let (count, _) = self.occurrences.entry(hash).or_insert_with(|| (0, weight()));
        *count += 1;
    }

    /// The features with their weights, each once, in no order; the tally is empty afterwards.
    pub(super) fn weigh(&mut self) -> &mut Vec<(F, i64)> {
        let Tally { weights, occurrences, sequence, weighed, .. } = self;
        weighed.clear();
        match weights {
            Weights::TextRank => {
                weighed.extend(ranks(sequence.drain(..)).into_iter().map(|(hash, rank)| {
                    let (_, each) = occurrences[&hash];
                    (hash, times(rank, each))
                }))
            }
            _ => weighed.extend(
                occurrences
                    .iter()
                    .map(|(&hash, &(count, each))| (hash, weigh(*weights, count, each))),
            ),
        }
        by_hash::clear(occurrences);
        if let Some(keywords) = self.keywords {
            let most = keywords.of(weighed.len());
            if most < weighed.len() {
                // Of equal ones those of lower hash are kept.
                weighed.select_nth_unstable_by_key(most, |&(hash, weight)| (Reverse(weight), hash));
                weighed.truncate(most);
            }
        }
        weighed
    }
}

fn weigh(weights: Weights, count: u64, each: i64) -> i64 {
    match weights {
        Weights::Tf | Weights::TfIdf | Weights::Speech => {
            each.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX))
        }
        Weights::Uniform | Weights::TextRank => each,
        Weights::RaisedTf => times(frequency::raised(count), each),
    }
}

#[inline]
fn times(one: i64, another: i64) -> i64 {
    match another {
        ONE => one,
        _ => ((i128::from(one) * i128::from(another)) >> SCALE_BITS) as i64,
    }
}

/// Whether features are effectively fewer than `below`: the squared sum of their weights over that of the squares.
pub(super) fn is_short<F>(weighed: &[(F, i64)], below: usize) -> bool {
    // In 2^-10, so that neither side overflows.
    let weight = |&(_, weight): &(F, i64)| u128::from((weight >> (SCALE_BITS / 2)).unsigned_abs());
    let sum = weighed.iter().map(weight).sum::<u128>();
    let squares = weighed.iter().map(|it| weight(it).pow(2)).fold(0, u128::saturating_add);
    sum.saturating_mul(sum) < squares.saturating_mul(below as u128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Weighed = Vec<(u64, i64)>;

    fn tally(weights: Weights, keywords: Option<Keywords>, features: &[(u64, i64)]) -> Weighed {
        let mut tally = Tally::new(weights, keywords);
        let mut found = Vec::new();
        for _ in 0..2 {
            features.iter().for_each(|&(hash, weight)| tally.push(hash, || weight));
            found = tally.weigh().clone();
            found.sort();
        }
        found
    }

    #[test]
    fn the_effective_number_of_equal_weights_is_their_number() {
        let equal = [((), 3 * ONE); 50];
        assert!(is_short(&equal, 51) && !is_short(&equal, 50) && is_short(&equal[1..], 50));
        let one = [((), 1000 * ONE), ((), ONE)];
        assert!(is_short(&one, 2) && !is_short(&one, 1));
        assert!(!is_short::<()>(&[], 50) && is_short(&[((), i64::MAX), ((), ONE)], 2));
    }

    proptest! {
        #[test]
        fn equals_its_definition(
            hashes in prop::collection::vec(0..20_u64, 0..60),
            keywords in prop::option::of(1..25_usize),
            each in 0..3 * ONE,
        ) {
            for weights in [Weights::Uniform, Weights::Tf, Weights::RaisedTf] {
                let mut counts = BTreeMap::new();
                hashes.iter().for_each(|&hash| *counts.entry(hash).or_insert(0_u64) += 1);
                let mut expected: Weighed = counts
                    .iter()
                    .map(|(&hash, &count)| (hash, weigh(weights, count, each)))
                    .collect();
                expected.sort_by_key(|&(hash, weight)| (-weight, hash));
                expected.truncate(keywords.unwrap_or(usize::MAX));
                expected.sort();
                let features: Weighed = hashes.iter().map(|&hash| (hash, each)).collect();
                prop_assert_eq!(tally(weights, keywords.map(Keywords::Fixed), &features), expected);
            }
        }
    }
}
