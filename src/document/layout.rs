//! Formats of lines: pieces of a file are whole lines, and a [`Layout`] says how to parse one.

use std::borrow::Cow;
use std::sync::Arc;

use super::damage::Damage;
use super::fields::Fields;
use super::format::Format;
use super::inputs::Input;
use super::lines::{self, Lines};
use super::order_key::OrderKey;
use super::read_options::ReadOptions;
use super::reason::Reason;
use super::record::{Content, Document, Position, check_start};
use super::records::{Cutter, Each, Passed, Portion, Raw, Unread};
use super::source::Source;
use super::tsv::{self, Columns};
use super::{jsonl, ready};
use crate::error::Result;

pub(super) struct LineCutter<'a> {
    file: u32,
    input: &'a Input,
    fields: &'a Fields,
    lines: Lines<'a>,
    /// How to parse the lines. The first piece with lines determines it.
    layout: Option<Layout>,
}

impl<'a> LineCutter<'a> {
    pub(super) fn new(
        file: u32,
        input: &'a Input,
        source: Source<'a>,
        options: &'a ReadOptions,
    ) -> Result<LineCutter<'a>> {
        let lines = Lines::new(source, options.portion_bytes, options.max_record_bytes)?;
        Ok(LineCutter { file, input, fields: &options.fields, lines, layout: None })
    }
}

impl Cutter for LineCutter<'_> {
    fn next(&mut self) -> Result<Option<Box<dyn Portion>>> {
        let Some(piece) = self.lines.next()? else { return Ok(None) };
        let start = Position { file: self.file, line: piece.first_line };
        let bytes = match piece.lines {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(Some(Box::new(Unread(start, reason)))),
        };
        let layout = match &self.layout {
            Some(layout) => layout.clone(),
            None => {
                let layout = Layout::of(self.input, start.line, &bytes, self.fields)?;
                self.layout.insert(layout).clone()
            }
        };
        Ok(Some(Box::new(LinePortion { start, layout, bytes })))
    }

    fn damage(&self) -> Option<Damage> {
        self.lines.damage()
    }

    fn contents(&self) -> Option<u128> {
        self.lines.contents()
    }
}

#[derive(Debug)]
struct LinePortion {
    start: Position,
    layout: Layout,
    bytes: Vec<u8>,
}

impl Portion for LinePortion {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        let LinePortion { start, layout, bytes } = self;
        let mut passed = Passed::default();
        for (number, line) in (start.line..).zip(lines::split(bytes)) {
            if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                passed.blank += 1;
            } else if !(number == 1 && matches!(layout, Layout::Tsv(_))) {
                each(Position { line: number, ..*start }, layout.parse(line, fields));
            }
        }
        passed
    }

    fn header(&self) -> Option<&[u8]> {
        match &self.layout {
            Layout::Tsv(columns) => Some(&columns.header),
            _ => None,
        }
    }

    fn raw<'a>(&'a self, each: Raw<'_, 'a>) {
        let LinePortion { start, layout, bytes } = self;
        for (number, line) in (start.line..).zip(lines::split(bytes)) {
            if !(number == 1 && matches!(layout, Layout::Tsv(_))) {
                each(Position { line: number, ..*start }, line);
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Layout {
    Jsonl,
    Lines,
    Tsv(Arc<Columns>),
    Fingerprints,
    Features,
    Vectors,
}

impl Layout {
    fn of(input: &Input, number: u64, bytes: &[u8], fields: &Fields) -> Result<Layout> {
        match input.format() {
            Format::Jsonl | Format::Json => Ok(Layout::Jsonl),
            Format::Lines => Ok(Layout::Lines),
            Format::Fingerprints => Ok(Layout::Fingerprints),
            Format::Features => Ok(Layout::Features),
            Format::Vectors => Ok(Layout::Vectors),
            Format::Tsv => {
                let header = lines::split(bytes).next().filter(|_| number == 1);
                Ok(Layout::Tsv(Arc::new(Columns::find(header, fields, input.path())?)))
            }
            other => unreachable!("{other} is not a format of lines"),
        }
    }

    fn parse<'a>(
        &self,
        line: &'a [u8],
        fields: &Fields,
    ) -> std::result::Result<Document<'a>, Reason> {
        check_start(line)?;
        let line = fields.utf8(line)?;
        let document = match self {
            Layout::Jsonl => jsonl::parse(line, fields),
            Layout::Lines => {
                let (id, text) = (Cow::Borrowed(""), line.strip_suffix('\r').unwrap_or(line));
                let content = Content::Text(Cow::Borrowed(text));
                let record = line.as_bytes();
                return Ok(Document { id, order: OrderKey::NoField, content, record });
            }
            Layout::Tsv(columns) => tsv::parse(line, columns),
            Layout::Fingerprints => ready::fingerprint(line, fields.width_bits),
            Layout::Features => ready::features(line),
            Layout::Vectors => jsonl::vector(line, fields),
        }?;
        fields.check_id(&document.id).map(|()| fields.as_text(document))
    }
}
