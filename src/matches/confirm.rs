//! Candidates confirmed: which of them can stand for each other.
//!
//! A probe finds candidates by fingerprints, and by anchors. Pages with one fingerprint may have unlike texts, or be of two classes. So the
//! [batch](Batch) is grouped by fingerprint and [`GroupKey`], each pair of fingerprints is taken apart into pairs of groups, and each of
//! these is confirmed: by the sketches, or, where there are none, by the classes. The keep rule works on pairs of groups as on any others.
//!
//! The sketches of a batch may take more memory than there is. So the batch is taken window by window: the keys of a window are held, and
//! the pairs whose new page is in it are confirmed. The existing pages of these pairs, of the batch before the window and of the store, are
//! looked up in the order of the disk. Neighbouring rows of the store with one fingerprint and one key are confirmed together.
//!
//! Thousands of pages can have one fingerprint and texts of their own: the pages of a template whose numbers differ, say. Compared each with each
//! they would take time in proportion to their square. So of two fingerprints a group meets at most [`MOST_MET`] groups of the other one, those at
//! the same place in the order of their sizes. Groups that share much share anchors too, and meet by these, wherever they are. What the bound
//! leaves out is counted.
//!
//! An example: fingerprint 4 of the batch has two groups, 6 and 7. The pair (4, three rows of the store, of which the first two have
//! one sketch) becomes the pairs (6, the first two rows), (7, the first two rows), (6, the third row) and (7, the third row).

use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use super::anchors::MOST_MET as MOST_BY_ANCHORS;
use super::batch::Batch;
use super::group_key::{GroupKey, GroupKeyReader, GroupKeys};
use super::numbers::{FingerprintIndex, Group, Number, Span};
use super::pair::{Pair, Place};
use super::standing::Standings;
use super::store_pair::{Near, StorePair, each_place};
use crate::error::Result;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortedRecords, Sorter, Space};
use crate::store::{Column, Dated, Shown};

/// How many groups of a fingerprint a group is compared with because their fingerprints are near.
const MOST_MET: usize = 64;

/// A pair of groups of which one can stand for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Confirmed {
    pub(super) pair: Pair<Group>,
    /// How well the existing group stands for the new one, and the other way round.
    pub(super) standings: Standings,
}

impl Record for Confirmed {}

/// Two groups of the batch that may stand for each other. Ordered by the existing one, so that its keys are read in the order of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Within {
    existing: Group,
    new: Group,
    distance: u8,
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

/// How many pairs there were to confirm.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidates {
    /// Pairs of documents.
    pub(super) pairs: u128,
    /// Pairs of groups that the bound left out.
    pub(super) left_out: u64,
}

/// Calls `take` with every confirmed pair of groups: those behind `pairs`, and those of groups with one fingerprint. A pair with the store that
/// both fingerprints and anchors find comes twice, unless its fingerprints are within the distance that is `known`.
pub(super) fn confirm(
    batch: &Batch,
    keys: &mut GroupKeys,
    store: &[Dated],
    pairs: SortedRecords<Pair>,
    space: Space<'_>,
    known: Option<u32>,
    take: impl FnMut(Confirmed) -> Result<()>,
) -> Result<Candidates> {
    let mut pairs = pairs.peekable();
    let groups = batch.groups_of_segment_rows();
    let candidates = Candidates::default();
    let most_met = if keys.has_direction() { MOST_MET } else { usize::MAX };
    let mut confirming =
        Confirming { batch, keys, store, groups, most_met, known, space, candidates, take };
    let mut first = FingerprintIndex::from(0);
    while first.index() < batch.fingerprints() as usize {
        let end = batch.window(first, confirming.keys.most_rows());
        confirming.keys.hold(batch.first_row(first))?;
        confirming.window(Span { start: first, end }, &mut pairs)?;
        first = end;
    }
    Ok(confirming.candidates)
}

/// Takes pairs of fingerprints apart into pairs of groups, and hands on those that match.
struct Confirming<'a, T> {
    batch: &'a Batch,
    keys: &'a mut GroupKeys,
    store: &'a [Dated],
    /// The group of each row of the batch's segment.
    groups: Vec<Group>,
    /// With how many groups of a fingerprint a group is compared. Without sketches, a fingerprint has as many groups as there are classes.
    most_met: usize,
    /// Within this distance fingerprints find all pairs with the store.
    known: Option<u32>,
    /// The space of a sort.
    space: Space<'a>,
    candidates: Candidates,
    take: T,
}

