//! Candidates confirmed: of the pages within k bits only those of one class match, and with a check only
//! those with similar signatures.
//!
//! Pages with one fingerprint may then be of two classes, or have unlike texts. So "near" is said of
//! pages, not of fingerprints: the [batch](Batch) is grouped by fingerprint and [`GroupKey`], and each
//! pair of fingerprints is taken apart into pairs of groups. The keep rule works on these as on any
//! others.
//!
//! The signatures of a batch may take more memory than there is. So the batch is taken window by window: the keys of
//! a window are held, and the pairs whose new page is in it are confirmed. The existing pages of these pairs, of the
//! batch before the window and of the store, are looked up in the order of the disk. Neighbouring rows of the store
//! with one fingerprint and one key are confirmed together. A batch whose signatures fit is one window.
//!
//! Many pages of one fingerprint are a crowd of groups: the pages of a template whose numbers differ, say. Where a [sieve](Sieve) tells
//! which pairs the verdicts need, a group is compared until 16 others match it, and then with those alone that have fewer. So a crowd
//! whose pages match takes time in proportion to its pages, and not to their square.
//!
//! An example: fingerprint 4 of the batch has two groups, 6 of class full and 7 of class short. The
//! pair (4, three rows of the store that are full, full and short) becomes the pairs (6, the first two
//! rows) and (7, the third row). The candidates are counted in pages: with 10 pages in group 6 and 1
//! in group 7 they are 11 * 3 = 33.

use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::group_key::{GroupKey, GroupKeyReader, GroupKeys};
use super::numbers::{FingerprintIndex, Group, Number, Span};
use super::pair::{Pair, Place};
use super::sieve::Sieve;
use super::standing::Standings;
use super::store_pair::{Near, StorePair, each_place};
use crate::error::Result;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortedRecords, Space};
use crate::store::{Column, Dated, Shown};

/// A pair of groups of which one can stand for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Confirmed {
    pub(super) pair: Pair<Group>,
    /// How well the existing group stands for the new one, and the other way round.
    pub(super) standings: Standings,
}

impl Record for Confirmed {}

/// A pair of fingerprints of the batch, of which the existing one comes before the window. Ordered by that one,
/// so that its keys are read in the order of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Before {
    existing: FingerprintIndex,
    new: FingerprintIndex,
    distance: u8,
}

impl Record for Before {}

/// Which pairs within the batch the verdicts need. Those farther apart than the distance meet by their signatures, and are all taken.
pub(super) struct Sieving {
    pub(super) sieve: Sieve,
    pub(super) distance: u32,
}

/// Calls `take` with every confirmed pair of groups, or with those that pass the sieve: those behind `pairs` of fingerprints, and those of
/// groups with one fingerprint. Gives the number of pairs of documents that were candidates.
pub(super) fn confirm(
    batch: &Batch,
    keys: &mut GroupKeys,
    store: &[Dated],
    pairs: SortedRecords<Pair>,
    space: Space<'_>,
    sieving: Option<&mut Sieving>,
    take: impl FnMut(Confirmed) -> Result<()>,
) -> Result<u128> {
    let mut pairs = pairs.peekable();
    let mut confirming = Confirming { batch, keys, store, space, sieving, candidates: 0, take };
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
    /// The space of a sort.
    space: Space<'a>,
    sieving: Option<&'a mut Sieving>,
    candidates: u128,
    take: T,
}

