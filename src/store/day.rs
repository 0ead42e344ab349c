//! The day that pages were crawled on.

use std::str::FromStr;
use std::{fmt, iter};

use serde::{Deserialize, Serialize};
use time::{Date, Month};

use crate::error::{Error, Kind, Result};

/// A day of the calendar, written strictly `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    /// The day of that date, if there is one.
    pub fn of(year: u16, month: u8, day: u8) -> Option<Day> {
        let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        let days = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let real = year <= 9999 && (1..=12).contains(&month) && (1..=days).contains(&day);
        real.then_some(Day { year, month, day })
    }

    /// The day after it, unless that has a year of five digits.
    fn next(self) -> Option<Day> {
        let month = Month::try_from(self.month).ok()?;
        let date = Date::from_calendar_date(self.year.into(), month, self.day).ok()?;
        let next = date.next_day()?;
        Day::of(next.year().try_into().ok()?, next.month().into(), next.day())
    }

    /// Puts its parts into `text`: `{date}`, `{year}`, `{month}` and `{day}`, with all their digits.
    pub fn expand(self, text: &str) -> String {
        text.replace("{date}", &self.to_string())
            .replace("{year}", &format!("{:04}", self.year))
            .replace("{month}", &format!("{:02}", self.month))
            .replace("{day}", &format!("{:02}", self.day))
    }

    /// Its eight digits as a number.
    pub(crate) fn number(self) -> u64 {
        u64::from(self.year) * 10_000 + u64::from(self.month) * 100 + u64::from(self.day)
    }

    /// The day of that number, if it is one.
    pub(crate) fn of_number(number: u64) -> Option<Day> {
        let year = u16::try_from(number / 10_000).ok()?;
        Day::of(year, (number / 100 % 100) as u8, (number % 100) as u8)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Day {
    type Err = Error;

    fn from_str(text: &str) -> Result<Day> {
        let part = |range| text.get(range).and_then(|digits: &str| digits.parse::<u16>().ok());
        let day = || Day::of(part(0..4)?, part(5..7)? as u8, part(8..10)? as u8);
        // What does not read back as it was written had a sign, a blank or another divider.
        day().filter(|day| day.to_string() == text).ok_or_else(|| {
            Error::new(Kind::Usage, "not a day")
                .expected("a date of the calendar as YYYY-MM-DD")
                .found(format_args!("`{text}`"))
        })
    }
}

impl TryFrom<String> for Day {
    type Error = Error;

    fn try_from(text: String) -> Result<Day> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> String {
        day.to_string()
    }
}

/// Days that follow on one another: written `A..B`, both of them included, or as the one day they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct DayRange {
    first: Day,
    last: Day,
}

impl DayRange {
    /// Its days, in the order of the calendar.
    pub fn days(self) -> impl Iterator<Item = Day> {
        iter::successors(Some(self.first), |day| day.next())
            .take_while(move |day| *day <= self.last)
    }
}

impl FromStr for DayRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<DayRange> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let range = DayRange { first: first.parse()?, last: last.parse()? };
        match range.first <= range.last {
            true => Ok(range),
            false => Err(Error::new(Kind::Usage, "the range of days ends before it begins")
                .expected("A..B, with A not later than B")
                .found(format_args!("`{text}`"))),
        }
    }
}

impl TryFrom<String> for DayRange {
    type Error = Error;

    fn try_from(text: String) -> Result<DayRange> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_both_of_its_ends() {
        let days = |text: &str| -> Vec<String> {
            text.parse::<DayRange>().unwrap().days().map(|day| day.to_string()).collect()
        };
        assert_eq!(days("2026-11-20"), ["2026-11-20"]);
        let leap = ["2024-02-28", "2024-02-29", "2024-03-01"];
        assert_eq!(days("2024-02-28..2024-03-01"), leap);
        assert_eq!(days("2025-12-31..2026-01-01"), ["2025-12-31", "2026-01-01"]);
        assert_eq!(days("9999-12-30..9999-12-31").len(), 2);
        assert_eq!(days("0000-01-01..9999-12-31").len(), 3_652_425);
        for wrong in ["", "..", "2026-11-20..", "2026-11-20..2026-11-19", "2026-11-20...2026-11-21"]
        {
            assert_eq!(wrong.parse::<DayRange>().unwrap_err().kind(), Kind::Usage, "{wrong}");
        }
    }

    #[test]
    fn only_real_dates_in_one_notation_are_days() {
        for text in ["2026-11-21", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"] {
            let day: Day = text.parse().unwrap();
            assert_eq!(
                (day.to_string(), Day::of_number(day.number())),
                (text.to_owned(), Some(day))
            );
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-01-00",
            "2026-1-1",
            "26-01-01",
            "2026/01/01",
            "2026-01-01 ",
            "+026-01-01",
            "2026-01-+1",
            "",
            "２０２６-01-01",
        ] {
            assert_eq!(text.parse::<Day>().unwrap_err().kind(), Kind::Usage, "{text}");
        }
        assert!("2026-11-09".parse::<Day>().unwrap() < "2026-11-10".parse::<Day>().unwrap());
    }
}
