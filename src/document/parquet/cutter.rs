//! A Parquet file: its columns are found by name, and its rows taken portion by portion.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::ParquetError;
use parquet::file::reader::Length;
use parquet::schema::types::SchemaDescriptor;

use super::column::{Column, Place, Value};
use super::list::{ListColumn, ListPlace};
use super::opened::{Opened, open};
use super::portion::{ParquetPortion, Row};
use crate::document::fields::Fields;
use crate::document::inputs::Input;
use crate::document::order_field::OrderField;
use crate::document::read_options::ReadOptions;
use crate::document::record::Position;
use crate::document::records::{Cutter, Portion};
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};
use crate::results::{ParquetFile, trying};

/// The most rows of a portion.
const MOST_ROWS: usize = 4096;
/// How many rows are read before it is known how long they are.
const FIRST_ROWS: usize = 16;
/// How many names of columns an error shows.
const SHOWN_COLUMNS: usize = 12;

/// A Parquet file.
pub(in crate::rooms::document) struct ParquetCutter<'a> {
    input: &'a Input,
    options: &'a ReadOptions,
    progress: &'a AtomicU64,
    opened: ParquetFile<Opened>,
    places: Places,
    /// The row group that comes after the current one.
    next_group: usize,
    group: Option<Group>,
    /// The next row, counted from 1.
    next: Position,
    /// Rows and bytes of text that were read, by which portions are made about equal.
    rows: u64,
    bytes: u64,
    /// The bytes of the file that are not yet part of the progress.
    left: u64,
}

/// Where the fields are.
#[derive(Clone, Copy)]
struct Places {
    /// None: every row gets its place as the id.
    id: Option<Place>,
    text: TextPlace,
    order: Option<Place>,
}

/// Where the text is, or the vector.
#[derive(Clone, Copy)]
enum TextPlace {
    Text(Place),
    Vectors(ListPlace),
}

/// The columns of a row group, all at the same row.
struct Group {
    id: Option<Column>,
    text: TextColumn,
    order: Option<Column>,
    /// How many rows are left.
    rows: usize,
    /// Its bytes in the file, in all columns.
    bytes: u64,
}

/// The column of the texts, or of the vectors.
enum TextColumn {
    Text(Column),
    Vectors(ListColumn),
}

impl TextColumn {
    fn next(&mut self, rows: usize) -> Result<Vec<Option<Value>>, ParquetError> {
        match self {
            TextColumn::Text(column) => column.next(rows),
            TextColumn::Vectors(lists) => lists.next(rows),
        }
    }
}

impl<'a> ParquetCutter<'a> {
    /// The rows of `input`, whose number is `file`.
    pub(in crate::rooms::document) fn new(
        file: u32,
        input: &'a Input,
        options: &'a ReadOptions,
        progress: &'a AtomicU64,
    ) -> Result<ParquetCutter<'a>> {
        let path = input.path();
        let opened = open(input)?;
        let left = opened.bytes().len();
        let places = Places::find(opened.metadata().schema_descr(), &options.fields, path)?;
        let next = Position { file, line: 1 };
        Ok(ParquetCutter {
            input,
            options,
            progress,
            opened,
            places,
            next_group: 0,
            group: None,
            next,
            rows: 0,
            bytes: 0,
            left,
        })
    }

    /// Opens the next row group that has rows. Returns false at the end of the file.
    fn open_group(&mut self) -> Result<bool> {
        while self.group.is_none() && self.next_group < self.opened.groups() {
            let group = trying(self.input.path(), || self.group_at(self.next_group))?;
            self.group = Some(group).filter(|group| group.rows > 0);
            self.next_group += 1;
        }
        Ok(self.group.is_some())
    }

    fn group_at(&self, number: usize) -> Result<Group, ParquetError> {
        let group = self.opened.group(number);
        let column =
            |place: Place| group.column(place.leaf).map(|reader| Column::new(reader, place));
        let Places { id, text, order } = self.places;
        Ok(Group {
            id: id.map(column).transpose()?,
            text: match text {
                TextPlace::Text(place) => TextColumn::Text(column(place)?),
                TextPlace::Vectors(place) => TextColumn::Vectors(ListColumn::new(&group, place)?),
            },
            order: order.map(column).transpose()?,
            rows: usize::try_from(group.rows()).unwrap_or(usize::MAX),
            bytes: u64::try_from(group.metadata().compressed_size()).unwrap_or(0),
        })
    }

    /// How many rows have about the bytes of a portion.
    fn rows_of_portion(&self) -> usize {
        if self.rows == 0 {
            return FIRST_ROWS;
        }
        let row_bytes = (self.bytes / self.rows).max(1);
        (self.options.portion_bytes as u64 / row_bytes).clamp(1, MOST_ROWS as u64) as usize
    }

    /// Counts bytes of the file as read.
    fn advance(&mut self, bytes: u64) {
        let bytes = bytes.min(self.left);
        self.left -= bytes;
        self.progress.fetch_add(bytes, Ordering::Relaxed);
        progress::tick(Activity::Reading);
    }
}

