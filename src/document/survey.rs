//! Looks at the first records of some files: which fields there are, what they hold, and which of them are
//! likely the id, the text and the time.
//!
//! ```text
//! field     records  bytes each  distinct  times
//! url          2000          61      2000      0    -> the id: a name that is known, never twice
//! fetched      2000          20      1755   2000    -> the time
//! title        2000          43      1801      0
//! body         2000        5120      1990      0    -> the text: the longest
//! ```

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::AtomicU64;

use xxhash_rust::xxh3::xxh3_64;

use super::fields::Fields;
use super::format::Format;
use super::id::MAX_ID_BYTES;
use super::inputs::{Input, Inputs};
use super::source::{End, Source};
use super::time;
use crate::error::{Error, Kind, Result};

mod values;

/// The most files that are looked at, and of each the most bytes, once unpacked, and the most records.
const MOST_FILES: usize = 8;
const MOST_BYTES: usize = 8 << 20;
const MOST_RECORDS: u64 = 1000;
/// The most rows of Parquet: they are held in memory, a column at a time.
#[cfg(feature = "parquet")]
const MOST_ROWS: usize = 200;
/// The most fields of all files together.
const MOST_FIELDS: usize = 500;

/// Names of fields that often hold ids, texts and times. The first ones are the best.
const IDS: [&str; 14] = [
    "id",
    "doc_id",
    "docid",
    "document_id",
    "page_id",
    "record_id",
    "uuid",
    "guid",
    "_id",
    "url",
    "uri",
    "link",
    "key",
    "path",
];
const TEXTS: [&str; 10] = [
    "text",
    "content",
    "body",
    "raw_content",
    "main_text",
    "article",
    "html",
    "page",
    "document",
    "contents",
];
const TIMES: [&str; 14] = [
    "fetched",
    "fetch_time",
    "crawled",
    "crawl_time",
    "date_download",
    "downloaded",
    "timestamp",
    "time",
    "date",
    "datetime",
    "published",
    "created",
    "created_at",
    "updated",
];

/// What the first records of some files hold.
#[derive(Debug, Default)]
pub struct Survey {
    /// How many records were looked at. Files that are one page, and web archives, have none.
    pub records: u64,
    /// The fields by name; the field `url` of the object `meta` is `meta.url`.
    pub fields: BTreeMap<String, FieldSurvey>,
}

/// What a field holds.
#[derive(Debug, Default)]
pub struct FieldSurvey {
    /// Records in which it is text that is not empty, or a whole number.
    pub filled: u64,
    /// The bytes of these values.
    pub bytes: u64,
    /// How many of them are times.
    pub times: u64,
    /// How many of them begin as HTML does.
    pub markup: u64,
    /// The longest value in bytes.
    longest: usize,
    /// The hashes of the values.
    distinct: HashSet<u64>,
}

impl FieldSurvey {
    fn add(&mut self, value: &str) {
        if value.is_empty() {
            return;
        }
        self.filled += 1;
        self.bytes += value.len() as u64;
        self.times += u64::from(value.len() < 64 && time::parse(value).is_ok());
        self.markup += u64::from(value.trim_start().starts_with('<'));
        self.longest = self.longest.max(value.len());
        self.distinct.insert(xxh3_64(value.as_bytes()));
    }

    /// How many different values there are.
    pub fn distinct(&self) -> u64 {
        self.distinct.len() as u64
    }

    /// The bytes of a value, on average.
    pub fn mean_bytes(&self) -> u64 {
        self.bytes / self.filled.max(1)
    }
}

