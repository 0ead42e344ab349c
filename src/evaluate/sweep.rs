//! A sweep: one recipe's fingerprints of labelled documents, judged at every distance.
//!
//! ```
//! use dupsieve::evaluate::Labels;
//! use dupsieve::evaluate::sweep::score_halves;
//!
//! let mut labels = Labels::default();
//! let mut fingerprints = Vec::new();
//! for document in 0..40_u128 {
//!     // Two documents a cluster, one bit apart; different clusters are far apart.
//!     labels.add(&document.to_string(), &(document / 2).to_string())?;
//!     fingerprints.push(Some((u128::MAX / 21 * (document / 2)) ^ (document % 2)));
//! }
//! let scores = score_halves(&fingerprints, &labels, 1, 1, 1000).expect("few near pairs");
//! assert_eq!(scores[0].judging.recall, Some(0.0)); // k = 0
//! assert_eq!(scores[1].judging.recall, Some(1.0)); // k = 1
//! # Ok::<(), dupsieve::Error>(())
//! ```

use super::{Intervals, Labels, Pairs, Scores, bootstrap};
use crate::progress::{self, Activity};

/// The most documents that are swept, since all pairs of them are compared.
pub const MOST_DOCUMENTS: usize = 50_000;

/// How much memory a near pair takes in the lists that hold it. They may be half empty.
pub const NEAR_PAIR_BYTES: u64 = 96;

/// The scores at one distance, on the half of the clusters that chooses and on the half that judges,
/// each with its intervals.
pub struct HalfScores {
    /// Scores on the half that chooses.
    pub choosing: Scores,
    /// Their intervals.
    pub choosing_intervals: Intervals,
    /// Scores on the half that judges.
    pub judging: Scores,
    /// Their intervals.
    pub judging_intervals: Intervals,
}

/// The scores of a recipe's fingerprints for k = 0, 1, ..., `largest`. The seed decides which clusters
/// fall into which half. None if there are more than `most` near pairs.
pub fn score_halves(
    fingerprints: &[Option<u128>],
    labels: &Labels,
    seed: u64,
    largest: u32,
    most: u64,
) -> Option<Vec<HalfScores>> {
    let near = by_distance(fingerprints, largest, most)?;
    let choosing = labels.halves(seed);
    let judging: Vec<bool> = choosing.iter().map(|choosing| !choosing).collect();
    let [choosing, judging] = [choosing, judging].map(|half| {
        let (labels, numbers) = labels.restrict(&half);
        let mut scores = Vec::new();
        sweep(&near, &numbers, |_, pairs| {
            scores.push((Scores::of(pairs, &labels), bootstrap(pairs, &labels, seed)));
        });
        scores
    });
    let both = |((choosing, choosing_intervals), (judging, judging_intervals))| HalfScores {
        choosing,
        choosing_intervals,
        judging,
        judging_intervals,
    };
    Some(choosing.into_iter().zip(judging).map(both).collect())
}

/// The pairs of fingerprints within `largest` bits, by their distance: for each k from 0 to `largest`
/// those at exactly k. A document without a fingerprint has no pair. None if there are more than `most`
/// pairs.
pub fn by_distance(
    fingerprints: &[Option<u128>],
    largest: u32,
    most: u64,
) -> Option<Vec<Vec<(u32, u32)>>> {
    let mut pairs = vec![Vec::new(); largest as usize + 1];
    let present: Vec<(u32, u128)> =
        (0..).zip(fingerprints).filter_map(|(document, bits)| Some((document, (*bits)?))).collect();
    for (at, &(one, bits)) in present.iter().enumerate() {
        for &(another, others) in &present[at + 1..] {
            let distance = (bits ^ others).count_ones();
            if distance <= largest {
                pairs[distance as usize].push((one, another));
            }
        }
        progress::tick(Activity::Working);
        if pairs.iter().map(Vec::len).sum::<usize>() as u64 > most {
            return None;
        }
    }
    Some(pairs)
}

/// Calls `each` with every k from 0 on and the pairs within k bits among the labelled documents that
/// `kept` renumbers, as `Labels::restrict` does. The pairs come
/// [by distance](by_distance).
pub fn sweep(
    by_distance: &[Vec<(u32, u32)>],
    kept: &[Option<u32>],
    mut each: impl FnMut(u32, &Pairs),
) {
    let mut within = Vec::new();
    for (k, pairs) in (0..).zip(by_distance) {
        let number = |document: u32| kept[document as usize];
        within.extend(pairs.iter().filter_map(|&(one, two)| Some((number(one)?, number(two)?))));
        each(k, &Pairs::of(within.iter().copied()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_its_definition(
            fingerprints in prop::collection::vec(prop::option::of(0..256_u128), 0..12),
            dropped in 0..12_usize,
        ) {
            let mut next = 0;
            let kept: Vec<Option<u32>> = (0..fingerprints.len())
                .map(|document| (document != dropped).then(|| { next += 1; next - 1 }))
                .collect();
            let ticks = progress::own_ticks();
            let near = by_distance(&fingerprints, 4, 66).unwrap();
            assert!(progress::own_ticks() > ticks || fingerprints.iter().flatten().count() == 0);
            let count = near.iter().map(Vec::len).sum::<usize>() as u64;
            prop_assert!(count == 0 || by_distance(&fingerprints, 4, count - 1).is_none());
            sweep(&near, &kept, |k, pairs| {
                for (one, first) in fingerprints.iter().enumerate() {
                    for (two, second) in fingerprints.iter().enumerate().skip(one + 1) {
                        let (Some(a), Some(b)) = (kept[one], kept[two]) else { continue };
                        let near = first.zip(*second).is_some_and(|(x, y)| (x ^ y).count_ones() <= k);
                        assert_eq!(pairs.contains(a, b), near);
                    }
                }
            });
        }
    }
}
