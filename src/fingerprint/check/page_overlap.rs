//! The overlap of pages of every length: of full texts in runs of three words, of short ones in weighted runs
//! of one and two.
//!
//! A full text has the signature of [`WordOverlap`]. A short one is a set of [weighted runs](WeightedRuns), in
//! which a run of weight w is w elements. So the MinHash estimates the weighted Jaccard similarity, the sum of
//! the lesser weights over that of the greater ones (Haeupler, Manasse and Talwar, "Consistent Weighted
//! Sampling Made Fast, Small, and Easy", 2014), and the size is the sum of the weights. The measure is the
//! same for both, and one least value of it suits both. The class of the text is the lowest bit of the first
//! slot, so that texts of two classes are told apart.

use super::maker::{Maker, NORMALISE, Signing};
use super::word_overlap::{self, HEAD_BYTES, WordOverlap, size_code};
use crate::features::SCALE_BITS;
use crate::features::by_hash::{self, ByHash};
use crate::features::normalise::{Markup, Normalise};
use crate::features::weighted_runs::WeightedRuns;
use crate::fingerprint::Class;
use crate::fingerprint::class::SHORT_WORDS;
use crate::fingerprint::minhash::{MinHash, Permutations, mixed};
use crate::fingerprint::page_time::PageClock;

/// How short texts are normalised. A number in a title is part of what it says.
const NORMALISE_SHORT: Normalise = Normalise { markup: Markup::Drop, ..NORMALISE };

/// The weight of one element. The square of an inverse document frequency is at most 193, so a run has at
/// most twelve. Finer elements judge titles no better, and coarser ones judge them worse.
const ELEMENT: i64 = 16 << SCALE_BITS;

/// Makes signatures of texts by their class.
#[derive(Debug)]
pub(super) struct PageOverlap {
    full: WordOverlap,
    short: MinHash,
    runs: WeightedRuns,
    /// How many elements each run has.
    elements: ByHash<u64, u64>,
}

impl PageOverlap {
    /// Signatures of `slots` slots of `bits` bits.
    pub(super) fn new(slots: usize, bits: u32) -> PageOverlap {
        PageOverlap {
            full: WordOverlap::new(slots, bits),
            short: MinHash::new(Permutations::One, slots, bits),
            runs: WeightedRuns::new(),
            elements: ByHash::default(),
        }
    }

    /// Appends the signature of a short text.
    fn sign_short(&mut self, prepared: &str, clock: &mut PageClock, signature: &mut Vec<u8>) {
        let PageOverlap { short, runs, elements, .. } = self;
        runs.each(prepared, |run, weight| {
            if clock.step() {
                let most = elements.entry(run).or_default();
                *most = (*most).max(((weight + ELEMENT / 2) / ELEMENT).max(1) as u64);
            }
        });
        for (&run, &count) in elements.iter() {
            (0..count).for_each(|element| short.add(mixed(run, element)));
        }
        signature.push(size_code(elements.values().sum()));
        short.finish(signature);
        by_hash::clear(elements);
    }
}

impl Maker for PageOverlap {
    fn sign(&mut self, text: &str, Signing { clock, normal, signature }: Signing<'_, '_>) {
        let start = signature.len();
        let class = Class::of(text, SHORT_WORDS);
        match class {
            Class::Full => {
                self.full.sign(text, Signing { clock, normal, signature: &mut *signature })
            }
            Class::Short => {
                self.sign_short(normal.page(&NORMALISE_SHORT, text), clock, signature);
            }
        }
        if signature[start] > 0 {
            let slot = &mut signature[start + HEAD_BYTES];
            *slot = *slot & !1 | class as u8;
        }
    }
}

/// The similarity by [`word_overlap`] of two texts of one class; 0 for texts of two classes.
pub(super) fn similarity(one: &[u8], another: &[u8], bits: u32) -> f64 {
    match [one, another].map(|signature| signature[HEAD_BYTES] & 1) {
        [class, other] if class == other => word_overlap::similarity(one, another, bits),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fingerprint::check::Check;

    fn similarity_of(name: &str, texts: [&str; 2]) -> f64 {
        let check: Check = name.parse().unwrap();
        let mut signer = check.signer();
        let [one, another] = texts.map(|text| {
            let mut signature = Vec::new();
            signer.sign(text, &mut signature).unwrap();
            signature
        });
        check.similarity(&one, &another)
    }

    /// The definition: sets of runs with their exact weights.
    fn naive(texts: [&str; 2]) -> f64 {
        let [one, another] = texts.map(|text| {
            let mut weights = BTreeMap::new();
            WeightedRuns::new().each(text, |run, weight| {
                let most: &mut i64 = weights.entry(run).or_default();
                *most = weight.max(*most);
            });
            weights
        });
        let sum = |of: &BTreeMap<u64, i64>| of.values().sum::<i64>() as f64;
        let lesser = |(run, &weight): (_, &i64)| weight.min(another.get(run).copied().unwrap_or(0));
        let common = one.iter().map(lesser).sum::<i64>() as f64;
        let [one, another] = [sum(&one), sum(&another)];
        (common / (one + another - common) * common / one.min(another)).sqrt()
    }

    #[test]
    fn short_texts_are_alike_as_their_weighted_runs_are() {
        for texts in [
            [
                "why is the harbour master counting ships",
                "why is the harbour master counting boats",
            ],
            ["why is the harbour master counting ships", "the harbour master is counting"],
            ["如何看待比亚迪一月新能源汽车销量？", "怎么看待比亚迪刚刚发布的销量"],
            ["如何看待比亚迪一月新能源汽车销量？", "比亚迪的新能源汽车"],
            ["two ships", "teacher praises pupils"],
        ] {
            let found = similarity_of("page-overlap-1020x8", texts);
            assert!((found - naive(texts)).abs() < 0.08, "{texts:?}: {found} {}", naive(texts));
            assert_eq!(similarity_of("page-overlap", [texts[0]; 2]), 1.0);
        }
        assert_eq!(similarity_of("page-overlap", ["iPhone 15", "iPhone　１５"]), 1.0);
        assert!(similarity_of("page-overlap", ["iPhone 15", "iPhone 14"]) < 0.9);
    }

    #[test]
    fn full_texts_are_compared_by_words_and_never_with_short_ones() {
        let text = |words: usize| -> String {
            (0..words).map(|at| format!("w{} ", "x".repeat(at * 7 % 131))).collect()
        };
        let [short, full, longer] = [SHORT_WORDS - 1, SHORT_WORDS, SHORT_WORDS + 20].map(text);
        assert_eq!(similarity_of("page-overlap", [&short, &full]), 0.0);
        assert!(similarity_of("page-overlap", [&short, short.trim_start_matches("w ")]) > 0.9);
        let [by_pages, by_words] =
            ["page-overlap", "word-overlap"].map(|name| similarity_of(name, [&full, &longer]));
        assert!(by_pages > 0.8 && (by_pages - by_words).abs() < 0.02, "{by_pages} {by_words}");
        for empty in ["", "?!"] {
            assert_eq!(similarity_of("page-overlap", [empty, empty]), 0.0);
            assert_eq!(similarity_of("page-overlap", [empty, &short]), 0.0);
        }
    }
}
