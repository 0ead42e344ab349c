//! What is near to a page, in the store and in its journal, and the verdict on it.

use crate::error::named;
use crate::matches::{Answer, NearPage};

/// The verdict on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// No page is near.
    Keep,
    /// The work was over before a near page was found; whether there is one is not known.
    Unknown,
    /// A page is near.
    Drop,
    /// The page has no word, and so no fingerprint.
    Empty,
    /// A page of this id was remembered since the last commit.
    Repeated,
}

named!(pub Verdict {
    Keep = "keep",
    Unknown = "unknown",
    Drop = "drop",
    Empty = "empty",
    Repeated = "repeated",
});

/// What is near to a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The nearest pages by distance, id and day, up to the limit.
    pub near: Vec<NearPage>,
    /// How many more there are.
    pub more: u64,
    /// Whether the work was over before all was looked at: there may be pages that are nearer, and more of them.
    pub is_cut: bool,
    /// The verdict.
    pub verdict: Verdict,
}

impl Found {
    pub(super) const EMPTY: Found =
        Found { near: Vec::new(), more: 0, is_cut: false, verdict: Verdict::Empty };

    /// What the journal and the store have found, at most `limit` pages. A page that is being committed may be in
    /// both.
    pub(super) fn of(remembered: Answer, held: Answer, limit: usize) -> Found {
        let Answer { mut near, more: waiting, is_cut: is_journal_cut } = remembered;
        let Answer { near: held, more, is_cut } = held;
        near.extend(held);
        near.sort_unstable();
        near.dedup();
        let more = waiting + more + near.len().saturating_sub(limit) as u64;
        near.truncate(limit);
        let is_cut = is_cut || is_journal_cut;
        let verdict = match (near.is_empty() && more == 0, is_cut) {
            (false, _) => Verdict::Drop,
            (true, false) => Verdict::Keep,
            (true, true) => Verdict::Unknown,
        };
        Found { near, more, is_cut, verdict }
    }
}
