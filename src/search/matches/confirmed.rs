//! What becomes of candidates: the pairs that are confirmed, from which verdicts are drawn, the certificates of what was done to confirm them,
//! and which of them are written.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::coverage::{Coverage, Coverages};
use super::numbers::Group;
use super::pair::Pair;
use super::similarity::Confirm;
use crate::error::{Error, Kind, Result, named};
use crate::runs::{Record, Sorter};

/// The usual limit on the rows of matches.tsv with [`Detail::All`].
pub const MAX_MATCHES: u64 = 100_000_000;

pub(super) const BEST: &str = "write one row for each dropped page";
pub(super) const BEST_SETTING: &str = "matches best";

pub fn too_many(found: impl fmt::Display, most: u64) -> Error {
    Error::new(Kind::BadData, "there are more matches than may be written")
        .called("too-many-matches")
        .expected(format!("at most {most}"))
        .found(found)
        .help(format_args!("allow more, or {BEST}"))
        .settings(["max-matches", BEST_SETTING])
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    All,
    /// For each dropped page the pair that its verdict names.
    #[default]
    Best,
}

named!(pub Detail { All = "all", Best = "best" } or "there is no such detail of matches");

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

pub struct ConfirmedPairs {
    /// The pairs, and marks of crowds; in order, unless whole pages are compared and only verdicts are wanted.
    pub(super) pairs: Box<dyn Iterator<Item = Result<Confirmed>>>,
    /// With a check, the pairs that it confirmed or did not.
    pub(super) candidates: Option<Candidates>,
}

impl ConfirmedPairs {
    /// Those of a batch without group keys: every near pair matches.
    pub fn unchecked(found: impl Iterator<Item = Result<Pair>> + 'static) -> ConfirmedPairs {
        let matching = |pair: Pair| {
            let coverages = Coverages::mutual(Coverage::near(pair.distance));
            Confirmed { pair: pair.of_groups(), coverages }
        };
        let pairs = Box::new(found.map(move |pair| pair.map(matching)));
        ConfirmedPairs { pairs, candidates: None }
    }

    /// Those that a check has confirmed, or classes have, with the certificates of all windows of the batch.
    pub fn certified(
        pairs: Sorter<Confirmed>,
        certificates: &[Certificate],
        confirm: Option<Confirm>,
        detail: Detail,
    ) -> Result<ConfirmedPairs> {
        let mut candidates = Candidates::default();
        for certificate in certificates {
            candidates.pairs += certificate.candidates.pairs;
            candidates.left_out += certificate.candidates.left_out;
        }
        let is_whole = confirm.is_some_and(|confirm| confirm.check.is_whole());
        let pairs: Box<dyn Iterator<Item = Result<Confirmed>>> = match detail {
            Detail::Best if is_whole => Box::new(pairs.unsorted()?),
            // Two windows may both have a pair of groups of which each has one.
            _ => Box::new(pairs.sorted()?.distinct()),
        };
        Ok(ConfirmedPairs { pairs, candidates: confirm.map(|_| candidates) })
    }
}
