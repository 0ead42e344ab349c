//! Rows of Parquet files, copied into one file with the same columns.
//!
//! A row group is copied column by column, and a column some rows at a time, so that memory is bounded by pages and not by row
//! groups. Lists and groups of columns are copied by their levels, as they are.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use roaring::RoaringTreemap;

use super::list::{Part, read};
use super::opened::{Opened, bytes_of};
use crate::document::inputs::Input;
use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};
use crate::results::{CREATED_BY, ParquetFile, RowGroup, trying, unwritten};

const BATCH: usize = 256;

pub struct ParquetCopy<W: Write + Send> {
    output: PathBuf,
    schema: Arc<Type>,
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> ParquetCopy<W> {
    pub fn like(first: &Input, out: W, output: &Path) -> Result<ParquetCopy<W>> {
        let file = open(first)?;
        let metadata = file.metadata();
        let schema = metadata.schema_descr().root_schema_ptr();
        let level = ZstdLevel::try_new(3).map_err(|cause| unwritten(output, cause))?;
        let properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(Compression::ZSTD(level))
            .set_key_value_metadata(metadata.key_value_metadata().cloned())
            .build();
        let writer = SerializedFileWriter::new(out, Arc::clone(&schema), Arc::new(properties))
            .map_err(|cause| unwritten(output, cause))?;
        Ok(ParquetCopy { output: output.to_path_buf(), schema, writer })
    }

    /// Copies rows, counted from 1, with other texts in the column `text`, if it is named: `texts` gives that of a row, and none if it stays as it
    /// is. It is asked in ascending order.
    pub fn copy(
        &mut self,
        input: &Input,
        rows: &RoaringTreemap,
        text: Option<&str>,
        texts: Texts<'_>,
    ) -> Result<()> {
        let file = self.open(input)?;
        let schema = file.metadata().schema_descr();
        let is_text = |leaf: &usize| Some(&*schema.column(*leaf).path().string()) == text;
        let text = (0..schema.num_columns()).find(is_text);
        let mut first: u64 = 1;
        for number in 0..file.groups() {
            let group = file.group(number);
            let range = first..first.saturating_add(group.rows());
            first = range.end;
            if rows.range_cardinality(range.clone()) > 0 {
                self.group(input.path(), &group, (range, rows), text, texts)?;
            }
        }
        Ok(())
    }

    fn open(&self, input: &Input) -> Result<ParquetFile<Opened>> {
        let file = open(input)?;
        if file.metadata().schema_descr().root_schema() == &*self.schema {
            return Ok(file);
        }
        Err(Error::new(Kind::Usage, "the inputs have different columns")
            .at(input.path())
            .help("filter the files one by one"))
    }

    fn group(
        &mut self,
        input: &Path,
        group: &RowGroup<'_, Opened>,
        (range, wanted): (Range<u64>, &RoaringTreemap),
        text: Option<usize>,
        texts: Texts<'_>,
    ) -> Result<()> {
        let failed = |cause| unwritten(&self.output, cause);
        let mut copied = self.writer.next_row_group().map_err(failed)?;
        let mut leaf: usize = 0;
        while let Some(out) = copied.next_column().map_err(failed)? {
            let reader = trying(input, || group.column(leaf))?;
            let column = group.metadata().column(leaf).column_descr();
            let levels = (column.max_def_level(), column.max_rep_level());
            let rows = Rows { range: range.clone(), wanted, levels };
            let texts = if text == Some(leaf) { Some(&mut *texts as Texts<'_>) } else { None };
            copy_column((input, &self.output), reader, out, &rows, texts)?;
            leaf += 1;
        }
        copied.close().map(drop).map_err(failed)
    }

    pub fn finish(self) -> Result<W> {
        self.writer.into_inner().map_err(|cause| unwritten(&self.output, cause))
    }
}

fn open(input: &Input) -> Result<ParquetFile<Opened>> {
    let bytes = bytes_of(input)?;
    trying(input.path(), || ParquetFile::new(bytes))
}

struct Rows<'a> {
    range: Range<u64>,
    wanted: &'a RoaringTreemap,
    levels: (i16, i16),
}

type Texts<'a> = &'a mut dyn FnMut(u64) -> Result<Option<String>>;

fn copy_column(
    places: (&Path, &Path),
    reader: ColumnReader,
    mut out: SerializedColumnWriter<'_>,
    rows: &Rows<'_>,
    texts: Option<Texts<'_>>,
) -> Result<()> {
    let to = &mut out;
    if let Some(texts) = texts {
        let ColumnReader::ByteArrayColumnReader(it) = reader else {
            return Err(Error::new(Kind::Usage, "the column of the text has no texts")
                .at(places.0)
                .help("write the column as texts, or the pages as JSON Lines, and cut these"));
        };
        rows.copy::<ByteArrayType>(it, to, places, |row, value| {
            Ok(texts(row)?.map_or(value, |text| text.into_bytes().into()))
        })?;
        return out.close().map_err(|cause| unwritten(places.1, cause));
    }
    match reader {
        ColumnReader::BoolColumnReader(it) => rows.copy::<BoolType>(it, to, places, same),
        ColumnReader::Int32ColumnReader(it) => rows.copy::<Int32Type>(it, to, places, same),
        ColumnReader::Int64ColumnReader(it) => rows.copy::<Int64Type>(it, to, places, same),
        ColumnReader::Int96ColumnReader(it) => rows.copy::<Int96Type>(it, to, places, same),
        ColumnReader::FloatColumnReader(it) => rows.copy::<FloatType>(it, to, places, same),
        ColumnReader::DoubleColumnReader(it) => rows.copy::<DoubleType>(it, to, places, same),
        ColumnReader::ByteArrayColumnReader(it) => rows.copy::<ByteArrayType>(it, to, places, same),
        ColumnReader::FixedLenByteArrayColumnReader(it) => {
            rows.copy::<FixedLenByteArrayType>(it, to, places, same)
        }
    }?;
    out.close().map_err(|cause| unwritten(places.1, cause))
}

fn same<V>(_: u64, value: V) -> Result<V> {
    Ok(value)
}

impl Rows<'_> {
    fn copy<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        out: &mut SerializedColumnWriter<'_>,
        (input, output): (&Path, &Path),
        mut change: impl FnMut(u64, T::T) -> Result<T::T>,
    ) -> Result<()> {
        let Range { start: mut next, end } = self.range;
        while next < end {
            progress::tick(Activity::Reading);
            let most = usize::try_from(end - next).unwrap_or(BATCH).min(BATCH);
            let (part, records) = trying(input, || read::<T>(&mut reader, most))?;
            let (definition, repetition) = self.levels;
            if records == 0 || !part.has_levels_up_to(definition, repetition) {
                let what = "a column ends before its row group, or has levels that it cannot have";
                return trying(input, || Err(ParquetError::General(what.to_owned())));
            }
            let kept = self.kept(part, next, &mut change)?;
            next += records as u64;
            let definitions = (definition > 0).then_some(&*kept.definitions);
            let repetitions = (repetition > 0).then_some(&*kept.repetitions);
            out.typed::<T>()
                .write_batch(&kept.values, definitions, repetitions)
                .map_err(|cause| unwritten(output, cause))?;
        }
        Ok(())
    }

    fn kept<V>(
        &self,
        part: Part<V>,
        first: u64,
        change: &mut impl FnMut(u64, V) -> Result<V>,
    ) -> Result<Part<V>> {
        let (definition, repetition) = self.levels;
        let Part { values, definitions, repetitions } = part;
        let count = if definition > 0 { definitions.len() } else { values.len() };
        let mut kept = Part::empty();
        let mut values = values.into_iter();
        let mut row = first;
        for at in 0..count {
            if at > 0 && (repetition == 0 || repetitions[at] == 0) {
                row += 1;
            }
            let is_present = definition == 0 || definitions[at] == definition;
            let value = if is_present { values.next() } else { None };
            if !self.wanted.contains(row) {
                continue;
            }
            kept.values.extend(value.map(|value| change(row, value)).transpose()?);
            if definition > 0 {
                kept.definitions.push(definitions[at]);
            }
            if repetition > 0 {
                kept.repetitions.push(repetitions[at]);
            }
        }
        Ok(kept)
    }
}
