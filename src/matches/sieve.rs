//! The sieve: which of very many pairs can still decide a verdict.
//!
//! A crowd is many fingerprints within k of each other: n of them have up to n²/2 pairs. A verdict
//! needs one pair only, the one with the nearest kept page, so most pairs need not be listed.
//!
//! - Of a group's pairs with the store, only those at the least distance so far pass. A farther page
//!   cannot be the nearest one.
//! - Of the pairs within the batch, the first [`LISTED`] of each group pass. Where both groups of a
//!   pair have had as many, the pair is left out and both groups are marked as [crowded](Place::Crowd).
//!   The verdicts then look for kept groups near a crowded one by themselves (`crowd`).
//!
//! So n groups pass on at most `LISTED * n` pairs and n marks. An example: 10,000 fingerprints that
//! differ in 14 low bits have 20 million pairs within 7 bits; 160,000 of them pass, and 10,000 marks.

use crate::matches::{Pair, Place};

/// How many pairs within the batch are listed for each group.
const LISTED: u8 = 16;
/// Stands for the count of a group of which a pair was left out.
const CROWDED: u8 = u8::MAX;

/// Decides pair by pair which ones to list. Two bytes for each group, from the first pair on.
#[derive(Clone, Debug)]
pub struct Sieve {
    groups: usize,
    /// Whether a pair with the store matches by its distance alone. Where a class or a check decides too, the
    /// nearest fingerprint may be no match, and all pairs with the store pass.
    by_distance: bool,
    /// How many pairs within the batch have passed for each group, at most [`LISTED`]; or [`CROWDED`].
    listed: Vec<u8>,
    /// The least distance of each group to a page of the store.
    nearest: Vec<u8>,
}

impl Sieve {
    /// A sieve for the pairs of so many groups of the batch; `by_distance` says that nothing but the
    /// distance decides whether they match.
    pub fn new(groups: usize, by_distance: bool) -> Sieve {
        Sieve { groups, by_distance, listed: Vec::new(), nearest: Vec::new() }
    }

    /// Tells sieves apart that pass other pairs: 0 is none, which passes all.
    pub fn number(sieve: Option<&Sieve>) -> u8 {
        sieve.map_or(0, |sieve| if sieve.by_distance { 1 } else { 2 })
    }

    /// Forgets all pairs.
    pub fn clear(&mut self) {
        self.listed.clear();
        self.nearest.clear();
    }

    /// Whether this pair is to be listed.
    #[inline]
    pub fn passes(&mut self, pair: &Pair) -> bool {
        if self.listed.is_empty() {
            self.listed.resize(self.groups, 0);
            self.nearest.resize(self.groups, u8::MAX);
        }
        match pair.existing {
            Place::Store { .. } => {
                let nearest = &mut self.nearest[pair.new as usize];
                *nearest = pair.distance.min(*nearest);
                !self.by_distance || pair.distance == *nearest
            }
            Place::Batch { group } => self.lists([pair.new, group]),
            Place::Crowd => true,
        }
    }

    fn lists(&mut self, groups: [u32; 2]) -> bool {
        let lists = groups.iter().any(|&group| self.listed[group as usize] < LISTED);
        for group in groups {
            let listed = &mut self.listed[group as usize];
            match lists {
                true if *listed < LISTED => *listed += 1,
                true => {}
                false => *listed = CROWDED,
            }
        }
        lists
    }

    /// The marks of the groups that have pairs which were not listed.
    pub fn crowded(&self) -> impl Iterator<Item = Pair> {
        let crowded = (0..).zip(&self.listed).filter(|(_, listed)| **listed == CROWDED);
        crowded.map(|(new, _)| Pair { new, existing: Place::Crowd, distance: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_passes_on_a_few_pairs_for_each_group() {
        let (groups, mut sieve) = (1000, Sieve::new(1000, true));
        let pairs = (0..groups).flat_map(|new| {
            (0..new).map(move |group| Pair { new, existing: Place::Batch { group }, distance: 1 })
        });
        let (mut listed, mut left_out) = (0, vec![false; 1000]);
        for pair in pairs {
            let Place::Batch { group } = pair.existing else { unreachable!() };
            match sieve.passes(&pair) {
                true => listed += 1,
                false => [pair.new, group]
                    .map(|it| left_out[it as usize] = true)
                    .into_iter()
                    .for_each(drop),
            }
        }
        assert!(listed <= u32::from(LISTED) * groups, "{listed}");
        let crowded: Vec<u32> = sieve.crowded().map(|pair| pair.new).collect();
        let expected = (0..groups).filter(|&group| left_out[group as usize]);
        assert_eq!(crowded, expected.collect::<Vec<u32>>());
        sieve.clear();
        assert_eq!(sieve.crowded().count(), 0);
    }

    #[test]
    fn of_pages_of_the_store_the_nearest_pass() {
        let pair = |row, distance| Pair {
            new: 0,
            existing: Place::Store { segment: 0, row, rows: 1 },
            distance,
        };
        let distances = [3, 3, 2, 3, 2, 0, 1, 0];
        let passed = |by_distance| {
            let mut sieve = Sieve::new(1, by_distance);
            let passes = (0..).zip(distances).map(|(row, it)| sieve.passes(&pair(row, it)));
            passes.collect::<Vec<bool>>()
        };
        assert_eq!(passed(true), [true, true, true, false, true, true, false, true]);
        assert_eq!(passed(false), [true; 8]);
    }
}
