//! What becomes of candidates: the pairs that are confirmed, and the certificates of what was done to confirm them.

use serde::{Deserialize, Serialize};

use super::coverage::Coverages;
use super::numbers::Group;
use super::pair::Pair;
use crate::runs::Record;

/// A pair of groups of which one can cover the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Confirmed {
    pub(super) pair: Pair<Group>,
    /// How well the existing group covers the new one, and the other way round.
    pub(super) coverages: Coverages,
}

impl Record for Confirmed {}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidates {
    pub(super) pairs: u128,
    /// Pairs of groups that the bound left out.
    pub(super) left_out: u64,
}

/// What became of a piece of work.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Certificate {
    /// The fingerprints of a window that was opened.
    pub fingerprints: u32,
    /// How many pairs that were found were taken apart.
    pub taken: u64,
    pub candidates: Candidates,
}
