//! What is near to a page, in the store and in its journal, and the verdict on it.

use crate::index::Answer;
use crate::journal::NearInJournal;
use crate::matches::Similarity;
use crate::store::Day;

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

impl Verdict {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Keep => "keep",
            Verdict::Unknown => "unknown",
            Verdict::Drop => "drop",
            Verdict::Empty => "empty",
            Verdict::Repeated => "repeated",
        }
    }
}

/// A page that is near.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearPage {
    /// The number of bits in which it differs.
    pub distance: u8,
    /// Its id.
    pub id: String,
    /// Its day; none if it was remembered and no day of the store has it yet.
    pub day: Option<Day>,
    /// How alike the texts are, where that was checked.
    pub similarity: Option<Similarity>,
}

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
    /// Nothing, for a page without a fingerprint.
    pub(super) const EMPTY: Found =
        Found { near: Vec::new(), more: 0, is_cut: false, verdict: Verdict::Empty };

    /// What the journal and the store have found, at most `limit` pages. A page that is being committed may be in
    /// both.
    pub(super) fn of(remembered: NearInJournal, held: Answer, limit: usize) -> Found {
        let NearInJournal { near: remembered, more: waiting, is_cut: is_journal_cut } = remembered;
        let Answer { near: held, more, is_cut } = held;
        let remembered = remembered.into_iter().map(|it| NearPage {
            distance: it.distance,
            id: it.id,
            day: it.day,
            similarity: it.similarity,
        });
        let held = held.into_iter().map(|it| NearPage {
            distance: it.distance,
            id: it.id,
            day: Some(it.day),
            similarity: it.similarity,
        });
        let mut near: Vec<NearPage> = remembered.chain(held).collect();
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
