//! Random data to measure and to check on: texts with edited copies, edited copies of real pages,
//! fingerprints, and segments of them with near-duplicates planted at a known distance.
//!
//! - `documents`: texts, some of them copies of earlier ones with words replaced
//!   ([`DocumentGenerator`]).
//! - `edits`: copies of real pages, changed in eight ways ([`Edit`]).
//! - `random_sorted`: any number of random fingerprints in ascending order, in one pass and a few
//!   kilobytes ([`RandomSorted`]).
//! - `segment`: a segment of them ([`generate()`]), near-duplicates of another segment's rows
//!   ([`plant`]).
//!
//! Everything follows from a seed: the same numbers give the same bytes on every machine. Imports
//! `store` and what `store` imports. Start with [`generate()`].

mod documents;
mod edits;
mod random_sorted;
mod segment;

pub use documents::{DocumentGenerator, SyntheticDocument};
pub use edits::Edit;
pub use random_sorted::{MAX_COUNT, RandomSorted};
pub use segment::{Planted, SegmentSpec, generate, plant};
