//! The probe that needs no order: blocks at most one bit off, in a filter of all that is.
//!
//! Divide the fingerprint into blocks, each with a limit. A pair that exceeds every limit differs in
//! at least the sum of all limits plus one each, so where that sum is above k, a pair within k meets in
//! some block: the general pigeonhole. No limit here is above 1, so for the usual k = 3 the blocks are
//! the two halves.
//!
//! | k | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
//! |---|---|---|---|---|---|---|---|---|
//! | blocks of 1/n | 2 | 2 | 2 | 2 | 3 | 3 | 4 | 4 |
//! | limits | 0 | 0 0 | 1 0 | 1 1 | 1 1 0 | 1 1 1 | 1 1 1 0 | 1 1 1 1 |
//!
//! Enumeration is left to the batch, which is the smaller side. The 33 values within one bit of each of
//! its halves are marked in a filter so large that few others pass, and a fingerprint that is probed
//! pays one look for each block. The look may go anywhere in memory, so it is begun long before. For
//! what passes, the 33 values within one bit of its own half are looked up in a table of the batch.

use super::table::{Survivor, Table};
use super::{BLOCK_BYTES, GROUP, Hit, Probe, SPARE, Scratch, in_parallel};
use crate::fingerprint::{Fingerprint, Width};
use crate::hamming::memory::{prefetch, zeroed};

/// How many fingerprints before its test a look into the filter begins.
const AHEAD: usize = 64;

/// How many values are marked in a word of the filter, at most, where there is memory for that.
const WORD_LOAD: u64 = 4;

/// The most words of a filter, as a power of two.
const MOST_WORDS: u32 = 26;

/// The largest distance it is made for: blocks keep the 32 bits that let few of a million pass.
pub(super) fn covers(width: Width) -> u32 {
    match width {
        Width::W64 => 3,
        Width::W128 => 7,
    }
}

/// The batch by blocks.
#[derive(Debug)]
pub struct Halves<F> {
    halves: Vec<Half<F>>,
    k: u32,
}

/// The batch by one block.
#[derive(Debug)]
struct Half<F> {
    block: Block,
    /// Two bits for each value within the limit, in the word that its high bits choose: so what is
    /// sorted by the block sweeps the filter in order, and a value off in the low bits is near by.
    filter: Vec<u64>,
    word_bits: u32,
    /// The fingerprints by the value of their block.
    table: Table<F>,
}

/// Some bits of a fingerprint that stand together, at most 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The lowest of them.
    low: u32,
    /// How many there are.
    pub(super) width: u32,
    /// In how many of them a pair may differ to meet here: 0 or 1.
    limit: u32,
}

impl Block {
    /// The blocks in which pairs within `k` meet, the highest first.
    pub(super) fn all(width: Width, k: u32) -> Vec<Block> {
        let parts = (k / 2 + 1).max(2);
        let low = |part: u32| (parts - part) * width.bits() / parts;
        let block = |part| Block {
            low: low(part + 1),
            width: low(part) - low(part + 1),
            limit: u32::from(part + parts <= k),
        };
        (0..parts.min(k + 1)).map(block).collect()
    }

    fn mask(self) -> u128 {
        u128::MAX >> (128 - self.width) << self.low
    }

    /// The block's bits at the high end of a word.
    #[inline]
    fn value<F: Fingerprint>(self, fingerprint: F) -> u64 {
        let high = fingerprint << (F::BITS - self.low - self.width) >> (F::BITS - 64);
        high.to_u128() as u64 & !(u64::MAX >> (self.width - 1) >> 1)
    }

    /// How many bits one of which may be flipped.
    fn flips(self) -> u32 {
        self.width * self.limit
    }

    /// How many values are within the limit of any one.
    pub(super) fn ball(self) -> u64 {
        1 + u64::from(self.flips())
    }

    /// How many words the filter of so large a batch has, as a power of two.
    pub(super) fn word_bits(self, batch: u64) -> u32 {
        let words = batch.saturating_mul(self.ball()).div_ceil(WORD_LOAD).max(2);
        (u64::BITS - (words - 1).leading_zeros()).min(MOST_WORDS).min(self.width)
    }
}

/// What a survivor is to be compared with: a bucket, and itself with the key of that bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate<F> {
    near: F,
    /// In how many bits the fingerprint itself is off that key.
    off: u32,
    at: u32,
    bucket: u32,
}

impl<F: Fingerprint> Halves<F> {
    /// Arranges `batch`, which is sorted and distinct and has at most `u32::MAX` fingerprints, for
    /// distances up to `k`.
    pub(super) fn new(batch: &[F], k: u32) -> Halves<F> {
        let places: Vec<u32> = (0..batch.len() as u32).collect();
        let blocks = Block::all(F::WIDTH, k);
        let half = |&block: &Block| Half::new(batch, &places, block, k);
        Halves { halves: in_parallel(&blocks, half), k }
    }

    /// How many bytes it holds.
    pub fn memory_bytes(&self) -> u64 {
        self.halves.iter().map(Half::memory_bytes).sum()
    }

    /// Puts a part of a run through every block.
    fn probe_part(&self, part: &[F], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        let Scratch { survivors, candidates, .. } = scratch;
        for (turn, half) in self.halves.iter().enumerate() {
            let count = half.sift(part, survivors);
            for survivors in survivors[..count].chunks(GROUP) {
                let count = half.look_up(part, survivors, candidates);
                for candidate in &candidates[..count] {
                    self.compare(turn, candidate, found);
                }
            }
        }
    }

