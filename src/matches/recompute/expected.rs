//! What a sampled group is near to, and the verdict that follows.

use std::collections::HashMap;

use super::replaced::Going;
use crate::error::Result;
use crate::matches::nearness::Nearness;
use crate::matches::numbers::{Group, IdRank, KeepRank, Number};
use crate::matches::origin::Origin;
use crate::runs::Sorter;
use crate::store::Day;

/// The page that the output keeps of each group. `None` for a group of which the output keeps no
/// page.
pub(crate) type Kept = [Option<IdRank>];

/// What the join of a sample finds.
pub(crate) struct Joined<D> {
    /// For each group of the sample, in the order of groups.
    pub(crate) expected: Vec<Expected<D>>,
    /// How many pairs the probe finds: each pair within the batch once.
    pub(crate) pairs: u64,
    /// With a check, how many pairs of documents are within the distance.
    pub(crate) candidates: Option<u128>,
    /// The pages of the store that kept pages of the sample hold, where a check tells that.
    pub(crate) going: Sorter<Going>,
}

/// What the join finds for a group.
#[derive(Debug)]
pub(crate) struct Expected<D> {
    pub(crate) group: Group,
    /// How many pages of the store are near.
    pub(crate) held: u128,
    /// The nearest of them: distance, id and day.
    nearest_held: Option<(D, String, Day)>,
    /// The nearest kept page of other groups.
    nearest_kept: Option<(D, IdRank)>,
    /// Whether a kept page of another group comes before the group in keep order.
    crowded_out: bool,
    /// The near groups of the batch, if all matches were written.
    pub(super) near: Vec<Group>,
}

impl<D: Nearness> Expected<D> {
    /// What a group is near to: nothing so far.
    pub(crate) fn of(group: Group) -> Expected<D> {
        Expected {
            group,
            held: 0,
            nearest_held: None,
            nearest_kept: None,
            crowded_out: false,
            near: Vec::new(),
        }
    }

    /// Takes a page of the store as the nearest page, if the page comes before the nearest page so
    /// far.
    pub(crate) fn offer(
        &mut self,
        distance: D,
        page: impl FnOnce() -> Result<(String, Day)>,
    ) -> Result<()> {
        let nearest = &mut self.nearest_held;
        if nearest.as_ref().is_some_and(|nearest| nearest.0 < distance) {
            return Ok(());
        }
        let (id, day) = page()?;
        let next = (distance, id, day);
        if nearest.as_ref().is_none_or(|nearest| next < *nearest) {
            *nearest = Some(next);
        }
        Ok(())
    }

    /// Takes a second group of the batch that matches the group. With `all`, the second group
    /// counts for the number of rows. `turns` are the places in keep order of the group and of the
    /// second group. `distance` says how well the second group stands for the group; `None` if the
    /// second group cannot.
    pub(crate) fn meet(
        &mut self,
        kept: &Kept,
        all: bool,
        turns: [KeepRank; 2],
        other: Group,
        distance: Option<D>,
    ) {
        if all {
            self.near.push(other);
        }
        if let (Some(page), Some(distance)) = (kept[other.index()], distance) {
            let next = (distance, page);
            let nearest = self.nearest_kept.get_or_insert(next);
            *nearest = next.min(*nearest);
            self.crowded_out |= turns[1] < turns[0];
        }
    }

    /// The nearest kept page of the batch.
    fn nearest_kept(&self, kept: &Kept) -> Option<(D, IdRank)> {
        let own = kept[self.group.index()].map(|kept| (D::SAME, kept));
        [own, self.nearest_kept].into_iter().flatten().min()
    }

    /// The page of the batch that a verdict may name.
    pub(super) fn named(&self, kept: &Kept) -> Option<IdRank> {
        self.nearest_kept(kept).map(|(_, page)| page)
    }

    /// The verdict of the keep rule on a page of the group that this `leader` leads: `None` if it is kept, else the page it is dropped for,
    /// as the verdicts name it. `names` has the ids of the pages of the batch that are named. An inner error says why the
    /// kept pages of the output cannot be those of the rule.
    pub(super) fn verdict(
        &self,
        page: IdRank,
        leader: IdRank,
        kept: &Kept,
        names: &HashMap<IdRank, String>,
        held: impl Fn(D) -> String,
    ) -> Result<Option<[String; 4]>, &'static str> {
        let own = kept[self.group.index()];
        if let Some(what) = self.contradiction(page, leader, own) {
            return Err(what);
        }
        if own == Some(page) {
            return Ok(None);
        }
        Ok(Some(match (&self.nearest_held, self.nearest_kept(kept)) {
            // At equal distances the store's page comes first.
            (Some((distance, id, day)), kept) if kept.is_none_or(|kept| *distance <= kept.0) => {
                [id.clone(), distance.to_string(), day.to_string(), held(*distance)]
            }
            (_, Some((distance, page))) => {
                let against = Origin::Batch.to_string();
                [names[&page].clone(), distance.to_string(), against, held(distance)]
            }
            _ => unreachable!("a page is dropped for one that is near"),
        }))
    }

    /// Why a group with this `leader` cannot have this page `kept`, if it cannot.
    fn contradiction(
        &self,
        page: IdRank,
        leader: IdRank,
        kept: Option<IdRank>,
    ) -> Option<&'static str> {
        let is_near = self.nearest_held.is_some() || self.crowded_out;
        match kept {
            None if self.nearest_held.is_none() && !self.crowded_out => Some(
                "the page is dropped, but no page of the store and no kept page that comes before it is \
                 near",
            ),
            None => None,
            Some(kept) if is_near && kept == page => {
                Some("the page is kept, but it is near one that is held or kept")
            }
            Some(kept) if kept != leader => {
                Some("of pages that are copies another comes first in keep order")
            }
            Some(_) => None,
        }
    }

    /// In how many matches a page of the group is the new one, if so many pages of each group come `before` it.
    pub(super) fn pairs(&self, before: impl Fn(Group) -> u64) -> u128 {
        let near = self.near.iter().copied().chain([self.group]);
        self.held + near.map(|group| u128::from(before(group))).sum::<u128>()
    }
}
