//! Files that are one page each: text, or HTML.

use std::borrow::Cow;

use super::fields::Fields;
use super::id::check_id;
use super::reason::Reason;
use super::record::{Content, Document, Position, utf8};
use super::records::{Each, Passed, Portion};
use super::time::Time;
use super::{charset, html};

/// A file that is one page.
#[derive(Debug)]
pub(super) struct WholeFile {
    /// The number of the file.
    pub(super) file: u32,
    /// Whether it is HTML.
    pub(super) is_html: bool,
    /// The id and the bytes.
    pub(super) page: Result<(String, Vec<u8>), Reason>,
}

impl Portion for Vec<WholeFile> {
    fn parse<'a>(&'a self, _: &Fields, each: Each<'_, 'a>) -> Passed {
        for file in self {
            each(Position { file: file.file, line: 0 }, file.parse());
        }
        Passed::default()
    }
}

impl WholeFile {
    fn parse(&self) -> Result<Document<'_>, Reason> {
        let (id, bytes) = self.page.as_ref().map_err(Reason::clone)?;
        check_id(id)?;
        let text = if self.is_html {
            Cow::Owned(html::text(&charset::decode_html(bytes, None)))
        } else {
            Cow::Borrowed(utf8(bytes)?)
        };
        let content = Content::Text(text);
        Ok(Document { id: Cow::Borrowed(id), time: Time::NoField, content, record: bytes })
    }
}
