//! The check `points`: how alike two documents are as points of a space, by the points themselves.
//!
//! The point is made with the keys of the bands of a page (`lsh`). A sketch is a byte that tells the sort of point, and words of four bytes:
//!
//! | sort | words | similarity |
//! |---|---|---|
//! | 0 set | the upper halves of the hashes of its elements, ascending | Jaccard |
//! | 1 features | the same of their names, each with its weight | cosine |
//! | 2 bits | the bits of a fingerprint | the share of bits that agree |
//! | 3 direction | the components of a vector | cosine |
//! | 4 place | the components of a vector | 1 / (1 + distance) |
//!
//! Of a set, or features, of more words than fit, those of the least hashes are kept, and two documents are compared as far as both
//! have theirs.

use super::containment::MAX_SKETCH_BYTES;
use super::maker::{Maker, Signing};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::shingle_set::merge;

const MOST: usize = (MAX_SKETCH_BYTES - 1) / size_of::<Word>();

const SET: u8 = 0;
const FEATURES: u8 = 1;
const BITS: u8 = 2;
const DIRECTION: u8 = 3;
const PLACE: u8 = 4;

pub(super) type Word = [u8; 4];

/// Makes nothing of texts by themselves.
#[derive(Debug)]
pub(super) struct Points;

impl Maker for Points {
    fn sign(&mut self, _: &str, _: Signing<'_>) {}
}

pub fn of_set(hashes: &[u64]) -> Vec<u8> {
    let mut words: Vec<u32> = hashes.iter().map(upper).collect();
    words.dedup();
    sketch(SET, words.into_iter().take(MOST).map(u32::to_le_bytes))
}

/// The sketch of features, by the hashes of their names, ascending, and their weights in fixed point.
pub fn of_features(features: &[(u64, i64)]) -> Vec<u8> {
    let words =
        features.iter().flat_map(|(hash, weight)| [upper(hash), (*weight as f32).to_bits()]);
    sketch(FEATURES, words.take(MOST & !1).map(u32::to_le_bytes))
}

pub fn of_bits(fingerprint: u128, bits: u32) -> Vec<u8> {
    let words = fingerprint.to_le_bytes();
    sketch(BITS, words.as_chunks::<4>().0.iter().copied().take((bits / u32::BITS) as usize))
}

/// The sketch of a vector, of which the direction alone counts, or the place.
///
/// Fails with [`Kind::BadData`] if it is too long.
pub fn of_vector(components: &[f64], is_direction: bool) -> Result<Vec<u8>> {
    if components.len() > MOST {
        return Err(Error::new(Kind::BadData, "the vector has too many components")
            .expected(format_args!("at most {MOST}"))
            .found(components.len()));
    }
    let sort = if is_direction { DIRECTION } else { PLACE };
    Ok(sketch(sort, components.iter().map(|&it| (it as f32).to_le_bytes())))
}

pub(super) fn similarity(one: &[u8], another: &[u8]) -> f64 {
    let [Some((sort, one)), Some((other, another))] = [one, another].map(<[u8]>::split_first)
    else {
        return 0.0;
    };
    let [one, another] = [one, another].map(|bytes| bytes.as_chunks().0);
    if sort != other {
        return 0.0;
    }
    let similarity = match *sort {
        SET => jaccard(one, another),
        FEATURES => cosine_of_features(one, another),
        // Vectors of different lengths are points of different spaces.
        _ if one.len() != another.len() => 0.0,
        BITS => agreeing_bits(one, another),
        DIRECTION => cosine(one, another),
        _ => 1.0 / (1.0 + distance(one, another)),
    };
    // Nothing is like what has no element.
    if similarity.is_nan() { 0.0 } else { similarity }
}

fn upper(hash: &u64) -> u32 {
    (hash >> u32::BITS) as u32
}

fn sketch(sort: u8, words: impl Iterator<Item = Word>) -> Vec<u8> {
    std::iter::once(sort).chain(words.flatten()).collect()
}

fn jaccard(one: &[Word], another: &[Word]) -> f64 {
    let key = |word: &Word| u32::from_le_bytes(*word);
    let [one, another] = as_far_as_both([one, another], MOST, key);
    let mut shared = 0;
    merge(one, another, key, |_, _| shared += 1);
    f64::from(shared) / (one.len() + another.len()).saturating_sub(shared as usize) as f64
}

/// The sums go in the order of the features, so they are the same on every machine.
fn cosine_of_features(one: &[Word], another: &[Word]) -> f64 {
    let [one, another] = [one, another].map(|words| words.as_chunks::<2>().0);
    let key = |feature: &[Word; 2]| u32::from_le_bytes(feature[0]);
    let [one, another] = as_far_as_both([one, another], MOST / 2, key);
    let weight = |feature: &[Word; 2]| f64::from(f32::from_le_bytes(feature[1]));
    let mut product = 0.0;
    merge(one, another, key, |a, b| product += weight(a) * weight(b));
    let squares =
        |features: &[[Word; 2]]| features.iter().map(|it| weight(it) * weight(it)).sum::<f64>();
    product / (squares(one) * squares(another)).sqrt()
}

fn agreeing_bits(one: &[Word], another: &[Word]) -> f64 {
    let differing = |(one, another): (&Word, &Word)| {
        (u32::from_le_bytes(*one) ^ u32::from_le_bytes(*another)).count_ones()
    };
    let bits = u32::BITS * one.len() as u32;
    f64::from(bits - one.iter().zip(another).map(differing).sum::<u32>()) / f64::from(bits)
}

/// The sums go in the order of the components.
fn cosine(one: &[Word], another: &[Word]) -> f64 {
    let [mut product, mut ones, mut others] = [0.0; 3];
    for (one, other) in components(one).zip(components(another)) {
        product += one * other;
        ones += one * one;
        others += other * other;
    }
    product / (ones * others).sqrt()
}

fn distance(one: &[Word], another: &[Word]) -> f64 {
    let squares = components(one).zip(components(another)).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

fn components(words: &[Word]) -> impl Iterator<Item = f64> {
    words.iter().map(|word| f64::from(f32::from_le_bytes(*word)))
}

/// Of ascending items that were cut at so many those up to which neither was cut.
fn as_far_as_both<T>(both: [&[T]; 2], most: usize, key: impl Fn(&T) -> u32) -> [&[T]; 2] {
    let cut = both.iter().filter(|items| items.len() >= most);
    let end = cut.filter_map(|items| items.last()).map(&key).min().unwrap_or(u32::MAX);
    both.map(|items| &items[..items.partition_point(|item| key(item) <= end)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn hash(number: u64) -> u64 {
        number << u32::BITS | 7
    }

    proptest! {
        #[test]
        fn sets_are_compared_by_definition(
            one in prop::collection::btree_set(0..40_u64, 1..30),
            other in prop::collection::btree_set(0..40_u64, 1..30),
        ) {
            let exact = one.intersection(&other).count() as f64 / one.union(&other).count() as f64;
            let [one, other] = [one, other].map(|set: BTreeSet<u64>| {
                of_set(&set.into_iter().map(hash).collect::<Vec<u64>>())
            });
            prop_assert_eq!(similarity(&one, &other), exact);
        }

        #[test]
        fn features_and_vectors_are_compared_by_definition(
            one in prop::collection::vec(-5..6_i64, 8),
            other in prop::collection::vec(-5..6_i64, 8),
        ) {
            prop_assume!([&one, &other].iter().all(|it| it.iter().any(|&it| it != 0)));
            let near = |found: f64, exact: f64| (found - exact).abs() < 1e-9;
            let product = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>() as f64;
            let exact = product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt();
            let features = |of: &[i64]| -> BTreeMap<u64, i64> {
                (0..).map(hash).zip(of.iter().copied()).filter(|it| it.1 != 0).collect()
            };
            let [a, b] = [&one, &other]
                .map(|of| of_features(&features(of).into_iter().collect::<Vec<_>>()));
            prop_assert!(near(similarity(&a, &b), exact));
            let vector = |of: &[i64], is_direction| {
                of_vector(&of.iter().map(|&it| it as f64).collect::<Vec<f64>>(), is_direction).unwrap()
            };
            prop_assert!(near(similarity(&vector(&one, true), &vector(&other, true)), exact));
            let apart = one.iter().zip(&other).map(|(a, b)| (a - b).pow(2)).sum::<i64>() as f64;
            let place = similarity(&vector(&one, false), &vector(&other, false));
            prop_assert!(near(place, 1.0 / (1.0 + apart.sqrt())));
        }
    }

    #[test]
    fn fingerprints_are_compared_bit_by_bit() {
        for (bits, expected) in [(64, 61.0 / 64.0), (128, 125.0 / 128.0)] {
            assert_eq!(similarity(&of_bits(0, bits), &of_bits(0b111, bits)), expected);
        }
    }

    #[test]
    fn large_sets_are_compared_by_their_least_elements() {
        let elements = |numbers: std::ops::Range<u64>| -> Vec<u64> {
            // Spread, so that the least ones are a sample.
            let spread = |it: u64| it.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut hashes: Vec<u64> = numbers.map(spread).collect();
            hashes.sort_unstable();
            hashes
        };
        let [one, other, part] = [0..20_000, 2_000..22_000, 0..1_000].map(elements);
        let [one, other, part] = [one, other, part].map(|it| of_set(&it));
        assert!(one.len() <= MAX_SKETCH_BYTES);
        assert!((similarity(&one, &other) - 18.0 / 22.0).abs() < 0.02);
        assert!((similarity(&one, &part) - 1.0 / 20.0).abs() < 0.01);
    }

    #[test]
    fn what_cannot_be_compared_is_not_alike() {
        let vector = |of: &[f64]| of_vector(of, true).unwrap();
        let none = Vec::new();
        for (one, other) in [
            (&none, &none),
            (&of_set(&[]), &of_set(&[])),
            (&of_set(&[hash(1)]), &vector(&[1.0])),
            (&vector(&[1.0]), &vector(&[1.0, 0.0])),
            (&vector(&[0.0, 0.0]), &vector(&[1.0, 0.0])),
        ] {
            assert_eq!(similarity(one, other), 0.0);
        }
        assert_eq!(of_vector(&[0.0; MOST + 1], true).unwrap_err().kind(), Kind::BadData);
    }
}
