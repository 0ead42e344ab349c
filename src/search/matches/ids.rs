//! The ids of the batch by shards: ranges of ids, each of which is sorted by itself.
//!
//! The ids are read once, by all workers, and each goes to the shard whose range it falls into. A sample decides
//! the ranges, so that all shards are about as large. Shards stay in memory while they fit, else they are on
//! disk. No shard is compared with another one, so any worker may sort any shard.

mod shard;
mod share;

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

pub(super) use shard::Shard;
use share::Share;

use super::numbers::{IdRank, Number};
use crate::error::Result;
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::store::Segment;

/// The most bytes of a shard, about: so many are sorted in the cache.
const SHARD_BYTES: usize = 2 << 20;

/// How many rows are sampled one after another: those of a block of ids.
const SAMPLED_ROWS: u64 = 256;
const SAMPLED_PLACES: u64 = 256;
const SAMPLE_BYTES: usize = 16 << 20;

/// A shard in the order of ranks that are known: consecutive ids of the batch, as one worker lists them.
#[derive(Clone, Copy)]
pub(super) struct Ranked<'a> {
    ids: &'a IdShards,
    shard: usize,
    ranks: &'a [IdRank],
}

impl Ranked<'_> {
    pub(super) fn ranks(&self) -> Range<u32> {
        self.ids.ranks_of(self.shard)
    }

    /// The least id that belongs behind them, if there is one.
    pub(super) fn bound(&self) -> Option<&str> {
        self.ids.bounds.get(self.shard).map(String::as_str)
    }

    pub(super) fn load(&self) -> Result<Shard> {
        let first = self.ranks().start as usize;
        let bytes = self.ids.load(self.shard)?;
        Ok(Shard::ordered(bytes, |row| self.ranks[row.index()].index() - first))
    }
}

/// Where shards may be, and who sorts them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workshop<'a> {
    /// Where to write what does not fit into memory.
    pub(super) folder: &'a Path,
    pub(super) memory_bytes: usize,
    pub(super) workers: usize,
}

#[derive(Debug)]
pub(super) struct IdShards {
    workers: usize,
    /// The least id of each shard but the first.
    bounds: Vec<String>,
    /// The rank of the first id of each shard, and the number of ids at the end.
    firsts: Vec<u32>,
    shares: Vec<Share>,
}

impl IdShards {
    pub(super) fn read(segment: &Segment, workshop: Workshop<'_>) -> Result<IdShards> {
        let Workshop { folder, memory_bytes, workers } = workshop;
        // As many shards are loaded at once as there are workers, and listed from there.
        let bounds = bounds(segment, SHARD_BYTES.min(memory_bytes / (16 * workers)))?;
        let rows = segment.rows();
        let most = rows.div_ceil(workers as u64).max(1);
        let ranges: Vec<Range<u64>> =
            (0..rows).step_by(most as usize).map(|row| row..rows.min(row + most)).collect();
        // Vectors that grow have room for up to twice what is in them.
        let memory_bytes = memory_bytes / (3 * workers);
        let shares = in_parallel(workers, &ranges, |rows| {
            let mut share = Share::new(folder, memory_bytes, bounds.len() + 1);
            share.read(segment.ids(), rows.clone(), &bounds)?;
            Ok(share)
        });
        let shares = shares.into_iter().collect::<Result<Vec<Share>>>()?;
        let mut firsts = vec![0];
        for shard in 0..=bounds.len() {
            let count: u32 = shares.iter().map(|share| share.count(shard)).sum();
            firsts.push(firsts[shard] + count);
        }
        Ok(IdShards { workers, bounds, firsts, shares })
    }

    /// All shards, in the order of the `ranks` of their rows.
    pub(super) fn ranked<'a>(&'a self, ranks: &'a [IdRank]) -> impl Iterator<Item = Ranked<'a>> {
        (0..self.count()).map(move |shard| Ranked { ids: self, shard, ranks })
    }

    fn count(&self) -> usize {
        self.bounds.len() + 1
    }

    fn ranks_of(&self, shard: usize) -> Range<u32> {
        self.firsts[shard]..self.firsts[shard + 1]
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shares.iter().map(|share| share.read_bytes).sum()
    }

