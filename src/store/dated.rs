//! The segments of a version, and the days under which their rows are held: one for them all, or one
//! for each.

use crate::error::Result;

use super::day::Day;
use super::segment::{Days, Segment};

/// A segment of a store.
#[derive(Clone, Debug)]
pub struct Dated {
    segment: Segment,
    /// The day of all its rows, unless each tells its own.
    day: Option<Day>,
}

/// The days of a segment's rows.
pub enum RowDays {
    /// All have this one.
    All(Day),
    /// Each has its own.
    Each(Days),
}

impl Dated {
    /// A segment whose rows are all of `day`, or each of the day it tells.
    pub fn new(segment: Segment, day: Option<Day>) -> Dated {
        Dated { segment, day }
    }

    /// The segment.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Looks up the day of each row.
    pub fn days(&self) -> RowDays {
        match self.day {
            Some(day) => RowDays::All(day),
            None => RowDays::Each(Days::new(self.segment.clone())),
        }
    }
}

impl RowDays {
    /// The day under which `row`, one of the segment's, is held.
    ///
    /// # Errors
    /// Damage is [`crate::Kind::BadData`].
    pub fn get(&mut self, row: u64) -> Result<Day> {
        match self {
            RowDays::All(day) => Ok(*day),
            RowDays::Each(days) => days.get(row),
        }
    }
}
