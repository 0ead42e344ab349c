//! The chunks that a join is cut into, and the receipt that proves that one was probed.

use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprint;
use crate::store::{self, KeyRange, Segment};

/// The unit of work of a join: what one worker probes at a time.
#[derive(Clone, Debug)]
pub(crate) enum Chunk<F: Fingerprint> {
    Store(KeyRange<F>),
    Batch(u32),
    /// A part of the join by shared keys, of the batch with the store and with itself.
    Keys(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub chunk: u64,
    /// Fingerprints read from the store, copies included.
    pub fingerprints: u64,
    pub pairs: u64,
    /// Pairs and marks of crowds that the chunk yields. A crowd yields fewer pairs than were found.
    pub listed: u64,
    pub resumed: bool,
}

/// Cuts a join into chunks: the store of `segments`, `parts` parts of the batch joined with itself, and `keys` parts of the join by
/// shared keys. A batch of no parts is empty and needs no chunk at all.
pub(crate) fn chunks<F: Fingerprint>(parts: u32, keys: u32, segments: &[Segment]) -> Vec<Chunk<F>> {
    if parts == 0 {
        return Vec::new();
    }
    let chunk_bytes = store::chunk_bytes(segments);
    let store = store::chunks(segments, chunk_bytes).into_iter().map(Chunk::Store);
    let batch = (0..parts).map(Chunk::Batch);
    store.chain(batch).chain((0..keys).map(Chunk::Keys)).collect()
}
