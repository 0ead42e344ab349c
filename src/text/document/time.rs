//! The time at which a page was fetched, in the notations of crawlers.

use std::str::FromStr;

use time::OffsetDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

use super::order_key::{OrderKey, OrderKind};
use super::reason::Reason;

impl FromStr for OrderKey {
    type Err = Reason;

    fn from_str(text: &str) -> Result<OrderKey, Reason> {
        parse(text)
    }
}

/// Numbers from here on are milliseconds. As seconds this would be the year 5138.
const FIRST_MILLISECONDS: u64 = 100_000_000_000;

pub(super) fn parse(text: &str) -> Result<OrderKey, Reason> {
    if text.is_empty() {
        return Ok(OrderKey::Empty);
    }
    let readers = [digits, day, number, date, http];
    match readers.into_iter().find_map(|read| read(text)) {
        Some((seconds, kind)) => Ok(OrderKey::At { key: seconds, kind }),
        None => Err(Reason::quoting("not a time", text)),
    }
}

fn digits(text: &str) -> Option<(i64, OrderKind)> {
    let plain = text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || !(text.starts_with("19") || text.starts_with("20")) {
        return None;
    }
    let part = |from: usize| &text[from..from + 2];
    let [month, day, hour, minute, second] = [4, 6, 8, 10, 12].map(part);
    let date = format!("{}-{month}-{day}T{hour}:{minute}:{second}Z", &text[..4]);
    Some((rfc_3339(&date)?, OrderKind::Digits))
}

/// `2026-07-01` or `20260701`. As seconds, eight digits with a year, a month and a day would be a day of 1970.
fn day(text: &str) -> Option<(i64, OrderKind)> {
    let date = match text.len() {
        10 => text.to_owned(),
        8 if text.starts_with("19") || text.starts_with("20") => {
            format!("{}-{}-{}", text.get(..4)?, text.get(4..6)?, text.get(6..)?)
        }
        _ => return None,
    };
    Some((rfc_3339(&format!("{date}T00:00:00Z"))?, OrderKind::Days))
}

fn number(text: &str) -> Option<(i64, OrderKind)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: i64 = whole.parse().ok()?;
    let passed = fraction.bytes().any(|byte| byte != b'0') && whole.starts_with('-');
    if count.unsigned_abs() < FIRST_MILLISECONDS {
        Some((count - i64::from(passed), OrderKind::Seconds))
    } else if count.unsigned_abs() < 100 * FIRST_MILLISECONDS {
        Some((count.div_euclid(1000), OrderKind::Milliseconds))
    } else {
        None
    }
}

/// `2026-07-01T12:00:00.5+08:00`, also with a space for the T and with another zone or none.
fn date(text: &str) -> Option<(i64, OrderKind)> {
    let date = text.get(..10)?;
    let rest = text.get(10..)?;
    let clock = rest.strip_prefix(['T', 't', ' '])?;
    let is_fraction = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.');
    let end = clock.find(|c| !is_fraction(c)).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(end);
    let zone = zone.strip_prefix(' ').unwrap_or(zone);
    let (zone, kind) = match zone {
        "" => ("Z".to_owned(), OrderKind::Unzoned),
        "UTC" | "GMT" | "Z" | "z" => ("Z".to_owned(), OrderKind::Zoned),
        // +0800
        _ if zone.len() == 5 => {
            (format!("{}:{}", zone.get(..3)?, zone.get(3..)?), OrderKind::Zoned)
        }
        _ => (zone.to_owned(), OrderKind::Zoned),
    };
    Some((rfc_3339(&format!("{date}T{clock}{zone}"))?, kind))
}

fn rfc_3339(text: &str) -> Option<i64> {
    OffsetDateTime::parse(text, &Rfc3339).ok().map(OffsetDateTime::unix_timestamp)
}

fn http(text: &str) -> Option<(i64, OrderKind)> {
    let date = OffsetDateTime::parse(text, &Rfc2822).ok()?;
    Some((date.unix_timestamp(), OrderKind::Http))
}

#[cfg(test)]
mod tests {
    use super::super::order_key::OrderCounts;
    use super::*;

    #[test]
    fn times_are_read_as_crawlers_write_them_and_others_quarantined() {
        for line in include_str!("time/cases.tsv").lines() {
            let mut parts = line.splitn(2, '\t');
            let text = parts.next().unwrap();
            match (parse(text), parts.next()) {
                (Ok(OrderKey::At { key, kind }), Some(expected)) => {
                    assert_eq!(format!("{key}\t{kind}"), expected, "{text}");
                }
                (found, expected) => {
                    assert_eq!(expected, None, "{text}: {found:?}");
                    assert_eq!(found.unwrap_err().to_string(), format!("not a time: \"{text}\""));
                }
            }
        }
        assert_eq!(parse("").unwrap(), OrderKey::Empty);
    }

    #[test]
    fn the_kinds_are_counted() {
        let mut times = OrderCounts::default();
        for text in ["0", "1", "20260701120000", "2026-07-01 12:00:00", ""] {
            times.count(parse(text).unwrap());
        }
        times.add(times);
        times.count(OrderKey::NoField);
        assert_eq!(times.known(), 8);
        let told = "2 without a zone, taken as UTC, 4 seconds, 2 of 14 digits, 3 missing";
        assert_eq!(times.to_string(), told);
    }
}
