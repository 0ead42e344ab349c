//! The bottom of the walk: a few fingerprints of the batch against all that have one prefix.

use std::ops::Range;

use super::cost::thresholds;
use super::level::{Level, Reach, low};
use crate::fingerprint::Fingerprint;
use crate::hamming::bitmap::{BLOCK, Bitmap, FoundBits};
use crate::hamming::memory::prefetch;
use crate::hamming::multiversion::{Multiversion, widest};
use crate::tables::buckets::Entry;
use crate::tables::probe::Hit;

/// How many entries are marked at once, which bounds the keys beyond the most there may be.
const AT_ONCE: usize = 64;

/// How many blocks the memory is asked for ahead. It does not foresee the next page by itself.
const AHEAD: usize = 4;

/// The fewest candidates that there is room for.
const FEWEST: usize = 4096;
/// How many bits there are for the key of each candidate.
const SPARSITY: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Leaf<F> {
    blocks: Blocks,
    /// The keys of the entries that are marked, and the entry that gave each.
    keys: Vec<u32>,
    entries: Vec<u32>,
    marked: Bitmap,
    candidates: Candidates<F>,
    tested: BlockKeys,
}

/// What a leaf joins: what is within `reach` on a level, and slices of the runs with the prefix of the reach.
pub(super) struct Task<'a, F> {
    pub(super) level: &'a Level<F>,
    pub(super) reach: Reach<'a>,
    /// How many bits at the end are the tail.
    pub(super) tail: u32,
    pub(super) runs: &'a [&'a [F]],
    pub(super) slices: &'a [Range<usize>],
    /// The bits of X.
    pub(super) width: u32,
    pub(super) most_keys: usize,
}

impl<F: Fingerprint> Leaf<F> {
    pub(super) fn join(&mut self, task: &Task<'_, F>, found: &mut dyn FnMut(Hit)) {
        self.blocks = Blocks::of(task.level.rest_below(task.reach.bits), task.tail, task.width);
        self.forget_keys();
        task.level.reach(&task.reach, |left, bucket| {
            for start in bucket.clone().step_by(AT_ONCE) {
                self.mark(task, left, start..bucket.end.min(start + AT_ONCE));
                if self.keys.len() >= task.most_keys {
                    self.scan(task, found);
                    self.forget_keys();
                }
            }
        });
        self.scan(task, found);
    }

    fn forget_keys(&mut self) {
        self.keys.clear();
        self.entries.clear();
        self.marked.reset(self.blocks.keys());
    }

    /// Adds the keys of the entries of `bucket`, which have `left` errors left.
    #[inline]
    fn mark(&mut self, task: &Task<'_, F>, left: u32, bucket: Range<usize>) {
        let blocks = self.blocks;
        let (x, y) = thresholds(left);
        let begun = self.keys.len();
        self.add(task, bucket.clone(), x, blocks.width, |entry| blocks.x(entry));
        if let Some(y) = y {
            self.add(task, bucket, y, blocks.y_width(), |entry| blocks.y(entry));
        }
        self.keys[begun..].iter().for_each(|&key| self.marked.insert(key));
    }

    /// Adds, for every entry of `bucket`, all keys within `off` bits of its own in a block.
    #[inline]
    fn add(
        &mut self,
        task: &Task<'_, F>,
        bucket: Range<usize>,
        off: u32,
        width: u32,
        key: impl Fn(F) -> u32,
    ) {
        let entries = &task.level.entries[bucket.clone()];
        self.keys.extend(entries.iter().map(|entry| key(entry.fingerprint)));
        self.entries.extend(bucket.start as u32..bucket.end as u32);
        for masks in (1..=off).map(|off| task.reach.flips.of(width, off)) {
            for (entry, at) in entries.iter().zip(bucket.start as u32..) {
                let key = key(entry.fingerprint);
                self.keys.extend(masks.iter().map(|mask| key ^ mask));
                self.entries.extend(std::iter::repeat_n(at, masks.len()));
            }
        }
    }

