//! Which rows of a segment a version shows: not those of removed pages, and not those of days that have
//! expired.
//!
//! ```text
//! row        0    1    2    3    4
//! day       20   21   20   22   21      the days before 21 have expired: 0 and 2 are hidden
//! removed             2         4       so 1 and 3 are shown
//! ```
//!
//! Only a segment of several days has expired rows, because one whose days have all expired is no part of the version. Its
//! day column says which they are, so nothing is written when a day expires.

use std::sync::Arc;

use super::damage::damaged;
use super::day::Day;
use super::digest::Digest;
use super::removals::RemovedRows;
use super::segment::{Days, Segment};
use crate::error::Result;

/// What a version hides of one of its segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Hidden {
    /// The removed rows.
    pub(super) removed: Option<Arc<RemovedRows>>,
    /// What has expired.
    pub(super) expired: Option<Expired>,
}

/// What has expired of a segment of several days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expired {
    /// The rows of the days before this one.
    pub(crate) before: Day,
    /// How many they are.
    pub(crate) rows: u64,
}

/// Tells row by row what is shown. Ascending rows are fast.
pub struct Shown {
    removed: Option<Arc<RemovedRows>>,
    /// The first day that is shown, and the days of the rows; none if no day has expired.
    expired: Option<(Day, Days)>,
    segment: Segment,
}

impl Hidden {
    /// Whether there is anything.
    pub(super) fn is_any(&self) -> bool {
        self.removed.is_some() || self.expired.is_some()
    }

    /// How many rows are hidden, and how many documents without a fingerprint.
    pub(super) fn counts(&self) -> (u64, u64) {
        let expired = self.expired.map_or(0, |expired| expired.rows);
        let Some(removed) = &self.removed else { return (expired, 0) };
        // A removed row of a day that has expired counts as expired.
        let first = self.expired.map(|expired| expired.before);
        let is_left = |day: &Day| first.is_none_or(|first| *day >= first);
        let rows = removed.days.iter().filter(|(day, _)| is_left(day)).map(|(_, rows)| rows);
        (expired + rows.sum::<u64>(), removed.empties.len())
    }

    /// A digest of what is hidden; none if nothing is.
    pub(super) fn digest(&self) -> Option<Digest> {
        let removed = self.removed.as_ref().map(|removed| removed.digest());
        let Some(Expired { before, .. }) = self.expired else { return removed };
        let mut told = format!("before {before}").into_bytes();
        told.extend(removed.into_iter().flat_map(|removed| removed.0.to_le_bytes()));
        Some(Digest::of(&told))
    }
}

impl Shown {
    pub(super) fn new(segment: &Segment, hidden: &Hidden) -> Shown {
        let days = |expired: Expired| (expired.before, Days::new(segment.clone()));
        Shown {
            removed: hidden.removed.clone(),
            expired: hidden.expired.map(days),
            segment: segment.clone(),
        }
    }

    /// Whether `row` is shown.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    #[inline]
    pub fn get(&mut self, row: u64) -> Result<bool> {
        if self.removed.as_ref().is_some_and(|removed| removed.rows.contains(row)) {
            return Ok(false);
        }
        match &mut self.expired {
            Some((first, days)) => Ok(days.get(row)? >= *first),
            None => Ok(true),
        }
    }

    /// The first shown row from `row` on.
    ///
    /// # Errors
    /// As [`Shown::get`], and if there is none: the caller knows that there is one.
    pub fn next(&mut self, row: u64) -> Result<u64> {
        for row in row..self.segment.rows() {
            if self.get(row)? {
                return Ok(row);
            }
        }
        Err(damaged("the segment shows fewer rows than were counted").at(self.segment.path()))
    }

    /// Of `rows` rows from `row` on the first that is shown, and how many are; none if none is.
    ///
    /// # Errors
    /// As [`Shown::get`].
    pub fn among(&mut self, row: u64, rows: u64) -> Result<Option<(u64, u64)>> {
        let removed = self.removed.as_ref();
        let is_removed =
            removed.is_some_and(|removed| removed.rows.range_cardinality(row..row + rows) > 0);
        if !is_removed && self.expired.is_none() {
            return Ok(Some((row, rows)));
        }
        let mut first = None;
        let mut count = 0;
        for row in row..row + rows {
            if self.get(row)? {
                first.get_or_insert(row);
                count += 1;
            }
        }
        Ok(first.map(|first| (first, count)))
    }
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let first = self.expired.as_ref().map(|(first, _)| first);
        write!(f, "Shown({}, from {first:?})", self.segment.path().display())
    }
}
