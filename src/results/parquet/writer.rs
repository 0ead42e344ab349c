//! Rows to Parquet, row group by row group.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::library::unwritten;
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};
use crate::results::column::{ResultColumn, Sorted, Values};
use crate::results::days::number_of;

/// Who wrote the file, in the form that readers parse before they trust its statistics: the version is that of what is
/// written, not of the program.
pub(crate) const CREATED_BY: &str = "dupsieve version 1 (build 1)";
/// A row group ends when its texts and numbers have so many bytes, so that one is held in little memory.
const GROUP_BYTES: usize = 16 << 20;
/// A row group has at most so many rows.
const GROUP_ROWS: usize = 1 << 20;
/// How many values are encoded at once.
const BATCH: usize = 4096;
/// Level of zstd.
const LEVEL: i32 = 3;

/// A table that is being written. It holds one row group.
pub(in crate::results) struct ParquetWriter<W: Write + Send> {
    path: PathBuf,
    columns: Vec<ResultColumn>,
    writer: SerializedFileWriter<W>,
    held: Vec<Held>,
    rows: usize,
    bytes: usize,
}

/// The values of a column in the current row group.
#[derive(Default)]
struct Held {
    /// 1 for each row with a value, 0 for each without.
    levels: Vec<i16>,
    text: Vec<u8>,
    /// Where the texts end.
    ends: Vec<u32>,
    small: Vec<i32>,
    large: Vec<i64>,
    shares: Vec<f64>,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(in crate::results) fn new(out: W, path: &Path, columns: &[ResultColumn]) -> Result<Self> {
        let failed = |cause| unwritten(path, cause);
        let schema = parse_message_type(&schema(columns)).map_err(failed)?;
        let properties = Arc::new(properties(columns).map_err(failed)?);
        let writer =
            SerializedFileWriter::new(out, Arc::new(schema), properties).map_err(failed)?;
        let held = columns.iter().map(|_| Held::default()).collect();
        let path = path.to_path_buf();
        Ok(ParquetWriter { path, columns: columns.to_vec(), writer, held, rows: 0, bytes: 0 })
    }

    /// Takes a row: the texts of its columns, with tabs between them.
    pub(in crate::results) fn push(&mut self, row: &str) -> Result<()> {
        let mut texts = row.split('\t');
        for (column, held) in self.columns.iter().zip(&mut self.held) {
            let text = texts.next().unwrap_or_default();
            let taken = held.push(column, text).ok_or_else(|| {
                Error::new(Kind::Internal, format!("not a text of the column {}", column.name))
                    .found(text)
            })?;
            self.bytes += taken;
        }
        self.rows += 1;
        if self.bytes >= GROUP_BYTES || self.rows == GROUP_ROWS {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes what is left, and gives the stream back.
    pub(in crate::results) fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        let ParquetWriter { path, writer, .. } = self;
        writer.into_inner().map_err(|cause| unwritten(&path, cause))
    }

    fn write_group(&mut self) -> Result<()> {
        let written = self.try_write_group();
        (self.rows, self.bytes) = (0, 0);
        written.map_err(|cause| unwritten(&self.path, cause))
    }

    fn try_write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (column, held) in self.columns.iter().zip(&mut self.held) {
            progress::tick(Activity::Writing);
            held.write(column, next_column(&mut group)?)?;
        }
        group.close().map(drop)
    }
}

fn next_column<'a, W: Write + Send>(
    group: &'a mut SerializedRowGroupWriter<'_, W>,
) -> Result<SerializedColumnWriter<'a>, ParquetError> {
    let column = group.next_column()?;
    column.ok_or_else(|| ParquetError::General("the schema lacks a column".to_owned()))
}

