//! Builds a segment from documents in any order. Of documents with the same id only the first is
//! taken. The rest is sorted as segments are. Both sorts use the disk when memory is full.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Lists, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};
use crate::document::{Occurrence, Position};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Class, Fingerprint, Width};
use crate::output::{self, Fence, Lock};
use crate::runs::{Record, SortedRecords, Sorter};

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
    /// Its time in seconds since 1970, or its key in another order, if known.
    pub time: Option<i64>,
    /// Its class.
    pub class: Class,
    /// Its signature; empty if none is kept.
    pub check: Vec<u8>,
    /// The keys of its bands; empty if none are kept.
    pub bands: Vec<u8>,
    /// The XXH3-128 of its text; 0 if none is kept.
    pub digest: u128,
}

impl FingerprintedDocument {
    /// A document of which nothing else is known.
    pub fn new(id: impl Into<String>, fingerprint: Option<u128>) -> FingerprintedDocument {
        FingerprintedDocument {
            id: id.into(),
            position: Position { file: 0, line: 1 },
            content: 0,
            fingerprint,
            length: 0,
            time: None,
            class: Class::Full,
            check: Vec::new(),
            bands: Vec::new(),
            digest: 0,
        }
    }
}

impl Record for FingerprintedDocument {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.check.len() + self.bands.len()
    }
}

/// The first document with its id, ordered as in a segment.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SegmentRow {
    fingerprint: u128,
    id: String,
    length: u64,
    time: Option<i64>,
    class: Class,
    check: Vec<u8>,
    bands: Vec<u8>,
    digest: u128,
}

impl Record for SegmentRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.check.len() + self.bands.len()
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

    /// Takes the first document with its id.
    fn take(&mut self, document: FingerprintedDocument) -> Result<()> {
        let FingerprintedDocument { id, length, time, class, check, bands, digest, .. } = document;
        let Some(fingerprint) = document.fingerprint else {
            self.counts.empty += 1;
            return self.segment.push_empty(&id);
        };
        let row = SegmentRow { fingerprint, id, length, time, class, check, bands, digest };
        self.entries.push(row)
    }

    /// Writes the segment and puts it and `lists` into their places.
    pub fn write(self, identity: &str, lists: Lists, lock: &Lock) -> Result<Segment> {
        let SegmentBuilder { mut segment, entries, mut counts } = self;
        segment.fenced(lock.fence());
        for entry in entries.sorted()? {
            let SegmentRow { fingerprint, id, length, time, class, check, bands, digest } = entry?;
            let [check, bands] = [&check[..], &bands];
            let row = Row::new(fingerprint, &id);
            segment.push(&Row { length, time, class, check, bands, digest, ..row })?;
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
