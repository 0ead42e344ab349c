//! p-stable projections: near vectors fall into one slot of a line.
//!
//! Datar, Immorlica, Indyk and Mirrokni, "Locality-Sensitive Hashing Scheme Based on p-Stable Distributions"
//! (SCG 2004), for p = 2: a hash is floor((a·x + b) / w), where the components of a are independent and
//! Gaussian, and b is uniform from 0 to the width w of a slot.

use std::f64::consts::FRAC_2_PI;

use super::family::Family;
use super::gaussian::{Projections, distribution};
use crate::fingerprint::minhash::mixed;

/// Hashes of vectors of finite components. At a Euclidean distance of c and with t = w / c,
/// P(agree) = 1 - 2 Φ(-t) - √(2/π) / t (1 - exp(-t² / 2)). The similarity is 1 / (1 + c).
#[derive(Clone, Debug)]
pub struct PStable {
    slot: f64,
    offsets: Vec<f64>,
    projections: Projections,
}

impl PStable {
    /// A family of `count` functions with slots of this width, which is more than 0.
    pub fn new(count: usize, slot: f64, seed: u64) -> PStable {
        let projections = Projections::new(count, seed);
        // The numbers of the components are taken; those from the other end are not.
        let share = |function: u64| (mixed(!function, seed) >> 11) as f64 / (1_u64 << 53) as f64;
        let offsets = (0..count as u64).map(|function| slot * share(function)).collect();
        PStable { slot, offsets, projections }
    }

    /// Whether all slots of a vector are told apart. Slots from 2^53 on are not: a number there has no
    /// fraction, and beyond 64 bits all are one.
    pub fn reaches(&self, point: &[f64]) -> bool {
        // No coefficient is as large as 8.
        let most = 8.0 * point.iter().map(|component| component.abs()).sum::<f64>();
        most / self.slot + 1.0 < (1_u64 << 53) as f64
    }
}

impl Family<[f64]> for PStable {
    fn hash(&mut self, point: &[f64], hashes: &mut Vec<u32>) {
        let products = self.projections.of(point).iter().zip(&self.offsets);
        let slots =
            products.map(|(product, offset)| ((product + offset) / self.slot).floor() as i64);
        hashes.extend(slots.map(|slot| slot as u32));
    }

    fn collision(&self, similarity: f64) -> f64 {
        let distance = (1.0 - similarity) / similarity;
        let t = self.slot / distance;
        if t == f64::INFINITY {
            return 1.0;
        }
        if similarity <= 0.0 || t == 0.0 {
            return 0.0;
        }
        let beyond = libm::sqrt(FRAC_2_PI) / t * (1.0 - libm::exp(-t * t / 2.0));
        (1.0 - 2.0 * distribution(-t) - beyond).clamp(0.0, 1.0)
    }
}
