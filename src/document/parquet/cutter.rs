//! A Parquet file: its columns are found by name, and its rows taken portion by portion.

use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::ParquetError;
use parquet::file::reader::Length;
use parquet::schema::types::SchemaDescriptor;

use super::column::{Column, Place};
use super::list::{ListColumn, ListPlace};
use super::open::open;
use crate::document::columns::{OfFields, Opened, Row, RowPortion, Value, Wanted, held_bytes};
use crate::document::inputs::Input;
use crate::document::read_options::ReadOptions;
use crate::document::record::Position;
use crate::document::records::{Cutter, Portion};
use crate::error::Result;
use crate::progress::{self, Activity};
use crate::results::{ParquetFile, trying};

const MOST_ROWS: usize = 4096;

pub(in crate::rooms::document) struct ParquetCutter<'a> {
    input: &'a Input,
    options: &'a ReadOptions,
    progress: &'a AtomicU64,
    opened: ParquetFile<Opened>,
    places: OfFields<AnyPlace>,
    next_group: usize,
    group: Option<Group>,
    next: Position,
    left: u64,
}

#[derive(Clone, Copy, Debug)]
enum AnyPlace {
    Values(Place),
    Vectors(ListPlace),
}

enum AnyColumn {
    Values(Column),
    Vectors(ListColumn),
}

struct Group {
    columns: OfFields<AnyColumn>,
    rows: usize,
    bytes: u64,
}

impl AnyPlace {
    fn find(
        schema: &SchemaDescriptor,
        field: &str,
        wanted: Wanted,
    ) -> Option<Result<AnyPlace, String>> {
        Some(match wanted {
            Wanted::Vector => ListPlace::find(schema, field)?.map(AnyPlace::Vectors),
            _ => Place::find(schema, field, wanted == Wanted::Number)?.map(AnyPlace::Values),
        })
    }
}

impl AnyColumn {
    fn next(&mut self) -> Result<Option<Value>, ParquetError> {
        match self {
            AnyColumn::Values(column) => column.next(),
            AnyColumn::Vectors(lists) => lists.next(),
        }
    }
}

impl<'a> ParquetCutter<'a> {
    pub(in crate::rooms::document) fn new(
        file: u32,
        input: &'a Input,
        options: &'a ReadOptions,
        progress: &'a AtomicU64,
    ) -> Result<ParquetCutter<'a>> {
        let path = input.path();
        let opened = open(input)?;
        let left = opened.bytes().len();
        let schema = opened.metadata().schema_descr();
        let names: Vec<String> = schema.columns().iter().map(|it| it.path().string()).collect();
        let places = OfFields::find(&options.fields, path, &names, |field, wanted| {
            AnyPlace::find(schema, field, wanted)
        })?;
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
            left,
        })
    }

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
        let max_bytes = self.options.max_record_bytes;
        let columns = self.places.map(|place| match *place {
            AnyPlace::Values(place) => Column::new(&group, place, max_bytes).map(AnyColumn::Values),
            AnyPlace::Vectors(place) => {
                ListColumn::new(&group, place, held_bytes(max_bytes)).map(AnyColumn::Vectors)
            }
        })?;
        Ok(Group {
            columns,
            rows: usize::try_from(group.rows()).unwrap_or(usize::MAX),
            bytes: u64::try_from(group.metadata().compressed_size()).unwrap_or(0),
        })
    }

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
        let Some(group) = &mut self.group else { return Ok(None) };
        let portion_bytes = self.options.portion_bytes;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        trying(self.input.path(), || {
            while group.rows > 0 && rows.len() < MOST_ROWS && bytes < portion_bytes {
                let row = group.next()?;
                bytes += row.bytes();
                rows.push(row);
            }
            Ok::<(), ParquetError>(())
        })?;
        let (is_over, group_bytes) = (group.rows == 0, group.bytes);
        progress::tick(Activity::Reading);
        if is_over {
            self.group = None;
            self.advance(group_bytes);
        }
        let first = self.next;
        self.next.line += rows.len() as u64;
        let max_bytes = self.options.max_record_bytes;
        Ok(Some(Box::new(RowPortion { first, rows, max_bytes })))
    }

    fn contents(&self) -> Option<u128> {
        None
    }
}

impl Group {
    fn next(&mut self) -> Result<Row, ParquetError> {
        let OfFields { id, text, order } = &mut self.columns;
        self.rows -= 1;
        Ok(Row {
            id: id.as_mut().map_or(Ok(None), AnyColumn::next)?,
            text: text.next()?,
            order: order.as_mut().map_or(Ok(None), AnyColumn::next)?,
        })
    }
}
