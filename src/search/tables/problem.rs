//! The size of a join.

use super::distribution::Distribution;
use crate::fingerprint::Width;

/// The rule of `store::chunk_bytes`: a large store has 64 chunks or more; a store whose chunks would be smaller than 4 MiB then has fewer, but 16.
const CHUNKS: u64 = 64;
const FEWEST: u64 = 16;
const WINDOW_BYTES: u64 = 4 << 20;
/// The bytes that a segment saves of each fingerprint, about, since neighbours begin alike.
const SHARED_BYTES: u64 = 3;

#[derive(Clone, Debug)]
pub struct Problem {
    /// The number of distinct fingerprints of the batch.
    pub batch: u64,
    pub store: u64,
    pub k: u32,
    pub width: Width,
    pub workers: u64,
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
        let window = WINDOW_BYTES / (u64::from(self.width.bits()) / 8 - SHARED_BYTES);
        (self.store / CHUNKS).max((self.store / FEWEST).min(window)).max(1)
    }
}
