//! One record of the input: where it is and what it contains.

use std::borrow::Cow;
use std::str::Utf8Error;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use super::order_key::OrderKey;
use super::reason::Reason;

/// A document as read. It borrows from its [`Records`](super::Records) what need not be copied.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// The id: not empty, at most 65536 bytes, without tab, CR, LF and NUL.
    pub id: Cow<'a, str>,
    /// Whether the record lacks the field of the id, so that its place is the id.
    pub lacks_id: bool,
    pub order: OrderKey,
    /// The value of the field that the key of the page is made of, if such a field is read and the record has a value.
    pub key: Option<Cow<'a, str>>,
    pub content: Content<'a>,
    pub declared: Declared,
    /// Its bytes in the file: a line without its end, a record of a web archive with its end, or the whole file.
    pub record: &'a [u8],
}

impl<'a> Document<'a> {
    pub(super) fn of(
        id: impl Into<Cow<'a, str>>,
        content: Content<'a>,
        record: &'a [u8],
    ) -> Document<'a> {
        let (order, declared) = (OrderKey::NoField, Declared::default());
        Document { id: id.into(), lacks_id: false, order, key: None, content, declared, record }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    Text(Cow<'a, str>),
    /// Ready-made features: name and finite weight, in the order of the file; a name may be repeated.
    Features(Vec<(&'a str, f64)>),
    Fingerprint(u128),
    Vector(Vec<f64>),
}

impl Content<'_> {
    pub fn digest(&self) -> u64 {
        match self {
            Content::Text(text) => xxh3_64(text.as_bytes()),
            Content::Fingerprint(fingerprint) => xxh3_64(&fingerprint.to_le_bytes()),
            Content::Features(features) => {
                let mut hasher = Xxh3::new();
                for (name, weight) in features {
                    hasher.update(&(name.len() as u64).to_le_bytes());
                    hasher.update(name.as_bytes());
                    hasher.update(&weight.to_bits().to_le_bytes());
                }
                hasher.digest()
            }
            Content::Vector(components) => {
                let mut hasher = Xxh3::new();
                components.iter().for_each(|it| hasher.update(&it.to_bits().to_le_bytes()));
                hasher.digest()
            }
        }
    }

    pub fn text(&self) -> Option<&str> {
        if let Content::Text(text) = self { Some(text) } else { None }
    }

    pub fn text_digest(&self) -> Option<u128> {
        self.text().map(|text| xxh3_128(text.as_bytes()))
    }

    pub fn text_bytes(&self) -> u64 {
        self.text().map_or(0, |text| text.len() as u64)
    }
}

/// What a record declares of its page, beside the text: evidence that is listed beside verdicts, and that none goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The XXH3-128 of the `WARC-Payload-Digest` of the record; 0 if it has none.
    pub payload: u128,
    /// The address that the page names by `rel=canonical`.
    pub canonical: Option<String>,
}

impl Declared {
    pub(super) fn payload(digest: Option<&[u8]>) -> u128 {
        digest.map_or(0, |digest| xxh3_128(&digest.to_ascii_lowercase()))
    }

    /// What a segment has of it: the digest, and behind it the address. Empty where nothing is declared.
    pub fn to_row(&self) -> Vec<u8> {
        match self {
            Declared { payload: 0, canonical: None } => Vec::new(),
            Declared { payload, canonical } => {
                let address = canonical.as_deref().unwrap_or_default();
                [&payload.to_le_bytes(), address.as_bytes()].concat()
            }
        }
    }

    /// What a row of a segment has; none if it cannot be one.
    pub fn of_row(row: &[u8]) -> Option<Declared> {
        if row.is_empty() {
            return Some(Declared::default());
        }
        let (payload, address) = row.split_first_chunk()?;
        let canonical = Some(str::from_utf8(address).ok()?.to_owned());
        let is_field = !address.iter().any(u8::is_ascii_control);
        let canonical = canonical.filter(|address| !address.is_empty());
        is_field.then(|| Declared { payload: u128::from_le_bytes(*payload), canonical })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    pub file: u32,
    /// The line, or in a format without lines the number of the record, from 1; 0 if the file is the record.
    pub line: u64,
}

impl Position {
    pub fn is_file(self) -> bool {
        self.line == 0
    }
}

pub const MAX_ID_BYTES: usize = 1 << 16;

/// Refuses an id that is empty, longer than 65536 bytes, or not one field of a TSV file.
pub fn check_id(id: &str) -> Result<(), Reason> {
    if id.len() > MAX_ID_BYTES {
        return Err(Reason::quoting(format!("the id is longer than {MAX_ID_BYTES} bytes"), id));
    }
    if id.bytes().any(|byte| matches!(byte, b'\t' | b'\r' | b'\n' | 0)) {
        return Err(Reason::quoting("the id holds a tab, CR, LF or NUL", id));
    }
    if id.is_empty() { Err("the id is empty".into()) } else { Ok(()) }
}

/// A byte order mark in UTF-8.
pub(super) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Refuses a record that begins with a byte order mark. At the beginning of a file it is taken off; elsewhere it comes from files that
/// were joined, and would be a part of a name or an id.
pub(super) fn check_start(record: &[u8]) -> Result<(), Reason> {
    match record.starts_with(MARK) {
        true => Err("a byte order mark within the file".into()),
        false => Ok(()),
    }
}

/// These bytes as text, if they are UTF-8. Whether they are is found by vectors; where they are not, is looked for afterwards.
pub(super) fn as_utf8(bytes: &[u8]) -> Result<&str, Utf8Error> {
    simdutf8::basic::from_utf8(bytes).or_else(|_| str::from_utf8(bytes))
}

pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Reason> {
    as_utf8(bytes).map_err(|error| {
        Reason::with("not UTF-8", format_args!(" at byte {} of the record", error.valid_up_to()))
    })
}
