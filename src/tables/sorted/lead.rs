//! The lead: the block that several keys begin with, and how it divides the fingerprints into groups.

use std::ops::Range;

use crate::fingerprint::Fingerprint;

/// About how many fingerprints a group has, as a power of two.
const GROUP_BITS: u32 = 10;

/// How many shares the groups of one lead are divided into, as a power of two.
const SHARE_BITS: u32 = 3;

/// About how many fingerprints a share has at most, unless another number is set.
pub(super) const MOST: u64 = 1 << 24;

/// What several keys begin with.
#[derive(Debug)]
pub(super) struct Lead<F> {
    pub(super) mask: F,
    /// Which keys begin with it.
    pub(super) keys: Range<usize>,
    /// How many groups there are and how many shares, as powers of two.
    pub(super) group_bits: u32,
    pub(super) share_bits: u32,
}

impl<F: Fingerprint> Lead<F> {
    /// How many shares its groups are divided into.
    pub(super) fn shares(&self) -> u32 {
        1 << self.share_bits
    }
}

/// How many groups and how many shares, as powers of two, `count` fingerprints have under a lead of
/// `lead_bits` bits, if a share has about `most` at most.
pub(super) fn bits(count: u64, lead_bits: u32, most: u64) -> (u32, u32) {
    let count = count.max(1).ilog2();
    let groups = count.saturating_sub(GROUP_BITS).clamp(1, lead_bits);
    (groups, count.saturating_sub(most.max(1).ilog2()).max(SHARE_BITS).min(groups))
}
