//! The batch as verdicts need it: its pages by group, their order by id, and their group keys.
//!
//! A few bytes for each page are held. The [ids](IdShards) and the [keys](GroupKeys) are beside them, on disk if
//! they do not fit into their parts of the memory.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::distinct::each_distinct;
use super::group_key::{GroupKey, GroupKeyReader, GroupKeys};
use super::ids::{IdShards, Workshop};
use super::keep_order::{KeepOrder, Leaders, LengthClass, Turn};
use super::numbers::{FingerprintIndex, Group, IdRank, Number, Row, SegmentRow, Span, below};
use super::similarity::Confirm;
use super::standing::{Standing, Standings};
use crate::error::Result;
use crate::fingerprint::{Check, Class, Fingerprint, Width};
use crate::progress::{self, Activity};
use crate::runs::{Record, Space};
use crate::store::Segment;

/// About how many bytes a join holds in memory for each page of a batch, beside its tables and sorts,
/// which `--memory` bounds: the fingerprint, the page's place in each order, its verdict, the sieve of
/// each of the `workers`, and with a check its place among the pages of its fingerprint. The process that writes the output holds all of
/// it, the others hold the fingerprint and the sieves.
#[must_use]
pub fn held_bytes(width: Width, check: Option<Check>, workers: u64) -> u64 {
    // `starts` and `ranks` of the batch; three numbers of its leaders; the judgement; how well the best page
    // of the store stands for it; how many pages go in favour of it.
    const PLACES: u64 = 8 + 12 + 8 + 4 + 4;
    // Of one worker.
    const SIEVE: u64 = 2;
    // Rows and first groups of divided fingerprints, what they are sorted from, and the class.
    const DIVIDED: u64 = 4 + 4 + 8 + 1;
    let divided = check.map_or(0, |_| DIVIDED);
    u64::from(width.bits()) / 8 + PLACES + SIEVE * workers + divided
}

/// The place of a group in keep order.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Placed {
    length: Reverse<LengthClass>,
    turn: Turn,
    rank: IdRank,
    group: Group,
}

impl Record for Placed {}

/// The pages of the batch in groups. Groups and rows are numbered by fingerprint, then by class, then
/// by signature, then by id. Without group keys that is the order of the segment.
#[derive(Debug)]
pub(super) struct Batch {
    /// The first row of each group, and the number of rows at the end.
    starts: Vec<Row>,
    /// How group keys divide the fingerprints, if there are any.
    divided: Option<Divided>,
    /// The rank of each id, by row of the segment.
    ranks: Vec<IdRank>,
    /// The bytes of all ids.
    id_bytes: u64,
}

/// Fingerprints divided into groups.
#[derive(Debug)]
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

impl Batch {
    /// Loads a segment and sorts its ids. That holds eight bytes for each page, and with a check or
    /// classes eight more. The keys are none if all near pages match; signatures take `keys_bytes`.
    pub(super) fn load<F: Fingerprint>(
        segment: &Segment,
        confirm: Option<Confirm>,
        workshop: Workshop<'_>,
        keys_bytes: usize,
    ) -> Result<(Batch, Option<GroupKeys>, IdShards)> {
        let mut starts = Vec::new();
        each_distinct::<F>(segment, |_, row| starts.push(Row::from(row)))?;
        starts.push(Row::from(segment.rows() as u32));
        let ids = IdShards::read(segment, workshop)?;
        let mut batch = Batch { starts, divided: None, ranks: ids.ranks()?, id_bytes: ids.bytes() };
        if confirm.is_some() || segment.has_classes() {
            let space = Space { folder: workshop.folder, memory_bytes: keys_bytes };
            batch.divide(segment, confirm, space)?;
        }
        Ok((batch, GroupKeys::load(segment, confirm, keys_bytes)?, ids))
    }

    /// Divides the groups, so far one for each fingerprint, by their keys.
    fn divide(
        &mut self,
        segment: &Segment,
        confirm: Option<Confirm>,
        space: Space<'_>,
    ) -> Result<()> {
        let mut segment_rows: Vec<SegmentRow> = below(self.rows()).collect();
        let mut starts = Vec::new();
        let mut firsts = Vec::new();
        let mut keys = None;
        for fingerprint in below::<Group>(self.groups()) {
            firsts.push(Group::from(starts.len() as u32));
            let rows = self.rows_of(fingerprint);
            starts.push(rows.start);
            if rows.len() == 1 {
                continue;
            }
            progress::tick(Activity::Sorting);
            let reader = match &mut keys {
                Some(reader) => reader,
                none => none.insert(GroupKeyReader::new(segment, confirm.as_ref())?),
            };
            let mut copies = space.sorter();
            for row in rows.iter().map(u32::from) {
                let GroupKey { class, signature } = reader.get(row.into())?;
                copies.push(Keyed { class, signature: signature.to_vec(), row: row.into() })?;
            }
            let mut last: Option<Keyed> = None;
            for (row, copy) in rows.iter().zip(copies.sorted()?) {
                let copy = copy?;
                segment_rows[row.index()] = copy.row;
                if last.is_some_and(|last| last.key() != copy.key()) {
                    starts.push(row);
                }
                last = Some(copy);
            }
        }
        firsts.push(Group::from(starts.len() as u32));
        starts.push(Row::from(self.rows()));
        self.starts = starts;
        self.divided = Some(Divided { segment_rows, firsts });
        Ok(())
    }

    /// The row whose key is that of a group.
    pub(super) fn key_row(&self, group: Group) -> SegmentRow {
        self.segment_row(self.rows_of(group).start)
    }

