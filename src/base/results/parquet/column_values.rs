//! The columns of a table in Parquet: their types, and values on their way from texts to bytes.

use std::fmt::Write as _;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;

use crate::day::Day;
use crate::results::column::{ResultColumn, Values};

const BATCH: usize = 4096;

#[derive(Default)]
pub(super) struct ColumnValues {
    /// 1 for each row with a value, 0 for each without.
    levels: Vec<i16>,
    text: Vec<u8>,
    ends: Vec<u32>,
    small: Vec<i32>,
    large: Vec<i64>,
    shares: Vec<f64>,
}

impl ColumnValues {
    /// Takes the text of a row, and says how many bytes it takes; none if it is no text of the column.
    pub(super) fn push(&mut self, column: &ResultColumn, text: &str) -> Option<usize> {
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
                self.small.push(text.parse::<Day>().ok()?.since_1970());
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

    pub(super) fn write(
        &mut self,
        column: &ResultColumn,
        out: &mut SerializedColumnWriter<'_>,
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
                batches::<ByteArrayType>(out, &levels, ends.len(), value)
            }
            Values::Bits | Values::Change | Values::Day => {
                let numbers = std::mem::take(&mut self.small);
                batches::<Int32Type>(out, &levels, numbers.len(), |at| numbers[at])
            }
            Values::Count => {
                let numbers = std::mem::take(&mut self.large);
                batches::<Int64Type>(out, &levels, numbers.len(), |at| numbers[at])
            }
            Values::Share => {
                let shares = std::mem::take(&mut self.shares);
                batches::<DoubleType>(out, &levels, shares.len(), |at| shares[at])
            }
        }
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

pub(super) fn schema(columns: &[ResultColumn]) -> Result<Type, ParquetError> {
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
    parse_message_type(&(schema + " }"))
}
