//! Why two texts are as far apart as they are: which features differ in weight, and which of these
//! moved the bits that differ.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::fingerprint::{Weighted, Width};

/// What parts two texts.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The weight of all features in each text, in [fixed point](crate::features::ONE).
    pub totals: [i128; 2],
    /// The weight that both have: of each feature the lesser one.
    pub shared: i128,
    /// The features whose weights differ, those that differ most first.
    pub moved: Vec<Moved>,
    /// The bits whose sums have another sign, the lowest first.
    pub bits: Vec<Bit>,
}

/// A feature that weighs more in one text than in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The feature.
    pub feature: String,
    /// Its hash.
    pub hash: u128,
    /// Its weight in each text, 0 where it is absent.
    pub weights: [i64; 2],
}

/// A bit that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bit {
    /// Its place, 0 for the lowest.
    pub place: u32,
    /// V of this bit in each text, in fixed point.
    pub sums: [i128; 2],
    /// The features that moved it from the sum of the first text towards that of the second, as indices
    /// into [`Difference::moved`] with the way each made, the longest first.
    pub movers: Vec<(usize, i64)>,
}

impl Moved {
    /// How much more it weighs in the second text.
    fn gain(&self) -> i64 {
        self.weights[1].saturating_sub(self.weights[0])
    }
}

impl Difference {
    /// The difference of two texts by their features, where `distant` has a bit set for each bit in
    /// which their fingerprints differ.
    pub fn of(texts: [&[Weighted]; 2], distant: u128, width: Width) -> Difference {
        let mut weights: BTreeMap<u128, (&str, [i64; 2])> = BTreeMap::new();
        for (side, text) in texts.into_iter().enumerate() {
            for Weighted { feature, hash, weight } in text {
                weights.entry(*hash).or_insert((feature, [0; 2])).1[side] = *weight;
            }
        }
        let total = |text: &[Weighted]| text.iter().map(|one| i128::from(one.weight)).sum();
        let shared = weights.values().map(|(_, [one, other])| i128::from(*one.min(other))).sum();
        let differs = |&(_, (_, [one, other])): &(u128, (&str, [i64; 2]))| one != other;
        let mut moved: Vec<Moved> = weights
            .into_iter()
            .filter(differs)
            .map(|(hash, (feature, weights))| Moved { feature: feature.to_owned(), hash, weights })
            .collect();
        moved.sort_by_key(|moved| (Reverse(moved.gain().unsigned_abs()), moved.hash));
        let places = (0..width.bits()).filter(|place| distant >> place & 1 == 1);
        let bits = places.map(|place| Bit::at(place, texts, &moved)).collect();
        Difference { totals: texts.map(total), shared, moved, bits }
    }
}

impl Bit {
    fn at(place: u32, texts: [&[Weighted]; 2], moved: &[Moved]) -> Bit {
        let sign = |hash: u128| if hash >> place & 1 == 1 { 1 } else { -1 };
        let sum = |text: &[Weighted]| -> i128 {
            text.iter().map(|one| i128::from(sign(one.hash)) * i128::from(one.weight)).sum()
        };
        let sums = texts.map(sum);
        let direction = if sums[1] > sums[0] { 1 } else { -1 };
        let mut movers: Vec<(usize, i64)> = moved
            .iter()
            .enumerate()
            .map(|(at, moved)| (at, sign(moved.hash) * moved.gain()))
            .filter(|&(_, way)| way.signum() == direction)
            .collect();
        movers.sort_by_key(|&(at, way)| (Reverse(way.unsigned_abs()), at));
        Bit { place, sums, movers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::ONE;
    use crate::fingerprint::Recipe;
    use crate::fingerprint::recipe::tests::plain_words;

    #[test]
    fn the_bits_that_differ_are_those_whose_sums_change_sign() {
        let mut sketcher = plain_words().sketcher().unwrap();
        let texts = ["a fox and a dog in the snow", "a fox and a cat, a cat in the rain"];
        let prints = texts.map(|text| sketcher.text(text).unwrap().unwrap());
        let weighted = texts.map(|text| sketcher.weighted(text).unwrap());
        let sides = [&weighted[0][..], &weighted[1][..]];
        let difference = Difference::of(sides, prints[0] ^ prints[1], Width::W64);
        assert_eq!(difference.bits.len() as u32, (prints[0] ^ prints[1]).count_ones());
        for bit in &difference.bits {
            assert_ne!(bit.sums[0] > 0, bit.sums[1] > 0);
            let all: i64 =
                difference
                    .moved
                    .iter()
                    .map(|moved| {
                        if moved.hash >> bit.place & 1 == 1 { moved.gain() } else { -moved.gain() }
                    })
                    .sum();
            assert_eq!(bit.sums[1] - bit.sums[0], i128::from(all));
            assert!(bit.movers.iter().all(|&(_, way)| (way > 0) == (bit.sums[1] > bit.sums[0])));
        }
        let one = i128::from(ONE);
        assert_eq!((difference.totals, difference.shared), ([8 * one, 10 * one], 6 * one));
        let names: Vec<&str> = difference.moved.iter().map(|moved| &*moved.feature).collect();
        assert_eq!((names[0], difference.moved[0].weights), ("cat", [0, 2 * ONE]));
        assert_eq!(names.len(), 5, "{names:?}: a, cat, dog, snow, rain");
    }

    #[test]
    fn equal_texts_do_not_differ() {
        let mut sketcher = Recipe::named("shingles", None).unwrap().sketcher().unwrap();
        let text = sketcher.weighted("the same").unwrap();
        let none = Difference::of([&text, &text], 0, Width::W64);
        assert!(none.moved.is_empty() && none.bits.is_empty());
        assert_eq!(none.totals, [none.shared; 2]);
    }
}
