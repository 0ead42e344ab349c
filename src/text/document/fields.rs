//! How the inputs are read, and which fields of their records.

use super::encoding::{TextEncoding, text_in};
use super::html;
use super::order_field::OrderField;
use super::reason::Reason;
use super::record::{Document, check_id};
use crate::error::{Error, Kind, Result, named};

/// The names of the fields to read, and the width of ready-made fingerprints.
///
/// A name is a column of a `tsv` file, a key of a `jsonl` object or a header of a `warc` record. `meta.url`
/// is the key `url` of the object `meta`, or the key `meta.url` itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    pub id: String,
    pub place_ids: PlaceIds,
    pub text: String,
    /// The field by which pages are put in keep order, such as their time; none if none is read.
    pub order: Option<OrderField>,
    /// The field that the keys of pages are made of; none if none is read.
    pub key: Option<String>,
    pub html: bool,
    /// The encoding of files of text without a byte order mark; UTF-8 if none is named.
    pub encoding: Option<TextEncoding>,
    /// Whether the text field of Parquet has vectors: lists of numbers.
    pub vectors: bool,
    pub width_bits: u32,
}

impl Default for Fields {
    fn default() -> Fields {
        let [id, text] = ["id", "text"].map(str::to_owned);
        Fields {
            id,
            place_ids: PlaceIds::Never,
            text,
            order: None,
            key: None,
            html: false,
            encoding: None,
            vectors: false,
            width_bits: 64,
        }
    }
}

impl Fields {
    /// Those of the id, the text, the order and the key.
    pub(super) fn names(&self) -> [Option<&str>; 4] {
        let id = self.place_ids.reads_ids().then_some(&*self.id);
        let order = self.order.as_ref().map(|order| &*order.name);
        [id, Some(&self.text), order, self.key.as_deref()]
    }

    pub(super) fn missing(&self, field: &str, error: Error) -> Error {
        match field {
            _ if field == self.id => error
                .help("name the column of the ids, or take the places of records as ids")
                .settings(["id-field", "place-ids"]),
            _ if field == self.text => error
                .help("if the file holds no pages, leave it out; else name the column of the texts")
                .settings(["exclude", "text-field"]),
            _ if Some(field) == self.key.as_deref() => {
                error.help("name the column of the keys").setting("key field:NAME")
            }
            _ => {
                let is_time = self.order.as_ref().is_some_and(OrderField::is_time);
                let what = if is_time { "of the times" } else { "by which pages are put in order" };
                let flag = if is_time { "time-field" } else { "keep" };
                error.help(format_args!("name the column {what}")).setting(flag)
            }
        }
    }

    /// Checks the id of a record. An empty id says that the record gets its place as the id.
    pub(super) fn check_id(&self, id: &str) -> Result<(), Reason> {
        let is_place = !self.place_ids.reads_ids() || self.place_ids.fill() && id.is_empty();
        if is_place { Ok(()) } else { check_id(id) }
    }

    pub(super) fn utf8<'a>(&self, bytes: &'a [u8]) -> Result<&'a str, Reason> {
        text_in(self.encoding, bytes)
    }

    pub(super) fn page<'a>(&self, document: Document<'a>) -> Result<Document<'a>, Reason> {
        self.check_id(&document.id)?;
        Ok(if self.html { html::as_text(document) } else { document })
    }

    /// Where the fields are, in the order of [`Fields::names`]: `find` has the place of a column. The ids need no column where records get
    /// their places as ids.
    pub(super) fn places<P>(
        &self,
        has: impl Fn(&str) -> bool,
        find: impl Fn(&str) -> Result<P>,
    ) -> Result<[Option<P>; 4]> {
        let [id, text, order, key] = self.names();
        let id = id.filter(|id| !self.place_ids.fill() || has(id));
        let place = |name: Option<&str>| name.map(&find).transpose();
        Ok([place(id)?, place(text)?, place(order)?, place(key)?])
    }

    pub(super) fn check(&self) -> Result<()> {
        let names: Vec<&str> = self.names().into_iter().flatten().collect();
        if names.contains(&"") {
            return Err(Error::new(Kind::Usage, "the name of a field is empty"));
        }
        if (1..names.len()).any(|place| names[..place].contains(&names[place])) {
            let [id, text, order, key] = self.names();
            let found = format!("id {id:?}, text {text:?}, time or order {order:?}, key {key:?}");
            return Err(Error::new(Kind::Usage, "two fields have the same name").found(found));
        }
        Ok(())
    }
}

/// Which records get their places as ids: the path of the file below the input folder, a colon, and the line or the number of
/// the record, such as `news/part-3.jsonl:17`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaceIds {
    Missing,
    /// None: a record without an id cannot be read.
    #[default]
    Never,
    All,
}

named!(pub PlaceIds { Missing = "true", Never = "false", All = "all" } or "no such choice of records");

impl PlaceIds {
    pub(super) fn fill(self) -> bool {
        self != PlaceIds::Never
    }

    pub(super) fn reads_ids(self) -> bool {
        self != PlaceIds::All
    }
}

#[derive(Clone, Debug)]
pub struct ReadOptions {
    pub fields: Fields,
    pub portion_bytes: usize,
    /// The most bytes of one record or file after decompression; a longer one is quarantined.
    pub max_record_bytes: usize,
    /// Accept packed files that end too early or are damaged: read what can be read of them.
    pub accept_truncated: bool,
    /// The memory for what is on its way from object stores, in bytes.
    pub ahead_bytes: usize,
    /// The most memory that unpacking a file may take, in bytes.
    pub window_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            fields: Fields::default(),
            portion_bytes: 1 << 20,
            max_record_bytes: 64 << 20,
            accept_truncated: false,
            ahead_bytes: 32 << 20,
            window_bytes: 512 << 20,
        }
    }
}
