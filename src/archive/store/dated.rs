//! The segments of a version: the day of each row, and which rows are shown. Not shown are the rows of removed pages, those that pages
//! of later days have replaced, and those of days that have expired.
//!
//! ```text
//! row        0    1    2    3    4    5
//! day       20   21   20   22   21   21     the days before 21 have expired: 0 and 2 are hidden
//! removed             2         4
//! replaced                           5      so 1 and 3 are shown
//! ```
//!
//! Only a segment of several days has expired rows, because one whose days have all expired is no part of the version. Its
//! day column says which they are, so nothing is written when a day expires.

use std::sync::Arc;

use super::damage::damaged;
use super::digest::Digest;
use super::row_sets::RowSet;
use super::segment::{Days, Segment};
use crate::day::Day;
use crate::error::Result;

#[derive(Clone, Debug)]
pub struct Dated {
    segment: Segment,
    /// The day of all its rows; none if each row has its own.
    day: Option<Day>,
    pub(super) hidden: Hidden,
}

pub enum RowDays {
    All(Day),
    Each(Days),
}

impl Dated {
    /// A segment whose rows all have `day`, or without one each its own, and of which nothing is hidden.
    pub fn new(segment: Segment, day: Option<Day>) -> Dated {
        Dated { segment, day, hidden: Hidden::default() }
    }

    pub(super) fn hiding(self, hidden: Hidden) -> Dated {
        Dated { hidden, ..self }
    }

    /// Hides these rows too, which are of these days.
    pub fn without(self, rows: impl Iterator<Item = (u64, Day)>) -> Dated {
        let mut gone = self.hidden.gone.as_deref().cloned().unwrap_or_default();
        if gone.add(rows, std::iter::empty()) == 0 {
            return self;
        }
        let hidden = Hidden { gone: Some(gone.into()), ..self.hidden };
        self.hiding(hidden)
    }

    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    pub fn days(&self) -> RowDays {
        match self.day {
            Some(day) => RowDays::All(day),
            None => RowDays::Each(Days::new(self.segment.clone())),
        }
    }

    pub fn hides(&self) -> bool {
        self.hidden.is_any()
    }

    /// A digest of what is shown: that of the segment, and of what is hidden of it.
    pub fn digest(&self) -> Digest {
        let segment = self.segment.digest();
        let both = |hidden: Digest| [segment, hidden].map(|it| it.0.to_le_bytes()).concat();
        self.hidden.digest().map_or(segment, |hidden| Digest::of(&both(hidden)))
    }

    pub fn shown(&self) -> Shown {
        let days = |expired: Expired| (expired.before, Days::new(self.segment.clone()));
        Shown {
            gone: self.hidden.gone.clone(),
            expired: self.hidden.expired.map(days),
            segment: self.segment.clone(),
        }
    }

    pub(super) fn empty_ids(&self) -> impl Iterator<Item = Result<String>> {
        let gone = self.hidden.gone.clone();
        let is_shown = move |row| gone.as_ref().is_none_or(|it| !it.empties.contains(row));
        let ids = (0..).zip(self.segment.empty_ids());
        ids.filter(move |(row, _)| is_shown(*row)).map(|(_, id)| id)
    }
}

impl RowDays {
    pub fn get(&mut self, row: u64) -> Result<Day> {
        match self {
            RowDays::All(day) => Ok(*day),
            RowDays::Each(days) => days.get(row),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Hidden {
    pub(super) gone: Option<Arc<RowSet>>,
    pub(super) expired: Option<Expired>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expired {
    pub before: Day,
    pub rows: u64,
}

/// Tells row by row what is shown. Ascending rows are fast.
pub struct Shown {
    gone: Option<Arc<RowSet>>,
    /// The first day that is shown, and the days of the rows; none if no day has expired.
    expired: Option<(Day, Days)>,
    segment: Segment,
}

impl Hidden {
    pub(super) fn is_any(&self) -> bool {
        self.gone.is_some() || self.expired.is_some()
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        let expired = self.expired.map_or(0, |expired| expired.rows);
        let Some(gone) = &self.gone else { return (expired, 0) };
        // Such a row of a day that has expired counts as expired.
        let first = self.expired.map(|expired| expired.before);
        let is_left = |day: &Day| first.is_none_or(|first| *day >= first);
        let rows = gone.days.iter().filter(|(day, _)| is_left(day)).map(|(_, rows)| rows);
        (expired + rows.sum::<u64>(), gone.empties.len())
    }

    pub(super) fn digest(&self) -> Option<Digest> {
        let gone = self.gone.as_ref().map(|gone| gone.digest());
        let Some(Expired { before, .. }) = self.expired else { return gone };
        let mut told = format!("before {before}").into_bytes();
        told.extend(gone.into_iter().flat_map(|gone| gone.0.to_le_bytes()));
        Some(Digest::of(&told))
    }
}

impl Shown {
    #[inline]
    pub fn get(&mut self, row: u64) -> Result<bool> {
        if self.gone.as_ref().is_some_and(|gone| gone.rows.contains(row)) {
            return Ok(false);
        }
        match &mut self.expired {
            Some((first, days)) => Ok(days.get(row)? >= *first),
            None => Ok(true),
        }
    }

    /// The first shown row from `row` on.
    pub fn next(&mut self, row: u64) -> Result<u64> {
        for row in row..self.segment.rows() {
            if self.get(row)? {
                return Ok(row);
            }
        }
        Err(damaged("the segment shows fewer rows than were counted").at(self.segment.path()))
    }

    /// Of `rows` rows from `row` on the first that is shown, and how many are; none if none is.
    pub fn among(&mut self, row: u64, rows: u64) -> Result<Option<(u64, u64)>> {
        let gone = self.gone.as_ref();
        let is_gone = gone.is_some_and(|gone| gone.rows.range_cardinality(row..row + rows) > 0);
        if !is_gone && self.expired.is_none() {
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
