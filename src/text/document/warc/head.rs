//! The head of a record: where its block ends, and what is told of it.

use std::net::IpAddr;

use super::headers::{Headers, head_bytes};
use crate::document::reason::Reason;

/// The most bytes of a head. An id may have half as many.
pub(super) const MAX_HEAD_BYTES: usize = 1 << 17;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Archive {
    /// WARC: a head is a version and lines of `Name: value`, up to a blank line.
    Warc,
    /// ARC: a head is one line: URL, IP address, time, media type, ..., length.
    Arc,
}

impl Archive {
    pub(super) fn of(start: &[u8]) -> Option<Archive> {
        match start {
            _ if start.starts_with(b"WARC/") => Some(Archive::Warc),
            _ if start.starts_with(b"filedesc://") => Some(Archive::Arc),
            _ => None,
        }
    }

    pub(super) fn record_end(self) -> &'static [u8] {
        match self {
            Archive::Warc => b"\r\n\r\n",
            Archive::Arc => b"\n",
        }
    }

    pub(super) fn begins(self, bytes: &[u8]) -> bool {
        match self {
            Archive::Warc => {
                bytes.starts_with(b"WARC/") && bytes.get(5).is_some_and(u8::is_ascii_digit)
            }
            Archive::Arc => {
                self.head_bytes(bytes).is_some_and(|len| arc_fields(&bytes[..len]).is_some())
            }
        }
    }

    pub(super) fn may_begin(self, bytes: &[u8]) -> bool {
        match self {
            Archive::Warc => b"WARC/".starts_with(bytes),
            Archive::Arc => !bytes.contains(&b'\n'),
        }
    }

    /// Whether a record ends before these bytes, though they are no head: the end of one, and in ARC a URL behind it.
    pub(super) fn ends_before(self, bytes: &[u8]) -> bool {
        let Some(next) = bytes.strip_prefix(self.record_end()) else { return false };
        let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let scheme = next.iter().take_while(|it| is_scheme(it)).count();
        self == Archive::Warc || scheme > 0 && next.get(scheme) == Some(&b':')
    }

    pub(super) fn head_bytes(self, bytes: &[u8]) -> Option<usize> {
        let bytes = &bytes[..bytes.len().min(MAX_HEAD_BYTES)];
        match self {
            Archive::Warc => head_bytes(bytes),
            Archive::Arc => memchr::memchr(b'\n', bytes).map(|at| at + 1),
        }
    }

    pub(super) fn head(self, bytes: &[u8]) -> Result<Head<'_>, Reason> {
        match self {
            Archive::Warc if !self.begins(bytes) => Err("no WARC record begins here".into()),
            Archive::Warc => Ok(Head::Warc(Headers(bytes))),
            Archive::Arc => {
                let fields = arc_fields(bytes).map(Head::Arc);
                fields.ok_or_else(|| "no ARC record begins here".into())
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Head<'a> {
    Warc(Headers<'a>),
    Arc(ArcFields<'a>),
}

/// The fields of an ARC record, by the names that WARC has for them.
type ArcFields<'a> = [(&'static str, &'a [u8]); 5];

/// Divides the line of an ARC record: `URL address time media-type length`, with five fields more before the length in version 2.
/// The URL and the media type may hold spaces, so it goes from the right: the length, then the time. That is a number of
/// 14 digits, or any number after an address.
fn arc_fields(line: &[u8]) -> Option<ArcFields<'_>> {
    let (fields, length) = last_field(line.trim_ascii_end())?;
    number(length)?;
    let mut rest = fields;
    loop {
        let (earlier, time) = last_field(rest)?;
        let (url, ip_address) = last_field(earlier)?;
        let is_number = !time.is_empty() && time.iter().all(u8::is_ascii_digit);
        if is_number && (time.len() == 14 || is_address(ip_address)) {
            let media_type = media_type(fields[rest.len()..].trim_ascii());
            return url.contains(&b':').then_some([
                ("WARC-Target-URI", url),
                // Any other number would be taken for seconds since 1970.
                ("WARC-Date", if time.len() == 14 { time } else { b"" }),
                ("WARC-IP-Address", ip_address),
                ("Content-Type", media_type),
                ("Content-Length", length),
            ]);
        }
        rest = earlier;
    }
}

fn last_field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr(b' ', line)?;
    Some((&line[..at], &line[at + 1..]))
}

fn is_address(field: &[u8]) -> bool {
    str::from_utf8(field).is_ok_and(|field| field.parse::<IpAddr>().is_ok())
}

/// The media type between time and length, which in version 2 status, checksum, location, offset and file name follow.
fn media_type(fields: &[u8]) -> &[u8] {
    let mut from_end = fields.rsplitn(6, |&byte| byte == b' ');
    let offset = from_end.nth(1).and_then(number);
    from_end.nth(3).filter(|_| offset.is_some()).unwrap_or(fields)
}

fn number(digits: &[u8]) -> Option<u64> {
    let plain = digits.iter().all(u8::is_ascii_digit);
    plain.then(|| str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

impl<'a> Head<'a> {
    pub(super) fn block_bytes(self) -> Result<u64, Reason> {
        let length = self.field("Content-Length").unwrap_or_default();
        number(length).ok_or_else(|| {
            Reason::quoting("no length of the record", &String::from_utf8_lossy(length))
        })
    }

    pub(super) fn field(self, name: &str) -> Option<&'a [u8]> {
        let name = match name {
            "id" | "url" => "WARC-Target-URI",
            "time" => "WARC-Date",
            name => name,
        };
        match self {
            Head::Warc(headers) => headers.get(name).map(without_brackets),
            Head::Arc(fields) => {
                let found = fields.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                found.map(|(_, value)| value)
            }
        }
    }
}

/// `<urn:x>` is the URI `urn:x`.
fn without_brackets(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"<").and_then(|value| value.strip_suffix(b">")).unwrap_or(value)
}
