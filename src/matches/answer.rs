//! What is near to one page: the answer of an index, and that of a journal.

use super::similarity::Similarity;
use crate::store::Day;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The nearest pages, ordered by distance, id and day, up to the limit.
    pub near: Vec<NearPage>,
    /// How many more there are.
    pub more: u64,
    /// Whether the work was over before all was looked at: there may be pages that are nearer, and more of them.
    pub is_cut: bool,
}

impl Answer {
    /// Whether the keep rule drops the page: another one is near.
    #[must_use]
    pub fn drops(&self) -> bool {
        !self.near.is_empty() || self.more > 0
    }
}
