//! One column of a row group, decoded row by row.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::list::{self, BoundedPages, ListLevels, SAME_NAME, ended};
use super::opened::Opened;
use crate::document::reason::{Reason, too_long};
use crate::document::record::utf8;
use crate::document::value::Value;
use crate::parallel::lock;
use crate::results::{Gaps, RowGroup, values_of};

const DAY: i64 = 86_400;

const MOST_DIGITS: i32 = 38;

/// The records of `--max-record` that are held at once. Writers put many rows into a page before they look at its size.
const RECORDS: usize = 8;

/// The least bound: usual pages, and usual rows of a page, whatever a record may take.
const LEAST: usize = 16 << 20;

fn held_bytes(max_record: usize) -> usize {
    max_record.saturating_mul(RECORDS).max(LEAST)
}

/// What can be read only together with others that take too much memory.
fn crowded(max_record: usize) -> Value<'static> {
    let most = held_bytes(max_record);
    Value::Bad(Reason::with(
        "the record stands in a page that is larger than pages may be",
        format_args!(": more than {most} bytes (by the setting `max-record`)"),
    ))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Texts, whole numbers and times.
    Text,
    /// Those, and numbers with a fraction.
    Number,
    /// Lists of numbers with a fraction.
    Vector,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    leaf: usize,
    meaning: Meaning,
    /// The level of a value that is not null, nor below a group that is; 0 if there are no nulls.
    present: i16,
    /// Those of vectors; none if the column has no lists.
    lists: Option<ListLevels>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Plain,
    Unsigned,
    /// So many units since 1970, of which this many are a second.
    Moments {
        units: i64,
        is_utc: bool,
    },
    Days,
    /// Bytes that are a whole number: two's complement, the highest first.
    Decimal,
    Uuid,
}

impl Place {
    /// The column of a field: a leaf below groups, whose names are joined by dots; or what that holds, if the field cannot be made
    /// of it. `None` if there is none.
    pub(super) fn find(
        schema: &SchemaDescriptor,
        field: &str,
        wanted: Wanted,
    ) -> Option<Result<Place, String>> {
        if wanted == Wanted::Vector {
            let vectors = |leaf| {
                let lists = Some(ListLevels::of(&schema.column(leaf)));
                Place { leaf, meaning: Meaning::Plain, present: 0, lists }
            };
            return Some(list::find(schema, field)?.map(vectors));
        }
        let is_number = wanted == Wanted::Number;
        let takes = |of: Type| is_number || !matches!(of, Type::FLOAT | Type::DOUBLE);
        let is_field = |leaf: &usize| schema.column(*leaf).path().string() == field;
        let mut leaves = (0..schema.num_columns()).filter(is_field);
        let Some(leaf) = leaves.next() else {
            let is_group = schema.columns().iter().any(|column| {
                column.path().string().strip_prefix(field).is_some_and(|rest| rest.starts_with('.'))
            });
            return is_group.then(|| Err("a group of columns or a list".to_owned()));
        };
        if leaves.next().is_some() {
            return Some(Err(SAME_NAME.to_owned()));
        }
        let column = schema.column(leaf);
        if column.max_rep_level() > 0 {
            return Some(Err("a list".to_owned()));
        }
        Some(match column.physical_type() {
            Type::BYTE_ARRAY
            | Type::FIXED_LEN_BYTE_ARRAY
            | Type::INT32
            | Type::INT64
            | Type::INT96
            | Type::FLOAT
            | Type::DOUBLE
                if takes(column.physical_type()) =>
            {
                let present = column.max_def_level();
                Meaning::of(&column).map(|meaning| Place { leaf, meaning, present, lists: None })
            }
            other => Err(format!("values of type {other}")),
        })
    }
}

