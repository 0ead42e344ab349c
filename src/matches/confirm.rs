//! Candidates confirmed: of what is within k, only pages of one class, and with a check only those
//! whose signatures are alike too.
//!
//! Near is then said of documents, not of fingerprints: pages with one fingerprint may be of two
//! classes, or have unlike texts. So the [batch](Batch) is grouped by fingerprint and [`Mark`], and each
//! pair of fingerprints is taken apart into the pairs of its groups. On these the keep rule works as on
//! any others. Marks of the store are read in the order of the disk, each once; of neighbours with one
//! fingerprint and one mark all are confirmed together.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::fingerprint::Check;
use crate::matches::group_key::{Mark, MarkReader, Marks};
use crate::matches::partition::{Near, Standing, standings_at};
use crate::matches::{Batch, Pair, Place};
use crate::progress::{self, Activity};
use crate::runs::{Record, Sorted, Sorter};
use crate::store::{Checks, Dated, Segment};

/// The least similarity of what is confirmed, unless told otherwise.
const LEAST: f64 = 0.75;

/// The check by which candidates are confirmed, and how alike they must be. Written as the check's
/// name, and `:0.75` after it for the least similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confirm {
    /// The check.
    pub check: Check,
    /// The least similarity, from 0 to 1.
    pub least: f64,
}

/// How alike two documents are by their signatures: from 0 to 1, in ten-thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Similarity(u16);

impl Confirm {
    /// How alike the documents behind two signatures are, if that is enough.
    pub fn similarity(&self, one: &[u8], another: &[u8]) -> Option<Similarity> {
        let similarity = self.check.similarity(one, another);
        (similarity >= self.least).then(|| Similarity((similarity * 10_000.0).round() as u16))
    }

    /// Looks up the signatures of a segment.
    ///
    /// # Errors
    /// A segment that does not hold them is [`Kind::BadData`].
    pub(super) fn signatures(&self, segment: &Segment) -> Result<Checks> {
        let lacking = || {
            Error::new(Kind::BadData, "the segment does not hold the signatures of its recipe")
                .at(segment.path())
                .expected(format!("{} bytes for each document", self.check.bytes()))
                .found(segment.check_bytes())
        };
        let checks = segment.checks().filter(|_| segment.check_bytes() == self.check.bytes());
        checks.ok_or_else(lacking)
    }
}

/// A pair of groups, with its similarity where it was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Confirmed {
    pub(super) pair: Pair,
    pub(super) similarity: Option<Similarity>,
}

impl Record for Confirmed {}

/// Calls `take` with the confirmed pairs of groups among `pairs`, which are of fingerprints, and among
/// the groups of each fingerprint. Gives the number of pairs of documents that were candidates.
pub(super) fn confirm(
    batch: &Batch,
    marks: &Marks,
    store: &[Dated],
    pairs: Sorted<Pair>,
    (folder, memory_bytes): (&Path, usize),
    take: impl FnMut(Confirmed) -> Result<()>,
) -> Result<u128> {
    let mut standings = Sorter::new(folder, memory_bytes);
    let mut candidates = 0;
    let mut confirming = Confirming { batch, marks, take };
    for fingerprint in 0..batch.fingerprints() {
        let rows = confirming.rows(fingerprint);
        candidates += rows * (rows - 1) / 2;
        confirming.copies(fingerprint)?;
    }
    for pair in pairs {
        let Pair { new, existing, distance } = pair?;
        match existing {
            Place::Store { segment, row, rows } => {
                candidates += confirming.rows(new) * u128::from(rows);
                let similarity = None;
                standings.push(Standing { segment, row, rows, new, distance, similarity })?;
            }
            Place::Batch { group: existing } => {
                candidates += confirming.rows(new) * confirming.rows(existing);
                confirming.groups(new, existing, distance)?;
            }
            Place::Crowd => {
                for new in batch.groups_of(new) {
                    let pair = Pair { new, existing: Place::Crowd, distance };
                    (confirming.take)(Confirmed { pair, similarity: None })?;
                }
            }
        }
    }
    confirming.store(store, standings.sorted()?)?;
    Ok(candidates)
}

