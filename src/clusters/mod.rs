//! Clusters: pages that matches connect, over any number of days.
//!
//! A dedup output says of each page of one day which other page it is near. A clustering takes the outputs of many
//! days and says of each page which cluster it is in. There are two [`Method`]s: stars follow the verdicts, and
//! components follow all matches. Either is made from nothing ([`Clustering`]), or from the clustering of the day
//! before, by the work of what changed; the files are the same.
//!
//! ```text
//! source -> intern -+-> scratch (forest)         -+-> clusters.tsv, sizes.tsv, links.bin -> describe
//!                   +-> touched -> update (forest) -+-> changes.tsv
//! ```
//!
//! - `page`, `link`, `measure`, `method`: the nouns. `row`, `link_file`: the files, see FORMAT.md.
//! - `source`: the matches of an output. `intern`: pages become numbers.
//! - `forest`: union-find, shared by threads. `engine`: what is left to threads.
//! - `scratch`: from nothing. `touched`, `regrouped`, `copy`, `update`: from the day before. `change_log`: what that
//!   changes.
//! - `describe`: sizes, and how wide the largest clusters are.
//!
//! May import everything up to `matches`; no engine. Start with [`Clustering::write`].
//!
//! The heart of it, over pages that have numbers:
//!
//! ```
//! use dupsieve::clusters::Forest;
//!
//! let forest = Forest::of(5);
//! for (new, existing) in [(3, 1), (4, 3), (2, 0)] {
//!     forest.join(new, existing);
//! }
//! let roots: Vec<u32> = (0..5).map(|page| forest.root(page)).collect();
//! assert_eq!(roots, [0, 1, 0, 1, 1]);
//! ```

mod change_log;
mod clustering;
mod copy;
mod describe;
mod engine;
mod forest;
mod intern;
mod labels;
mod link;
mod link_file;
mod measure;
mod method;
mod page;
mod regrouped;
mod renumbering;
mod row;
mod row_set;
mod scratch;
mod source;
mod space;
mod touched;
mod update;
mod written;

#[cfg(test)]
mod tests;

pub use clustering::{Clustering, Clusters};
pub use describe::{LargeCluster, SizeRange};
pub use engine::{Assignment, Engine, Portions};
pub use forest::Forest;
pub use link_file::open_links;
pub use measure::Measure;
pub use method::Method;
pub use page::PageDay;
pub use source::Source;
