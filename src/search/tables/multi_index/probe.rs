//! The batch by blocks, and the probe.

use super::block::{Block, IndexedBlock};
use super::cost;
use super::scan::{Gathered, Item, Scan, Tiles};
use crate::fingerprint::Fingerprint;
use crate::hamming::multiversion::{Instructions, counting};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};
use crate::tables::buckets::{Buckets, Entry};
use crate::tables::distribution::{span, varying};
use crate::tables::flips::Flips;
use crate::tables::probe::{Hit, Places, Probe};

#[derive(Debug)]
pub(in crate::tables) struct MultiIndex<F> {
    batch: Vec<F>,
    blocks: Vec<IndexedBlock>,
    flips: Flips,
    /// The bits that are the same in all of the batch.
    constant: F,
    k: u32,
}

#[derive(Debug, Default)]
pub(in crate::tables) struct MultiIndexScratch<F> {
    window: Buckets<F>,
    tiles: Tiles,
    gathered: Gathered,
}

impl<F: Fingerprint> MultiIndex<F> {
    /// Arranges `batch`, which is sorted and distinct, for distances up to `k`, on up to `threads` threads.
    pub(in crate::tables) fn new(batch: &[F], k: u32, threads: usize) -> MultiIndex<F> {
        MultiIndex::of(batch, k, &blocks(batch, k, Instructions::widest()), threads)
    }

    /// Arranges `batch` to be joined with itself, in the same way on all machines.
    pub(in crate::tables) fn for_itself(batch: &[F], k: u32, threads: usize) -> MultiIndex<F> {
        MultiIndex::of(batch, k, &blocks(batch, k, cost::ANYWHERE), threads)
    }

    #[cfg(test)]
    pub(super) fn by(batch: &[F], k: u32, blocks: u32) -> MultiIndex<F> {
        MultiIndex::of(batch, k, &Block::divide(span(varying(batch)), blocks, k), 2)
    }

    fn of(batch: &[F], k: u32, blocks: &[Block], threads: usize) -> MultiIndex<F> {
        let constant = !varying(batch);
        let blocks = in_parallel(threads, blocks, |&block| IndexedBlock::new(block, batch));
        let most = blocks.iter().map(|indexed| indexed.block.limit).max().unwrap_or_default();
        MultiIndex { batch: batch.to_vec(), blocks, flips: Flips::up_to(most), constant, k }
    }

    pub(in crate::tables) fn memory_bytes(&self) -> u64 {
        let blocks: u64 = self.blocks.iter().map(IndexedBlock::memory_bytes).sum();
        blocks + size_of_val(&self.batch[..]) as u64
    }

    /// Whether it would be arranged in the same way for fingerprints other than the batch, on this machine.
    pub(in crate::tables) fn is_arranged_for_others(&self) -> bool {
        let blocks = blocks(&self.batch, self.k, Instructions::widest());
        blocks.iter().eq(self.blocks.iter().map(|indexed| &indexed.block))
    }

    /// Whether `fingerprint` is within k of the batch in the bits that are the same in all of it.
    #[inline]
    fn is_in_reach(&self, fingerprint: F) -> bool {
        if self.constant == F::default() {
            return true;
        }
        let first = self.batch.first().copied().unwrap_or_default();
        ((fingerprint ^ first) & self.constant).distance(F::default()) <= self.k
    }

    #[inline]
    fn first_meeting(&self, differing: F) -> Option<usize> {
        self.blocks.iter().position(|indexed| indexed.block.meets(differing))
    }

    /// Each block and its limit.
    pub(in crate::tables) fn keys(&self) -> Vec<u128> {
        let key = |indexed: &IndexedBlock| [indexed.block.mask(), indexed.block.limit.into()];
        self.blocks.iter().flat_map(key).collect()
    }

    pub(in crate::tables) fn count(&self) -> usize {
        self.batch.len()
    }

