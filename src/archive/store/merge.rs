//! Merges segments into one, so that a scan reads one file and equal fingerprints are next to each other.
//! Every row keeps its day. Rows that are hidden are left out.
//!
//! ```text
//! 2026-11-20   0a 5f c3          merged   0a   5f   5f   91   c3
//! 2026-11-21   5f 91             day      20   20   21   21   20
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{At, Result};
use crate::fingerprint::{Fingerprint, Width};
use crate::output::{Fence, UNFINISHED};

use super::dated::{Dated, RowDays, Shown};
use super::segment::{
    Codec, DetailLookup, IdKind, Ids, KeyRange, RecordCounts, Row, Scan, Segment, SegmentOptions,
    SegmentWriter,
};
use crate::day::Day;

/// The most segments that are merged at once. Each needs about a megabyte.
const FAN_IN: usize = 128;

const PIECE_BYTES: u64 = 256 << 10;

pub(super) struct Target<'a> {
    pub(super) path: &'a Path,
    pub(super) codec: Codec,
    pub(super) identity: &'a str,
    /// It is published only while this lock is held.
    pub(super) fence: Option<&'a Fence>,
}

pub(super) fn merge(
    mut segments: Vec<Dated>,
    target: &Target<'_>,
    merged: &AtomicU64,
) -> Result<Segment> {
    let mut passes = 0;
    while segments.len() > FAN_IN {
        let first = segments.drain(..FAN_IN).collect::<Vec<Dated>>();
        let path = target.path.with_file_name(format!("{UNFINISHED}merged-{passes}"));
        let part = Target { path: &path, codec: Codec::default(), identity: "", ..*target };
        // Only the last pass counts, so that the count ends at the number of rows.
        let merged = merge_once(&first, &part, &AtomicU64::new(0))?;
        // The file stays readable while it is open, and disappears with it whatever happens.
        fs::remove_file(merged.path()).at(merged.path())?;
        segments.push(Dated::new(merged, None));
        passes += 1;
    }
    merge_once(&segments, target, merged)
}

fn merge_once(segments: &[Dated], target: &Target<'_>, merged: &AtomicU64) -> Result<Segment> {
    match segments.first().map(|dated| dated.segment().width()) {
        Some(Width::W128) => merge_rows::<u128>(segments, target, merged),
        _ => merge_rows::<u64>(segments, target, merged),
    }
}

fn merge_rows<F: Fingerprint>(
    segments: &[Dated],
    target: &Target<'_>,
    merged: &AtomicU64,
) -> Result<Segment> {
    let options = options(segments, target.codec);
    let with_ids = options.ids == IdKind::Text;
    let mut writer = SegmentWriter::<F>::create(target.path, options)?;
    target.fence.into_iter().for_each(|fence| writer.fenced(fence));
    let mut sources: Vec<MergeSource<'_, F>> =
        segments.iter().map(|dated| MergeSource::new(dated, with_ids, merged)).collect();
    let mut next = BinaryHeap::new();
    for (number, source) in sources.iter_mut().enumerate() {
        let mut head = HeadRow { number, ..HeadRow::default() };
        if source.advance(&mut head)? {
            next.push(Reverse(head));
        }
    }
    while let Some(mut least) = next.peek_mut() {
        let Reverse(head) = &mut *least;
        let source = &mut sources[head.number];
        writer.push(&source.row(head)?)?;
        if !source.advance(head)? {
            PeekMut::pop(least);
        }
    }
    let mut empty = 0;
    each_empty(segments, |id| {
        empty += 1;
        writer.push_empty(id)
    })?;
    let mut counts = counts(segments);
    // An empty document with the same id on several days is kept once.
    counts.repeated += counts.empty - empty;
    counts.empty = empty;
    writer.finish(counts, target.identity)
}

/// The columns of the merged segment: those that any part has. Row numbers change, so they become ids.
fn options(segments: &[Dated], codec: Codec) -> SegmentOptions {
    let has_ids = segments.iter().any(|dated| dated.segment().id_kind() != IdKind::None);
    let like = segments.iter().map(|dated| SegmentOptions::like(dated.segment()));
    let all = like.reduce(SegmentOptions::or).unwrap_or_default();
    // Keys of several orders in one column would say nothing.
    let order = segments.first().and_then(|dated| dated.segment().order());
    let one_order = segments.iter().all(|dated| dated.segment().order() == order);
    SegmentOptions {
        ids: if has_ids { IdKind::Text } else { IdKind::None },
        codec,
        times: all.times && one_order,
        order: order.filter(|_| one_order).map(str::to_owned),
        days: true,
        ..all
    }
}

