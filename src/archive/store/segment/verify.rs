//! Reads all of a segment and checks everything that a segment promises.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::day::Day;
use crate::error::{Error, Result};
use crate::fingerprint::{Fingerprint, Width, hex};
use crate::parallel::in_parallel;
use crate::store::damage::damaged;

use super::block::BLOCK_ROWS;
use super::details::DetailLookup;
use super::directory::{Coding, Column, IdKind};
use super::lookup::{Days, Ids};
use super::open::Segment;
use super::packed::is_id;

/// The most fingerprint blocks of a part, which one thread checks. A part has whole blocks of every column.
const PART_BLOCKS: usize = 256;

impl Segment {
    /// Decodes every block of every column and checks all checksums and the order of rows.
    pub fn verify(&self) -> Result<()> {
        self.verify_counting(&AtomicU64::new(0)).map(drop)
    }

    /// Like [`Segment::verify`]. `read` grows by the bytes of the file. Returns the number of rows of each
    /// day, if the segment has days.
    pub(crate) fn verify_counting(&self, read: &AtomicU64) -> Result<BTreeMap<Day, u64>> {
        let before = read.load(Ordering::Relaxed);
        let began = self.bytes_read();
        let bytes = self.bytes();
        let show = || {
            let done = (self.bytes_read() - began).min(bytes);
            read.store(before + done, Ordering::Relaxed);
        };
        let days = match self.width() {
            Width::W64 => self.verify_rows::<u64>(show)?,
            Width::W128 => self.verify_rows::<u128>(show)?,
        };
        self.verify_empties()?;
        read.store(before + bytes, Ordering::Relaxed);
        Ok(days)
    }

    fn verify_rows<F: Fingerprint>(&self, show: impl Fn() + Sync) -> Result<BTreeMap<Day, u64>> {
        let blocks = self.fingerprint_blocks().all.len();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let part = (blocks / (8 * cores)).clamp(1, PART_BLOCKS);
        let starts = (0..blocks).step_by(part);
        let parts: Vec<Range<usize>> =
            starts.map(|start| start..blocks.min(start + part)).collect();
        let verified =
            in_parallel(cores, &parts, |part| self.verify_part::<F>(part.clone(), &show));
        let mut rows = BTreeMap::new();
        for part in verified {
            for (day, count) in part? {
                *rows.entry(day).or_default() += count;
            }
        }
        Ok(rows)
    }

    fn verify_part<F: Fingerprint>(
        &self,
        blocks: Range<usize>,
        show: impl Fn(),
    ) -> Result<BTreeMap<Day, u64>> {
        let mut rows = Rows::of(self);
        let first = (blocks.start * BLOCK_ROWS) as u64;
        let mut scan = self.scan_blocks::<F>(blocks.start.saturating_sub(1)..blocks.end);
        let mut run = Vec::new();
        let is_bare = self.is_bare();
        while let Some(row) = scan.next(&mut run)? {
            show();
            if row < first {
                rows.begin_after(first - 1, run[run.len() - 1])?;
            } else if is_bare && ascends(rows.last, &run) {
                rows.last = run.last().copied();
            } else {
                (row..)
                    .zip(&run)
                    .try_for_each(|(row, &fingerprint)| rows.next(row, fingerprint))?;
            }
        }
        Ok(rows.of_days)
    }

    fn is_bare(&self) -> bool {
        self.columns().all(|size| match size.column {
            Column::Fingerprints | Column::Empties => true,
            _ => matches!(size.coding, Coding::RowNumber | Coding::Hex),
        })
    }

    fn verify_empties(&self) -> Result<()> {
        let mut last = String::new();
        for (row, id) in (0..).zip(self.empty_ids()) {
            let id = id?;
            if id <= last || !is_id(&id) {
                return Err(self.disorder(row, "an empty document".into(), &id));
            }
            last = id;
        }
        Ok(())
    }

    fn disorder(&self, row: u64, what: String, id: &str) -> Error {
        damaged(&format!("row {row} is out of order"))
            .at(self.path())
            .found(format_args!("{what} `{id}`"))
    }
}