/// Takes pairs of fingerprints apart into pairs of groups and hands on those that match.
struct Confirming<'a, T> {
    batch: &'a Batch,
    marks: &'a Marks,
    take: T,
}

impl<'a, T: FnMut(Confirmed) -> Result<()>> Confirming<'a, T> {
    /// How many documents of the batch have a fingerprint.
    fn rows(&self, fingerprint: u32) -> u128 {
        let groups = self.batch.groups_of(fingerprint);
        groups.map(|group| self.batch.rows_of(group).len() as u128).sum()
    }

    /// Hands on a pair of groups if both are of one class and their signatures, where asked for, alike.
    fn offer(&mut self, pair: Pair, existing: Mark<'_>) -> Result<()> {
        match self.marks.compare(self.batch.mark(self.marks, pair.new), existing) {
            Some(similarity) => (self.take)(Confirmed { pair, similarity }),
            None => Ok(()),
        }
    }

    /// The pairs of groups that have one fingerprint.
    fn copies(&mut self, fingerprint: u32) -> Result<()> {
        let groups = self.batch.groups_of(fingerprint);
        for new in groups.clone() {
            progress::tick(Activity::Working);
            for group in groups.start..new {
                let pair = Pair { new, existing: Place::Batch { group }, distance: 0 };
                self.offer(pair, self.batch.mark(self.marks, group))?;
            }
        }
        Ok(())
    }

    /// The pairs of groups of two fingerprints of the batch.
    fn groups(&mut self, new: u32, existing: u32, distance: u8) -> Result<()> {
        for new in self.batch.groups_of(new) {
            progress::tick(Activity::Working);
            for group in self.batch.groups_of(existing) {
                let pair = Pair { new, existing: Place::Batch { group }, distance };
                self.offer(pair, self.batch.mark(self.marks, group))?;
            }
        }
        Ok(())
    }

    /// The pairs with the store, in the order of the disk.
    fn store(&mut self, store: &[Dated], standings: Sorted<Standing>) -> Result<()> {
        let mut reader: Option<(u32, MarkReader)> = None;
        let mut held = Vec::new();
        standings_at(standings, |place, near| {
            let (_, reader) = match &mut reader {
                Some(reader) if reader.0 == place.segment => reader,
                other => {
                    let segment = store[place.segment as usize].segment();
                    other.insert((place.segment, MarkReader::new(segment, self.marks.confirm())?))
                }
            };
            let (mut row, end) = (place.row, place.row + place.rows);
            while row < end {
                let (first, mark) = (row, reader.get(row)?);
                held.clear();
                held.extend(mark.signature);
                let mark = Mark { class: mark.class, signature: &held };
                row += 1;
                while row < end && reader.get(row)? == mark {
                    row += 1;
                }
                let (segment, rows) = (place.segment, row - first);
                self.stretch(Place::Store { segment, row: first, rows }, mark, near)?;
            }
            Ok(())
        })
    }

    /// The pairs with rows of the store that have one fingerprint and one mark.
    fn stretch(&mut self, existing: Place, mark: Mark<'_>, near: &[Near]) -> Result<()> {
        for &(fingerprint, distance, _) in near {
            progress::tick(Activity::Working);
            for new in self.batch.groups_of(fingerprint) {
                self.offer(Pair { new, existing, distance }, mark)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Similarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:04}", self.0 / 10_000, self.0 % 10_000)
    }
}

impl fmt::Display for Confirm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.check, self.least)
    }
}

impl FromStr for Confirm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Confirm> {
        let (name, least) =
            text.split_once(':').map_or((text, None), |(name, least)| (name, Some(least)));
        let check = name.parse()?;
        let least = least.map_or(Some(LEAST), |least| least.parse().ok());
        let least = least.filter(|least| (0.0..=1.0).contains(least)).ok_or_else(|| {
            Error::new(Kind::Usage, "not a least similarity")
                .expected("a number from 0 to 1 after the name of the check, such as minhash:0.75")
                .found(text)
        })?;
        Ok(Confirm { check, least })
    }
}

#[cfg(test)]
mod tests;
