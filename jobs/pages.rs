//! Documents one by one, for the jobs that look at a few or hold all they need in memory.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::document::{self, Document, Fields, Format, Inputs, ReadOptions, Share};
use dupsieve::{Error, Kind, Result};

use crate::settings::FingerprintSettings;

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
    /// Pages of that format.
    pub(crate) fn of(format: Format) -> Pages {
        Pages { format: Some(format), ..Pages::default() }
    }

    /// These settings, and where they are silent those of a file.
    pub(crate) fn over(&self, file: FingerprintSettings) -> FingerprintSettings {
        FingerprintSettings {
            format: self.format.or(file.format),
            id_field: self.id_field.clone().or(file.id_field),
            text_field: self.text_field.clone().or(file.text_field),
            ..file
        }
    }

    /// Calls `each` with the documents of `inputs` in order, until it fails. Records that cannot be
    /// read are passed over with a warning.
    pub(crate) fn each(
        &self,
        inputs: &[PathBuf],
        mut each: impl FnMut(Document<'_>) -> Result<()>,
    ) -> Result<()> {
        let usual = Fields::default();
        let fields = Fields {
            id: self.id_field.clone().unwrap_or(usual.id),
            text: self.text_field.clone().unwrap_or(usual.text),
            ..Fields::default()
        };
        let options = ReadOptions { fields: fields.clone(), ..ReadOptions::default() };
        let inputs = Inputs::find(inputs, self.format.unwrap_or_default())?;
        let (mut outcome, mut bad) = (Ok(()), 0_u64);
        document::read(&inputs, Share::WHOLE, &options, &AtomicU64::new(0), &mut |batch| {
            batch.parse(&fields, &mut |_, document| match document {
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
}

/// The failure of a document that must have text.
pub(crate) fn no_text(id: &str) -> Error {
    Error::new(Kind::Usage, "the document holds no text").found(id)
}
