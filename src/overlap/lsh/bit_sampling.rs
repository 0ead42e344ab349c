//! Bit sampling: a hash of a fingerprint is one of its bits.
//!
//! Indyk and Motwani, "Approximate Nearest Neighbors" (STOC 1998).

use super::family::Family;
use crate::fingerprint::Width;
use crate::fingerprint::minhash::mixed;

/// Hashes of one bit of fingerprints of n bits, with P(agree) = 1 - d / n at a Hamming distance of d: the
/// similarity. Each function draws its bit by itself, so that two may draw the same.
#[derive(Clone, Debug)]
pub struct BitSampling {
    bits: Vec<u32>,
}

impl BitSampling {
    /// A family of `count` functions over fingerprints of this width.
    pub fn new(count: usize, width: Width, seed: u64) -> BitSampling {
        // A width is a power of two, so every bit is drawn equally often.
        let bit = |function| mixed(function, seed) as u32 % width.bits();
        BitSampling { bits: (0..count as u64).map(bit).collect() }
    }
}

impl Family<u128> for BitSampling {
    fn hash(&mut self, point: &u128, hashes: &mut Vec<u32>) {
        hashes.extend(self.bits.iter().map(|bit| (point >> bit) as u32 & 1));
    }

    fn collision(&self, similarity: f64) -> f64 {
        similarity
    }
}
