//! Builds a segment from documents in any order. Of documents with the same id only the first is
//! taken. The rest is sorted as segments are. Both sorts use the disk when memory is full.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Details, Lists, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};
use crate::document::{Occurrence, Position};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::output::{self, Lock};
use crate::runs::{Record, SortedRecords, Sorter};

/// A document with its fingerprint, on its way into a segment: ordered by id, then by position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FingerprintedDocument {
    pub id: String,
    pub position: Position,
    pub content: u64,
    /// Its fingerprint, none if it has no feature.
    pub fingerprint: Option<u128>,
    pub details: Details,
}

impl FingerprintedDocument {
    pub fn new(id: impl Into<String>, fingerprint: Option<u128>) -> FingerprintedDocument {
        FingerprintedDocument {
            id: id.into(),
            position: Position { file: 0, line: 1 },
            content: 0,
            fingerprint,
            details: Details::default(),
        }
    }
}

impl Record for FingerprintedDocument {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.details.outside_bytes()
    }
}

/// The documents without a fingerprint come first, in the order of their ids.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SegmentRow {
    fingerprint: Option<u128>,
    id: String,
    details: Details,
}

impl Record for SegmentRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.details.outside_bytes()
    }
}

pub struct SegmentBuilder {
    path: PathBuf,
    width: Width,
    options: SegmentOptions,
    entries: Sorter<SegmentRow>,
    counts: RecordCounts,
}

impl SegmentBuilder {
    /// Takes `documents` for a segment of this `width` at `path`. In `counts` the caller gives what was
    /// read, quarantined and blank; the rest is counted here. Calls `repeated` for a document whose id
    /// came before, with its id, the first occurrence and its own. The sort uses about
    /// `memory_bytes`.
    pub fn of(
        documents: SortedRecords<FingerprintedDocument>,
        width: Width,
        path: &Path,
        options: SegmentOptions,
        counts: RecordCounts,
        memory_bytes: usize,
        repeated: &mut dyn FnMut(&str, Occurrence, Occurrence) -> Result<()>,
    ) -> Result<SegmentBuilder> {
        let entries = Sorter::new(output::parent_of(path), memory_bytes);
        let path = path.to_path_buf();
        let mut builder = SegmentBuilder { path, width, options, entries, counts };
        let mut last: Option<(String, Occurrence)> = None;
        for document in documents {
            let document = document?;
            let place = Occurrence { position: document.position, content: document.content };
            if let Some((last, first)) = &last
                && *last == document.id
            {
                builder.counts.repeated += 1;
                repeated(&document.id, *first, place)?;
                continue;
            }
            last = Some((document.id.clone(), place));
            let FingerprintedDocument { id, fingerprint, details, .. } = document;
            builder.entries.push(SegmentRow { fingerprint, id, details })?;
        }
        Ok(builder)
    }

    pub fn write(self, identity: &str, lists: Lists, lock: &Lock) -> Result<Segment> {
        match self.width {
            Width::W64 => self.write_rows::<u64>(identity, lists, lock),
            Width::W128 => self.write_rows::<u128>(identity, lists, lock),
        }
    }

    fn write_rows<F: Fingerprint>(
        self,
        identity: &str,
        lists: Lists,
        lock: &Lock,
    ) -> Result<Segment> {
        let SegmentBuilder { path, options, entries, mut counts, .. } = self;
        let mut segment = SegmentWriter::<F>::create(path, options)?;
        segment.fenced(lock.fence());
        for entry in entries.sorted()? {
            let SegmentRow { fingerprint, id, details } = &entry?;
            match fingerprint {
                Some(bits) => {
                    segment.push(&Row { details, ..Row::new(F::from_u128(*bits), id) })?;
                    counts.fingerprinted += 1;
                }
                None => {
                    segment.push_empty(id)?;
                    counts.empty += 1;
                }
            }
        }
        if !counts.add_up() {
            return Err(Error::new(Kind::Internal, "records were lost")
                .expected(counts.read)
                .found(counts.accounted_for()));
        }
        segment.finish_with(counts, identity, lists)
    }
}
