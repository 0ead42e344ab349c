//! MinHash: two sets have the same least element with a probability of their Jaccard similarity.
//!
//! Broder, "On the resemblance and containment of documents" (SEQUENCES 1997). A set is given by hashes of
//! its elements. Order and repetition do not matter.

use super::family::Family;
use crate::fingerprint::minhash::{MinHash, Permutations, mixed};
use crate::hamming::multiversion::{Multiversion, counting};

/// How many functions run together at least, one in each lane of a vector.
const LANES: usize = 16;

/// How many run together where there are so many: enough to hide that a product takes long.
const MANY_LANES: usize = 2 * LANES;

/// Hashes of sets, with P(agree) = |A ∩ B| / |A ∪ B|.
///
/// With [`Permutations::Many`] every function permutes the elements by itself, so the hashes are independent
/// of each other. With [`Permutations::One`] they are the leasts of the ranges of one permutation, densified.
/// That costs one step an element, whatever the number of hashes; each hash still
/// agrees with the same probability, but the hashes of a set of fewer elements than there are hashes repeat
/// each other, and [`Banding::probability`](super::Banding::probability) then promises more than is found.
#[derive(Clone, Debug)]
pub struct MinHashes(Makers);

#[derive(Clone, Debug)]
enum Makers {
    One { minhash: MinHash, seed: u64 },
    Many { functions: Vec<Affine>, count: usize, elements: Vec<u32> },
}

/// x -> factor x + term modulo 2^32, with an odd factor: a permutation of the numbers of 32 bits.
#[derive(Clone, Copy, Debug)]
struct Affine {
    factor: u32,
    term: u32,
}

impl MinHashes {
    /// A family of `count` functions.
    pub fn new(permutations: Permutations, count: usize, seed: u64) -> MinHashes {
        let affine = |number: usize| {
            let bits = mixed(number as u64, seed);
            Affine { factor: bits as u32 | 1, term: (bits >> 32) as u32 }
        };
        MinHashes(match permutations {
            Permutations::One => {
                Makers::One { minhash: MinHash::new(permutations, count, u8::BITS), seed }
            }
            Permutations::Many => {
                let functions = (0..count.next_multiple_of(LANES)).map(affine).collect();
                Makers::Many { functions, count, elements: Vec::new() }
            }
        })
    }
}

impl Family<[u64]> for MinHashes {
    fn hash(&mut self, point: &[u64], hashes: &mut Vec<u32>) {
        match &mut self.0 {
            Makers::One { minhash, seed } => {
                point.iter().for_each(|&element| minhash.add(mixed(element, *seed)));
                minhash.finish_slots(hashes);
            }
            Makers::Many { functions, count, elements } => {
                elements.clear();
                elements.extend(point.iter().map(|element| (element >> 32) as u32));
                let end = hashes.len() + *count;
                counting(Leasts { elements, functions, leasts: hashes });
                hashes.truncate(end);
            }
        }
    }

    fn collision(&self, similarity: f64) -> f64 {
        similarity
    }
}

/// The least value of each function over all elements.
struct Leasts<'a> {
    elements: &'a [u32],
    functions: &'a [Affine],
    leasts: &'a mut Vec<u32>,
}

impl Multiversion for Leasts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (blocks, rest) = self.functions.as_chunks::<MANY_LANES>();
        for block in blocks {
            self.leasts.extend(leasts(self.elements, block));
        }
        for block in rest.as_chunks::<LANES>().0 {
            self.leasts.extend(leasts(self.elements, block));
        }
    }
}

#[inline(always)]
fn leasts<const N: usize>(elements: &[u32], functions: &[Affine; N]) -> [u32; N] {
    let factors = functions.map(|function| function.factor);
    let terms = functions.map(|function| function.term);
    let mut leasts = [u32::MAX; N];
    for &element in elements {
        for lane in 0..N {
            let value = element.wrapping_mul(factors[lane]).wrapping_add(terms[lane]);
            leasts[lane] = leasts[lane].min(value);
        }
    }
    leasts
}
