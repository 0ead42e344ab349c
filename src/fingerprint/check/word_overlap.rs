//! How much the runs of three words of two texts overlap: the mean of their Jaccard similarity and of their
//! containment.
//!
//! The Jaccard similarity of a page and its version with half a page more is low, though the one is all in
//! the other. Containment, the share of the shorter text that stands in the longer one (Broder, "On the
//! resemblance and containment of documents", SEQUENCES 1997), is 1 then, but it is as well for a short
//! notice within a long page. The geometric mean of both is between them, and one least value of it suits
//! more kinds of pages than one of either.
//!
//! A signature is a MinHash, which estimates the Jaccard similarity J, after one byte for the number of
//! distinct runs. Of two texts with a and b runs, J / (1 + J) of a + b are common to both.

use super::maker::{Maker, NORMALISE_WORDS, Signing};
use crate::features::shingles;
use crate::fingerprint::distinct::Distinct;
use crate::fingerprint::minhash::{self, MinHash, Permutations};

/// The bytes before the slots: the size.
pub(super) const HEAD_BYTES: usize = 1;

/// Makes signatures of the set of runs of words of a text.
#[derive(Debug)]
pub(super) struct WordOverlap {
    minhash: MinHash,
    runs: Distinct,
}

impl WordOverlap {
    /// Signatures of `slots` slots of `bits` bits.
    pub(super) fn new(slots: usize, bits: u32) -> WordOverlap {
        let minhash = MinHash::new(Permutations::One, slots, bits);
        WordOverlap { minhash, runs: Distinct::default() }
    }
}

impl Maker for WordOverlap {
    fn sign(&mut self, text: &str, Signing { clock, normal, signature }: Signing<'_, '_>) {
        shingles::word_runs(normal.page(&NORMALISE_WORDS, text), |run| {
            if clock.step() {
                self.minhash.add(run);
                self.runs.add(run);
            }
        });
        signature.push(size_code(self.runs.finish()));
        self.minhash.finish(signature);
    }
}

/// The geometric mean of the estimates of Jaccard similarity and containment, from 0 to 1. It is 0 if one
/// of the texts has no words: the check has seen nothing that they share.
pub(super) fn similarity(one: &[u8], another: &[u8], bits: u32) -> f64 {
    let [one_size, another_size] = [one[0], another[0]].map(size);
    let shorter = one_size.min(another_size);
    if shorter == 0 {
        return 0.0;
    }
    let jaccard = minhash::similarity(&one[HEAD_BYTES..], &another[HEAD_BYTES..], bits);
    let common = jaccard / (1.0 + jaccard) * (one_size + another_size) as f64;
    let containment = (common / shorter as f64).min(1.0);
    (jaccard * containment).sqrt()
}

/// The bits of a size that its code keeps after the first one: eight steps from each power of two to the
/// next.
const KEPT_BITS: u32 = 3;

/// Sizes below this are their own codes.
const EXACT: u64 = 2 << KEPT_BITS;

/// A size as one byte. Zero alone has the code 0; sizes of 2^34 and more are beyond any text.
pub(super) fn size_code(size: u64) -> u8 {
    if size < EXACT {
        return size as u8;
    }
    let shift = size.ilog2() - KEPT_BITS;
    let code = u64::from(shift - 1) * (EXACT / 2) + (size >> shift) + EXACT / 2;
    code.min(u8::MAX.into()) as u8
}

