//! The fields of the first records of a text, with their values.

use csv_core::{ReadRecordResult, Reader};
use serde_json::Value as Json;

const DEEPEST: usize = 4;
const MOST_COLUMNS: usize = 1000;

#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Text(&'a str),
    /// A number with a fraction, which can be a time and no id.
    Fraction(&'a str),
}

type Each<'a> = &'a mut dyn FnMut(&str, Value<'_>);

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
        Json::String(text) => each(name, Value::Text(text)),
        Json::Number(number) if number.is_f64() => each(name, Value::Fraction(&number.to_string())),
        Json::Number(number) => each(name, Value::Text(&number.to_string())),
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
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let mut records = 0;
    for line in lines.filter(|line| !line.is_empty()) {
        if records == most {
            break;
        }
        records += 1;
        names.iter().zip(line.split('\t')).for_each(|(name, value)| each(name, Value::Text(value)));
    }
    records
}

pub(super) fn csv(text: &str, most: u64, each: Each<'_>) -> u64 {
    let mut reader = Reader::new();
    let mut input = text.as_bytes();
    let (mut unquoted, mut ends) = (vec![0; input.len() + 1], vec![0; MOST_COLUMNS]);
    let mut names: Option<Vec<String>> = None;
    let mut records = 0;
    while records < most {
        let (mut written, mut columns) = (0, 0);
        loop {
            let (result, read, wrote, ended) =
                reader.read_record(input, &mut unquoted[written..], &mut ends[columns..]);
            input = &input[read..];
            (written, columns) = (written + wrote, columns + ended);
            match result {
                // Once more without input: the end of the text ends its last record.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record => break,
                _ => return records,
            }
        }
        let begins = [0].into_iter().chain(ends[..columns].iter().copied());
        let values = begins.zip(&ends[..columns]).map(|(begin, &end)| &unquoted[begin..end]);
        let values = values.map(|value| String::from_utf8_lossy(value).into_owned());
        match &names {
            None => names = Some(values.collect()),
            Some(names) => {
                records += 1;
                names.iter().zip(values).for_each(|(name, value)| each(name, Value::Text(&value)));
            }
        }
    }
    records
}
