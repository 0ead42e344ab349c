//! Recall by similarity: the share of the positive pairs that are found, in bands of similarity.

use serde::Serialize;

use super::scores::share;

/// Where one band ends and the next one begins; the last one holds 1.
pub const BANDS: [f64; 8] = [0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0];

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Band {
    pub from: f64,
    /// The similarity it stays below, or 1.
    pub to: Option<f64>,
    pub positives: u64,
    pub found: u64,
    pub recall: Option<f64>,
}

fn band_of(similarity: f64) -> usize {
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
    let band = |(edge, (positives, found)): (&[f64], (u64, u64))| {
        let recall = share(found, positives);
        Band { from: edge[0], to: Some(edge[1]), positives, found, recall }
    };
    edges.map(band).collect()
}
