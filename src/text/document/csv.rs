//! Comma-separated values as in RFC 4180: a value in quotes may hold commas, ends of lines and doubled
//! quotes. A header line names the columns.
//!
//! The records are found in order, since only what stands before tells whether an end of line is in
//! quotes; their values are taken from them by any thread. `1,"a ""b"",\n c"` is one record of two values.
//!
//! Quotes that the rest of a file does not close cost one line, and each line behind it is a record. A record that is too long is passed over without being held.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use csv_core::{ReadRecordResult, Reader};
use memchr::{memchr, memchr_iter, memchr2};

use super::fields::{Fields, ReadOptions};
use super::inputs::Input;
use super::lines::{Lines, Piece};
use super::origin::changed;
use super::reason::{BROKEN_OFF, Reason, too_long};
use super::record::{Document, Position, check_start};
use super::records::{Cutter, Each, Passed, Portion, Raw, Unread};
use super::source::{End, Source};
use super::tsv::{Columns, MOST_COLUMNS};
use super::value::{self, Value};
use crate::error::{Error, Kind, Result};

pub(super) struct CsvCutter<'a> {
    input: &'a Input,
    options: &'a ReadOptions,
    source: Source<'a>,
    /// What was read and not yet delivered. It begins with a record.
    buffer: Vec<u8>,
    position: Position,
    offset: u64,
    columns: Option<Arc<Columns>>,
    unclosed: Option<Lines<'a>>,
}

/// Counts what is read a second time, which is no progress.
static AGAIN: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Begin,
    /// In a value without quotes, or behind those that it had.
    Plain,
    Quoted,
    /// Behind a quote in a value in quotes: the end of it, or the first of two.
    Quote,
}

impl At {
    /// Reads on, up to the end of the record. Returns how many bytes that are, if it is there.
    fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            *self = match self {
                At::Begin | At::Quote if byte == b'"' => At::Quoted,
                At::Begin | At::Quote | At::Plain => {
                    at += memchr2(b',', b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
                    match bytes.get(at) {
                        Some(b'\n') => return Some(at + 1),
                        Some(_) => At::Begin,
                        None => At::Plain,
                    }
                }
                At::Quoted => {
                    at += memchr(b'"', &bytes[at..]).unwrap_or(bytes.len() - at);
                    if at < bytes.len() { At::Quote } else { At::Quoted }
                }
            };
            at += 1;
        }
        None
    }
}

/// The length of the first record, or where its end is missing.
fn scan(bytes: &[u8]) -> Result<usize, At> {
    let mut at = At::default();
    at.read(bytes).ok_or(at)
}

