//! The segments of a version with the days of their rows: one day for a whole segment, or one for each
//! row.

use crate::error::Result;

use super::day::Day;
use super::segment::{Days, Segment};

/// A segment of a store and the days of its rows.
#[derive(Clone, Debug)]
pub struct Dated {
    segment: Segment,
    /// The day of all its rows; none if each row has its own.
    day: Option<Day>,
}

/// The days of a segment's rows.
pub enum RowDays {
    /// All rows have this day.
    All(Day),
    /// Each row has its own day.
    Each(Days),
}

impl Dated {
    /// A segment whose rows all have `day`; without one, each row has its own.
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
    /// The day of `row`.
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
