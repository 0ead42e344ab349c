//! What a probe found, taken apart into pairs of groups.
//!
//! Pages with one fingerprint may have unlike texts, or be of two classes. So each pair of fingerprints is taken apart into pairs of groups, and
//! what was found by anchors, row by row, becomes pairs of groups too.
//!
//! Thousands of pages can have one fingerprint and texts of their own: the pages of a template whose numbers differ, say. Compared each with each
//! they would take time in proportion to their square. So of a fingerprint of the store a group meets at most [`MOST_MET`] groups, and of its own
//! [`MOST_COPIES`]: half of them the first in keep order, half those next in the order of their sizes. Of other fingerprints, if only verdicts are
//! wanted, it meets the [`FIRST_MET`] groups that come first in keep order, of the [`FINGERPRINTS_MET`] near fingerprints that do so. Groups that
//! share much share anchors too, and meet by these, wherever they are. What the bounds leave out is counted.

use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::matches::confirmed::{Candidates, Confirmed};
use crate::matches::coverage::Coverages;
use crate::matches::groups::Groups;
use crate::matches::numbers::{FingerprintIndex, Group, KeepRank, Number, Span};
use crate::matches::pair::{Pair, Place};
use crate::matches::shared_keys::{self, MOST_MET as MOST_BY_KEYS};
use crate::matches::sieve::FINGERPRINTS_MET;
use crate::matches::store_pair::StorePair;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortSpace, Sorter, next_if};

/// What a probe found, in order.
pub(crate) type FoundPairs = Box<dyn Iterator<Item = Result<Pair>> + Send>;

/// How many groups of a fingerprint a group is compared with because their fingerprints are near.
pub(crate) const MOST_MET: usize = 64;

/// How many groups of one fingerprint a group of the batch meets, where whole pages are compared.
const MOST_COPIES: usize = 32;

/// How many of these of another fingerprint, if only verdicts are wanted.
const FIRST_MET: usize = 2;

/// Two groups of the batch that may cover each other: one of the window, and the existing one, which may be of another. Ordered by the existing
/// one, so that its keys are read in the order of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Within {
    pub(super) existing: Group,
    pub(super) new: Group,
    pub(super) distance: u8,
}

impl Record for Within {}

/// Rows of the store, or of the batch, that share anchors with a page of the batch.
#[derive(Default)]
struct NearestRows {
    page: u32,
    /// How many anchors they do not share, distance, segment, first row, and how many there are.
    rows: Vec<(u8, u8, u32, u64, u64)>,
}

/// How many pages a page meets, and which.
#[derive(Clone, Copy)]
pub(super) struct Met<'a> {
    pub(super) of_rows: &'a [Group],
    /// The place of each group in keep order, where whole pages are compared.
    pub(super) order: Option<&'a [KeepRank]>,
    /// With how many groups of a fingerprint a group is compared.
    pub(super) most: usize,
}

/// The pairs of groups of some neighbouring fingerprints, while what was found is taken apart.
pub(super) struct Apart<'a> {
    groups: &'a Groups,
    met: Met<'a>,
    window: Span<FingerprintIndex>,
    own: Span<Group>,
    /// Within this distance fingerprints find all pairs with the store.
    known: Option<u32>,
    /// The pairs within the batch; some may be there twice.
    pub(super) within: Sorter<Within>,
    /// The pairs with the store, likewise.
    pub(super) with_store: Sorter<StorePair>,
    pub(super) crowded: Vec<Confirmed>,
    pub(super) candidates: Candidates,
    /// How many pairs, rows and marks were taken.
    pub(super) taken: u64,
}

