//! A link: two pages that a match has joined, as the numbers of their rows.

use serde::{Deserialize, Serialize};

use crate::runs::Record;

/// A match between two pages of a clustering. Pages are numbered in their order, so a number is a row of
/// clusters.tsv, from 0. Ordered by both rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Link {
    /// The page that was new when the match was found.
    pub(super) new: u32,
    /// The page that it is near.
    pub(super) existing: u32,
    /// The distance of both, in bits.
    pub(super) apart: u32,
    /// Whether it is the verdict: `new` was dropped in favour of `existing`.
    pub(super) is_verdict: bool,
}

impl Link {
    /// Takes in another match between the same pages.
    pub(super) fn merge(&mut self, other: Link) {
        self.apart = self.apart.min(other.apart);
        self.is_verdict |= other.is_verdict;
    }

    /// Whether both are between the same pages.
    pub(super) fn is_between_those_of(&self, other: &Link) -> bool {
        (self.new, self.existing) == (other.new, other.existing)
    }
}

impl Record for Link {}
