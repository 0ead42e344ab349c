//! The size of a join, and what one way to do it costs.

use super::distribution::Distribution;
use crate::fingerprint::Width;

/// How many chunks a store has at least, and how many it has if each of more than these had fewer fingerprints than `CHUNK`.
const CHUNKS: u64 = 64;
const FEWEST: u64 = 16;
const CHUNK: u64 = 1 << 20;

/// What is to be joined, and by how many workers.
#[derive(Clone, Debug)]
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
    /// How both are distributed over the key space.
    pub distribution: Distribution,
}

impl Problem {
    /// Of fingerprints that lie anywhere in the key space.
    #[must_use]
    pub fn uniform(batch: u64, store: u64, k: u32, width: Width, workers: u64) -> Problem {
        Problem { batch, store, k, width, workers, distribution: Distribution::default() }
    }

    /// About how many fingerprints a chunk of the store has, at least one. No window is larger.
    pub(super) fn chunk(&self) -> u64 {
        (self.store / CHUNKS).max((self.store / FEWEST).min(CHUNK)).max(1)
    }
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
