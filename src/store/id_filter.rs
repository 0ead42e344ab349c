//! Reduces a segment to a list of ids.

use std::path::Path;

use crate::document::IdList;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, Width};

use super::digest::Digest;
use super::segment::Details;
use super::segment::KeyRange;
use super::segment::Segment;
use super::segment::{IdKind, RecordCounts, SegmentOptions, SegmentWriter};

/// The ids to which a segment is reduced.
pub(crate) struct IdFilter(IdList);

impl IdFilter {
    /// Reads a list of ids, one a line, in any order. Blank lines are ignored.
    pub(crate) fn read(path: &Path) -> Result<IdFilter> {
        IdList::read(path, IdList::MOST_BYTES).map(IdFilter)
    }

    /// The digest of the set.
    pub(crate) fn digest(&self) -> Digest {
        let mut bytes = Vec::with_capacity(size_of_val(self.0.keys()));
        bytes.extend(self.0.keys().iter().flat_map(|key| key.to_le_bytes()));
        Digest::of(&bytes)
    }

    /// Writes the rows of `segment` whose ids are in the list, and nothing else, to `path`.
    ///
    /// # Errors
    /// An id that the segment does not have is [`Kind::BadData`](crate::Kind::BadData).
    pub(crate) fn write(&self, segment: &Segment, path: &Path) -> Result<Segment> {
        match segment.width() {
            Width::W64 => self.write_rows::<u64>(segment, path),
            Width::W128 => self.write_rows::<u128>(segment, path),
        }
    }

    fn write_rows<F: Fingerprint>(&self, segment: &Segment, path: &Path) -> Result<Segment> {
        let mut scan = segment.scan::<F>(KeyRange::all());
        let mut ids = segment.ids();
        let mut details = Details::new(segment);
        let mut writer = SegmentWriter::create(path, options(segment))?;
        let mut found = vec![false; self.0.len()];
        let mut run = Vec::new();
        while let Some(first) = scan.next(&mut run)? {
            for (row, &fingerprint) in (first..).zip(&run) {
                let id = ids.get(row)?;
                if let Some(place) = self.0.place(id) {
                    found[place] = true;
                    writer.push(&details.row(row, fingerprint, id)?)?;
                }
            }
        }
        if found.contains(&false) {
            let looked_up = format!("the segment is {}", segment.path().display());
            let what = "the segment does not have this id";
            return Err(self.0.missing(&found, what).help(looked_up));
        }
        let rows = self.0.len() as u64;
        let counts = RecordCounts { read: rows, fingerprinted: rows, ..RecordCounts::default() };
        writer.finish(counts, &format!("{} only {}", segment.digest(), self.digest()))
    }
}

/// The columns of the reduced segment. Row numbers change, so they become ids.
fn options(segment: &Segment) -> SegmentOptions {
    SegmentOptions {
        ids: match segment.id_kind() {
            IdKind::None => IdKind::None,
            IdKind::Numbers | IdKind::Text => IdKind::Text,
        },
        lengths: segment.has_lengths(),
        times: segment.has_times(),
        classes: segment.has_classes(),
        check_bytes: segment.check_bytes(),
        band_bytes: segment.band_bytes(),
        stamp: segment.stamp().to_owned(),
        ..SegmentOptions::default()
    }
}
