//! The size of a join, and what one way to do it costs.

use crate::fingerprint::Width;

/// What is to be joined, and by how many workers.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// The number of distinct fingerprints of the batch.
    pub batch: u64,
    /// The number of those of the store.
    pub store: u64,
    /// The largest distance that counts as near.
    pub k: u32,
    /// The width of a fingerprint.
    pub width: Width,
    /// The workers of a process.
    pub workers: u64,
    /// How many times as many pairs of the batch meet by [`Unmasked::MultiIndex`](super::Unmasked) as if it
    /// were uniform: 1, or what [`crowding`](super::crowding) counts.
    pub crowding: f64,
}

/// The expected cost of a join.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// How many tables, keys or blocks the design has.
    pub(super) tables: u64,
    /// Time of one thread for each fingerprint of the store, in nanoseconds.
    pub(super) nanoseconds: f64,
    /// Time of one thread in all: to arrange the batch, and to join it with the store.
    pub(super) seconds: f64,
    /// How many bytes it takes, with all workers.
    pub(super) memory_bytes: u64,
}

/// To arrange one fingerprint in one table, in nanoseconds. This and all other constants of the cost model,
/// but those of `multi_index`, were measured on one thread of a 2-core Zen 5 machine; only their ratios matter.
pub(super) const BUILD_NS: f64 = 60.0;
