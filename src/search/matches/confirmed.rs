//! What verdicts are drawn from: pairs of groups that can cover each other, and what was counted when they were confirmed.

use super::certificate::{Candidates, Certificate, Confirmed};
use super::coverage::{Coverage, Coverages};
use super::detail::Detail;
use super::pair::Pair;
use super::similarity::Confirm;
use crate::error::Result;
use crate::runs::Sorter;

/// The pairs of groups of a batch that match.
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
