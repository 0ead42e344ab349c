//! Bands of rows: hashes made so that near points very likely meet, and far ones hardly ever.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Kind, Result};

/// How hashes are divided: all rows of a band must agree (AND), in one of the bands at least (OR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banding {
    /// How many bands.
    pub bands: usize,
    /// How many rows a band has.
    pub rows: usize,
}

/// The areas between the curve of a banding and the step that would be best: nothing below a threshold,
/// everything above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Areas {
    /// What is found below the threshold.
    pub false_positives: f64,
    /// What is missed above it.
    pub false_negatives: f64,
}

/// What a missed pair weighs, and one that is found for nothing. The second costs a comparison, the first is
/// lost.
const WEIGHTS: Areas = Areas { false_positives: 0.02, false_negatives: 0.98 };

/// The bits of a key below the number of its band. Two far pages share a key of one band by chance once in 10^12
/// pairs.
const KEY_BITS: u32 = 40;

/// How many steps the similarities from 0 to 1 are integrated in.
const STEPS: usize = 1000;

impl Banding {
    /// How many hashes are divided into bands, unless another number is asked for.
    pub const USUAL_HASHES: usize = 112;

    /// The most hashes of a point.
    pub const MOST_HASHES: usize = 4096;

    /// How many hashes a point has.
    pub fn hashes(self) -> usize {
        self.bands * self.rows
    }

    /// Fails with [`Kind::Usage`] unless there are hashes, and not more than [`Banding::MOST_HASHES`].
    pub fn check(self) -> Result<()> {
        let hashes = self.bands.checked_mul(self.rows);
        match hashes {
            Some(1..=Banding::MOST_HASHES) => Ok(()),
            _ => Err(Error::new(Kind::Usage, "no such banding")
                .expected(format!("1 to {} hashes in all", Banding::MOST_HASHES))
                .found(self)),
        }
    }

    /// The probability that two points share a bucket, if one hash agrees with this `collision` probability:
    /// 1 - (1 - p^r)^b.
    pub fn probability(self, collision: f64) -> f64 {
        1.0 - power(1.0 - power(collision, self.rows), self.bands)
    }

    /// The key of each band: its number, and 40 bits of the hash of its rows. Points with the same key share a
    /// bucket.
    pub fn keys(self, hashes: &[u32]) -> Vec<u64> {
        let mut bytes = Vec::with_capacity(4 * self.rows);
        let key = |(band, rows): (u64, &[u32])| {
            bytes.clear();
            bytes.extend(rows.iter().flat_map(|row| row.to_le_bytes()));
            Banding::key(band, xxh3_64_with_seed(&bytes, band))
        };
        (0..).zip(hashes.chunks_exact(self.rows)).map(key).collect()
    }

    pub(super) fn key(band: u64, hash: u64) -> u64 {
        band << KEY_BITS | hash & ((1 << KEY_BITS) - 1)
    }

    /// The areas on both sides of the similarity `threshold`. `collision` is that of the family.
    pub fn areas(self, threshold: f64, collision: impl Fn(f64) -> f64) -> Areas {
        Curve::of(threshold, collision).areas(self)
    }

    /// The banding of at most so many `hashes` with the least weighted areas for a `threshold`, as Zhu's
    /// datasketch chooses it. A missed pair weighs 49 times one that is found for nothing, since what is found
    /// is confirmed. Of equals the one with fewer bands is taken.
    pub fn best(hashes: usize, threshold: f64, collision: impl Fn(f64) -> f64) -> Banding {
        let curve = Curve::of(threshold, collision);
        let each = (1..=hashes)
            .flat_map(|bands| (1..=hashes / bands).map(move |rows| Banding { bands, rows }));
        let cost = |banding: Banding| {
            let areas = curve.areas(banding);
            WEIGHTS.false_positives * areas.false_positives
                + WEIGHTS.false_negatives * areas.false_negatives
        };
        let all = each.map(|banding| (cost(banding), banding));
        let best = all.reduce(|best, next| if next.0 < best.0 { next } else { best });
        best.expect("there is a hash").1
    }
}

/// The collision probabilities of a family in the middles of equal steps below and above a threshold.
struct Curve {
    below: Vec<f64>,
    above: Vec<f64>,
    threshold: f64,
}

impl Curve {
    fn of(threshold: f64, collision: impl Fn(f64) -> f64) -> Curve {
        let middles = |from: f64, to: f64| -> Vec<f64> {
            let middle = |step| from + (to - from) * (step as f64 + 0.5) / STEPS as f64;
            (0..STEPS).map(|step| collision(middle(step))).collect()
        };
        Curve { below: middles(0.0, threshold), above: middles(threshold, 1.0), threshold }
    }

    fn areas(&self, banding: Banding) -> Areas {
        let mean =
            |all: &[f64]| all.iter().map(|&it| banding.probability(it)).sum::<f64>() / STEPS as f64;
        Areas {
            false_positives: self.threshold * mean(&self.below),
            false_negatives: (1.0 - self.threshold) * (1.0 - mean(&self.above)),
        }
    }
}

/// `base` to a power, by squares: the same on every machine, which `powi` does not promise.
fn power(mut base: f64, mut exponent: usize) -> f64 {
    let mut power = 1.0;
    while exponent > 0 {
        if exponent % 2 == 1 {
            power *= base;
        }
        base *= base;
        exponent /= 2;
    }
    power
}

impl fmt::Display for Banding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bands of {} rows", self.bands, self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `datasketch.lsh._optimal_param` of datasketch 2.0.0 with these weights: hashes, threshold, bands, rows.
    #[test]
    fn the_banding_is_the_one_that_datasketch_chooses() {
        let chosen = [(112, 0.5, 34, 3), (112, 0.8, 16, 7), (256, 0.9, 16, 16)];
        for (hashes, threshold, bands, rows) in chosen {
            let banding = Banding::best(hashes, threshold, |it| it);
            assert_eq!(banding, Banding { bands, rows }, "{hashes} {threshold}");
        }
    }

    #[test]
    fn a_key_is_told_by_its_band_and_all_its_rows() {
        let keys = |hashes: [u32; 6]| Banding { bands: 3, rows: 2 }.keys(&hashes);
        let [a, b] = [keys([1, 2, 1, 2, 3, 4]), keys([1, 2, 1, 5, 3, 4])];
        assert_ne!(a[0], a[1], "bands of the same rows are other buckets");
        assert_eq!([a[0] == b[0], a[1] == b[1], a[2] == b[2]], [true, false, true]);
        // Stores will hold these: they never change.
        assert_eq!(a[0], 254_984_204_845_929_552 % (1 << 40));
        assert_eq!(a[2] >> 40, 2);
    }
}