    /// Puts the slices past the bitmap, and verifies what passes.
    fn scan(&mut self, task: &Task<'_, F>, found: &mut dyn FnMut(Hit)) {
        if self.keys.is_empty() {
            return;
        }
        self.candidates.reset(self.keys.len());
        for (run, slice) in (0..).zip(task.slices) {
            let first = slice.start as u32;
            let fingerprints = &task.runs[run as usize][slice.clone()];
            for (number, block) in fingerprints.chunks(BLOCK).enumerate() {
                if self.candidates.is_full() {
                    self.verify(task, found);
                }
                fetch(fingerprints, (number + AHEAD) * BLOCK);
                self.sift(block, run, first + (number * BLOCK) as u32);
            }
        }
        self.verify(task, found);
    }

    /// Notes the candidates of `block`, which begins at `first` of run `run`.
    fn sift(&mut self, block: &[F], run: u32, first: u32) {
        let Leaf { blocks, marked, candidates, tested, .. } = self;
        widest(Cut { blocks: *blocks, fingerprints: block, keys: tested });
        let passed = marked.any_of([&tested.x[..block.len()], &tested.y[..block.len()]]);
        for at in places(passed) {
            let row = first + at as u32;
            for key in [tested.x[at], tested.y[at]] {
                candidates.note(marked.contains(key), block[at], key, run, row);
            }
        }
    }

    /// Compares every candidate with the entries that gave its key, and forgets the candidates.
    fn verify(&mut self, task: &Task<'_, F>, found: &mut dyn FnMut(Hit)) {
        if !self.candidates.is_empty() {
            self.candidates.arrange();
            widest(Meet { leaf: &*self, task, found });
            self.candidates.clear();
        }
    }

    /// Reports a pair that meets by its key, if it is near. A pair that meets by its X too counts there.
    #[inline(always)]
    fn compare(
        &self,
        task: &Task<'_, F>,
        candidate: &Candidate<F>,
        entry: &Entry<F>,
        found: &mut dyn FnMut(Hit),
    ) {
        let differing = candidate.fingerprint ^ entry.fingerprint;
        let distance = differing.distance(F::default());
        let k = task.reach.k;
        if distance > k {
            return;
        }
        if candidate.key >> self.blocks.width == 1 {
            let left = k - self.blocks.prefix(differing).distance(F::default());
            if self.blocks.x(differing).count_ones() <= thresholds(left).0 {
                return;
            }
        }
        let Candidate { run, at, .. } = *candidate;
        found(Hit { batch: entry.place, run, at, distance: distance as u8 });
    }
}

/// Begins to bring the block at `first` into the cache.
#[inline(always)]
fn fetch<F>(fingerprints: &[F], first: usize) {
    (first..first + BLOCK).step_by(64 / size_of::<F>()).for_each(|at| prefetch(fingerprints, at));
}

/// The places of what was found in a block, ascending.
#[inline(always)]
fn places(found: FoundBits) -> impl Iterator<Item = usize> {
    (0..).step_by(64).zip(found).flat_map(|(first, mut word)| {
        std::iter::from_fn(move || {
            let place = first + word.trailing_zeros() as usize;
            let more = word != 0;
            word &= word.wrapping_sub(1);
            more.then_some(place)
        })
    })
}

struct Meet<'a, 't, F> {
    leaf: &'a Leaf<F>,
    task: &'a Task<'t, F>,
    found: &'a mut dyn FnMut(Hit),
}

impl<F: Fingerprint> Multiversion for Meet<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Meet { leaf, task, found } = self;
        for (keys, entries) in leaf.keys.chunks(BLOCK).zip(leaf.entries.chunks(BLOCK)) {
            for at in places(leaf.candidates.keys.any_of([keys])) {
                let entry = &task.level.entries[entries[at] as usize];
                leaf.candidates.with(keys[at], |candidate| {
                    let apart = low((candidate.fingerprint ^ entry.fingerprint) >> task.tail);
                    if apart.count_ones() <= task.reach.k {
                        leaf.compare(task, candidate, entry, found);
                    }
                });
            }
        }
    }
}

/// A fingerprint that has one of the keys, in the list of those that may have the same.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate<F> {
    fingerprint: F,
    key: u32,
    run: u32,
    at: u32,
    next: u32,
}

#[derive(Debug, Default)]
struct Candidates<F> {
    /// The first `count` are candidates, the others are memory for more.
    all: Vec<Candidate<F>>,
    count: usize,
    /// Where each list begins, counted from 1. A power of two.
    heads: Vec<u32>,
    /// The keys of all candidates, and a few others.
    keys: Bitmap,
}

