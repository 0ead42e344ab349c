//! The pair: two groups of identical fingerprints within k bits of each other.

use serde::{Deserialize, Serialize};

use crate::runs::Record;

/// A near pair found by a probe, before it is expanded to documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair {
    /// The group of the batch.
    pub new: u32,
    /// What it is near to.
    pub existing: Place,
    /// The Hamming distance of the two fingerprints.
    pub distance: u8,
}

/// Where the existing side of a pair stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// In the store: consecutive rows of one segment that share one fingerprint.
    Store {
        /// The segment's number in its version of the store.
        segment: u32,
        /// The first row.
        row: u64,
        /// How many rows, at least one.
        rows: u64,
    },
    /// In the batch itself: a group.
    Batch {
        /// The group, always a smaller one than the pair's `new`.
        group: u32,
    },
    /// Nowhere: a mark that not all pairs of the group within the batch are listed.
    Crowd,
}

impl Record for Pair {}
