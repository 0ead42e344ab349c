//! The bottom of the walk: a few fingerprints of the batch against all that have one prefix.

use std::ops::Range;

use super::cost::thresholds;
use super::level::{Entry, Level, Reach, low};
use crate::fingerprint::Fingerprint;
use crate::hamming::multiversion::{Multiversion, widest};
use crate::tables::hit::Hit;

/// The fewest candidates that are held before they are verified.
const FEWEST_CANDIDATES: usize = 4096;

/// How many fingerprints are tested before those that passed are noted.
const BLOCK: usize = 256;

/// How many entries are marked at once, which bounds the keys beyond the most there may be.
const AT_ONCE: usize = 64;

/// The two blocks that follow a prefix, and the keys they give a fingerprint: X counts from 0, Y from
/// 2^width.
#[derive(Clone, Copy, Debug, Default)]
struct Blocks {
    width: u32,
    x_shift: u32,
    y_shift: u32,
}

impl Blocks {
    /// Of the first of `rest` bits, those before the `tail`, two blocks of `width`; Y is narrower where
    /// no more is left.
    fn of(rest: u32, tail: u32, width: u32) -> Blocks {
        let x_shift = rest - width;
        Blocks { width, x_shift, y_shift: x_shift.saturating_sub(width).max(tail) }
    }

    fn y_width(self) -> u32 {
        self.x_shift - self.y_shift
    }

    #[inline]
    fn x<F: Fingerprint>(self, fingerprint: F) -> u32 {
        low(fingerprint >> self.x_shift) & ((1 << self.width) - 1)
    }

    #[inline]
    fn y<F: Fingerprint>(self, fingerprint: F) -> u32 {
        low(fingerprint >> self.y_shift) & ((1 << self.y_width()) - 1) | 1 << self.width
    }
}

/// A key that leads to an entry of the level.
#[derive(Clone, Copy, Debug)]
struct Key {
    key: u32,
    entry: u32,
    /// The last bits of the entry before the tail, which tell most pairs that are too far apart.
    tag: u32,
}

/// A fingerprint that has one of the keys, in the list of those that may have the same.
#[derive(Clone, Copy, Debug)]
struct Candidate<F> {
    fingerprint: F,
    key: u32,
    next: u32,
    run: u32,
    at: u32,
}

/// Memory to join leaves in.
#[derive(Debug)]
pub(super) struct Leaf<F> {
    blocks: Blocks,
    /// A bit for each key; all 0 between leaves.
    bitmap: Vec<u64>,
    keys: Vec<Key>,
    candidates: Vec<Candidate<F>>,
    /// Where each list of candidates begins, counted from 1; all 0 between verifications.
    heads: Vec<u32>,
}

impl<F> Default for Leaf<F> {
    fn default() -> Leaf<F> {
        Leaf {
            blocks: Blocks::default(),
            bitmap: Vec::new(),
            keys: Vec::new(),
            candidates: Vec::new(),
            heads: Vec::new(),
        }
    }
}

/// What a leaf joins: of the batch, what is within `reach` on a level; and slices of the runs, which
/// all have the prefix of the reach.
pub(super) struct Task<'a, F> {
    pub(super) level: &'a Level<F>,
    pub(super) reach: Reach<'a>,
    /// The most bits in which a pair may differ; the reach counts those before the tail only.
    pub(super) within: u32,
    /// How many bits at the end are the tail.
    pub(super) tail: u32,
    pub(super) runs: &'a [&'a [F]],
    pub(super) slices: &'a [Range<usize>],
    /// The bits of X.
    pub(super) width: u32,
    /// The most keys in the bitmap at once.
    pub(super) most_keys: usize,
}

/// The bit of `key`, the lowest of what is returned.
#[inline]
fn bit(bitmap: &[u64], key: u32) -> u64 {
    bitmap[key as usize >> 6] >> (key & 63)
}

/// Writes down which fingerprints of `block` have one of their keys in the bitmap, and returns how many
/// they are.
struct Pass<'a, F> {
    blocks: Blocks,
    bitmap: &'a [u64],
    block: &'a [F],
    passed: &'a mut [u8; BLOCK],
}

impl<F: Fingerprint> Multiversion for Pass<'_, F> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Pass { blocks, bitmap, block, passed } = self;
        let mut count = 0;
        for (at, &fingerprint) in block.iter().enumerate() {
            let bits = bit(bitmap, blocks.x(fingerprint)) | bit(bitmap, blocks.y(fingerprint));
            passed[count % BLOCK] = at as u8;
            count += (bits & 1) as usize;
        }
        count
    }
}

impl<F: Fingerprint> Leaf<F> {
    /// Calls `found` once for each pair within k before the tail and within the limit of the whole.
    pub(super) fn join(&mut self, task: &Task<'_, F>, found: &mut dyn FnMut(Hit)) {
        self.blocks = Blocks::of(task.level.rest_below(task.reach.bits), task.tail, task.width);
        let words = (2_usize << self.blocks.width).div_ceil(64);
        self.bitmap.resize(words.max(self.bitmap.len()), 0);
        task.level.reach(&task.reach, |left, bucket| {
            for start in bucket.clone().step_by(AT_ONCE) {
                self.mark(task, left, start..bucket.end.min(start + AT_ONCE));
                if self.keys.len() >= task.most_keys {
                    self.scan(task, found);
                }
            }
        });
        self.scan(task, found);
    }

