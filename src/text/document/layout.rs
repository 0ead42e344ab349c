//! Formats of lines: pieces of a file are whole lines, and any thread parses these.

use std::sync::Arc;

use super::fields::{Fields, ReadOptions};
use super::format::Format;
use super::inputs::Input;
use super::lines::{self, Lines};
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
    /// Those of TSV, once its header was read.
    columns: Option<Arc<Columns>>,
}

impl<'a> LineCutter<'a> {
    pub(super) fn new(
        file: u32,
        input: &'a Input,
        source: Source<'a>,
        options: &'a ReadOptions,
    ) -> Result<LineCutter<'a>> {
        let lines = Lines::new(source, options.portion_bytes, options.max_record_bytes)?;
        Ok(LineCutter { file, input, fields: &options.fields, lines, columns: None })
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
        let format = self.input.format();
        if format == Format::Tsv && self.columns.is_none() {
            let header = lines::split(&bytes).next().filter(|_| start.line == 1);
            let columns = Columns::find(header, self.fields, self.input.path())?;
            self.columns = Some(Arc::new(columns));
        }
        let columns = self.columns.clone();
        Ok(Some(Box::new(LinePortion { start, format, columns, bytes })))
    }

    fn source(&self) -> Option<&Source<'_>> {
        Some(self.lines.source())
    }
}

#[derive(Debug)]
struct LinePortion {
    start: Position,
    format: Format,
    columns: Option<Arc<Columns>>,
    bytes: Vec<u8>,
}

impl Portion for LinePortion {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        let mut passed = Passed::default();
        for (position, line) in self.lines() {
            if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                passed.blank += 1;
            } else {
                each(position, self.document(line, fields));
            }
        }
        passed
    }

    fn header(&self) -> Option<&[u8]> {
        self.columns.as_ref().map(|columns| &columns.header[..])
    }

    fn raw<'a>(&'a self, each: Raw<'_, 'a>) {
        self.lines().for_each(|(position, line)| each(position, line));
    }
}

impl LinePortion {
    /// The lines behind the header.
    fn lines(&self) -> impl Iterator<Item = (Position, &[u8])> {
        let lines = (self.start.line..).zip(lines::split(&self.bytes));
        let header = usize::from(self.start.line == 1 && self.columns.is_some());
        lines.skip(header).map(|(line, bytes)| (Position { line, ..self.start }, bytes))
    }

    fn document<'a>(&self, line: &'a [u8], fields: &Fields) -> Result<Document<'a>, Reason> {
        check_start(line)?;
        let line = fields.utf8(line)?;
        let document = match (self.format, &self.columns) {
            (Format::Lines, _) => {
                let text = Content::Text(line.strip_suffix('\r').unwrap_or(line).into());
                return Ok(Document::of("", text, line.as_bytes()));
            }
            (_, Some(columns)) => tsv::parse(line, columns, fields),
            (Format::Fingerprints, _) => ready::fingerprint(line, fields.width_bits),
            (Format::Features, _) => ready::features(line),
            (format, _) => jsonl::parse(line, fields, format == Format::Vectors),
        }?;
        fields.page(document)
    }
}
