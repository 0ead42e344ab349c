//! Random data to measure and to check on: fingerprints, and segments of them with near-duplicates
//! planted at a known distance.
//!
//! - `random_sorted`: any number of random fingerprints in ascending order, in one pass and a few
//!   kilobytes ([`RandomSorted`]).
//! - `segment`: a segment of them ([`generate()`]), near-duplicates of another segment's rows
//!   ([`plant`]).
//!
//! Everything follows from a seed: the same numbers give the same bytes on every machine. Imports
//! `store` and what `store` imports. Start with [`generate()`].

mod random_sorted;
mod segment;

pub use random_sorted::{MAX_COUNT, RandomSorted};
pub use segment::{Planted, SegmentSpec, generate, plant};
