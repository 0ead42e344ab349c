//! Confidence intervals of scores: the bootstrap (Efron, 1979) over clusters, because the pairs of one
//! cluster are not independent.
//!
//! A resample draws as many clusters as there are, with replacement. A cluster drawn w times brings
//! its own pairs w times, and two clusters drawn v and w times bring the pairs between them v w times.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use super::scores::{Counts, choose_two};
use super::{Labels, Pairs};
use crate::progress::{self, Activity};

const RESAMPLES: usize = 1000;

/// The middle 95 % of what resamples score; none where no resample scores at all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Intervals {
    pub precision: Option<(f64, f64)>,
    pub recall: Option<(f64, f64)>,
    pub f1: Option<(f64, f64)>,
}

pub fn bootstrap(pairs: &Pairs, labels: &Labels, seed: u64) -> Intervals {
    let tally = Tally::of(pairs, labels);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let clusters = labels.len();
    let mut precision = Vec::new();
    let mut recall = Vec::new();
    let mut f1 = Vec::new();
    let mut drawn = vec![0; clusters];
    for _ in 0..RESAMPLES {
        progress::tick(Activity::Working);
        drawn.fill(0_u64);
        (0..clusters).for_each(|_| drawn[random.random_range(0..clusters)] += 1);
        let counts = tally.weighed(&drawn);
        precision.extend(counts.precision());
        recall.extend(counts.recall());
        f1.extend(counts.f1());
    }
    Intervals { precision: middle(precision), recall: middle(recall), f1: middle(f1) }
}

struct Tally {
    found: Vec<((u32, u32), u64)>,
    positives: Vec<u64>,
}

impl Tally {
    fn of(pairs: &Pairs, labels: &Labels) -> Tally {
        let cluster = |document: u32| labels.clusters()[document as usize];
        let mut found: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for &(one, another) in pairs.as_slice() {
            let joined = (cluster(one).min(cluster(another)), cluster(one).max(cluster(another)));
            *found.entry(joined).or_default() += 1;
        }
        let positives = labels.sizes().into_iter().map(choose_two).collect();
        Tally { found: found.into_iter().collect(), positives }
    }

    fn weighed(&self, drawn: &[u64]) -> Counts {
        let mut counts = Counts::default();
        for &((one, another), pairs) in &self.found {
            if one == another {
                counts.true_positives += drawn[one as usize] * pairs;
                counts.pairs += drawn[one as usize] * pairs;
            } else {
                counts.pairs += drawn[one as usize] * drawn[another as usize] * pairs;
            }
        }
        counts.positives =
            self.positives.iter().zip(drawn).map(|(pairs, times)| pairs * times).sum();
        counts
    }
}

fn middle(mut scores: Vec<f64>) -> Option<(f64, f64)> {
    scores.sort_unstable_by(f64::total_cmp);
    let last = scores.len().checked_sub(1)?;
    let at = |part: f64| scores[(part * last as f64).round() as usize];
    Some((at(0.025), at(0.975)))
}

#[cfg(test)]
mod tests {
    use super::super::Scores;
    use super::*;

    fn labels(clusters: u32) -> Labels {
        let mut labels = Labels::default();
        for document in 0..2 * clusters {
            labels.add(&document.to_string(), &(document / 2).to_string()).unwrap();
        }
        labels
    }

    #[test]
    fn drawn_once_each_the_clusters_score_as_they_are() {
        let labels = labels(4);
        let pairs = Pairs::of([(0, 1), (2, 3), (1, 2), (4, 7)]);
        let (counts, scores) =
            (Tally::of(&pairs, &labels).weighed(&[1; 4]), Scores::of(&pairs, &labels));
        assert_eq!((counts.precision(), counts.recall()), (scores.precision, scores.recall));
        let twice = Tally::of(&pairs, &labels).weighed(&[2, 1, 0, 1]);
        assert_eq!((twice.true_positives, twice.pairs, twice.positives), (3, 5, 4));
    }

    /// Half of 400 clusters are found: recall is a mean of 400 draws, its spread 0.025.
    #[test]
    fn intervals_are_as_wide_as_theory_says() {
        let labels = labels(400);
        let pairs = Pairs::of((0..200).map(|n| (4 * n, 4 * n + 1)));
        let intervals = bootstrap(&pairs, &labels, 7);
        assert_eq!(intervals, bootstrap(&pairs, &labels, 7));
        assert_ne!(intervals, bootstrap(&pairs, &labels, 8));
        let (low, high) = intervals.recall.unwrap();
        assert!((0.44..0.462).contains(&low) && (0.538..0.56).contains(&high), "{low} {high}");
        assert_eq!(intervals.precision, Some((1.0, 1.0)));
    }
}
