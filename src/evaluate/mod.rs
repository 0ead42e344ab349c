//! Found pairs compared with known ones: precision, recall, F1, the adjusted Rand index, and recall by
//! similarity.
//!
//! The truth is given as [labels](Labels), a cluster for each document: two documents of one cluster are a
//! positive pair. The [found pairs](Pairs) are a list. Documents without a label do not count. To choose a
//! recipe, [sweep] judges the pairs within k bits for every k at once, [checks] judges recipes together
//! with checks, and a [curve] draws the result.
//!
//! Start with [`Scores`]. Imports `fingerprint` and `progress` only.
//!
//! ```
//! use dupsieve::evaluate::{Labels, Pairs, Scores};
//!
//! let mut labels = Labels::default();
//! for (id, cluster) in [("a", "1"), ("b", "1"), ("c", "1"), ("d", "2")] {
//!     labels.add(id, cluster)?;
//! }
//! // Three positive pairs: a b, a c and b c. Found are a b, b c and, wrongly, c d.
//! let scores = Scores::of(&Pairs::of([(0, 1), (1, 2), (2, 3)]), &labels);
//! assert_eq!(scores.f1, Some(2.0 / 3.0));
//! # Ok::<(), dupsieve::Error>(())
//! ```

pub mod checks;
pub mod curve;
pub mod sweep;

mod alike;
mod all_pairs;
mod bands;
mod bootstrap;
mod columns;
mod labels;
mod measure;
mod memory_meter;
mod pairs;
mod scores;

pub use alike::Step;
pub use bands::{Band, Similarity};
pub use bootstrap::{Intervals, bootstrap};
pub use labels::Labels;
pub use measure::{Measure, MeasuredTexts};
pub use memory_meter::MemoryMeter;
pub use pairs::Pairs;
pub use scores::Scores;
pub use sweep::NEAR_PAIR_BYTES;
