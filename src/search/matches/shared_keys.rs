//! Candidates by shared keys: pages that share much of their text, or near vectors, however far apart their fingerprints are.
//!
//! A page has two sorts of keys. Its [anchors](crate::fingerprint::check) are of each eighth of its shingles the one with the least
//! hash, and of a long page one in 128 of all. Two pages of which one contains most of the other one share most of these; a page that stands whole in
//! one of five times its length shares one or two. A page of a few hundred words that stands in a long one is found within a batch, by
//! [all shingles](parts) of the longer one. The keys of its [bands](crate::lsh), if it has some, agree where its hashes of a family do. This is Google's
//! batch query with equality in place of distance: the keys of the batch are sorted, those of the store and of the batch itself
//! stream past them.
//!
//! ```text
//! store, block by block         keys of the batch (place, key -> pages)            the nearest by fingerprint
//! row 7: [a1 | a2 | a3 ...] --> (1, a1) -> 4;  (2, a2) -> -;  (3, a3) -> 4, 9      (4, row 7), (9, row 7)
//! ```
//!
//! What thousands of pages share, such as the text of a template, is a key of all of them. Two bounds keep that linear. A
//! [common key](common_keys) leads to the pages that come first in keep order, and to those that share most of the next keys too. And of all that
//! a page meets, [`MOST_MET`] are its candidates: those that share most keys with it, and of those that share as many the nearest by fingerprint;
//! in the batch half of them, the other half those that come first in keep order, and, unless the nearest share all, as many more that share two
//! of its keys. Of two pages of the batch, the later one meets the earlier one. Neither bound depends on how much memory there is.

mod anchored;
mod common_keys;
mod key_index;
mod parts;
mod probe;
mod sort;
mod streaming;

pub use anchored::{Anchored, AnchoredRows};
pub use probe::{AnchorCost, KeyProbe};
pub use sort::anchors_of;
pub(crate) use streaming::nearest_and_first;
pub use streaming::{CHUNK_ROWS, MOST_MET, RowAnchor};

#[cfg(test)]
mod tests;
