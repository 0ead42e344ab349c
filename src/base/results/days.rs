//! Days as numbers: how many they come after 1970-01-01.

use time::{Date, Month};

const FIRST: Date = match Date::from_calendar_date(1970, Month::January, 1) {
    Ok(date) => date,
    Err(_) => panic!("this day is in the calendar"),
};

pub(super) fn number_of(text: &str) -> Option<i32> {
    let mut parts = text.split('-');
    let mut part = || parts.next()?.parse::<u16>().ok();
    let (year, month, day) = (part()?, part()?, part()?);
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(year.into(), month, u8::try_from(day).ok()?).ok()?;
    let number = date.to_julian_day() - FIRST.to_julian_day();
    (day_of(number).as_deref() == Some(text)).then_some(number)
}

/// The day with this number as YYYY-MM-DD, if its year has four digits.
pub(super) fn day_of(number: i32) -> Option<String> {
    let date = Date::from_julian_day(FIRST.to_julian_day().checked_add(number)?).ok()?;
    let (year, month, day) = date.to_calendar_date();
    (0..=9999).contains(&year).then(|| format!("{year:04}-{:02}-{day:02}", u8::from(month)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (text, number) in [
            ("1970-01-01", Some(0)),
            ("1969-12-31", Some(-1)),
            ("2026-11-20", Some(20_777)),
            ("2026-02-29", None),
            ("2026-2-3", None),
            ("+026-01-01", None),
            ("batch", None),
        ] {
            assert_eq!(number_of(text), number, "{text}");
        }
        assert_eq!(day_of(20_777).as_deref(), Some("2026-11-20"));
        assert_eq!([day_of(i32::MAX), day_of(i32::MIN)], [None, None]);
    }
}
