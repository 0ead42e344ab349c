//! Which rows of a segment a version shows: not those of removed pages, and not those of days that have
//! expired.

use std::sync::Arc;

use super::digest::Digest;
use super::removals::RemovedRows;
use super::segment::Segment;
use crate::error::Result;

/// What a version hides of one of its segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Hidden {
    /// The removed rows.
    pub(super) removed: Option<Arc<RemovedRows>>,
}

/// Tells row by row what is shown. Ascending rows are fast.
#[derive(Debug)]
pub struct Shown {
    hidden: Hidden,
}

impl Hidden {
    /// Whether there is anything.
    pub(super) fn is_any(&self) -> bool {
        self.removed.is_some()
    }

    /// How many rows are hidden, and how many documents without a fingerprint.
    pub(super) fn counts(&self) -> (u64, u64) {
        self.removed.as_ref().map_or((0, 0), |removed| (removed.rows.len(), removed.empties.len()))
    }

    /// A digest of what is hidden; none if nothing is.
    pub(super) fn digest(&self) -> Option<Digest> {
        self.removed.as_ref().map(|removed| removed.digest())
    }
}

impl Shown {
    pub(super) fn new(_segment: &Segment, hidden: &Hidden) -> Shown {
        Shown { hidden: hidden.clone() }
    }

    /// Whether `row` is shown.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub fn get(&mut self, row: u64) -> Result<bool> {
        let removed = self.hidden.removed.as_ref();
        Ok(removed.is_none_or(|removed| !removed.rows.contains(row)))
    }

    /// The first shown row from `row` on. The caller knows that there is one.
    ///
    /// # Errors
    /// As [`Shown::get`].
    pub fn next(&mut self, mut row: u64) -> Result<u64> {
        while !self.get(row)? {
            row += 1;
        }
        Ok(row)
    }

    /// Of `rows` rows from `row` on the first that is shown, and how many are; none if none is.
    ///
    /// # Errors
    /// As [`Shown::get`].
    pub fn among(&mut self, row: u64, rows: u64) -> Result<Option<(u64, u64)>> {
        let removed = self.hidden.removed.as_ref();
        if removed.is_none_or(|removed| removed.rows.range_cardinality(row..row + rows) == 0) {
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
