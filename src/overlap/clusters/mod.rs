//! Clusters: pages that matches connect, over any number of days.
//!
//! A dedup output says of each page of one day which other page it is near. A clustering takes the outputs of many
//! days and says of each page which cluster it is in. There are two [`Method`]s: stars follow the verdicts, and
//! components follow all matches.
//!
//! The state of a clustering is its pages and links, sorted. What a day brings is sorted and merged with the state of the day before, and
//! the clusters are found anew from all links, so they are those of all days at once.
//!
//! ```text
//! state of the day before -+
//! sources                 -+-> numbering -> links.bin -> groups (forest) -> pages.bin -> changes, lists, found
//! ```
//!
//! - `state`: pages and links in files. `source`: the matches of an output.
//! - `numbering`: pages become rows, and ids leave. `groups`: which pages are one cluster. `forest`: union-find.
//! - `changes`: what differs between two states. `lists`: clusters.tsv and sizes.tsv.
//! - `found`: sizes, and how wide the largest clusters are.
//! - `audit`: all is made from the state again, and compared.
//!
//! May import everything up to `matches`. Start with [`Clustering::write`].
//!
//! The heart of it, over pages that have numbers:
//!
//! ```
//! use dupsieve_overlap::clusters::Forest;
//!
//! let mut forest = Forest::of(5);
//! for (new, existing) in [(3, 1), (4, 3), (2, 0)] {
//!     forest.join(new, existing);
//! }
//! let roots: Vec<u32> = (0..5).map(|page| forest.root(page)).collect();
//! assert_eq!(roots, [0, 1, 0, 1, 1]);
//! ```

mod audit;
mod changes;
mod clustering;
mod forest;
mod found;
mod groups;
mod lists;
mod numbering;
mod page;
mod source;
mod state;

#[cfg(test)]
mod tests;

pub use audit::audit;
pub use clustering::{Clustering, Previous};
pub use forest::Forest;
pub use found::{Clusters, LargeCluster, SizeRange};
pub use numbering::RemovedIds;
pub use page::PageDay;
pub use source::{Method, Source};
