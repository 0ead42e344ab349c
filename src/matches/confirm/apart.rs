//! What a probe found, taken apart into pairs of groups.
//!
//! Pages with one fingerprint may have unlike texts, or be of two classes. So each pair of fingerprints is taken apart into pairs of groups, and
//! what was found by anchors, row by row, becomes pairs of groups too.
//!
//! Thousands of pages can have one fingerprint and texts of their own: the pages of a template whose numbers differ, say. Compared each with each
//! they would take time in proportion to their square. So of two fingerprints a group meets at most [`MOST_MET`] groups of the other one, those at
//! the same place in the order of their sizes. Groups that share much share anchors too, and meet by these, wherever they are. What the bound
//! leaves out is counted.

use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::matches::certificate::{Candidates, Confirmed};
use crate::matches::groups::Groups;
use crate::matches::numbers::{FingerprintIndex, Group, Span};
use crate::matches::pair::{Pair, Place};
use crate::matches::shared_keys::MOST_MET as MOST_BY_KEYS;
use crate::matches::standing::Standings;
use crate::matches::store_pair::StorePair;
use crate::progress::{self, Activity};
use crate::runs::{Record, Sorter, Space};

/// What a probe found, in order.
pub(crate) type FoundPairs = Box<dyn Iterator<Item = Result<Pair>> + Send>;

/// How many groups of a fingerprint a group is compared with because their fingerprints are near.
pub(crate) const MOST_MET: usize = 64;

/// Two groups of the batch that may stand for each other. Ordered by the existing one, so that its keys are read in the order of the disk.
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
    /// The row of the page.
    page: u32,
    /// How many anchors they do not share, distance, segment, first row, and how many there are.
    rows: Vec<(u8, u8, u32, u64, u64)>,
}

/// The pairs of groups of some neighbouring fingerprints, while what was found is taken apart.
pub(super) struct Apart<'a> {
    groups: &'a Groups,
    /// The group of each row of the batch's segment.
    of_rows: &'a [Group],
    /// With how many groups of a fingerprint a group is compared.
    most_met: usize,
    /// Within this distance fingerprints find all pairs with the store.
    known: Option<u32>,
    /// The pairs within the batch; some may be there twice.
    pub(super) within: Sorter<Within>,
    /// The pairs with the store, likewise.
    pub(super) with_store: Sorter<StorePair<Group>>,
    /// Marks of crowds.
    pub(super) crowded: Vec<Confirmed>,
    pub(super) candidates: Candidates,
    /// How many pairs, rows and marks were taken.
    pub(super) taken: u64,
}

impl<'a> Apart<'a> {
    /// Nothing so far. Within the distance that is `known`, fingerprints find all pairs with the store.
    pub(super) fn new(
        groups: &'a Groups,
        of_rows: &'a [Group],
        most_met: usize,
        known: Option<u32>,
        space: Space<'_>,
    ) -> Apart<'a> {
        let (within, with_store) = (space.sorter(), space.sorter());
        let (crowded, candidates, taken) = (Vec::new(), Candidates::default(), 0);
        Apart { groups, of_rows, most_met, known, within, with_store, crowded, candidates, taken }
    }

    /// Takes apart what was found of the fingerprints in a window.
    pub(super) fn take(
        &mut self,
        window: Span<FingerprintIndex>,
        found: &mut Peekable<FoundPairs>,
    ) -> Result<()> {
        let [mut nearest, mut in_batch] = [NearestRows::default(), NearestRows::default()];
        for fingerprint in window.iter() {
            let pages = self.pages(fingerprint);
            self.candidates.pairs += pages * (pages - 1) / 2;
            self.copies(fingerprint)?;
        }
        let is_in = |pair: &Result<Pair>| pair.as_ref().map_or(true, |pair| pair.new < window.end);
        while let Some(pair) = found.next_if(is_in) {
            let Pair { new, existing, distance } = pair?;
            progress::tick(Activity::Working);
            self.taken += 1;
            match existing {
                Place::Store { segment, row, rows } => {
                    self.candidates.pairs += self.pages(new) * u128::from(rows);
                    let standings = Standings::default();
                    let groups = self.groups.groups_of(new);
                    self.left_out(groups.len().saturating_sub(self.most_met));
                    let news = groups.iter().take(self.most_met);
                    self.with_store.extend(news.map(|new| StorePair {
                        segment,
                        row,
                        rows,
                        new,
                        distance,
                        standings,
                    }))?;
                }
                Place::Batch { group: existing } => {
                    self.candidates.pairs += self.pages(new) * self.pages(existing);
                    self.groups(new, existing, distance)?;
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
                    let standings = Standings::default();
                    let mark = |new| Pair { new, existing: Place::Crowd, distance };
                    let marks = self.groups.groups_of(new).iter().map(mark);
                    self.crowded.extend(marks.map(|pair| Confirmed { pair, standings }));
                }
            }
        }
        self.leave(&mut nearest)?;
        self.leave_in_batch(&mut in_batch)
    }

    /// How many pages of the batch have a fingerprint.
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
        let Some(&new) = self.of_rows.get(nearest.page as usize) else { return Ok(()) };
        let rows: u128 = nearest.rows.iter().map(|row| u128::from(row.4)).sum();
        self.candidates.pairs += rows * self.groups.size(new);
        let standings = Standings::default();
        let rows = nearest.rows.drain(..);
        self.with_store.extend(rows.map(|(_, distance, segment, row, rows)| StorePair {
            segment,
            row,
            rows,
            new,
            distance,
            standings,
        }))
    }

    /// Takes the rows of the batch that are nearest to a page by their anchors: each pass over the batch has found some.
    fn leave_in_batch(&mut self, nearest: &mut NearestRows) -> Result<()> {
        nearest.rows.sort_unstable();
        self.left_out(usize::from(nearest.rows.len() >= MOST_BY_KEYS));
        let Some(&one) = self.of_rows.get(nearest.page as usize) else { return Ok(()) };
        for (_, distance, _, row, _) in nearest.rows.drain(..).take(MOST_BY_KEYS) {
            let other = self.of_rows[row as usize];
            self.candidates.pairs += self.groups.size(one) * self.groups.size(other);
            let (new, existing) = (one.max(other), one.min(other));
            if new != existing {
                self.within.push(Within { existing, new, distance })?;
            }
        }
        Ok(())
    }

    /// The pairs of groups that have one fingerprint: of each with those before it.
    fn copies(&mut self, fingerprint: FingerprintIndex) -> Result<()> {
        let groups = self.groups.groups_of(fingerprint);
        for (at, new) in groups.iter().enumerate() {
            let first = at.saturating_sub(self.most_met);
            self.left_out(first);
            let met = groups.iter().take(at).skip(first);
            self.within.extend(met.map(|existing| Within { existing, new, distance: 0 }))?;
        }
        Ok(())
    }

    /// The pairs of groups of two fingerprints of the batch. Both are in the order of their sizes.
    fn groups(
        &mut self,
        new: FingerprintIndex,
        existing: FingerprintIndex,
        distance: u8,
    ) -> Result<()> {
        let [news, existing] = [new, existing].map(|it| self.groups.groups_of(it));
        for (at, new) in news.iter().enumerate() {
            let middle = at * existing.len() / news.len();
            let last = existing.len().saturating_sub(self.most_met);
            let first = middle.saturating_sub(self.most_met / 2).min(last);
            self.left_out(last);
            let met = existing.iter().skip(first).take(self.most_met);
            self.within.extend(met.map(|existing| Within { existing, new, distance }))?;
        }
        Ok(())
    }
}
