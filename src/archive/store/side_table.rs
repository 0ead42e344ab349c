//! A table that is kept beside a segment: a segment of its own, of sorted entries without ids. Its stamp says from which segment
//! it was made.

use std::path::Path;

use super::segment::{Codec, IdKind, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter};
use crate::error::{Kind, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::output::Fence;

pub struct SideTableWriter<F: Fingerprint> {
    writer: SegmentWriter<F>,
    last: Option<F>,
    entries: u64,
}

impl<F: Fingerprint> SideTableWriter<F> {
    /// Begins a table, which is published while the lock of `fence` is held.
    pub fn create(path: &Path, stamp: String, fence: &Fence) -> Result<SideTableWriter<F>> {
        let ids = IdKind::None;
        let options =
            SegmentOptions { ids, codec: Codec::EliasFano, stamp, ..SegmentOptions::default() };
        let mut writer = SegmentWriter::create(path, options)?;
        writer.fenced(fence);
        Ok(SideTableWriter { writer, last: None, entries: 0 })
    }

    /// Adds an entry that is not before the last one. Equal ones are one.
    pub fn push(&mut self, entry: F) -> Result<()> {
        if self.last.replace(entry) == Some(entry) {
            return Ok(());
        }
        self.entries += 1;
        self.writer.push(&Row::new(entry, ""))
    }

    pub fn finish(self) -> Result<Segment> {
        let (read, fingerprinted) = (self.entries, self.entries);
        let counts = RecordCounts { read, fingerprinted, ..RecordCounts::default() };
        self.writer.finish(counts, "")
    }
}

/// Opens the table at `path`; none if there is none, or one of another kind or segment.
pub fn open_side_table(path: &Path, stamp: &str, width: Width) -> Result<Option<Segment>> {
    match Segment::open(path) {
        Err(error) if error.kind() == Kind::Missing => Ok(None),
        table => Ok(table.map(Some)?.filter(|it| it.stamp() == stamp && it.width() == width)),
    }
}
