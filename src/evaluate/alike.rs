//! Pairs with how alike they are, and the least similarity at which they agree best with labels.

use super::{Labels, Pairs};

/// The least similarities that are tried, as parts of this.
const STEPS: u32 = 200;

/// Pairs of labelled documents with how alike they are, from 0 to 1.
#[derive(Clone, Debug, Default)]
pub struct AlikePairs {
    /// Each pair once, the smaller number first.
    pairs: Vec<(u32, u32, f64)>,
}

impl AlikePairs {
    /// Takes a pair that was not taken before.
    pub fn push(&mut self, one: u32, another: u32, similarity: f64) {
        self.pairs.push((one.min(another), one.max(another), similarity));
    }

    /// The pairs that are at least so alike.
    pub fn confirmed(&self, least: f64) -> Pairs {
        let alike = self.pairs.iter().filter(|pair| pair.2 >= least);
        Pairs::of(alike.map(|&(one, another, _)| (one, another)))
    }

    /// Of the parts of 200 the least similarity with the highest F1, the highest of equals.
    pub fn best_least(&self, labels: &Labels) -> f64 {
        let clusters = labels.clusters();
        let steps: Vec<f64> = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS)).collect();
        let (mut right, mut all) = (vec![0_u64; steps.len()], vec![0_u64; steps.len()]);
        for &(one, another, similarity) in &self.pairs {
            let step = steps.partition_point(|&least| least <= similarity).max(1) - 1;
            all[step] += 1;
            right[step] += u64::from(clusters[one as usize] == clusters[another as usize]);
        }
        let positives: u64 = labels.sizes().iter().map(|size| size * (size - 1) / 2).sum();
        let (mut best, mut sums) = ((0.0, steps.len() - 1), (0, 0));
        for step in (0..all.len()).rev() {
            sums = (sums.0 + right[step], sums.1 + all[step]);
            let f1 = (2 * sums.0) as f64 / (sums.1 + positives).max(1) as f64;
            if f1 > best.0 {
                best = (f1, step);
            }
        }
        steps[best.1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Scores;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_other_step_is_better(
            clusters in prop::collection::vec(0..4_u8, 2..12),
            similarities in prop::collection::vec(0..=200_u32, 66),
        ) {
            let mut labels = Labels::default();
            for (id, cluster) in clusters.iter().enumerate() {
                labels.add(&id.to_string(), &cluster.to_string()).unwrap();
            }
            let mut alike = AlikePairs::default();
            let count = clusters.len() as u32;
            let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |two| (two, one)));
            for ((one, two), step) in pairs.zip(similarities) {
                alike.push(one, two, f64::from(step) / 200.0);
            }
            let f1 = |least| Scores::of(&alike.confirmed(least), &labels).f1.unwrap_or(0.0);
            let best = f1(alike.best_least(&labels));
            prop_assert!((0..=200).all(|step| f1(f64::from(step) / 200.0) <= best));
        }
    }
}
