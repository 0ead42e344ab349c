//! A sweep: one recipe's fingerprints of labelled documents, judged at every distance.

use super::{Labels, Pairs};

/// The most documents that are swept, since all pairs of them are compared.
pub const MOST_DOCUMENTS: usize = 50_000;

/// The pairs of fingerprints within `most` bits, by their distance: for each k from 0 to `most` those
/// at exactly k. A document without a fingerprint has no pair.
pub fn by_distance(fingerprints: &[Option<u128>], most: u32) -> Vec<Vec<(u32, u32)>> {
    let mut pairs = vec![Vec::new(); most as usize + 1];
    let present: Vec<(u32, u128)> =
        (0..).zip(fingerprints).filter_map(|(document, bits)| Some((document, (*bits)?))).collect();
    for (at, &(one, bits)) in present.iter().enumerate() {
        for &(another, others) in &present[at + 1..] {
            let distance = (bits ^ others).count_ones();
            if distance <= most {
                pairs[distance as usize].push((one, another));
            }
        }
    }
    pairs
}

/// Calls `each` with every k from 0 to `most` and the pairs within k bits among the labelled documents
/// that `kept` renumbers, as [`Labels::restrict`] does.
pub fn sweep(
    fingerprints: &[Option<u128>],
    kept: &[Option<u32>],
    most: u32,
    mut each: impl FnMut(u32, &Pairs),
) {
    let mut within = Vec::new();
    for (k, pairs) in (0..).zip(by_distance(fingerprints, most)) {
        let number = |document: u32| kept[document as usize];
        within
            .extend(pairs.into_iter().filter_map(|(one, two)| Some((number(one)?, number(two)?))));
        each(k, &Pairs::of(within.iter().copied()));
    }
}

/// Every document of `labels` by its own number: a sweep over all of them.
pub fn all(labels: &Labels) -> Vec<Option<u32>> {
    (0..labels.clusters().len() as u32).map(Some).collect()
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
            sweep(&fingerprints, &kept, 4, |k, pairs| {
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
