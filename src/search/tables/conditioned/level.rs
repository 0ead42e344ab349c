//! The fingerprints of the batch that are still within reach below one prefix.
//!
//! An example with k = 1 and digits of 2 bits. The level of the root holds the batch `00 10`, `01 11`, `11 01`, each with 1 error left,
//! in buckets by the first digit. The child with the prefix `00` holds what is within 1 error of `00` in the first digit, in
//! buckets by the errors that are left, then by the second digit:
//!
//! ```text
//! root   left 1:  [00] 0010   [01] 0111   [10]        [11] 1101
//! child  left 0:  [00]        [01]        [10]        [11] 0111     one error spent: 01 differs from 00 in one bit
//!        left 1:  [00]        [01]        [10] 0010   [11]
//! ```
//!
//! A level remembers the prefix that it was made for. Where one window of the store ends and the next window begins, both need
//! the same levels, so [`Level::refine`] does nothing if the level has that prefix already.

use std::ops::Range;
use std::sync::Arc;

use crate::fingerprint::Fingerprint;
use crate::tables::buckets::Entry;
use crate::tables::flips::Flips;

/// The largest distance for which the conditioned probe is made.
pub(in crate::tables) const COVERS: u32 = 7;

/// What a level holds: what of a batch is within reach below a prefix.
#[derive(Clone, Debug)]
pub(super) struct Prefix<F> {
    /// The same for everything that is made of one batch.
    pub(super) batch: Arc<()>,
    /// The last fingerprint with the prefix, and how many bits follow it.
    pub(super) high: F,
    pub(super) rest: u32,
}

impl<F: PartialEq> PartialEq for Prefix<F> {
    fn eq(&self, other: &Prefix<F>) -> bool {
        let Prefix { batch, high, rest } = other;
        Arc::ptr_eq(&self.batch, batch) && (&self.high, self.rest) == (high, *rest)
    }
}

/// The fingerprints of the batch that can still be within k of what has one prefix, in buckets: by how
/// many errors they have left behind the prefix, and then by the digit that follows it.
#[derive(Debug, Default)]
pub(super) struct Level<F> {
    pub(super) entries: Vec<Entry<F>>,
    /// The bucket of `left` and `digit` begins at `starts[left << bits | digit]`.
    starts: Vec<u32>,
    /// How many bits the digit has, and how many follow it.
    bits: u32,
    rest: u32,
    /// How far a fingerprint is shifted to bring its digit to the end: `rest`, but less than the width.
    shift: u32,
    /// What it was [refined](Level::refine) for.
    prefix: Option<Prefix<F>>,
}

impl<F: Fingerprint> Level<F> {
    /// The whole batch, which is sorted, below the empty prefix: `k` errors left.
    pub(super) fn root(batch: &[F], k: u32, bits: u32) -> Level<F> {
        let mut level = Level::default();
        let all = (0..).zip(batch).map(|(place, &fingerprint)| Entry { fingerprint, place });
        level.entries.extend(all);
        level.begin(k, bits, F::BITS - bits);
        batch.iter().for_each(|&fingerprint| level.count(k, fingerprint));
        level.sum();
        level
    }

    /// Makes this level the level of `prefix`: what of `parent` is within `reach`, in buckets by the next digit, of `next`
    /// bits. Does nothing if this level is the level of `prefix` already.
    pub(super) fn refine(
        &mut self,
        parent: &Level<F>,
        reach: &Reach<'_>,
        next: u32,
        prefix: Prefix<F>,
    ) {
        if self.prefix.as_ref() == Some(&prefix) {
            return;
        }
        self.prefix = Some(prefix);
        self.begin(reach.k, next, parent.rest_below(reach.bits) - next);
        parent.reach(reach, |left, bucket| {
            parent.entries[bucket].iter().for_each(|entry| self.count(left, entry.fingerprint));
        });
        self.sum();
        self.entries.resize(*self.starts.last().expect("an end") as usize, Entry::default());
        parent.reach(reach, |left, bucket| {
            for entry in &parent.entries[bucket] {
                let bucket = self.bucket(left, entry.fingerprint);
                self.entries[self.starts[bucket] as usize] = *entry;
                self.starts[bucket] += 1;
            }
        });
        // Every start has moved to where the next one was.
        let last = self.starts.len() - 1;
        self.starts.copy_within(..last, 1);
        self.starts[0] = 0;
    }

    fn begin(&mut self, k: u32, bits: u32, rest: u32) {
        self.bits = bits;
        self.rest = rest;
        self.shift = rest.min(F::BITS - 1);
        self.starts.clear();
        self.starts.resize(((k as usize + 1) << bits) + 1, 0);
    }

    pub(super) fn rest_below(&self, bits: u32) -> u32 {
        self.rest + self.bits - bits
    }

    #[inline]
    fn bucket(&self, left: u32, fingerprint: F) -> usize {
        let digit = low(fingerprint >> self.shift) as usize & ((1 << self.bits) - 1);
        (left as usize) << self.bits | digit
    }

    #[inline]
    fn count(&mut self, left: u32, fingerprint: F) {
        let bucket = self.bucket(left, fingerprint);
        self.starts[bucket] += 1;
    }

    /// Turns the counts of the buckets into the places where the buckets start.
    fn sum(&mut self) {
        let mut sum = 0;
        for start in &mut self.starts {
            sum += std::mem::replace(start, sum);
        }
    }

    /// Calls `each` for every bucket within reach: with the errors left behind the digit, and its range in `entries`.
    #[inline]
    pub(super) fn reach(&self, reach: &Reach<'_>, mut each: impl FnMut(u32, Range<usize>)) {
        let &Reach { flips, k, digit, bits } = reach;
        let finer = self.bits - bits;
        for left in 0..=k {
            let class = (left as usize) << self.bits;
            for off in 0..=left.min(bits) {
                for mask in flips.of(bits, off) {
                    let near = ((digit ^ mask) as usize) << finer;
                    let start = self.starts[class + near] as usize;
                    let end = self.starts[class + near + (1 << finer)] as usize;
                    if start < end {
                        each(left - off, start..end);
                    }
                }
            }
        }
    }
}

/// What is asked of a level: all that is within reach below one digit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach<'m> {
    pub(super) flips: &'m Flips,
    pub(super) k: u32,
    /// The digit, and its width: that of the level's digits or less.
    pub(super) digit: u32,
    pub(super) bits: u32,
}

#[inline]
pub(super) fn low<F: Fingerprint>(fingerprint: F) -> u32 {
    fingerprint.to_u128() as u32
}
