//! TextRank: Mihalcea and Tarau, "TextRank: Bringing Order into Texts" (EMNLP 2004).
//!
//! Features are the vertices of a graph. Two features within `SPAN` places of each other are joined by an
//! edge, one for each time that occurs. Rank flows along the edges, as in PageRank. It is computed in
//! integers and in a fixed order, so every machine has the same ranks.

use std::hash::Hash;

use crate::features::by_hash::ByHash;
use crate::features::{ONE, SCALE_BITS};
use crate::progress::{self, Activity};

/// Two features are joined if this many consecutive places include both.
const SPAN: usize = 5;
const ROUNDS: usize = 20;
/// The share of a rank that flows in, 0.85 in fixed point. The rest is the same for all.
const DAMPING: i64 = ONE * 85 / 100;

/// The rank of each feature of a text, whose occurrences are given in order, in fixed point; the mean
/// is about 1. A feature near no other has the least, 0.15.
pub(crate) fn ranks<F: Copy + Eq + Hash>(occurrences: impl Iterator<Item = F>) -> Vec<(F, i64)> {
    let mut numbers = ByHash::<F, u32>::default();
    let mut features = Vec::new();
    let places: Vec<u32> = occurrences
        .map(|feature| {
            *numbers.entry(feature).or_insert_with(|| {
                features.push(feature);
                features.len() as u32 - 1
            })
        })
        .collect();
    let ranks = flow(&edges(&places), features.len());
    features.into_iter().zip(ranks).collect()
}

/// The edges, each as often as it occurs, in order; of the two ends the lesser comes first, and no edge
/// joins a vertex with itself. Eight bytes for each, so that a long text can be ranked.
fn edges(places: &[u32]) -> Vec<(u32, u32)> {
    let mut edges = Vec::with_capacity((SPAN - 1) * places.len());
    for (at, &one) in places.iter().enumerate() {
        let near = &places[at + 1..places.len().min(at + SPAN)];
        let others = near.iter().filter(|&&another| another != one);
        edges.extend(others.map(|&another| (one.min(another), one.max(another))));
    }
    edges.sort_unstable();
    edges
}

fn flow(edges: &[(u32, u32)], vertices: usize) -> Vec<i64> {
    let mut out = vec![0_u64; vertices];
    for &(one, another) in edges {
        out[one as usize] += 1;
        out[another as usize] += 1;
    }
    let mut ranks = vec![ONE; vertices];
    let mut next = vec![0_i64; vertices];
    for _ in 0..ROUNDS {
        progress::tick(Activity::Working);
        next.fill(0);
        for same in edges.chunk_by(|edge, next| edge == next) {
            let one = same[0].0 as usize;
            let another = same[0].1 as usize;
            let flowing = |from: usize| {
                let rank = i128::from(ranks[from]) * same.len() as i128;
                (rank / i128::from(out[from])) as i64
            };
            next[one] += flowing(another);
            next[another] += flowing(one);
        }
        for (rank, &inflow) in ranks.iter_mut().zip(&next) {
            *rank =
                ONE - DAMPING + ((i128::from(DAMPING) * i128::from(inflow)) >> SCALE_BITS) as i64;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The definition, in floating point over a matrix.
    fn definition(text: &[u64]) -> BTreeMap<u64, f64> {
        let mut joined: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        for (at, &one) in text.iter().enumerate() {
            for &another in text.iter().skip(at + 1).take(SPAN - 1) {
                if one != another {
                    *joined.entry((one, another)).or_default() += 1.0;
                    *joined.entry((another, one)).or_default() += 1.0;
                }
            }
        }
        let mut ranks: BTreeMap<u64, f64> = text.iter().map(|&feature| (feature, 1.0)).collect();
        let out = |from: u64| joined.iter().filter(|it| it.0.0 == from).map(|it| it.1).sum::<f64>();
        for _ in 0..ROUNDS {
            let inflow = |to: u64| -> f64 {
                let edges = joined.iter().filter(|it| it.0.1 == to);
                edges.map(|(&(from, _), times)| ranks[&from] * times / out(from)).sum()
            };
            ranks = ranks.keys().map(|&it| (it, 0.15 + 0.85 * inflow(it))).collect();
        }
        ranks
    }

    proptest::proptest! {
        #[test]
        fn equals_its_definition(text in proptest::collection::vec(0..9_u64, 0..30)) {
            let expected = definition(&text);
            let found = ranks(text.iter().copied());
            assert_eq!(found.len(), expected.len());
            for (feature, rank) in found {
                let rank = rank as f64 / ONE as f64;
                assert!((rank - expected[&feature]).abs() < 1e-3, "{rank}, {}", expected[&feature]);
            }
        }
    }
}
