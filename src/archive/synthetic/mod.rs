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
//!
//! ```
//! use dupsieve_archive::store::{IdKind, SegmentOptions};
//! use dupsieve_archive::synthetic::{Planted, SegmentSpec, generate, plant};
//! # let folder = tempfile::tempdir().unwrap();
//! # let [first, second] = ["first.seg", "second.seg"].map(|name| folder.path().join(name));
//!
//! let mut options = SegmentOptions::default();
//! options.ids = IdKind::Numbers;
//! let spec = SegmentSpec { seed: 1, count: 1000, density: 1000, options, urls: false };
//! let (store, _) = generate::<u64>(&first, &spec, &[], "a store")?;
//!
//! // A batch of 1000 fingerprints, 10 of them at distance 3 from a row of the store.
//! let planted: Vec<Planted<u64>> = plant(&store, 10, 3, 2)?;
//! let spec = SegmentSpec { seed: 3, ..spec };
//! let (batch, rows) = generate(&second, &spec, &planted, "a batch")?;
//! assert_eq!((batch.rows(), rows.len()), (1000, 10));
//! # Ok::<(), dupsieve_base::Error>(())
//! ```

mod documents;
mod edits;
mod random_sorted;
mod segment;

pub use documents::{DocumentGenerator, SyntheticDocument};
pub use edits::Edit;
pub use random_sorted::{MAX_COUNT, RandomSorted};
pub use segment::{Planted, SegmentSpec, generate, plant};
