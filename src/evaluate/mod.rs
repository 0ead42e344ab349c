//! Found pairs compared with known ones: precision, recall, F1, the adjusted Rand index, and recall by
//! similarity.
//!
//! The truth is given as [labels](Labels), a cluster for each document: two documents of one cluster are a
//! positive pair. The [found pairs](Pairs) are a list. Documents without a label do not count. To choose a
//! recipe, [sweep] judges the pairs within k bits for every k at once, [checks] judges recipes together
//! with checks, and a [curve] draws the result. Thirds of length and languages are told apart by
//! [`by_part`].
//!
//! Without labels, [planted] copies of a [sample](PageSample) of real pages are what should be found. A
//! person can judge the [borderline] pairs of the sample, and [judged pairs](JudgedPairs) are labels too.
//!
//! Start with [`Scores`]. Imports `fingerprint`, `synthetic`, `matches`, `lsh`, and what these import.
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

pub mod borderline;
pub mod checks;
pub mod choice;
pub mod curve;
pub mod judged;
pub mod planted;
pub mod sweep;

mod alike;
mod all_pairs;
mod bands;
mod bootstrap;
mod bucket_texts;
mod columns;
mod in_parts;
mod judged_file;
mod labels;
mod measure;
mod memory_meter;
mod method;
mod method_scores;
mod page_sample;
mod pairs;
mod scores;
mod traits;

pub use alike::Step;
pub use bands::{BANDS, Band, Similarity};
pub use bootstrap::{Intervals, bootstrap};
pub use judged::{JudgedPairs, Judgement};
pub use judged_file::JudgedFile;
pub use labels::Labels;
pub use measure::{Measure, MeasuredTexts};
pub use memory_meter::MemoryMeter;
pub use method::{Method, MethodCost, MethodTexts, Near};
pub use method_scores::{MethodScores, method_texts, score_methods};
pub use page_sample::{LONGEST_PAGE, Page, PageSample};
pub use pairs::Pairs;
pub use scores::Scores;
pub use sweep::NEAR_PAIR_BYTES;
pub use traits::{PartScores, Traits, by_part};
