//! A batch in keep order, known before its pages are compared.
//!
//! In a crowd the page that comes first stays, and most of the others are dropped for it. So whatever meets many pages meets first those that come
//! first: then one page of a crowd is kept, and each of the others is compared with a few. Every process knows the order.

use std::sync::Arc;

use super::batch::Batch;
use super::by_key::ByKey;
use super::group_key::GroupKeyReader;
use super::groups::Groups;
use super::ids::Workshop;
use super::keep_order::{KeepOrder, Leaders};
use super::numbers::{FingerprintIndex, Group, KeepRank, Number, below};
use super::similarity::Confirm;
use crate::error::Result;
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::runs::SortSpace;
use crate::store::Segment;

const PIECE: u32 = 1 << 12;

/// The pages of a batch, their order, and how many shingles each group has, where a check tells it.
#[derive(Debug)]
pub struct InKeepOrder {
    pub(super) batch: Batch,
    pub(super) leaders: Leaders,
    pub(super) shingles: Option<Vec<u32>>,
}

impl InKeepOrder {
    /// Sorts the ids of a segment whose groups these are, then the groups.
    pub fn load(
        segment: &Segment,
        (groups, by_key): (Arc<Groups>, &ByKey),
        keep: KeepOrder,
        confirm: Option<Confirm>,
        (ids_bytes, workers): (usize, usize),
        space: SortSpace<'_>,
    ) -> Result<InKeepOrder> {
        let workshop = Workshop { folder: space.folder, memory_bytes: ids_bytes, workers };
        let (batch, _) = Batch::load(segment, groups, Arc::clone(&by_key.precedence), workshop)?;
        InKeepOrder::of(segment, batch, keep, confirm, workers, space)
    }

    pub(super) fn of(
        segment: &Segment,
        batch: Batch,
        keep: KeepOrder,
        confirm: Option<Confirm>,
        workers: usize,
        space: SortSpace<'_>,
    ) -> Result<InKeepOrder> {
        let confirm = confirm.filter(Confirm::has_direction);
        let shingles = confirm.map(|it| shingles(segment, &batch, it, workers)).transpose()?;
        let leaders = batch.leaders(segment, keep, shingles.as_deref(), space)?;
        Ok(InKeepOrder { batch, leaders, shingles })
    }

    pub fn of_groups(&self) -> Arc<[KeepRank]> {
        below::<Group>(self.batch.groups()).map(|group| self.leaders.rank(group)).collect()
    }

    /// The place of the first group of each fingerprint.
    pub fn of_fingerprints(&self) -> Arc<[KeepRank]> {
        let first = |fingerprint| {
            let groups = self.batch.groups_of(fingerprint).iter();
            groups.map(|group| self.leaders.rank(group)).min().expect("a fingerprint has a group")
        };
        below::<FingerprintIndex>(self.batch.fingerprints()).map(first).collect()
    }

    /// How many shingles each row of the segment has; none of one like another row, nor where no check tells it.
    pub(super) fn shingles_of_rows(&self) -> Vec<u32> {
        let mut of_rows = vec![0; self.batch.of_segment_rows().len()];
        for (group, &shingles) in
            below::<Group>(self.batch.groups()).zip(self.shingles.iter().flatten())
        {
            of_rows[self.batch.key_row(group).index()] = shingles;
        }
        of_rows
    }

    /// The place of the group of each row of the segment.
    pub(super) fn of_rows(&self) -> Vec<KeepRank> {
        let groups = self.batch.of_segment_rows().into_iter();
        groups.map(|group| self.leaders.rank(group)).collect()
    }
}

fn shingles(
    segment: &Segment,
    groups: &Groups,
    confirm: Confirm,
    workers: usize,
) -> Result<Vec<u32>> {
    let pieces: Vec<u32> = (0..groups.groups()).step_by(PIECE as usize).collect();
    let counted = in_parallel(workers, &pieces, |&first| -> Result<Vec<u32>> {
        let mut reader = GroupKeyReader::new(segment, Some(&confirm))?;
        let end = groups.groups().min(first + PIECE);
        let count = |group| {
            progress::tick(Activity::Working);
            let sketch = reader.get(u32::from(groups.key_row(group)).into())?.signature;
            let shingles = confirm.check.shingles(sketch).unwrap_or(0);
            Ok(u32::try_from(shingles).unwrap_or(u32::MAX))
        };
        (first..end).map(Group::from).map(count).collect()
    });
    counted.into_iter().collect::<Result<Vec<_>>>().map(|counted| counted.concat())
}