struct Rows<'a, F> {
    segment: &'a Segment,
    ids: Ids,
    days: Option<Days>,
    details: DetailLookup,
    last: Option<F>,
    last_id: String,
    last_day: Option<Day>,
    of_days: BTreeMap<Day, u64>,
}

impl<'a, F: Fingerprint> Rows<'a, F> {
    fn of(segment: &'a Segment) -> Rows<'a, F> {
        Rows {
            segment,
            ids: segment.ids(),
            days: segment.days(),
            details: DetailLookup::new(segment),
            last: None,
            last_id: String::new(),
            last_day: None,
            of_days: BTreeMap::new(),
        }
    }

    fn begin_after(&mut self, row: u64, fingerprint: F) -> Result<()> {
        self.next(row, fingerprint)?;
        self.of_days.clear();
        Ok(())
    }

    fn next(&mut self, row: u64, fingerprint: F) -> Result<()> {
        // Ids that are row numbers or fingerprints are valid if no fingerprint comes twice.
        let has_text = self.segment.id_kind() == IdKind::Text;
        let id = if has_text { self.ids.get(row)? } else { "" };
        let day = self.days.as_mut().map(|days| days.get(row)).transpose()?;
        let follows = |last| (last, self.last_id.as_str(), self.last_day) < (fingerprint, id, day);
        if !self.last.is_none_or(follows) {
            return Err(self.segment.disorder(row, hex(fingerprint.to_u128(), F::WIDTH), id));
        }
        if has_text && !is_id(id) {
            return Err(self.segment.disorder(row, "an invalid id".into(), id));
        }
        (self.last, self.last_day) = (Some(fingerprint), day);
        id.clone_into(&mut self.last_id);
        self.details.get(row)?;
        if let Some(day) = day {
            *self.of_days.entry(day).or_default() += 1;
        }
        Ok(())
    }
}

fn ascends<F: Fingerprint>(last: Option<F>, run: &[F]) -> bool {
    let follows = last.is_none_or(|last| run.first().is_none_or(|&first| last < first));
    // Without an early exit, so that several are compared at once.
    run.windows(2).fold(follows, |ascends, pair| ascends & (pair[0] < pair[1]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Kind;
    use crate::store::segment::{RecordCounts, Row, SegmentOptions, SegmentWriter};

    proptest! {
        #[test]
        fn a_run_ascends_if_each_is_above_the_one_before(
            last in prop::option::of(0u64..9),
            run in prop::collection::vec(0u64..9, 0..4),
        ) {
            let all: Vec<u64> = last.into_iter().chain(run.iter().copied()).collect();
            prop_assert_eq!(ascends(last, &run), all.is_sorted_by(|a, b| a < b));
        }
    }
    /// A segment of several parts, two days, and copies across the borders of parts.
    #[test]
    fn parts_follow_each_other_and_their_days_add_up() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let options = SegmentOptions { days: true, ..SegmentOptions::default() };
        let mut writer = SegmentWriter::create(folder.path().join("parts"), options)?;
        let count = 2 * BLOCK_ROWS as u64 + 100;
        let days = [Day::of(2026, 11, 21), Day::of(2026, 11, 22)];
        for row in 0..count {
            writer.push(&Row {
                day: days[row as usize % 2],
                ..Row::new(row / 3, &format!("{row:06}"))
            })?;
        }
        let segment = writer.finish(RecordCounts::default(), "a test")?;
        let found = segment.verify_counting(&AtomicU64::new(0))?;
        assert!(found.into_iter().eq(days.into_iter().flatten().map(|day| (day, count / 2))));

        let border = BLOCK_ROWS as u64;
        let mut rows = Rows::<u64>::of(&segment);
        rows.begin_after(border - 1, border / 3)?;
        rows.next(border, border / 3)?;
        assert_eq!(rows.next(border - 1, border / 3).unwrap_err().kind(), Kind::BadData);
        Ok(())
    }
}