impl<T: FnMut(Confirmed) -> Result<()>> Confirming<'_, T> {
    /// Confirms the pairs whose new fingerprint is in the window. Its keys are held.
    fn window(
        &mut self,
        window: Span<FingerprintIndex>,
        pairs: &mut Peekable<SortedRecords<Pair>>,
    ) -> Result<()> {
        let mut before = self.space.sorter();
        let mut with_store = self.space.sorter();
        for fingerprint in window.iter() {
            let pages = self.pages(fingerprint);
            self.candidates += pages * (pages - 1) / 2;
            self.copies(fingerprint)?;
        }
        let is_in = |pair: &Result<Pair>| pair.as_ref().map_or(true, |pair| pair.new < window.end);
        while let Some(pair) = pairs.next_if(is_in) {
            let Pair { new, existing, distance } = pair?;
            match existing {
                Place::Store { segment, row, rows } => {
                    self.candidates += self.pages(new) * u128::from(rows);
                    let standings = Standings::default();
                    with_store.push(StorePair { segment, row, rows, new, distance, standings })?;
                }
                Place::Batch { group: existing } => {
                    self.candidates += self.pages(new) * self.pages(existing);
                    if existing < window.start {
                        before.push(Before { existing, new, distance })?;
                    } else {
                        self.groups(new, existing, distance)?;
                    }
                }
                Place::Crowd => {
                    for new in self.batch.groups_of(new).iter() {
                        let pair = Pair { new, existing: Place::Crowd, distance };
                        self.hand_on(Confirmed { pair, standings: Standings::default() })?;
                    }
                }
            }
        }
        for pair in before.sorted()? {
            let Before { existing, new, distance } = pair?;
            self.groups(new, existing, distance)?;
        }
        self.store(with_store.sorted()?)
    }

    /// How many pages of the batch have a fingerprint.
    fn pages(&self, fingerprint: FingerprintIndex) -> u128 {
        let groups = self.batch.groups_of(fingerprint).iter();
        groups.map(|group| self.batch.rows_of(group).len() as u128).sum()
    }

    /// Hands on a pair of groups of the batch if their keys match.
    fn offer(&mut self, new: Group, group: Group, distance: u8) -> Result<()> {
        let [one, other] = [new, group].map(|group| self.batch.key_row(group));
        let standings = self.keys.compare_rows(one, other, distance.into())?;
        if !standings.any() {
            return Ok(());
        }
        let pair = Pair { new, existing: Place::Batch { group }, distance };
        self.hand_on(Confirmed { pair, standings })
    }

    /// Hands on a pair that matches, if it passes the sieve.
    fn hand_on(&mut self, confirmed: Confirmed) -> Result<()> {
        let passes = match &mut self.sieving {
            Some(sieving) if u32::from(confirmed.pair.distance) <= sieving.distance => {
                sieving.sieve.passes(&confirmed.pair)
            }
            _ => true,
        };
        if passes { (self.take)(confirmed) } else { Ok(()) }
    }

    /// Whether the pairs of a group with other full groups at this distance are left out.
    fn is_full(&self, group: Group, distance: u8) -> bool {
        let sieving = self.sieving.as_ref();
        sieving.is_some_and(|it| u32::from(distance) <= it.distance && it.sieve.is_full(group))
    }

    /// Takes the full groups from `open`, and marks them: what comes later passes over them if it is full itself.
    fn close(&mut self, open: &mut Vec<Group>, distance: u8) {
        open.retain(|&group| {
            let is_full = self.is_full(group, distance);
            if is_full && let Some(sieving) = &mut self.sieving {
                sieving.sieve.mark(group);
            }
            !is_full
        });
    }

    /// Offers the pairs of `new` with `groups`: with all until it is full, and from then on with those that are `open`.
    fn offer_each(
        &mut self,
        new: Group,
        groups: Span<Group>,
        open: &mut Vec<Group>,
        distance: u8,
    ) -> Result<()> {
        progress::tick(Activity::Working);
        for group in groups.iter() {
            if self.is_full(new, distance) {
                open.push(new);
                self.close(open, distance);
                let left = open.partition_point(|&open| open < group);
                return open[left..].iter().try_for_each(|&open| self.offer(new, open, distance));
            }
            self.offer(new, group, distance)?;
        }
        Ok(())
    }

    /// The pairs of groups that have one fingerprint.
    fn copies(&mut self, fingerprint: FingerprintIndex) -> Result<()> {
        let groups = self.batch.groups_of(fingerprint);
        let mut open = Vec::new();
        for new in groups.iter() {
            let earlier = Span { start: groups.start, end: new };
            self.offer_each(new, earlier, &mut open, 0)?;
            open.push(new);
        }
        Ok(())
    }

    /// The pairs of groups of two fingerprints of the batch.
    fn groups(
        &mut self,
        new: FingerprintIndex,
        existing: FingerprintIndex,
        distance: u8,
    ) -> Result<()> {
        let existing = self.batch.groups_of(existing);
        let mut open: Vec<Group> = existing.iter().collect();
        for new in self.batch.groups_of(new).iter() {
            self.offer_each(new, existing, &mut open, distance)?;
        }
        Ok(())
    }

    /// The pairs with the store, in the order of the disk.
    fn store(&mut self, pairs: SortedRecords<StorePair<FingerprintIndex>>) -> Result<()> {
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
            while left > 0 {
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
            Ok(())
        })
    }

    /// The pairs with rows of the store that have one fingerprint and one key.
    fn same_key(
        &mut self,
        existing: Place<Group>,
        key: GroupKey<'_>,
        near: &[Near<FingerprintIndex>],
    ) -> Result<()> {
        for &Near { new, distance, .. } in near {
            progress::tick(Activity::Working);
            for new in self.batch.groups_of(new).iter() {
                let row = self.batch.key_row(new);
                let standings = self.keys.compare_row(row, key, distance.into())?;
                if standings.any() {
                    self.hand_on(Confirmed { pair: Pair { new, existing, distance }, standings })?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
