//! The pages of a batch in groups: those with one fingerprint and one [key](GroupKey) are one group.
//!
//! Groups and rows are numbered by fingerprint, then by class, then by signature, then by id. Without group keys that is the order of the
//! segment. Every process that confirms pairs has the groups; only the one that writes the output has the ids too.

use serde::{Deserialize, Serialize};

use super::group_key::{GroupKey, GroupKeyReader};
use super::numbers::{FingerprintIndex, Group, Number, Row, SegmentRow, Span, below};
use super::pair::{Pair, Place};
use super::similarity::Confirm;
use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Class, Fingerprint};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortSpace};
use crate::store::{KeyRange, Segment};

#[derive(Debug)]
pub struct Groups {
    /// The first row of each group, and the number of rows at the end.
    starts: Vec<Row>,
    /// How group keys divide the fingerprints, if there are any.
    divided: Option<Divided>,
}

#[derive(Debug, Default)]
struct Divided {
    /// Each row as its segment counts it.
    segment_rows: Vec<SegmentRow>,
    /// The first group of each fingerprint, and the number of groups at the end.
    firsts: Vec<Group>,
}

/// A row of a fingerprint that has several: ordered by its key.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Keyed {
    class: Class,
    signature: Vec<u8>,
    row: SegmentRow,
}

impl Keyed {
    fn key(&self) -> GroupKey<'_> {
        GroupKey { class: self.class, signature: &self.signature }
    }
}

impl Record for Keyed {
    fn bytes(&self) -> usize {
        size_of::<Keyed>() + self.signature.capacity()
    }
}

impl Groups {
    /// The groups of a segment, divided by their keys if there are any. The keys are read by so many threads, of which each sorts those
    /// of one fingerprint in its part of the `space`.
    pub fn load<F: Fingerprint>(
        segment: &Segment,
        confirm: Option<Confirm>,
        space: SortSpace<'_>,
        workers: usize,
    ) -> Result<Groups> {
        let mut starts = Vec::new();
        each_distinct::<F>(segment, |_, row| starts.push(Row::from(row)))?;
        starts.push(Row::from(segment.rows() as u32));
        if confirm.is_none() && segment.classes().is_none() {
            return Ok(Groups { starts, divided: None });
        }
        let space = SortSpace { memory_bytes: space.memory_bytes / workers.max(1), ..space };
        let fingerprints = starts.len() - 1;
        let share = fingerprints.div_ceil(workers).max(1);
        let shares: Vec<&[Row]> = (0..fingerprints)
            .step_by(share)
            .map(|first| &starts[first..=fingerprints.min(first + share)])
            .collect();
        let parts = in_parallel(workers, &shares, |starts| {
            Groups::divide(segment, confirm.as_ref(), space, starts)
        });
        let (mut starts, mut all) = (Vec::new(), Divided::default());
        for part in parts {
            let (part, Divided { segment_rows, firsts }) = part?;
            let before = starts.len() as u32;
            all.firsts.extend(firsts.iter().map(|&first| Group::from(before + u32::from(first))));
            all.segment_rows.extend(segment_rows);
            starts.extend(part);
        }
        all.firsts.push(Group::from(starts.len() as u32));
        starts.push(Row::from(segment.rows() as u32));
        Ok(Groups { starts, divided: Some(all) })
    }

    /// Divides neighbouring fingerprints, whose rows have these `starts`. Gives the first row of each group; groups are counted from 0.
    fn divide(
        segment: &Segment,
        confirm: Option<&Confirm>,
        space: SortSpace<'_>,
        starts: &[Row],
    ) -> Result<(Vec<Row>, Divided)> {
        let (mut groups, mut divided) = (Vec::new(), Divided::default());
        let mut keys = None;
        for (&start, &end) in starts.iter().zip(&starts[1..]) {
            let rows = Span { start, end };
            divided.firsts.push(Group::from(groups.len() as u32));
            groups.push(start);
            if rows.len() == 1 {
                divided.segment_rows.push(SegmentRow::from(u32::from(start)));
                continue;
            }
            progress::tick(Activity::Sorting);
            let reader = match &mut keys {
                Some(reader) => reader,
                none => none.insert(GroupKeyReader::new(segment, confirm)?),
            };
            let mut copies = space.sorter();
            for row in rows.iter().map(u32::from) {
                let GroupKey { class, signature } = reader.get(row.into())?;
                copies.push(Keyed { class, signature: signature.to_vec(), row: row.into() })?;
            }
            let mut last: Option<Keyed> = None;
            for (row, copy) in rows.iter().zip(copies.sorted()?) {
                let copy = copy?;
                divided.segment_rows.push(copy.row);
                if last.is_some_and(|last| last.key() != copy.key()) {
                    groups.push(row);
                }
                last = Some(copy);
            }
        }
        Ok((groups, divided))
    }

