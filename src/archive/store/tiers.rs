//! The rule by which a store merges its own segments, so that it never has many of them: that of a
//! size-tiered log-structured merge tree.
//!
//! The **weight** of a segment is the number of its fingerprints, of its documents without one, and of
//! its days. The weight of a merged segment is the sum of its parts. Segments of 10^t to 10^(t+1) - 1 are
//! of **tier** t. When a tier has [`FULL`] segments, they become one of a higher tier. If that fills the
//! higher tier, its segments are merged too, in the same pass. So ten days become one segment, ten of these
//! one, and so on; a day far larger or smaller than others waits for its like.
//!
//! ```text
//! weights   12  11  13  10  12  11  10  14  12  900      nine segments in tier 1, one in tier 2
//! add 11    116 900                                      tier 1 was full: its ten are one, of tier 2
//! ```
//!
//! What follows, for a store of weight W in which nothing is due:
//!
//! - **Segments.** Each tier has at most 9, and there are at most 1 + log10 W tiers, so there are at most
//!   9 (1 + log10 W) segments. Days of the same weight w fill the tiers of w and above only: a thousand days
//!   are at most 36 segments, ten thousand at most 45. Adding a day keeps this: it can fill one tier only,
//!   and the merge empties that tier, and each one that it fills on its way.
//! - **Rewriting.** Ten segments of tier t weigh at least 10^(t+1) together. So whenever a row is
//!   rewritten its segment moves up a tier at least. A row that came in a segment of weight w is rewritten at
//!   most log10 (W / w) + 1 times, however many days follow.
//! - **One addition** reads and writes each row at most once. A merge into tier t takes segments of lower
//!   tiers that weigh 10^t or more, and what it takes never is in a lower tier again. So there is at most one
//!   for each 10^t of weight that is added: the additions that rewrite all of a store are rarer the larger
//!   it is.
//!
//! A store with more segments than that, because it grew without merging, gets under the bound step by step:
//! an addition does one merge, from the lowest full tier on, and takes ten segments of it, those with the
//! earliest days.

/// A tier with so many segments is merged.
const FULL: usize = 10;

/// The numbers, in ascending order, of the segments that are merged next, of segments with these weights;
/// none if nothing is due.
///
/// ```text
/// [5; 9]                 nothing
/// [5; 10]                all ten
/// [5; 9] + [70; 9] + 5   all nineteen: the ten of tier 0 weigh 50, and with them tier 1 has ten
/// ```
pub(super) fn due(weights: &[u128]) -> Vec<usize> {
    let of_tier = |tier: u32| (0..weights.len()).filter(move |&at| self::tier(weights[at]) == tier);
    let full = (0..=tier(u128::MAX)).find(|&tier| of_tier(tier).count() >= FULL);
    let Some(full) = full else { return Vec::new() };
    let mut merged: Vec<usize> = of_tier(full).take(FULL).collect();
    loop {
        // Higher than the tiers of all that is merged so far.
        let reached = tier(merged.iter().map(|&at| weights[at]).sum());
        let others: Vec<usize> = of_tier(reached).take(FULL - 1).collect();
        if others.len() < FULL - 1 {
            merged.sort_unstable();
            return merged;
        }
        merged.extend(others);
    }
}

fn tier(weight: u128) -> u32 {
    weight.max(1).ilog10()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Adds a segment, and merges once what is due. Returns what was merged.
    fn add(store: &mut Vec<u128>, weight: u128) -> Vec<u128> {
        store.push(weight);
        let due = due(store);
        let merged: Vec<u128> = due.iter().map(|&at| store[at]).collect();
        let mut at = 0..;
        store.retain(|_| at.next().is_some_and(|at| !due.contains(&at)));
        store.extend((!merged.is_empty()).then(|| merged.iter().sum::<u128>()));
        merged
    }

    #[test]
    fn the_examples_of_the_documentation_hold() {
        assert!(due(&[5; 9]).is_empty());
        assert_eq!(due(&[5; 10]), (0..10).collect::<Vec<_>>());
        let carried = [[5; 9], [70; 9]].concat();
        assert_eq!(due(&[&carried[..], &[5]].concat()), (0..19).collect::<Vec<_>>());
        let mut store = vec![12, 11, 13, 10, 12, 11, 10, 14, 12, 900];
        add(&mut store, 11);
        assert_eq!(store, [900, 116]);
    }

    #[test]
    fn a_thousand_equal_days_are_never_more_than_36_segments() {
        for weight in [1, 9, 10, 100_001] {
            let mut store = Vec::new();
            for _ in 0..1000 {
                add(&mut store, weight);
                assert!(store.len() <= 36, "{store:?}");
            }
            assert_eq!(store.iter().sum::<u128>(), 1000 * weight);
        }
    }

    #[test]
    fn a_store_that_grew_without_merging_gets_under_the_bound() {
        let mut store = vec![100_001; 1000];
        for _ in 0..120 {
            let before = store.len();
            assert!(add(&mut store, 100_001).len() <= 10 * 4);
            assert!(store.len() <= before + 1);
        }
        assert!(store.len() <= 36, "{store:?}");
    }

    proptest! {
        #[test]
        fn few_segments_few_rewrites(
            weights in prop::collection::vec((0u32..7, 1u128..10), 1..400),
        ) {
            let mut store = Vec::new();
            let mut rewritten = 0;
            let mut all = 0;
            let mut merges = [0u128; 12];
            for (tens, digit) in weights {
                let weight = digit * 10u128.pow(tens);
                all += weight;
                let merged = add(&mut store, weight);
                prop_assert_eq!(store.iter().sum::<u128>(), all);
                prop_assert!(store.len() <= 9 * (1 + all.ilog10() as usize));
                prop_assert!(due(&store).is_empty());
                let size: u128 = merged.iter().sum();
                rewritten += size;
                prop_assert!(merged.iter().all(|&part| tier(part) < tier(size)));
                if size > 0 {
                    (0..=tier(size)).for_each(|tier| merges[tier as usize] += 1);
                }
            }
            prop_assert!(rewritten <= all * u128::from(all.ilog10() + 1));
            for (tier, merges) in (1..).zip(&merges[1..]) {
                prop_assert!(merges * 10u128.pow(tier) <= all, "{merges} of tier {tier}");
            }
        }
    }
}
