//! The sieve: which of very many pairs can still decide a verdict.
//!
//! A crowd is many fingerprints within k of each other: n of them have up to n²/2 pairs. A verdict
//! needs one pair only, the one with the nearest kept page, so most pairs need not be listed.
//!
//! - Of a group's pairs with the store, only those at the least distance so far pass.
//! - Of the pairs within the batch, the first 16 of each group pass. If both groups of a pair have had
//!   16, the pair is left out and both groups are marked as [crowded](Place::Crowd). The verdicts then
//!   look up the kept groups near a crowded one (`crowd`). No check is asked for what is left out.
//!
//! So n groups pass on at most 16 n pairs and n marks. An example: 10,000 fingerprints that
//! differ in 14 low bits have 20 million pairs within 7 bits; 160,000 of them pass, and 10,000 marks.
//!
//! Where whole pages are compared, a pair counts for the later one of two groups, and passes if the earlier one is among the first in keep order that
//! it met so far: one more than the [`FINGERPRINTS_MET`] that it is compared with. So in whatever order pairs are found, these are among them, and it is
//! known whether there were more. Nothing is marked.

use std::sync::Arc;

use super::numbers::{KeepRank, Number, below};
use super::pair::{Pair, Place};

/// How many pairs within the batch are listed for each group.
const LISTED: u8 = 16;
/// Replaces the count of a group when one of its pairs was left out.
const CROWDED: u8 = u8::MAX;

/// How many fingerprints near its own a group meets where whole pages are compared.
pub(super) const FINGERPRINTS_MET: usize = 4;

/// Decides pair by pair which ones to list. Groups are the fingerprints of the batch while it is probed,
/// and its groups when the verdicts are drawn. Two bytes for each group, from the first pair on.
#[derive(Clone, Debug)]
pub struct Sieve {
    groups: usize,
    /// Whether the distance alone decides if a pair matches. If a class or a check decides too, the nearest
    /// fingerprint may be no match, so all pairs with the store pass.
    by_distance: bool,
    /// How many pairs within the batch have passed for each group, at most [`LISTED`]; or [`CROWDED`].
    listed: Vec<u8>,
    /// The least distance of each group to a page of the store.
    nearest: Vec<u8>,
    /// The place of each group in keep order, where whole pages are compared; and the places of the first ones that it met, ascending.
    order: Option<Arc<[KeepRank]>>,
    first: Vec<[KeepRank; FINGERPRINTS_MET + 1]>,
}

impl Sieve {
    /// A sieve for the pairs of this many groups. `by_distance` says that the distance alone decides.
    pub fn new(groups: usize, by_distance: bool) -> Sieve {
        let (listed, nearest, first) = (Vec::new(), Vec::new(), Vec::new());
        Sieve { groups, by_distance, listed, nearest, order: None, first }
    }

    /// A sieve where whole pages are compared, with the place of each group in keep order.
    pub fn in_order(order: Arc<[KeepRank]>) -> Sieve {
        Sieve { order: Some(order.clone()), ..Sieve::new(order.len(), false) }
    }

    /// The later one of two groups, where it counts their pair, and the earlier one.
    pub fn turned<N: Number>(order: Option<&[KeepRank]>, new: N, existing: N) -> (N, N) {
        match order {
            Some(order) if order[new.index()] < order[existing.index()] => (existing, new),
            _ => (new, existing),
        }
    }

    /// A number for the pairs that a sieve passes: 0 for no sieve, which passes all.
    pub fn number(sieve: Option<&Sieve>) -> u8 {
        sieve.map_or(0, |sieve| match (&sieve.order, sieve.by_distance) {
            (Some(_), _) => 3,
            (None, by_distance) => 2 - u8::from(by_distance),
        })
    }

    pub fn clear(&mut self) {
        self.listed.clear();
        self.nearest.clear();
        self.first.clear();
    }

