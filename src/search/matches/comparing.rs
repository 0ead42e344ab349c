//! The pages of a window compared with one page after another: each sketch is decoded once.
//!
//! In a crowd of 400 pages each is compared with most of the others. So the sketches of a window are decoded when it opens, and
//! the one that several are compared with is marked.

use std::ops::Range;

use super::coverage::{Coverage, Coverages};
use super::group_key::{GroupKey, GroupKeyReader, HeldKeys};
use super::numbers::{Number, SegmentRow};
use super::similarity::Confirm;
use crate::error::Result;
use crate::fingerprint::Class;
use crate::fingerprint::check::{Marked, Sample};
use crate::parallel::{in_parallel, row_parts};
use crate::progress::{self, Activity};
use crate::store::Segment;

/// What decides beside the fingerprint, of neighbouring rows of the batch, in memory.
pub(crate) enum WindowKeys {
    /// Classes, and signatures of a check without a direction.
    Keys(HeldKeys),
    /// Sketches of which each says how much of another page it contains.
    Samples(Samples),
}

/// Sketches of neighbouring rows, decoded, in parts of so many rows.
#[derive(Debug)]
pub(crate) struct Samples {
    rows: Range<usize>,
    part_rows: usize,
    parts: Vec<SamplesPart>,
}

#[derive(Debug, Default)]
struct SamplesPart {
    levels: Vec<u8>,
    /// The hashes, end to end, and where those of each row end.
    hashes: Vec<u32>,
    ends: Vec<usize>,
}

impl WindowKeys {
    /// How many rows of a segment fit into so much memory; one at least.
    pub(super) fn most(segment: &Segment, confirm: Option<&Confirm>, memory_bytes: usize) -> usize {
        // A hash takes some 16 bits in a sketch, and 32 when it is decoded.
        let factor = if confirm.is_some_and(Confirm::has_direction) { 2 } else { 1 };
        HeldKeys::most(segment, confirm, memory_bytes / factor)
    }

    pub(super) fn read(
        segment: &Segment,
        rows: Range<usize>,
        confirm: Option<&Confirm>,
        workers: usize,
    ) -> Result<WindowKeys> {
        let reader = || GroupKeyReader::new(segment, confirm);
        if !confirm.is_some_and(Confirm::has_direction) {
            return HeldKeys::read(&mut reader()?, rows).map(WindowKeys::Keys);
        }
        let parts = row_parts(rows.len() as u64, workers);
        let read = |part: &Range<u64>| {
            let [start, end] = [part.start, part.end].map(|it| rows.start as u64 + it);
            SamplesPart::read(&mut reader()?, start..end)
        };
        let part_rows = parts.first().map_or(1, |part| part.end as usize);
        let parts = in_parallel(workers, &parts, read).into_iter().collect::<Result<_>>()?;
        Ok(WindowKeys::Samples(Samples { rows, part_rows, parts }))
    }
}

impl SamplesPart {
    fn read(reader: &mut GroupKeyReader, rows: Range<u64>) -> Result<SamplesPart> {
        let mut part = SamplesPart::default();
        let mut decoded = Vec::new();
        for row in rows {
            progress::tick(Activity::Working);
            let Sample { level, hashes } = Sample::read(reader.get(row)?.signature, &mut decoded);
            part.levels.push(level);
            part.hashes.extend(hashes);
            part.ends.push(part.hashes.len());
        }
        Ok(part)
    }

    fn get(&self, at: usize) -> Sample<'_> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        Sample { level: self.levels[at], hashes: &self.hashes[start..self.ends[at]] }
    }
}

impl Samples {
    /// The sample of a row, which `reader` looks up if it is not held.
    fn get<'a>(
        &'a self,
        row: SegmentRow,
        reader: &mut GroupKeyReader,
        decoded: &'a mut Vec<u32>,
    ) -> Result<Sample<'a>> {
        if !self.rows.contains(&row.index()) {
            return Ok(Sample::read(reader.get(row.index() as u64)?.signature, decoded));
        }
        let at = row.index() - self.rows.start;
        Ok(self.parts[at / self.part_rows].get(at % self.part_rows))
    }
}

pub(super) struct Comparer<'a> {
    confirm: Option<&'a Confirm>,
    keys: &'a WindowKeys,
    reader: GroupKeyReader,
    decoded: Vec<u32>,
    /// The page that others are compared with: its key, or its sketch.
    class: Class,
    signature: Vec<u8>,
    marked: Option<Marked>,
}

impl<'a> Comparer<'a> {
    /// Compares by `confirm`, whose keys of the window these are; `reader` looks up others.
    pub(super) fn new(
        confirm: Option<&'a Confirm>,
        keys: &'a WindowKeys,
        reader: GroupKeyReader,
    ) -> Comparer<'a> {
        let (decoded, signature) = (Vec::new(), Vec::new());
        Comparer { confirm, keys, reader, decoded, class: Class::Full, signature, marked: None }
    }

    /// Those that follow are compared with this row of the batch.
    pub(super) fn with_row(&mut self, row: SegmentRow) -> Result<()> {
        let (reader, decoded) = (&mut self.reader, &mut self.decoded);
        match self.keys {
            WindowKeys::Samples(samples) => {
                let sample = samples.get(row, reader, decoded)?;
                self.marked.get_or_insert_default().mark(sample);
            }
            WindowKeys::Keys(held) => {
                let GroupKey { class, signature } = held.get(row, reader)?;
                self.class = class;
                signature.clone_into(&mut self.signature);
            }
        }
        Ok(())
    }

    pub(super) fn with_key(&mut self, GroupKey { class, signature }: GroupKey<'_>) {
        match self.keys {
            WindowKeys::Samples(_) => {
                let sample = Sample::read(signature, &mut self.decoded);
                self.marked.get_or_insert_default().mark(sample);
            }
            WindowKeys::Keys(_) => {
                self.class = class;
                signature.clone_into(&mut self.signature);
            }
        }
    }

    /// How well a row of the batch and the page that it is compared with cover each other, at this distance.
    pub(super) fn compare(&mut self, row: SegmentRow, distance: u8) -> Result<Coverages> {
        let (reader, decoded) = (&mut self.reader, &mut self.decoded);
        match (self.keys, &mut self.marked, self.confirm) {
            (WindowKeys::Samples(samples), Some(marked), Some(confirm)) => {
                let sample = samples.get(row, reader, decoded)?;
                if distance == 0 && sample == marked.sample() {
                    return Ok(Coverages::mutual(Coverage::SAME));
                }
                let contained = marked.contained(sample, confirm.least);
                Ok(contained.map_or(Coverages::default(), |[of_other, of_row]| {
                    Coverages::containing([of_row, of_other], confirm.least, distance)
                }))
            }
            (WindowKeys::Keys(held), ..) => {
                let other = GroupKey { class: self.class, signature: &self.signature };
                Ok(held.get(row, reader)?.compare(other, distance.into(), self.confirm))
            }
            _ => Ok(Coverages::default()),
        }
    }
}
