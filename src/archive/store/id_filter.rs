//! Reduces a segment to a list of ids, or to those of its pages that were not removed from the store.

use std::path::Path;

use crate::document::IdList;
use crate::error::{Named, Result};
use crate::fingerprint::{Fingerprint, Width};

use super::digest::Digest;
use super::row_sets::RowSet;
use super::segment::{
    DetailLookup, IdKind, KeyRange, RecordCounts, Row, Segment, SegmentOptions, SegmentWriter,
};
use crate::day::Day;

pub(crate) fn digest_of(only: &IdList) -> Digest {
    Digest::of(&only.keys().iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<u8>>())
}

pub(crate) struct Reduction<'a> {
    /// Only these ids, without those of documents that have no fingerprint; or all.
    pub only: Option<&'a IdList>,
    pub removed: &'a RowSet,
}

impl Reduction<'_> {
    /// Writes what is left of `segment` to `path`. If it is to stand in its place, it says of itself what `segment` says, and how many
    /// pages it leaves out.
    pub(crate) fn write(&self, segment: &Segment, path: &Path, in_place: bool) -> Result<Segment> {
        match segment.width() {
            Width::W64 => self.write_rows::<u64>(segment, path, in_place),
            Width::W128 => self.write_rows::<u128>(segment, path, in_place),
        }
    }

    fn write_rows<F: Fingerprint>(
        &self,
        segment: &Segment,
        path: &Path,
        in_place: bool,
    ) -> Result<Segment> {
        let mut scan = segment.scan::<F>(KeyRange::all());
        let mut ids = segment.ids();
        let mut details = DetailLookup::new(segment);
        let mut writer = SegmentWriter::<F>::create(path, options(segment))?;
        let mut found = vec![false; self.only.map_or(0, |only| only.len())];
        let (mut fingerprinted, mut empty) = (0, 0);
        let mut run = Vec::new();
        while let Some(first) = scan.next(&mut run)? {
            for (row, &fingerprint) in (first..).zip(&run) {
                let id = ids.get(row)?;
                if let Some(only) = self.only {
                    let Some(place) = only.place(id) else { continue };
                    found[place] = true;
                }
                if !self.removed.rows.contains(row) {
                    fingerprinted += 1;
                    let details = details.get(row)?;
                    writer.push(&Row { details, ..Row::new(fingerprint, id) })?;
                }
            }
        }
        if let Some(only) = self.only {
            if found.contains(&false) {
                let looked_up = format!("the segment is {}", segment.path().named());
                let what = "the segment does not have this id";
                return Err(only.missing(&found, what).help(looked_up));
            }
        } else {
            for (row, id) in (0..).zip(segment.empty_ids()) {
                if !self.removed.empties.contains(row) {
                    empty += 1;
                    writer.push_empty(&id?)?;
                }
            }
        }
        let left = fingerprinted + empty;
        if !in_place {
            let counts =
                RecordCounts { read: left, fingerprinted, empty, ..RecordCounts::default() };
            return writer.finish(counts, &self.identity(segment.digest()));
        }
        let counts = segment.counts();
        let removed = counts.removed + (counts.fingerprinted + counts.empty).saturating_sub(left);
        writer.finish_like(segment, RecordCounts { fingerprinted, empty, removed, ..counts })
    }

    fn identity(&self, source: Digest) -> String {
        format!("{source}{}", self.named([" only ", " without "]))
    }

    pub(crate) fn file(&self, source: Digest, day: Day) -> String {
        format!("{day}-{source}{}.seg", self.named(["-", "-without-"]))
    }

    fn named(&self, [only, without]: [&str; 2]) -> String {
        let only = self.only.map(|ids| format!("{only}{}", digest_of(ids)));
        let is_any = !self.removed.is_empty();
        let removed = is_any.then(|| format!("{without}{}", self.removed.digest()));
        [only, removed].into_iter().flatten().collect()
    }
}

/// The columns of the reduced segment. Row numbers change, so they become ids.
fn options(segment: &Segment) -> SegmentOptions {
    SegmentOptions {
        ids: match segment.id_kind() {
            IdKind::None => IdKind::None,
            IdKind::Numbers | IdKind::Text => IdKind::Text,
        },
        ..SegmentOptions::like(segment)
    }
}
