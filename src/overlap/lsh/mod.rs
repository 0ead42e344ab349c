//! Locality-sensitive hashing: near points fall into one bucket, far ones into different ones.
//!
//! A [`Family`] makes the hashes of a point; two points agree in one of them with a probability that grows
//! with their similarity. [`Banding`] sharpens it: r rows must agree in a band, and one of b bands is enough
//! (Indyk and Motwani, "Approximate Nearest Neighbors", STOC 1998). What agrees in a band shares a bucket.
//!
//! | family | points | similarity s | probability that one hash agrees |
//! |---|---|---|---|
//! | [`MinHashes`] | sets | Jaccard | s |
//! | [`Hyperplanes`] | weighted features, vectors | cosine | 1 - acos(s) / π |
//! | [`BitSampling`] | fingerprints of n bits | 1 - distance / n | s |
//! | [`PStable`] | vectors | 1 / (1 + distance) | see there |
//!
//! Every hash is a pure function of the point and a seed, and the same on every machine. A segment keeps the keys of the [`Bands`] of its
//! pages, and a join takes pages that share one as candidates, beside those by fingerprints and by anchors.
//!
//! Start with `family.rs`, then `banding.rs` and `bands.rs`. May import everything up to `tables`, no engine.
//!
//! ```
//! use dupsieve_overlap::lsh::{Banding, Family, MinHashes, Permutations};
//!
//! let banding = Banding { bands: 16, rows: 7 };
//! let mut minhash = MinHashes::new(Permutations::Many, banding.hashes(), 0);
//! let mut keys = |set: std::ops::Range<u64>| {
//!     let set: Vec<u64> = set.map(|it| it.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
//!     let mut hashes = Vec::new();
//!     minhash.hash(&set[..], &mut hashes);
//!     banding.keys(&hashes)
//! };
//! // The sets share 95 of 105 elements.
//! let [one, other] = [keys(0..100), keys(5..105)];
//! assert!(one.iter().any(|key| other.contains(key)));
//! assert!(banding.probability(95.0 / 105.0) > 0.999);
//! ```

mod banding;
mod bands;
mod family;
mod gaussian;
mod hyperplanes;
mod min_hashes;
mod p_stable;
mod point;
mod shingle;
mod sketches;
mod space;

#[cfg(test)]
mod tests;

pub use crate::fingerprint::minhash::Permutations;
pub use banding::{Areas, Banding};
pub use bands::Bands;
pub use family::{BitSampling, Family};
pub use hyperplanes::Hyperplanes;
pub use min_hashes::MinHashes;
pub use p_stable::PStable;
pub use shingle::Shingle;
pub use sketches::{Sketch, Sketches};
pub use space::Space;
