//! An output of buckets, to be recomputed: every pair that shares a bucket is compared anew, for a sample of the batch.
//!
//! This is the naive way: the keys of the sampled groups in a table, and every key of the batch and of the store looked up
//! in it. The rest is shared with what `dedup` writes.

use std::collections::HashMap;
use std::path::Path;

use super::bands::Bands;
use super::batch::{Batch, Ids, Item};
use super::confirmation::Comparison;
use super::document::SketchedDocument;
use super::kept::RowEvidence;
use super::rows::Members;
use crate::error::Result;
use crate::matches::{
    BatchDocument, Detail, Expected, Group, Groups, IdRank, Joined, KeepOrder, KeepRank, Kept,
    Measured, Nearness, Number, Recompute, Recomputed, Unlikeness, below,
};
use crate::progress::{self, Activity};
use crate::runs::{SortedRecords, Sorter};
use crate::store::{Dated, RowBytes};

/// About how many bytes a key of a sampled group takes in the table.
const ENTRY_BYTES: usize = 64;

/// A batch in groups, to be compared again by its buckets.
pub struct ByBuckets {
    batch: Batch,
    members: Members,
    comparison: Comparison,
}

impl ByBuckets {
    /// Takes `documents` as they were taken for the output, and gives those that were judged. Holds some 70 bytes for each
    /// group, and evidence up to `memory_bytes`.
    ///
    /// # Errors
    /// Vectors of different lengths are [`Kind::BadData`](crate::Kind::BadData).
    pub fn load(
        documents: SortedRecords<SketchedDocument>,
        comparison: Comparison,
        keep: KeepOrder,
        folder: &Path,
        memory_bytes: usize,
    ) -> Result<(ByBuckets, SortedRecords<BatchDocument>)> {
        let mut repeated = |_: &str, _, _| Ok(());
        let (batch, Ids { sketched, empty }) =
            Batch::load(documents, keep, folder, memory_bytes, &mut repeated)?;
        let mut judged = Sorter::new(folder, memory_bytes);
        for (ids, empty) in [(sketched, false), (empty, true)] {
            for id in ids {
                judged.push(BatchDocument { id: id?, empty })?;
            }
        }
        let members = Members::of(&batch);
        Ok((ByBuckets { batch, members, comparison }, judged.sorted()?))
    }

    /// Recomputes every row of the matches of an output, and the verdicts of the sample.
    ///
    /// # Errors
    /// What differs from the files is [`Kind::BadData`](crate::Kind::BadData), with its file and line.
    pub fn recompute(&self, of: &Recompute<'_>) -> Result<Recomputed> {
        of.run(&Regrouped { of, by: self })
    }

    /// Recomputes the figures of the report that the batch alone gives.
    ///
    /// # Errors
    /// As [`ByBuckets::recompute`].
    pub fn check_copies(&self, of: &Recompute<'_>) -> Result<()> {
        of.check_copies(&Regrouped { of, by: self })
    }

    /// How near two groups or rows are, or why they do not match.
    fn measured(&self, one: &Item<'_>, other: &Item<'_>) -> Measured<Unlikeness> {
        if one.first_shared(other).is_none() {
            return Err("the two pages share no bucket");
        }
        let similarity = self.comparison.compare(one.evidence, other.evidence);
        let similarity = similarity.ok_or("the two pages share a bucket, but are not alike")?;
        Ok((similarity.into(), None))
    }
}

/// A batch, and the output that is recomputed from it.
struct Regrouped<'a> {
    of: &'a Recompute<'a>,
    by: &'a ByBuckets,
}

/// Rows of the store: their keys and their evidence.
struct HeldRows {
    bands: Option<RowBytes>,
    evidence: RowEvidence,
    keys: Vec<u8>,
}

impl HeldRows {
    fn of(dated: &Dated, comparison: &Comparison) -> HeldRows {
        let segment = dated.segment();
        let evidence = RowEvidence::of(segment, comparison);
        HeldRows { bands: segment.bands(), evidence, keys: Vec::new() }
    }

    /// The keys of a row, none if it has nothing to compare.
    fn keys(&mut self, row: u64) -> Result<Option<Vec<u64>>> {
        let kept = self.bands.as_mut().map_or(Ok(&[][..]), |bands| bands.get(row))?;
        Ok(Bands::read(kept))
    }

    fn item(&mut self, row: u64) -> Result<Item<'_>> {
        let keys = self.keys(row)?.unwrap_or_default();
        self.keys = keys.into_iter().flat_map(u64::to_le_bytes).collect();
        Ok(Item::new(&self.keys, self.evidence.get(row)?))
    }
}

