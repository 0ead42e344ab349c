//! The fields of the first records of a text, with their values.

use serde_json::Value as Json;

use crate::document::csv;
use crate::document::value::Value;

const DEEPEST: usize = 4;

type Each<'a> = &'a mut dyn FnMut(&str, &Value<'_>);

pub(super) fn jsonl(text: &str, most: u64, each: Each<'_>) -> u64 {
    let mut records = 0;
    for line in text.lines() {
        if records == most {
            break;
        }
        if let Ok(object @ Json::Object(_)) = serde_json::from_str(line) {
            records += 1;
            walk(&object, "", DEEPEST, each);
        }
    }
    records
}

fn walk(value: &Json, name: &str, depth: usize, each: Each<'_>) {
    match value {
        Json::String(text) => each(name, &Value::Text(text.into())),
        Json::Number(number) => {
            let fraction = || Value::Float(number.as_f64().unwrap_or_default());
            each(name, &number.as_i128().map_or_else(fraction, Value::Integer));
        }
        Json::Object(fields) if depth > 0 => {
            for (field, value) in fields {
                match name {
                    "" => walk(value, field, depth - 1, each),
                    above => walk(value, &format!("{above}.{field}"), depth - 1, each),
                }
            }
        }
        _ => {}
    }
}

pub(super) fn tsv(text: &str, most: u64, each: Each<'_>) -> u64 {
    let lines = text.lines().filter(|line| !line.is_empty());
    table(lines.map(|line| line.split('\t').map(str::to_owned).collect()), most, each)
}

pub(super) fn csv(text: &str, most: u64, each: Each<'_>) -> u64 {
    table(csv::records(text.as_bytes()).filter(|values| !values.is_empty()), most, each)
}

/// The first row names the columns.
fn table(mut rows: impl Iterator<Item = Vec<String>>, most: u64, each: Each<'_>) -> u64 {
    let names = rows.next().unwrap_or_default();
    let mut records = 0;
    for values in rows.take(most as usize) {
        records += 1;
        names.iter().zip(&values).for_each(|(name, value)| each(name, &Value::Text(value.into())));
    }
    records
}
