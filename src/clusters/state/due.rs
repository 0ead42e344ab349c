//! The rule by which a state merges its layers, so that it never has many of them.
//!
//! What a layer says counts over older ones, so only neighbours are merged: the newest, together. They are merged as
//! soon as a layer weighs less than all that came after it:
//!
//! ```text
//! weights    100 4 2 1        nothing is due: each weighs as much as those after it, or more
//! add 1      100 4 2 1 1      nothing is due
//! add 1      100 4 2 1 1 1    the first of them weighs less than the two after it, and so do 2 and 4: 100 9
//! ```
//!
//! What follows, for a state of weight W:
//!
//! - **Layers.** Each weighs at least as much as all after it, so the weight of those from one on doubles from layer to
//!   layer. With layers of weight w and more there are at most 2 + log2 (W / w).
//! - **Rewriting.** The merged layer weighs more than twice the oldest that went into it, and a row in a later one
//!   gains more. So a row is rewritten at most 1 + log2 (W / w) times, however many days follow.

/// The first of the layers that are merged next, of layers with these weights, the oldest first; none if nothing is
/// due.
pub(super) fn due(weights: &[u64]) -> Option<usize> {
    let mut newer: u128 = 0;
    let mut first = None;
    for (at, &weight) in weights.iter().enumerate().rev() {
        if u128::from(weight) < newer {
            first = Some(at);
        }
        newer += u128::from(weight);
    }
    first
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_examples_of_the_documentation_hold() {
        assert_eq!(due(&[100, 4, 2, 1]), None);
        assert_eq!(due(&[100, 4, 2, 1, 1]), None);
        assert_eq!(due(&[100, 4, 2, 1, 1, 1]), Some(1));
    }

    proptest! {
        #[test]
        fn few_layers_few_rewrites(weights in prop::collection::vec(1_u64..1000, 1..400)) {
            let least = *weights.iter().min().unwrap();
            let mut layers: Vec<u64> = Vec::new();
            let (mut all, mut rewritten) = (0, 0);
            for weight in weights {
                layers.push(weight);
                all += weight;
                if let Some(first) = due(&layers) {
                    let merged: u64 = layers.drain(first..).sum();
                    rewritten += merged;
                    layers.push(merged);
                }
                prop_assert_eq!(due(&layers), None);
                prop_assert_eq!(layers.iter().sum::<u64>(), all);
                let doublings = u64::from((all / least).ilog2());
                prop_assert!(layers.len() as u64 <= 2 + doublings, "{:?}", layers);
                prop_assert!(rewritten <= all * (1 + doublings));
            }
        }
    }
}
