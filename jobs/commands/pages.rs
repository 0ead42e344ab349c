//! Pages read one by one, for commands that need only some of them or keep all they need in memory.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use dupsieve::document::{self, Content, Document, Share};
use dupsieve::fingerprint::Width;
use dupsieve::report::{self, Made, Nearest, Report};
use dupsieve::store::Day;
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commands::places;
use crate::commands::reading::too_many_bad;
use crate::flags::{GlobalFlags, PageSettings};

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
    #[serde(flatten)]
    pub(crate) settings: PageSettings,
}

impl PageSource {
    /// Its key among the inputs in the report.
    pub(crate) const NAME: &str = "pages";

    /// The inputs of each day, read with these settings. They are named so that they can be found from another working
    /// directory.
    pub(crate) fn new(inputs: &[String], settings: &PageSettings) -> PageSource {
        PageSource {
            day: None,
            inputs: inputs.iter().map(|input| places::kept_input(input)).collect(),
            settings: PageSettings { max_bad: None, ..settings.clone() },
        }
    }

    pub(crate) fn of_report(run: &Value) -> Option<PageSource> {
        serde_json::from_value(run["inputs"][PageSource::NAME].clone()).ok()
    }

    /// Where the pages of an output are, and how to read them: in these inputs, in those of the configuration file, or in those that the
    /// report names.
    pub(crate) fn of_output(
        output: &Path,
        inputs: &[String],
        flags: &PageSettings,
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
                .help(
                    "name them with --input, or give the configuration file of `run` with --config",
                ));
        }
        let settings = flags.over(source.settings.clone().or(file.fingerprint.pages));
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
}

/// Calls `each` with the documents of `paths` in order, until it fails. Records that cannot be read are
/// skipped with a warning, unless they are more than --max-bad. A ready-made fingerprint may have any width.
pub(crate) fn each(
    paths: &[PathBuf],
    settings: &PageSettings,
    mut each: impl FnMut(Document<'_>) -> Result<()>,
) -> Result<()> {
    let (inputs, options) = settings.inputs(paths, Width::W128)?;
    let mut outcome = Ok(());
    let (mut records, mut bad, mut first) = (0, 0, None);
    document::read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| {
            records += 1;
            match document {
                Ok(document) if outcome.is_ok() => outcome = each(document),
                Ok(_) => {}
                Err(reason) => {
                    bad += 1;
                    first.get_or_insert_with(|| reason.to_string());
                }
            }
        });
        outcome.is_ok()
    })?;
    outcome?;
    if let Some(first) = first {
        if let Some(most) = settings.max_bad.filter(|most| most.exceeded(bad, records)) {
            return Err(too_many_bad(bad, records, most).found(first));
        }
        tracing::warn!("records that could not be read are left out: {bad}; the first: {first}");
    }
    Ok(())
}

pub(crate) fn each_text(
    paths: &[PathBuf],
    settings: &PageSettings,
    mut take: impl FnMut(&str, &str) -> Result<()>,
) -> Result<()> {
    each(paths, settings, |document| take(&document.id, text_of(&document)?))
}

/// Calls `take` with id and text of the first document of each `wanted` id that is there.
pub(crate) fn find_texts(
    paths: &[PathBuf],
    settings: &PageSettings,
    mut wanted: HashSet<String>,
    mut take: impl FnMut(&str, &str) -> Result<()>,
) -> Result<()> {
    each(paths, settings, |document| match wanted.remove(&*document.id) {
        true => take(&document.id, text_of(&document)?),
        false => Ok(()),
    })
}

fn text_of<'a>(document: &'a Document<'_>) -> Result<&'a str> {
    match &document.content {
        Content::Text(text) => Ok(text),
        _ => Err(no_text(&document.id)),
    }
}

/// Warns of inputs that are missing: the pages of earlier days have often been deleted.
pub(crate) fn warn_if_missing(read: Result<()>) -> Result<()> {
    match read {
        Err(error) if error.kind() == Kind::Missing => {
            tracing::warn!("{error}");
            Ok(())
        }
        read => read,
    }
}

pub(crate) fn no_text(id: &str) -> Error {
    Error::new(Kind::Usage, "the document has no text").found(id)
}
