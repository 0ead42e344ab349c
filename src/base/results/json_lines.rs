//! JSON Lines: a row is an object with every column, and a column without a value is null.

use std::fmt;
use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

use super::column::{ResultColumn, Values};
use super::lines::Lines;
use crate::error::Result;

pub(super) fn write_object(row: &str, columns: &[ResultColumn], objects: &mut Vec<u8>) {
    let mut texts = row.split('\t');
    for (at, column) in columns.iter().enumerate() {
        objects.push(if at == 0 { b'{' } else { b',' });
        write_text(column.name, objects);
        objects.push(b':');
        match (texts.next().unwrap_or_default(), column.values) {
            ("", _) if column.is_optional => objects.extend(b"null"),
            (text, Values::Text | Values::Names | Values::Day) => write_text(text, objects),
            (text, Values::Change) => objects.extend(text.trim_start_matches('+').bytes()),
            (number, _) => objects.extend(number.bytes()),
        }
    }
    objects.extend(b"}\n");
}

fn write_text(text: &str, objects: &mut Vec<u8>) {
    serde_json::to_writer(objects, text).expect("a vector takes all bytes");
}

pub(super) struct JsonLines {
    pub(super) lines: Lines,
    /// The columns: the names in the first object, in their order.
    pub(super) columns: Vec<String>,
    first: Option<String>,
    row: String,
}

impl JsonLines {
    pub(super) fn open(path: PathBuf) -> Result<JsonLines> {
        let mut lines = Lines::open(path)?;
        let first = lines.next()?.map(parse);
        let Object(first) = match first {
            None => Object(Vec::new()),
            Some(Ok(object)) => object,
            Some(Err(what)) => return Err(lines.wrong(&what)),
        };
        let (columns, texts): (Vec<String>, Vec<String>) = first.into_iter().unzip();
        let first = (!columns.is_empty()).then(|| texts.join("\t"));
        Ok(JsonLines { lines, columns, first, row: String::new() })
    }

    pub(super) fn next(&mut self) -> Result<Option<&str>> {
        if let Some(first) = self.first.take() {
            self.row = first;
            return Ok(Some(&self.row));
        }
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let row = parse(line).and_then(|object| object.row(&self.columns));
        self.row = row.map_err(|what| self.lines.wrong(&what))?;
        Ok(Some(&self.row))
    }
}

struct Object(Vec<(String, String)>);

fn parse(line: &str) -> Result<Object, String> {
    serde_json::from_str(line).map_err(|error| format!("not a row in JSON: {error}"))
}

impl Object {
    fn row(mut self, columns: &[String]) -> Result<String, String> {
        let texts: Vec<String> = columns
            .iter()
            .map(|name| {
                let at = self.0.iter().position(|(other, _)| other == name);
                at.map(|at| self.0.remove(at).1).unwrap_or_default()
            })
            .collect();
        match self.0.first() {
            None => Ok(texts.join("\t")),
            Some((name, _)) => Err(format!("the rows before have no column {name:?}")),
        }
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut entries: Vec<(String, String)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            let text = text_of(value).map_err(A::Error::custom)?;
            if entries.iter().any(|(other, _)| *other == name) {
                return Err(A::Error::custom(format!("{name:?} stands there twice")));
            }
            entries.push((name, text));
        }
        Ok(Object(entries))
    }
}

fn text_of(value: Value) -> Result<String, &'static str> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) if text.contains(['\t', '\n', '\r']) => {
            Err("a text with a tab or a line end")
        }
        Value::String(text) => Ok(text),
        Value::Number(number) if number.is_f64() => {
            Ok(number.as_f64().map_or_else(String::new, shown))
        }
        Value::Number(number) => Ok(number.to_string()),
        _ => Err("expected text without tabs and line ends, a number or null"),
    }
}

/// A share as it is written, with four decimals; all digits of another number.
pub(super) fn shown(number: f64) -> String {
    let text = format!("{number:.4}");
    if text.parse() == Ok(number) { text } else { number.to_string() }
}
