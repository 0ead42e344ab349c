//! Records of a web archive: which of them are pages, and the text of each.

use std::borrow::Cow;
use std::ops::Range;

use super::codings::unpacked;
use super::head::{Archive, Head};
use super::headers::Response;
use crate::document::fields::Fields;
use crate::document::reason::{Reason, too_long};
use crate::document::record::{Declared, Document, Position, utf8};
use crate::document::records::{Each, Passed, Portion, Raw};
use crate::document::skipped::Skip;
use crate::document::value::{self, Value};
use crate::document::{charset, html};

#[derive(Debug)]
pub(super) struct WarcPortion {
    pub(super) archive: Archive,
    pub(super) first: Position,
    pub(super) cuts: Vec<Cut>,
    pub(super) bytes: Vec<u8>,
    pub(super) max_bytes: usize,
}

#[derive(Debug)]
pub(super) enum Cut {
    Whole(Range<usize>),
    Long(Range<usize>),
    Bad(Reason),
}

enum NoPage {
    Skipped(Skip),
    Bad(Reason),
}

impl From<Reason> for NoPage {
    fn from(reason: Reason) -> NoPage {
        NoPage::Bad(reason)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Medium {
    Html,
    Text,
    /// The header says nothing: it is HTML if it begins so, and no page if not.
    Unknown,
}

impl Portion for WarcPortion {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        let mut passed = Passed::default();
        for (line, cut) in (self.first.line..).zip(&self.cuts) {
            let position = Position { line, ..self.first };
            match self.document(cut, fields) {
                Ok(document) => each(position, Ok(document)),
                Err(NoPage::Bad(reason)) => each(position, Err(reason)),
                Err(NoPage::Skipped(reason)) => passed.skipped.count(reason),
            }
        }
        passed
    }

    fn header(&self) -> Option<&[u8]> {
        match self.cuts.first() {
            Some(Cut::Whole(range)) if self.archive == Archive::Arc && self.first.line == 1 => {
                Some(&self.bytes[range.clone()])
            }
            _ => None,
        }
    }

    /// Calls `each` with no bytes for a record that is not there as a whole.
    fn raw<'a>(&'a self, each: Raw<'_, 'a>) {
        for (line, cut) in (self.first.line..).zip(&self.cuts) {
            let bytes = match cut {
                Cut::Whole(range) => &self.bytes[range.clone()],
                Cut::Long(_) | Cut::Bad(_) => b"",
            };
            each(Position { line, ..self.first }, bytes);
        }
    }
}

impl WarcPortion {
    fn document(&self, cut: &Cut, fields: &Fields) -> Result<Document<'_>, NoPage> {
        let range = match cut {
            Cut::Whole(range) | Cut::Long(range) => range.clone(),
            Cut::Bad(reason) => return Err(NoPage::Bad(reason.clone())),
        };
        let record = &self.bytes[range];
        let head_bytes = self.archive.head_bytes(record).unwrap_or(record.len());
        let head = self.archive.head(&record[..head_bytes])?;
        let block_bytes = head.block_bytes()?.min((record.len() - head_bytes) as u64) as usize;
        let page = RecordedPage::of(head, &record[head_bytes..][..block_bytes])?;
        if matches!(cut, Cut::Long(_)) {
            return Err(page.too_long(self.max_bytes));
        }
        let (text, canonical) = page.text(self.max_bytes)?;
        let payload = Declared::payload(head.field("WARC-Payload-Digest"));
        let value = |name: Option<&str>| match name.and_then(|name| head.field(name)) {
            Some(value) => utf8(value).map_or_else(Value::Bad, |text| Value::Text(text.into())),
            None => Value::Absent,
        };
        let [id, _, order, key] = fields.names().map(value);
        let values = [id, Value::Text(text), readable_order(order, fields), readable(key)];
        let document = value::document(values, fields, record, || HEADERS.to_owned())?;
        fields.check_id(&document.id)?;
        Ok(Document { declared: Declared { payload, canonical }, ..document })
    }
}

const HEADERS: &str = "; records of web archives have WARC-Target-URI, WARC-Record-ID and others";

/// A time that cannot be read counts as missing: it says nothing of the page, and whole collections have it wrong.
fn readable_order<'a>(value: Value<'a>, fields: &Fields) -> Value<'a> {
    match (value, &fields.order) {
        (Value::Bad(_), _) => Value::Null,
        (Value::Text(text), Some(field)) if field.key(&text).is_err() => Value::Null,
        (value, _) => value,
    }
}

/// Not every record has each header.
fn readable(value: Value<'_>) -> Value<'_> {
    if matches!(value, Value::Text(_)) { value } else { Value::Null }
}

struct RecordedPage<'a> {
    medium: Medium,
    charset: Option<&'a [u8]>,
    body: Body<'a>,
}

