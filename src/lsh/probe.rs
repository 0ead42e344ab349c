//! A batch against a store: all band keys of the store stream past the band keys of the batch.
//!
//! ```text
//! segment, block by block        index of the batch (band, key -> groups)       compared
//! row 7: [k1 | k2 | k3]    --->  (1, k1) -> g4;  (2, k2) -> -;  (3, k3) -> g4   7 with g4, once
//! row 8: [k9 | k2 | k5]    --->  (1, k9) -> -;   (2, k2) -> -;  (3, k5) -> g1   8 with g1
//! ```
//!
//! The keys of a row lie together, so a pair that shares several buckets is met once and is compared at once: the probe keeps
//! no list of candidates. Rows of the store with the same fingerprint, keys and evidence lie side by side. Where only the
//! nearest page counts, the first of these rows has the smallest id, and the probe compares that row alone.
//!
//! A batch whose index does not fit into memory is divided into passes, and the store streams past each pass.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use super::banding::Banding;
use super::batch::Batch;
use super::confirmation::Comparison;
use super::counting::Counting;
use super::finding::{Finding, StoreMatch};
use super::found::Hot;
use super::kept::RowEvidence;
use super::key_index::KeyIndex;
use crate::error::Result;
use crate::matches::{KeepRank, Number, Pair, Unlikeness};
use crate::parallel::lock;
use crate::progress::{self, Activity};
use crate::store::{Column, Dated, Fingerprints, RowBytes, Shown};
use crate::tables::keys::{KEY_BYTES, key_of};

/// The fewest and the most blocks of a chunk, and about how many chunks a large store has.
const CHUNK_BLOCKS: (usize, usize) = (1, 64);
const CHUNKS: usize = 4096;

/// The batch, and the segments that stream past it. Shared by the workers of a process.
pub(crate) struct StoreProbe {
    batch: Arc<Batch>,
    comparison: Comparison,
    store: Vec<Dated>,
    /// Buckets whose rows in the store are counted.
    hottest: Vec<Hot>,
    /// Whether all matches are wanted, or only the nearest ones of each group.
    all: bool,
    /// How many groups are compared at once; `None` if the groups are compared group by group.
    counting: Option<Counting>,
    /// The nearest match of each group that this process has found.
    nearest: Vec<AtomicU16>,
    /// The blocks of all segments, in portions.
    units: Vec<(u32, Range<usize>)>,
    /// How many groups have their keys in memory at once. For more groups, the store is read several times.
    most: usize,
    /// The keys that are in memory, and which pass over the store they are for.
    index: Mutex<Option<(u64, Arc<KeyIndex>)>>,
    workers: usize,
}

/// What one worker probes with.
#[derive(Default)]
pub(crate) struct ProbeScratch {
    passed: Vec<Passed>,
    candidates: Candidates,
    reading: Reading,
}

/// What the evidence of candidates is read into.
#[derive(Default)]
struct Reading {
    item: Vec<u8>,
    /// Of each candidate, how many slots differ.
    differing: Vec<u32>,
}

/// How many groups can have their keys in `memory_bytes`.
pub(super) fn most_groups(bands: usize, memory_bytes: usize) -> usize {
    KeyIndex::groups(bands, memory_bytes)
}

impl StoreProbe {
    /// Prepares to probe a `store`. All processes must have the same number of groups for a pass, `most`.
    pub(super) fn new(
        batch: Arc<Batch>,
        comparison: Comparison,
        store: Vec<Dated>,
        hottest: Vec<Hot>,
        all: bool,
        most: usize,
        workers: usize,
    ) -> StoreProbe {
        let far = || AtomicU16::new(u16::MAX);
        let nearest = (0..batch.len()).map(|_| far()).collect();
        let units = units(&store);
        let counting =
            batch.slab().and_then(|slab| Counting::of(&comparison, slab.evidence_bytes()));
        let index = Mutex::new(None);
        StoreProbe {
            batch,
            comparison,
            store,
            hottest,
            all,
            counting,
            nearest,
            units,
            most,
            index,
            workers,
        }
    }

    /// How many chunks there are: the portions of the store, as many times as it is read.
    pub(crate) fn chunks(&self) -> usize {
        self.units.len() * self.passes()
    }

    /// How many rows are read in all chunks.
    pub(crate) fn rows(&self) -> u64 {
        let rows: u64 = self.store.iter().map(|dated| dated.segment().rows()).sum();
        rows * self.passes() as u64
    }

    /// How often the store is read.
    pub(crate) fn passes(&self) -> usize {
        (self.batch.len() as usize).div_ceil(self.most)
    }

