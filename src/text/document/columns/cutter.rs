//! The rows of a file of columns: cut into portions, or the first of them in all columns.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::file::reader::Length;

use super::opened::{Opened, bytes_of};
use super::places::{OfFields, Wanted};
use super::rows::{Row, RowPortion, Value};
use crate::document::damage::Damage;
use crate::document::fields::ReadOptions;
use crate::document::inputs::Input;
use crate::document::record::Position;
use crate::document::records::{Cutter, Portion};
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};

const MOST_ROWS: usize = 4096;
/// How many columns are named where one is missing, and how many are looked at for their first rows.
const NAMED: usize = 100;
const MOST_COLUMNS: usize = 500;

/// A file of columns, from batch to batch: a record batch of Arrow, or a row group of Parquet.
pub(in crate::document) trait ColumnFile: Sized {
    type Place;
    type Column;
    type Failure;

    /// Does `work` on the file at `path`, and turns its failures and panics into errors.
    fn trying<T>(path: &Path, work: impl FnOnce() -> Result<T, Self::Failure>) -> Result<T>;

    fn open(bytes: Opened, max_bytes: usize) -> Result<Self, Self::Failure>;

    fn names(&self, most: usize) -> Vec<String>;

    /// Where the column of a field is; or what that holds, if the field cannot be made of it.
    fn find(&self, field: &str, wanted: Wanted) -> Option<Result<Self::Place, String>>;

    /// Says that this column will be read of all batches to come.
    fn want(&mut self, _place: &Self::Place) {}

    fn next(&mut self) -> Result<NextBatch, Self::Failure>;

    fn column(&self, place: &Self::Place) -> Result<Self::Column, Self::Failure>;

    /// The value of the next row; none for null.
    fn value(column: &mut Self::Column) -> Result<Option<Value>, Self::Failure>;

    /// How many bytes of the file come before the end of the current batch.
    fn at(&self) -> u64;
}

pub(in crate::document) enum NextBatch {
    Rows(u64),
    /// The file ends here as it should.
    End,
    Cut,
}

pub(in crate::document) struct ColumnCutter<'a, F: ColumnFile> {
    input: &'a Input,
    options: &'a ReadOptions,
    progress: &'a AtomicU64,
    file: F,
    places: OfFields<F::Place>,
    columns: Option<OfFields<F::Column>>,
    /// How many rows of the current batch are left.
    left: u64,
    next: Position,
    damage: Option<Damage>,
    /// The bytes of the file, and how many of them are part of the progress.
    bytes: u64,
    passed: u64,
}

impl<'a, F: ColumnFile> ColumnCutter<'a, F> {
    pub(in crate::document) fn new(
        file: u32,
        input: &'a Input,
        options: &'a ReadOptions,
        progress: &'a AtomicU64,
    ) -> Result<ColumnCutter<'a, F>> {
        let path = input.path();
        let opened = bytes_of(input)?;
        let bytes = opened.len();
        let mut of = F::trying(path, || F::open(opened, options.max_record_bytes))?;
        let find = |field: &str, wanted| of.find(field, wanted);
        let places = OfFields::find(&options.fields, path, &of.names(NAMED), find)?;
        let OfFields { id, text, order, key } = &places;
        id.iter().chain([text]).chain(order).chain(key).for_each(|place| of.want(place));
        Ok(ColumnCutter {
            input,
            options,
            progress,
            file: of,
            places,
            columns: None,
            left: 0,
            next: Position { file, line: 1 },
            damage: None,
            bytes,
            passed: 0,
        })
    }

    /// Counts the bytes of the file up to here as read.
    fn advance(&mut self, to: u64) {
        let more = to.min(self.bytes).saturating_sub(self.passed);
        self.progress.fetch_add(more, Ordering::Relaxed);
        self.passed += more;
        progress::tick(Activity::Reading);
    }

    /// Opens the next batch. Returns false at the end of the file.
    fn open_batch(&mut self) -> Result<bool> {
        self.columns = None;
        let ColumnCutter { file, places, columns, left, .. } = self;
        let next = F::trying(self.input.path(), || {
            let next = file.next()?;
            if let NextBatch::Rows(rows) = next {
                *columns = Some(places.map(|place| file.column(place))?);
                *left = rows;
            }
            Ok(next)
        })?;
        match next {
            NextBatch::Rows(_) => self.advance(self.file.at()),
            NextBatch::End => self.advance(self.bytes),
            NextBatch::Cut => {
                self.cut()?;
                self.advance(self.bytes);
            }
        }
        Ok(self.columns.is_some())
    }

    /// Notes that the file breaks off, or fails unless the user accepts that. Only Arrow can be read up to there.
    fn cut(&mut self) -> Result<()> {
        let at = self.file.at();
        if self.options.accept_truncated {
            self.damage = Some(Damage::new(at, self.bytes - at));
            return Ok(());
        }
        Err(Error::new(Kind::BadData, "the Arrow file ends too early")
            .at(self.input.path())
            .offset(at)
            .help("fetch the file again, or accept what can be read of it")
            .setting("accept-truncated"))
    }
}

impl<F: ColumnFile> Cutter for ColumnCutter<'_, F> {
    fn next(&mut self) -> Result<Option<Box<dyn Portion>>> {
        while self.left == 0 {
            if !self.open_batch()? {
                return Ok(None);
            }
        }
        let Some(OfFields { id, text, order, key }) = &mut self.columns else { return Ok(None) };
        let (mut rows, mut bytes) = (Vec::new(), 0);
        F::trying(self.input.path(), || {
            while self.left > 0 && rows.len() < MOST_ROWS && bytes < self.options.portion_bytes {
                self.left -= 1;
                let row = Row {
                    id: id.as_mut().map_or(Ok(None), F::value)?,
                    text: F::value(text)?,
                    order: order.as_mut().map_or(Ok(None), F::value)?,
                    key: key.as_mut().map_or(Ok(None), F::value)?,
                };
                bytes += row.bytes();
                rows.push(row);
            }
            Ok(())
        })?;
        progress::tick(Activity::Reading);
        let first = self.next;
        self.next.line += rows.len() as u64;
        let max_bytes = self.options.max_record_bytes;
        Ok(Some(Box::new(RowPortion { first, rows, max_bytes })))
    }

    fn damage(&self) -> Option<Damage> {
        self.damage
    }

    fn contents(&self) -> Option<u128> {
        None
    }
}

/// Calls `each` with the name of the column and the value of the first `most` rows of the first batch, column by column. Returns how many
/// rows these are.
pub(in crate::document) fn first_rows<F: ColumnFile>(
    input: &Input,
    most: u64,
    each: &mut dyn FnMut(&str, &Value),
) -> Result<u64> {
    let opened = bytes_of(input)?;
    F::trying(input.path(), || {
        let mut file = F::open(opened, ReadOptions::default().max_record_bytes)?;
        let mut places = Vec::new();
        for name in file.names(MOST_COLUMNS) {
            if let Some(Ok(place)) = file.find(&name, Wanted::Number) {
                file.want(&place);
                places.push((name, place));
            }
        }
        let NextBatch::Rows(rows) = file.next()? else { return Ok(0) };
        for (name, place) in &places {
            let mut column = file.column(place)?;
            for _ in 0..rows.min(most) {
                if let Some(value) = F::value(&mut column)? {
                    each(name, &value);
                }
            }
        }
        Ok(rows.min(most))
    })
}
