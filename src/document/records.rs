//! Some complete records as bytes, which any thread can parse.

use std::borrow::Cow;
use std::sync::Arc;

use super::fields::Fields;
use super::format::Format;
use super::id::check_id;
use super::inputs::Input;
use super::reason::Reason;
use super::record::{Content, Document, Position};
use super::time::Time;
use super::tsv::{self, Columns};
use super::{jsonl, lines, ready};

/// Some records of the input as bytes: whole lines of one file, several whole files, or one record
/// that cannot be read. It is made to be sent to another thread.
#[derive(Debug)]
pub struct Records {
    /// 0, 1, 2, ... in the order in which one reader delivers them. Positions rise with it.
    pub sequence: u64,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Lines { start: Position, layout: Layout, bytes: Vec<u8> },
    Texts(Vec<Text>),
    Unread(Position, Reason),
}

/// How to parse a line.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    Jsonl,
    Tsv(Arc<Columns>),
    Fingerprints,
    Features,
    Vectors,
}

/// A file that is one document.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) file: u32,
    /// The id and the bytes.
    pub(super) page: Result<(String, Vec<u8>), Reason>,
}

impl Records {
    /// Parses the records in order and calls `each` with every one, or with the reason why it cannot be
    /// read. Returns the number of blank lines, which are not records.
    ///
    /// `fields` are those with which they were read.
    pub fn parse<'a>(
        &'a self,
        fields: &Fields,
        each: &mut dyn FnMut(Position, Result<Document<'a>, Reason>),
    ) -> u64 {
        match &self.body {
            Body::Lines { start, layout, bytes } => {
                return parse_lines(*start, layout, bytes, fields, each);
            }
            Body::Texts(texts) => {
                for text in texts {
                    each(Position { file: text.file, line: 0 }, text.parse());
                }
            }
            Body::Unread(position, reason) => each(*position, Err(reason.clone())),
        }
        0
    }

    /// The header line of the file, if its format has one.
    pub fn header(&self) -> Option<&[u8]> {
        match &self.body {
            Body::Lines { layout: Layout::Tsv(columns), .. } => Some(&columns.header),
            _ => None,
        }
    }
}

fn parse_lines<'a>(
    start: Position,
    layout: &Layout,
    bytes: &'a [u8],
    fields: &Fields,
    each: &mut dyn FnMut(Position, Result<Document<'a>, Reason>),
) -> u64 {
    let mut blank = 0;
    for (number, line) in (start.line..).zip(lines::split(bytes)) {
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            blank += 1;
        } else if !(number == 1 && matches!(layout, Layout::Tsv(_))) {
            each(Position { line: number, ..start }, layout.parse(line, fields));
        }
    }
    blank
}

impl Layout {
    /// How to parse the lines of `input`; `bytes` are its first lines, from line `number` on.
    pub(super) fn of(
        input: &Input,
        number: u64,
        bytes: &[u8],
        fields: &Fields,
    ) -> crate::Result<Layout> {
        match input.format() {
            Format::Jsonl => Ok(Layout::Jsonl),
            Format::Fingerprints => Ok(Layout::Fingerprints),
            Format::Features => Ok(Layout::Features),
            Format::Vectors => Ok(Layout::Vectors),
            Format::Tsv => {
                let header = lines::split(bytes).next().filter(|_| number == 1);
                Ok(Layout::Tsv(Arc::new(Columns::find(header, fields, input.path())?)))
            }
            Format::Auto | Format::Text => {
                unreachable!("{} is not a format of lines", input.format())
            }
        }
    }

    /// Parses one line and checks its id.
    fn parse<'a>(&self, line: &'a [u8], fields: &Fields) -> Result<Document<'a>, Reason> {
        let line = utf8(line)?;
        let document = match self {
            Layout::Jsonl => jsonl::parse(line, fields),
            Layout::Tsv(columns) => tsv::parse(line, columns),
            Layout::Fingerprints => ready::fingerprint(line, fields.width_bits),
            Layout::Features => ready::features(line),
            Layout::Vectors => jsonl::vector(line, fields),
        }?;
        check_id(&document.id).map(|()| document)
    }
}

impl Text {
    fn parse(&self) -> Result<Document<'_>, Reason> {
        let (id, bytes) = self.page.as_ref().map_err(Reason::clone)?;
        check_id(id)?;
        let content = Content::Text(Cow::Borrowed(utf8(bytes)?));
        Ok(Document { id: Cow::Borrowed(id), time: Time::NoField, content, record: bytes })
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, Reason> {
    std::str::from_utf8(bytes).map_err(|error| {
        Reason::with("not UTF-8", format_args!(" at byte {} of the record", error.valid_up_to()))
    })
}
