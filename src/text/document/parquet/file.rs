//! A Parquet file, row group by row group.

use parquet::errors::ParquetError;

use super::column::{Column, Place};
use super::list::{self, ListColumn};
use super::opened::Opened;
use super::places::Wanted;
use super::rows::held_bytes;
use crate::document::value::Value;
use crate::results::ParquetFile;

pub(super) struct ParquetGroups {
    file: ParquetFile<Opened>,
    /// The row groups that were opened, and their bytes in all columns.
    opened: usize,
    at: u64,
    max_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum AnyPlace {
    Values(Place),
    /// The leaf of the lists.
    Vectors(usize),
}

pub(super) enum AnyColumn {
    Values(Column),
    Vectors(ListColumn),
}

impl ParquetGroups {
    pub(super) fn open(bytes: Opened, max_bytes: usize) -> Result<ParquetGroups, ParquetError> {
        Ok(ParquetGroups { file: ParquetFile::new(bytes)?, opened: 0, at: 0, max_bytes })
    }

    pub(super) fn names(&self, most: usize) -> Vec<String> {
        let columns = self.file.metadata().schema_descr().columns();
        columns.iter().take(most).map(|column| column.path().string()).collect()
    }

    /// Where the column of a field is; or what that holds, if the field cannot be made of it.
    pub(super) fn find(&self, field: &str, wanted: Wanted) -> Option<Result<AnyPlace, String>> {
        let schema = self.file.metadata().schema_descr();
        Some(match wanted {
            Wanted::Vector => list::find(schema, field)?.map(AnyPlace::Vectors),
            _ => Place::find(schema, field, wanted == Wanted::Number)?.map(AnyPlace::Values),
        })
    }

    /// Opens the next row group that has rows, and returns how many.
    pub(super) fn next(&mut self) -> Result<Option<u64>, ParquetError> {
        while self.opened < self.file.groups() {
            let group = self.file.group(self.opened);
            self.opened += 1;
            self.at += u64::try_from(group.metadata().compressed_size()).unwrap_or(0);
            if group.rows() > 0 {
                return Ok(Some(group.rows()));
            }
        }
        Ok(None)
    }

    pub(super) fn column(&self, place: &AnyPlace) -> Result<AnyColumn, ParquetError> {
        let group = self.file.group(self.opened - 1);
        Ok(match *place {
            AnyPlace::Values(place) => {
                AnyColumn::Values(Column::new(&group, place, self.max_bytes)?)
            }
            AnyPlace::Vectors(leaf) => {
                AnyColumn::Vectors(ListColumn::new(&group, leaf, held_bytes(self.max_bytes))?)
            }
        })
    }

    /// How many bytes of the file come before the end of the current row group.
    pub(super) fn at(&self) -> u64 {
        self.at
    }
}

impl AnyColumn {
    /// The value of the next row; none for null.
    pub(super) fn next(&mut self) -> Result<Option<Value<'static>>, ParquetError> {
        match self {
            AnyColumn::Values(column) => column.next(),
            AnyColumn::Vectors(lists) => lists.next(),
        }
    }
}