    /// Probes a chunk, gives what is found to `take`, and returns how many rows were read.
    ///
    /// # Errors
    /// Damage is [`Kind::BadData`](crate::Kind::BadData).
    pub(crate) fn probe(
        &self,
        chunk: u64,
        scratch: &mut ProbeScratch,
        take: &mut dyn FnMut(Pair),
    ) -> Result<u64> {
        let units = self.units.len() as u64;
        let index = self.index(chunk / units)?;
        let (segment, blocks) = &self.units[(chunk % units) as usize];
        let dated = &self.store[*segment as usize];
        let Some(mut bands) = dated.segment().bands() else { return Ok(0) };
        let mut chunk = Chunk {
            probe: self,
            index: &index,
            segment: *segment,
            evidence: RowEvidence::of(dated.segment(), &self.comparison),
            fingerprints: dated.segment().fingerprints(),
            shown: dated.shown(),
            last: None,
            pairs: 0,
            hottest: vec![0; self.hottest.len()],
        };
        let rows = chunk.probe(&mut bands, blocks.clone(), scratch, take)?;
        chunk.count(take);
        Ok(rows)
    }

    /// The keys of the groups of a pass.
    fn index(&self, pass: u64) -> Result<Arc<KeyIndex>> {
        let mut held = lock(&self.index);
        if let Some((of, index)) = &*held
            && *of == pass
        {
            return Ok(Arc::clone(index));
        }
        *held = None;
        let start = pass as usize * self.most;
        let end = (start + self.most).min(self.batch.len() as usize);
        let index = Arc::new(KeyIndex::of(&self.batch, start as u32..end as u32, self.workers)?);
        *held = Some((pass, Arc::clone(&index)));
        Ok(index)
    }

    /// Whether a match may be the nearest of its group. It then is the nearest that is known.
    fn is_wanted(&self, group: KeepRank, distance: Unlikeness) -> bool {
        let distance = distance.missing();
        let nearest = &self.nearest[group.index()];
        // Most are farther, and to look is cheaper than to change.
        self.all
            || nearest.load(Ordering::Relaxed) >= distance
                && nearest.fetch_min(distance, Ordering::Relaxed) >= distance
    }
}

/// The blocks of all segments, in portions.
fn units(store: &[Dated]) -> Vec<(u32, Range<usize>)> {
    let all: usize = store.iter().map(|dated| dated.segment().blocks_of(Column::Bands)).sum();
    let step = (all / CHUNKS).clamp(CHUNK_BLOCKS.0, CHUNK_BLOCKS.1);
    let mut units = Vec::new();
    for (segment, dated) in (0..).zip(store) {
        let blocks = dated.segment().blocks_of(Column::Bands);
        let starts = (0..blocks).step_by(step);
        units.extend(starts.map(|start| (segment, start..blocks.min(start + step))));
    }
    units
}

/// A chunk that is being probed.
struct Chunk<'a> {
    probe: &'a StoreProbe,
    index: &'a KeyIndex,
    segment: u32,
    evidence: RowEvidence,
    fingerprints: Fingerprints,
    shown: Shown,
    /// The last row that was compared.
    last: Option<Compared>,
    /// Pairs that share a bucket.
    pairs: u64,
    /// Rows in each of the hottest buckets.
    hottest: Vec<u32>,
}

/// A row that was compared, and how many groups with it.
struct Compared {
    row: u64,
    keys: Vec<u8>,
    evidence: Vec<u8>,
    groups: u64,
}

