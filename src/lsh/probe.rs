//! A batch against a store: all band keys of the store stream past those of the batch.
//!
//! The rows of a segment are read block by block on all threads. The bands of a row lie together, so a pair that
//! shares several buckets is met once, and compared at once: no list of candidates is kept.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::bands::{KEY_BYTES, low};
use super::batch::Batch;
use super::confirmation::Comparison;
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

/// What some blocks gave.
#[derive(Debug, Default)]
struct Probed {
    compared: u64,
    matches: Vec<StoreMatch>,
}

/// The batch, and the segments that stream past it.
pub(super) struct Probe<'a> {
    pub(super) batch: &'a Batch,
    pub(super) comparison: &'a Comparison,
    pub(super) store: &'a [Dated],
    pub(super) workers: usize,
    /// Memory for the keys of the batch.
    pub(super) memory_bytes: usize,
}

/// The nearest page of the store to each group, as far as it is known.
pub(super) type Least = Vec<Option<Unlikeness>>;

impl Probe<'_> {
    /// Calls `take` with the matches, in any order, and returns how many pairs were compared. Unless `all` are
    /// wanted, a match may be left out if a nearer one of its group is found. The batch is divided if its keys do not fit into
    /// memory, and then the store is read several times.
    pub(super) fn run(
        &self,
        all: bool,
        least: &mut Least,
        mut take: impl FnMut(StoreMatch) -> Result<()>,
    ) -> Result<u64> {
        let units = self.units();
        let most = KeyIndex::groups(self.batch.bands(), self.memory_bytes);
        let mut compared = 0;
        for start in (0..self.batch.len()).step_by(most) {
            let end = self.batch.len().min(start.saturating_add(most as u32));
            let index = KeyIndex::of(self.batch, start..end, self.workers)?;
            for units in units.chunks(UNITS * self.workers) {
                let known: &Least = least;
                let probed = in_parallel(self.workers, units, |(segment, blocks)| {
                    self.probe(&index, *segment, blocks.clone(), (!all).then_some(known))
                });
                for probed in probed {
                    let probed = probed?;
                    compared += probed.compared;
                    for found in probed.matches {
                        let least = &mut least[found.group.index()];
                        let is_least = least.is_none_or(|least| found.distance <= least);
                        if is_least {
                            *least = Some(found.distance);
                        }
                        if all || is_least {
                            take(found)?;
                        }
                    }
                }
            }
        }
        Ok(compared)
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

    /// Probes some blocks of a segment. Matches that are farther than the `least` ones are left out.
    fn probe(
        &self,
        index: &KeyIndex,
        segment: u32,
        blocks: Range<usize>,
        least: Option<&Least>,
    ) -> Result<Probed> {
        let held = self.store[segment as usize].segment();
        let mut evidence = RowEvidence::of(held, self.comparison);
        let mut probed = Probed::default();
        let mut buffer = Vec::new();
        let Some(mut bands) = held.bands() else { return Ok(probed) };
        each_candidate(index, &mut bands, blocks, |row, groups| {
            let evidence = evidence.get(row)?;
            for &group in groups {
                probed.compared += 1;
                let item = self.batch.item(group, &mut buffer)?;
                let similarity = self.comparison.compare(item.evidence, evidence);
                let Some(distance) = similarity.map(Unlikeness::from) else { continue };
                let known = least.and_then(|least| least[group.index()]);
                if known.is_none_or(|known| distance <= known) {
                    probed.matches.push(StoreMatch { segment, row, group, distance });
                }
            }
            Ok(())
        })?;
        Ok(probed)
    }
}

/// Calls `candidates` with each row of some blocks that shares a bucket with groups, and with these groups, each
/// once.
fn each_candidate(
    index: &KeyIndex,
    bands: &mut RowBytes,
    blocks: Range<usize>,
    mut candidates: impl FnMut(u64, &[KeepRank]) -> Result<()>,
) -> Result<()> {
    let mut passed = Vec::new();
    let mut groups = Vec::new();
    for block in blocks {
        let Some((rows, bytes)) = bands.rows_of(block)? else { break };
        progress::tick(Activity::Working);
        passed.clear();
        let width = KEY_BYTES * index.bands.len();
        each_passed(index, bytes, width, |row, band, key| passed.push((row, band, key)));
        passed.sort_unstable();
        for passed in passed.chunk_by(|one, other| one.0 == other.0) {
            groups.clear();
            groups.extend(passed.iter().flat_map(|&(_, band, key)| index.groups_with(band, key)));
            groups.sort_unstable();
            groups.dedup();
            let at = passed[0].0;
            let has_keys = || bytes[at * width..][..width].iter().any(|&byte| byte != u8::MAX);
            if !groups.is_empty() && has_keys() {
                candidates(rows.start + at as u64, &groups)?;
            }
        }
    }
    Ok(())
}

/// Calls `pass` with each key in `bytes` that a group may have: its row, its band, the key. The bands come one after the
/// other, so that the bitmap of each is in the cache.
fn each_passed(
    index: &KeyIndex,
    bytes: &[u8],
    width: usize,
    mut pass: impl FnMut(usize, usize, u64),
) {
    for (band, keys) in index.bands.iter().enumerate() {
        for (row, bytes) in bytes.chunks_exact(width).enumerate() {
            let key = low(bytes[KEY_BYTES * band..].first_chunk().expect("a key of each band"));
            if keys.may_have(key) {
                pass(row, band, key);
            }
        }
    }
}
