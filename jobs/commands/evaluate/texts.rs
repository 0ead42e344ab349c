//! The texts of labelled documents, for a sweep.

use std::path::PathBuf;

use dupsieve::rooms::document::Content;
use dupsieve::rooms::evaluate::{Labels, MemoryMeter};
use dupsieve::{Error, Kind, Result};

use crate::commands::pages::{self, no_text};
use crate::flags::settings::PageSettings;

/// The text of each labelled document that the inputs hold, the first of its id.
pub(super) fn read_texts(
    inputs: &[PathBuf],
    settings: &PageSettings,
    labels: &Labels,
    memory: &mut MemoryMeter,
) -> Result<Vec<Option<String>>> {
    let mut texts = vec![None; labels.clusters().len()];
    pages::each(inputs, settings, |document| {
        let Some(number) = labels.document(&document.id) else { return Ok(()) };
        match document.content {
            Content::Text(text) if texts[number as usize].is_none() => {
                memory.take(text.len() as u64, "the labelled documents")?;
                texts[number as usize] = Some(text.into_owned());
                Ok(())
            }
            Content::Text(_) => Ok(()),
            _ => Err(no_text(&document.id)),
        }
    })?;
    let found = texts.iter().flatten().count();
    if found == 0 {
        return Err(Error::new(Kind::BadData, "the inputs have no document that has a label")
            .expected("the ids of the labels")
            .found("no text with such an id")
            .help("check that --id-field and --text-field name the right fields"));
    }
    let absent = texts.len() - found;
    if absent > 0 {
        tracing::warn!("{absent} of {} labelled documents are not in the inputs", texts.len());
    }
    Ok(texts)
}