    /// Adds the keys of the entries of `bucket`, which have `left` errors left.
    #[inline]
    fn mark(&mut self, task: &Task<'_, F>, left: u32, bucket: Range<usize>) {
        let blocks = self.blocks;
        let (x, y) = thresholds(left);
        self.add(task, bucket.clone(), x, blocks.width, |entry| blocks.x(entry));
        if let Some(y) = y {
            self.add(task, bucket, y, blocks.y_width(), |entry| blocks.y(entry));
        }
    }

    /// Adds, for every entry of `bucket`, all keys within `off` bits of its own in a block of `width`
    /// bits.
    #[inline]
    fn add(
        &mut self,
        task: &Task<'_, F>,
        bucket: Range<usize>,
        off: u32,
        width: u32,
        key: impl Fn(F) -> u32,
    ) {
        let bitmap = &mut self.bitmap[..];
        for mask in (0..=off).flat_map(|off| task.reach.flips.of(width, off)) {
            let first = bucket.start as u32;
            let entries = task.level.entries[bucket.clone()].iter().zip(first..);
            self.keys.extend(entries.map(|(entry, at)| {
                let key = key(entry.fingerprint) ^ mask;
                bitmap[key as usize >> 6] |= 1 << (key & 63);
                Key { key, entry: at, tag: low(entry.fingerprint >> task.tail) }
            }));
        }
    }

    /// Puts the slices past the bitmap, verifies what passes, and clears the bitmap.
    fn scan(&mut self, task: &Task<'_, F>, found: &mut dyn FnMut(Hit)) {
        if self.keys.is_empty() {
            return;
        }
        let room = self.keys.len().next_power_of_two().max(FEWEST_CANDIDATES);
        self.heads.resize(room.max(self.heads.len()), 0);
        for (run, slice) in (0..).zip(task.slices) {
            let first = slice.start as u32;
            let fingerprints = &task.runs[run as usize][slice.clone()];
            for (block, first) in fingerprints.chunks(BLOCK).zip((first..).step_by(BLOCK)) {
                if self.candidates.len() + 2 * BLOCK > room {
                    self.verify(task, found);
                }
                self.sift(block, run, first, room);
            }
        }
        self.verify(task, found);
        for key in self.keys.drain(..) {
            self.bitmap[key.key as usize >> 6] = 0;
        }
    }

    /// Notes the candidates of `block`, which begins at `first` of run `run`.
    fn sift(&mut self, block: &[F], run: u32, first: u32, room: usize) {
        let Leaf { blocks, bitmap, candidates, heads, .. } = self;
        let bitmap = &bitmap[..(2_usize << blocks.width).div_ceil(64)];
        let mut passed = [0; BLOCK];
        let count = widest(Pass { blocks: *blocks, bitmap, block, passed: &mut passed });
        for &at in &passed[..count] {
            let fingerprint = block[usize::from(at)];
            for key in [blocks.x(fingerprint), blocks.y(fingerprint)] {
                if bit(bitmap, key) & 1 == 1 {
                    let head = &mut heads[key as usize & (room - 1)];
                    let next = std::mem::replace(head, candidates.len() as u32 + 1);
                    let at = first + u32::from(at);
                    candidates.push(Candidate { fingerprint, key, next, run, at });
                }
            }
        }
    }

    /// Compares every candidate with the entries that gave its key, and forgets the candidates.
    fn verify(&mut self, task: &Task<'_, F>, found: &mut dyn FnMut(Hit)) {
        if self.candidates.is_empty() {
            return;
        }
        let last = self.keys.len().next_power_of_two().max(FEWEST_CANDIDATES) - 1;
        widest(Meet { leaf: &*self, task, last, found });
        for candidate in self.candidates.drain(..) {
            self.heads[candidate.key as usize & last] = 0;
        }
    }

    /// Reports a pair that meets by `key`, unless it is too far apart. A pair that meets by its Y may
    /// meet by its X as well, and then counts there.
    #[inline]
    fn compare(
        &self,
        task: &Task<'_, F>,
        candidate: &Candidate<F>,
        Key { key, entry, .. }: Key,
        found: &mut dyn FnMut(Hit),
    ) {
        let &Entry { fingerprint, place } = &task.level.entries[entry as usize];
        let differing = candidate.fingerprint ^ fingerprint;
        let distance = differing.distance(F::default());
        let k = task.reach.k;
        if distance > task.within || (differing >> task.tail).distance(F::default()) > k {
            return;
        }
        if key >> self.blocks.width == 1 {
            let prefix = differing >> (self.blocks.x_shift + self.blocks.width - 1) >> 1;
            let left = k - prefix.distance(F::default());
            if self.blocks.x(differing).count_ones() <= thresholds(left).0 {
                return;
            }
        }
        let Candidate { run, at, .. } = *candidate;
        found(Hit { batch: place, run, at, distance: distance as u8 });
    }
}

/// Compares every candidate with the entries that gave its key; `last` is the last of the lists in use.
struct Meet<'a, 't, F> {
    leaf: &'a Leaf<F>,
    task: &'a Task<'t, F>,
    last: usize,
    found: &'a mut dyn FnMut(Hit),
}

impl<F: Fingerprint> Multiversion for Meet<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Meet { leaf, task, last, found } = self;
        for key in &leaf.keys {
            let mut next = leaf.heads[key.key as usize & last];
            while let Some(at) = next.checked_sub(1) {
                let candidate = &leaf.candidates[at as usize];
                next = candidate.next;
                let apart = (low(candidate.fingerprint >> task.tail) ^ key.tag).count_ones();
                if candidate.key == key.key && apart <= task.reach.k {
                    leaf.compare(task, candidate, *key, found);
                }
            }
        }
    }
}
