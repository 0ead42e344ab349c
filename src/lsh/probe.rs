//! A batch against a store: all band keys of the store stream past those of the batch.
//!
//! The rows of a segment are read block by block on all threads. The bands of a row lie together, so a pair that
//! shares several buckets is met once, and compared at once: no list of candidates is kept.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::banding::Banding;
use super::bands::{KEY_BYTES, low};
use super::batch::Batch;
use super::confirmation::Comparison;
use super::found::Hot;
use super::kept::RowEvidence;
use super::key_index::KeyIndex;
use crate::error::Result;
use crate::matches::{KeepRank, Number, Unlikeness};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::runs::Record;
use crate::store::{Dated, RowBytes};

/// How many blocks a thread reads at once.
const UNIT_BLOCKS: usize = 16;
/// How many units each thread takes between two looks at what was found.
const UNITS: usize = 16;
/// How many matches a thread holds: a block and the groups of a crowded bucket may have thousands of millions.
const HELD: usize = 1 << 16;

/// A group and a row of the store that match. Ordered as the rows lie on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct StoreMatch {
    /// The number of the segment.
    pub(super) segment: u32,
    pub(super) row: u64,
    pub(super) group: KeepRank,
    pub(super) distance: Unlikeness,
}

impl Record for StoreMatch {}

/// The batch, and the segments that stream past it.
pub(super) struct Probe<'a> {
    pub(super) batch: &'a Batch,
    pub(super) comparison: &'a Comparison,
    pub(super) store: &'a [Dated],
    /// Buckets whose pages in the store are counted.
    pub(super) hottest: &'a [Hot],
    pub(super) workers: usize,
    /// Memory for the keys of the batch.
    pub(super) memory_bytes: usize,
}

/// The nearest page of the store to each group, as far as it is known.
pub(super) type Least = Vec<Option<Unlikeness>>;

/// What was compared.
#[derive(Debug, Default)]
pub(super) struct Probed {
    /// Pairs that share a bucket, each once.
    pub(super) pairs: u64,
    /// Pairs that share each of the hottest buckets.
    pub(super) hottest: Vec<u64>,
}

/// Takes the matches that all threads find. Unless `all` are wanted, a match is left out if a nearer one of its group
/// is known.
struct Taking<'a, F> {
    all: bool,
    least: &'a mut Least,
    take: F,
}

impl Probe<'_> {
    /// Calls `take` with the matches, in any order, and returns what was compared. Unless `all` are
    /// wanted, a match may be left out if a nearer one of its group is found. The batch is divided if its keys do not fit into
    /// memory, and then the store is read several times.
    pub(super) fn run(
        &self,
        all: bool,
        least: &mut Least,
        take: impl FnMut(StoreMatch) -> Result<()> + Send,
    ) -> Result<Probed> {
        let units = self.units();
        let most = KeyIndex::groups(self.batch.bands(), self.memory_bytes);
        let taking = Mutex::new(Taking { all, least, take });
        let hand_over = |matches: &mut Vec<StoreMatch>| {
            taking.lock().unwrap_or_else(PoisonError::into_inner).take(matches)
        };
        let mut total = Probed::none(self.hottest);
        for start in (0..self.batch.len()).step_by(most) {
            let end = self.batch.len().min(start.saturating_add(most as u32));
            let index = KeyIndex::of(self.batch, start..end, self.workers)?;
            for units in units.chunks(UNITS * self.workers) {
                let probed = in_parallel(self.workers, units, |(segment, blocks)| {
                    self.probe(&index, *segment, blocks.clone(), hand_over)
                });
                for probed in probed {
                    total.add(&probed?);
                }
            }
        }
        Ok(total)
    }

    /// The blocks of all segments, in portions.
    fn units(&self) -> Vec<(u32, Range<usize>)> {
        let mut units = Vec::new();
        for (segment, dated) in (0..).zip(self.store) {
            let blocks = dated.segment().band_blocks();
            let starts = (0..blocks).step_by(UNIT_BLOCKS);
            units.extend(starts.map(|start| (segment, start..blocks.min(start + UNIT_BLOCKS))));
        }
        units
    }

    /// Probes some blocks of a segment, and hands matches over, some at once.
    fn probe(
        &self,
        index: &KeyIndex,
        segment: u32,
        blocks: Range<usize>,
        hand_over: impl Fn(&mut Vec<StoreMatch>) -> Result<()>,
    ) -> Result<Probed> {
        let held = self.store[segment as usize].segment();
        let mut evidence = RowEvidence::of(held, self.comparison);
        let mut probed = Probed::none(self.hottest);
        let mut matches = Vec::new();
        let mut buffer = Vec::new();
        let Some(mut bands) = held.bands() else { return Ok(probed) };
        each_candidate(index, &mut bands, blocks, |row, passed, groups| {
            progress::tick(Activity::Working);
            probed.count(self.hottest, index, passed, groups);
            let evidence = evidence.get(row)?;
            for &group in groups {
                let item = self.batch.item(group, &mut buffer)?;
                let similarity = self.comparison.compare(item.evidence, evidence);
                let Some(distance) = similarity.map(Unlikeness::from) else { continue };
                matches.push(StoreMatch { segment, row, group, distance });
                if matches.len() >= HELD {
                    hand_over(&mut matches)?;
                }
            }
            Ok(())
        })?;
        hand_over(&mut matches)?;
        Ok(probed)
    }
}

