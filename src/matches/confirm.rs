//! Candidates confirmed: of the pages within k bits only those of one class match, and with a check only
//! those with similar signatures.
//!
//! Pages with one fingerprint may then be of two classes, or have unlike texts. So "near" is said of
//! pages, not of fingerprints: the [batch](Batch) is grouped by fingerprint and [`GroupKey`], and each
//! pair of fingerprints is taken apart into pairs of groups. The keep rule works on these as on any
//! others. Keys of the store are read in the order of the disk, each once, and neighbouring rows with one
//! fingerprint and one key are confirmed together.
//!
//! An example: fingerprint 4 of the batch has two groups, 6 of class full and 7 of class short. The
//! pair (4, three rows of the store that are full, full and short) becomes the pairs (6, the first two
//! rows) and (7, the third row). The candidates are counted in pages: with 10 pages in group 6 and 1
//! in group 7 they are 11 * 3 = 33.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::group_key::{GroupKey, GroupKeyReader, GroupKeys};
use super::numbers::{FingerprintIndex, Group, below};
use super::pair::{Pair, Place};
use super::similarity::Similarity;
use super::store_pair::{Near, StorePair, each_place};
use crate::error::Result;
use crate::progress::{self, Activity};
use crate::runs::{Record, SortedRecords, Sorter};
use crate::store::Dated;

/// A pair of groups, with its similarity where it was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Confirmed {
    pub(super) pair: Pair<Group>,
    pub(super) similarity: Option<Similarity>,
}

impl Record for Confirmed {}

/// Calls `take` with every confirmed pair of groups: those behind `pairs` of fingerprints, and those of
/// groups with one fingerprint. Gives the number of pairs of documents that were candidates.
pub(super) fn confirm(
    batch: &Batch,
    keys: &GroupKeys,
    store: &[Dated],
    pairs: SortedRecords<Pair>,
    (folder, memory_bytes): (&Path, usize),
    take: impl FnMut(Confirmed) -> Result<()>,
) -> Result<u128> {
    let mut with_store = Sorter::new(folder, memory_bytes);
    let mut candidates = 0;
    let mut confirming = Confirming { batch, keys, take };
    for fingerprint in below(batch.fingerprints()) {
        let pages = confirming.pages(fingerprint);
        candidates += pages * (pages - 1) / 2;
        confirming.copies(fingerprint)?;
    }
    for pair in pairs {
        let Pair { new, existing, distance } = pair?;
        match existing {
            Place::Store { segment, row, rows } => {
                candidates += confirming.pages(new) * u128::from(rows);
                let similarity = None;
                with_store.push(StorePair { segment, row, rows, new, distance, similarity })?;
            }
            Place::Batch { group: existing } => {
                candidates += confirming.pages(new) * confirming.pages(existing);
                confirming.groups(new, existing, distance)?;
            }
            Place::Crowd => {
                for new in batch.groups_of(new).iter() {
                    let pair = Pair { new, existing: Place::Crowd, distance };
                    (confirming.take)(Confirmed { pair, similarity: None })?;
                }
            }
        }
    }
    confirming.store(store, with_store.sorted()?)?;
    Ok(candidates)
}

/// Takes pairs of fingerprints apart into pairs of groups, and hands on those that match.
struct Confirming<'a, T> {
    batch: &'a Batch,
    keys: &'a GroupKeys,
    take: T,
}

impl<'a, T: FnMut(Confirmed) -> Result<()>> Confirming<'a, T> {
    /// How many pages of the batch have a fingerprint.
    fn pages(&self, fingerprint: FingerprintIndex) -> u128 {
        let groups = self.batch.groups_of(fingerprint).iter();
        groups.map(|group| self.batch.rows_of(group).len() as u128).sum()
    }

    /// Hands on a pair of groups if their keys match.
    fn offer(&mut self, pair: Pair<Group>, existing: GroupKey<'_>) -> Result<()> {
        match self.keys.compare(self.batch.key(self.keys, pair.new), existing, pair.distance.into())
        {
            Some(similarity) => (self.take)(Confirmed { pair, similarity }),
            None => Ok(()),
        }
    }

    /// The pairs of groups that have one fingerprint.
    fn copies(&mut self, fingerprint: FingerprintIndex) -> Result<()> {
        let groups = self.batch.groups_of(fingerprint);
        for new in groups.iter() {
            progress::tick(Activity::Working);
            for group in groups.iter().take_while(|&group| group < new) {
                let pair = Pair { new, existing: Place::Batch { group }, distance: 0 };
                self.offer(pair, self.batch.key(self.keys, group))?;
            }
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
        for new in self.batch.groups_of(new).iter() {
            progress::tick(Activity::Working);
            for group in self.batch.groups_of(existing).iter() {
                let pair = Pair { new, existing: Place::Batch { group }, distance };
                self.offer(pair, self.batch.key(self.keys, group))?;
            }
        }
        Ok(())
    }

    /// The pairs with the store, in the order of the disk.
    fn store(
        &mut self,
        store: &[Dated],
        pairs: SortedRecords<StorePair<FingerprintIndex>>,
    ) -> Result<()> {
        let mut reader: Option<(u32, GroupKeyReader)> = None;
        let mut signature = Vec::new();
        each_place(pairs, |place, near| {
            let (_, reader) = match &mut reader {
                Some(reader) if reader.0 == place.segment => reader,
                other => {
                    let segment = store[place.segment as usize].segment();
                    let reader = GroupKeyReader::new(segment, self.keys.confirm())?;
                    other.insert((place.segment, reader))
                }
            };
            let mut row = place.row;
            let end = place.row + place.rows;
            while row < end {
                let first = row;
                let key = reader.get(row)?;
                signature.clear();
                signature.extend(key.signature);
                let key = GroupKey { class: key.class, signature: &signature };
                row += 1;
                while row < end && reader.get(row)? == key {
                    row += 1;
                }
                let rows = row - first;
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
                self.offer(Pair { new, existing, distance }, key)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