/// The size in the middle of those with this code.
pub(super) fn size(code: u8) -> u64 {
    let code = u64::from(code);
    if code < EXACT {
        return code;
    }
    let shift = (code - EXACT) / (EXACT / 2) + 1;
    let kept = EXACT / 2 + code % (EXACT / 2);
    (2 * kept + 1) << (shift - 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::fingerprint::check::Check;

    fn signatures(check: Check, texts: [&str; 2]) -> [Vec<u8>; 2] {
        let mut signer = check.signer();
        texts.map(|text| {
            let mut signature = Vec::new();
            signer.sign(text, &mut signature).unwrap();
            signature
        })
    }

    /// The definition: exact sets of runs of three words.
    fn naive(texts: [&str; 2]) -> f64 {
        let runs = texts.map(|text| -> BTreeSet<Vec<&str>> {
            let words: Vec<&str> = text.split(' ').collect();
            words.windows(3).map(<[&str]>::to_vec).collect()
        });
        let common = runs[0].intersection(&runs[1]).count() as f64;
        let union = runs[0].union(&runs[1]).count() as f64;
        (common / union * common / runs[0].len().min(runs[1].len()) as f64).sqrt()
    }

    #[test]
    fn it_estimates_the_mean_of_jaccard_and_containment() {
        let words: Vec<String> = (0..3000).map(|at| format!("w{}", letters(at * 7919))).collect();
        let check: Check = "word-overlap-512x8".parse().unwrap();
        for [from, to, other_from, other_to] in
            [[0, 1000, 0, 1000], [0, 1000, 0, 2000], [0, 300, 100, 3000], [0, 1000, 500, 1500]]
        {
            let texts = [&words[from..to], &words[other_from..other_to]].map(|it| it.join(" "));
            let texts = [texts[0].as_str(), texts[1].as_str()];
            let [one, another] = signatures(check, texts);
            let (found, expected) = (check.similarity(&one, &another), naive(texts));
            assert!((found - expected).abs() < 0.08, "{found} for {expected}");
            assert_eq!(found, check.similarity(&another, &one));
        }
        let apart = [words[..900].join(" "), words[1000..].join(" ")];
        let [one, another] = signatures(check, [&apart[0], &apart[1]]);
        assert!(check.similarity(&one, &another) < 0.2);
    }

    /// A number in letters, since digits are dropped.
    fn letters(number: usize) -> String {
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
    }

    #[test]
    fn pages_in_scripts_without_spaces_are_told_apart() {
        // Drawn from twenty letters, as many as make most of a Thai page.
        let page = |seed: usize| -> String {
            let mut state = seed;
            let letter = |_| {
                state = (state * 1_103_515_245 + 12_345) % (1 << 31);
                char::from_u32(0xe01 + (state >> 16) as u32 % 20).unwrap()
            };
            (0..20_000).map(letter).collect()
        };
        let texts = [page(1), page(2)];
        let of = |name: &str| {
            let check: Check = name.parse().unwrap();
            let [one, another] = signatures(check, [&texts[0], &texts[1]]);
            check.similarity(&one, &another)
        };
        assert!(of("word-minhash-512x8") > 0.6);
        assert!(of("word-overlap-512x8") < 0.05);
    }

    #[test]
    fn sizes_are_kept_within_a_sixteenth() {
        assert!((0..EXACT).all(|it| size(size_code(it)) == it));
        for exact in
            (4..34).flat_map(|power| (0..64).map(move |it| (1 << power) + (it << power) / 64))
        {
            let error = size(size_code(exact)) as f64 / exact as f64 - 1.0;
            assert!(error.abs() <= 0.063, "{exact}: {}", size(size_code(exact)));
        }
        assert_eq!(size_code(u64::MAX), 255);
        assert!((1..255).all(|code| size(code) < size(code + 1) && size_code(size(code)) == code));
    }

    proptest! {
        #[test]
        fn it_is_between_none_and_all(texts in prop::array::uniform2("([a-e]{1,2} |[中文]|[กข]|1 ){0,40}")) {
            let check: Check = "word-overlap-32x2".parse().unwrap();
            let [one, another] = signatures(check, [&texts[0], &texts[1]]);
            let found = check.similarity(&one, &another);
            prop_assert!((0.0..=1.0).contains(&found));
            prop_assert_eq!(found, check.similarity(&another, &one));
            let own = if one[0] == 0 { 0.0 } else { 1.0 };
            prop_assert_eq!(check.similarity(&one, &one), own);
        }
    }
}
