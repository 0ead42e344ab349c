//! Pages read one by one, for commands that need only some of them or keep all they need in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::rooms::document::{self, Document, Format, PlaceIds, Share, TextEncoding};
use dupsieve::rooms::fingerprint::Width;
use dupsieve::rooms::report::{self, Made, Nearest, Report};
use dupsieve::rooms::store::Day;
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commands::places;
use crate::flags::global::GlobalFlags;
use crate::flags::settings::{ByteSize, PageSettings};

/// The flags that say how to read pages.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PageFlags {
    /// File format: auto, jsonl, json, text, lines, html, tsv, csv, warc, features or fingerprints [default: auto]
    #[arg(long, env = "DUPSIEVE_FORMAT")]
    format: Option<Format>,
    /// Field with the id of a record; a nested field is written a.b [default: id]
    #[arg(long, value_name = "FIELD", env = "DUPSIEVE_ID_FIELD")]
    id_field: Option<String>,
    /// A record without an id (true) or each record (all) has its place as the id, as `fingerprint --place-ids` gave it
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "true|false|all")]
    #[arg(env = "DUPSIEVE_PLACE_IDS")]
    place_ids: Option<PlaceIds>,
    /// Field with the text [default: text]
    #[arg(long, value_name = "FIELD", env = "DUPSIEVE_TEXT_FIELD")]
    text_field: Option<String>,
    /// The text field holds HTML: take the text of it
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[arg(env = "DUPSIEVE_HTML")]
    html: Option<bool>,
    /// Encoding of files of text, such as gbk, big5 or windows-1252 [default: utf-8]
    #[arg(long, value_name = "NAME", env = "DUPSIEVE_ENCODING")]
    encoding: Option<TextEncoding>,
}

impl PageFlags {
    /// These settings; those that are not set are taken from `file`.
    pub(crate) fn over(&self, file: PageSettings) -> PageSettings {
        PageSettings {
            format: self.format.or(file.format),
            id_field: self.id_field.clone().or(file.id_field),
            place_ids: self.place_ids.or(file.place_ids),
            text_field: self.text_field.clone().or(file.text_field),
            html: self.html.or(file.html),
            encoding: self.encoding.or(file.encoding),
            ..file
        }
    }
}

/// Whether an input can be read only once.
pub(crate) fn is_stream(path: &Path) -> bool {
    let found = fs::metadata(path).ok();
    path == Path::new("-") || found.is_some_and(|found| !found.is_file() && !found.is_dir())
}

/// Where the pages of an output are, as its report records it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct PageSource {
    /// The day of the batch. The report has it elsewhere.
    #[serde(skip)]
    pub(crate) day: Option<Day>,
    /// Files, folders and globs; `{date}` is replaced by the day.
    pub(crate) inputs: Vec<String>,
    format: Option<String>,
    id_field: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place_ids: Option<String>,
    text_field: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_field: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    html: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_record: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accept_truncated: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exclude: Option<Vec<String>>,
}

impl PageSource {
    /// Its key among the inputs in the report.
    pub(crate) const NAME: &str = "pages";

    /// The inputs of each day, read with these settings. They are named so that they can be found from another working
    /// directory.
    pub(crate) fn new(inputs: &[String], settings: &PageSettings) -> PageSource {
        PageSource {
            day: None,
            inputs: inputs.iter().map(|input| places::named_input(input)).collect(),
            format: settings.format.map(|format| format.to_string()),
            id_field: settings.id_field.clone(),
            place_ids: settings.place_ids.map(|ids| ids.to_string()),
            text_field: settings.text_field.clone(),
            time_field: settings.time_field.clone(),
            html: settings.html,
            encoding: settings.encoding.map(|encoding| encoding.to_string()),
            max_record: settings.max_record.map(|ByteSize(bytes)| bytes),
            accept_truncated: settings.accept_truncated,
            exclude: settings.exclude.clone(),
        }
    }

    /// The pages of a batch of this day.
    pub(crate) fn of_day(self, day: Option<Day>) -> PageSource {
        PageSource { day, ..self }
    }

