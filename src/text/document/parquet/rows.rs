//! Rows of a Parquet file, and the documents that they are.

use std::borrow::Cow;

use parquet::data_type::ByteArray;

use crate::document::fields::Fields;
use crate::document::jsonl::is_whole;
use crate::document::order_field::OrderField;
use crate::document::order_key::{OrderKey, OrderKind};
use crate::document::reason::{Reason, too_long};
use crate::document::record::{Content, Document, Position, as_utf8};
use crate::document::records::{Each, Passed, Portion};

/// The records of `--max-record` that are held at once. Writers put many rows into a page before they look at its size.
const RECORDS: usize = 8;

/// The least bound: usual pages, and usual rows of a page, whatever a record may take.
const LEAST: usize = 16 << 20;

pub(super) fn held_bytes(max_record: usize) -> usize {
    max_record.saturating_mul(RECORDS).max(LEAST)
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::document) enum Value {
    Bytes(ByteArray),
    Integer(i128),
    Float(f64),
    /// A moment: seconds since 1970, rounded down, and whether its zone is known.
    Moment {
        seconds: i64,
        is_utc: bool,
    },
    /// A day: the seconds since 1970 at which it begins.
    Day(i64),
    Vector(Result<Vec<f64>, &'static str>),
    TooLong,
    /// What can be read only together with others that take too much memory.
    Crowded,
}

impl Value {
    /// A value that is a text, a number or a time, as a text. Times are seconds since 1970.
    pub(in crate::document) fn text(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes.data()),
            Value::Integer(number) => number.to_string().into(),
            Value::Moment { seconds, .. } | Value::Day(seconds) => seconds.to_string().into(),
            Value::Float(number) => number.to_string().into(),
            Value::Vector(_) | Value::TooLong | Value::Crowded => return None,
        })
    }

    /// The 16 bytes of a UUID as text: `00112233-4455-6677-8899-aabbccddeeff`.
    pub(super) fn of_uuid(bytes: &[u8]) -> Value {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let text = match bytes.len() {
            16 => [0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex(&bytes[part])).join("-"),
            _ => hex(bytes),
        };
        Value::Bytes(text.into_bytes().into())
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Value::Bytes(bytes) => bytes.len(),
            Value::Vector(Ok(vector)) => size_of_val(&vector[..]),
            _ => 0,
        }
    }
}

#[derive(Debug)]
pub(super) struct RowPortion {
    pub(super) first: Position,
    pub(super) rows: Vec<Row>,
    pub(super) max_bytes: usize,
}

/// The values of the fields: none for null, and for what is not read.
pub(super) type Row = [Option<Value>; 4];

pub(super) fn bytes_of_row(row: &Row) -> usize {
    row.iter().flatten().map(Value::bytes).sum()
}

impl Portion for RowPortion {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        for (line, row) in (self.first.line..).zip(&self.rows) {
            let document = document(row, fields, self.max_bytes);
            each(Position { line, ..self.first }, document);
        }
        Passed::default()
    }
}

fn check_length(row: &Row, max_bytes: usize) -> Result<(), Reason> {
    let [_, text, ..] = row;
    let has = |value| row.contains(&Some(value));
    if has(Value::TooLong) || text.as_ref().is_some_and(|text| text.bytes() > max_bytes) {
        return Err(too_long(max_bytes));
    }
    if has(Value::Crowded) {
        let most = held_bytes(max_bytes);
        return Err(Reason::with(
            "the record stands in a page that is larger than pages may be",
            format_args!(": more than {most} bytes (by the setting `max-record`)"),
        ));
    }
    Ok(())
}

fn document<'a>(row: &'a Row, fields: &Fields, max_bytes: usize) -> Result<Document<'a>, Reason> {
    check_length(row, max_bytes)?;
    let [id, text, order, key] = row;
    let id = match id {
        None if fields.place_ids.fill() => Cow::Borrowed(""),
        Some(Value::Float(id)) if !is_whole(*id) => {
            return Err(Reason::with("the id is no whole number", format_args!(": {id}")));
        }
        id => text_of(id.as_ref(), &fields.id)?,
    };
    let content = match text {
        Some(Value::Vector(vector)) => Content::Vector(vector.clone()?),
        text => Content::Text(text_of(text.as_ref(), &fields.text)?),
    };
    let of = |field| key_of(order.as_ref(), field);
    let order = fields.order.as_ref().map_or(Ok(OrderKey::NoField), of)?;
    let of = |field: &String| Some(text_of(Some(key.as_ref()?), field));
    let key = fields.key.as_ref().and_then(of).transpose()?.filter(|key| !key.is_empty());
    fields.page(Document { order, key, ..Document::of(id, content, &[]) })
}

fn text_of<'a>(value: Option<&'a Value>, field: &str) -> Result<Cow<'a, str>, Reason> {
    match value {
        None => Err(format!("the field `{}` is null", field.escape_debug()).into()),
        Some(Value::Bytes(bytes)) => {
            let text = as_utf8(bytes.data()).map_err(|error| {
                let at = error.valid_up_to();
                Reason::with("not UTF-8", format_args!(" at byte {at} of {field:?}"))
            })?;
            Ok(Cow::Borrowed(text))
        }
        Some(Value::Integer(number)) => Ok(Cow::Owned(number.to_string())),
        Some(Value::Float(number)) => Ok(Cow::Owned((number + 0.0).to_string())),
        Some(Value::Moment { .. } | Value::Day(_)) => {
            Err(Reason::with("not text", format_args!(": {field:?} is a time")))
        }
        Some(Value::Vector(_) | Value::TooLong | Value::Crowded) => {
            Err(Reason::with("not text", format_args!(": {field:?} is a list")))
        }
    }
}

fn key_of(value: Option<&Value>, field: &OrderField) -> Result<OrderKey, Reason> {
    match value {
        None => Ok(OrderKey::Empty),
        Some(&Value::Moment { seconds, is_utc }) if field.is_time() => {
            let kind = if is_utc { OrderKind::Zoned } else { OrderKind::Unzoned };
            Ok(OrderKey::At { key: seconds, kind })
        }
        Some(&Value::Day(key)) if field.is_time() => {
            Ok(OrderKey::At { key, kind: OrderKind::Days })
        }
        Some(
            Value::Moment { .. }
            | Value::Day(_)
            | Value::Vector(_)
            | Value::TooLong
            | Value::Crowded,
        ) => field.key_of_other(),
        Some(value) => field.key(&text_of(Some(value), &field.name)?),
    }
}