impl Meaning {
    fn of(column: &ColumnDescriptor) -> Result<Meaning, String> {
        let moments = |units, is_utc| Ok(Meaning::Moments { units, is_utc });
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Timestamp(kind)), _) => {
                let units = match kind.unit {
                    TimeUnit::MILLIS => 1_000,
                    TimeUnit::MICROS => 1_000_000,
                    TimeUnit::NANOS => 1_000_000_000,
                };
                moments(units, kind.is_adjusted_to_u_t_c)
            }
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Ok(Meaning::Days),
            (None, ConvertedType::TIMESTAMP_MILLIS) => moments(1_000, true),
            (None, ConvertedType::TIMESTAMP_MICROS) => moments(1_000_000, true),
            (Some(LogicalType::Integer(kind)), _) if !kind.is_signed => Ok(Meaning::Unsigned),
            (
                None,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Ok(Meaning::Unsigned),
            (Some(LogicalType::Time(_)), _)
            | (None, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS) => {
                Err("times of a day".to_owned())
            }
            (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => {
                match (column.type_scale(), column.physical_type()) {
                    (0, Type::INT32 | Type::INT64) => Ok(Meaning::Plain),
                    (0, _) if column.type_precision() <= MOST_DIGITS => Ok(Meaning::Decimal),
                    _ => Err("decimal numbers with a fraction".to_owned()),
                }
            }
            (Some(LogicalType::Uuid), _) => Ok(Meaning::Uuid),
            _ if column.physical_type() == Type::FIXED_LEN_BYTE_ARRAY => {
                Err(format!("values of type {}", Type::FIXED_LEN_BYTE_ARRAY))
            }
            _ => Ok(Meaning::Plain),
        }
    }

    /// The value of a number; `unsigned` is what its bits say without a sign.
    fn of_number(self, number: i64, unsigned: u64) -> Value<'static> {
        match self {
            Meaning::Plain | Meaning::Decimal | Meaning::Uuid => Value::Integer(number.into()),
            Meaning::Unsigned => Value::Integer(unsigned.into()),
            Meaning::Moments { units, is_utc } => {
                Value::Moment { seconds: number.div_euclid(units), is_utc }
            }
            Meaning::Days => Value::Day(number.saturating_mul(DAY)),
        }
    }

    /// The value of some bytes. A text is copied, so that it does not keep all of its page.
    fn of_bytes(self, bytes: &[u8], max_bytes: usize) -> Value<'static> {
        match self {
            Meaning::Decimal => Value::Integer(whole_number(bytes)),
            Meaning::Uuid => Value::Text(uuid(bytes).into()),
            _ if bytes.len() > max_bytes => Value::Bad(too_long(max_bytes)),
            _ => utf8(bytes).map_or_else(Value::Bad, |text| Value::Text(text.to_owned().into())),
        }
    }
}

/// The 16 bytes of a UUID as text: `00112233-4455-6677-8899-aabbccddeeff`.
fn uuid(bytes: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match bytes.len() {
        16 => [0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex(&bytes[part])).join("-"),
        _ => hex(bytes),
    }
}

fn whole_number(bytes: &[u8]) -> i128 {
    let is_negative = bytes.first().is_some_and(|&first| first >= 0x80);
    let sign = if is_negative { -1 } else { 0 };
    bytes.iter().fold(sign, |number, &byte| number << 8 | i128::from(byte))
}

pub(super) struct Column {
    reader: ColumnReader,
    place: Place,
    /// The row that comes next, and the rows whose values stand in pages that take too much.
    row: u64,
    gaps: Gaps,
    /// How many values more the pages of the current list may have.
    left: Arc<AtomicU64>,
    max_bytes: usize,
}

impl Column {
    pub(super) fn new(
        group: &RowGroup<'_, Opened>,
        place: Place,
        max_bytes: usize,
    ) -> Result<Column, ParquetError> {
        let (gaps, left) = (Gaps::default(), Arc::<AtomicU64>::default());
        let most = held_bytes(max_bytes);
        let reader = if place.lists.is_some() {
            let inner = group.pages(place.leaf, most, None)?;
            let pages = BoundedPages { inner, left: Arc::clone(&left) };
            get_column_reader(group.metadata().schema_descr().column(place.leaf), Box::new(pages))
        } else {
            group.column_within(place.leaf, most, &gaps)?
        };
        Ok(Column { reader, place, row: 0, gaps, left, max_bytes })
    }

    /// The value of the next row; none for null.
    pub(super) fn next(&mut self) -> Result<Option<Value<'static>>, ParquetError> {
        if let Some(levels) = self.place.lists {
            let list = list::next(&mut self.reader, levels, &self.left)?;
            return Ok(list.map(Value::of_components));
        }
        let value = self.decoded()?.pop().ok_or_else(ended)?;
        let row = self.row;
        self.row += 1;
        let mut gaps = lock(&self.gaps);
        gaps.retain(|gap| gap.end > row);
        let is_in_gap = gaps.first().is_some_and(|gap| gap.contains(&row));
        Ok(if is_in_gap { Some(crowded(self.max_bytes)) } else { value })
    }

    fn decoded(&mut self) -> Result<Vec<Option<Value<'static>>>, ParquetError> {
        let Place { meaning, present, .. } = self.place;
        let max_bytes = self.max_bytes;
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                values_of(reader, 1, present, |bytes| meaning.of_bytes(bytes.data(), max_bytes))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                values_of(reader, 1, present, |bytes| meaning.of_bytes(bytes.data(), max_bytes))
            }
            ColumnReader::Int32ColumnReader(reader) => values_of(reader, 1, present, |number| {
                meaning.of_number(number.into(), number.cast_unsigned().into())
            }),
            ColumnReader::Int64ColumnReader(reader) => values_of(reader, 1, present, |number| {
                meaning.of_number(number, number.cast_unsigned())
            }),
            ColumnReader::Int96ColumnReader(reader) => values_of(reader, 1, present, |moment| {
                Value::Moment { seconds: moment.to_seconds(), is_utc: true }
            }),
            ColumnReader::FloatColumnReader(reader) => {
                values_of(reader, 1, present, |number| Value::Float(number.into()))
            }
            ColumnReader::DoubleColumnReader(reader) => values_of(reader, 1, present, Value::Float),
            _ => unreachable!("Place::find has refused columns of other types"),
        }
    }
}
