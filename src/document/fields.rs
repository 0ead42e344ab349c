//! The fields of a record that are read.

use std::borrow::Cow;

use super::encoding::{TextEncoding, text_in};
use super::page_text::{PageText, TakenText};
use super::reason::Reason;
use super::record::{Content, Document};
use crate::error::{Error, Kind, Result};

/// The names of the fields to read, and the width of ready-made fingerprints.
///
/// A name is a column of a `tsv` file, a key of a `jsonl` object or a header of a `warc` record. `meta.url`
/// is the key `url` of the object `meta`, or the key `meta.url` itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The field of the id.
    pub id: String,
    /// The field of the text.
    pub text: String,
    /// The field of the time; none if times are not read.
    pub time: Option<String>,
    /// Whether the text is HTML, of which the text is taken.
    pub html: bool,
    /// Which text of HTML is taken.
    pub page_text: PageText,
    /// The encoding of files of text without a byte order mark; UTF-8 if none is named.
    pub encoding: Option<TextEncoding>,
    /// Whether the text field of Parquet has vectors: lists of numbers.
    pub vectors: bool,
    /// The width in bits of ready-made fingerprints.
    pub width_bits: u32,
}

impl Default for Fields {
    fn default() -> Fields {
        let [id, text] = ["id", "text"].map(str::to_owned);
        Fields {
            id,
            text,
            time: None,
            html: false,
            page_text: PageText::All,
            encoding: None,
            vectors: false,
            width_bits: 64,
        }
    }
}

impl Fields {
    /// The names of the fields: id, text, time.
    pub(super) fn names(&self) -> [Option<&str>; 3] {
        [Some(&self.id), Some(&self.text), self.time.as_deref()]
    }

    /// The text of a record of a file of text.
    pub(super) fn utf8<'a>(&self, bytes: &'a [u8]) -> std::result::Result<&'a str, Reason> {
        text_in(self.encoding, bytes)
    }

    /// The document with text in place of HTML, if its text field has HTML.
    pub(super) fn as_text<'a>(&self, document: Document<'a>) -> Document<'a> {
        match document.content {
            Content::Text(html) if self.html => {
                let TakenText { text, is_fallback } = self.page_text.of(&html);
                Document { content: Content::Text(Cow::Owned(text)), is_fallback, ..document }
            }
            _ => document,
        }
    }

    /// Fails with [`Kind::Usage`] if a name is empty or two are the same.
    pub(super) fn check(&self) -> Result<()> {
        let [id, text, time] = self.names();
        if [id, text, time].contains(&Some("")) {
            return Err(Error::new(Kind::Usage, "the name of a field is empty"));
        }
        if id == text || id == time || text == time {
            let found = format!("id {id:?}, text {text:?}, time {time:?}");
            return Err(Error::new(Kind::Usage, "two fields have the same name").found(found));
        }
        Ok(())
    }
}