    /// Compares a candidate of block `turn` with its bucket. A pair may meet in several blocks; it
    /// counts in the first, and so exactly once.
    #[inline]
    fn compare(&self, turn: usize, candidate: &Candidate<F>, found: &mut dyn FnMut(Hit)) {
        let &Candidate { near, off, at, bucket } = candidate;
        let (before, half) = (&self.halves[..turn], &self.halves[turn]);
        half.table.compare(bucket as usize, near, self.k - off, &mut |batch, entry, distance| {
            let differing = near ^ entry;
            let is_new = before.iter().all(|half| !half.meets(differing));
            if half.off(differing) == 0 && is_new {
                found(Hit { batch, run: 0, at, distance: (distance + off) as u8 });
            }
        });
    }
}

impl<F: Fingerprint> Probe<F> for Halves<F> {
    fn probe(&self, runs: &[&[F]], scratch: &mut Scratch<F>, found: &mut dyn FnMut(Hit)) {
        let size = BLOCK_BYTES / size_of::<F>();
        let most = self.halves.iter().map(|half| half.block.ball()).max().unwrap_or(0) as usize;
        scratch.survivors.resize(size, Survivor::default());
        scratch.candidates.resize(GROUP * most, Candidate::default());
        for (number, run) in (0..).zip(runs) {
            for (part, first) in run.chunks(size).zip((0..).step_by(size)) {
                self.probe_part(part, scratch, &mut |hit| {
                    found(Hit { run: number, at: first + hit.at, ..hit });
                });
            }
        }
    }
}

impl<F: Fingerprint> Half<F> {
    fn new(batch: &[F], places: &[u32], block: Block, k: u32) -> Half<F> {
        let t0 = std::time::Instant::now();
        let table = Table::build(batch, places, block.mask(), k, &mut (SPARE * batch.len()));
        let word_bits = block.word_bits(batch.len() as u64);
        let t1 = std::time::Instant::now();
        let mut half = Half { block, filter: zeroed(1 << word_bits), word_bits, table };
        half.mark(batch);
        if std::env::var("TIMES").is_ok() {
            eprintln!("table {:?} filter {:?}", t1 - t0, t1.elapsed());
        }
        half
    }

    fn memory_bytes(&self) -> u64 {
        size_of_val(&self.filter[..]) as u64 + self.table.memory_bytes()
    }

    /// Marks all values within the limit of any in the batch, those of one word at once.
    fn mark(&mut self, batch: &[F]) {
        let mut values: Vec<u64> = batch.iter().map(|&entry| self.block.value(entry)).collect();
        values.sort_unstable();
        values.dedup();
        let (flips, word_bits) = (self.block.flips(), self.word_bits);
        let flip = |bit: u32| 1_u64 << 63 >> bit;
        for value in values {
            let (word, mut marks) = self.marks(value);
            for bit in 0..word_bits.min(flips) {
                let word = word ^ 1 << (word_bits - 1 - bit);
                self.filter[word] |= marks;
            }
            for bit in word_bits..flips {
                marks |= self.marks(value ^ flip(bit)).1;
            }
            self.filter[word] |= marks;
        }
    }

    /// The word of the filter that a value falls into.
    #[inline]
    fn word(&self, value: u64) -> usize {
        (value >> (64 - self.word_bits)) as usize
    }

    /// That word, and two bits there, by what is not in the word's number.
    #[inline]
    fn marks(&self, value: u64) -> (usize, u64) {
        let hash = (value << self.word_bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (self.word(value), 1 << (hash >> 58) | 1 << (hash >> 52 & 63))
    }

    /// Writes the fingerprints of `part` that pass the filter to `survivors`, which has room for all of
    /// them, and returns how many they are.
    fn sift(&self, part: &[F], survivors: &mut [Survivor]) -> usize {
        let (mut count, last) = (0, part.len() - 1);
        for (at, &fingerprint) in part.iter().enumerate() {
            let ahead = self.block.value(part[(at + AHEAD).min(last)]);
            prefetch(&self.filter, self.word(ahead));
            let (word, bits) = self.marks(self.block.value(fingerprint));
            survivors[count].at = at as u32;
            count += usize::from(self.filter[word] & bits == bits);
        }
        count
    }

    /// Writes to `candidates`, which has room for all, what is in the table of the values within the
    /// limit of the survivors, and returns how many they are, on their way into the cache.
    fn look_up(
        &self,
        part: &[F],
        survivors: &[Survivor],
        candidates: &mut [Candidate<F>],
    ) -> usize {
        let mut count = 0;
        for &Survivor { at, .. } in survivors {
            let mut look = |near: F, off: u32| {
                let (bucket, passes) = self.table.look(near);
                candidates[count] = Candidate { near, off, at, bucket };
                count += usize::from(passes);
            };
            let fingerprint = part[at as usize];
            look(fingerprint, 0);
            for bit in self.block.low..self.block.low + self.block.flips() {
                look(fingerprint ^ F::from_u128(1 << bit), 1);
            }
        }
        self.table.fetch(candidates[..count].iter().map(|candidate| candidate.bucket));
        count
    }

    /// How many of the differing bits stand in the block.
    #[inline]
    fn off(&self, differing: F) -> u32 {
        self.block.value(differing).count_ones()
    }

    fn meets(&self, differing: F) -> bool {
        self.off(differing) <= self.block.limit
    }
}