impl<'a> CsvCutter<'a> {
    pub(super) fn new(
        file: u32,
        input: &'a Input,
        mut source: Source<'a>,
        options: &'a ReadOptions,
    ) -> Result<CsvCutter<'a>> {
        let mut buffer = Vec::new();
        let offset = source.pass_mark(&mut buffer)?;
        let position = Position { file, line: 1 };
        Ok(CsvCutter {
            input,
            options,
            source,
            buffer,
            position,
            offset,
            columns: None,
            unclosed: None,
        })
    }

    fn take(&mut self, len: usize) -> (Position, Vec<u8>) {
        let rest = self.buffer.split_off(len);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let first = self.position;
        self.position.line += memchr_iter(b'\n', &bytes).count() as u64;
        self.offset += len as u64;
        (first, bytes)
    }

    fn records(&mut self, len: usize) -> Result<Box<dyn Portion>> {
        let (first, bytes) = self.take(len);
        let columns = match &self.columns {
            Some(columns) => Arc::clone(columns),
            None => {
                let columns = header(&bytes, &self.options.fields, self.input.path())?;
                Arc::clone(self.columns.insert(Arc::new(columns)))
            }
        };
        Ok(Box::new(CsvPortion { first, columns, bytes, is_in_lines: false }))
    }

    fn bad(&mut self, len: usize, reason: impl Into<Reason>) -> Result<Box<dyn Portion>> {
        if self.columns.is_none() {
            let path = self.input.path();
            return Err(Error::new(Kind::BadData, "the header is not whole").at(path).line(1));
        }
        let (first, _) = self.take(len);
        Ok(Box::new(Unread(first, reason.into())))
    }

    fn last(&mut self, end: End, state: At) -> Result<Option<Box<dyn Portion>>> {
        let all = self.buffer.len();
        match (end, state) {
            (End::Whole, At::Quoted) if self.columns.is_some() => {
                let (first, bytes) = self.take(all);
                self.lines_of(Source::of_text(bytes, self.input.path()), first)
            }
            (End::Whole, At::Begin | At::Plain | At::Quote) => self.records(all).map(Some),
            _ => self.bad(all, BROKEN_OFF).map(Some),
        }
    }

    /// Goes on with the lines of the rest of the file, which begins with quotes that are never closed.
    ///
    /// No record after them has more than one line: whoever is in quotes at the end of one of these lines
    /// is where the scan from before was, which found no end.
    fn lines_of(&mut self, rest: Source<'a>, first: Position) -> Result<Option<Box<dyn Portion>>> {
        let ReadOptions { portion_bytes, max_record_bytes, .. } = *self.options;
        self.unclosed = Some(Lines::within(rest, first.line, portion_bytes, max_record_bytes));
        self.line()
    }

    fn line(&mut self) -> Result<Option<Box<dyn Portion>>> {
        let (Some(lines), Some(columns)) = (&mut self.unclosed, &self.columns) else {
            return Ok(None);
        };
        let Some(Piece { first_line, lines }) = lines.next()? else { return Ok(None) };
        let first = Position { line: first_line, ..self.position };
        Ok(Some(match lines {
            Ok(bytes) => {
                let columns = Arc::clone(columns);
                Box::new(CsvPortion { first, columns, bytes, is_in_lines: true })
            }
            Err(reason) => Box::new(Unread(first, reason)),
        }))
    }

    fn go_on(&mut self) -> Result<Option<Box<dyn Portion>>> {
        let is_record = self.source.go_on();
        self.source.fill(&mut self.buffer, 1)?;
        match is_record || self.buffer.is_empty() {
            true => Ok(None),
            false => self.pass_over_line(BROKEN_OFF.into()).map(Some),
        }
    }

    fn pass_over_line(&mut self, reason: Reason) -> Result<Box<dyn Portion>> {
        let portion = self.bad(self.buffer.len(), reason)?;
        self.source.pass_line(&mut self.buffer, self.options.portion_bytes.max(1))?;
        self.position.line += 1;
        Ok(portion)
    }

    /// Passes over a record that is too long, and delivers the reason in its place. If its quotes are never closed, only its first line is bad.
    fn pass_over_record(&mut self) -> Result<Option<Box<dyn Portion>>> {
        let before = (self.position, self.offset);
        let portion = self.bad(0, too_long(self.options.max_record_bytes))?;
        let mut at = At::default();
        loop {
            let end = at.read(&self.buffer);
            self.take(end.unwrap_or(self.buffer.len()));
            if end.is_some() {
                return Ok(Some(portion));
            }
            let end = self.source.fill(&mut self.buffer, self.options.portion_bytes.max(1))?;
            match end.filter(|_| self.buffer.is_empty()) {
                Some(End::Whole) if at == At::Quoted => return self.behind_quotes(before),
                Some(_) => return Ok(Some(portion)),
                None => {}
            }
        }
    }

    /// Goes back to quotes that the rest of the file does not close, at this place and behind so many bytes, and on with its lines. What can be read once, or is damaged, is lost from there on.
    fn behind_quotes(
        &mut self,
        (first, offset): (Position, u64),
    ) -> Result<Option<Box<dyn Portion>>> {
        if self.input.is_stream() || self.source.damage().is_some() {
            let last = self.position.line;
            let reason = Reason::with(
                "quotes are not closed",
                format_args!(" up to line {last}, where the input ends; nothing of that was read"),
            );
            return Ok(Some(Box::new(Unread(first, reason))));
        }
        let (input, options) = (self.input, self.options);
        let again = Source::of(input.open()?, input, options, &AGAIN)?;
        let mut rest = again.in_utf8(options.fields.encoding);
        let (mut left, mut passed) = (offset, Vec::new());
        while left > 0 {
            passed.clear();
            rest.fill(&mut passed, left.min(options.portion_bytes.max(1) as u64) as usize)?;
            if passed.is_empty() {
                return Err(changed(input.path()));
            }
            left -= passed.len() as u64;
        }
        self.lines_of(rest, first)
    }
}

impl Cutter for CsvCutter<'_> {
    fn next(&mut self) -> Result<Option<Box<dyn Portion>>> {
        let max_bytes = self.options.max_record_bytes;
        let mut target = self.options.portion_bytes.clamp(1, max_bytes.max(1));
        if self.unclosed.is_some() {
            return self.line();
        }
        loop {
            let end = self.source.fill(&mut self.buffer, target)?;
            let (len, state) = whole_records(&self.buffer);
            return match end {
                _ if len > 0 => self.records(len).map(Some),
                Some(End::Whole) if self.buffer.is_empty() => Ok(None),
                Some(End::Cut) if self.buffer.is_empty() => match self.go_on()? {
                    None => continue,
                    portion => Ok(portion),
                },
                Some(end) => self.last(end, state),
                None if self.buffer.len() > max_bytes => self.pass_over_record(),
                None => {
                    target = (2 * target).min(max_bytes.saturating_add(1));
                    continue;
                }
            };
        }
    }

    fn source(&self) -> Option<&Source<'_>> {
        Some(&self.source)
    }
}

fn whole_records(bytes: &[u8]) -> (usize, At) {
    let mut len = 0;
    loop {
        match scan(&bytes[len..]) {
            Ok(record) => len += record,
            Err(open) => return (len, open),
        }
    }
}

