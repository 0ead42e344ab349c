//! Files that are one page each: text, or HTML.

use std::borrow::Cow;

use super::declared::Declared;
use super::encoding::text_of_file;
use super::fields::Fields;
use super::order_key::OrderKey;
use super::reason::Reason;
use super::record::check_id;
use super::record::{Content, Document, Position};
use super::records::{Each, Passed, Portion};
use super::{charset, html};

#[derive(Debug)]
pub(super) struct WholeFile {
    pub(super) file: u32,
    pub(super) is_html: bool,
    pub(super) page: Result<(String, Vec<u8>), Reason>,
}

impl Portion for Vec<WholeFile> {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        for file in self {
            each(Position { file: file.file, line: 0 }, file.parse(fields));
        }
        Passed::default()
    }
}

impl WholeFile {
    fn parse(&self, fields: &Fields) -> Result<Document<'_>, Reason> {
        let (id, bytes) = self.page.as_ref().map_err(Reason::clone)?;
        check_id(id)?;
        let mut declared = Declared::default();
        let text = if self.is_html {
            let named = fields.encoding.map(|it| it.label().as_bytes());
            let page = html::page(&charset::decode_html(bytes, named)?);
            declared.canonical = page.canonical;
            Cow::Owned(page.text)
        } else {
            text_of_file(fields.encoding, bytes)?
        };
        let (id, content) = (Cow::Borrowed(&**id), Content::Text(text));
        Ok(Document { id, order: OrderKey::NoField, key: None, content, declared, record: bytes })
    }
}