enum Body<'a> {
    Plain(&'a [u8]),
    Http(Response<'a>),
}

impl<'a> RecordedPage<'a> {
    fn of(head: Head<'a>, block: &'a [u8]) -> Result<RecordedPage<'a>, NoPage> {
        let kind = match head {
            Head::Warc(headers) => headers.get("WARC-Type").unwrap_or_default(),
            Head::Arc(_) => b"response",
        };
        match &kind.to_ascii_lowercase()[..] {
            b"response" => RecordedPage::of_response(head, block),
            b"resource" | b"conversion" => RecordedPage::plain(head, block),
            b"warcinfo" => Err(NoPage::Skipped(Skip::ArchiveInfo)),
            b"request" => Err(NoPage::Skipped(Skip::Request)),
            b"revisit" => Err(NoPage::Skipped(Skip::Revisit)),
            b"metadata" => Err(NoPage::Skipped(Skip::Metadata)),
            _ => Err(NoPage::Skipped(Skip::OtherType)),
        }
    }

    fn of_response(head: Head<'a>, block: &'a [u8]) -> Result<RecordedPage<'a>, NoPage> {
        let url = head.field("url").unwrap_or_default();
        let is_http = url.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"http"));
        match (Response::parse(block), head) {
            (Some(response), _) if (200..300).contains(&response.status) => {
                RecordedPage::with(response.headers.get("Content-Type"), Body::Http(response))
            }
            (Some(_), _) => Err(NoPage::Skipped(Skip::Status)),
            (None, Head::Arc(_)) if url.starts_with(b"filedesc://") => {
                Err(NoPage::Skipped(Skip::ArchiveInfo))
            }
            (None, _) if is_http => Err(NoPage::Bad("a response without a status".into())),
            (None, _) => RecordedPage::plain(head, block),
        }
    }

    fn plain(head: Head<'a>, block: &'a [u8]) -> Result<RecordedPage<'a>, NoPage> {
        RecordedPage::with(head.field("Content-Type"), Body::Plain(block))
    }

    fn with(content_type: Option<&'a [u8]>, body: Body<'a>) -> Result<RecordedPage<'a>, NoPage> {
        Ok(RecordedPage {
            medium: Medium::of(content_type)?,
            charset: charset_of(content_type),
            body,
        })
    }

    /// The text, and the address that the page names as canonical, in the header of HTTP or in the page.
    fn text(&self, max_bytes: usize) -> Result<(Cow<'a, str>, Option<String>), NoPage> {
        let bytes = match &self.body {
            Body::Plain(bytes) => Ok(Cow::Borrowed(*bytes)),
            Body::Http(response) => unpacked(response, max_bytes),
        };
        if self.medium == Medium::Unknown && !bytes.as_ref().is_ok_and(|it| html::begins(it)) {
            return Err(NoPage::Skipped(Skip::MediaType));
        }
        let mut canonical = match &self.body {
            Body::Plain(_) => None,
            Body::Http(response) => response.canonical(),
        };
        let text = match (self.medium, bytes?) {
            (Medium::Text, Cow::Borrowed(bytes)) => charset::decode_text(bytes, self.charset)?,
            (Medium::Text, Cow::Owned(bytes)) => {
                Cow::Owned(charset::decode_text(&bytes, self.charset)?.into_owned())
            }
            (Medium::Html | Medium::Unknown, bytes) => {
                let page = html::page(&charset::decode_html(&bytes, self.charset)?);
                canonical = canonical.or(page.canonical);
                Cow::Owned(page.text)
            }
        };
        Ok((text, canonical))
    }

    fn too_long(&self, max_bytes: usize) -> NoPage {
        let (Body::Plain(start) | Body::Http(Response { body: start, .. })) = &self.body;
        match self.medium {
            Medium::Unknown if !html::begins(start) => NoPage::Skipped(Skip::MediaType),
            _ => NoPage::Bad(too_long(max_bytes)),
        }
    }
}

impl Medium {
    /// What a header says. One that is not there or is no media type, such as `text/html, text/html`, says nothing.
    fn of(content_type: Option<&[u8]>) -> Result<Medium, NoPage> {
        let name = content_type.unwrap_or_default().split(|&byte| byte == b';').next();
        let name = name.unwrap_or_default().trim_ascii().to_ascii_lowercase();
        match &name[..] {
            b"text/html" | b"application/xhtml+xml" => Ok(Medium::Html),
            b"text/plain" => Ok(Medium::Text),
            b"unknown/unknown" | b"application/octet-stream" | b"application/xml" | b"text/xml" => {
                Ok(Medium::Unknown)
            }
            name if !is_media_type(name) => Ok(Medium::Unknown),
            _ => Err(NoPage::Skipped(Skip::MediaType)),
        }
    }
}

fn is_media_type(name: &[u8]) -> bool {
    let is_token = |part: &[u8]| {
        let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        !part.is_empty() && part.iter().all(fits)
    };
    let mut parts = name.splitn(2, |&byte| byte == b'/');
    parts.next().is_some_and(is_token) && parts.next().is_some_and(is_token)
}

fn charset_of(content_type: Option<&[u8]>) -> Option<&[u8]> {
    let value = content_type?;
    let at = value.windows(8).position(|part| part.eq_ignore_ascii_case(b"charset="))?;
    charset::value(&value[at..], &value[at..at + 7])
}
