//! The measured frequencies of every family against the probabilities that it states.

use super::{BitSampling, Family, Hyperplanes, MinHashes, PStable, Permutations};
use crate::fingerprint::Width;
use crate::fingerprint::minhash::mixed;

const TRIALS: u64 = 4000;
/// Rows that agree together are counted too: they must be independent.
const ROWS: usize = 3;

/// Holds the frequency of agreement to `expected` within 99.9 % bounds, for one row and for a band of them.
/// `family` makes a family of so many rows by a seed, and `pair` the two points of a trial.
fn assert_frequency<P: ?Sized, O: AsRef<P>, F: Family<P>>(
    name: &str,
    similarity: f64,
    family: impl Fn(u64) -> F,
    pair: impl Fn(u64) -> [O; 2],
) {
    let (mut ones, mut bands) = (0, 0);
    for trial in 0..TRIALS {
        let mut family = family(trial);
        let [one, other] = pair(trial).map(|point| {
            let mut hashes = Vec::new();
            family.hash(point.as_ref(), &mut hashes);
            hashes
        });
        ones += u64::from(one[0] == other[0]);
        bands += u64::from(one[..ROWS] == other[..ROWS]);
    }
    let family = family(0);
    let row = family.collision(similarity);
    assert_share(name, similarity, ones, row);
    assert_share(name, similarity, bands, row.powi(ROWS as i32));
}

fn assert_share(name: &str, similarity: f64, counted: u64, expected: f64) {
    let found = counted as f64 / TRIALS as f64;
    let bound = 3.291 * (expected * (1.0 - expected) / TRIALS as f64).sqrt();
    let is_within = (found - expected).abs() <= bound;
    assert!(is_within, "{name} at {similarity}: {found} for {expected}");
}

/// Two sets with `shared` elements in common and `own` for each alone.
fn sets(trial: u64, shared: u64, own: u64) -> [Vec<u64>; 2] {
    let element = |number| mixed(number, trial + 1000);
    let shared = (0..shared).map(element);
    let owns = [0..own, own..2 * own].map(|own| own.map(|number| element(1 << 32 | number)));
    owns.map(|own| shared.clone().chain(own).collect())
}

#[test]
fn sets_agree_by_their_jaccard_similarity() {
    for permutations in [Permutations::Many, Permutations::One] {
        for (shared, own) in [(40, 10), (200, 25), (50, 50), (500, 5)] {
            let similarity = shared as f64 / (shared + 2 * own) as f64;
            let family = |seed| MinHashes::new(permutations, 8, seed);
            let name = format!("{permutations:?} {shared} {own}");
            assert_frequency(&name, similarity, family, |trial| sets(trial, shared, own));
        }
    }
}

/// Two vectors of two components at an angle, turned at random.
fn vectors(trial: u64, cosine: f64) -> [Vec<f64>; 2] {
    let turn = (mixed(trial, 5) % 1_000_000) as f64;
    [turn, turn + cosine.acos()].map(|angle| vec![angle.cos(), angle.sin()])
}

#[test]
fn vectors_agree_by_their_angle() {
    for cosine in [0.2, 0.5, 0.8, 0.95] {
        let family = |seed| Hyperplanes::new(8, seed);
        assert_frequency::<[f64], _, _>("dense", cosine, family, |trial| vectors(trial, cosine));
        let features = |trial| {
            let weight = |it: f64| (it * f64::from(1 << 20)) as i64;
            vectors(trial, cosine).map(|it| vec![(trial, weight(it[0])), (!trial, weight(it[1]))])
        };
        assert_frequency::<[(u64, i64)], _, _>("features", cosine, family, features);
    }
}

#[test]
fn fingerprints_agree_by_their_distance() {
    struct Point(u128);
    impl AsRef<u128> for Point {
        fn as_ref(&self) -> &u128 {
            &self.0
        }
    }
    for (width, distance) in [(Width::W64, 3), (Width::W64, 20), (Width::W128, 7)] {
        let similarity = 1.0 - f64::from(distance) / f64::from(width.bits());
        let family = |seed| BitSampling::new(8, width, seed);
        let pair = |trial| {
            let one = u128::from(mixed(trial, 3));
            [Point(one), Point(one ^ ((1 << distance) - 1))]
        };
        assert_frequency(&format!("{width:?}"), similarity, family, pair);
    }
}

#[test]
fn vectors_agree_by_their_euclidean_distance() {
    for similarity in [0.3, 0.5, 0.8, 0.9] {
        let distance = (1.0 - similarity) / similarity;
        let pair = |trial| {
            let [one, way] = vectors(trial, 0.0);
            let other = one.iter().zip(&way).map(|(one, way)| one + distance * way).collect();
            [one, other]
        };
        assert_frequency::<[f64], _, _>(
            "p-stable",
            similarity,
            |seed| PStable::new(8, 1.0, seed),
            pair,
        );
    }
}

/// Points of stores depend on these: they never change, on no machine.
#[test]
fn hashes_stay_as_they_are() {
    let set: Vec<u64> = (0..100).map(|it| mixed(it, 0)).collect();
    let features: Vec<(u64, i64)> = set.iter().map(|&it| (it, (it % 7) as i64 - 3)).collect();
    let vector: Vec<f64> = (0..50).map(|it| f64::from(it % 11) / 3.0 - 1.5).collect();
    let mut hashes = Vec::new();
    MinHashes::new(Permutations::Many, 2, 1).hash(&set, &mut hashes);
    MinHashes::new(Permutations::One, 2, 1).hash(&set, &mut hashes);
    Hyperplanes::new(6, 1).hash(&features[..], &mut hashes);
    Hyperplanes::new(6, 1).hash(&vector[..], &mut hashes);
    BitSampling::new(4, Width::W64, 1).hash(&0x0123_4567_89ab_cdef, &mut hashes);
    PStable::new(3, 1.0, 1).hash(&vector, &mut hashes);
    let [many, one] = [[25_817_883, 104_691_142], [276_566_686, 2_402_710_352]];
    let [features, vector] = [[0, 0, 0, 1, 0, 1], [0, 0, 1, 0, 0, 1]];
    let [bits, slots] = [&[1, 1, 1, 0][..], &[-4_i32 as u32, -10_i32 as u32, 9]];
    assert_eq!(hashes, [&many[..], &one, &features, &vector, bits, slots].concat());
}
