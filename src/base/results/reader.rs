//! A table of any format, read back row by row.

use std::path::{Path, PathBuf};

use super::format::ResultFormat;
use super::json_lines::JsonLines;
use super::lines::Lines;
#[cfg(feature = "parquet")]
use super::parquet::ParquetReader;
use crate::error::{Error, Kind, Named, Result};

pub struct ResultReader {
    path: PathBuf,
    /// None if the table does not tell them, as JSON Lines without a row.
    columns: Option<Vec<String>>,
    rows: Rows,
    number: u64,
}

enum Rows {
    Tsv(Lines),
    JsonLines(JsonLines),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetReader>),
}

impl ResultReader {
    pub fn of(folder: &Path, table: &str) -> Result<ResultReader> {
        let path = ResultReader::path_in(folder, table)?;
        ResultReader::open(&path)
    }

    /// Where a table of the output in `folder` is. One that is not there would be a TSV.
    pub fn path_in(folder: &Path, table: &str) -> Result<PathBuf> {
        let paths = ResultFormat::ALL.map(|format| folder.join(format.file_name(table)));
        let mut found = paths.iter().filter(|path| path.exists());
        match (found.next(), found.next()) {
            (Some(first), Some(second)) => {
                Err(Error::new(Kind::BadData, "an output has each table in one format")
                    .at(first)
                    .found(second.named())
                    .help("remove the one that its report.json does not name"))
            }
            (found, _) => Ok(found.unwrap_or(&paths[0]).clone()),
        }
    }

    pub fn open(path: &Path) -> Result<ResultReader> {
        let format = ResultFormat::of_path(path);
        format.check().map_err(|error| error.at(path))?;
        let (columns, rows) = match format {
            ResultFormat::JsonLines => {
                let rows = JsonLines::open(path.to_path_buf())?;
                let columns = Some(rows.columns.clone()).filter(|it| !it.is_empty());
                (columns, Rows::JsonLines(rows))
            }
            #[cfg(feature = "parquet")]
            ResultFormat::Parquet => {
                let rows = ParquetReader::open(path)?;
                (Some(rows.names()), Rows::Parquet(Box::new(rows)))
            }
            _ => {
                let mut lines = Lines::open(path.to_path_buf())?;
                let header = lines.next()?.unwrap_or_default();
                let columns = header.split('\t').map(str::to_owned).collect();
                (Some(columns), Rows::Tsv(lines))
            }
        };
        Ok(ResultReader { path: path.to_path_buf(), columns, rows, number: 0 })
    }

    /// The names of the columns; none if the table does not tell them, and then it has no row.
    pub fn columns(&self) -> Option<&[String]> {
        self.columns.as_deref()
    }

    pub fn expect_columns<'a>(&self, expected: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let expected: Vec<&str> = expected.into_iter().collect();
        match self.columns() {
            Some(found) if *found != expected => {
                Err(self.wrong("not the expected header").expected(expected.join("\t")))
            }
            _ => Ok(()),
        }
    }

    pub fn next_row(&mut self) -> Result<Option<&str>> {
        self.number += 1;
        match &mut self.rows {
            Rows::Tsv(lines) => lines.next(),
            Rows::JsonLines(lines) => lines.next(),
            #[cfg(feature = "parquet")]
            Rows::Parquet(reader) => reader.next(),
        }
    }

    /// The number of the row that was read last: its line, or in Parquet its row from 1.
    pub fn number(&self) -> u64 {
        match &self.rows {
            Rows::Tsv(lines) => lines.number,
            _ => self.number.max(1),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn wrong(&self, what: &str) -> Error {
        super::lines::wrong(&self.path, self.number(), what)
    }
}
