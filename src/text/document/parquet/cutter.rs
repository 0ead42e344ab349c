//! The rows of a Parquet file: cut into portions, or the first of them in all columns.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::file::reader::Length;

use super::column::{Column, Place, Wanted};
use super::file::ParquetGroups;
use super::opened::bytes_of;
use crate::document::fields::{Fields, ReadOptions};
use crate::document::inputs::Input;
use crate::document::reason::too_long;
use crate::document::record::Position;
use crate::document::records::{Cutter, Each, Passed, Portion};
use crate::document::source::Source;
use crate::document::value::{self, Value};
use crate::error::Result;
use crate::progress::{self, Activity};
use crate::results::trying;

const MOST_ROWS: usize = 4096;
const MOST_COLUMNS: usize = 500;

pub(in crate::document) struct ParquetCutter<'a> {
    input: &'a Input,
    options: &'a ReadOptions,
    progress: &'a AtomicU64,
    file: ParquetGroups,
    places: [Option<Place>; 4],
    columns: Option<[Option<Column>; 4]>,
    left: u64,
    next: Position,
    /// The bytes of the file, and how many of them are part of the progress.
    bytes: u64,
    passed: u64,
}

impl<'a> ParquetCutter<'a> {
    pub(in crate::document) fn new(
        file: u32,
        input: &'a Input,
        options: &'a ReadOptions,
        progress: &'a AtomicU64,
    ) -> Result<ParquetCutter<'a>> {
        let path = input.path();
        let opened = bytes_of(input)?;
        let bytes = opened.len();
        let of = trying(path, || ParquetGroups::open(opened, options.max_record_bytes))?;
        let places = of.places(&options.fields, path)?;
        Ok(ParquetCutter {
            input,
            options,
            progress,
            file: of,
            places,
            columns: None,
            left: 0,
            next: Position { file, line: 1 },
            bytes,
            passed: 0,
        })
    }

    fn advance(&mut self, to: u64) {
        let more = to.min(self.bytes).saturating_sub(self.passed);
        self.progress.fetch_add(more, Ordering::Relaxed);
        self.passed += more;
        progress::tick(Activity::Reading);
    }

    /// Opens the next row group. Returns false at the end of the file.
    fn open_group(&mut self) -> Result<bool> {
        self.columns = None;
        let ParquetCutter { file, places, columns, left, .. } = self;
        trying(self.input.path(), || {
            if let Some(rows) = file.next()? {
                let [id, text, order, key] =
                    places.map(|place| place.map(|place| file.column(place)).transpose());
                *columns = Some([id?, text?, order?, key?]);
                *left = rows;
            }
            Ok(())
        })?;
        let to = if self.columns.is_some() { self.file.at } else { self.bytes };
        self.advance(to);
        Ok(self.columns.is_some())
    }
}

impl Cutter for ParquetCutter<'_> {
    fn next(&mut self) -> Result<Option<Box<dyn Portion>>> {
        while self.left == 0 {
            if !self.open_group()? {
                return Ok(None);
            }
        }
        let Some(columns) = &mut self.columns else { return Ok(None) };
        let (mut rows, mut row_bytes) = (Vec::new(), 0);
        let max_bytes = self.options.max_record_bytes;
        trying(self.input.path(), || {
            while self.left > 0 && rows.len() < MOST_ROWS && row_bytes < self.options.portion_bytes
            {
                self.left -= 1;
                let mut row = value::unread(columns);
                for (value, column) in row.iter_mut().zip(&mut *columns) {
                    let Some(column) = column else { continue };
                    *value = column.next()?.unwrap_or(Value::Null);
                    if bytes(value) > max_bytes {
                        *value = Value::Bad(too_long(max_bytes));
                    }
                    row_bytes += bytes(value);
                }
                rows.push(row);
            }
            Ok(())
        })?;
        progress::tick(Activity::Reading);
        let first = self.next;
        self.next.line += rows.len() as u64;
        Ok(Some(Box::new(RowPortion { first, rows })))
    }

    fn source(&self) -> Option<&Source<'_>> {
        None
    }
}

fn bytes(value: &Value<'_>) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Vector(vector) => size_of_val(&vector[..]),
        _ => 0,
    }
}

#[derive(Debug)]
struct RowPortion {
    first: Position,
    /// The values of the fields; null also of what is not read.
    rows: Vec<[Value<'static>; 4]>,
}

impl Portion for RowPortion {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        for (line, row) in (self.first.line..).zip(&self.rows) {
            let values = row.each_ref().map(|value| match value {
                Value::Text(text) => Value::Text(Cow::Borrowed(text)),
                other => other.clone(),
            });
            let document = value::document(values, fields, &[], String::new);
            each(Position { line, ..self.first }, document.and_then(|it| fields.page(it)));
        }
        Passed::default()
    }
}

/// Calls `each` with the name of the column and the value of the first `most` rows of the first row group, column by column. Returns how
/// many rows these are.
pub(in crate::document) fn first_rows(
    input: &Input,
    most: u64,
    each: &mut dyn FnMut(&str, &Value<'_>),
) -> Result<u64> {
    let opened = bytes_of(input)?;
    trying(input.path(), || {
        let mut file = ParquetGroups::open(opened, ReadOptions::default().max_record_bytes)?;
        let Some(rows) = file.next()? else { return Ok(0) };
        for name in file.names(MOST_COLUMNS) {
            let Some(Ok(place)) = file.find(&name, Wanted::Number) else { continue };
            let mut column = file.column(place)?;
            for _ in 0..rows.min(most) {
                if let Some(value) = column.next()? {
                    each(&name, &value);
                }
            }
        }
        Ok(rows.min(most))
    })
}
