//! The set of a text's shingles, for the exact Jaccard similarity that signatures estimate.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// How many distinct hashes are gathered before duplicates are removed for the first time.
const FEW: usize = 1 << 12;

/// About as many shingles as most texts have.
const USUAL: usize = 1 << 9;

/// A set of hashed shingles, eight bytes for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ShingleSet {
    /// Ascending, each once.
    hashes: Vec<u64>,
}

impl ShingleSet {
    /// The set of the hashes that `each` adds. Takes memory for a few times the number of distinct hashes.
    pub fn gather(each: impl FnOnce(&mut dyn FnMut(u64))) -> ShingleSet {
        let mut hashes = Vec::with_capacity(USUAL);
        let mut distinct = 0;
        each(&mut |hash| {
            hashes.push(hash);
            if hashes.len() >= 2 * FEW.max(distinct) {
                sort(&mut hashes);
                hashes.dedup();
                distinct = hashes.len();
            }
        });
        sort(&mut hashes);
        hashes.dedup();
        hashes.shrink_to_fit();
        ShingleSet { hashes }
    }

    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    pub fn bytes(&self) -> u64 {
        (size_of::<ShingleSet>() + size_of_val(&self.hashes[..])) as u64
    }

    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The Jaccard similarity |A ∩ B| / |A ∪ B| (Broder 1997) of two sets, 1 if both are empty.
    pub fn jaccard(&self, other: &ShingleSet) -> f64 {
        let shared = self.shared(other);
        let all = self.len() + other.len() - shared;
        if all == 0 { 1.0 } else { shared as f64 / all as f64 }
    }

    /// The share of this set that `other` has (the containment of Broder 1997); of an empty set, nothing.
    pub fn contained_in(&self, other: &ShingleSet) -> f64 {
        self.shared(other) as f64 / self.len().max(1) as f64
    }

    pub fn shared(&self, other: &ShingleSet) -> usize {
        let mut shared = 0;
        merge(&self.hashes, &other.hashes, |hash| *hash, |_, _| shared += 1);
        shared
    }
}

/// Calls `both` with every two of ascending items that have the same key.
pub(super) fn merge<'a, T, K: Ord>(
    mut one: &'a [T],
    mut other: &'a [T],
    key: impl Fn(&T) -> K,
    mut both: impl FnMut(&'a T, &'a T),
) {
    while let ([first, ones @ ..], [second, others @ ..]) = (one, other) {
        let order = key(first).cmp(&key(second));
        if order == Ordering::Equal {
            both(first, second);
        }
        one = if order == Ordering::Greater { one } else { ones };
        other = if order == Ordering::Less { other } else { others };
    }
}

/// Sorts hashes: by their first two bytes in two passes, the second byte first, and the few that share these by comparison.
fn sort(hashes: &mut Vec<u64>) {
    if hashes.len() < 64 {
        return hashes.sort_unstable();
    }
    let mut sorted = vec![0; hashes.len()];
    for shift in [48, 56] {
        let byte = |hash: u64| usize::from((hash >> shift) as u8);
        let mut places = [0; 256];
        hashes.iter().for_each(|&hash| places[byte(hash)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for &hash in hashes.iter() {
            let place = &mut places[byte(hash)];
            sorted[*place] = hash;
            *place += 1;
        }
        std::mem::swap(hashes, &mut sorted);
    }
    hashes.chunk_by_mut(|a, b| a >> 48 == b >> 48).for_each(<[u64]>::sort_unstable);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(hashes: impl IntoIterator<Item = u64>) -> ShingleSet {
        ShingleSet::gather(|add| hashes.into_iter().for_each(add))
    }

    proptest! {
        #[test]
        fn shares_are_their_definitions(
            one in prop::collection::vec(0..40_u64, 0..60),
            two in prop::collection::vec(0..40_u64, 0..60),
        ) {
            let [a, b] = [&one, &two].map(|hashes| set(hashes.iter().copied()));
            let [one, two] = [one, two].map(BTreeSet::from_iter);
            let shared = one.intersection(&two).count();
            let all = one.union(&two).count();
            let exact = if all == 0 { 1.0 } else { shared as f64 / all as f64 };
            prop_assert_eq!(a.jaccard(&b), exact);
            prop_assert_eq!(a.shared(&b), shared);
            prop_assert!((a.contained_in(&b) * one.len() as f64 - shared as f64).abs() < 1e-9);
            prop_assert_eq!((a.len(), a.is_empty()), (one.len(), one.is_empty()));
        }
    }

    proptest! {
        #[test]
        fn hashes_are_sorted(
            mut hashes in prop::collection::vec(prop_oneof![any::<u64>(), 0..9_u64, (0..9_u64).prop_map(|it| it << 45)], 0..300),
        ) {
            let mut expected = hashes.clone();
            expected.sort_unstable();
            sort(&mut hashes);
            prop_assert_eq!(hashes, expected);
        }
    }

    #[test]
    fn a_shingle_that_comes_often_takes_no_room() {
        let set = set((0..1_000_000).map(|at| at % 7));
        assert_eq!((set.len(), set.hashes.capacity(), set.bytes()), (7, 7, 24 + 7 * 8));
    }
}
