//! Fields added to records of JSON Lines, TSV and CSV. Everything else stays as it is, byte for byte.
//!
//! `{"id": "a"}` becomes `{"id": "a","verdict":"keep"}`, and `a,"b,c"` becomes `a,"b,c",keep`. An end of a line with a CR keeps it.

use super::format::Format;
use super::{csv, jsonl};
use crate::error::{Error, Kind, Result};
use crate::results::{ResultColumn, write_members};

/// The fields that are added to each record of one format. Their values are given as texts with tabs between them; an empty one
/// is no value.
#[derive(Clone, Debug)]
pub struct AddedFields {
    format: Format,
    columns: Vec<ResultColumn>,
}

impl AddedFields {
    pub fn new(format: Format, columns: &[ResultColumn]) -> Result<AddedFields> {
        match format {
            Format::Jsonl | Format::Json | Format::Vectors | Format::Tsv | Format::Csv => {
                Ok(AddedFields { format, columns: columns.to_vec() })
            }
            _ => Err(Error::new(Kind::Usage, "records of this format have no room for fields")
                .expected("JSON Lines, TSV, CSV or Parquet")
                .found(format)),
        }
    }

    pub fn header(&self, header: &[u8]) -> Result<Vec<u8>> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let has = |name: &str| match self.format {
            Format::Csv => csv::records(header).flatten().any(|it| it == name),
            _ => without_cr(header).0.split(|&byte| byte == b'\t').any(|it| it == name.as_bytes()),
        };
        check_free(&self.columns, has)?;
        Ok(self.columns_added(header, &names.join("\t")))
    }

    pub fn record(&self, record: &[u8], texts: &str) -> Result<Vec<u8>> {
        match self.format {
            Format::Jsonl | Format::Json | Format::Vectors => self.object(record, texts),
            _ => Ok(self.columns_added(record, texts)),
        }
    }

    /// A record that could not be read. What has columns gets empty ones; an object stays as it is, if it is one.
    pub fn unread(&self, record: &[u8]) -> Vec<u8> {
        match self.format {
            Format::Jsonl | Format::Json | Format::Vectors => record.to_vec(),
            _ => self.columns_added(record, &"\t".repeat(self.columns.len() - 1)),
        }
    }

    fn object(&self, record: &[u8], texts: &str) -> Result<Vec<u8>> {
        let names = jsonl::names(record);
        check_free(&self.columns, |name| names.iter().any(|it| it == name))?;
        let end = record.iter().rposition(|&byte| byte == b'}').unwrap_or(record.len());
        let (before, after) = record.split_at(end);
        let mut added = Vec::with_capacity(record.len() + texts.len() + 100);
        added.extend_from_slice(before);
        if !names.is_empty() {
            added.push(b',');
        }
        write_members(texts, &self.columns, &mut added);
        added.extend_from_slice(after);
        Ok(added)
    }

    fn columns_added(&self, record: &[u8], texts: &str) -> Vec<u8> {
        let (record, cr) = without_cr(record);
        let mut added = record.to_vec();
        for text in texts.split('\t') {
            if self.format == Format::Csv {
                added.push(b',');
                csv::write_value(text, &mut added);
            } else {
                added.push(b'\t');
                added.extend_from_slice(text.as_bytes());
            }
        }
        added.extend_from_slice(cr);
        added
    }
}

pub(super) fn without_cr(line: &[u8]) -> (&[u8], &[u8]) {
    line.split_at(line.len() - usize::from(line.ends_with(b"\r")))
}

pub(super) fn check_free(columns: &[ResultColumn], has: impl Fn(&str) -> bool) -> Result<()> {
    let Some(taken) = columns.iter().find(|column| has(column.name)) else { return Ok(()) };
    Err(Error::new(Kind::Usage, format!("there is a field `{}` already", taken.name))
        .help("give the fields that are added a prefix")
        .setting("annotate-prefix"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Values;

    const COLUMNS: [ResultColumn; 3] = [
        ResultColumn::new("verdict", Values::Names).or_null(),
        ResultColumn::new("of", Values::Names).or_null(),
        ResultColumn::new("distance", Values::Bits).or_null(),
    ];

    fn added(format: Format, record: &str, texts: &str) -> String {
        let fields = AddedFields::new(format, &COLUMNS).unwrap();
        String::from_utf8(fields.record(record.as_bytes(), texts).unwrap()).unwrap()
    }

    #[test]
    fn fields_come_behind_all_others() {
        let drop = "drop\ta \"b\", c\t3";
        assert_eq!(
            added(Format::Jsonl, "{\"id\" : 7, \"more\": {} }\r", drop),
            "{\"id\" : 7, \"more\": {} ,\"verdict\":\"drop\",\"of\":\"a \\\"b\\\", c\",\"distance\":3}\r"
        );
        assert_eq!(
            added(Format::Jsonl, "{ }", "keep"),
            "{ \"verdict\":\"keep\",\"of\":null,\"distance\":null}"
        );
        assert_eq!(added(Format::Tsv, "a\t\r", drop), "a\t\tdrop\ta \"b\", c\t3\r");
        assert_eq!(added(Format::Csv, "a,\"b\nc\"", drop), "a,\"b\nc\",drop,\"a \"\"b\"\", c\",3");
        assert_eq!(added(Format::Csv, "a", "keep\t\t"), "a,keep,,");
    }

    #[test]
    fn a_field_that_is_there_is_refused() {
        let fields = AddedFields::new(Format::Jsonl, &COLUMNS).unwrap();
        let error = fields.record(b"{\"id\": 1, \"o\\u0066\": 2}", "keep").unwrap_err();
        assert!(error.kind() == Kind::Usage && error.to_string().contains("`of`"), "{error}");
        assert!(fields.record(b"{\"id\": {\"of\": 1}}", "keep").is_ok());
        for (format, header) in
            [(Format::Csv, "id,\"ver\"\"dict\",\"distance\"\r"), (Format::Tsv, "a\tdistance\r")]
        {
            let fields = AddedFields::new(format, &COLUMNS).unwrap();
            let error = fields.header(header.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("`distance`"), "{error}");
            assert!(fields.header(b"id,distances\tof it\r").is_ok());
        }
        assert_eq!(AddedFields::new(Format::Warc, &COLUMNS).unwrap_err().kind(), Kind::Usage);
    }
}
