//! Rows of a Parquet file, and the documents that they are.

use std::borrow::Cow;

use super::column::Value;
use crate::document::fields::Fields;
use crate::document::jsonl::is_whole;
use crate::document::order_field::OrderField;
use crate::document::order_key::{OrderKey, OrderKind};
use crate::document::reason::{Reason, too_long};
use crate::document::record::{Content, Document, Position, as_utf8};
use crate::document::records::{Each, Passed, Portion};

/// Some rows of one file.
#[derive(Debug)]
pub(super) struct ParquetPortion {
    /// Where the first row is.
    pub(super) first: Position,
    pub(super) rows: Vec<Row>,
    /// The most bytes of a text.
    pub(super) max_bytes: usize,
}

/// The fields of a row; `None` for null.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: Option<Value>,
    pub(super) text: Option<Value>,
    /// Also `None` if no order is read.
    pub(super) order: Option<Value>,
}

impl Portion for ParquetPortion {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        for (line, row) in (self.first.line..).zip(&self.rows) {
            let document = row.document(fields, self.max_bytes);
            each(Position { line, ..self.first }, document);
        }
        Passed::default()
    }
}

impl Row {
    /// The bytes of its text.
    pub(super) fn text_bytes(&self) -> u64 {
        match &self.text {
            Some(Value::Bytes(bytes)) => bytes.len() as u64,
            Some(Value::Vector(Ok(vector))) => size_of_val(&vector[..]) as u64,
            _ => 0,
        }
    }

    fn document(&self, fields: &Fields, max_bytes: usize) -> Result<Document<'_>, Reason> {
        if self.text_bytes() > max_bytes as u64 {
            return Err(too_long(max_bytes));
        }
        let id = match &self.id {
            None if fields.place_ids.fill() => Cow::Borrowed(""),
            Some(Value::Float(id)) if !is_whole(*id) => {
                return Err(Reason::with("the id is no whole number", format_args!(": {id}")));
            }
            id => text_of(id.as_ref(), &fields.id)?,
        };
        fields.check_id(&id)?;
        let content = match &self.text {
            Some(Value::Vector(vector)) => Content::Vector(vector.clone()?),
            text => Content::Text(text_of(text.as_ref(), &fields.text)?),
        };
        let order = match &fields.order {
            Some(field) => key_of(self.order.as_ref(), field)?,
            None => OrderKey::NoField,
        };
        Ok(fields.as_text(Document { id, order, content, record: &[] }))
    }
}

/// A value as text: a number in decimal.
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
        Some(Value::Vector(_)) => {
            Err(Reason::with("not text", format_args!(": {field:?} is a list")))
        }
    }
}

/// The key of a value of a field.
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
        Some(Value::Moment { .. } | Value::Day(_) | Value::Vector(_)) => field.key_of_other(),
        Some(value) => field.key(&text_of(Some(value), &field.name)?),
    }
}