impl<'a> Apart<'a> {
    /// Nothing so far of the fingerprints in a window. Within the distance that is `known`, fingerprints find all pairs with the store.
    pub(super) fn new(
        groups: &'a Groups,
        met: Met<'a>,
        window: Span<FingerprintIndex>,
        known: Option<u32>,
        space: SortSpace<'_>,
    ) -> Apart<'a> {
        let [start, end] = [window.start, window.end].map(|it| groups.first_group(it));
        Apart {
            groups,
            met,
            window,
            own: Span { start, end },
            known,
            within: space.sorter(),
            with_store: space.sorter(),
            crowded: Vec::new(),
            candidates: Candidates::default(),
            taken: 0,
        }
    }

    pub(super) fn take(&mut self, found: &mut Peekable<FoundPairs>) -> Result<()> {
        let [mut nearest, mut in_batch] = [NearestRows::default(), NearestRows::default()];
        let mut near = (FingerprintIndex::from(0), Vec::new());
        let window = self.window;
        for fingerprint in window.iter() {
            let pages = self.pages(fingerprint);
            self.candidates.pairs += pages * (pages - 1) / 2;
            self.groups(fingerprint, fingerprint, 0)?;
        }
        while let Some(pair) = next_if(found, |pair| pair.new < window.end)? {
            let Pair { new, existing, distance } = pair;
            progress::tick(Activity::Working);
            self.taken += 1;
            match existing {
                Place::Store { segment, row, rows } => {
                    self.candidates.pairs += self.pages(new) * u128::from(rows);
                    let groups = self.groups.groups_of(new);
                    self.left_out(groups.len().saturating_sub(self.met.most));
                    let news = groups.iter().take(self.met.most);
                    let coverages = Coverages::default();
                    let pair = |new| StorePair { segment, row, rows, new, distance, coverages };
                    self.with_store.extend(news.map(pair))?;
                }
                Place::Batch { group: existing } => {
                    if near.0 != new {
                        self.leave_near(&mut near)?;
                        near.0 = new;
                    }
                    near.1.push((existing, distance));
                }
                Place::StoreRow { page, apart, segment, row, rows } => {
                    if nearest.page != page {
                        self.leave(&mut nearest)?;
                        nearest.page = page;
                    }
                    nearest.rows.push((apart, distance, segment, row, rows));
                }
                Place::BatchRow { page, apart, row } => {
                    if in_batch.page != page {
                        self.leave_in_batch(&mut in_batch)?;
                        in_batch.page = page;
                    }
                    in_batch.rows.push((apart, distance, 0, row.into(), 1));
                }
                Place::Crowd => {
                    let coverages = Coverages::default();
                    let mark = |new| Pair { new, existing: Place::Crowd, distance };
                    let marks = self.groups.groups_of(new).iter().map(mark);
                    self.crowded.extend(marks.map(|pair| Confirmed { pair, coverages }));
                }
            }
        }
        self.leave_near(&mut near)?;
        self.leave(&mut nearest)?;
        self.leave_in_batch(&mut in_batch)
    }

    /// Takes the fingerprints of the batch that are near one: of very many those that come first in keep order. How many there are beyond these
    /// is not known, so they count as one pair left out.
    fn leave_near(
        &mut self,
        (new, near): &mut (FingerprintIndex, Vec<(FingerprintIndex, u8)>),
    ) -> Result<()> {
        if let (Some(order), None) = (self.met.order, self.known)
            && near.len() > FINGERPRINTS_MET
        {
            self.left_out(1);
            let first = |fingerprint| {
                self.groups.groups_of(fingerprint).iter().map(|it| order[it.index()]).min()
            };
            near.sort_by_cached_key(|it| first(it.0));
            near.truncate(FINGERPRINTS_MET);
        }
        for (existing, distance) in near.drain(..) {
            self.candidates.pairs += self.pages(*new) * self.pages(existing);
            self.groups(*new, existing, distance)?;
        }
        Ok(())
    }

    fn pages(&self, fingerprint: FingerprintIndex) -> u128 {
        self.groups.groups_of(fingerprint).iter().map(|group| self.groups.size(group)).sum()
    }

    fn left_out(&mut self, pairs: usize) {
        self.candidates.left_out += pairs as u64;
    }

    /// Takes the rows of the store that are nearest to a page by their anchors: each chunk has found some. How many it was found with beyond
    /// these depends on which chunk came first, so a page with as many as it may meet counts as one pair left out.
    fn leave(&mut self, nearest: &mut NearestRows) -> Result<()> {
        nearest.rows.sort_unstable();
        self.left_out(usize::from(nearest.rows.len() >= MOST_BY_KEYS));
        nearest.rows.truncate(MOST_BY_KEYS);
        let is_known = |distance: u8| self.known.is_some_and(|k| u32::from(distance) <= k);
        nearest.rows.retain(|row| !is_known(row.1));
        let Some(&new) = self.met.of_rows.get(nearest.page as usize) else { return Ok(()) };
        let rows: u128 = nearest.rows.iter().map(|row| u128::from(row.4)).sum();
        self.candidates.pairs += rows * self.groups.size(new);
        let coverages = Coverages::default();
        let pair = |(_, distance, segment, row, rows)| StorePair {
            segment,
            row,
            rows,
            new,
            distance,
            coverages,
        };
        self.with_store.extend(nearest.rows.drain(..).map(pair))
    }

    /// Takes the rows of the batch that are nearest to a page by their keys. Each sort of keys has found some, maybe the same.
    fn leave_in_batch(&mut self, nearest: &mut NearestRows) -> Result<()> {
        nearest.rows.sort_unstable_by_key(|row| (row.3, row.0));
        nearest.rows.dedup_by_key(|row| row.3);
        self.left_out(usize::from(nearest.rows.len() >= MOST_BY_KEYS));
        let Met { of_rows, order, .. } = self.met;
        let Some(&one) = of_rows.get(nearest.page as usize) else { return Ok(()) };
        if let Some(order) = order {
            let place = |row: u64| order[of_rows[row as usize].index()];
            shared_keys::nearest_and_first(&mut nearest.rows, |row| row.0, |row| place(row.3));
        }
        for (_, distance, _, row, _) in nearest.rows.drain(..) {
            let other = of_rows[row as usize];
            self.candidates.pairs += self.groups.size(one) * self.groups.size(other);
            self.meet(one, other, distance)?;
        }
        Ok(())
    }

    fn meet(&mut self, own: Group, other: Group, distance: u8) -> Result<()> {
        let is_own = (self.own.start..self.own.end).contains(&other);
        let (existing, new) = if is_own { (own.min(other), own.max(other)) } else { (other, own) };
        if new == existing { Ok(()) } else { self.within.push(Within { existing, new, distance }) }
    }

    /// The pairs of groups of two fingerprints of the batch, or of one. Both are in the order of their sizes.
    fn groups(
        &mut self,
        new: FingerprintIndex,
        existing: FingerprintIndex,
        distance: u8,
    ) -> Result<()> {
        let [news, met] = [new, existing].map(|it| self.groups.groups_of(it));
        let (most, share) = match self.met.order {
            Some(_) if new != existing && self.known.is_none() => (FIRST_MET, 1),
            Some(_) => (MOST_COPIES, 2),
            None => (self.met.most, 2),
        };
        let first = self.first_groups(met, most, share);
        for (at, own) in news.iter().enumerate() {
            let beside = most - first.len();
            let middle = at * met.len() / news.len();
            let last = met.len().saturating_sub(beside);
            let begin = middle.saturating_sub(beside / 2).min(last);
            self.left_out(met.len().saturating_sub(most));
            let of_size = met.part(begin, beside);
            for other in first.iter().copied().chain(of_size) {
                // Of one fingerprint, each pair once.
                if new != existing || other < own || first.contains(&other) {
                    self.meet(own, other, distance)?;
                }
            }
        }
        Ok(())
    }

    /// Of more groups than are met, this `share` of as many: those that come first in keep order.
    fn first_groups(&self, groups: Span<Group>, most: usize, share: usize) -> Vec<Group> {
        let Some(order) = self.met.order.filter(|_| groups.len() > most) else {
            return Vec::new();
        };
        let mut first: Vec<Group> = groups.iter().collect();
        first.select_nth_unstable_by_key(most / share, |group| order[group.index()]);
        first.truncate(most / share);
        first
    }
}