impl Survey {
    /// Looks at the first records of some of the files, which are spread evenly over all.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn of(inputs: &Inputs) -> Result<Survey> {
        let mut survey = Survey::default();
        let files: Vec<&Input> =
            inputs.files().iter().filter(|file| file.format().has_fields()).collect();
        let step = files.len().div_ceil(MOST_FILES).max(1);
        for file in files.into_iter().step_by(step) {
            survey.file(file)?;
        }
        Ok(survey)
    }

    fn file(&mut self, input: &Input) -> Result<()> {
        if matches!(input.format(), Format::Warc) || input.is_stream() {
            return Ok(());
        }
        #[cfg(feature = "parquet")]
        if input.format() == Format::Parquet {
            self.records += super::parquet::first_rows(input, MOST_ROWS, &mut |name, value| {
                add(&mut self.fields, name, value);
            })?;
            return Ok(());
        }
        let read = AtomicU64::new(0);
        let mut source = Source::open(input, true, &read)?;
        let mut bytes = Vec::new();
        let is_whole = source.fill(&mut bytes, MOST_BYTES)? == Some(End::Whole);
        if !is_whole {
            // The last record may go on beyond what was read.
            bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
        }
        let text = String::from_utf8_lossy(&bytes);
        let fields = &mut self.fields;
        let mut each = |name: &str, value: &str| add(fields, name, value);
        self.records += match input.format() {
            Format::Tsv => values::tsv(&text, MOST_RECORDS, &mut each),
            Format::Csv => values::csv(&text, MOST_RECORDS, &mut each),
            _ => values::jsonl(&text, MOST_RECORDS, &mut each),
        };
        Ok(())
    }

    /// The fields that are likely the id, the text and the time, and whether the text is HTML. Files without
    /// fields need no names.
    ///
    /// # Errors
    /// [`Kind::BadData`] if no field can be the id, or none the text.
    pub fn proposal(&self) -> Result<Fields> {
        if self.records == 0 {
            return Ok(Fields::default());
        }
        let most = |field: &&str| self.fields[*field].filled;
        let names = || self.fields.keys().map(String::as_str);
        let is_id = |name: &&str| {
            let FieldSurvey { filled, longest, .. } = self.fields[*name];
            filled * 100 >= self.records * 95
                && longest <= MAX_ID_BYTES.min(2048)
                && self.fields[*name].distinct() * 100 >= filled * 95
        };
        let known = |names: &[&str], name: &str| {
            let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
            names.iter().position(|known| *known == last).unwrap_or(names.len())
        };
        let id = names()
            .filter(is_id)
            .min_by_key(|name| (known(&IDS, name), self.fields[*name].mean_bytes()))
            .ok_or_else(|| {
                self.lacks("an id, which all records have and which is never the same")
            })?;
        let is_time = |name: &&str| {
            let FieldSurvey { filled, times, .. } = self.fields[*name];
            known(&TIMES, name) < TIMES.len() && filled > 0 && times * 100 >= filled * 95
        };
        let time = names().filter(|name| *name != id).filter(is_time);
        let time = time.min_by_key(|name| known(&TIMES, name));
        let longest = |name: &&str| {
            let FieldSurvey { bytes, .. } = self.fields[*name];
            // A known name counts as much as four times the bytes.
            bytes * if known(&TEXTS, name) < TEXTS.len() { 4 } else { 1 }
        };
        let others = names().filter(|name| *name != id && Some(*name) != time);
        let text = others.filter(|name| most(name) * 2 >= self.records).max_by_key(longest);
        let text = text.ok_or_else(|| self.lacks("a text, which most records have"))?;
        let FieldSurvey { markup, filled, .. } = self.fields[text];
        Ok(Fields {
            id: id.to_owned(),
            text: text.to_owned(),
            time: time.map(str::to_owned),
            html: markup * 2 > filled,
            ..Fields::default()
        })
    }

    fn lacks(&self, what: &str) -> Error {
        let names: Vec<&str> = self.fields.keys().map(String::as_str).take(20).collect();
        Error::new(Kind::BadData, "no field can be taken for a part of a page")
            .expected(what)
            .found(format!("{} records with the fields {}", self.records, names.join(", ")))
            .help("look at the files; --id-field and --text-field of `dupsieve fingerprint` name any field")
    }
}

fn add(fields: &mut BTreeMap<String, FieldSurvey>, name: &str, value: &str) {
    if fields.len() < MOST_FIELDS || fields.contains_key(name) {
        fields.entry(name.to_owned()).or_default().add(value);
    }
}

#[cfg(test)]
mod tests;
