//! Parses a line of tab-separated columns. Values are taken literally: no quotes, no trimming.

use std::path::Path;

use super::fields::Fields;
use super::reason::Reason;
use super::record::Document;
use super::value::{self, Value};
use crate::error::{Error, Kind, Result};

const SHOWN_BYTES: usize = 400;

pub(super) const MOST_COLUMNS: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Columns {
    pub(super) places: [Option<usize>; 4],
    pub(super) count: usize,
    pub(super) header: Vec<u8>,
}

impl Columns {
    /// Finds the fields in the header line of the file at `path`; `None` is one that could not be read.
    pub(super) fn find(header: Option<&[u8]>, fields: &Fields, path: &Path) -> Result<Columns> {
        let header = header.ok_or_else(|| {
            let what = "the header line cannot be read, or is longer than a record may be";
            Error::new(Kind::BadData, what).at(path).line(1)
        })?;
        let names = header.split(|&byte| byte == b'\t').take(MOST_COLUMNS + 1);
        Columns::among(&names.collect::<Vec<_>>(), header, fields, path)
    }

    pub(super) fn among(
        names: &[&[u8]],
        header: &[u8],
        fields: &Fields,
        path: &Path,
    ) -> Result<Columns> {
        let wrong = |what, field: &str| {
            let shown = String::from_utf8_lossy(&header[..header.len().min(SHOWN_BYTES)]);
            Error::new(Kind::BadData, what)
                .at(path)
                .line(1)
                .expected(format_args!("{field:?}"))
                .found(format_args!("{shown:?}"))
        };
        let column = |field: &str| {
            let mut columns = (0..names.len()).filter(|&at| names[at] == field.as_bytes());
            match (columns.next(), columns.next()) {
                (Some(column), None) => Ok(column),
                (Some(_), Some(_)) => {
                    let what = "the header line has two columns of one name";
                    Err(wrong(what, field).help("give each column that is read its own name"))
                }
                (None, _) => {
                    Err(fields.missing(field, wrong("the header line lacks a column", field)))
                }
            }
        };
        if names.len() > MOST_COLUMNS {
            let what = format!("the header line has more than {MOST_COLUMNS} columns");
            return Err(Error::new(Kind::BadData, what).at(path).line(1));
        }
        let places = fields.places(|field| names.contains(&field.as_bytes()), column)?;
        Ok(Columns { places, count: names.len(), header: header.to_vec() })
    }

    pub(super) fn check_count(&self, count: usize) -> Result<(), Reason> {
        if count == self.count {
            return Ok(());
        }
        let what = "the number of columns is not that of the header";
        Err(Reason::with(what, format_args!(": {count}, not {}", self.count)))
    }
}

pub(super) fn parse<'a>(
    line: &'a str,
    columns: &Columns,
    fields: &Fields,
) -> Result<Document<'a>, Reason> {
    let mut values = value::unread(&columns.places);
    let mut count = 0;
    for value in line.split('\t') {
        if let Some(field) = columns.places.iter().position(|place| *place == Some(count)) {
            values[field] = Value::Text(value.into());
        }
        count += 1;
    }
    columns.check_count(count)?;
    value::document(values, fields, line.as_bytes(), String::new)
}
