//! The day on which pages were crawled, and ranges of days.

use std::str::FromStr;
use std::{fmt, iter};

use serde::Deserialize;
use time::{Date, Month, OffsetDateTime};

use crate::error::{Error, Kind, Result, as_text};

const LAST_YEAR: i32 = 9999;
/// The last day of the year in which the program was written. A clock that is before it tells nothing: the clock of a machine
/// without a battery begins in 1970.
const WRITTEN: Date = match Date::from_calendar_date(2026, Month::December, 31) {
    Ok(date) => date,
    Err(_) => Date::MAX,
};

/// A day of the calendar, from the year 0 to the year 9999; written `YYYY-MM-DD` and in no other way.
///
/// ```
/// use dupsieve_base::day::Day;
///
/// let day: Day = "2024-02-29".parse()?;
/// assert_eq!(day.expand("crawl/{year}/{month}-{day}.jsonl"), "crawl/2024/02-29.jsonl");
/// assert!("2023-02-29".parse::<Day>().is_err(), "2023 is not a leap year");
/// # Ok::<(), dupsieve_base::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

impl Day {
    /// The day of that date, if the calendar has it and the year is at most 9999.
    pub fn of(year: u16, month: u8, day: u8) -> Option<Day> {
        let month = Month::try_from(month).ok()?;
        Date::from_calendar_date(year.into(), month, day).ok().and_then(Day::within)
    }

    /// The day that it is now, in UTC, by the clock of this machine; if that is wrong, the last day of 2026.
    pub fn today() -> Day {
        let now = OffsetDateTime::now_utc().date().max(WRITTEN);
        Day::within(now).unwrap_or(Day(WRITTEN))
    }

    /// Its beginning in UTC, in seconds since 1970.
    pub fn begins(self) -> i64 {
        self.0.midnight().assume_utc().unix_timestamp()
    }

    pub fn next(self) -> Option<Day> {
        self.0.next_day().and_then(Day::within)
    }

    /// So many days before it.
    pub fn back(self, days: u64) -> Option<Day> {
        let days = time::Duration::days(i64::try_from(days).ok()?);
        self.0.checked_sub(days).and_then(Day::within)
    }

    fn within(date: Date) -> Option<Day> {
        (0..=LAST_YEAR).contains(&date.year()).then_some(Day(date))
    }

    /// How many days it comes after 1970-01-01.
    pub fn since_1970(self) -> i32 {
        self.0.to_julian_day() - OffsetDateTime::UNIX_EPOCH.to_julian_day()
    }

    pub fn of_days_since_1970(days: i32) -> Option<Day> {
        let julian = OffsetDateTime::UNIX_EPOCH.to_julian_day().checked_add(days)?;
        Date::from_julian_day(julian).ok().and_then(Day::within)
    }

    /// Replaces `{date}`, `{year}`, `{month}` and `{day}` in `text`, with leading zeros.
    pub fn expand(self, text: &str) -> String {
        let (year, month, day) = self.0.to_calendar_date();
        text.replace("{date}", &self.to_string())
            .replace("{year}", &format!("{year:04}"))
            .replace("{month}", &format!("{:02}", u8::from(month)))
            .replace("{day}", &format!("{day:02}"))
    }

    /// The day as a number of eight digits: 20261121 for 2026-11-21.
    pub fn number(self) -> u64 {
        let (year, month, day) = self.0.to_calendar_date();
        year.unsigned_abs() as u64 * 10_000 + u64::from(u8::from(month)) * 100 + u64::from(day)
    }

    /// The day of a number such as 20261118.
    pub fn of_number(number: u64) -> Option<Day> {
        let year = u16::try_from(number / 10_000).ok()?;
        Day::of(year, (number / 100 % 100) as u8, (number % 100) as u8)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.0.to_calendar_date();
        write!(f, "{year:04}-{:02}-{day:02}", u8::from(month))
    }
}

impl FromStr for Day {
    type Err = Error;

    fn from_str(text: &str) -> Result<Day> {
        let part = |range| text.get(range).and_then(|digits: &str| digits.parse::<u16>().ok());
        let day = || Day::of(part(0..4)?, part(5..7)? as u8, part(8..10)? as u8);
        // Written back, the day shows whether the text had a sign, a blank or another separator.
        day().filter(|day| day.to_string() == text).ok_or_else(|| {
            Error::new(Kind::Usage, "not a day")
                .expected("a date of the calendar as YYYY-MM-DD")
                .found(format_args!("`{text}`"))
        })
    }
}

as_text!(Day);

/// A range of consecutive days: `2026-11-20..2026-11-22` is three days, `2026-11-20` is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct DayRange {
    first: Day,
    last: Day,
}

impl DayRange {
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
        if range.first > range.last {
            return Err(Error::new(Kind::Usage, "the range of days ends before it begins")
                .expected("A..B, with A not later than B")
                .found(format_args!("`{text}`")));
        }
        Ok(range)
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
    fn the_year_9999_is_the_last() {
        assert_eq!(Day::of(9999, 12, 31).unwrap().next(), None);
        for year in [10_000, u16::MAX] {
            assert_eq!(Day::of(year, 1, 1), None);
            assert_eq!(Day::of_number(u64::from(year) * 10_000 + 101), None);
        }
    }

    #[test]
    fn only_real_dates_in_one_notation_are_days() {
        for (text, since_1970) in [
            ("1969-12-31", -1),
            ("1970-01-01", 0),
            ("2026-11-20", 20_777),
            ("2024-02-29", 19_782),
            ("0000-01-01", -719_528),
            ("9999-12-31", 2_932_896),
        ] {
            let day: Day = text.parse().unwrap();
            assert_eq!((day.to_string(), day.since_1970()), (text.to_owned(), since_1970));
            let again = [Day::of_number(day.number()), Day::of_days_since_1970(since_1970)];
            assert_eq!(again, [Some(day); 2]);
        }
        assert_eq!([i32::MAX, i32::MIN, 2_932_897].map(Day::of_days_since_1970), [None; 3]);
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-1-1",
            "26-01-01",
            "2026/01/01",
            "2026-01-01 ",
            "+026-01-01",
            "",
            "２０２６-01-01",
        ] {
            assert_eq!(text.parse::<Day>().unwrap_err().kind(), Kind::Usage, "{text}");
        }
        assert!("2026-11-09".parse::<Day>().unwrap() < "2026-11-10".parse::<Day>().unwrap());
    }
}
