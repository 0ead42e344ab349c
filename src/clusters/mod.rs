//! Clusters: pages that matches connect, over any number of days.
//!
//! A dedup output says of each page of one day which other page it is near. A clustering takes the outputs of many
//! days and says of each page which cluster it is in. There are two [`Method`]s: stars follow the verdicts, and
//! components follow all matches. Either is made from nothing ([`Clustering`]), or from the clustering of the day
//! before, by the work of what changed; the files are the same.
//!
//! ```text
//! source -> intern -+-> scratch (forest)           -+-> state -+-> lists
//!                   +-> touched -> update (forest) -+          +-> describe
//! ```
//!
//! - `page`, `link`, `measure`, `method`: the nouns. `state`: what stands, in layers of sorted tables. `row`: the lists.
//! - `source`: the matches of an output. `removed`: ids that leave. `intern`: pages become numbers.
//! - `forest`: union-find, shared by threads. `engine`: what is left to threads.
//! - `scratch`: from nothing. `touched`, `regrouped`, `update`: from the day before. `change_log`: what that changes.
//! - `audit`: a report is held against its state, and by `listed` the tables are. `lists`: clusters.tsv and sizes.tsv. `contents`: a digest of the rows. `describe`, `found`: sizes, and how wide the
//!   largest clusters are.
//!
//! May import everything up to `matches`; no engine. Start with [`Clustering::write`].
//!
//! The heart of it, over pages that have numbers:
//!
//! ```
//! use dupsieve::rooms::clusters::Forest;
//!
//! let forest = Forest::of(5);
//! for (new, existing) in [(3, 1), (4, 3), (2, 0)] {
//!     forest.join(new, existing);
//! }
//! let roots: Vec<u32> = (0..5).map(|page| forest.root(page)).collect();
//! assert_eq!(roots, [0, 1, 0, 1, 1]);
//! ```

mod audit;
mod change_log;
mod clustering;
mod contents;
mod describe;
mod engine;
mod forest;
mod found;
mod intern;
mod labels;
mod link;
mod listed;
mod lists;
mod measure;
mod method;
mod page;
mod regrouped;
mod removed;
mod row;
mod row_set;
mod scratch;
mod source;
mod state;
mod touched;
mod update;

#[cfg(test)]
mod tests;

pub use audit::ClusterAudit;
pub use clustering::{Clustering, Previous};
pub use describe::{LargeCluster, SizeRange};
pub use engine::{Assignment, Engine, Portions};
pub use forest::Forest;
pub use found::Clusters;
pub use measure::Measure;
pub use method::Method;
pub use page::PageDay;
pub use removed::RemovedIds;
pub use scratch::open_links;
pub use source::Source;
pub use state::is_layer;
