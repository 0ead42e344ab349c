//! The lead: the block that several keys begin with, and how it divides the fingerprints into groups.

use std::ops::Range;

use crate::fingerprint::Fingerprint;
use crate::progress::{self, Activity};
use crate::tables::buckets::{Buckets, Entry, hash};

/// About how many fingerprints a group has, as a power of two.
const GROUP_BITS: u32 = 10;

/// How many shares the groups of one lead are divided into, as a power of two.
const SHARE_BITS: u32 = 3;

/// About how many fingerprints of the batch one of several parts has at least, as a power of two.
const PART_BITS: u32 = 14;

/// About how many fingerprints a share has at most, unless another number is set.
pub(super) const MOST: u64 = 1 << 24;

/// How many fingerprints are picked from at a time.
const PICK: usize = 1024;

/// How many parts the leads are divided among.
pub(super) const TURNS: u32 = 4;

/// What several keys begin with.
#[derive(Debug)]
pub(super) struct Lead<F> {
    pub(super) mask: F,
    pub(super) keys: Range<usize>,
    /// How many groups there are and how many shares, as powers of two.
    pub(super) group_bits: u32,
    pub(super) share_bits: u32,
    /// Among how many parts of the join of the batch with itself the shares are divided, as a power of two.
    pub(super) part_bits: u32,
}

impl<F: Fingerprint> Lead<F> {
    pub(super) fn shares(&self) -> u32 {
        1 << self.share_bits
    }

    /// The shares of a part. How many there are depends on the memory; what they have together does not.
    pub(super) fn shares_of(&self, part: u32) -> Range<u32> {
        let each = self.share_bits - self.part_bits;
        let parts = 1 << self.part_bits;
        part.min(parts) << each..(part + 1).min(parts) << each
    }

    /// Gathers in `buckets` what of `runs` falls into a share of the groups, group by group.
    pub(super) fn gather(
        &self,
        share: u32,
        runs: &[&[F]],
        picked: &mut Vec<Entry<F>>,
        buckets: &mut Buckets<F>,
    ) {
        progress::tick(Activity::Sorting);
        picked.clear();
        let mut first = 0;
        for run in runs {
            for (block, first) in run.chunks(PICK).zip((first..).step_by(PICK)) {
                self.pick(share, block, first, picked);
            }
            first += run.len() as u32;
        }
        let shift = 64 - self.group_bits;
        let groups = 1 << (self.group_bits - self.share_bits);
        let group = |fingerprint| (hash(fingerprint & self.mask) >> shift) as usize & (groups - 1);
        buckets.sort(picked.iter().copied(), groups, group);
    }

    /// Adds those of `block`, which begins at place `first`, that fall into a share.
    fn pick(&self, share: u32, block: &[F], first: u32, picked: &mut Vec<Entry<F>>) {
        let mask = self.mask;
        let shift = 64 - self.share_bits;
        let start = picked.len();
        let mut count = start;
        picked.resize(start + block.len() + 1, Entry::default());
        for (&fingerprint, place) in block.iter().zip(first..) {
            picked[count] = Entry { fingerprint, place };
            count += usize::from(hash(fingerprint & mask) >> shift == u64::from(share));
        }
        picked.truncate(count);
    }
}

/// The number of parts of the join of a batch of so many fingerprints with itself. It depends on nothing else.
pub(in crate::tables) fn parts(count: usize) -> u32 {
    match count as u64 {
        0 => 0,
        count => TURNS << part_bits(count, u32::MAX),
    }
}

/// Among how many parts the shares of a lead of `lead_bits` bits are divided, as a power of two. A part that is small
/// would only list the pairs of a crowd once more.
pub(super) fn part_bits(count: u64, lead_bits: u32) -> u32 {
    let (_, share_bits) = bits(count, lead_bits, MOST);
    share_bits.min(count.max(1).ilog2().saturating_sub(PART_BITS))
}

/// How many groups and how many shares, as powers of two, `count` fingerprints have under a lead of
/// `lead_bits` bits, if a share has about `most` at most.
pub(super) fn bits(count: u64, lead_bits: u32, most: u64) -> (u32, u32) {
    let count = count.max(1).ilog2();
    let groups = count.saturating_sub(GROUP_BITS).clamp(1, lead_bits);
    (groups, count.saturating_sub(most.max(1).ilog2()).max(SHARE_BITS).min(groups))
}
