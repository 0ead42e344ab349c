//! Documents in any order made into a segment: of those with one id the first is taken, the rest are
//! sorted as segments are. Both sorts spill.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Counts, Lists, Row, Segment, SegmentOptions, SegmentWriter};
use crate::document::{Place, Position};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Class, Fingerprint};
use crate::output::{self, Lock};
use crate::runs::{Record, Sorted, Sorter};

/// A document on its way into a segment, ordered by id and then as it stood in the input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FingerprintedDocument {
    /// Its id.
    pub id: String,
    /// Where it stood in the input.
    pub position: Position,
    /// The digest of what it holds.
    pub content: u64,
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

impl Record for FingerprintedDocument {
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

/// Documents on their way into a segment, each id once and sorted as segments are.
pub struct SegmentBuilder<F: Fingerprint> {
    segment: SegmentWriter<F>,
    entries: Sorter<Entry>,
    counts: Counts,
}

impl<F: Fingerprint> SegmentBuilder<F> {
    /// Takes `arrivals` for the segment at `path`. Of `counts` the caller knows what was read, quarantined
    /// and blank; the others are counted here. A document whose id came before is handed to `repeated`
    /// with the place of the first. Sorting takes about `memory_bytes`.
    pub fn of(
        arrivals: Sorted<FingerprintedDocument>,
        path: &Path,
        options: SegmentOptions,
        mut counts: Counts,
        memory_bytes: usize,
        repeated: &mut dyn FnMut(&str, Place, Place) -> Result<()>,
    ) -> Result<SegmentBuilder<F>> {
        let mut segment = SegmentWriter::<F>::create(path, options)?;
        let mut entries = Sorter::new(output::parent_of(path), memory_bytes);
        let mut last: Option<(String, Place)> = None;
        for arrival in arrivals {
            let FingerprintedDocument {
                id,
                position,
                content,
                fingerprint,
                length,
                time,
                class,
                check,
            } = arrival?;
            let place = Place { position, content };
            if let Some((last, first)) = &last
                && *last == id
            {
                counts.repeated += 1;
                repeated(&id, *first, place)?;
                continue;
            }
            last = Some((id.clone(), place));
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
        Ok(SegmentBuilder { segment, entries, counts })
    }

    /// Writes the segment, and with it puts `lists` in their places.
    pub fn write(self, identity: &str, lists: Lists, lock: &Lock) -> Result<Segment> {
        let SegmentBuilder { mut segment, entries, mut counts } = self;
        segment.fenced(lock.fence());
        for entry in entries.sorted()? {
            let Entry { fingerprint, id, length, time, class, check } = entry?;
            let (fingerprint, id, check) = (F::from_u128(fingerprint), &id, &check);
            segment.push(&Row { fingerprint, id, length, time, class, day: None, check })?;
            counts.fingerprinted += 1;
        }
        check_counts(&counts)?;
        segment.finish_with(counts, identity, lists)
    }
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
