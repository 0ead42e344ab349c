//! The kept pages themselves: the records whose ids are listed, as they came and in their order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::document::{
    self, Batch, Content, Document, Fields, IdList, Inputs, Position, ReadOptions, Share,
};
use dupsieve::fingerprint::Width;
use dupsieve::output::{Lock, is_same_file};
use dupsieve::{Error, Kind, Result};
use serde_json::json;

use crate::commands::pages::Pages;
use crate::flags::common::Common;
use crate::flags::settings::{ByteSize, FingerprintSettings};
use crate::outcome::progress::{Progress, Unit};
use crate::outcome::summary::Summary;
use dupsieve::output::{PackedFile, STDOUT};

/// Copy the listed records of the inputs, such as the pages that were kept
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Files, folders, globs, or - for standard input
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    input: Vec<PathBuf>,
    /// The ids to keep, one a line, such as keep.txt of an output
    #[arg(long, value_name = "FILE")]
    ids: PathBuf,
    /// Where to, - for standard output; a name that ends in .gz or .zst is compressed. Text files
    /// become JSON lines
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    pages: Pages,
    /// The field that held the time, where one was named: a record whose time could not be read was
    /// not judged
    #[arg(long, value_name = "FIELD", env = "DUPSIEVE_TIME_FIELD")]
    time_field: Option<String>,
    /// Take what can be read of compressed files that break off
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[arg(env = "DUPSIEVE_ACCEPT_TRUNCATED")]
    accept_truncated: Option<bool>,
    /// The longest record, such as 64MiB; longer ones are passed over [default: 64MiB]
    #[arg(long, value_name = "SIZE", env = "DUPSIEVE_MAX_RECORD")]
    max_record: Option<ByteSize>,
}

/// Runs `filter`. Of records that share an id the first is copied, as it is the one that was judged.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Summary> {
    let Arguments { input, ids, output, pages, time_field, accept_truncated, max_record } =
        arguments;
    let file = pages.over(common.config()?.fingerprint);
    // The recipe is not asked for: records are copied as they are.
    let max_record = max_record.or(file.max_record);
    let accept_truncated = accept_truncated.or(file.accept_truncated);
    let time_field = time_field.clone().or(file.time_field);
    let settings =
        FingerprintSettings { recipe: None, max_record, accept_truncated, time_field, ..file };
    let (inputs, mut options) = settings.inputs(input)?;
    inputs.check_apart(std::slice::from_ref(output))?;
    if is_same_file(ids, output) {
        return Err(Error::new(Kind::Usage, "the list of ids and the output are one file")
            .at(output)
            .help("choose another output"));
    }
    options.fields.width_bits = Width::W128.bits();
    let wanted = IdList::read(ids, common.budget().whole())?;
    let summary = Summary::new().count("ids", wanted.len() as u64).path("output", output);
    if common.dry_run {
        return Ok(summary.count("files", inputs.files().len() as u64));
    }
    let lock = (output != Path::new(STDOUT)).then(|| Lock::on_file(output)).transpose()?;
    let copied = wanted.len() as u64;
    let out = match &lock {
        Some(lock) => PackedFile::locked(output, lock)?,
        None => PackedFile::create(output)?,
    };
    let stood = copy(&inputs, &options, wanted, out, common)?;
    let summary = summary.count("copied", copied);
    Ok(if stood { summary.already_done() } else { summary })
}

/// Copies what is wanted, all of it or nothing; says whether the copy stood there already.
fn copy(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: IdList,
    out: PackedFile,
    common: &Common,
) -> Result<bool> {
    let progress = Arc::new(AtomicU64::new(0));
    let (total, counter) = (inputs.bytes(), Arc::clone(&progress));
    let _shown = Progress::show("filtering", Unit::Bytes, total, counter, common.quiet);
    let (fields, found) = (&options.fields, vec![false; wanted.len()]);
    let mut copier = Copier { fields, wanted, found, header: None, out };
    let mut outcome = Ok(());
    document::read(inputs, Share::WHOLE, options, &progress, &mut |batch| {
        outcome = copier.batch(&batch);
        outcome.is_ok()
    })?;
    outcome?;
    match copier.found.contains(&false) {
        false => copier.out.finish(common.overwrite),
        true => {
            let missing = copier.found.iter().filter(|found| !**found).count();
            let what = format!("{missing} listed ids were not found in the inputs");
            let error = copier.wanted.missing(&copier.found, &what);
            Err(error.help("give the inputs and the fields that the list was made from"))
        }
    }
}

struct Copier<'a> {
    fields: &'a Fields,
    wanted: IdList,
    /// For each of these whether its record was copied.
    found: Vec<bool>,
    header: Option<Vec<u8>>,
    out: PackedFile,
}

impl Copier<'_> {
    fn batch(&mut self, batch: &Batch) -> Result<()> {
        if let Some(header) = batch.header() {
            self.header(header)?;
        }
        let (fields, mut outcome) = (self.fields, Ok(()));
        batch.parse(fields, &mut |position, document| {
            if let Ok(document) = document
                && outcome.is_ok()
                && self.is_next(&document.id)
            {
                outcome = self.record(position, &document);
            }
        });
        outcome
    }

    /// Whether the record of this id is wanted, and is the first of it.
    fn is_next(&mut self, id: &str) -> bool {
        let place = self.wanted.place(id);
        place.is_some_and(|place| !std::mem::replace(&mut self.found[place], true))
    }

    /// The header of the first file of columns goes before its records; others must be the same.
    fn header(&mut self, header: &[u8]) -> Result<()> {
        match &self.header {
            None => {
                self.header = Some(header.to_vec());
                self.out.line(header)
            }
            Some(first) if first == header => Ok(()),
            Some(first) => {
                let [expected, found] =
                    [first, header].map(|it| String::from_utf8_lossy(it).into_owned());
                Err(Error::new(Kind::Usage, "the inputs have different columns")
                    .expected(expected)
                    .found(found)
                    .help("filter them one by one"))
            }
        }
    }

    fn record(&mut self, position: Position, document: &Document<'_>) -> Result<()> {
        match &document.content {
            Content::Text(text) if position.is_file() => {
                self.out.line(json!({"id": document.id, "text": text}).to_string().as_bytes())
            }
            _ => self.out.line(document.record),
        }
    }
}
