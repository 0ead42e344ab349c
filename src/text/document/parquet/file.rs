//! A Parquet file: which columns have the fields, and its values, row group by row group.

use std::path::Path;

use parquet::errors::Result as ParquetResult;

use super::column::{Column, Place, Wanted};
use super::opened::Opened;
use crate::document::fields::Fields;
use crate::error::{Error, Kind, Result};
use crate::results::ParquetFile;

const SHOWN: usize = 12;

fn wanted(fields: &Fields, field: &str) -> (Wanted, &'static str) {
    let numbers = "text, numbers or times";
    match field {
        _ if field == fields.id => (Wanted::Number, "text, whole numbers or UUIDs"),
        _ if field == fields.text && fields.vectors => {
            (Wanted::Vector, "lists of floating-point numbers")
        }
        _ if field == fields.text => (Wanted::Text, numbers),
        _ if Some(field) == fields.key.as_deref() => (Wanted::Text, "text or whole numbers"),
        _ => (Wanted::Number, numbers),
    }
}

pub(super) struct ParquetGroups {
    file: ParquetFile<Opened>,
    /// The row groups that were opened, and their bytes in all columns.
    opened: usize,
    pub(super) at: u64,
    max_bytes: usize,
}

impl ParquetGroups {
    pub(super) fn open(bytes: Opened, max_bytes: usize) -> ParquetResult<ParquetGroups> {
        Ok(ParquetGroups { file: ParquetFile::new(bytes)?, opened: 0, at: 0, max_bytes })
    }

    pub(super) fn names(&self, most: usize) -> Vec<String> {
        let columns = self.file.metadata().schema_descr().columns();
        columns.iter().take(most).map(|column| column.path().string()).collect()
    }

    pub(super) fn places(&self, fields: &Fields, path: &Path) -> Result<[Option<Place>; 4]> {
        let place = |field: &str| {
            let (wanted, expected) = wanted(fields, field);
            match self.find(field, wanted) {
                Some(Ok(place)) => Ok(place),
                Some(Err(found)) => {
                    Err(Error::new(Kind::BadData, "a column cannot be read as a field")
                        .at(path)
                        .expected(format!("{expected} in {field:?}"))
                        .found(found))
                }
                None => {
                    let mut names = self.names(SHOWN + 1);
                    if names.len() > SHOWN {
                        names[SHOWN] = "...".to_owned();
                    }
                    let error = Error::new(Kind::BadData, "the file lacks a column").at(path);
                    let error = error.expected(format!("{field:?}")).found(names.join(", "));
                    Err(fields.missing(field, error))
                }
            }
        };
        fields.places(|field| self.find(field, Wanted::Number).is_some(), place)
    }

    pub(super) fn find(&self, field: &str, wanted: Wanted) -> Option<Result<Place, String>> {
        Place::find(self.file.metadata().schema_descr(), field, wanted)
    }

    /// Opens the next row group that has rows, and returns how many.
    pub(super) fn next(&mut self) -> ParquetResult<Option<u64>> {
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

    pub(super) fn column(&self, place: Place) -> ParquetResult<Column> {
        Column::new(&self.file.group(self.opened - 1), place, self.max_bytes)
    }
}
