//! When a page was fetched.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::Reason;

/// Reads integer seconds since 1970, or a time of RFC 3339, whose fraction of a second is dropped;
/// nothing at all is no time.
pub(super) fn seconds(text: &str) -> Result<Option<i64>, Reason> {
    if text.is_empty() {
        return Ok(None);
    }
    let parsed = text
        .parse()
        .ok()
        .or_else(|| OffsetDateTime::parse(text, &Rfc3339).ok().map(OffsetDateTime::unix_timestamp));
    match parsed {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(Reason::quoting("neither seconds nor an RFC 3339 time", text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_rfc_3339() {
        let seconds = |text| seconds(text).unwrap();
        assert_eq!(seconds(""), None);
        assert_eq!(seconds("1795248000"), Some(1_795_248_000));
        assert_eq!(seconds("-5"), Some(-5));
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2026-11-21T09:30:00.999+08:00"), Some(1_795_224_600));
        assert_eq!(seconds("1969-12-31T23:59:59.5Z"), Some(-1));
    }

    #[test]
    fn what_is_no_time_is_quarantined() {
        for text in [
            "yesterday",
            "2026-11-21",
            "2026-13-01T00:00:00Z",
            "1.5",
            " 1",
            "9e18",
            "2026-11-21T09:30:00",
            "99999999999999999999",
        ] {
            let reason = seconds(text).unwrap_err().to_string();
            assert!(reason.contains(text), "{reason}");
        }
    }
}
