//! A passage as a row of the table `passages`, read back.

use std::path::Path;

use serde::Serialize;

use super::naming::columns;
use crate::error::Result;
use crate::results::ResultReader;

/// A passage of a page, and where it stood first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassageRow {
    pub id: String,
    /// Where it begins in the text of the page, in bytes.
    pub begin: u32,
    pub end: u32,
    pub words: u32,
    /// The page where its first window stood first.
    pub of: String,
    /// Where in the text of that page.
    pub of_begin: u32,
    /// The day of that page, or `batch`.
    pub against: String,
}

/// The rows of the table of an output, by page and place.
pub struct PassageRows(ResultReader);

impl PassageRows {
    /// Those of the output in this folder.
    pub fn of(folder: &Path) -> Result<PassageRows> {
        let reader = ResultReader::of(folder, "passages")?;
        reader.expect_columns(columns().iter().map(|column| column.name))?;
        Ok(PassageRows(reader))
    }
}

impl Iterator for PassageRows {
    type Item = Result<PassageRow>;

    fn next(&mut self) -> Option<Result<PassageRow>> {
        let row = match self.0.next_row() {
            Ok(row) => row?,
            Err(error) => return Some(Err(error)),
        };
        let read = PassageRow::read(row);
        Some(read.ok_or_else(|| self.0.wrong("not a passage")))
    }
}

impl PassageRow {
    fn read(row: &str) -> Option<PassageRow> {
        let values: Vec<&str> = row.split('\t').collect();
        let [id, begin, end, words, of, of_begin, against] = values[..] else { return None };
        let number = |value: &str| value.parse::<u32>().ok();
        Some(PassageRow {
            id: id.to_owned(),
            begin: number(begin)?,
            end: number(end)?,
            words: number(words)?,
            of: of.to_owned(),
            of_begin: number(of_begin)?,
            against: against.to_owned(),
        })
    }
}
