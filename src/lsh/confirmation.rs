//! What decides whether documents that share a bucket match.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::point::Point;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Check, Width};
use crate::matches::{Similarity, Unlikeness};

/// What is compared of two documents that share a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirmation {
    /// Their hashes: the share of those that agree estimates the similarity.
    #[default]
    Signature,
    /// The points themselves.
    Exact,
    /// The SimHashes of their features, or ready-made fingerprints, which may differ in so many bits. The
    /// similarity is the share of bits that agree.
    SimHash(u32),
}

/// The bits of a SimHash.
const MOST_BITS: u32 = 64;

/// A number of evidence, eight bytes.
type Word = [u8; 8];

impl Confirmation {
    /// The least similarity that a match may have, if `least` was asked for. How many bits differ does not depend on it.
    #[must_use]
    pub fn least(self, least: Similarity) -> Similarity {
        match self {
            Confirmation::Signature | Confirmation::Exact => least,
            Confirmation::SimHash(most) => {
                Similarity::of_share((MOST_BITS - most).into(), MOST_BITS.into())
            }
        }
    }

    /// What is kept of a `point` with these `hashes`, to be compared: hashes of four bytes, or words of eight.
    ///
    /// Fails with [`Kind::Usage`] if a SimHash is wanted of a vector.
    pub(super) fn evidence(self, point: &Point, hashes: &[u32]) -> Result<Vec<u8>> {
        Ok(match (self, point) {
            (Confirmation::Signature, _) => hashes.iter().flat_map(|it| it.to_le_bytes()).collect(),
            (Confirmation::Exact, Point::Set(set)) => {
                set.iter().flat_map(|it| it.to_le_bytes()).collect()
            }
            (Confirmation::Exact, Point::Weighted(features)) => {
                let words = features.iter().flat_map(|&(hash, weight)| [hash, weight as u64]);
                words.flat_map(u64::to_le_bytes).collect()
            }
            (Confirmation::Exact, Point::Vector(vector)) => {
                vector.iter().flat_map(|it| it.to_le_bytes()).collect()
            }
            (Confirmation::Exact | Confirmation::SimHash(_), point) => {
                let bits = point.simhash().ok_or_else(no_simhash)?;
                bits.to_le_bytes().to_vec()
            }
        })
    }
}

/// The error for a SimHash of vectors.
pub(super) fn no_simhash() -> Error {
    Error::new(Kind::Usage, "vectors have no SimHash")
        .help("compare the vectors themselves")
        .setting("confirm exact")
}

/// What evidence holds, and so how it is compared.
#[derive(Clone, Debug)]
pub(super) enum Compared {
    /// Signatures beside fingerprints.
    Signatures(Check),
    /// Hashes; the similarity that each number of agreeing ones stands for.
    Hashes(Vec<Similarity>),
    /// Elements of sets.
    Sets,
    /// Features with weights, by their cosine.
    Features,
    /// Vectors, by their cosine.
    Directions,
    /// Vectors, by 1 / (1 + distance).
    Places,
    /// Fingerprints of this width.
    Bits(Width),
}

/// Compares the evidence of documents.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub(super) compared: Compared,
    pub(super) confirmation: Confirmation,
    pub(super) least: Similarity,
}

impl Comparison {
    /// How alike two documents are by their evidence, if that is enough for a match.
    #[must_use]
    pub fn compare(&self, one: &[u8], other: &[u8]) -> Option<Similarity> {
        let similarity = match &self.compared {
            Compared::Hashes(by_agreement) => by_agreement[agreeing(one, other)],
            Compared::Signatures(check) => Similarity::nearest(check.similarity(one, other)),
            Compared::Sets => jaccard(words(one), words(other)),
            Compared::Features => Similarity::nearest(cosine_of_features(one, other)),
            Compared::Directions => Similarity::nearest(cosine(one, other)),
            Compared::Places => Similarity::nearest(1.0 / (1.0 + distance(one, other))),
            Compared::Bits(width) => return self.of_bits(differing_bits(one, other), *width),
        };
        (similarity >= self.least).then_some(similarity)
    }

    /// How alike two fingerprints are of which so many bits differ, if that is enough for a match.
    fn of_bits(&self, differing: u32, width: Width) -> Option<Similarity> {
        let bits = width.bits();
        let similarity = Similarity::of_share(bits.saturating_sub(differing).into(), bits.into());
        let is_enough = match self.confirmation {
            Confirmation::SimHash(most) => differing <= most,
            _ => similarity >= self.least,
        };
        is_enough.then_some(similarity)
    }

