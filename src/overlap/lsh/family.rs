//! A family of hashes under which near points agree more often than far ones, and the simplest one: of bits of fingerprints.

use crate::fingerprint::Width;
use crate::fingerprint::minhash::mixed;

/// Makes the hashes of points of type `P`. It holds buffers, so each worker has its own.
pub trait Family<P: ?Sized> {
    /// Appends the hashes of `point`, as many as the family was made for, each of them by another function.
    /// They depend on the point and the seed alone.
    fn hash(&mut self, point: &P, hashes: &mut Vec<u32>);

    /// The probability that one function gives two points of this similarity the same hash. It grows from
    /// similarity 0 to 1, where it is 1.
    fn collision(&self, similarity: f64) -> f64;
}

/// Bit sampling: hashes of one bit of fingerprints of n bits, with P(agree) = 1 - d / n at a Hamming distance of d: the
/// similarity. Each function draws its bit by itself, so that two may draw the same.
/// Indyk and Motwani, "Approximate Nearest Neighbors" (STOC 1998).
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