impl Chunk<'_> {
    fn probe(
        &mut self,
        bands: &mut RowBytes,
        blocks: Range<usize>,
        scratch: &mut ProbeScratch,
        take: &mut dyn FnMut(Pair),
    ) -> Result<u64> {
        let width = KEY_BYTES * self.index.bands.len();
        let mut read = 0;
        for block in blocks {
            let Some((rows, bytes)) = bands.rows_of(block)? else { break };
            progress::tick(Activity::Working);
            read += rows.end - rows.start;
            scratch.passed.clear();
            each_passed(self.index, bytes, width, |it| scratch.passed.push(it));
            scratch.passed.sort_unstable();
            let ProbeScratch { passed, candidates, reading } = scratch;
            for passed in passed.chunk_by(|one, other| one.row == other.row) {
                let at = passed[0].row;
                let keys = &bytes[at * width..][..width];
                // All bits set: the row has nothing to compare.
                if keys.iter().any(|&byte| byte != u8::MAX) {
                    let row = rows.start + at as u64;
                    self.probe_row(row, keys, passed, candidates, reading, take)?;
                }
            }
        }
        Ok(read)
    }

    /// Compares a row with all groups that share a bucket with it.
    fn probe_row(
        &mut self,
        row: u64,
        keys: &[u8],
        passed: &[Passed],
        candidates: &mut Candidates,
        reading: &mut Reading,
        take: &mut dyn FnMut(Pair),
    ) -> Result<()> {
        let Chunk { probe, index, segment, .. } = *self;
        if !self.shown.get(row)? {
            return Ok(());
        }
        self.count_hot(passed);
        if !probe.all && self.is_copy(row, keys)? {
            return Ok(());
        }
        let numbers = candidates.of(index, passed);
        if numbers.is_empty() {
            return Ok(());
        }
        progress::tick(Activity::Working);
        self.pairs += numbers.len() as u64;
        let evidence = self.evidence.get(row)?;
        let mut found = |number: u32, distance| {
            let group = index.group(number);
            if probe.is_wanted(group, distance) {
                take(Finding::Match(StoreMatch { segment, row, group, distance }).into());
            }
        };
        match (&probe.counting, probe.batch.slab()) {
            (Some(counting), Some(slab)) if evidence.iter().any(|&byte| byte != 0) => {
                let (first, counts) = (index.group(0).index(), &mut reading.differing);
                counting.each_match(evidence, &slab, first, numbers, counts, found);
            }
            _ => {
                for &number in numbers {
                    let item = probe.batch.item(index.group(number), &mut reading.item)?;
                    let similarity = probe.comparison.compare(item.evidence, evidence);
                    similarity.into_iter().for_each(|it| found(number, it.into()));
                }
            }
        }
        let (keys, evidence, groups) = (keys.to_vec(), evidence.to_vec(), numbers.len() as u64);
        self.last = Some(Compared { row, keys, evidence, groups });
        Ok(())
    }

    /// Whether a row is a copy of the row that was compared last. The row that was compared last
    /// has the smaller id. The pairs of a copy are counted, not compared.
    fn is_copy(&mut self, row: u64, keys: &[u8]) -> Result<bool> {
        let Some(last) = self.last.as_ref().filter(|last| last.keys == keys) else {
            return Ok(false);
        };
        let is_copy = self.evidence.get(row)? == last.evidence
            && self.fingerprints.get(last.row)? == self.fingerprints.get(row)?;
        if is_copy {
            self.pairs += last.groups;
        }
        Ok(is_copy)
    }

    /// Counts a row that shares some of the hottest buckets. The row is counted in the pass that
    /// has the first group of these buckets.
    fn count_hot(&mut self, passed: &[Passed]) {
        for (count, hot) in self.hottest.iter_mut().zip(&self.probe.hottest) {
            let is_in = |it: &Passed| Banding::key(it.band as u64, it.key) == hot.key;
            *count += u32::from(self.index.has(hot.first) && passed.iter().any(is_in));
        }
    }

    /// Gives what was counted.
    fn count(&self, take: &mut dyn FnMut(Pair)) {
        let mut pairs = self.pairs;
        while pairs > 0 {
            let count = pairs.min(u32::MAX.into());
            take(Finding::Candidates(count as u32).into());
            pairs -= count;
        }
        for (bucket, &rows) in (0..).zip(&self.hottest) {
            if rows > 0 {
                take(Finding::Hot { bucket, rows }.into());
            }
        }
    }
}

/// The groups that share a bucket with a row, each once.
#[derive(Default)]
struct Candidates {
    numbers: Vec<u32>,
    /// For each group the last row that it was a candidate of.
    seen: Vec<u32>,
    /// The row, by its number among all that this worker has met.
    row: u32,
}

impl Candidates {
    /// The groups that have one of the keys that `passed`, by their numbers in the index.
    fn of(&mut self, index: &KeyIndex, passed: &[Passed]) -> &[u32] {
        self.numbers.clear();
        if self.row == u32::MAX || self.seen.len() < index.len() {
            self.row = 0;
            self.seen = vec![0; index.len()];
        }
        self.row += 1;
        for it in passed {
            for number in index.numbers_with(it.band, it.key) {
                let seen = &mut self.seen[number as usize];
                if *seen != self.row {
                    *seen = self.row;
                    self.numbers.push(number);
                }
            }
        }
        &self.numbers
    }
}

/// A key of a row in a block that a group may have. Ordered by row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Passed {
    row: usize,
    band: usize,
    key: u64,
}

/// Calls `pass` with each key in `bytes` that a group may have. The keys of one band are tested
/// before the keys of the next band, so that the bitmap of the band stays in the cache.
fn each_passed(index: &KeyIndex, bytes: &[u8], width: usize, mut pass: impl FnMut(Passed)) {
    for (band, keys) in index.bands.iter().enumerate() {
        for (row, bytes) in bytes.chunks_exact(width).enumerate() {
            let key = key_of(bytes[KEY_BYTES * band..].first_chunk().expect("a key of each band"));
            if keys.may_have(key) {
                pass(Passed { row, band, key });
            }
        }
    }
}
