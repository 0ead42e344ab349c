//! A record again with another text: all else of it stays as it came.

use std::ops::Range;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::csv;
use super::format::Format;
use crate::error::{Error, Kind, Result};

#[derive(Clone, Debug)]
pub struct NewText {
    format: Format,
    field: String,
    column: usize,
}

impl NewText {
    pub fn of(format: Format, field: &str, header: Option<&[u8]>) -> Result<NewText> {
        let header = header.unwrap_or_default();
        let names: Vec<String> = match format {
            Format::Jsonl | Format::Json | Format::Lines => Vec::new(),
            Format::Tsv => header.split(|&it| it == b'\t').map(lossy).collect(),
            Format::Csv => csv::records(header).next().unwrap_or_default(),
            _ => {
                return Err(Error::new(Kind::Usage, "no text can be put back into these records")
                    .expected("JSON, JSON Lines, TSV, CSV or lines")
                    .found(format));
            }
        };
        let column = names.iter().position(|name| name == field).unwrap_or(0);
        Ok(NewText { format, field: field.to_owned(), column })
    }

    pub fn record(&self, record: &[u8], text: &str) -> Result<Vec<u8>> {
        let (line, cr) = record.split_at(record.len() - usize::from(record.ends_with(b"\r")));
        let mut new = Vec::with_capacity(record.len());
        match self.format {
            Format::Tsv => {
                let mut values: Vec<&[u8]> = record.split(|&it| it == b'\t').collect();
                values.get_mut(self.column).into_iter().for_each(|value| *value = text.as_bytes());
                new = values.join(&b'\t');
            }
            Format::Csv => {
                let values = csv::records(line).next().unwrap_or_default();
                for (column, value) in values.iter().enumerate() {
                    if column > 0 {
                        new.push(b',');
                    }
                    csv::write_value(if column == self.column { text } else { value }, &mut new);
                }
                new.extend_from_slice(cr);
            }
            Format::Jsonl | Format::Json => {
                let place = str::from_utf8(record).ok().and_then(|it| place_of(it, &self.field));
                let place = place.ok_or_else(|| {
                    Error::new(Kind::Internal, "the text was not found in its record")
                })?;
                new.extend_from_slice(&record[..place.start]);
                new.extend(serde_json::json!(text).to_string().bytes());
                new.extend_from_slice(&record[place.end..]);
            }
            _ => {
                new.extend_from_slice(text.as_bytes());
                new.extend_from_slice(cr);
            }
        }
        Ok(new)
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Where the value of a field is in an object, by the rules of [`Fields`](super::Fields): of one that comes twice, the last.
fn place_of(json: &str, field: &str) -> Option<Range<usize>> {
    let mut found = None;
    let mut at = json.find('{')? + 1;
    loop {
        let rest = json[at..].trim_start_matches([' ', '\t', '\r', '\n', ',']);
        at = json.len() - rest.len();
        if rest.starts_with('}') {
            return found;
        }
        let (key, end) = value::<String>(json, at)?;
        let rest = json[end..].trim_start().strip_prefix(':')?.trim_start();
        let start = json.len() - rest.len();
        (_, at) = value::<IgnoredAny>(json, start)?;
        let within = field.strip_prefix(&*key).and_then(|rest| rest.strip_prefix('.'));
        if key == field {
            found = Some(start..at);
        } else if let (Some(within), true) = (within, rest.starts_with('{'))
            && let Some(place) = place_of(&json[start..at], within)
        {
            found = Some(start + place.start..start + place.end);
        }
    }
}

fn value<T: DeserializeOwned>(json: &str, at: usize) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_str(&json[at..]).into_iter();
    let value = values.next()?.ok()?;
    Some((value, at + values.byte_offset()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_text(format: Format, header: &str, record: &str, text: &str) -> String {
        let new_text = NewText::of(format, "a.text", Some(header.as_bytes())).unwrap();
        String::from_utf8(new_text.record(record.as_bytes(), text).unwrap()).unwrap()
    }

    #[test]
    fn all_but_the_text_stays_as_it_came() {
        let json = |record| with_text(Format::Jsonl, "", record, "x\"\n");
        assert_eq!(
            json("{ \"a\" : {\"n\":[1,{}], \"text\":\"\\u0041 }\" ,\"z\":null } ,\"text\":1.50}\r"),
            "{ \"a\" : {\"n\":[1,{}], \"text\":\"x\\\"\\n\" ,\"z\":null } ,\"text\":1.50}\r"
        );
        assert_eq!(
            json("{\"a\":{\"text\":\"1\"},\"a\\u002etext\":\"2\"}"),
            "{\"a\":{\"text\":\"1\"},\"a\\u002etext\":\"x\\\"\\n\"}"
        );
        let tsv = with_text(Format::Tsv, "id\ta.text\tn", "1\tlong \"\t3\r", "x");
        assert_eq!(tsv, "1\tx\t3\r");
        let csv = with_text(Format::Csv, "id,a.text\r", "\"a,\"\"b\",\"long\ntext\"\r", "x, y");
        assert_eq!(csv, "\"a,\"\"b\",\"x, y\"\r");
        assert_eq!(with_text(Format::Lines, "", "one two\r", "one"), "one\r");
    }

    #[test]
    fn a_record_without_the_text_is_refused() {
        let new_text = NewText::of(Format::Jsonl, "text", None).unwrap();
        for record in ["", "{", "{\"text", "{\"text\"", "{\"text\":", "{\"a\":1}", "[1]"] {
            let error = new_text.record(record.as_bytes(), "").unwrap_err();
            assert_eq!(error.kind(), Kind::Internal, "{record}");
        }
        assert_eq!(NewText::of(Format::Warc, "text", None).unwrap_err().kind(), Kind::Usage);
    }
}