fn counts(segments: &[Dated]) -> RecordCounts {
    let all = segments.iter().map(|dated| {
        let (rows, empties) = dated.hidden.counts();
        let counts = dated.segment().counts();
        RecordCounts {
            read: counts.read.saturating_sub(rows + empties),
            fingerprinted: counts.fingerprinted.saturating_sub(rows),
            empty: dated.segment().empties() - empties,
            ..counts
        }
    });
    all.fold(RecordCounts::default(), |mut sum, part| {
        sum.skipped.add(part.skipped);
        RecordCounts {
            read: sum.read + part.read,
            fingerprinted: sum.fingerprinted + part.fingerprinted,
            empty: sum.empty + part.empty,
            repeated: sum.repeated + part.repeated,
            quarantined: sum.quarantined + part.quarantined,
            removed: sum.removed + part.removed,
            blank: sum.blank + part.blank,
            truncated: sum.truncated + part.truncated,
            unread_bytes: sum.unread_bytes + part.unread_bytes,
            skipped: sum.skipped,
        }
    })
}

#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct HeadRow<F> {
    fingerprint: F,
    /// Its id; empty if fingerprints serve as ids.
    id: String,
    day: Option<Day>,
    number: usize,
}

struct MergeSource<'a, F: Fingerprint> {
    scan: Scan<F>,
    run: Vec<F>,
    /// The number of the row after the current one.
    next: u64,
    /// How many rows of `run` are left, with the current one.
    left: usize,
    ids: Option<Ids>,
    details: DetailLookup,
    days: RowDays,
    shown: Shown,
    merged: &'a AtomicU64,
}

impl<F: Fingerprint> MergeSource<'_, F> {
    fn new<'a>(dated: &Dated, with_ids: bool, merged: &'a AtomicU64) -> MergeSource<'a, F> {
        let segment = dated.segment();
        MergeSource {
            scan: segment.scan(KeyRange::all()).in_pieces_of(PIECE_BYTES),
            run: Vec::new(),
            next: 0,
            left: 0,
            ids: with_ids.then(|| segment.ids()),
            details: DetailLookup::new(segment),
            days: dated.days(),
            shown: dated.shown(),
            merged,
        }
    }

    /// Makes `head` the next shown row. Returns whether there is one.
    fn advance(&mut self, head: &mut HeadRow<F>) -> Result<bool> {
        while !self.is_at_shown()? {
            if self.left > 0 {
                self.pass();
                continue;
            }
            if self.scan.next(&mut self.run)?.is_none() {
                return Ok(false);
            }
            self.left = self.run.len();
            self.merged.fetch_add(self.left as u64, Ordering::Relaxed);
        }
        head.fingerprint = self.run[self.run.len() - self.left];
        head.day = Some(self.days.get(self.next)?);
        if let Some(ids) = &mut self.ids {
            ids.get(self.next)?.clone_into(&mut head.id);
        }
        self.pass();
        Ok(true)
    }

    fn is_at_shown(&mut self) -> Result<bool> {
        Ok(self.left > 0 && self.shown.get(self.next)?)
    }

    fn pass(&mut self) {
        self.next += 1;
        self.left -= 1;
    }

    fn row<'a>(&'a mut self, head: &'a HeadRow<F>) -> Result<Row<'a, F>> {
        let HeadRow { fingerprint, ref id, day, .. } = *head;
        Ok(Row { fingerprint, id, day, details: self.details.get(self.next - 1)? })
    }
}

fn each_empty(segments: &[Dated], mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let mut sources: Vec<_> = segments.iter().map(Dated::empty_ids).collect();
    let mut next = BinaryHeap::new();
    for (number, source) in sources.iter_mut().enumerate() {
        next.extend(source.next().transpose()?.map(|id| Reverse((id, number))));
    }
    let mut last = String::new();
    while let Some(Reverse((id, number))) = next.pop() {
        if id != last {
            take(&id)?;
        }
        last = id;
        next.extend(sources[number].next().transpose()?.map(|id| Reverse((id, number))));
    }
    Ok(())
}
