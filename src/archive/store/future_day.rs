//! Future days.
//!
//! Retention counts back from the newest day of a store. So one page that is added by mistake as a page of the year 9999
//! lets all other days expire. No page is crawled on a day that has not come yet: a day that lies far after today, and far
//! after what the store holds, is a mistake until somebody says that it is meant. A day of long ago is none, because a
//! crawl of years ago may be added at any time.
//!
//! ```text
//! the store has 20, 21 and 22 November, and today is 23 November
//! 1 May 2013       taken
//! 24 November      taken: it has come where the sun rises first
//! 30 November      taken, the last of a week: the clock may be wrong by some days
//! 23 December      refused: the month is mistaken
//! ```
//!
//! A day that was confirmed speaks for itself alone. The days of a store follow each other from its first day on, each at most a week
//! after the one before or not ahead of today; a day behind the first gap does not count. So a clock that is behind the crawl refuses no day
//! that goes on from yesterday, and no second day of the year 9999 passes because of the first.

use super::expiry::Retention;
use super::version::Version;
use crate::day::Day;
use crate::error::{Error, Kind, Result};

/// How many days a day may lie after today and after the newest day of the store: time zones and clocks that are wrong by
/// some days are no mistake, but a wrong month is.
const MOST_AHEAD: u64 = 7;

const CONFIRM: &str = "correct the day or the clock; if the day is meant, confirm it";
const SETTING: &str = "confirm-day";

/// Fails if `day`, which is to be added to `version`, lies more than a week after `today` and after the newest day of the
/// version. Without a version there is no store yet. A day that the version has already is taken.
pub fn expect_come(version: Option<&Version>, day: Day, today: Day) -> Result<()> {
    let newest = version.and_then(|version| last_in_line(days_of(version), today));
    let is_held = version.is_some_and(|version| version.entry(day).is_some());
    if is_held || !is_ahead(day, newest, today) {
        return Ok(());
    }
    let than = match newest.filter(|newest| *newest > today) {
        Some(newest) => format!("{newest}, the last day of the store that follows others"),
        None => "today".to_owned(),
    };
    let what = format!("{day} lies more than {MOST_AHEAD} days after {than}");
    let error = Error::new(Kind::Usage, what).help(CONFIRM).setting(SETTING);
    Err(version.map_or(error.clone(), |version| error.at(&version.store)))
}

impl Version {
    /// Fails if `retention` would leave no day, or if it counts back from a day that was added by mistake: one that lies more
    /// than a week after `today` and after all other days.
    pub fn expect_kept(&self, retention: Retention, today: Day) -> Result<()> {
        let Some((newest, others)) = self.entries().split_last() else { return Ok(()) };
        let newest = newest.day;
        let others = last_in_line(others.iter().map(|entry| entry.day), today);
        let what = match retention {
            Retention::From(first) if first > newest => {
                format!("no day of the store would stay: the newest is {newest}")
            }
            Retention::Days(_) if is_ahead(newest, others, today) => {
                format!(
                    "the days to keep would be counted from {newest}, which lies more than {MOST_AHEAD} days after today and after the days that follow each other"
                )
            }
            _ => return Ok(()),
        };
        let help = format_args!("{CONFIRM}, or go back to the store before {newest}");
        Err(Error::new(Kind::Usage, what).at(&self.store).help(help).setting(SETTING))
    }
}

fn days_of(version: &Version) -> impl Iterator<Item = Day> {
    version.entries().iter().map(|entry| entry.day)
}

/// The last of `days`, which ascend, that follows the one before: none of these lies ahead of those before it.
fn last_in_line(days: impl Iterator<Item = Day>, today: Day) -> Option<Day> {
    let mut last = None;
    for day in days {
        if last.is_some() && is_ahead(day, last, today) {
            break;
        }
        last = Some(day);
    }
    last
}

fn is_ahead(day: Day, newest: Option<Day>, today: Day) -> bool {
    let latest = newest.map_or(today, |newest| newest.max(today));
    day.back(MOST_AHEAD).is_some_and(|before| before > latest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_after_today_or_the_newest_day_is_not_ahead() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        let today = day("2026-11-23");
        for (asked, newest, expected) in [
            ("0000-01-01", None, false),
            ("2013-05-01", Some("2026-11-22"), false),
            ("2026-11-30", None, false),
            ("2026-12-01", None, true),
            ("2026-12-01", Some("2013-05-01"), true),
            ("2026-12-01", Some("2026-11-24"), false),
            ("2026-12-23", Some("2026-11-22"), true),
            ("9999-12-31", Some("2026-11-22"), true),
            ("9999-12-31", Some("9999-12-24"), false),
        ] {
            assert_eq!(
                is_ahead(day(asked), newest.map(day), today),
                expected,
                "{asked} {newest:?}"
            );
        }
        for (days, expected) in [
            (&[][..], None),
            (&["2013-05-01", "2026-11-22"], Some("2026-11-22")),
            (&["2026-11-22", "2026-11-30", "2026-12-07"], Some("2026-12-07")),
            (&["2026-11-22", "2026-12-01", "2026-12-02"], Some("2026-11-22")),
            (&["2026-11-22", "9999-12-24", "9999-12-31"], Some("2026-11-22")),
            (&["9999-12-23", "9999-12-24"], Some("9999-12-24")),
        ] {
            let days = days.iter().map(|text| day(text));
            assert_eq!(last_in_line(days, today), expected.map(day));
        }
        assert!(Day::today() >= day("2026-12-31"), "a clock before the program itself is wrong");
    }
}
