//! The join by sorting: the fingerprints gathered by their keys, one key after the other.
//!
//! Nothing is indexed. For each key of a design the fingerprints are sorted by it, and those with the
//! same key are compared. So a batch of a hundred million meets itself, or an equally large window of
//! the store, in the memory of one pass.
//! Tables of all keys at once, as in the paper, would hold the batch many times.
//!
//! Keys that begin with the same block are sorted in two steps, and the first step serves them all: a pass
//! over the batch gathers its fingerprints into groups by the hash of that block, the *lead*. Each group,
//! about a thousand fingerprints that stay in the cache, is then sorted by each of the keys. A pass takes
//! one share of the groups, the unit of work. It reads the whole batch and depends on no other share.
//!
//! Every pair is found once: it may meet under several keys, but counts under the first only. If too
//! many meet under a key, they are sorted again by the bits outside it, divided among k + 1 keys: a pair
//! differs in at most k of these bits, so it agrees in one of the keys.
//!
//! Start with `join.rs`.

mod cost;
mod join;
mod lead;
mod meeting;

pub(super) use cost::{Pass, cost, share, window};
pub(super) use join::{Gathering, SortedJoin};
pub(super) use lead::parts;
