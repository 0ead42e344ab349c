//! Documents one by one, for the jobs that look at a few or hold all they need in memory.

use std::path::{self, PathBuf};
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::document::{self, Document, Format, Share};
use dupsieve::store::Day;
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::flags::settings::FingerprintSettings;

/// How the documents are read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Pages {
    /// auto, jsonl, text, tsv or features [default: auto]
    #[arg(long, env = "DUPSIEVE_FORMAT")]
    format: Option<Format>,
    /// The field of a record that holds its id, dotted where it lies deeper [default: id]
    #[arg(long, value_name = "FIELD", env = "DUPSIEVE_ID_FIELD")]
    id_field: Option<String>,
    /// The field that holds the text [default: text]
    #[arg(long, value_name = "FIELD", env = "DUPSIEVE_TEXT_FIELD")]
    text_field: Option<String>,
}

impl Pages {
    /// These settings, and where they are silent those of a file.
    pub(crate) fn over(&self, file: FingerprintSettings) -> FingerprintSettings {
        FingerprintSettings {
            format: self.format.or(file.format),
            id_field: self.id_field.clone().or(file.id_field),
            text_field: self.text_field.clone().or(file.text_field),
            ..file
        }
    }
}

/// Where the pages of an output came from, as its report says.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Source {
    /// The day of the batch. The report says it in a place of its own.
    #[serde(skip)]
    pub(crate) day: Option<Day>,
    /// Files, folders and globs; `{date}` stands for the day.
    pub(crate) inputs: Vec<String>,
    format: Option<String>,
    id_field: Option<String>,
    text_field: Option<String>,
}

impl Source {
    /// The name under which it stands among the inputs of a run.
    pub(crate) const NAME: &str = "pages";

    /// The inputs of each day, read by these settings. Paths become absolute, so that they are found from
    /// elsewhere.
    pub(crate) fn new(inputs: &[String], settings: &FingerprintSettings) -> Source {
        let absolute = |input: &String| match path::absolute(input) {
            Ok(path) if input != "-" => path.display().to_string(),
            _ => input.clone(),
        };
        Source {
            day: None,
            inputs: inputs.iter().map(absolute).collect(),
            format: settings.format.map(|format| format.to_string()),
            id_field: settings.id_field.clone(),
            text_field: settings.text_field.clone(),
        }
    }

    /// What the report of an output says of it, given how it was run.
    pub(crate) fn of_report(run: &Value) -> Option<Source> {
        serde_json::from_value(run["inputs"][Source::NAME].clone()).ok()
    }

    /// How the pages are read; where it is silent as the settings of a file say.
    pub(crate) fn settings(&self, file: FingerprintSettings) -> Result<FingerprintSettings> {
        let format = self.format.as_deref().map(str::parse).transpose()?;
        Ok(FingerprintSettings {
            recipe: None,
            check: None,
            format: format.or(file.format),
            id_field: self.id_field.clone().or(file.id_field),
            text_field: self.text_field.clone().or(file.text_field),
            ..file
        })
    }
}

/// Calls `each` with the documents of `paths` in order, until it fails. Records that cannot be read
/// are passed over with a warning.
pub(crate) fn each(
    paths: &[PathBuf],
    settings: &FingerprintSettings,
    mut each: impl FnMut(Document<'_>) -> Result<()>,
) -> Result<()> {
    let (inputs, options) = settings.inputs(paths)?;
    let (mut outcome, mut bad) = (Ok(()), 0_u64);
    document::read(&inputs, Share::WHOLE, &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| match document {
            Ok(document) if outcome.is_ok() => outcome = each(document),
            Ok(_) => {}
            Err(_) => bad += 1,
        });
        outcome.is_ok()
    })?;
    if bad > 0 {
        tracing::warn!("{bad} records could not be read; `dupsieve fingerprint` lists them");
    }
    outcome
}

/// The failure of a document that must have text.
pub(crate) fn no_text(id: &str) -> Error {
    Error::new(Kind::Usage, "the document holds no text").found(id)
}
