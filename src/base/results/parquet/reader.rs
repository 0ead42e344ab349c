//! The texts of the rows of a Parquet file.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use super::file::ParquetFile;
use super::library::{trying, values_of};
use crate::day::Day;
use crate::error::{At, Error, Kind, Result};
use crate::progress::{self, Activity};
use crate::results::json_lines::shown;

const BATCH: usize = 1024;

pub(in crate::results) struct ParquetReader {
    path: PathBuf,
    file: ParquetFile<File>,
    columns: Vec<ColumnPlace>,
    next_group: usize,
    /// The columns of the current row group, and how many of its rows are not decoded yet.
    group: Vec<ColumnReader>,
    left: usize,
    decoded: Vec<Vec<Option<String>>>,
    next: usize,
    ready: usize,
    row: String,
}

struct ColumnPlace {
    name: String,
    converted: ConvertedType,
    present: i16,
}

impl ParquetReader {
    pub(in crate::results) fn open(path: &Path) -> Result<ParquetReader> {
        let file = File::open(path).at(path)?;
        let file = trying(path, || ParquetFile::new(file))?;
        let schema = file.metadata().schema_descr();
        let columns = schema.columns().iter().map(|column| {
            ColumnPlace::of(column).ok_or_else(|| {
                Error::new(Kind::BadData, "this Parquet file is no table of results")
                    .at(path)
                    .expected("columns of text, numbers and days")
                    .found(format_args!("{} of {}", column.path(), column.physical_type()))
            })
        });
        Ok(ParquetReader {
            path: path.to_path_buf(),
            columns: columns.collect::<Result<_>>()?,
            file,
            next_group: 0,
            group: Vec::new(),
            left: 0,
            decoded: Vec::new(),
            next: 0,
            ready: 0,
            row: String::new(),
        })
    }

    pub(in crate::results) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    pub(in crate::results) fn next(&mut self) -> Result<Option<&str>> {
        if self.next == self.ready && !self.decode()? {
            return Ok(None);
        }
        self.row.clear();
        for (at, column) in self.decoded.iter().enumerate() {
            let text = column[self.next].as_deref().unwrap_or_default();
            let divider = if at == 0 { "" } else { "\t" };
            write!(self.row, "{divider}{text}").expect("a string takes any text");
        }
        self.next += 1;
        Ok(Some(&self.row))
    }

    fn decode(&mut self) -> Result<bool> {
        progress::tick(Activity::Reading);
        let path = self.path.clone();
        while self.left == 0 {
            if self.next_group == self.file.groups() {
                return Ok(false);
            }
            trying(&path, || self.open_group())?;
        }
        let rows = self.left.min(BATCH);
        let places = self.columns.iter().zip(&mut self.group);
        let decoded = places.map(|(place, reader)| trying(&path, || place.texts(reader, rows)));
        self.decoded = decoded.collect::<Result<_>>()?;
        (self.next, self.ready) = (0, rows);
        self.left -= rows;
        Ok(true)
    }

    fn open_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.group(self.next_group);
        self.next_group += 1;
        self.left = usize::try_from(group.rows()).unwrap_or(usize::MAX);
        let readers = (0..self.columns.len()).map(|leaf| group.column(leaf));
        self.group = readers.collect::<Result<_, _>>()?;
        Ok(())
    }
}

impl ColumnPlace {
    fn of(column: &ColumnDescriptor) -> Option<ColumnPlace> {
        let converted = column.converted_type();
        let is_ours = matches!(
            (column.physical_type(), converted),
            (Type::BYTE_ARRAY | Type::DOUBLE, _)
                | (Type::INT32 | Type::INT64, ConvertedType::NONE)
                | (Type::INT32, ConvertedType::DATE | ConvertedType::INT_8 | ConvertedType::UINT_8)
        );
        let name = column.path().string();
        let present = column.max_def_level();
        let is_table = is_ours && column.max_rep_level() == 0;
        is_table.then_some(ColumnPlace { name, converted, present })
    }

    fn texts(
        &self,
        reader: &mut ColumnReader,
        rows: usize,
    ) -> Result<Vec<Option<String>>, ParquetError> {
        let general = |what: &str| ParquetError::General(what.to_owned());
        let &ColumnPlace { converted, present, .. } = self;
        let texts = match reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                values_of(reader, rows, present, |bytes| {
                    let text = str::from_utf8(bytes.data()).ok()?;
                    (!text.contains(['\t', '\n', '\r'])).then(|| text.to_owned())
                })
            }
            ColumnReader::Int32ColumnReader(reader) => {
                values_of(reader, rows, present, |number| match converted {
                    ConvertedType::DATE => {
                        Day::of_days_since_1970(number).map(|day| day.to_string())
                    }
                    ConvertedType::INT_8 => Some(format!("{number:+}")),
                    _ => Some(number.to_string()),
                })
            }
            ColumnReader::Int64ColumnReader(reader) => {
                values_of(reader, rows, present, |number| Some(number.to_string()))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                values_of(reader, rows, present, |share| Some(shown(share)))
            }
            _ => return Err(general("a column of another type than the schema says")),
        }?;
        if texts.len() != rows {
            return Err(general("a column ends before its row group"));
        }
        let wrong = || general("a value that dupsieve does not write");
        texts.into_iter().map(|text| text.map(|it| it.ok_or_else(wrong)).transpose()).collect()
    }
}
