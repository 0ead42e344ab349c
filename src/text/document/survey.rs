//! Looks at the first records of some files: which fields there are, what they hold, and which of them are
//! likely the id, the text and the time.
//!
//! ```text
//! field     records  bytes each  distinct  times
//! url          2000          61      2000      0    -> the id: a name that is known, never twice in a day
//! fetched      2000          20      1755   2000    -> the time
//! title        2000          43      1801      0
//! body         2000        5120      1990      0    -> the text: the longest
//! ```

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use serde_json::Value as Json;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::csv;
use super::encoding::{Decoded, TextEncoding};
use super::fields::{Fields, PlaceIds, ReadOptions};
use super::format::Format;
use super::inputs::{Input, Inputs};
use super::json_lines::JsonLines;
use super::order_field::OrderField;
#[cfg(feature = "parquet")]
use super::parquet;
use super::record::{MAX_ID_BYTES, check_id};
use super::source::{End, Source};
use super::time;
use super::value::Value;
use crate::error::{Error, Kind, Result};

const MOST_FILES: usize = 8;
const MOST_BYTES: usize = 8 << 20;
const MOST_RECORDS: u64 = 1000;
/// The most rows of Parquet: they are held in memory, a column at a time.
#[cfg(feature = "parquet")]
const MOST_ROWS: u64 = 200;
const MOST_FIELDS: usize = 500;
const DEEPEST: usize = 4;

/// Names of fields that often hold ids, texts and times, the best first, without what stands between their words.
const IDS: &str =
    "id docid documentid pageid recordid uuid guid url uri link warctargeturi key path";
const TEXTS: &str = "text content body rawcontent maintext article html page document contents";
/// Of the words for fetching each is a time by itself or with an ending.
const FETCHED: &str = "fetch crawl warc download retriev scrap captur access visit collect";
const TIME_ENDINGS: &str = "ed at edat time edtime date eddate ts timestamp datetime on edon";
const TIMES: &str = "datedownload timestamp ts time date datetime published publishedat created createdat \
    updated updatedat";

#[derive(Debug, Default)]
pub struct Survey {
    pub records: u64,
    pub fields: BTreeMap<String, FieldSurvey>,
    pub encoding: Option<TextEncoding>,
}

#[derive(Debug, Default)]
pub struct FieldSurvey {
    /// Records in which it is text that is not empty, or a number.
    pub filled: u64,
    ids: u64,
    pub bytes: u64,
    pub times: u64,
    pub markup: u64,
    longest: usize,
    /// The hashes of the values, each with its day.
    distinct: HashSet<u64>,
}

impl FieldSurvey {
    fn add(&mut self, value: &Value<'_>, day: u64) {
        let Some(text) = value.shown().filter(|text| !text.is_empty()) else { return };
        self.filled += 1;
        // A number with a fraction can be a time and no id.
        self.ids += u64::from(!matches!(value, Value::Float(_)) && check_id(&text).is_ok());
        self.bytes += text.len() as u64;
        self.times += u64::from(text.len() < 64 && time::parse(&text).is_ok());
        self.markup += u64::from(text.trim_start().starts_with('<'));
        self.longest = self.longest.max(text.len());
        self.distinct.insert(xxh3_64_with_seed(text.as_bytes(), day));
    }

    pub fn distinct(&self) -> u64 {
        self.distinct.len() as u64
    }

    pub fn mean_bytes(&self) -> u64 {
        self.bytes / self.filled.max(1)
    }
}

impl Survey {
    /// Looks at the first records of some of the files: of pairs of neighbours, which are spread evenly over all. `day_of` has
    /// the day of the pages of a file: in another day a page may come again, so ids are different within a day only.
    pub fn of(inputs: &Inputs, day_of: impl Fn(&Path) -> Option<String>) -> Result<Survey> {
        let mut survey = Survey::default();
        let files: Vec<&Input> =
            inputs.files().iter().filter(|file| file.format().has_fields()).collect();
        let apart = files.len().div_ceil(MOST_FILES / 2).max(1);
        for file in files.chunks(apart).flat_map(|files| files.iter().take(2)) {
            let day = day_of(file.path()).unwrap_or_default();
            survey.file(file, xxh3_64(day.as_bytes()))?;
        }
        Ok(survey)
    }

    fn file(&mut self, input: &Input, day: u64) -> Result<()> {
        if matches!(input.format(), Format::Warc) || input.is_stream() {
            return Ok(());
        }
        let fields = &mut self.fields;
        let mut each = |name: &str, value: &Value<'_>| add(fields, name, value, day);
        #[cfg(feature = "parquet")]
        if input.format() == Format::Parquet {
            self.records += parquet::first_rows(input, MOST_ROWS, &mut each)?;
            return Ok(());
        }
        let read = AtomicU64::new(0);
        let options = ReadOptions { accept_truncated: true, ..ReadOptions::default() };
        let mut source = Source::of(input.open()?, input, &options, &read)?;
        let mut bytes = Vec::new();
        let is_whole = source.fill(&mut bytes, MOST_BYTES)? == Some(End::Whole);
        if !is_whole && input.format() != Format::Json {
            // The last record may go on beyond what was read.
            bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
        }
        self.encoding = self.encoding.or_else(|| TextEncoding::likely(&bytes));
        let mut decoded = Vec::new();
        // Bytes in memory can always be read.
        let _ = Decoded::new(&bytes[..], self.encoding).read_to_end(&mut decoded);
        if input.format() == Format::Json {
            let mut lines = Vec::new();
            // So is JSON of which only the beginning is there.
            let _ = JsonLines::new(&decoded[..]).read_to_end(&mut lines);
            decoded = lines;
        }
        let text = String::from_utf8_lossy(&decoded);
        self.records += match input.format() {
            Format::Tsv => tsv(&text, &mut each),
            Format::Csv => csv(&text, &mut each),
            _ => jsonl(&text, &mut each),
        };
        Ok(())
    }

