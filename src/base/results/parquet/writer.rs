//! Rows to Parquet, row group by row group.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::column_values::{ColumnValues, schema};
use super::library::unwritten;
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};
use crate::results::column::{ResultColumn, Sorted, Values};

/// Who wrote the file, in the form that readers parse before they trust its statistics: the version is that of what is
/// written, not of the program.
pub const CREATED_BY: &str = "dupsieve version 1 (build 1)";
/// A row group ends when its texts and numbers have so many bytes, so that one is held in little memory.
const GROUP_BYTES: usize = 16 << 20;
const GROUP_ROWS: usize = 1 << 20;
const LEVEL: i32 = 3;

pub(in crate::results) struct ParquetWriter<W: Write + Send> {
    path: PathBuf,
    columns: Vec<ResultColumn>,
    writer: SerializedFileWriter<W>,
    held: Vec<ColumnValues>,
    rows: usize,
    bytes: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(in crate::results) fn new(out: W, path: &Path, columns: &[ResultColumn]) -> Result<Self> {
        let failed = |cause| unwritten(path, cause);
        let schema = schema(columns).map_err(failed)?;
        let properties = Arc::new(properties(columns).map_err(failed)?);
        let writer =
            SerializedFileWriter::new(out, Arc::new(schema), properties).map_err(failed)?;
        let held = columns.iter().map(|_| ColumnValues::default()).collect();
        let path = path.to_path_buf();
        Ok(ParquetWriter { path, columns: columns.to_vec(), writer, held, rows: 0, bytes: 0 })
    }

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
            let lacking = || ParquetError::General("the schema lacks a column".to_owned());
            let mut out = group.next_column()?.ok_or_else(lacking)?;
            held.write(column, &mut out)?;
            out.close()?;
        }
        group.close().map(drop)
    }
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
