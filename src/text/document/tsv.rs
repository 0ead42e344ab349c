//! Parses a line of tab-separated columns. Values are taken literally: no quotes, no trimming.

use std::borrow::Cow;
use std::path::Path;

use super::declared::Declared;
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
    /// None: every record gets its place as the id.
    pub(super) id: Option<usize>,
    pub(super) text: usize,
    pub(super) order: Option<(usize, OrderField)>,
    pub(super) key: Option<usize>,
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
        let is_absent = |field: &str| !names.contains(&field.as_bytes());
        let place_ids = fields.place_ids;
        let has_ids = place_ids.reads_ids() && !(place_ids.fill() && is_absent(&fields.id));
        Ok(Columns {
            id: has_ids.then(|| column(&fields.id)).transpose()?,
            text: column(&fields.text)?,
            order: fields
                .order
                .as_ref()
                .map(|order| Ok((column(&order.name)?, order.clone())))
                .transpose()?,
            key: fields.key.as_deref().map(column).transpose()?,
            count: names.len(),
            header: header.to_vec(),
        })
    }
}

impl Columns {
    pub(super) fn miscounted(&self, count: usize) -> Reason {
        let what = "the number of columns is not that of the header";
        Reason::with(what, format_args!(": {count}, not {}", self.count))
    }
}

pub(super) fn parse<'a>(line: &'a str, columns: &Columns) -> Result<Document<'a>, Reason> {
    let mut id = "";
    let mut text = "";
    let mut value_of_order = "";
    let mut key = "";
    let order_column = columns.order.as_ref().map(|(column, _)| *column);
    let mut count = 0;
    for value in line.split('\t') {
        match count {
            _ if Some(count) == columns.id => id = value,
            _ if count == columns.text => text = value,
            _ if Some(count) == order_column => value_of_order = value,
            _ if Some(count) == columns.key => key = value,
            _ => {}
        }
        count += 1;
    }
    if count != columns.count {
        return Err(columns.miscounted(count));
    }
    let order = match &columns.order {
        Some((_, order)) => order.key(value_of_order)?,
        None => OrderKey::NoField,
    };
    let content = Content::Text(Cow::Borrowed(text));
    let key = Some(Cow::Borrowed(key)).filter(|key| !key.is_empty());
    let declared = Declared::default();
    Ok(Document { id: Cow::Borrowed(id), order, key, content, declared, record: line.as_bytes() })
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