    /// The fields that are likely the id, the text and the time, and whether the text is HTML. Files without
    /// fields need no names. If no field can be the id, all records get their places as ids.
    pub fn proposal(&self) -> Result<Fields> {
        if self.records == 0 {
            return Ok(Fields::default());
        }
        let most = |field: &&str| self.fields[*field].filled;
        let names = || self.fields.keys().map(String::as_str);
        let known = |names: &str, name: &str| place_in(names, &last_word(name));
        let is_time = |name: &&str| {
            let FieldSurvey { filled, times, .. } = self.fields[*name];
            time_rank(name).is_some() && filled > 0 && times * 1000 >= filled * 995
        };
        let is_id = |name: &&str| {
            let FieldSurvey { filled, ids, longest, .. } = self.fields[*name];
            // A known name may come again more often: some crawls fetch a page twice a day.
            let least = if known(IDS, name).is_some() { 50 } else { 95 };
            ids * 100 >= self.records * 95
                && longest <= MAX_ID_BYTES.min(2048)
                && self.fields[*name].distinct() * 100 >= filled * least
        };
        let is_other = |name: &str| is_time(&name) || known(TEXTS, name).is_some();
        let id = names().filter(is_id).min_by_key(|name| {
            (
                known(IDS, name).unwrap_or(usize::MAX),
                is_other(name),
                self.fields[*name].mean_bytes(),
            )
        });
        // A text or a time may happen to be different in all records, and is no id for that.
        let id = id.filter(|name| !is_other(name));
        let time = names().filter(|name| Some(*name) != id).filter(is_time);
        let time = time.min_by_key(|name| time_rank(name));
        let longest = |name: &&str| {
            let FieldSurvey { bytes, .. } = self.fields[*name];
            // A known name counts as much as four times the bytes.
            bytes * if known(TEXTS, name).is_some() { 4 } else { 1 }
        };
        let others = names().filter(|name| Some(*name) != id && Some(*name) != time);
        let text = others.filter(|name| most(name) * 2 >= self.records).max_by_key(longest);
        let text = text.ok_or_else(|| self.lacks_text())?;
        let FieldSurvey { markup, filled, .. } = self.fields[text];
        Ok(Fields {
            id: id.map_or(Fields::default().id, str::to_owned),
            place_ids: if id.is_none() { PlaceIds::All } else { PlaceIds::Never },
            text: text.to_owned(),
            order: time.map(OrderField::time),
            html: markup * 2 > filled,
            encoding: self.encoding,
            ..Fields::default()
        })
    }

    fn lacks_text(&self) -> Error {
        let names: Vec<&str> = self.fields.keys().map(String::as_str).take(20).collect();
        Error::new(Kind::BadData, "no field can be taken for a part of a page")
            .expected("a text, which most records have")
            .found(format!("{} records with the fields {}", self.records, names.join(", ")))
            .help("look at the files; any field can be named as that of the ids or of the texts")
            .settings(["id-field", "text-field"])
    }
}

fn add(fields: &mut BTreeMap<String, FieldSurvey>, name: &str, value: &Value<'_>, day: u64) {
    if fields.len() < MOST_FIELDS || fields.contains_key(name) {
        fields.entry(name.to_owned()).or_default().add(value, day);
    }
}

type Each<'a> = &'a mut dyn FnMut(&str, &Value<'_>);

fn jsonl(text: &str, each: Each<'_>) -> u64 {
    let mut records = 0;
    let objects = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    for object in objects.filter(Json::is_object).take(MOST_RECORDS as usize) {
        records += 1;
        walk(&object, "", DEEPEST, each);
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

fn tsv(text: &str, each: Each<'_>) -> u64 {
    let lines = text.lines().filter(|line| !line.is_empty());
    table(lines.map(|line| line.split('\t').map(str::to_owned).collect()), each)
}

fn csv(text: &str, each: Each<'_>) -> u64 {
    table(csv::records(text.as_bytes()).filter(|values| !values.is_empty()), each)
}

/// The first row names the columns.
fn table(mut rows: impl Iterator<Item = Vec<String>>, each: Each<'_>) -> u64 {
    let names = rows.next().unwrap_or_default();
    let mut records = 0;
    for values in rows.take(MOST_RECORDS as usize) {
        records += 1;
        names.iter().zip(&values).for_each(|(name, value)| each(name, &Value::Text(value.into())));
    }
    records
}

/// The last part of a name such as `meta.crawlDate`, as the lists of known names have it: `crawldate`.
fn last_word(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn place_in(names: &str, name: &str) -> Option<usize> {
    names.split(' ').position(|known| known == name)
}

/// How well a name fits a time, the best first; none if it does not.
fn time_rank(name: &str) -> Option<usize> {
    let name = last_word(name);
    let is_ending = |ending: &str| place_in(TIME_ENDINGS, ending).is_some();
    let is_fetched = FETCHED.split(' ').any(|word| {
        name.strip_prefix(word).is_some_and(|ending| {
            is_ending(ending) || ending.strip_prefix('e').is_some_and(is_ending)
        })
    });
    if is_fetched { Some(0) } else { Some(1 + place_in(TIMES, &name)?) }
}

#[cfg(test)]
mod tests;
