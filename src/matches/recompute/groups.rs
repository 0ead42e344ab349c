//! What a recomputation asks of a batch: its groups, and how near its pages are to others.

use super::expected::{Joined, Kept};
use crate::error::Result;
use crate::matches::frequent::{Frequent, MostFrequent};
use crate::matches::nearness::Nearness;
use crate::matches::numbers::{Group, IdRank, KeepRank};
use crate::matches::similarity::Similarity;
use crate::store::Dated;

/// A batch in groups of pages that no comparison can tell apart, to be compared again.
pub(crate) trait Groups {
    /// How near pages are.
    type Distance: Nearness;
    /// Looks up rows of a segment of the store.
    type Rows;

    /// How many pages there are.
    fn pages(&self) -> u32;

    /// How many groups they are in.
    fn groups(&self) -> u32;

    /// The group of a page.
    fn group_of(&self, page: IdRank) -> Group;

    /// The first page of a group in keep order, and its place in that order.
    fn leader(&self, group: Group) -> (IdRank, KeepRank);

    /// How many pages of a group have an id before that of `page`.
    fn before(&self, group: Group, page: IdRank) -> u64;

    /// The share that a page which is `distance` away holds of another one, as the verdicts show it; empty where no share is known.
    fn held(&self, _distance: Self::Distance) -> String {
        String::new()
    }

    /// The groups with high counts, as the report lists them; none if the report has no list.
    /// `matches` turns a count into a number of matches.
    fn listed(
        &self,
        _most: &MostFrequent,
        _matches: impl Fn(u128) -> u128,
    ) -> Result<Vec<Frequent>> {
        Ok(Vec::new())
    }

    /// What the groups of sampled pages are near to.
    fn join(&self, sample: &[IdRank], kept: &Kept) -> Result<Joined<Self::Distance>>;

    /// The rows of a segment of the store.
    fn rows_of(&self, dated: &Dated) -> Result<Self::Rows>;

    /// How near a page is to another one, or why the two do not match.
    fn compare(&self, new: IdRank, existing: IdRank) -> Result<Measured<Self::Distance>>;

    /// How near a page is to a row of the store, or why the two do not match.
    fn compare_row(
        &self,
        new: IdRank,
        rows: &mut Self::Rows,
        row: u64,
    ) -> Result<Measured<Self::Distance>>;
}

/// How near two pages are and, where a check confirmed that, how alike; or why they do not match.
pub(crate) type Measured<D> = Result<(D, Option<Similarity>), &'static str>;
