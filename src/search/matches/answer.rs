//! What is asked of one page, and what is near to it: the answer of an index, and that of a journal.

use super::confirm;
use super::coverage::Covering;
use super::group_key::GroupKey;
use super::similarity::{Confirm, Similarity};
use crate::store::{Day, Details};

#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub fingerprint: u128,
    /// What is known of its text: its anchors, by which more candidates are found, and its class and its sketch, by which they are
    /// confirmed. Without these, as for a ready-made fingerprint, all that is within the distance is near.
    pub page: Option<&'a Details>,
}

impl<'a> Question<'a> {
    /// The anchors by which candidates are found that this check confirms.
    pub fn anchors(&self, check: Option<Confirm>) -> Option<&'a [u8]> {
        let confirms = check.is_some_and(|check| check.has_direction());
        self.page.filter(|_| confirms).map(|page| &page.anchors[..])
    }

    /// With how many keys of one fingerprint and one segment the page is compared, as in a join.
    pub(crate) fn most_keys(check: Option<Confirm>) -> usize {
        match check {
            Some(check) if check.has_direction() => confirm::MOST_MET,
            _ => usize::MAX,
        }
    }

    /// A page at this distance as one that covers the page that is asked for; none if it cannot.
    pub(crate) fn stand_in(
        &self,
        candidate: GroupKey<'_>,
        distance: u8,
        check: Option<&Confirm>,
    ) -> Option<Covering> {
        let Some(page) = self.page else { return Some(Covering::default()) };
        let asked = GroupKey { class: page.class, signature: &page.check };
        let coverage = asked.compare(candidate, distance.into(), check).of_first?;
        Some(Covering { containment: check.map(|_| coverage.share()) })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearPage {
    pub distance: u8,
    pub id: String,
    /// Its day; none if it was remembered and no day of the store has it yet.
    pub day: Option<Day>,
    pub similarity: Option<Similarity>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The nearest pages, ordered by distance, id and day, up to the limit.
    pub near: Vec<NearPage>,
    pub more: u64,
    /// Whether the work was over before all was looked at: there may be pages that are nearer, and more of them.
    pub is_cut: bool,
}

impl Answer {
    /// Whether the keep rule drops the page: another one is near.
    pub fn drops(&self) -> bool {
        !self.near.is_empty() || self.more > 0
    }
}
