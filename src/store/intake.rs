//! Documents in any order made into a segment: of those with one id the first is taken, the rest are
//! sorted as segments are. Both sorts spill.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Counts, Row, Segment, SegmentOptions, SegmentWriter};
use crate::document::Position;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Class, Fingerprint};
use crate::output::{self, Lock};
use crate::runs::{Record, Sorted, Sorter};

/// A document on its way into a segment, ordered by id and then as it stood in the input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Arrival {
    /// Its id.
    pub id: String,
    /// Where it stood in the input.
    pub position: Position,
    /// Its fingerprint, none if it has no feature.
    pub fingerprint: Option<u128>,
    /// The length of its text in UTF-8 bytes.
    pub length: u64,
    /// Its time in seconds since 1970, where known.
    pub time: Option<i64>,
    /// Its class.
    pub class: Class,
    /// Its signature, empty where none is kept.
    pub check: Vec<u8>,
}

impl Record for Arrival {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.check.len()
    }
}

/// An arrival whose id is the first of its kind, in the order of a segment.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    fingerprint: u128,
    id: String,
    length: u64,
    time: Option<i64>,
    class: Class,
    check: Vec<u8>,
}

impl Record for Entry {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.check.len()
    }
}

/// Writes a segment of `arrivals` at `path`. Of `counts` the caller knows what was read, quarantined
/// and blank; the others are counted here. Sorting takes about `memory_bytes`.
pub fn take_in<F: Fingerprint>(
    arrivals: Sorted<Arrival>,
    path: &Path,
    options: SegmentOptions,
    mut counts: Counts,
    identity: &str,
    memory_bytes: usize,
    lock: &Lock,
) -> Result<Segment> {
    let mut segment = SegmentWriter::<F>::create(path, options)?;
    segment.fenced(lock.fence());
    let mut entries = Sorter::new(output::parent_of(path), memory_bytes);
    let mut last = None;
    for arrival in arrivals {
        let Arrival { id, fingerprint, length, time, class, check, .. } = arrival?;
        if last.as_ref() == Some(&id) {
            counts.repeated += 1;
            continue;
        }
        last = Some(id.clone());
        match fingerprint {
            Some(fingerprint) => {
                entries.push(Entry { fingerprint, id, length, time, class, check })?;
            }
            None => {
                counts.empty += 1;
                segment.push_empty(&id)?;
            }
        }
    }
    for entry in entries.sorted()? {
        let Entry { fingerprint, id, length, time, class, check } = entry?;
        let (fingerprint, id, check) = (F::from_u128(fingerprint), &id, &check);
        segment.push(&Row { fingerprint, id, length, time, class, day: None, check })?;
        counts.fingerprinted += 1;
    }
    check_counts(&counts)?;
    segment.finish(counts, identity)
}

/// Nothing may be lost: what was read is what was fingerprinted, empty, repeated or quarantined.
fn check_counts(counts: &Counts) -> Result<()> {
    let Counts { read, fingerprinted, empty, repeated, quarantined, .. } = *counts;
    let told = fingerprinted + empty + repeated + quarantined;
    match read == told {
        true => Ok(()),
        false => Err(Error::new(Kind::Internal, "records were lost").expected(read).found(told)),
    }
}
