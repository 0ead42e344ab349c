//! The pair: two fingerprints within k bits of each other, or two groups of pages that have them.

use serde::{Deserialize, Serialize};

use super::numbers::{FingerprintIndex, Group, Number};
use crate::runs::Record;

/// A near pair: of fingerprints as a probe finds it, the default; once it is confirmed, of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair<N = FingerprintIndex> {
    pub new: N,
    pub existing: Place<N>,
    pub distance: u8,
}

/// Where the existing side of a pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place<N = FingerprintIndex> {
    /// In the store: rows of one segment that share one fingerprint. They are consecutive, but for hidden rows.
    Store {
        segment: u32,
        /// The first row that is shown.
        row: u64,
        /// How many rows are shown, at least one.
        rows: u64,
    },
    Batch {
        /// The fingerprint or group, always a smaller one than the pair's `new`.
        group: N,
    },
    /// In the store: rows of one segment that share keys with one page of the batch. They have one fingerprint and one sketch.
    StoreRow {
        page: u32,
        /// How many eighths of their keys they do not share.
        apart: u8,
        segment: u32,
        row: u64,
        rows: u64,
    },
    /// In the batch itself: a page that shares keys with another one. Both are rows of its segment.
    BatchRow {
        page: u32,
        /// How many eighths of their keys they do not share.
        apart: u8,
        /// The other one, a smaller row.
        row: u32,
    },
    /// Nowhere. It marks a group whose pairs within the batch are not all listed.
    Crowd,
}

impl<N: Number> Record for Pair<N> {}

impl Pair {
    /// The same pair of groups, in a batch where every fingerprint is one group.
    pub(super) fn of_groups(self) -> Pair<Group> {
        let group = |index: FingerprintIndex| Group::from(u32::from(index));
        let existing = match self.existing {
            Place::Store { segment, row, rows } => Place::Store { segment, row, rows },
            Place::StoreRow { page, apart, segment, row, rows } => {
                Place::StoreRow { page, apart, segment, row, rows }
            }
            Place::Batch { group: other } => Place::Batch { group: group(other) },
            Place::BatchRow { page, apart, row } => Place::BatchRow { page, apart, row },
            Place::Crowd => Place::Crowd,
        };
        Pair { new: group(self.new), existing, distance: self.distance }
    }
}