fn header(bytes: &[u8], fields: &Fields, path: &Path) -> Result<Columns> {
    let line = &bytes[..scan(bytes).unwrap_or(bytes.len())];
    let mut values = Values::new(line.len().min(MOST_COLUMNS));
    let bad = |reason: Reason| Error::new(Kind::BadData, reason.to_string()).at(path).line(1);
    values.read(line).map_err(bad)?;
    let names: Vec<&[u8]> = (0..values.count).map(|column| values.get(column)).collect();
    let header = without_end(line);
    let shown = header.strip_suffix(b"\r").unwrap_or(header);
    let mut columns = Columns::among(&names, shown, fields, path)?;
    columns.header = header.to_vec();
    Ok(columns)
}

/// The values of each record, up to one that cannot be read.
pub(super) fn records(mut bytes: &[u8]) -> impl Iterator<Item = Vec<String>> {
    let mut values = Values::new(bytes.len().min(MOST_COLUMNS));
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let (record, rest) = bytes.split_at(scan(bytes).unwrap_or(bytes.len()));
        bytes = rest;
        values.read(record).ok()?;
        let text = |column| String::from_utf8_lossy(values.get(column)).into_owned();
        Some((0..values.count).map(text).collect())
    })
}

pub(super) fn write_value(value: &str, record: &mut Vec<u8>) {
    match value.contains([',', '"', '\r', '\n']) {
        true => record.extend(format!("\"{}\"", value.replace('"', "\"\"")).bytes()),
        false => record.extend(value.bytes()),
    }
}

fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)]
}

fn without_end(record: &[u8]) -> &[u8] {
    record.strip_suffix(b"\n").unwrap_or(record)
}

struct Values {
    reader: Reader,
    unquoted: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
}

impl Values {
    fn new(most_columns: usize) -> Values {
        let ends = vec![0; most_columns + 1];
        Values { reader: Reader::new(), unquoted: Vec::new(), ends, count: 0 }
    }

    fn read(&mut self, record: &[u8]) -> Result<(), Reason> {
        self.reader.reset();
        self.unquoted.resize(self.unquoted.len().max(record.len() + 1), 0);
        self.count = 0;
        let (mut input, mut written) = (record, 0);
        loop {
            let (result, read, wrote, ended) = self.reader.read_record(
                input,
                &mut self.unquoted[written..],
                &mut self.ends[self.count..],
            );
            input = &input[read..];
            written += wrote;
            self.count += ended;
            match result {
                // The end of a file ends its last record.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record if input.is_empty() || input == b"\n" => return Ok(()),
                ReadRecordResult::Record => return Err("a CR within a value without quotes".into()),
                ReadRecordResult::OutputEndsFull => {
                    return Err("more columns than the header has".into());
                }
                ReadRecordResult::OutputFull | ReadRecordResult::End => return Ok(()),
            }
        }
    }

    fn get(&self, column: usize) -> &[u8] {
        let begin = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.unquoted[begin..self.ends[column]]
    }
}

#[derive(Debug)]
struct CsvPortion {
    first: Position,
    columns: Arc<Columns>,
    bytes: Vec<u8>,
    /// Whether no record has more than one line.
    is_in_lines: bool,
}

impl Portion for CsvPortion {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        let mut passed = Passed::default();
        let mut values = Values::new(self.columns.count);
        for (position, record, end) in self.records() {
            if record.trim_ascii().is_empty() {
                passed.blank += 1;
            } else if end == Err(At::Quoted) {
                each(position, Err("quotes are not closed".into()));
            } else if position.line > 1 {
                each(position, self.document(record, &mut values, fields));
            }
        }
        passed
    }

    fn header(&self) -> Option<&[u8]> {
        Some(&self.columns.header)
    }

    fn raw<'a>(&'a self, each: Raw<'_, 'a>) {
        let records = self.records().filter(|(position, ..)| position.line > 1);
        records.for_each(|(position, record, _)| each(position, without_end(record)));
    }
}

impl CsvPortion {
    fn records(&self) -> impl Iterator<Item = (Position, &[u8], Result<usize, At>)> {
        let (mut position, mut rest) = (self.first, &self.bytes[..]);
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let within = if self.is_in_lines { first_line(rest) } else { rest };
            let end = scan(within);
            let (record, more) = rest.split_at(end.unwrap_or(within.len()));
            let at = position;
            position.line += memchr_iter(b'\n', record).count() as u64;
            rest = more;
            Some((at, record, end))
        })
    }

    fn document<'a>(
        &self,
        record: &'a [u8],
        values: &mut Values,
        fields: &Fields,
    ) -> Result<Document<'a>, Reason> {
        check_start(record)?;
        values.read(record)?;
        self.columns.check_count(values.count)?;
        let mut of_fields = value::unread(&self.columns.places);
        for (value, column) in of_fields.iter_mut().zip(self.columns.places) {
            if let Some(column) = column {
                *value = Value::Text(fields.utf8(values.get(column))?.to_owned().into());
            }
        }
        let record = without_end(record);
        fields.page(value::document(of_fields, fields, record, String::new)?)
    }
}

#[cfg(test)]
mod tests;