impl Cutter for ParquetCutter<'_> {
    fn next(&mut self) -> Result<Option<Box<dyn Portion>>> {
        if !self.open_group()? {
            self.advance(self.left);
            return Ok(None);
        }
        let wanted = self.rows_of_portion();
        let Some(group) = &mut self.group else { return Ok(None) };
        let rows = trying(self.input.path(), || group.next(wanted))?;
        let is_over = group.rows == 0;
        let group_bytes = group.bytes;
        progress::tick(Activity::Reading);
        self.rows += rows.len() as u64;
        self.bytes += rows.iter().map(Row::text_bytes).sum::<u64>();
        if is_over {
            self.group = None;
            self.advance(group_bytes);
        }
        let first = self.next;
        self.next.line += rows.len() as u64;
        let max_bytes = self.options.max_record_bytes;
        Ok(Some(Box::new(ParquetPortion { first, rows, max_bytes })))
    }

    fn contents(&self) -> Option<u128> {
        None
    }
}

impl Group {
    /// The next rows, at most so many.
    fn next(&mut self, most: usize) -> Result<Vec<Row>, ParquetError> {
        let rows = most.min(self.rows);
        let whole = |values: Vec<Option<Value>>| {
            if values.len() == rows {
                return Ok(values.into_iter());
            }
            Err(ParquetError::General(format!(
                "a column ends after {} of the last {rows} rows",
                values.len()
            )))
        };
        let next = |column: &mut Column| whole(column.next(rows)?);
        let mut ids = self.id.as_mut().map(next).transpose()?;
        let mut ordered = self.order.as_mut().map(next).transpose()?;
        let texts = whole(self.text.next(rows)?)?;
        self.rows -= rows;
        let rows = texts.map(|text| {
            let id = ids.as_mut().and_then(|ids| ids.next().flatten());
            let order = ordered.as_mut().and_then(|values| values.next().flatten());
            Row { id, text, order }
        });
        Ok(rows.collect())
    }
}

impl Places {
    fn find(schema: &SchemaDescriptor, fields: &Fields, path: &Path) -> Result<Places> {
        let place = |field: &str| {
            let found = Place::find(schema, field);
            expect(found, "text, numbers or times", field, (fields, schema), path)
        };
        let text = match fields.vectors {
            false => TextPlace::Text(place(&fields.text)?),
            true => {
                let found = ListPlace::find(schema, &fields.text);
                let expected = "lists of floating-point numbers";
                TextPlace::Vectors(expect(found, expected, &fields.text, (fields, schema), path)?)
            }
        };
        let order = fields.order.as_ref().map(|OrderField { name, .. }| {
            let found = Place::find_number(schema, name);
            expect(found, "text, numbers or times", name, (fields, schema), path)
        });
        let place_ids = fields.place_ids;
        let may_lack = || place_ids.fill() && Place::find_number(schema, &fields.id).is_none();
        let has_ids = place_ids.reads_ids() && !may_lack();
        let id = has_ids.then(|| {
            let found = Place::find_number(schema, &fields.id);
            expect(found, "text, whole numbers or UUIDs", &fields.id, (fields, schema), path)
        });
        let id = id.transpose()?;
        Ok(Places { id, text, order: order.transpose()? })
    }
}

/// The place of a field that was `found`, or the error why there is none.
fn expect<P>(
    found: Option<Result<P, String>>,
    expected: &str,
    field: &str,
    (fields, schema): (&Fields, &SchemaDescriptor),
    path: &Path,
) -> Result<P> {
    match found {
        Some(Ok(place)) => Ok(place),
        Some(Err(found)) => Err(Error::new(Kind::BadData, "a column cannot be read as a field")
            .at(path)
            .expected(format!("{expected} in {field:?}"))
            .found(found)),
        None => {
            let error = Error::new(Kind::BadData, "the file lacks a column").at(path);
            let error = error.expected(format!("{field:?}")).found(names(schema));
            Err(fields.missing(field, error))
        }
    }
}

/// The names of the first columns, for a message.
fn names(schema: &SchemaDescriptor) -> String {
    let names = schema.columns().iter().map(|column| column.path().string());
    let shown: Vec<String> = names.take(SHOWN_COLUMNS).collect();
    let more = if schema.num_columns() > SHOWN_COLUMNS { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}
