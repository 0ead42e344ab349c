//! An Arrow file: its columns are found by name, and its rows taken portion by portion.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::file::reader::Length;

use super::column::Column;
use super::damage::trying;
use super::file::{ArrowFile, NextBatch};
use super::schema::{Place, Spot, places};
use crate::document::columns::{OfFields, Row, RowPortion, bytes_of};
use crate::document::damage::Damage;
use crate::document::inputs::Input;
use crate::document::read_options::ReadOptions;
use crate::document::record::Position;
use crate::document::records::{Cutter, Portion};
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};

const MOST_ROWS: usize = 4096;
const NAMED: usize = 100;

pub(in crate::rooms::document) struct ArrowCutter<'a> {
    input: &'a Input,
    options: &'a ReadOptions,
    progress: &'a AtomicU64,
    file: ArrowFile,
    spots: OfFields<Spot>,
    batch: Option<OpenBatch>,
    next: Position,
    damage: Option<Damage>,
    bytes: u64,
    passed: u64,
}

struct OpenBatch {
    columns: OfFields<Column>,
    left: u64,
}

impl<'a> ArrowCutter<'a> {
    pub(in crate::rooms::document) fn new(
        file: u32,
        input: &'a Input,
        options: &'a ReadOptions,
        progress: &'a AtomicU64,
    ) -> Result<ArrowCutter<'a>> {
        let path = input.path();
        let opened = bytes_of(input)?;
        let bytes = opened.len();
        let mut arrow = trying(path, || ArrowFile::open(opened, options.max_record_bytes))?;
        let names: Vec<String> =
            places(&arrow.columns, NAMED).into_iter().map(|(name, _)| name).collect();
        let places = OfFields::find(&options.fields, path, &names, |field, wanted| {
            Place::find(&arrow.columns, field, wanted)
        })?;
        let Ok(spots) = places.map(|place| Ok::<_, Infallible>(arrow.want(place)));
        Ok(ArrowCutter {
            input,
            options,
            progress,
            file: arrow,
            spots,
            batch: None,
            next: Position { file, line: 1 },
            damage: None,
            bytes,
            passed: 0,
        })
    }

    fn advance(&mut self, to: u64) {
        let more = to.saturating_sub(self.passed);
        self.progress.fetch_add(more, Ordering::Relaxed);
        self.passed += more;
        progress::tick(Activity::Reading);
    }

    fn open_batch(&mut self) -> Result<bool> {
        let ArrowCutter { file, spots, .. } = self;
        let next = trying(self.input.path(), || {
            Ok(match file.next()? {
                NextBatch::Batch(batch) => {
                    let columns = spots.map(|spot| file.column(&batch, spot))?;
                    Ok(OpenBatch { columns, left: batch.rows })
                }
                NextBatch::End => Err(false),
                NextBatch::Cut => Err(true),
            })
        })?;
        match next {
            Ok(rows) => {
                self.batch = Some(rows);
                self.advance(self.file.messages.at);
                return Ok(true);
            }
            Err(true) => self.cut()?,
            Err(false) => {}
        }
        self.advance(self.bytes);
        Ok(false)
    }

    fn cut(&mut self) -> Result<()> {
        let at = self.file.messages.at;
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

impl OpenBatch {
    fn next(&mut self) -> std::io::Result<Row> {
        let OfFields { id, text, order } = &mut self.columns;
        self.left -= 1;
        Ok(Row {
            id: id.as_mut().map_or(Ok(None), Column::next)?,
            text: text.next()?,
            order: order.as_mut().map_or(Ok(None), Column::next)?,
        })
    }
}

impl Cutter for ArrowCutter<'_> {
    fn next(&mut self) -> Result<Option<Box<dyn Portion>>> {
        while self.batch.as_ref().is_none_or(|batch| batch.left == 0) {
            self.batch = None;
            if !self.open_batch()? {
                return Ok(None);
            }
        }
        let Some(batch) = &mut self.batch else { return Ok(None) };
        let (mut rows, mut bytes) = (Vec::new(), 0);
        trying(self.input.path(), || {
            while batch.left > 0 && rows.len() < MOST_ROWS && bytes < self.options.portion_bytes {
                let row = batch.next()?;
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