impl<T: FnMut(Confirmed) -> Result<()>> Confirming<'_, T> {
    /// Confirms the pairs whose new fingerprint is in the window. Its keys are held.
    fn window(
        &mut self,
        window: Span<FingerprintIndex>,
        pairs: &mut Peekable<SortedRecords<Pair>>,
    ) -> Result<()> {
        let mut within = self.space.sorter();
        let mut with_store = self.space.sorter();
        let [mut nearest, mut in_batch] = [NearestRows::default(), NearestRows::default()];
        for fingerprint in window.iter() {
            let pages = self.pages(fingerprint);
            self.candidates.pairs += pages * (pages - 1) / 2;
            self.copies(fingerprint, &mut within)?;
        }
        let is_in = |pair: &Result<Pair>| pair.as_ref().map_or(true, |pair| pair.new < window.end);
        while let Some(pair) = pairs.next_if(is_in) {
            let Pair { new, existing, distance } = pair?;
            progress::tick(Activity::Working);
            match existing {
                Place::Store { segment, row, rows } => {
                    self.candidates.pairs += self.pages(new) * u128::from(rows);
                    let standings = Standings::default();
                    let groups = self.batch.groups_of(new);
                    self.left_out(groups.len().saturating_sub(self.most_met));
                    with_store.extend(groups.iter().take(self.most_met).map(|new| StorePair {
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
                    self.groups(new, existing, distance, &mut within)?;
                }
                Place::StoreRow { .. } if self.known.is_some_and(|k| u32::from(distance) <= k) => {}
                Place::StoreRow { page, apart, segment, row, rows } => {
                    if nearest.page != page {
                        self.leave(&mut nearest, &mut with_store)?;
                        nearest.page = page;
                    }
                    nearest.rows.push((apart, distance, segment, row, rows));
                }
                Place::BatchRow { page, apart, row } => {
                    if in_batch.page != page {
                        self.leave_in_batch(&mut in_batch, &mut within)?;
                        in_batch.page = page;
                    }
                    in_batch.rows.push((apart, distance, 0, row.into(), 1));
                }
                Place::Crowd => {
                    for new in self.batch.groups_of(new).iter() {
                        let pair = Pair { new, existing: Place::Crowd, distance };
                        (self.take)(Confirmed { pair, standings: Standings::default() })?;
                    }
                }
            }
        }
        self.leave(&mut nearest, &mut with_store)?;
        self.leave_in_batch(&mut in_batch, &mut within)?;
        let mut last = None;
        for pair in within.sorted()? {
            let pair = pair?;
            progress::tick(Activity::Working);
            if last.replace(pair) != Some(pair) && pair.existing != pair.new {
                self.offer(pair)?;
            }
        }
        self.store(with_store.sorted()?)
    }

    /// How many pages of the batch have a fingerprint.
    fn pages(&self, fingerprint: FingerprintIndex) -> u128 {
        self.batch.groups_of(fingerprint).iter().map(|group| self.size(group)).sum()
    }

    /// How many pages a group has.
    fn size(&self, group: Group) -> u128 {
        self.batch.rows_of(group).len() as u128
    }

    fn left_out(&mut self, pairs: usize) {
        self.candidates.left_out += pairs as u64;
    }

    /// Takes the rows of the store that are nearest to a page by their anchors: each chunk has found some. How many it was found with beyond
    /// these depends on which chunk came first, so a page with as many as it may meet counts as one pair left out.
    fn leave(
        &mut self,
        nearest: &mut NearestRows,
        with_store: &mut Sorter<StorePair<Group>>,
    ) -> Result<()> {
        nearest.rows.sort_unstable();
        self.left_out(usize::from(nearest.rows.len() >= MOST_BY_ANCHORS));
        nearest.rows.truncate(MOST_BY_ANCHORS);
        let Some(&new) = self.groups.get(nearest.page as usize) else { return Ok(()) };
        let rows: u128 = nearest.rows.iter().map(|row| u128::from(row.4)).sum();
        self.candidates.pairs += rows * self.size(new);
        let standings = Standings::default();
        with_store.extend(nearest.rows.drain(..).map(|(_, distance, segment, row, rows)| {
            StorePair { segment, row, rows, new, distance, standings }
        }))
    }

    /// Takes the rows of the batch that are nearest to a page by their anchors: each pass over the batch has found some.
    fn leave_in_batch(
        &mut self,
        nearest: &mut NearestRows,
        within: &mut Sorter<Within>,
    ) -> Result<()> {
        nearest.rows.sort_unstable();
        self.left_out(usize::from(nearest.rows.len() >= MOST_BY_ANCHORS));
        let Some(&one) = self.groups.get(nearest.page as usize) else { return Ok(()) };
        for (_, distance, _, row, _) in nearest.rows.drain(..).take(MOST_BY_ANCHORS) {
            let other = self.groups[row as usize];
            self.candidates.pairs += self.size(one) * self.size(other);
            let (new, existing) = (one.max(other), one.min(other));
            within.push(Within { existing, new, distance })?;
        }
        Ok(())
    }

    /// Hands on a pair of groups of the batch if their keys match.
    fn offer(&mut self, Within { existing: group, new, distance }: Within) -> Result<()> {
        let [one, other] = [new, group].map(|group| self.batch.key_row(group));
        let standings = self.keys.compare_rows(one, other, distance.into())?;
        if !standings.any() {
            return Ok(());
        }
        let pair = Pair { new, existing: Place::Batch { group }, distance };
        (self.take)(Confirmed { pair, standings })
    }

    /// The pairs of groups that have one fingerprint: of each with those before it.
    fn copies(&mut self, fingerprint: FingerprintIndex, within: &mut Sorter<Within>) -> Result<()> {
        let groups = self.batch.groups_of(fingerprint);
        for (at, new) in groups.iter().enumerate() {
            let first = at.saturating_sub(self.most_met);
            self.left_out(first);
            let met = groups.iter().take(at).skip(first);
            within.extend(met.map(|existing| Within { existing, new, distance: 0 }))?;
        }
        Ok(())
    }

    /// The pairs of groups of two fingerprints of the batch. Both are in the order of their sizes.
    fn groups(
        &mut self,
        new: FingerprintIndex,
        existing: FingerprintIndex,
        distance: u8,
        within: &mut Sorter<Within>,
    ) -> Result<()> {
        let [news, existing] = [new, existing].map(|it| self.batch.groups_of(it));
        for (at, new) in news.iter().enumerate() {
            let middle = at * existing.len() / news.len();
            let last = existing.len().saturating_sub(self.most_met);
            let first = middle.saturating_sub(self.most_met / 2).min(last);
            self.left_out(last);
            let met = existing.iter().skip(first).take(self.most_met);
            within.extend(met.map(|existing| Within { existing, new, distance }))?;
        }
        Ok(())
    }

    /// The pairs with the store, in the order of the disk.
    fn store(&mut self, pairs: SortedRecords<StorePair<Group>>) -> Result<()> {
        let mut reader: Option<(u32, GroupKeyReader, Shown)> = None;
        let mut signature = Vec::new();
        each_place(pairs, self.store, &[Column::Classes, Column::Checks], |place, near| {
            let (_, reader, shown) = match &mut reader {
                Some(reader) if reader.0 == place.segment => reader,
                other => {
                    let dated = &self.store[place.segment as usize];
                    let reader = GroupKeyReader::new(dated.segment(), self.keys.confirm())?;
                    other.insert((place.segment, reader, dated.shown()))
                }
            };
            let mut row = place.row;
            let mut left = place.rows;
            for _ in 0..self.most_met {
                if left == 0 {
                    break;
                }
                let first = shown.next(row)?;
                let key = reader.get(first)?;
                signature.clear();
                signature.extend(key.signature);
                let key = GroupKey { class: key.class, signature: &signature };
                let mut rows = 0;
                row = first;
                while left > 0 && reader.get(row)? == key {
                    rows += 1;
                    left -= 1;
                    row = if left > 0 { shown.next(row + 1)? } else { row };
                }
                let existing = Place::Store { segment: place.segment, row: first, rows };
                self.same_key(existing, key, near)?;
            }
            self.left_out(left as usize);
            Ok(())
        })
    }

    /// The pairs with rows of the store that have one fingerprint and one key.
    fn same_key(
        &mut self,
        existing: Place<Group>,
        key: GroupKey<'_>,
        near: &[Near<Group>],
    ) -> Result<()> {
        for &Near { new, distance, .. } in near {
            progress::tick(Activity::Working);
            let row = self.batch.key_row(new);
            let standings = self.keys.compare_row(row, key, distance.into())?;
            if standings.any() {
                (self.take)(Confirmed { pair: Pair { new, existing, distance }, standings })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