impl Groups for Regrouped<'_> {
    type Distance = Unlikeness;
    type Rows = HeldRows;

    fn pages(&self) -> u32 {
        self.by.batch.groups.len() as u32
    }

    fn groups(&self) -> u32 {
        self.by.batch.len()
    }

    fn group_of(&self, page: IdRank) -> Group {
        Group::from(u32::from(self.by.batch.groups[page.index()]))
    }

    fn leader(&self, group: Group) -> (IdRank, KeepRank) {
        let rank = rank_of(group);
        (self.by.batch.leaders[rank.index()], rank)
    }

    fn before(&self, group: Group, page: IdRank) -> u64 {
        self.by.members.of_group(rank_of(group)).partition_point(|&other| other < page) as u64
    }

    fn join(&self, sample: &[IdRank], kept: &Kept) -> Result<Joined<Unlikeness>> {
        let mut groups: Vec<Group> = sample.iter().map(|&page| self.group_of(page)).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut joined = Joined {
            expected: groups.into_iter().map(Expected::of).collect(),
            pairs: 0,
            candidates: None,
            going: Sorter::new(self.of.spill, self.of.memory_bytes),
        };
        let Joined { expected, pairs, .. } = &mut joined;
        let entry_bytes = ENTRY_BYTES * self.by.batch.bands().max(1);
        let most = (self.of.memory_bytes / entry_bytes).max(1);
        for expected in expected.chunks_mut(most) {
            let table = self.table(expected)?;
            for dated in self.of.store {
                *pairs += self.join_segment(dated, &table, expected)?;
            }
            self.join_batch(&table, kept, expected)?;
        }
        Ok(joined)
    }

    fn rows_of(&self, dated: &Dated) -> Result<HeldRows> {
        Ok(HeldRows::of(dated, &self.by.comparison))
    }

    fn compare(&self, new: IdRank, existing: IdRank) -> Result<Measured<Unlikeness>> {
        let ByBuckets { batch, .. } = self.by;
        let [new, existing] = [new, existing].map(|page| batch.groups[page.index()]);
        if new == existing {
            return Ok(Ok((Unlikeness::SAME, None)));
        }
        let [mut one, mut other] = [Vec::new(), Vec::new()];
        Ok(self.by.measured(&batch.item(new, &mut one)?, &batch.item(existing, &mut other)?))
    }

    fn compare_row(
        &self,
        new: IdRank,
        rows: &mut HeldRows,
        row: u64,
    ) -> Result<Measured<Unlikeness>> {
        let ByBuckets { batch, .. } = self.by;
        let mut buffer = Vec::new();
        let item = batch.item(batch.groups[new.index()], &mut buffer)?;
        Ok(self.by.measured(&item, &rows.item(row)?))
    }
}

/// The places of the sampled groups that have each key.
type Table = HashMap<u64, Vec<u32>>;

impl Regrouped<'_> {
    fn table(&self, expected: &[Expected<Unlikeness>]) -> Result<Table> {
        let mut table = Table::new();
        let mut buffer = Vec::new();
        for (at, expected) in (0..).zip(expected) {
            self.by.batch.each_key(rank_of(expected.group), &mut buffer, |key| {
                table.entry(key).or_default().push(at);
                Ok(())
            })?;
        }
        Ok(table)
    }

    /// Joins the sample with a segment of the store, and gives the number of pairs of a group and a row that share a bucket.
    fn join_segment(
        &self,
        dated: &Dated,
        table: &Table,
        expected: &mut [Expected<Unlikeness>],
    ) -> Result<u64> {
        let mut pairs = 0;
        let ByBuckets { batch, comparison, .. } = self.by;
        let mut rows = HeldRows::of(dated, comparison);
        let mut ids = dated.segment().ids();
        let mut days = dated.days();
        let mut shown = dated.shown();
        let mut buffer = Vec::new();
        for row in 0..dated.segment().rows() {
            progress::tick(Activity::Working);
            if !shown.get(row)? {
                continue;
            }
            let Some(keys) = rows.keys(row)? else { continue };
            for at in sharing(table, keys.into_iter()) {
                pairs += 1;
                let expected = &mut expected[at as usize];
                let item = batch.item(rank_of(expected.group), &mut buffer)?;
                let alike = comparison.compare(item.evidence, rows.evidence.get(row)?);
                if let Some(similarity) = alike {
                    expected.held += 1;
                    let page = || Ok((ids.get(row)?.to_owned(), days.get(row)?));
                    expected.offer(similarity.into(), page)?;
                }
            }
        }
        Ok(pairs)
    }

    /// Joins the sample with the batch.
    fn join_batch(
        &self,
        table: &Table,
        kept: &Kept,
        expected: &mut [Expected<Unlikeness>],
    ) -> Result<()> {
        let ByBuckets { batch, comparison, .. } = self.by;
        let all = self.of.detail == Detail::All;
        let [mut one, mut other] = [Vec::new(), Vec::new()];
        for group in below::<KeepRank>(batch.len()) {
            progress::tick(Activity::Working);
            let item = batch.item(group, &mut one)?;
            for at in sharing(table, item.keys()) {
                let expected = &mut expected[at as usize];
                let sampled = batch.item(rank_of(expected.group), &mut other)?;
                let alike = comparison.compare(sampled.evidence, item.evidence);
                let turns = [rank_of(expected.group), group];
                if let Some(similarity) = alike.filter(|_| turns[0] != group) {
                    let group = Group::from(u32::from(group));
                    expected.meet(kept, all, turns, group, Some(similarity.into()));
                }
            }
        }
        Ok(())
    }
}

/// The places of the sampled groups that share a bucket with these `keys`, each once.
fn sharing(table: &Table, keys: impl Iterator<Item = u64>) -> Vec<u32> {
    let mut sharing: Vec<u32> = keys.filter_map(|key| table.get(&key)).flatten().copied().collect();
    sharing.sort_unstable();
    sharing.dedup();
    sharing
}

/// Here groups are counted in keep order.
fn rank_of(group: Group) -> KeepRank {
    KeepRank::from(u32::from(group))
}
