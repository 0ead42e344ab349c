//! The page that each dropped page is dropped for: the nearest kept page of the store or of the batch.

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::coverage::{Coverage, Coverages};
use super::keep_order::{Leaders, Precedence};
use super::keep_rule::{Judgement, Judgements};
use super::numbers::{Group, Number, Row, below};
use crate::error::Result;
use crate::runs::{Sorter, next_if, record};
use crate::store::Day;

/// A page of the store at the least distance to a group. Ordered by group, then by id, then by day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct NearestStored {
    pub(super) group: Group,
    pub(super) id: String,
    pub(super) day: Day,
    pub(super) distance: u8,
    /// How well the page covers the group, and the other way round.
    pub(super) coverages: Coverages,
    /// Its key, where that counts.
    pub(super) key: Option<u128>,
}

record!(NearestStored, id);

/// Everything that is known of every group once all of them are judged.
pub(super) struct Judged<'a> {
    pub(super) batch: &'a Batch,
    pub(super) leaders: Leaders,
    pub(super) judgements: Judgements,
    /// How well the best page of the store covers each group.
    pub(super) nearest: Vec<Coverage>,
}

/// The page that another one is dropped for, and how well it covers that.
#[derive(Clone, Copy)]
pub(super) enum Nearest<'s> {
    Stored(&'s NearestStored, Coverage),
    Row(Row, Coverage),
}

impl Nearest<'_> {
    pub(super) fn coverage(&self) -> Coverage {
        match self {
            Nearest::Stored(_, coverage) | Nearest::Row(_, coverage) => *coverage,
        }
    }
}

impl Judged<'_> {
    pub(super) fn kept(&self, group: Group) -> Option<Row> {
        let is_kept = self.judgements.get(self.leaders.rank(group)) == Judgement::Kept;
        is_kept.then(|| self.leaders.row(group))
    }

    /// Calls `each` with every row that is a duplicate, and the page that it is one of. `stored` are the nearest pages
    /// of the store for each group. Superseded pages are left out.
    pub(super) fn each_dropped(
        &self,
        stored: Sorter<NearestStored>,
        mut each: impl FnMut(Row, Nearest<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut stored = stored.sorted()?.peekable();
        for group in below::<Group>(self.batch.groups()) {
            let mut first: Option<NearestStored> = None;
            while let Some(next) = next_if(&mut stored, |next| next.group == group)? {
                first.get_or_insert(next);
            }
            let (kept, nearest) = self.nearest(group, first.as_ref());
            let is_judged = |row: &Row| self.batch.precedence(*row) != Precedence::Superseded;
            let rows = self.batch.rows_of(group).iter();
            let mut dropped = rows.filter(|row| Some(*row) != kept && is_judged(row)).peekable();
            if dropped.peek().is_none() {
                continue;
            }
            let nearest = nearest.expect("a page of the store is near");
            dropped.try_for_each(|row| each(row, nearest))?;
        }
        Ok(())
    }

    /// The row of a group that is kept, if one is, and the nearest kept page for its others: of equal ones the store's.
    fn nearest<'s>(
        &self,
        group: Group,
        stored: Option<&'s NearestStored>,
    ) -> (Option<Row>, Option<Nearest<'s>>) {
        let distance = self.nearest[group.index()];
        match self.judgements.get(self.leaders.rank(group)) {
            Judgement::Kept => {
                let kept = self.leaders.row(group);
                (Some(kept), Some(Nearest::Row(kept, Coverage::SAME)))
            }
            Judgement::Dropped { near: Some((kept, nearer)) } if nearer < distance => {
                let kept = self.leaders.row(self.leaders.group(kept));
                (None, Some(Nearest::Row(kept, nearer)))
            }
            Judgement::Dropped { .. } => (None, stored.map(|page| Nearest::Stored(page, distance))),
        }
    }

    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> {
        below::<Group>(self.batch.groups()).map(|group| self.batch.rows_of(group).len() as u64)
    }
}