    /// The bits of a slot, if pages are compared only by how many slots of their evidence differ.
    pub(super) fn slot_bits(&self) -> Option<u32> {
        match &self.compared {
            Compared::Hashes(_) => Some(u32::BITS),
            Compared::Signatures(check) => check.slot_bits(),
            Compared::Bits(_) => Some(1),
            _ => None,
        }
    }

    /// How far pages are apart of whose `slots` so many differ, if that is enough for a match.
    pub(super) fn of_differing(&self, differing: u32, slots: u32) -> Option<Unlikeness> {
        let similarity = match &self.compared {
            Compared::Hashes(by_agreement) => by_agreement[(slots - differing) as usize],
            Compared::Signatures(check) => {
                Similarity::nearest(check.of_differing(differing, slots)?)
            }
            Compared::Bits(width) => {
                return self.of_bits(differing, *width).map(Unlikeness::from);
            }
            _ => return None,
        };
        (similarity >= self.least).then(|| similarity.into())
    }
}

fn words(evidence: &[u8]) -> &[Word] {
    evidence.as_chunks().0
}

fn agreeing(one: &[u8], other: &[u8]) -> usize {
    let [one, other] = [one, other].map(|evidence| evidence.as_chunks::<4>().0);
    one.iter().zip(other).filter(|(one, other)| one == other).count()
}

fn differing_bits(one: &[u8], other: &[u8]) -> u32 {
    words(one)
        .iter()
        .zip(words(other))
        .map(|(one, other)| (u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other)).count_ones())
        .sum()
}

/// Of ascending elements.
fn jaccard(one: &[Word], other: &[Word]) -> Similarity {
    let mut shared = 0;
    merge(one, other, |word| u64::from_le_bytes(*word), |_, _| shared += 1);
    Similarity::of_share(shared, (one.len() + other.len()) as u64 - shared)
}

/// Calls `both` with every two of ascending items that have the same key.
fn merge<'a, T>(
    one: &'a [T],
    other: &'a [T],
    key: impl Fn(&T) -> u64,
    mut both: impl FnMut(&'a T, &'a T),
) {
    let (mut one, mut other) = (one, other);
    while let ([first, ones @ ..], [second, others @ ..]) = (one, other) {
        let order = key(first).cmp(&key(second));
        if order == Ordering::Equal {
            both(first, second);
        }
        one = if order == Ordering::Greater { one } else { ones };
        other = if order == Ordering::Less { other } else { others };
    }
}

/// The sums go in the order of the features, so they are the same on every machine.
fn cosine_of_features(one: &[u8], other: &[u8]) -> f64 {
    let features = |evidence| -> &[[u8; 16]] { <[u8]>::as_chunks(evidence).0 };
    let [one, other] = [one, other].map(features);
    let halves = |feature: &[u8; 16]| {
        let bits = u128::from_le_bytes(*feature);
        (bits as u64, (bits >> 64) as i64 as f64)
    };
    let mut product = 0.0;
    merge(one, other, |it| halves(it).0, |a, b| product += halves(a).1 * halves(b).1);
    let square = |feature: &[u8; 16]| halves(feature).1 * halves(feature).1;
    let squares = |features: &[[u8; 16]]| features.iter().map(square).sum::<f64>();
    product / (squares(one) * squares(other)).sqrt()
}

fn components(evidence: &[u8]) -> impl Iterator<Item = f64> {
    words(evidence).iter().map(|word| f64::from_le_bytes(*word))
}

/// The sums go in the order of the components. Sizes are divided out first, so that nothing overflows.
fn cosine(one: &[u8], other: &[u8]) -> f64 {
    let size = |evidence| components(evidence).fold(0.0, |most: f64, it| most.max(it.abs()));
    let [a, b] = [size(one), size(other)];
    let [mut product, mut ones, mut others] = [0.0; 3];
    for (one, other) in components(one).zip(components(other)) {
        let [one, other] = [one / a, other / b];
        product += one * other;
        ones += one * one;
        others += other * other;
    }
    product / (ones * others).sqrt()
}

