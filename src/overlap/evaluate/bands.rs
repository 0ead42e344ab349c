//! Recall by similarity: the share of the positive pairs that are found, in bands of similarity.

use std::path::Path;

use serde::Serialize;

use super::scores::{choose_two, share};
use super::{Labels, Pairs, columns};
use crate::error::{Error, Kind, Result};

/// Where one band ends and the next one begins; the last one holds 1.
pub const BANDS: [f64; 8] = [0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0];

#[derive(Clone, Debug)]
pub struct PairSimilarities {
    pairs: Vec<(u32, u32, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Band {
    pub from: f64,
    /// The similarity it stays below, or 1; `None` for the positive pairs without a similarity.
    pub to: Option<f64>,
    pub positives: u64,
    pub found: u64,
    pub recall: Option<f64>,
}

impl PairSimilarities {
    pub fn read(path: &Path, labels: &Labels) -> Result<PairSimilarities> {
        let mut pairs = Vec::new();
        columns::each(path, &[["id1", "id2", "J3"]], false, |[one, another, similarity]| {
            let similarity = similarity.parse().ok().filter(|s| (0.0..=1.0).contains(s));
            let similarity = similarity.ok_or_else(|| {
                Error::new(Kind::BadData, "not a similarity").expected("a number from 0 to 1")
            })?;
            if let (Some(one), Some(another)) = (labels.document(one), labels.document(another)) {
                pairs.push((one.min(another), one.max(another), similarity));
            }
            Ok(())
        })?;
        pairs.sort_unstable_by(|one, another| one.partial_cmp(another).expect("no NaN"));
        pairs.dedup_by_key(|&mut (one, another, _)| (one, another));
        Ok(PairSimilarities { pairs })
    }

    /// The recall of `found` in each band that has a positive pair, and last that of the positive pairs
    /// without a similarity, if there are any.
    pub fn bands(&self, found: &Pairs, labels: &Labels) -> Vec<Band> {
        let clusters = labels.clusters();
        let positive =
            |one: u32, another: u32| clusters[one as usize] == clusters[another as usize];
        let known = self.pairs.iter().filter(|pair| pair.0 != pair.1 && positive(pair.0, pair.1));
        let mut bands = bands(known.map(|pair| (pair.2, found.contains(pair.0, pair.1))));
        let known =
            bands.iter().fold((0, 0), |sum, band| (sum.0 + band.positives, sum.1 + band.found));
        let positives: u64 = labels.sizes().into_iter().map(choose_two).sum();
        let right = found.as_slice().iter().filter(|pair| positive(pair.0, pair.1)).count() as u64;
        if positives > known.0 {
            bands.push(Band::of(0.0, None, positives - known.0, right - known.1));
        }
        bands
    }
}

impl Band {
    fn of(from: f64, to: Option<f64>, positives: u64, found: u64) -> Band {
        Band { from, to, positives, found, recall: share(found, positives) }
    }
}

pub(super) fn band_of(similarity: f64) -> usize {
    BANDS[1..BANDS.len() - 1].partition_point(|&start| start <= similarity)
}

/// The bands of positive pairs, each with its similarity and whether it was found. Bands without a pair are
/// left out.
pub(super) fn bands(pairs: impl Iterator<Item = (f64, bool)>) -> Vec<Band> {
    let mut counts = [(0, 0); BANDS.len() - 1];
    for (similarity, is_found) in pairs {
        let (positives, found) = &mut counts[band_of(similarity)];
        *positives += 1;
        *found += u64::from(is_found);
    }
    let edges = BANDS.windows(2).zip(counts).filter(|(_, (positives, _))| *positives > 0);
    edges
        .map(|(edge, (positives, found))| Band::of(edge[0], Some(edge[1]), positives, found))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::columns::tests::file;
    use super::*;

    #[test]
    fn bands_count_positive_pairs_and_what_is_found_of_them() {
        let labels = Labels::read(file("a\t1\nb\t1\nc\t1\nd\t1\ne\t2\n").path()).unwrap();
        let listed = "id1\tid2\tsame_cluster\tJ3\n\
            a\tb\t1\t1.0000\nb\ta\t1\t1.0000\nc\ta\t1\t0.95\na\td\t1\t0.9499\ne\ta\t0\t0.99\nz\ta\t1\t0.5\n";
        let similarity = PairSimilarities::read(file(listed).path(), &labels).unwrap();
        let found = Pairs::of([(0, 1), (2, 3), (0, 4)]);
        let bands = similarity.bands(&found, &labels);
        let rows: Vec<_> = bands.iter().map(|b| (b.from, b.to, b.positives, b.found)).collect();
        assert_eq!(rows, [(0.9, Some(0.95), 1, 0), (0.95, Some(1.0), 2, 1), (0.0, None, 3, 1)]);
        assert_eq!(bands[1].recall, Some(0.5));
    }

    #[test]
    fn what_is_no_similarity_is_refused() {
        for wrong in ["1.1", "-0.1", "NaN", "", "much"] {
            let listed = file(&format!("id1\tid2\tJ3\na\tb\t{wrong}\n"));
            let error = PairSimilarities::read(listed.path(), &Labels::default()).unwrap_err();
            assert!(error.to_string().contains(":2: not a similarity"), "{error}");
        }
    }
}
