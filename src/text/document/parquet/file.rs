//! A Parquet file, row group by row group.

use std::path::Path;

use parquet::errors::ParquetError;

use super::column::{Column, Place};
use super::list::{ListColumn, ListPlace};
use crate::document::columns::{ColumnFile, NextBatch, Opened, Value, Wanted, held_bytes};
use crate::error::Result;
use crate::results::{ParquetFile, trying};

pub(in crate::document) struct ParquetGroups {
    file: ParquetFile<Opened>,
    /// The row groups that were opened, and their bytes in all columns.
    opened: usize,
    at: u64,
    max_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::document) enum AnyPlace {
    Values(Place),
    Vectors(ListPlace),
}

pub(in crate::document) enum AnyColumn {
    Values(Column),
    Vectors(ListColumn),
}

impl ColumnFile for ParquetGroups {
    type Place = AnyPlace;
    type Column = AnyColumn;
    type Failure = ParquetError;

    fn trying<T>(path: &Path, work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T> {
        trying(path, work)
    }

    fn open(bytes: Opened, max_bytes: usize) -> Result<ParquetGroups, ParquetError> {
        Ok(ParquetGroups { file: ParquetFile::new(bytes)?, opened: 0, at: 0, max_bytes })
    }

    fn names(&self, most: usize) -> Vec<String> {
        let columns = self.file.metadata().schema_descr().columns();
        columns.iter().take(most).map(|column| column.path().string()).collect()
    }

    fn find(&self, field: &str, wanted: Wanted) -> Option<Result<AnyPlace, String>> {
        let schema = self.file.metadata().schema_descr();
        Some(match wanted {
            Wanted::Vector => ListPlace::find(schema, field)?.map(AnyPlace::Vectors),
            _ => Place::find(schema, field, wanted == Wanted::Number)?.map(AnyPlace::Values),
        })
    }

    fn next(&mut self) -> Result<NextBatch, ParquetError> {
        while self.opened < self.file.groups() {
            let group = self.file.group(self.opened);
            self.opened += 1;
            self.at += u64::try_from(group.metadata().compressed_size()).unwrap_or(0);
            if group.rows() > 0 {
                return Ok(NextBatch::Rows(group.rows()));
            }
        }
        Ok(NextBatch::End)
    }

    fn column(&self, place: &AnyPlace) -> Result<AnyColumn, ParquetError> {
        let group = self.file.group(self.opened - 1);
        Ok(match *place {
            AnyPlace::Values(place) => {
                AnyColumn::Values(Column::new(&group, place, self.max_bytes)?)
            }
            AnyPlace::Vectors(place) => {
                AnyColumn::Vectors(ListColumn::new(&group, place, held_bytes(self.max_bytes))?)
            }
        })
    }

    fn value(column: &mut AnyColumn) -> Result<Option<Value>, ParquetError> {
        match column {
            AnyColumn::Values(column) => column.next(),
            AnyColumn::Vectors(lists) => lists.next(),
        }
    }

    fn at(&self) -> u64 {
        self.at
    }
}
