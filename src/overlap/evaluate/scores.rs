//! Scores of pairs found against labels.

use std::collections::HashMap;

use serde::Serialize;

use super::{Labels, Pairs};
use crate::clusters::Forest;

/// How well pairs agree with labels. A share of nothing is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
    pub pairs: u64,
    pub positives: u64,
    pub true_positives: u64,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    /// The harmonic mean of precision and recall; 0 where pairs were missed and none found rightly.
    pub f1: Option<f64>,
    /// The adjusted Rand index (Hubert and Arabie, 1985) of the connected components of the pairs
    /// against the clusters.
    pub ari: f64,
}

impl Scores {
    pub fn of(pairs: &Pairs, labels: &Labels) -> Scores {
        let clusters = labels.clusters();
        let positives = labels.sizes().into_iter().map(choose_two).sum();
        let pairs = pairs.as_slice();
        let mut true_positives = 0;
        let count = clusters.len() as u32;
        let mut components = Forest::of(count);
        for &(one, another) in pairs {
            true_positives += u64::from(clusters[one as usize] == clusters[another as usize]);
            components.join(one, another);
        }
        let found = pairs.len() as u64;
        let roots: Vec<u32> = (0..count).map(|page| components.root(page)).collect();
        Scores {
            pairs: found,
            positives,
            true_positives,
            precision: share(true_positives, found),
            recall: share(true_positives, positives),
            f1: share(2 * true_positives, found + positives),
            ari: adjusted_rand(&roots, clusters),
        }
    }
}

/// How much lower a cheaper method may score and still be recommended. Each preset costs several times as much
/// as the one before, so it should find clearly more. Scores by a few hundred clusters vary by as much.
const CLOSE: f64 = 0.05;

/// Which method to use, by the scores of all, the cheapest first.
pub fn cheapest(scores: &[f64]) -> usize {
    let best = scores.iter().copied().fold(0.0, f64::max);
    scores.iter().position(|&score| score >= best - CLOSE).unwrap_or(0)
}

pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn choose_two(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// The agreement of two partitions: 1 for the same, about 0 for unrelated ones.
fn adjusted_rand(one: &[u32], another: &[u32]) -> f64 {
    let pairs = |parts: &mut dyn Iterator<Item = (u32, u32)>| {
        let mut sizes: HashMap<(u32, u32), u64> = HashMap::new();
        parts.for_each(|part| *sizes.entry(part).or_default() += 1);
        sizes.into_values().map(choose_two).sum::<u64>() as f64
    };
    let both = pairs(&mut one.iter().copied().zip(another.iter().copied()));
    let first = pairs(&mut one.iter().map(|&part| (part, 0)));
    let second = pairs(&mut another.iter().map(|&part| (part, 0)));
    let all = choose_two(one.len() as u64) as f64;
    let expected = if all > 0.0 { first * second / all } else { 0.0 };
    let most = (first + second) / 2.0;
    if most == expected { 1.0 } else { (both - expected) / (most - expected) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(clusters: &[u32]) -> Labels {
        let mut labels = Labels::default();
        for (document, cluster) in clusters.iter().enumerate() {
            labels.add(&document.to_string(), &cluster.to_string()).unwrap();
        }
        labels
    }

    fn all_pairs(documents: usize) -> impl Iterator<Item = (u32, u32)> {
        let documents = documents as u32;
        (0..documents).flat_map(move |one| (one + 1..documents).map(move |two| (one, two)))
    }

    fn connected(pairs: &Pairs, one: u32, another: u32, documents: u32) -> bool {
        let mut reached = vec![one];
        let mut next = 0;
        while next < reached.len() {
            for other in 0..documents {
                if pairs.contains(reached[next], other) && !reached.contains(&other) {
                    reached.push(other);
                }
            }
            next += 1;
        }
        reached.contains(&another)
    }

    #[test]
    fn nothing_found_and_nothing_known() {
        let none = Scores::of(&Pairs::of([]), &labels(&[1, 1]));
        assert_eq!(
            (none.precision, none.recall, none.f1, none.ari),
            (None, Some(0.0), Some(0.0), 0.0)
        );
        let empty = Scores::of(&Pairs::of([]), &labels(&[]));
        assert_eq!((empty.precision, empty.recall, empty.f1, empty.ari), (None, None, None, 1.0));
    }

    proptest! {
        #[test]
        fn scores_equal_their_definitions(
            clusters in prop::collection::vec(0..5_u32, 2..14),
            found in prop::collection::vec((0..14_u32, 0..14_u32), 0..12),
        ) {
            let documents = clusters.len() as u32;
            let found = found.into_iter().map(|(one, two)| (one % documents, two % documents));
            let pairs = Pairs::of(found);
            let labels = labels(&clusters);
            let scores = Scores::of(&pairs, &labels);
            let mut both = 0;
            let mut known = 0;
            let mut joined = 0;
            let mut agreed = 0.0;
            for (one, two) in all_pairs(clusters.len()) {
                let same = clusters[one as usize] == clusters[two as usize];
                let path = connected(&pairs, one, two, documents);
                known += u64::from(same);
                both += u64::from(same && pairs.contains(one, two));
                joined += u64::from(path);
                agreed += f64::from(u8::from(path && same));
            }
            prop_assert_eq!((scores.true_positives, scores.positives), (both, known));
            let share = |of: u64| (of > 0).then(|| both as f64 / of as f64);
            let shares = (share(scores.pairs), share(known));
            prop_assert_eq!((scores.precision, scores.recall), shares);
            let expected = joined as f64 * known as f64 / all_pairs(clusters.len()).count() as f64;
            let most = (joined + known) as f64 / 2.0;
            let ari = if most == expected { 1.0 } else { (agreed - expected) / (most - expected) };
            prop_assert!((scores.ari - ari).abs() < 1e-9);
            if let (Some(p), Some(r)) = (scores.precision, scores.recall) {
                let f1 = if p + r == 0.0 { 0.0 } else { 2.0 * p * r / (p + r) };
                prop_assert!((scores.f1.unwrap() - f1).abs() < 1e-12);
            }
        }
    }
}