impl Probed {
    fn none(hottest: &[Hot]) -> Probed {
        Probed { pairs: 0, hottest: vec![0; hottest.len()] }
    }

    fn add(&mut self, other: &Probed) {
        self.pairs += other.pairs;
        self.hottest.iter_mut().zip(&other.hottest).for_each(|(sum, count)| *sum += count);
    }

    /// Counts the pairs of a row whose keys `passed` with these `groups`.
    fn count(&mut self, hottest: &[Hot], index: &KeyIndex, passed: &[Passed], groups: &[KeepRank]) {
        self.pairs += groups.len() as u64;
        for (count, hot) in self.hottest.iter_mut().zip(hottest) {
            let here = passed.iter().find(|it| Banding::key(it.band as u64, it.key) == hot.key);
            *count += here.map_or(0, |it| index.groups_with(it.band, it.key).count() as u64);
        }
    }
}

impl<F: FnMut(StoreMatch) -> Result<()>> Taking<'_, F> {
    fn take(&mut self, matches: &mut Vec<StoreMatch>) -> Result<()> {
        for found in matches.drain(..) {
            let least = &mut self.least[found.group.index()];
            let is_least = least.is_none_or(|least| found.distance <= least);
            if is_least {
                *least = Some(found.distance);
            }
            if self.all || is_least {
                (self.take)(found)?;
            }
        }
        Ok(())
    }
}

/// A key of a row in a block that a group may have. Ordered by row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Passed {
    row: usize,
    band: usize,
    key: u64,
}

/// Calls `candidates` with each row of some blocks that shares a bucket with groups, with its keys that passed, and with
/// these groups, each once.
fn each_candidate(
    index: &KeyIndex,
    bands: &mut RowBytes,
    blocks: Range<usize>,
    mut candidates: impl FnMut(u64, &[Passed], &[KeepRank]) -> Result<()>,
) -> Result<()> {
    let mut passed = Vec::new();
    let mut groups = Vec::new();
    for block in blocks {
        let Some((rows, bytes)) = bands.rows_of(block)? else { break };
        progress::tick(Activity::Working);
        passed.clear();
        let width = KEY_BYTES * index.bands.len();
        each_passed(index, bytes, width, |it| passed.push(it));
        passed.sort_unstable();
        for passed in passed.chunk_by(|one, other| one.row == other.row) {
            groups.clear();
            groups.extend(passed.iter().flat_map(|it| index.groups_with(it.band, it.key)));
            groups.sort_unstable();
            groups.dedup();
            let at = passed[0].row;
            let has_keys = || bytes[at * width..][..width].iter().any(|&byte| byte != u8::MAX);
            if !groups.is_empty() && has_keys() {
                candidates(rows.start + at as u64, passed, &groups)?;
            }
        }
    }
    Ok(())
}

/// Calls `pass` with each key in `bytes` that a group may have. The bands come one after the
/// other, so that the bitmap of each is in the cache.
fn each_passed(index: &KeyIndex, bytes: &[u8], width: usize, mut pass: impl FnMut(Passed)) {
    for (band, keys) in index.bands.iter().enumerate() {
        for (row, bytes) in bytes.chunks_exact(width).enumerate() {
            let key = low(bytes[KEY_BYTES * band..].first_chunk().expect("a key of each band"));
            if keys.may_have(key) {
                pass(Passed { row, band, key });
            }
        }
    }
}
