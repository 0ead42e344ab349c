//! A link: two pages that a match has joined, as the numbers of their rows.

use serde::{Deserialize, Serialize};

use crate::runs::Record;

/// A match between two pages of a clustering. Pages are numbered in their order, so a number is a row of
/// clusters.tsv, from 0. Ordered by both rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) new: u32,
    pub(super) existing: u32,
    /// The distance of both, in bits.
    pub(super) apart: u32,
    /// Whether it is the verdict: `new` was dropped as a duplicate of `existing`.
    pub(super) is_verdict: bool,
}

impl Link {
    pub(super) fn merge(&mut self, other: Link) {
        self.apart = self.apart.min(other.apart);
        self.is_verdict |= other.is_verdict;
    }

    pub(super) fn is_between_those_of(&self, other: &Link) -> bool {
        (self.new, self.existing) == (other.new, other.existing)
    }
}

impl Record for Link {}
