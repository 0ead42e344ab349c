//! Rows of a Parquet file, and the documents that they are.

use std::borrow::Cow;

use crate::document::fields::Fields;
use crate::document::reason::Reason;
use crate::document::record::Position;
use crate::document::records::{Each, Passed, Portion};
use crate::document::value::{self, Value};

/// The records of `--max-record` that are held at once. Writers put many rows into a page before they look at its size.
const RECORDS: usize = 8;

/// The least bound: usual pages, and usual rows of a page, whatever a record may take.
const LEAST: usize = 16 << 20;

pub(super) fn held_bytes(max_record: usize) -> usize {
    max_record.saturating_mul(RECORDS).max(LEAST)
}

/// What can be read only together with others that take too much memory.
pub(super) fn crowded(max_record: usize) -> Value<'static> {
    let most = held_bytes(max_record);
    Value::Bad(Reason::with(
        "the record stands in a page that is larger than pages may be",
        format_args!(": more than {most} bytes (by the setting `max-record`)"),
    ))
}

/// The values of the fields; null also of what is not read.
pub(super) type Row = [Value<'static>; 4];

pub(super) fn bytes(value: &Value<'_>) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Vector(vector) => size_of_val(&vector[..]),
        _ => 0,
    }
}

#[derive(Debug)]
pub(super) struct RowPortion {
    pub(super) first: Position,
    pub(super) rows: Vec<Row>,
}

impl Portion for RowPortion {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        for (line, row) in (self.first.line..).zip(&self.rows) {
            let values = row.each_ref().map(|value| match value {
                Value::Text(text) => Value::Text(Cow::Borrowed(text)),
                other => other.clone(),
            });
            let document = value::document(values, fields, &[], String::new);
            each(Position { line, ..self.first }, document.and_then(|it| fields.page(it)));
        }
        Passed::default()
    }
}
