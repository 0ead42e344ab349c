//! The batch as verdicts need it: its pages by group, and their order by id.
//!
//! A few bytes for each page are held. The [ids](IdShards) are beside them, on disk if they do not fit into their part of the memory.

use std::cmp::Reverse;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coverage::Coverage;
use super::groups::Groups;
use super::ids::{IdShards, Workshop};
use super::keep_order::{KeepOrder, Leaders, LengthClass, Precedence, Turn};
use super::numbers::{Group, IdRank, Number, Row, SegmentRow, below};
use crate::error::Result;
use crate::fingerprint::{Check, Width};
use crate::runs::{Record, SortSpace};
use crate::store::Segment;

/// About how many bytes a join holds in memory for each page of a batch, beside its tables and sorts,
/// which `--memory` bounds: the fingerprint, the page's place in each order, its verdict, the sieve of
/// each of the `workers`, and with a check its place among the pages of its fingerprint. The process that writes the output holds all of
/// it, the others hold the fingerprint, the sieves and the groups.
pub fn held_bytes(width: Width, check: Option<Check>, workers: u64) -> u64 {
    const COVERAGE: u64 = size_of::<Coverage>() as u64;
    // `starts` and `ranks` of the batch; three numbers of its leaders; the judgement; how well the best page
    // of the store covers it; how many duplicates it has; its slack.
    const PLACES: u64 = 8 + 12 + (4 + COVERAGE) + COVERAGE + 4 + 4;
    // Of one worker; where whole pages are compared, the first one that was met too.
    const SIEVE: u64 = 2;
    const FIRST_MET: u64 = 4;
    // Rows and first groups of divided fingerprints, the group of each row, its shingles, and the class.
    const DIVIDED: u64 = 4 + 4 + 4 + 4 + 1;
    // Of a page with anchors: where its fingerprint begins, its farthest candidate, and the places of page, group and fingerprint in keep order.
    const ANCHORED: u64 = 4 + 2 + 12;
    let has_anchors = check.is_some_and(Check::has_direction);
    let anchored = if has_anchors { ANCHORED + FIRST_MET * workers } else { 0 };
    let divided = check.map_or(0, |_| DIVIDED + anchored);
    u64::from(width.bits()) / 8 + PLACES + SIEVE * workers + divided
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Placed {
    precedence: Precedence,
    length: Reverse<LengthClass>,
    turn: Turn,
    rank: IdRank,
    group: Group,
}

impl Record for Placed {}

#[derive(Debug)]
pub(super) struct Batch {
    groups: Arc<Groups>,
    /// The rank of each id, by row of the segment.
    pub(super) ranks: Vec<IdRank>,
    id_bytes: u64,
    /// What precedes their order, by row of the segment; none if nothing does.
    precedence: Arc<[Precedence]>,
}

impl Deref for Batch {
    type Target = Groups;

    fn deref(&self) -> &Groups {
        &self.groups
    }
}

impl Batch {
    pub(super) fn load(
        segment: &Segment,
        groups: Arc<Groups>,
        precedence: Arc<[Precedence]>,
        workshop: Workshop<'_>,
    ) -> Result<(Batch, IdShards)> {
        let ids = IdShards::read(segment, workshop)?;
        let (ranks, id_bytes) = (ids.ranks()?, ids.bytes());
        Ok((Batch { groups, ranks, id_bytes, precedence }, ids))
    }

    pub(super) fn rank(&self, row: Row) -> IdRank {
        self.rank_in_segment(self.segment_row(row))
    }

    /// What precedes a row's place in keep order.
    pub(super) fn precedence(&self, row: Row) -> Precedence {
        self.precedence.get(self.segment_row(row).index()).copied().unwrap_or_default()
    }

    pub(super) fn rank_in_segment(&self, row: SegmentRow) -> IdRank {
        self.ranks[row.index()]
    }

    pub(super) fn id_bytes(&self) -> u64 {
        self.id_bytes / u64::from(self.rows()).max(1)
    }

    /// The leader of each group: its first row in keep order. Where a check tells which of two pages holds the other one, groups
    /// of longer texts come first, by the `shingles` of each group; lengths within a tenth count as one.
    pub(super) fn leaders(
        &self,
        segment: &Segment,
        keep: KeepOrder,
        shingles: Option<&[u32]>,
        space: SortSpace<'_>,
    ) -> Result<Leaders> {
        let length = |group: Group| {
            let shingles = shingles.map_or(0, |shingles| shingles[group.index()]);
            Reverse(LengthClass::of(shingles.into()))
        };
        let mut turn = keep.turns(segment)?;
        let mut place =
            |row| Ok((self.precedence(row), turn(self.segment_row(row))?, self.rank(row)));
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
        if keep == KeepOrder::FirstId && shingles.is_none() {
            let order = self.by_first_id(&rows).into_iter().map(Ok);
            return Leaders::new(rows, order);
        }
        let mut order = space.sorter();
        for (group, &row) in below::<Group>(self.groups()).zip(&rows) {
            let (precedence, turn, rank) = place(row)?;
            order.push(Placed { precedence, length: length(group), turn, rank, group })?;
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