fn distance(one: &[u8], other: &[u8]) -> f64 {
    components(one)
        .zip(components(other))
        .map(|(one, other)| (one - other) * (one - other))
        .sum::<f64>()
        .sqrt()
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Confirmation::Signature => f.write_str("signature"),
            Confirmation::Exact => f.write_str("exact"),
            Confirmation::SimHash(most) => write!(f, "simhash:{most}"),
        }
    }
}

impl FromStr for Confirmation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Confirmation> {
        match (text, text.strip_prefix("simhash:").map(str::parse)) {
            ("signature", _) => Ok(Confirmation::Signature),
            ("exact", _) => Ok(Confirmation::Exact),
            (_, Some(Ok(most @ 0..=MOST_BITS))) => Ok(Confirmation::SimHash(most)),
            _ => Err(Error::new(Kind::Usage, "there is no such confirmation")
                .expected("signature, exact or simhash:K, with 0 to 64 bits as K")
                .found(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn comparison(compared: Compared) -> Comparison {
        let least = "0".parse().unwrap();
        Comparison { compared, confirmation: Confirmation::Exact, least }
    }

    fn compare(compared: Compared, [one, other]: [&Point; 2]) -> f64 {
        let [one, other] =
            [one, other].map(|point| Confirmation::Exact.evidence(point, &[]).unwrap());
        comparison(compared).compare(&one, &other).unwrap().number()
    }

    proptest! {
        #[test]
        fn sets_are_compared_by_definition(
            one in prop::collection::btree_set(0..40_u64, 1..30),
            other in prop::collection::btree_set(0..40_u64, 1..30),
        ) {
            let exact = one.intersection(&other).count() as f64 / one.union(&other).count() as f64;
            let [one, other] = [one, other].map(|set: BTreeSet<u64>| Point::Set(set.into_iter().collect()));
            prop_assert!((compare(Compared::Sets, [&one, &other]) - exact).abs() <= 0.5e-4 + 1e-12);
        }

        #[test]
        fn features_and_vectors_are_compared_by_definition(
            one in prop::collection::vec(-5..6_i64, 8),
            other in prop::collection::vec(-5..6_i64, 8),
        ) {
            prop_assume!([&one, &other].iter().all(|it| it.iter().any(|&it| it != 0)));
            let product = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>() as f64;
            let exact = product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt();
            let features = |of: &[i64]| -> BTreeMap<u64, i64> {
                (0..).zip(of.iter().copied()).filter(|it| it.1 != 0).collect()
            };
            let [a, b] = [&one, &other].map(|of| Point::Weighted(features(of).into_iter().collect()));
            prop_assert!((compare(Compared::Features, [&a, &b]) - exact.max(0.0)).abs() <= 0.5e-4 + 1e-12);
            let [a, b] = [&one, &other].map(|of| Point::Vector(of.iter().map(|&it| it as f64 * 1e99).collect()));
            prop_assert!((compare(Compared::Directions, [&a, &b]) - exact.max(0.0)).abs() <= 0.5e-4 + 1e-12);
            let apart = one.iter().zip(&other).map(|(a, b)| (a - b).pow(2)).sum::<i64>() as f64;
            let [a, b] = [&one, &other].map(|of| Point::Vector(of.iter().map(|&it| it as f64).collect()));
            let near = 1.0 / (1.0 + apart.sqrt());
            prop_assert!((compare(Compared::Places, [&a, &b]) - near).abs() <= 0.5e-4 + 1e-12);
        }
    }

    #[test]
    fn fingerprints_match_within_their_bits() {
        let evidence = |bits: u128| bits.to_le_bytes();
        let comparison = |most| Comparison {
            confirmation: Confirmation::SimHash(most),
            ..comparison(Compared::Bits(Width::W64))
        };
        let compare = |most| comparison(most).compare(&evidence(0), &evidence(0b111));
        assert_eq!(compare(2), None);
        assert_eq!(compare(3).unwrap().to_string(), "0.9531");
    }

    #[test]
    fn a_confirmation_reads_back() {
        for text in ["signature", "exact", "simhash:3"] {
            assert_eq!(text.parse::<Confirmation>().unwrap().to_string(), text);
        }
        for wrong in ["", "simhash", "simhash:", "simhash:x", "simhash:65", "none"] {
            assert_eq!(wrong.parse::<Confirmation>().unwrap_err().kind(), Kind::Usage, "{wrong}");
        }
    }
}
