//! What a worker finds when a part of the store streams past the batch.
//!
//! Ledgers and the dataflow carry pairs, so a finding travels as one.

use serde::{Deserialize, Serialize};

use crate::matches::{FingerprintIndex, KeepRank, Pair, Place, Unlikeness};
use crate::runs::Record;

/// A group and a row of the store that match. Ordered as the rows lie on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct StoreMatch {
    /// The number of the segment.
    pub(super) segment: u32,
    pub(super) row: u64,
    pub(super) group: KeepRank,
    pub(super) distance: Unlikeness,
}

impl Record for StoreMatch {}

/// A match, or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Match(StoreMatch),
    /// So many rows of the store are in the hottest bucket of this number.
    Hot {
        bucket: u32,
        rows: u32,
    },
    /// So many pairs of a group and a row share a bucket.
    Candidates(u32),
}

impl From<Finding> for Pair {
    fn from(finding: Finding) -> Pair {
        let (new, existing) = match finding {
            Finding::Match(StoreMatch { segment, row, group, distance }) => {
                (group.into(), Place::Store { segment, row, rows: distance.missing().into() })
            }
            Finding::Hot { bucket, rows } => (bucket, Place::Batch { group: rows.into() }),
            Finding::Candidates(count) => (count, Place::Crowd),
        };
        Pair { new: FingerprintIndex::from(new), existing, distance: 0 }
    }
}

impl From<Pair> for Finding {
    fn from(Pair { new, existing, .. }: Pair) -> Finding {
        let new: u32 = new.into();
        match existing {
            Place::Store { segment, row, rows } => {
                let distance = Unlikeness::of_missing(rows as u16);
                Finding::Match(StoreMatch { segment, row, group: new.into(), distance })
            }
            Place::Batch { group } => Finding::Hot { bucket: new, rows: group.into() },
            Place::StoreRow { .. } | Place::BatchRow { .. } | Place::Crowd => {
                Finding::Candidates(new)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matches::Nearness;

    #[test]
    fn findings_travel_as_pairs() {
        let distance = Unlikeness::of_missing(1234);
        let found = StoreMatch { segment: 7, row: 1 << 40, group: 9.into(), distance };
        for finding in [
            Finding::Match(found),
            Finding::Match(StoreMatch { distance: Unlikeness::SAME, ..found }),
            Finding::Hot { bucket: 3, rows: 5 },
            Finding::Candidates(u32::MAX),
        ] {
            assert_eq!(Finding::from(Pair::from(finding)), finding);
        }
    }
}
