//! An Arrow file: its columns, and its batches one after the other. What stands in dictionaries is held for the columns that are read.

use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use super::batch::Batch;
use super::column::{Column, Values};
use super::damage::damaged;
use super::flat::Table;
use super::messages::{Header, Messages, Next, version};
use super::schema::{self, Field, Place, Spot};
use crate::document::columns::Opened;

const COLUMNS: usize = 1;

pub(super) struct ArrowFile {
    pub(super) messages: Messages,
    pub(super) columns: Vec<Field>,
    /// For each dictionary that is wanted, a column that it has the values of, and these.
    dictionaries: HashMap<i64, (Field, Option<Rc<Values>>)>,
    max_bytes: usize,
}

pub(super) enum NextBatch {
    Batch(Rc<Batch>),
    End,
    Cut,
}

impl ArrowFile {
    pub(super) fn open(file: Opened, max_bytes: usize) -> io::Result<ArrowFile> {
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
        Ok(ArrowFile { messages, columns, dictionaries: HashMap::new(), max_bytes })
    }

    pub(super) fn want(&mut self, place: &Place) -> Spot {
        let spot = place.spot(&self.columns);
        if let Some(dictionary) = spot.column.dictionary {
            self.dictionaries.insert(dictionary.id, (spot.column.clone(), None));
        }
        spot
    }

    /// The next batch. No column of an earlier one is read any more.
    pub(super) fn next(&mut self) -> io::Result<NextBatch> {
        loop {
            let message = match self.messages.next()? {
                Next::Message(message) => message,
                Next::End => return Ok(NextBatch::End),
                Next::Cut => return Ok(NextBatch::Cut),
            };
            let (table, body) = match message.header()?.0 {
                Header::Batch(table) => {
                    return Ok(NextBatch::Batch(Rc::new(Batch::of(table, message.body.clone())?)));
                }
                Header::Dictionary(table) => (table, message.body.clone()),
                Header::Schema(_) => return Err(damaged("columns behind its batches")),
            };
            let Some((column, values)) = self.dictionaries.get_mut(&table.number::<8>(0, 0)?)
            else {
                continue;
            };
            let data = table.table(1)?.ok_or_else(|| damaged("a dictionary without values"))?;
            let is_added = table.number::<1>(2, 0)? != 0;
            let before = values.take().filter(|_| is_added);
            let batch = Rc::new(Batch::of(data, body)?);
            *values = Some(Values::of(&batch, column, before, self.max_bytes)?);
        }
    }

    pub(super) fn column(&self, batch: &Rc<Batch>, spot: &Spot) -> io::Result<Column> {
        let dictionary = spot.column.dictionary;
        let values = dictionary.and_then(|of| self.dictionaries.get(&of.id)?.1.clone());
        Column::of(batch, spot, values, self.max_bytes)
    }
}
