//! Similarities in steps, and the least step that agrees best with the labels.

use super::Labels;

/// The number of steps from 0 to 1.
const STEPS: u8 = 200;

/// A similarity, rounded down to a step: one byte, since all pairs of many documents are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step(u8);

impl Step {
    /// The highest step that is at most `similarity`.
    pub fn of(similarity: f64) -> Step {
        // Rounding may come out one step off the comparison that defines a step.
        let near = (similarity.clamp(0.0, 1.0) * f64::from(STEPS)).round() as u8;
        if Step(near).similarity() <= similarity {
            Step(near)
        } else {
            Step(near.saturating_sub(1))
        }
    }

    /// The least similarity of this step.
    pub fn similarity(self) -> f64 {
        f64::from(self.0) / f64::from(STEPS)
    }

    /// The step with the highest F1 if the pairs of that step or higher are taken, the highest of equals.
    /// Each pair comes once, with how alike it is.
    pub fn best(pairs: impl Iterator<Item = (u32, u32, Step)>, labels: &Labels) -> Step {
        let clusters = labels.clusters();
        let mut right = [0_u64; STEPS as usize + 1];
        let mut all = [0_u64; STEPS as usize + 1];
        for (one, another, step) in pairs {
            all[usize::from(step.0)] += 1;
            right[usize::from(step.0)] +=
                u64::from(clusters[one as usize] == clusters[another as usize]);
        }
        let positives: u64 = labels.sizes().iter().map(|size| size * (size - 1) / 2).sum();
        let mut best = (0.0, STEPS);
        let mut sums = (0, 0);
        for step in (0..=STEPS).rev() {
            let at = usize::from(step);
            sums = (sums.0 + right[at], sums.1 + all[at]);
            let f1 = (2 * sums.0) as f64 / (sums.1 + positives).max(1) as f64;
            if f1 > best.0 {
                best = (f1, step);
            }
        }
        Step(best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Pairs, Scores};
    use proptest::prelude::*;

    #[test]
    fn a_step_is_the_highest_that_is_at_most_the_similarity() {
        let all: Vec<f64> = (0..=STEPS).map(|step| Step(step).similarity()).collect();
        let thirds = (0..=3000).map(|part| f64::from(part) / 3000.0);
        let around = all.iter().flat_map(|it| [it.next_down(), *it, it.next_up()]);
        for similarity in thirds.chain(around).filter(|it| (0.0..=1.0).contains(it)) {
            let expected = all.partition_point(|&least| least <= similarity) - 1;
            assert_eq!(Step::of(similarity), Step(expected as u8), "{similarity}");
        }
        assert_eq!((Step::of(-0.0), Step::of(1.5)), (Step(0), Step(STEPS)));
    }

    proptest! {
        #[test]
        fn no_other_step_is_better(
            clusters in prop::collection::vec(0..4_u8, 2..12),
            steps in prop::collection::vec(0..=STEPS, 66),
        ) {
            let mut labels = Labels::default();
            for (id, cluster) in clusters.iter().enumerate() {
                labels.add(&id.to_string(), &cluster.to_string()).unwrap();
            }
            let count = clusters.len() as u32;
            let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |two| (one, two)));
            let pairs: Vec<(u32, u32, Step)> =
                pairs.zip(steps).map(|((one, two), step)| (one, two, Step(step))).collect();
            let f1 = |least| {
                let alike = pairs.iter().filter(|pair| pair.2 >= least);
                let pairs = Pairs::of(alike.map(|&(one, two, _)| (one, two)));
                Scores::of(&pairs, &labels).f1.unwrap_or(0.0)
            };
            let best = f1(Step::best(pairs.iter().copied(), &labels));
            prop_assert!((0..=STEPS).all(|step| f1(Step(step)) <= best));
        }
    }
}
