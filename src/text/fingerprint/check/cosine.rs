//! The cosine of the angle between the counts of two texts' features.
//!
//! Of a short text no bits can be spared: all its features are kept, each with the number of its
//! occurrences, and two texts are compared exactly, as in the vector space model of Salton, Wong and
//! Yang (A Vector SortSpace Model for Automatic Indexing, CACM 1975). Of a longer one the most frequent
//! are kept. A hash has 24 bits, so that a feature takes four bytes.

use std::cmp::Reverse;

use super::maker::{Maker, Signing};
use super::points::Word;
use crate::features::by_hash::{self, ByHash};
use crate::fingerprint::shingle_set::merge;

/// The bytes that one feature takes: its hash, three bytes, and its count, which 255 bounds.
pub(super) const FEATURE_BYTES: usize = 4;

const SHINGLE: usize = 2;

const HASH_BITS: u32 = 24;

#[derive(Clone, Debug)]
pub(super) struct Cosine {
    features: usize,
    counts: ByHash<u32, u32>,
}

impl Cosine {
    pub(super) fn new(features: usize) -> Cosine {
        Cosine { features, counts: ByHash::default() }
    }

    fn add(&mut self, hash: u64) {
        let count = self.counts.entry((hash >> (u64::BITS - HASH_BITS)) as u32).or_default();
        *count = count.saturating_add(1);
    }

    /// Appends the signature of what was taken, and forgets it: features by their hashes, ascending, then zeros.
    fn finish(&mut self, signature: &mut Vec<u8>) {
        let mut counted: Vec<(u32, u32)> = self.counts.iter().map(|(&it, &n)| (it, n)).collect();
        by_hash::clear(&mut self.counts);
        counted.sort_unstable_by_key(|&(hash, count)| (Reverse(count), hash));
        counted.truncate(self.features);
        counted.sort_unstable();
        let wanting = self.features - counted.len();
        for (hash, count) in counted {
            signature.extend(((hash << 8) | count.min(255)).to_be_bytes());
        }
        signature.resize(signature.len() + wanting * FEATURE_BYTES, 0);
    }
}

impl Maker for Cosine {
    fn sign(&mut self, text: &str, mut signing: Signing<'_>) {
        signing.each_run(text, SHINGLE, |hash| self.add(hash));
        self.finish(signing.signature);
    }
}

/// The cosine of two signatures: 1 for texts with the same features in the same proportion, 0 for those
/// with none in common. Two texts without features are alike.
pub(super) fn similarity(one: &[u8], another: &[u8]) -> f64 {
    let [one, another] = [one, another].map(features);
    let hash = |word: &Word| u32::from_be_bytes(*word) >> 8;
    let count = |word: &Word| u64::from(word[3]);
    let mut product = 0;
    merge(one, another, hash, |one, another| product += count(one) * count(another));
    let squares = |words: &[Word]| words.iter().map(|it| count(it) * count(it)).sum::<u64>();
    match [squares(one), squares(another)] {
        [0, 0] => 1.0,
        [0, _] | [_, 0] => 0.0,
        // Sums of integers: exact until here, in whatever order.
        [one, another] => product as f64 / ((one as f64) * (another as f64)).sqrt(),
    }
}

/// The features of a signature, without the zeros behind them.
fn features(signature: &[u8]) -> &[Word] {
    let words = signature.as_chunks().0;
    &words[..words.iter().position(|word| *word == Word::default()).unwrap_or(words.len())]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn signature(hashes: &[u32], features: usize) -> Vec<u8> {
        let mut cosine = Cosine::new(features);
        hashes.iter().for_each(|&hash| cosine.add(u64::from(hash) << 40));
        let mut signature = Vec::new();
        cosine.finish(&mut signature);
        assert!(cosine.counts.is_empty());
        signature
    }

    fn naive(one: &[u32], another: &[u32]) -> f64 {
        let counts = |hashes: &[u32]| {
            let mut counts = BTreeMap::new();
            hashes.iter().for_each(|&hash| *counts.entry(hash).or_insert(0.0) += 1.0);
            counts
        };
        let [one, another]: [BTreeMap<u32, f64>; 2] = [one, another].map(counts);
        let length = |of: &BTreeMap<u32, f64>| of.values().map(|it| it * it).sum::<f64>().sqrt();
        let product: f64 =
            one.iter().map(|(hash, it)| it * another.get(hash).unwrap_or(&0.0)).sum();
        match (one.len(), another.len()) {
            (0, 0) => 1.0,
            (0, _) | (_, 0) => 0.0,
            _ => product / (length(&one) * length(&another)),
        }
    }

    proptest! {
        #[test]
        fn equals_the_definition(
            one in prop::collection::vec(1..12_u32, 0..30),
            another in prop::collection::vec(1..12_u32, 0..30),
        ) {
            let found = similarity(&signature(&one, 12), &signature(&another, 12));
            prop_assert!((found - naive(&one, &another)).abs() < 1e-12);
            prop_assert_eq!(found, similarity(&signature(&another, 12), &signature(&one, 12)));
        }
    }

    /// Signatures are kept in stores: these bytes never change.
    #[test]
    fn the_most_frequent_features_are_kept_and_of_equals_the_least() {
        assert_eq!(signature(&[7, 9, 8, 9], 2), [0, 0, 7, 1, 0, 0, 9, 2]);
        assert_eq!(signature(&[3; 300], 2), [0, 0, 3, 255, 0, 0, 0, 0]);
        assert_eq!(signature(&[0, 0xab_cdef, 0], 2), [0, 0, 0, 2, 0xab, 0xcd, 0xef, 1]);
    }
}
