//! Pairs found against pairs known: precision, recall, F1, the adjusted Rand index, and recall by
//! similarity.
//!
//! What is known are [labels](Labels), a cluster for each document: two documents of one cluster are a
//! positive pair. What was [found](Pairs) is a list of pairs. Ids without a label have no say.
//!
//! To choose a recipe, [sweep] judges the pairs within k bits for every k at once, and a [curve]
//! draws what came of it; [checks] judges recipes together with checks.

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
