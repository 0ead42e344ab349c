//! Random hyperplanes: two vectors lie on one side of a hyperplane the more often, the smaller their angle.
//!
//! Charikar, "Similarity Estimation Techniques from Rounding Algorithms" (STOC 2002): a hash is the sign of
//! the product with a vector of independent Gaussian components.

use std::f64::consts::PI;

use super::family::Family;
use super::gaussian::{Projections, each_coefficient};

/// Hashes of one bit, with P(agree) = 1 - θ / π for an angle of θ, so 1 - acos(s) / π for a cosine of s.
///
/// A point is a list of weighted features, each a hash and a weight in fixed point, or a vector of finite
/// components. In a list, a feature that comes twice has the sum of its weights.
#[derive(Clone, Debug)]
pub struct Hyperplanes {
    seed: u64,
    sums: Vec<i128>,
    projections: Projections,
}

impl Hyperplanes {
    /// A family of `count` functions.
    pub fn new(count: usize, seed: u64) -> Hyperplanes {
        let projections = Projections::new(count, seed);
        Hyperplanes { seed, sums: vec![0; count], projections }
    }
}

fn collision(cosine: f64) -> f64 {
    1.0 - libm::acos(cosine.clamp(0.0, 1.0)) / PI
}

impl Family<[(u64, i64)]> for Hyperplanes {
    fn hash(&mut self, point: &[(u64, i64)], hashes: &mut Vec<u32>) {
        let Hyperplanes { seed, sums, .. } = self;
        sums.fill(0);
        for &(feature, weight) in point {
            let weight = i128::from(weight);
            each_coefficient(feature, sums.len(), *seed, |function, coefficient| {
                sums[function] += weight * i128::from(coefficient);
            });
        }
        hashes.extend(sums.iter().map(|&sum| u32::from(sum >= 0)));
    }

    fn collision(&self, similarity: f64) -> f64 {
        collision(similarity)
    }
}

impl Family<[f64]> for Hyperplanes {
    fn hash(&mut self, point: &[f64], hashes: &mut Vec<u32>) {
        hashes.extend(self.projections.of(point).iter().map(|&product| u32::from(product >= 0.0)));
    }

    fn collision(&self, similarity: f64) -> f64 {
        collision(similarity)
    }
}