    /// Joins one of so many parts of the batch with itself. Over all parts, `found` is called exactly once for
    /// each pair within k: with the later one as the batch's, and the earlier one as the probed one.
    pub(in crate::tables) fn join(
        &self,
        (part, parts): (u32, u32),
        gathered: &mut Gathered,
        found: &mut dyn FnMut(Hit),
    ) {
        for (turn, indexed) in self.blocks.iter().enumerate() {
            let (buckets, _) = divided(indexed.block);
            for bucket in (part as usize..buckets).step_by(parts as usize) {
                progress::tick(Activity::Sorting);
                self.scan(turn, bucket, None, gathered, &mut |one, other| {
                    let differing = self.batch[one as usize] ^ self.batch[other as usize];
                    if let Some(distance) = self.distance_first_met(differing, turn) {
                        let (batch, at) = (one.max(other), one.min(other));
                        found(Hit { batch, run: 0, at, distance });
                    }
                });
            }
        }
    }

    /// The distance of a pair with these differing bits, if it is within k and meets in block `turn` first.
    #[inline]
    fn distance_first_met(&self, differing: F, turn: usize) -> Option<u8> {
        let distance = differing.distance(F::default());
        let counts = distance <= self.k && self.first_meeting(differing) == Some(turn);
        counts.then_some(distance as u8)
    }

    /// Compares the tiles of one bucket of block `turn` with the batch, or the batch with itself if there is no `window`, and calls
    /// `near` with the place of a row and of another fingerprint that may be near each other.
    fn scan(
        &self,
        turn: usize,
        bucket: usize,
        window: Option<&Tiles>,
        gathered: &mut Gathered,
        near: &mut dyn FnMut(u32, u32),
    ) {
        let indexed = &self.blocks[turn];
        let flips = &self.flips;
        let (_, rest) = divided(indexed.block);
        let (first, count) = (bucket << rest, 1 << rest);
        counting(Scan { indexed, flips, window, first, count, k: self.k, gathered, near });
    }

    /// Sorts what of `runs` is in reach by the first bits of a block, each value of which has a bucket.
    fn sort(&self, block: Block, runs: &[&[F]], window: &mut Buckets<F>) {
        progress::tick(Activity::Sorting);
        let firsts = runs.iter().scan(0, |end, run| {
            let first = *end;
            *end += run.len() as u32;
            Some(first)
        });
        let entries = firsts.zip(runs).flat_map(|(first, run)| {
            (first..).zip(*run).map(|(place, &fingerprint)| Entry { fingerprint, place })
        });
        let near = entries.filter(|entry| self.is_in_reach(entry.fingerprint));
        let (buckets, rest) = divided(block);
        window.sort(near, buckets, |fingerprint| (block.value(fingerprint) >> rest) as usize);
    }
}

/// How many buckets the window has, and how many bits of a block follow those that tell the bucket.
fn divided(block: Block) -> (usize, u32) {
    let rest = block.bits / 2;
    (1 << (block.bits - rest), rest)
}

fn blocks<F: Fingerprint>(batch: &[F], k: u32, instructions: Instructions) -> Vec<Block> {
    let span = span(varying(batch));
    let count = cost::blocks(batch.len() as f64, span.end - span.start, k, instructions);
    Block::divide(span, count, k)
}

impl<F: Fingerprint> Probe<F> for MultiIndex<F> {
    type Scratch = MultiIndexScratch<F>;

    fn probe(&self, runs: &[&[F]], scratch: &mut MultiIndexScratch<F>, found: &mut dyn FnMut(Hit)) {
        let MultiIndexScratch { window, tiles, gathered } = scratch;
        let places = Places::of(runs);
        for (turn, indexed) in self.blocks.iter().enumerate() {
            let block = indexed.block;
            self.sort(block, runs, window);
            let (_, rest) = divided(block);
            for (bucket, entries) in window.buckets().enumerate().filter(|(_, it)| !it.is_empty()) {
                progress::tick(Activity::Working);
                let items = entries.iter().map(|&Entry { fingerprint, place }| Item {
                    value: block.value(fingerprint) as usize & ((1 << rest) - 1),
                    columns: block.others(fingerprint),
                    place,
                });
                tiles.fill(1 << rest, items);
                self.scan(turn, bucket, Some(tiles), gathered, &mut |batch, place| {
                    let (run, at) = places.find(place);
                    let differing = runs[run][at] ^ self.batch[batch as usize];
                    if let Some(distance) = self.distance_first_met(differing, turn) {
                        found(Hit { batch, run: run as u32, at: at as u32, distance });
                    }
                });
            }
        }
    }

    fn window(&self) -> usize {
        cost::WINDOW
    }
}

#[cfg(test)]
mod tests;
