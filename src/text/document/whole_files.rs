//! Files that are one page each: text, or HTML.

use super::encoding::text_of_file;
use super::fields::Fields;
use super::reason::Reason;
use super::record::{Content, Document, Position, check_id};
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
        if !self.is_html {
            let text = text_of_file(fields.encoding, bytes)?;
            return Ok(Document::of(id, Content::Text(text), bytes));
        }
        let named = fields.encoding.map(|it| it.label().as_bytes());
        let html = charset::decode_html(bytes, named)?;
        Ok(html::as_text(Document::of(id, Content::Text(html), bytes)))
    }
}
