//! Builds a segment from documents in any order. Of documents with the same id only the first is
//! taken. The rest is sorted as segments are. Both sorts use the disk when memory is full.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Counts, Lists, Row, Segment, SegmentOptions, SegmentWriter};
use crate::document::{Place, Position};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Class, Fingerprint};
use crate::output::{self, Lock};
use crate::runs::{Record, Sorted, Sorter};

/// A document with its fingerprint, on its way into a segment: ordered by id, then by position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FingerprintedDocument {
    /// Its id.
    pub id: String,
    /// Where it is in the input.
    pub position: Position,
    /// The digest of its content.
    pub content: u64,
    /// Its fingerprint, none if it has no feature.
    pub fingerprint: Option<u128>,
    /// The length of its text in UTF-8 bytes.
    pub length: u64,
    /// Its time in seconds since 1970, if known.
    pub time: Option<i64>,
    /// Its class.
    pub class: Class,
    /// Its signature; empty if none is kept.
    pub check: Vec<u8>,
}

impl Record for FingerprintedDocument {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.check.len()
    }
}

/// The first document with its id, ordered as in a segment.
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

/// A segment that is being built: its documents, each id once.
pub struct SegmentBuilder<F: Fingerprint> {
    segment: SegmentWriter<F>,
    entries: Sorter<Entry>,
    counts: Counts,
}

impl<F: Fingerprint> SegmentBuilder<F> {
    /// Takes `documents` for the segment at `path`. In `counts` the caller gives what was read, quarantined
    /// and blank; the rest is counted here. Calls `repeated` for a document whose id came before, with
    /// its id, the place of the first and its own. The sort uses about `memory_bytes`.
    pub fn of(
        documents: Sorted<FingerprintedDocument>,
        path: &Path,
        options: SegmentOptions,
        mut counts: Counts,
        memory_bytes: usize,
        repeated: &mut dyn FnMut(&str, Place, Place) -> Result<()>,
    ) -> Result<SegmentBuilder<F>> {
        let mut segment = SegmentWriter::<F>::create(path, options)?;
        let mut entries = Sorter::new(output::parent_of(path), memory_bytes);
        let mut last: Option<(String, Place)> = None;
        for document in documents {
            let FingerprintedDocument {
                id,
                position,
                content,
                fingerprint,
                length,
                time,
                class,
                check,
            } = document?;
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

    /// Writes the segment and puts it and `lists` into their places.
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

/// Nothing may be lost: every record read is fingerprinted, empty, repeated or quarantined.
fn check_counts(counts: &Counts) -> Result<()> {
    let Counts { read, fingerprinted, empty, repeated, quarantined, .. } = *counts;
    let told = fingerprinted + empty + repeated + quarantined;
    if read != told {
        return Err(Error::new(Kind::Internal, "records were lost").expected(read).found(told));
    }
    Ok(())
}
