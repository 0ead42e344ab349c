//! One column of a row group, decoded some rows at a time.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::results::values_of;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// The most decimal digits of a number of 128 bits.
const MOST_DIGITS: i32 = 38;

/// What stands in place of a field if two columns have its name.
pub(super) const SAME_NAME: &str = "two columns of this name";

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Text, if it is UTF-8.
    Bytes(ByteArray),
    /// A whole number, signed or not, of up to 64 bits.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// A moment: seconds since 1970, rounded down, and whether its zone is known.
    Moment { seconds: i64, is_utc: bool },
    /// A day: the seconds since 1970 at which it begins.
    Day(i64),
    /// A vector, or what is wrong with it.
    Vector(Result<Vec<f64>, &'static str>),
}

/// Where a column is, and what its values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Which leaf of the schema it is.
    pub(super) leaf: usize,
    meaning: Meaning,
    /// The level of a value that is not null, nor below a group that is; 0 if there are no nulls.
    present: i16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// What the bytes or the number say.
    Plain,
    /// A number that is never negative: its bits are read without a sign.
    Unsigned,
    /// So many units since 1970, of which this many are a second.
    Moments { units: i64, is_utc: bool },
    /// Days since 1970.
    Days,
    /// Bytes that are a whole number: two's complement, the highest first.
    Decimal,
    /// The 16 bytes of a UUID.
    Uuid,
}

impl Place {
    /// The column of a field: a leaf below groups, whose names are joined by dots. `None` if there is none.
    ///
    /// # Errors
    /// What the column holds, if no field can be read from it.
    pub(super) fn find(schema: &SchemaDescriptor, field: &str) -> Option<Result<Place, String>> {
        Place::find_of(schema, field, |of| !matches!(of, Type::FLOAT | Type::DOUBLE))
    }

    /// The column of the ids or of a field that puts rows in order, which may have floating-point numbers.
    ///
    /// # Errors
    /// As [`Place::find`].
    pub(super) fn find_number(
        schema: &SchemaDescriptor,
        field: &str,
    ) -> Option<Result<Place, String>> {
        Place::find_of(schema, field, |_| true)
    }

    fn find_of(
        schema: &SchemaDescriptor,
        field: &str,
        takes: fn(Type) -> bool,
    ) -> Option<Result<Place, String>> {
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
                Meaning::of(&column).map(|meaning| Place { leaf, meaning, present })
            }
            other => Err(format!("values of type {other}")),
        })
    }
}

impl Meaning {
    /// What the values of a column mean.
    ///
    /// # Errors
    /// What they are, if they are neither texts, nor whole numbers, nor moments.
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
    fn of_number(self, number: i64, unsigned: u64) -> Value {
        match self {
            Meaning::Plain | Meaning::Decimal | Meaning::Uuid => Value::Integer(number.into()),
            Meaning::Unsigned => Value::Integer(unsigned.into()),
            Meaning::Moments { units, is_utc } => {
                Value::Moment { seconds: number.div_euclid(units), is_utc }
            }
            Meaning::Days => Value::Day(number.saturating_mul(DAY)),
        }
    }

    /// The value of some bytes.
    fn of_bytes(self, bytes: ByteArray) -> Value {
        match self {
            Meaning::Decimal => Value::Integer(whole_number(bytes.data())),
            Meaning::Uuid => Value::Bytes(uuid(bytes.data()).into_bytes().into()),
            _ => Value::Bytes(bytes),
        }
    }
}

/// A number of up to 16 bytes in two's complement, the highest byte first.
fn whole_number(bytes: &[u8]) -> i128 {
    let is_negative = bytes.first().is_some_and(|&first| first >= 0x80);
    let sign = if is_negative { -1 } else { 0 };
    bytes.iter().fold(sign, |number, &byte| number << 8 | i128::from(byte))
}

/// `00112233-4455-6677-8899-aabbccddeeff`
fn uuid(bytes: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match bytes.len() {
        16 => [0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex(&bytes[part])).join("-"),
        _ => hex(bytes),
    }
}

/// Decodes a column of one row group from its beginning.
pub(super) struct Column {
    reader: ColumnReader,
    place: Place,
}

impl Column {
    /// The column at `place`, which `reader` reads.
    pub(super) fn new(reader: ColumnReader, place: Place) -> Column {
        Column { reader, place }
    }

    /// The values of the next `rows` rows, fewer at the end; `None` for null.
    pub(super) fn next(&mut self, rows: usize) -> Result<Vec<Option<Value>>, ParquetError> {
        let Place { meaning, present, .. } = self.place;
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                values_of(reader, rows, present, |bytes| meaning.of_bytes(bytes))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                values_of(reader, rows, present, |bytes| meaning.of_bytes(bytes.into()))
            }
            ColumnReader::Int32ColumnReader(reader) => values_of(reader, rows, present, |number| {
                meaning.of_number(number.into(), number.cast_unsigned().into())
            }),
            ColumnReader::Int64ColumnReader(reader) => values_of(reader, rows, present, |number| {
                meaning.of_number(number, number.cast_unsigned())
            }),
            ColumnReader::Int96ColumnReader(reader) => values_of(reader, rows, present, |moment| {
                Value::Moment { seconds: moment.to_seconds(), is_utc: true }
            }),
            ColumnReader::FloatColumnReader(reader) => {
                values_of(reader, rows, present, |number| Value::Float(number.into()))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                values_of(reader, rows, present, Value::Float)
            }
            _ => unreachable!("Place::find has refused columns of other types"),
        }
    }
}