    /// The rank of each row's id. Rows with equal ids are ranked in their order.
    pub(super) fn ranks(&self) -> Result<Vec<IdRank>> {
        let rows = self.firsts.last().copied().unwrap_or_default();
        let ranks: Vec<AtomicU32> = (0..rows).map(|_| AtomicU32::new(0)).collect();
        let shards: Vec<usize> = (0..self.count()).collect();
        let ranked = in_parallel(self.workers, &shards, |&shard| {
            progress::tick(Activity::Sorting);
            let sorted = Shard::sorted(self.load(shard)?);
            for (rank, row) in self.ranks_of(shard).zip(sorted.rows()) {
                ranks[row.index()].store(rank, Ordering::Relaxed);
            }
            Ok(())
        });
        ranked.into_iter().collect::<Result<()>>()?;
        Ok(ranks.into_iter().map(|rank| IdRank::from(rank.into_inner())).collect())
    }

    fn load(&self, shard: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.shares.iter().try_for_each(|share| share.load(shard, &mut bytes))?;
        Ok(bytes)
    }
}

/// Ids that divide all of a segment into shards of about so many bytes.
fn bounds(segment: &Segment, shard_bytes: usize) -> Result<Vec<String>> {
    let mut sample = sampled(segment)?;
    let bytes: usize = sample.iter().map(|id| shard::bytes_of(id)).sum();
    let all = bytes as u64 / sample.len().max(1) as u64 * segment.rows();
    let shards = (all / shard_bytes.max(1) as u64).clamp(1, sample.len().max(1) as u64) as usize;
    sample.sort_unstable();
    let mut bounds: Vec<String> =
        (1..shards).map(|shard| sample[shard * sample.len() / shards].clone()).collect();
    bounds.dedup();
    Ok(bounds)
}

/// Ids of a segment, from places all over it.
fn sampled(segment: &Segment) -> Result<Vec<String>> {
    let rows = segment.rows();
    let blocks = rows.div_ceil(SAMPLED_ROWS);
    let mut step = blocks.div_ceil(SAMPLED_PLACES).max(1);
    let mut ids = segment.ids();
    let mut sample: Vec<String> = Vec::new();
    let mut bytes = 0;
    let mut block = 0;
    while block < blocks {
        let first = block * SAMPLED_ROWS;
        for row in first..rows.min(first + SAMPLED_ROWS) {
            let id = ids.get(row)?;
            bytes += id.len();
            sample.push(id.to_owned());
        }
        while bytes > SAMPLE_BYTES && sample.len() > 1 {
            // Half of them will do, here and from now on.
            sample = sample.into_iter().step_by(2).collect();
            bytes = sample.iter().map(String::len).sum();
            step *= 2;
        }
        block += step;
    }
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::{Details, SegmentOptions};
    use crate::tests::segment;

    fn check(ids: &[String], memory_bytes: usize, workers: usize) {
        let folder = tempfile::tempdir().unwrap();
        let pages = (0_u64..).zip(ids).map(|(bits, id)| (bits, id, Details::default()));
        let path = folder.path().join("a.seg");
        let segment = segment(&path, SegmentOptions::default(), pages).unwrap();
        let workshop = Workshop { folder: folder.path(), memory_bytes, workers };
        let shards = IdShards::read(&segment, workshop).unwrap();
        let ranks = shards.ranks().unwrap();
        let mut expected: Vec<usize> = (0..ids.len()).collect();
        expected.sort_by_key(|&row| (&ids[row], row));
        let by_rank = (0..).zip(&expected);
        assert!(by_rank.clone().all(|(rank, &row)| ranks[row] == IdRank::from(rank)));
        let mut listed = Vec::new();
        for shard in shards.ranked(&ranks) {
            listed.extend(shard.load().unwrap().ids().map(str::to_owned));
            assert_eq!(listed.len(), shard.ranks().end as usize);
            let below = |bound| listed.iter().all(|id| id.as_str() < bound);
            assert!(shard.bound().is_none_or(below));
        }
        assert!(listed.iter().eq(expected.iter().map(|&row| &ids[row])));
        assert_eq!(shards.bytes(), ids.concat().len() as u64);
    }

    proptest! {
        #[test]
        fn ids_are_ranked_as_a_sort_ranks_them(
            ids in prop::collection::vec("(http://[ab]{0,12}|[a-z中文]{1,3})", 0..400),
            memory_bytes in 0_usize..1 << 14,
            workers in 1_usize..4,
        ) {
            check(&ids, memory_bytes, workers);
        }
    }

    #[test]
    fn long_ids_are_sampled_in_bounded_memory() {
        let ids: Vec<String> =
            (0..700).map(|page| format!("{}{}", "x".repeat(60_000), page * 7919 % 700)).collect();
        check(&ids, 1 << 20, 2);
    }
}