    /// The first row with a fingerprint, as its segment counts it.
    pub(super) fn first_row(&self, fingerprint: FingerprintIndex) -> usize {
        self.rows_of(self.groups_of(fingerprint).start).start.index()
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

    /// How well each of two groups at this distance stands for the other one. Without `keys` both do.
    pub(super) fn standings(
        &self,
        keys: Option<&GroupKeys>,
        [a, b]: [Group; 2],
        distance: u32,
    ) -> Result<Standings> {
        match keys {
            Some(keys) => keys.compare_rows(self.key_row(a), self.key_row(b), distance),
            None => Ok(Standings::mutual(Standing::near(distance as u8))),
        }
    }

    /// A row as its segment counts it.
    pub(super) fn segment_row(&self, row: Row) -> SegmentRow {
        let undivided = || SegmentRow::from(u32::from(row));
        self.divided.as_ref().map_or_else(undivided, |divided| divided.segment_rows[row.index()])
    }

    /// The number of distinct fingerprints.
    pub(super) fn fingerprints(&self) -> u32 {
        self.divided.as_ref().map_or(self.groups(), |divided| divided.firsts.len() as u32 - 1)
    }

    /// The groups that have a fingerprint.
    pub(super) fn groups_of(&self, fingerprint: FingerprintIndex) -> Span<Group> {
        match &self.divided {
            None => {
                let group: u32 = fingerprint.into();
                Span { start: group.into(), end: (group + 1).into() }
            }
            Some(Divided { firsts, .. }) => {
                let at = fingerprint.index();
                Span { start: firsts[at], end: firsts[at + 1] }
            }
        }
    }

    /// The fingerprint of a group.
    pub(super) fn fingerprint_of(&self, group: Group) -> FingerprintIndex {
        let undivided = || FingerprintIndex::from(u32::from(group));
        self.divided.as_ref().map_or_else(undivided, |divided| {
            let behind = divided.firsts.partition_point(|&first| first <= group);
            FingerprintIndex::from(behind as u32 - 1)
        })
    }

    /// The group of each row of the segment.
    pub(super) fn groups_of_segment_rows(&self) -> Vec<Group> {
        let mut groups = vec![Group::from(0); self.rows() as usize];
        for group in below::<Group>(self.groups()) {
            for row in self.rows_of(group).iter() {
                groups[self.segment_row(row).index()] = group;
            }
        }
        groups
    }

    /// The group of a row.
    pub(super) fn group_of(&self, row: Row) -> Group {
        Group::from(self.starts.partition_point(|&start| start <= row) as u32 - 1)
    }

    /// The number of groups.
    pub(super) fn groups(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The number of pages.
    pub(super) fn rows(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The rows of a group.
    pub(super) fn rows_of(&self, group: Group) -> Span<Row> {
        let at = group.index();
        Span { start: self.starts[at], end: self.starts[at + 1] }
    }

    /// The rank of a row's id.
    pub(super) fn rank(&self, row: Row) -> IdRank {
        self.rank_in_segment(self.segment_row(row))
    }

    /// The rank of the id of a row of the segment.
    pub(super) fn rank_in_segment(&self, row: SegmentRow) -> IdRank {
        self.ranks[row.index()]
    }

    /// About how many bytes an id has.
    pub(super) fn id_bytes(&self) -> u64 {
        self.id_bytes / u64::from(self.rows()).max(1)
    }

    /// The leader of each group: its first row in keep order. Where a check tells which of two pages holds the other one, groups
    /// of longer texts come first; lengths within a tenth count as one.
    pub(super) fn leaders(
        &self,
        segment: &Segment,
        keep: KeepOrder,
        keys: Option<&GroupKeys>,
        space: Space<'_>,
    ) -> Result<Leaders> {
        let keys = keys.filter(|keys| keys.has_direction());
        let length = |group| -> Result<LengthClass> {
            let shingles =
                keys.map(|keys| keys.shingles(self.key_row(group))).transpose()?.flatten();
            Ok(LengthClass::of(shingles.unwrap_or(0)))
        };
        let mut turn = keep.turns(segment)?;
        let mut place = |row| Ok((turn(self.segment_row(row))?, self.rank(row)));
        let mut rows = Vec::with_capacity(self.groups() as usize);
        for group in below::<Group>(self.groups()) {
            let mut copies = self.rows_of(group).iter();
            let mut first = copies.next().expect("a group has a row");
            for row in copies {
                if place(row)? < place(first)? {
                    first = row;
                }
            }
            rows.push(first);
        }
        if keep == KeepOrder::FirstId && keys.is_none() {
            let order = self.by_first_id(&rows).into_iter().map(Ok);
            return Leaders::new(rows, order);
        }
        let mut order = space.sorter();
        for (group, &row) in below::<Group>(self.groups()).zip(&rows) {
            let (turn, rank) = place(row)?;
            order.push(Placed { length: Reverse(length(group)?), turn, rank, group })?;
        }
        Leaders::new(rows, order.sorted()?.map(|next| next.map(|it| it.group)))
    }

    /// The groups in the order of the ids of the rows that lead them.
    fn by_first_id(&self, leaders: &[Row]) -> Vec<Group> {
        let mut led = vec![None; self.ranks.len()];
        for (group, &row) in below::<Group>(self.groups()).zip(leaders) {
            led[self.rank(row).index()] = Some(group);
        }
        led.into_iter().flatten().collect()
    }
}