impl Held {
    /// Takes the text of a row, and says how many bytes it takes; none if it is no text of the column.
    fn push(&mut self, column: &ResultColumn, text: &str) -> Option<usize> {
        if column.is_optional {
            self.levels.push((!text.is_empty()).into());
            if text.is_empty() {
                return Some(size_of::<i16>());
            }
        }
        let bytes = match column.values {
            Values::Text | Values::Names => {
                self.text.extend(text.as_bytes());
                self.ends.push(u32::try_from(self.text.len()).ok()?);
                text.len() + size_of::<u32>()
            }
            Values::Bits => {
                self.small.push(text.parse::<u8>().ok()?.into());
                size_of::<i32>()
            }
            Values::Change => {
                self.small.push(text.parse::<i8>().ok()?.into());
                size_of::<i32>()
            }
            Values::Day => {
                self.small.push(number_of(text)?);
                size_of::<i32>()
            }
            Values::Count => {
                self.large.push(text.parse().ok()?);
                size_of::<i64>()
            }
            Values::Share => {
                self.shares.push(text.parse().ok()?);
                size_of::<f64>()
            }
        };
        Some(bytes)
    }

    /// Encodes the values, and forgets them.
    fn write(
        &mut self,
        column: &ResultColumn,
        mut out: SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let levels = std::mem::take(&mut self.levels);
        match column.values {
            Values::Text | Values::Names => {
                let text = ByteArray::from(std::mem::take(&mut self.text));
                let ends = std::mem::take(&mut self.ends);
                let value = |at: usize| {
                    let start = at.checked_sub(1).map_or(0, |before| ends[before]) as usize;
                    text.slice(start, ends[at] as usize - start)
                };
                batches::<ByteArrayType>(&mut out, &levels, ends.len(), value)
            }
            Values::Bits | Values::Change | Values::Day => {
                let numbers = std::mem::take(&mut self.small);
                batches::<Int32Type>(&mut out, &levels, numbers.len(), |at| numbers[at])
            }
            Values::Count => {
                let numbers = std::mem::take(&mut self.large);
                batches::<Int64Type>(&mut out, &levels, numbers.len(), |at| numbers[at])
            }
            Values::Share => {
                let shares = std::mem::take(&mut self.shares);
                batches::<DoubleType>(&mut out, &levels, shares.len(), |at| shares[at])
            }
        }?;
        out.close()
    }
}

/// Encodes `count` values; where some rows have none, `levels` says which.
fn batches<T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    levels: &[i16],
    count: usize,
    value: impl Fn(usize) -> T::T,
) -> Result<(), ParquetError> {
    let out = out.typed::<T>();
    let mut next = 0;
    let rows = if levels.is_empty() { count } else { levels.len() };
    for start in (0..rows).step_by(BATCH) {
        let levels = levels.get(start..rows.min(start + BATCH));
        let present = match levels {
            Some(levels) => levels.iter().filter(|&&level| level == 1).count(),
            None => BATCH.min(rows - start),
        };
        let values: Vec<T::T> = (next..next + present).map(&value).collect();
        out.write_batch(&values, levels, None)?;
        next += present;
    }
    Ok(())
}

/// The schema of a table, as text.
fn schema(columns: &[ResultColumn]) -> String {
    let mut schema = "message table {".to_owned();
    for ResultColumn { name, values, is_optional, .. } in columns {
        let presence = if *is_optional { "optional" } else { "required" };
        let (physical, logical) = match values {
            Values::Text | Values::Names => ("binary", "(STRING)"),
            Values::Bits => ("int32", "(INTEGER(8,false))"),
            Values::Change => ("int32", "(INTEGER(8,true))"),
            Values::Day => ("int32", "(DATE)"),
            Values::Count => ("int64", ""),
            Values::Share => ("double", ""),
        };
        write!(schema, " {presence} {physical} {name} {logical};")
            .expect("a string takes any text");
    }
    schema + " }"
}

fn properties(columns: &[ResultColumn]) -> Result<WriterProperties, ParquetError> {
    let sorting = columns.iter().zip(0..).filter_map(|(column, column_idx)| {
        let descending = column.sorted? == Sorted::Descending;
        Some(SortingColumn { column_idx, descending, nulls_first: true })
    });
    let builder = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_sorting_columns(Some(sorting.collect()));
    let unique = columns.iter().filter(|column| column.values == Values::Text);
    Ok(unique
        .fold(builder, |builder, column| {
            builder.set_column_dictionary_enabled(ColumnPath::from(column.name), false)
        })
        .build())
}