impl<F: Copy + Default> Candidates<F> {
    /// Forgets all, and makes room for about as many as there are marked keys.
    fn reset(&mut self, marked: usize) {
        let room = marked.next_power_of_two().max(FEWEST);
        self.heads.resize(room, 0);
        self.all.resize(room, Candidate::default());
        self.count = 0;
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the fingerprints of another block may have no room.
    fn is_full(&self) -> bool {
        self.count + 2 * BLOCK >= self.all.len()
    }

    /// Notes fingerprint `at` of `run` as a candidate if `is` says so. The processor cannot predict
    /// `is`, so the code has no branch.
    #[inline(always)]
    fn note(&mut self, is: bool, fingerprint: F, key: u32, run: u32, at: u32) {
        self.all[self.count] = Candidate { fingerprint, key, run, at, next: 0 };
        self.count += usize::from(is);
    }

    fn arrange(&mut self) {
        self.keys.reset(SPARSITY * self.count);
        self.heads.fill(0);
        let bits = self.heads.len().ilog2();
        for (candidate, number) in self.all[..self.count].iter_mut().zip(1..) {
            self.keys.insert(candidate.key);
            let head = &mut self.heads[head(candidate.key, bits)];
            candidate.next = std::mem::replace(head, number);
        }
    }

    #[inline(always)]
    fn with(&self, key: u32, mut each: impl FnMut(&Candidate<F>)) {
        let mut next = self.heads[head(key, self.heads.len().ilog2())];
        while let Some(at) = next.checked_sub(1) {
            let candidate = &self.all[at as usize];
            next = candidate.next;
            if candidate.key == key {
                each(candidate);
            }
        }
    }

    fn clear(&mut self) {
        self.count = 0;
    }
}

/// Which of 2^`bits` lists a key is in, by its hash: the last bits of the keys may all be the same.
#[inline(always)]
fn head(key: u32, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9) >> (u32::BITS - bits)) as usize
}

/// The two blocks that follow a prefix. The keys of X count from 0, those of Y from 2^width.
#[derive(Clone, Copy, Debug, Default)]
struct Blocks {
    width: u32,
    x_shift: u32,
    y_shift: u32,
}

impl Blocks {
    /// Two blocks of `width` of the first of `rest` bits, before the `tail`; Y is narrower if no more is left.
    fn of(rest: u32, tail: u32, width: u32) -> Blocks {
        let x_shift = rest - width;
        Blocks { width, x_shift, y_shift: x_shift.saturating_sub(width).max(tail) }
    }

    fn y_width(self) -> u32 {
        self.x_shift - self.y_shift
    }

    fn keys(self) -> usize {
        2 << self.width
    }

    #[inline(always)]
    fn x<F: Fingerprint>(self, fingerprint: F) -> u32 {
        low(fingerprint >> self.x_shift) & ((1 << self.width) - 1)
    }

    #[inline(always)]
    fn y<F: Fingerprint>(self, fingerprint: F) -> u32 {
        low(fingerprint >> self.y_shift) & ((1 << self.y_width()) - 1) | 1 << self.width
    }

    /// What is left of a fingerprint before the blocks.
    fn prefix<F: Fingerprint>(self, fingerprint: F) -> F {
        fingerprint >> (self.x_shift + self.width - 1) >> 1
    }
}

#[derive(Debug)]
struct BlockKeys {
    x: [u32; BLOCK],
    y: [u32; BLOCK],
}

impl Default for BlockKeys {
    fn default() -> BlockKeys {
        BlockKeys { x: [0; BLOCK], y: [0; BLOCK] }
    }
}

struct Cut<'a, F> {
    blocks: Blocks,
    fingerprints: &'a [F],
    keys: &'a mut BlockKeys,
}

impl<F: Fingerprint> Multiversion for Cut<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Cut { blocks, fingerprints, keys } = self;
        let places = keys.x.iter_mut().zip(&mut keys.y);
        for ((x, y), &fingerprint) in places.zip(fingerprints) {
            (*x, *y) = (blocks.x(fingerprint), blocks.y(fingerprint));
        }
    }
}
