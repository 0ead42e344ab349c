//! The batch by blocks, and the probe.

use super::block::Block;
use super::filter::Filter;
use crate::fingerprint::{Fingerprint, Width};
use crate::hamming::multiversion::{Multiversion, widest};
use crate::parallel::in_parallel;
use crate::tables::hit::Hit;
use crate::tables::probe::{Arrange, Probe};
use crate::tables::table::{GROUP, SPARE, Survivor, Table};

/// How many fingerprints go through one block before the next one's turn.
const PART: usize = 1 << 14;

/// How many fingerprints before its test a look into the filter begins.
const AHEAD: usize = 64;

/// The largest distance it is made for: with blocks of the 32 bits that let few of a million pass.
pub(in crate::rooms::tables) fn covers(width: Width) -> u32 {
    match width {
        Width::W64 => 3,
        Width::W128 => 7,
    }
}

/// The batch by blocks.
#[derive(Debug)]
pub(in crate::rooms::tables) struct Halves<F> {
    halves: Vec<Half<F>>,
    k: u32,
}

/// The batch by one block.
#[derive(Debug)]
struct Half<F> {
    block: Block,
    /// The values within the limit of any fingerprint's.
    near: Filter,
    /// The values themselves.
    own: Filter,
    /// The fingerprints by them.
    table: Table<F>,
}

/// The bucket that a survivor is to be compared with, as a fingerprint that belongs there.
#[derive(Clone, Copy, Debug)]
struct Candidate<F> {
    near: F,
    /// In how many bits the survivor differs from that.
    off: u32,
    at: u32,
    bucket: u32,
}

impl<F: Fingerprint> Halves<F> {
    /// Compares a candidate of block `turn` with its bucket. A pair may meet in several blocks; it
    /// counts in the first, and so exactly once.
    #[inline(always)]
    fn compare(&self, turn: usize, candidate: Candidate<F>, found: &mut dyn FnMut(Hit)) {
        let Candidate { near, off, at, bucket } = candidate;
        let before = &self.halves[..turn];
        let half = &self.halves[turn];
        half.table.compare(bucket as usize, near, self.k - off, &mut |batch, entry, distance| {
            let differing = near ^ entry;
            let is_new = before.iter().all(|half| !half.block.meets(differing));
            if half.block.off(differing) == 0 && is_new {
                found(Hit { batch, run: 0, at, distance: (distance + off) as u8 });
            }
        });
    }
}

/// Memory that the probe works in.
#[derive(Debug, Default)]
pub(in crate::rooms::tables) struct HalvesScratch<F> {
    survivors: Vec<Survivor>,
    candidates: Vec<Candidate<F>>,
}

/// Puts a part of a run through every block: filter it, look up what survives, compare.
struct RunPart<'a, F> {
    halves: &'a Halves<F>,
    part: &'a [F],
    scratch: &'a mut HalvesScratch<F>,
    found: &'a mut dyn FnMut(Hit),
}

impl<F: Fingerprint> Multiversion for RunPart<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let RunPart { halves, part, scratch, found } = self;
        let HalvesScratch { survivors, candidates } = scratch;
        for (turn, half) in halves.halves.iter().enumerate() {
            let count = half.filter(part, survivors);
            for survivors in survivors[..count].chunks(GROUP) {
                half.look_up(part, survivors, candidates);
                for candidate in candidates.drain(..) {
                    halves.compare(turn, candidate, found);
                }
            }
        }
    }
}

impl<F: Fingerprint> Arrange<F> for Halves<F> {
    fn arrange(batch: &[F], k: u32, threads: usize) -> Halves<F> {
        let blocks = Block::all(F::WIDTH, k);
        let places: Vec<u32> = (0..batch.len() as u32).collect();
        let half = |&block: &Block| Half::new(batch, &places, block, k);
        Halves { halves: in_parallel(threads, &blocks, half), k }
    }

    fn memory_bytes(&self) -> u64 {
        self.halves.iter().map(Half::memory_bytes).sum()
    }
}

impl<F: Fingerprint> Probe<F> for Halves<F> {
    type Scratch = HalvesScratch<F>;

    fn probe(&self, runs: &[&[F]], scratch: &mut HalvesScratch<F>, found: &mut dyn FnMut(Hit)) {
        scratch.survivors.resize(PART, Survivor::default());
        for (number, run) in (0..).zip(runs) {
            for (part, first) in run.chunks(PART).zip((0..).step_by(PART)) {
                let found = &mut |hit: Hit| found(Hit { run: number, at: first + hit.at, ..hit });
                widest(RunPart { halves: self, part, scratch: &mut *scratch, found });
            }
        }
    }
}

impl<F: Fingerprint> Half<F> {
    fn new(batch: &[F], places: &[u32], block: Block, k: u32) -> Half<F> {
        let mut values: Vec<u64> = batch.iter().map(|&entry| block.value(entry)).collect();
        values.sort_unstable();
        values.dedup();
        let count = values.len() as u64;
        let mut near = Filter::new(count * u64::from(1 + block.flips()), block.width);
        let mut own = Filter::new(count, block.width);
        for value in values {
            near.add(value, block.flips());
            own.add(value, 0);
        }
        let table = Table::build(batch, places, block.mask(), k, &mut (SPARE * batch.len()));
        Half { block, near, own, table }
    }

    fn memory_bytes(&self) -> u64 {
        self.near.memory_bytes() + self.own.memory_bytes() + self.table.memory_bytes()
    }

    /// Writes the fingerprints of `part` that pass the filter to `survivors`, which has room for all of
    /// them, and returns how many they are.
    #[inline(always)]
    fn filter(&self, part: &[F], survivors: &mut [Survivor]) -> usize {
        let mut count = 0;
        let last = part.len() - 1;
        for (at, &fingerprint) in part.iter().enumerate() {
            self.near.prefetch(self.block.value(part[(at + AHEAD).min(last)]));
            survivors[count].at = at as u32;
            count += usize::from(self.near.has(self.block.value(fingerprint)));
        }
        count
    }

    /// Adds to `candidates` the buckets of the values within the limit of the survivors', and begins
    /// to bring them into the cache.
    #[inline(always)]
    fn look_up(&self, part: &[F], survivors: &[Survivor], candidates: &mut Vec<Candidate<F>>) {
        for &Survivor { at, .. } in survivors {
            let fingerprint = part[at as usize];
            let value = self.block.value(fingerprint);
            if self.own.has(value) {
                candidates.push(self.candidate(at, fingerprint, 0));
            }
            let mut flips = self.own.flips(value, self.block.flips());
            while flips != 0 {
                let near = self.block.flip(fingerprint, flips.trailing_zeros());
                candidates.push(self.candidate(at, near, 1));
                flips &= flips - 1;
            }
        }
        self.table.fetch(candidates.iter().map(|candidate| candidate.bucket));
    }

    #[inline(always)]
    fn candidate(&self, at: u32, near: F, off: u32) -> Candidate<F> {
        Candidate { near, off, at, bucket: self.table.bucket(near) as u32 }
    }
}

#[cfg(test)]
mod tests;
