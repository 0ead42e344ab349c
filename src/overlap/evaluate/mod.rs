//! Found pairs compared with known ones: precision, recall, F1 and the adjusted Rand index.
//!
//! The truth is given as [labels](Labels), a cluster for each document: two documents of one cluster are a
//! positive pair. The [found pairs](Pairs) are a list. Documents without a label do not count.
//!
//! To choose among recipes, distances and checks, the text that is [lost](Loss) with what is dropped is what counts: of a
//! [sample](PageSample) of real pages, and of [planted] copies of them.
//!
//! Start with [`Scores`]. Imports `fingerprint`, `synthetic`, `matches`, `clusters`, and what these import.
//!
//! ```
//! use dupsieve_overlap::evaluate::{Labels, Pairs, Scores};
//!
//! let mut labels = Labels::default();
//! for (id, cluster) in [("a", "1"), ("b", "1"), ("c", "1"), ("d", "2")] {
//!     labels.add(id, cluster)?;
//! }
//! // Three positive pairs: a b, a c and b c. Found are a b, b c and, wrongly, c d.
//! let scores = Scores::of(&Pairs::of([(0, 1), (1, 2), (2, 3)]), &labels);
//! assert_eq!(scores.f1, Some(2.0 / 3.0));
//! # Ok::<(), dupsieve_base::Error>(())
//! ```

pub mod planted;

mod columns;
mod labels;
mod loss;
mod memory_meter;
mod method;
mod page_sample;
mod pairs;
mod scores;

pub use labels::Labels;
pub use loss::{DroppedPage, Loss};
pub use memory_meter::MemoryMeter;
pub use method::{MethodTexts, NearMethod};
pub use page_sample::{LONGEST_PAGE, PageSample, SampledPage};
pub use pairs::Pairs;
pub use scores::{Scores, cheapest};