    pub(crate) fn of_report(run: &Value) -> Option<PageSource> {
        serde_json::from_value(run["inputs"][PageSource::NAME].clone()).ok()
    }

    /// Where the pages of an output are, and how to read them: from these inputs, which a flag names, from the configuration file, or
    /// from the report.
    pub(crate) fn of_output(
        output: &Path,
        (inputs, flag): (&[String], &str),
        flags: &PageFlags,
        global: &GlobalFlags,
    ) -> Result<(PageSource, PageSettings)> {
        let output = report::folder(output);
        let report = Report::read(&output)?;
        let recorded = report.as_ref().and_then(|report| PageSource::of_report(&report.run));
        let file = global.config()?;
        let mut source = recorded.unwrap_or_default();
        source.day = report.and_then(|report| report.day);
        for inputs in [&file.inputs[..], inputs] {
            if !inputs.is_empty() {
                source.inputs = inputs.to_vec();
            }
        }
        if source.inputs.is_empty() {
            return Err(Error::new(Kind::Usage, "the report does not name the inputs")
                .at(&output)
                .help(format!(
                    "name them with {flag}, or give the configuration file of `run` with --config"
                )));
        }
        let settings = flags.over(source.settings(file.fingerprint.pages)?);
        Ok((source, settings))
    }

    /// The inputs that hold a page of the batch, or the page that it is near.
    pub(crate) fn inputs_of(&self, existing: Option<&Nearest>) -> Result<Vec<PathBuf>> {
        let held: Option<Day> = existing.and_then(|existing| existing.against.parse().ok());
        let expand = |input: &String| match held.or(self.day) {
            Some(day) => Ok(PathBuf::from(day.expand(input))),
            None if input.contains('{') => {
                Err(Error::new(Kind::Usage, "the report does not name the day of the batch")
                    .found(input)
                    .help("name the inputs without {date}"))
            }
            None => Ok(PathBuf::from(input)),
        };
        self.inputs.iter().map(expand).collect()
    }

    /// How to read the pages; what the report does not say is taken from `file`.
    pub(crate) fn settings(&self, file: PageSettings) -> Result<PageSettings> {
        let format = self.format.as_deref().map(str::parse).transpose()?;
        let place_ids = self.place_ids.as_deref().map(str::parse).transpose()?;
        let encoding = self.encoding.as_deref().map(str::parse).transpose()?;
        Ok(PageSettings {
            format: format.or(file.format),
            id_field: self.id_field.clone().or(file.id_field),
            place_ids: place_ids.or(file.place_ids),
            text_field: self.text_field.clone().or(file.text_field),
            time_field: self.time_field.clone().or(file.time_field),
            html: self.html.or(file.html),
            encoding: encoding.or(file.encoding),
            max_record: self.max_record.map(ByteSize).or(file.max_record),
            accept_truncated: self.accept_truncated.or(file.accept_truncated),
            exclude: self.exclude.clone().or(file.exclude),
            ..file
        })
    }
}

/// Calls `each` with the documents of `paths` in order, until it fails. Records that cannot be read are
/// skipped with a warning. A ready-made fingerprint may have any width.
pub(crate) fn each(
    paths: &[PathBuf],
    settings: &PageSettings,
    mut each: impl FnMut(Document<'_>) -> Result<()>,
) -> Result<()> {
    let (inputs, options) = settings.inputs(paths, Width::W128)?;
    let mut outcome = Ok(());
    let (mut bad, mut first) = (0_u64, None);
    document::read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| match document {
            Ok(document) if outcome.is_ok() => outcome = each(document),
            Ok(_) => {}
            Err(reason) => {
                bad += 1;
                first.get_or_insert_with(|| reason.to_string());
            }
        });
        outcome.is_ok()
    })?;
    if let Some(first) = first {
        tracing::warn!("records that could not be read are left out: {bad}; the first: {first}");
    }
    outcome
}

pub(crate) fn no_text(id: &str) -> Error {
    Error::new(Kind::Usage, "the document has no text").found(id)
}
