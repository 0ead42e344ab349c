//! An Arrow file: its columns, and its batches one after the other. What stands in dictionaries is held for the columns that are read.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

use super::batch::Batch;
use super::column::{Column, Values};
use super::damage::{self, damaged};
use super::flat::Table;
use super::messages::{Header, Messages, Next, version};
use super::schema::{self, Field, Spot};
use crate::document::columns::{ColumnFile, NextBatch, Opened, Value, Wanted};
use crate::error::Result;

/// Where the table at the end has the columns.
const COLUMNS: usize = 1;

pub(in crate::document) struct ArrowFile {
    messages: Messages,
    columns: Vec<Field>,
    /// For each dictionary that is wanted, a column that it has the values of, and these.
    dictionaries: HashMap<i64, (Field, Option<Rc<Values>>)>,
    batch: Option<Rc<Batch>>,
    max_bytes: usize,
}

impl ColumnFile for ArrowFile {
    type Place = Spot;
    type Column = Column;
    type Failure = io::Error;

    fn trying<T>(path: &Path, work: impl FnOnce() -> io::Result<T>) -> Result<T> {
        damage::trying(path, work)
    }

    fn open(file: Opened, max_bytes: usize) -> io::Result<ArrowFile> {
        let (mut messages, end) = Messages::of(file)?;
        let columns = match end {
            Some(end) => {
                let end = Table::root(&end)?;
                let columns =
                    end.table(COLUMNS)?.ok_or_else(|| damaged("no columns at its end"))?;
                schema::columns(columns, version(end)?)?
            }
            None => {
                let Next::Message(message) = messages.next()? else {
                    return Err(damaged("it ends before its columns"));
                };
                let (Header::Schema(columns), version) = message.header()? else {
                    return Err(damaged("it does not begin with its columns"));
                };
                schema::columns(columns, version)?
            }
        };
        let (dictionaries, batch) = (HashMap::new(), None);
        Ok(ArrowFile { messages, columns, dictionaries, batch, max_bytes })
    }

    fn names(&self, most: usize) -> Vec<String> {
        schema::names(&self.columns, most)
    }

    fn find(&self, field: &str, wanted: Wanted) -> Option<Result<Spot, String>> {
        Spot::find(&self.columns, field, wanted)
    }

    fn want(&mut self, Spot { column, .. }: &Spot) {
        if let Some(dictionary) = column.dictionary {
            self.dictionaries.insert(dictionary.id, (column.clone(), None));
        }
    }

    fn next(&mut self) -> io::Result<NextBatch> {
        loop {
            let message = match self.messages.next()? {
                Next::Message(message) => message,
                Next::End => return Ok(NextBatch::End),
                Next::Cut => return Ok(NextBatch::Cut),
            };
            let table = match message.header()?.0 {
                Header::Batch(table) => {
                    let batch = Batch::of(table, message.body.clone())?;
                    let rows = batch.rows;
                    self.batch = Some(Rc::new(batch));
                    return Ok(NextBatch::Rows(rows));
                }
                Header::Dictionary(table) => table,
                Header::Schema(_) => return Err(damaged("columns behind its batches")),
            };
            let Some((column, values)) = self.dictionaries.get_mut(&table.number::<8>(0, 0)?)
            else {
                continue;
            };
            let data = table.table(1)?.ok_or_else(|| damaged("a dictionary without values"))?;
            let is_added = table.number::<1>(2, 0)? != 0;
            let before = values.take().filter(|_| is_added);
            let batch = Rc::new(Batch::of(data, message.body.clone())?);
            *values = Some(Values::of(&batch, column, before, self.max_bytes)?);
        }
    }

    fn column(&self, spot: &Spot) -> io::Result<Column> {
        let batch = self.batch.as_ref().ok_or_else(|| damaged("no batch"))?;
        let dictionary = spot.column.dictionary;
        let values = dictionary.and_then(|of| self.dictionaries.get(&of.id)?.1.clone());
        Column::of(batch, spot, values, self.max_bytes)
    }

    fn value(column: &mut Column) -> io::Result<Option<Value>> {
        column.next()
    }

    fn at(&self) -> u64 {
        self.messages.at
    }
}
