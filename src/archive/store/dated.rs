//! The segments of a version with the days of their rows, one day for a whole segment or one for each row,
//! and with what the version hides of them.

use crate::error::Result;

use super::day::Day;
use super::digest::Digest;
use super::segment::{Days, Segment};
use super::shown::{Hidden, Shown};

/// A segment of a store and the days of its rows.
#[derive(Clone, Debug)]
pub struct Dated {
    segment: Segment,
    /// The day of all its rows; none if each row has its own.
    day: Option<Day>,
    hidden: Hidden,
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

    /// Whether any of its rows may be hidden.
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
        Shown::new(&self.segment, &self.hidden)
    }

    pub(super) fn empty_ids(&self) -> impl Iterator<Item = Result<String>> {
        let gone = self.hidden.gone.clone();
        let is_shown = move |row| gone.as_ref().is_none_or(|it| !it.empties.contains(row));
        let ids = (0..).zip(self.segment.empty_ids());
        ids.filter(move |(row, _)| is_shown(*row)).map(|(_, id)| id)
    }

    pub(super) fn hidden_counts(&self) -> (u64, u64) {
        self.hidden.counts()
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
