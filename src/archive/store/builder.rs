//! Builds a segment from documents in any order. Of documents with the same id only the first is
//! taken. The rest is sorted as segments are. Both sorts use the disk when memory is full.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Details, Lists, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};
use crate::document::{Occurrence, Position};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::output::{self, Fence, Lock};
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
    /// A document of which nothing else is known.
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

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SegmentRow {
    fingerprint: u128,
    id: String,
    details: Details,
}

impl Record for SegmentRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.details.outside_bytes()
    }
}

/// A segment that is being built: its documents, each id once.
pub struct SegmentBuilder {
    segment: Box<dyn AnyWidth>,
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
        let segment: Box<dyn AnyWidth> = match width {
            Width::W64 => Box::new(SegmentWriter::<u64>::create(path, options)?),
            Width::W128 => Box::new(SegmentWriter::<u128>::create(path, options)?),
        };
        let entries = Sorter::new(output::parent_of(path), memory_bytes);
        let mut last: Option<(String, Occurrence)> = None;
        let mut builder = SegmentBuilder { segment, entries, counts };
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
            builder.take(document)?;
        }
        Ok(builder)
    }

    fn take(&mut self, document: FingerprintedDocument) -> Result<()> {
        let FingerprintedDocument { id, fingerprint, details, .. } = document;
        let Some(fingerprint) = fingerprint else {
            self.counts.empty += 1;
            return self.segment.push_empty(&id);
        };
        self.entries.push(SegmentRow { fingerprint, id, details })
    }

    pub fn write(self, identity: &str, lists: Lists, lock: &Lock) -> Result<Segment> {
        let SegmentBuilder { mut segment, entries, mut counts } = self;
        segment.fenced(lock.fence());
        for entry in entries.sorted()? {
            let SegmentRow { fingerprint, id, details } = &entry?;
            segment.push(&Row { details, ..Row::new(*fingerprint, id) })?;
            counts.fingerprinted += 1;
        }
        if !counts.add_up() {
            return Err(Error::new(Kind::Internal, "records were lost")
                .expected(counts.read)
                .found(counts.accounted_for()));
        }
        segment.finish(counts, identity, lists)
    }
}

/// A segment writer of either width. With it the builder need not be generic, and the code of both
/// widths is compiled once, here.
trait AnyWidth {
    fn fenced(&mut self, fence: &Fence);
    fn push(&mut self, row: &Row<'_, u128>) -> Result<()>;
    fn push_empty(&mut self, id: &str) -> Result<()>;
    fn finish(
        self: Box<Self>,
        counts: RecordCounts,
        identity: &str,
        lists: Lists,
    ) -> Result<Segment>;
}

impl<F: Fingerprint> AnyWidth for SegmentWriter<F> {
    fn fenced(&mut self, fence: &Fence) {
        SegmentWriter::fenced(self, fence);
    }

    fn push(&mut self, row: &Row<'_, u128>) -> Result<()> {
        SegmentWriter::push(self, &row.with(F::from_u128(row.fingerprint)))
    }

    fn push_empty(&mut self, id: &str) -> Result<()> {
        SegmentWriter::push_empty(self, id)
    }

    fn finish(
        self: Box<Self>,
        counts: RecordCounts,
        identity: &str,
        lists: Lists,
    ) -> Result<Segment> {
        self.finish_with(counts, identity, lists)
    }
}