    pub(super) fn key_row(&self, group: Group) -> SegmentRow {
        self.segment_row(self.rows_of(group).start)
    }

    /// The first row with a fingerprint, as its segment counts it; behind the last fingerprint, the number of rows.
    pub(super) fn first_row(&self, fingerprint: FingerprintIndex) -> usize {
        self.starts[self.first_group(fingerprint).index()].index()
    }

    /// The first group of a fingerprint; behind the last fingerprint, the number of groups.
    pub(super) fn first_group(&self, fingerprint: FingerprintIndex) -> Group {
        let undivided = || Group::from(u32::from(fingerprint));
        self.divided.as_ref().map_or_else(undivided, |divided| divided.firsts[fingerprint.index()])
    }

    /// The end of the fingerprints from `first` on that have at most so many rows together; of one at least.
    pub(super) fn window(&self, first: FingerprintIndex, most_rows: usize) -> FingerprintIndex {
        let end = self.first_row(first).saturating_add(most_rows);
        if end >= self.rows() as usize {
            return FingerprintIndex::from(self.fingerprints());
        }
        let cut = self.fingerprint_of(self.group_of(Row::from(end as u32)));
        cut.max(FingerprintIndex::from(u32::from(first) + 1))
    }

    pub(super) fn segment_row(&self, row: Row) -> SegmentRow {
        let undivided = || SegmentRow::from(u32::from(row));
        self.divided.as_ref().map_or_else(undivided, |divided| divided.segment_rows[row.index()])
    }

    /// The number of distinct fingerprints.
    pub fn fingerprints(&self) -> u32 {
        self.divided.as_ref().map_or(self.groups(), |divided| divided.firsts.len() as u32 - 1)
    }

    pub(super) fn groups_of(&self, fingerprint: FingerprintIndex) -> Span<Group> {
        let next = FingerprintIndex::from(u32::from(fingerprint) + 1);
        Span { start: self.first_group(fingerprint), end: self.first_group(next) }
    }

    pub(super) fn fingerprint_of(&self, group: Group) -> FingerprintIndex {
        let undivided = || FingerprintIndex::from(u32::from(group));
        self.divided.as_ref().map_or_else(undivided, |divided| {
            let behind = divided.firsts.partition_point(|&first| first <= group);
            FingerprintIndex::from(behind as u32 - 1)
        })
    }

    pub(super) fn of_segment_rows(&self) -> Vec<Group> {
        let mut groups = vec![Group::from(0); self.rows() as usize];
        for group in below::<Group>(self.groups()) {
            for row in self.rows_of(group).iter() {
                groups[self.segment_row(row).index()] = group;
            }
        }
        groups
    }

    pub(super) fn group_of(&self, row: Row) -> Group {
        Group::from(self.starts.partition_point(|&start| start <= row) as u32 - 1)
    }

    pub(super) fn groups(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    pub(super) fn rows(&self) -> u32 {
        self.starts[self.groups() as usize].into()
    }

    pub(super) fn rows_of(&self, group: Group) -> Span<Row> {
        let at = group.index();
        Span { start: self.starts[at], end: self.starts[at + 1] }
    }

    pub(super) fn size(&self, group: Group) -> u128 {
        self.rows_of(group).len() as u128
    }

    /// How many pairs of documents a pair of groups has.
    pub(super) fn rows_of_pair(&self, pair: &Pair<Group>) -> u128 {
        let existing = match pair.existing {
            Place::Batch { group } => self.size(group),
            Place::Store { rows, .. } => u128::from(rows),
            Place::StoreRow { .. } | Place::BatchRow { .. } | Place::Crowd => 0,
        };
        self.size(pair.new) * existing
    }
}

/// The distinct fingerprints of a segment, ascending.
pub fn distinct_fingerprints<F: Fingerprint>(segment: &Segment) -> Result<Vec<F>> {
    let mut distinct = Vec::new();
    each_distinct(segment, |fingerprint, _| distinct.push(fingerprint))?;
    Ok(distinct)
}

/// Calls `each` with every distinct fingerprint of a segment and its first row.
pub(super) fn each_distinct<F: Fingerprint>(
    segment: &Segment,
    mut each: impl FnMut(F, u32),
) -> Result<()> {
    if segment.rows() > u64::from(u32::MAX) {
        return Err(Error::new(Kind::Usage, "the batch is too large to be joined at once")
            .at(segment.path())
            .expected(format!("at most {} documents", u32::MAX))
            .found(segment.rows())
            .help("split the batch"));
    }
    let mut scan = segment.scan::<F>(KeyRange::all());
    let mut run = Vec::new();
    let mut last = None;
    while let Some(first) = scan.next(&mut run)? {
        for (row, &fingerprint) in (first as u32..).zip(&run) {
            if last != Some(fingerprint) {
                each(fingerprint, row);
                last = Some(fingerprint);
            }
        }
    }
    Ok(())
}