    #[inline]
    pub fn passes<N: Number>(&mut self, pair: &Pair<N>) -> bool {
        if self.listed.is_empty() {
            self.listed.resize(self.groups, 0);
            self.nearest.resize(self.groups, u8::MAX);
            let placed = self.order.as_ref().map_or(0, |order| order.len());
            self.first.resize(placed, [KeepRank::from(u32::MAX); _]);
        }
        match pair.existing {
            Place::Store { .. } => {
                let nearest = &mut self.nearest[pair.new.index()];
                *nearest = pair.distance.min(*nearest);
                !self.by_distance || pair.distance == *nearest
            }
            Place::Batch { group } => self.lists([pair.new.index(), group.index()]),
            Place::StoreRow { .. } | Place::BatchRow { .. } | Place::Crowd => true,
        }
    }

    fn lists(&mut self, groups: [usize; 2]) -> bool {
        if let Some(order) = &self.order {
            let [later, earlier] = groups;
            let (place, first) = (order[earlier], &mut self.first[later]);
            let at = first.partition_point(|other| *other < place);
            if first.get(at).is_some_and(|other| *other > place) {
                first[at..].rotate_right(1);
                first[at] = place;
            }
            return at < first.len();
        }
        let lists = groups.iter().any(|&group| self.listed[group] < LISTED);
        for group in groups {
            let listed = &mut self.listed[group];
            if !lists {
                *listed = CROWDED;
            } else if *listed < LISTED {
                *listed += 1;
            }
        }
        lists
    }

    /// The marks of the groups that have pairs which were not listed.
    pub fn crowded<N: Number>(&self) -> impl Iterator<Item = Pair<N>> {
        let groups = below::<N>(self.listed.len() as u32);
        let crowded = groups.zip(&self.listed).filter(|(_, listed)| **listed == CROWDED);
        crowded.map(|(new, _)| Pair { new, existing: Place::Crowd, distance: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::Group;
    use super::*;

    #[test]
    fn a_crowd_passes_on_a_few_pairs_for_each_group() {
        let groups = 1000;
        let mut sieve = Sieve::new(1000, true);
        let mut listed = 0;
        let mut left_out = vec![false; 1000];
        for (new, group) in (0..groups).flat_map(|new| (0..new).map(move |group| (new, group))) {
            let existing = Place::Batch { group: Group::from(group) };
            if sieve.passes(&Pair { new: Group::from(new), existing, distance: 1 }) {
                listed += 1;
            } else {
                left_out[new as usize] = true;
                left_out[group as usize] = true;
            }
        }
        assert!(listed <= u32::from(LISTED) * groups, "{listed}");
        let crowded: Vec<u32> = sieve.crowded::<Group>().map(|pair| pair.new.into()).collect();
        let expected = (0..groups).filter(|&group| left_out[group as usize]);
        assert_eq!(crowded, expected.collect::<Vec<u32>>());
        sieve.clear();
        assert_eq!(sieve.crowded::<Group>().count(), 0);
    }

    /// Whatever is left of what passes, the first ones that a group meets are among it, in whatever order the pairs are found.
    #[test]
    fn the_first_in_keep_order_pass_in_any_order() {
        const GROUPS: u32 = 200;
        let order: Vec<KeepRank> = (0..GROUPS).map(|it| KeepRank::from(it * 77 % GROUPS)).collect();
        for step in [1, 7, 63, 199] {
            let mut sieve = Sieve::in_order(order.clone().into());
            let found = (1..GROUPS).map(|it| it * step % GROUPS).filter(|&it| it > 0);
            let mut passed: Vec<u32> = found
                .filter(|&group| {
                    let existing = Place::Batch { group: Group::from(group) };
                    sieve.passes(&Pair { new: Group::from(0), existing, distance: 1 })
                })
                .collect();
            passed.sort_unstable_by_key(|&it| order[it as usize]);
            let mut first: Vec<u32> = (1..GROUPS).collect();
            first.sort_unstable_by_key(|&it| order[it as usize]);
            assert_eq!(passed[..=FINGERPRINTS_MET], first[..=FINGERPRINTS_MET], "{step}");
            assert!(passed.len() < 60, "{step}: {}", passed.len());
        }
    }

    #[test]
    fn of_pages_of_the_store_the_nearest_pass() {
        let pair = |row, distance| Pair {
            new: Group::from(0),
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
