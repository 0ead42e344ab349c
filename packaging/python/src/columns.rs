//! Columns of a batch of rows, as texts.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, GenericStringArray, Int64Array, LargeStringArray, OffsetSizeTrait,
    RecordBatch, StringArray, StringViewArray,
};
use arrow_cast::cast;
use arrow_schema::{DataType, Schema, TimeUnit};
use dupsieve::document::{OrderField, OrderKey, OrderKind, Reason};
use dupsieve::{Error, Kind, Result};

const DAY: i64 = 86_400;

/// A column of texts. Whoever made it may not have looked whether its places and its bytes are right, so each value is checked as it
/// is read: a check of the whole buffers would be done anew for every piece that shares them.
pub(crate) enum Texts {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
    /// For each row the place of its text among others; none for null.
    Keyed(Vec<Option<usize>>, Box<Texts>),
}

pub(crate) enum Keys {
    /// Moments: so many units since 1970, of which this many are a second, or days if there are none.
    Moments {
        units: i64,
        counts: Int64Array,
        is_utc: bool,
    },
    Values(Texts),
}

pub(crate) fn find(schema: &Schema, name: &str) -> Result<usize> {
    schema.index_of(name).map_err(|_| {
        let names: Vec<&str> = schema.fields().iter().map(|field| &**field.name()).collect();
        Error::new(Kind::Usage, format!("the table has no column {name:?}"))
            .expected(format_args!("one of {}", names.join(", ")))
    })
}

/// Fails unless the column `name` holds texts, or whole numbers if they are `numbers` that may stand for texts.
pub(crate) fn expect_texts(schema: &Schema, name: &str, numbers: bool) -> Result<()> {
    let found = schema.field(find(schema, name)?).data_type();
    let expected = if numbers { "texts or whole numbers" } else { "texts" };
    if is_text(found) || numbers && found.is_integer() {
        return Ok(());
    }
    Err(Error::new(Kind::Usage, format!("the column {name:?} has values of another type"))
        .expected(expected)
        .found(found))
}

fn is_text(of: &DataType) -> bool {
    match of {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

pub(crate) fn column<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    Ok(rows.column(find(&rows.schema(), name)?))
}

impl Texts {
    /// A column as texts; a number is written in decimal.
    pub(crate) fn of(array: &ArrayRef) -> Result<Texts> {
        Ok(match array.data_type() {
            DataType::Utf8 => Texts::Small(array.as_string().clone()),
            DataType::LargeUtf8 => Texts::Large(array.as_string().clone()),
            DataType::Utf8View => Texts::View(array.as_string_view().clone()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let keys = match dictionary.values().len() {
                    0 => vec![0; array.len()],
                    _ => dictionary.normalized_keys(),
                };
                let keys = keys.into_iter().enumerate();
                let keys = keys.map(|(row, key)| array.is_valid(row).then_some(key)).collect();
                Texts::Keyed(keys, Box::new(Texts::of(dictionary.values())?))
            }
            _ => {
                let texts = cast(array, &DataType::LargeUtf8);
                let texts = texts.map_err(|error| Error::new(Kind::Usage, error.to_string()))?;
                Texts::Large(texts.as_string().clone())
            }
        })
    }

    pub(crate) fn get(&self, row: usize) -> Result<Option<&str>> {
        let bytes = match self {
            Texts::Keyed(keys, texts) => {
                return keys[row].map_or(Ok(None), |key| texts.get(key));
            }
            Texts::Small(texts) => texts.is_valid(row).then(|| bytes(texts, row)),
            Texts::Large(texts) => texts.is_valid(row).then(|| bytes(texts, row)),
            Texts::View(texts) => texts.is_valid(row).then(|| viewed(texts, row)),
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let text = bytes.and_then(|bytes| str::from_utf8(bytes).ok());
        let damaged =
            || Error::new(Kind::BadData, "a column is damaged, or its texts are not UTF-8");
        text.ok_or_else(damaged).map(Some)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Texts::Small(texts) => texts.len(),
            Texts::Large(texts) => texts.len(),
            Texts::View(texts) => texts.len(),
            Texts::Keyed(keys, _) => keys.len(),
        }
    }
}

fn bytes<O: OffsetSizeTrait>(texts: &GenericStringArray<O>, row: usize) -> Option<&[u8]> {
    let [start, end] = [row, row + 1].map(|at| texts.value_offsets()[at].as_usize());
    texts.values().get(start..end)
}

/// The bytes of a text of which a view says where they are; none if they are not there.
fn viewed(texts: &StringViewArray, row: usize) -> Option<&[u8]> {
    const VIEW: usize = 16;
    const INLINE: usize = 12;
    let view = texts.views().inner().get(VIEW * row..VIEW * (row + 1))?;
    let part = |at: usize| view[at..at + 4].try_into().map(u32::from_le_bytes).ok();
    let length = part(0)? as usize;
    if length <= INLINE {
        return view.get(4..4 + length);
    }
    let (buffer, start) = (part(8)? as usize, part(12)? as usize);
    texts.data_buffers().get(buffer)?.get(start..start + length)
}

impl Keys {
    pub(crate) fn of(array: &ArrayRef) -> Result<Keys> {
        let (units, is_utc) = match array.data_type() {
            DataType::Timestamp(unit, zone) => (per_second(*unit), zone.is_some()),
            DataType::Date64 => (1_000, false),
            DataType::Date32 => (0, false),
            _ => return Texts::of(array).map(Keys::Values),
        };
        let counts = cast(array, &DataType::Int64);
        let counts = counts.map_err(|error| Error::new(Kind::Usage, error.to_string()))?;
        Ok(Keys::Moments { units, counts: counts.as_primitive::<Int64Type>().clone(), is_utc })
    }

    /// The key of a row by the values of `field`, or the reason why the row is bad: the value should be a time and is none.
    pub(crate) fn get(&self, row: usize, field: &OrderField) -> Result<Result<OrderKey, Reason>> {
        let (units, counts, is_utc) = match self {
            Keys::Values(values) => {
                return Ok(values.get(row)?.map_or(Ok(OrderKey::Empty), |value| field.key(value)));
            }
            Keys::Moments { units, counts, is_utc } => (*units, counts, *is_utc),
        };
        if counts.is_null(row) {
            return Ok(Ok(OrderKey::Empty));
        }
        if !field.is_time() {
            return Ok(Ok(OrderKey::Wrong));
        }
        let count = counts.value(row);
        let key = match units {
            0 => count.saturating_mul(DAY),
            units => count.div_euclid(units),
        };
        let kind = if is_utc { OrderKind::Zoned } else { OrderKind::Unzoned };
        Ok(Ok(OrderKey::At { key, kind }))
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}
