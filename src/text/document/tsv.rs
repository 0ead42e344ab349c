//! Parses a line of tab-separated columns. Values are taken literally: no quotes, no trimming.

use std::borrow::Cow;
use std::path::Path;

use super::fields::Fields;
use super::order_field::OrderField;
use super::order_key::OrderKey;
use super::reason::Reason;
use super::record::{Content, Document};
use crate::error::{Error, Kind, Result};

const SHOWN_BYTES: usize = 400;

pub(super) const MOST_COLUMNS: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Columns {
    /// Those of the fields.
    pub(super) places: [Option<usize>; 4],
    order: Option<OrderField>,
    pub(super) count: usize,
    pub(super) header: Vec<u8>,
}

impl Columns {
    /// Finds the fields in the header line of the file at `path`. `header` is `None` if the line could not
    /// be read.
    pub(super) fn find(header: Option<&[u8]>, fields: &Fields, path: &Path) -> Result<Columns> {
        let header = header.ok_or_else(|| {
            let what = "the header line cannot be read, or is longer than a record may be";
            Error::new(Kind::BadData, what).at(path).line(1)
        })?;
        let names = header.split(|&byte| byte == b'\t').take(MOST_COLUMNS + 1);
        Columns::among(&names.collect::<Vec<_>>(), header, fields, path)
    }

    pub(super) fn among(
        names: &[&[u8]],
        header: &[u8],
        fields: &Fields,
        path: &Path,
    ) -> Result<Columns> {
        let wrong = |what, field: &str| {
            let shown = String::from_utf8_lossy(&header[..header.len().min(SHOWN_BYTES)]);
            Error::new(Kind::BadData, what)
                .at(path)
                .line(1)
                .expected(format_args!("{field:?}"))
                .found(format_args!("{shown:?}"))
        };
        let column = |field: &str| {
            let mut columns = (0..names.len()).filter(|&at| names[at] == field.as_bytes());
            match (columns.next(), columns.next()) {
                (Some(column), None) => Ok(column),
                (Some(_), Some(_)) => {
                    let what = "the header line has two columns of one name";
                    Err(wrong(what, field).help("give each column that is read its own name"))
                }
                (None, _) => {
                    Err(fields.missing(field, wrong("the header line lacks a column", field)))
                }
            }
        };
        if names.len() > MOST_COLUMNS {
            let what = format!("the header line has more than {MOST_COLUMNS} columns");
            return Err(Error::new(Kind::BadData, what).at(path).line(1));
        }
        let places = fields.places(|field| names.contains(&field.as_bytes()), column)?;
        let (order, count, header) = (fields.order.clone(), names.len(), header.to_vec());
        Ok(Columns { places, order, count, header })
    }

    pub(super) fn check_count(&self, count: usize) -> Result<(), Reason> {
        if count == self.count {
            return Ok(());
        }
        let what = "the number of columns is not that of the header";
        Err(Reason::with(what, format_args!(": {count}, not {}", self.count)))
    }

    /// The document of a record with these values of the fields.
    pub(super) fn document<'a>(
        &self,
        [id, text, order, key]: [Cow<'a, str>; 4],
        record: &'a [u8],
    ) -> Result<Document<'a>, Reason> {
        let key = Some(key).filter(|key| !key.is_empty());
        let of = |field: &OrderField| field.key(&order);
        let order = self.order.as_ref().map_or(Ok(OrderKey::NoField), of)?;
        Ok(Document { order, key, ..Document::of(id, Content::Text(text), record) })
    }
}

pub(super) fn parse<'a>(line: &'a str, columns: &Columns) -> Result<Document<'a>, Reason> {
    let mut values = [""; 4];
    let mut count = 0;
    for value in line.split('\t') {
        if let Some(field) = columns.places.iter().position(|place| *place == Some(count)) {
            values[field] = value;
        }
        count += 1;
    }
    columns.check_count(count)?;
    columns.document(values.map(Cow::Borrowed), line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(header: &str) -> Result<Columns> {
        let fields = Fields { order: Some(OrderField::time("time")), ..Fields::default() };
        Columns::find(Some(header.as_bytes()), &fields, Path::new("pages.tsv"))
    }

    #[test]
    fn columns_are_literal() {
        let columns = columns("text\tx\tid\ttime").unwrap();
        let page = parse(" \"a\" \t\t7 \t12", &columns).unwrap();
        assert_eq!((&*page.id, page.order.key()), ("7 ", Some(12)));
        assert_eq!(page.content, Content::Text(" \"a\" ".into()));
        assert_eq!(parse("\t\t7\t", &columns).unwrap().order, OrderKey::Empty);
        let reason = parse("\t\t7\t\r", &columns).unwrap_err().to_string();
        assert_eq!(reason, r#"not a time: "\r""#);
    }

    #[test]
    fn a_line_has_as_many_columns_as_the_header() {
        let columns = columns("id\ttext\ttime").unwrap();
        let reason = |line| parse(line, &columns).unwrap_err().to_string();
        assert_eq!(
            reason("7\ta\tb\t"),
            "the number of columns is not that of the header: 4, not 3"
        );
        assert_eq!(reason("7"), "the number of columns is not that of the header: 1, not 3");
    }

    #[test]
    fn a_header_without_the_fields_is_refused() {
        let error = columns("id\tbody\ttime\r").unwrap_err();
        assert_eq!(error.kind(), Kind::BadData);
        assert_eq!(error.remedy().settings, ["exclude", "text-field"]);
        let message = error.to_string();
        assert!(message.starts_with("pages.tsv:1: the header line lacks a column"), "{message}");
        assert!(message.contains(r#"expected "text", found "id\tbody\ttime\r""#), "{message}");
        assert!(columns("id\ttext\tt").unwrap_err().to_string().contains(r#"expected "time""#));
        assert_eq!(columns("").unwrap_err().kind(), Kind::BadData);
        for twice in ["id\ttext\ttime\tid", "text\tid\ttext\ttime", "id\ttext\ttime\ttime"] {
            let message = columns(twice).unwrap_err().to_string();
            assert!(message.contains("two columns of one name: expected"), "{message}");
        }
        assert!(columns("id\ttext\ttime\tx\tx").is_ok(), "what is not read may have one name");
        let error = Columns::find(None, &Fields::default(), Path::new("x")).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData);
    }
}
