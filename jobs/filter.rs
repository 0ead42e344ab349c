//! The kept pages themselves: the records whose ids are listed, as they came and in their order.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;
use dupsieve::document::{
    self, Batch, Content, Document, Fields, Inputs, Position, ReadOptions, Share,
};
use dupsieve::error::At;
use dupsieve::fingerprint::Width;
use dupsieve::output::{Lock, are_one};
use dupsieve::{Error, Kind, Result};
use serde_json::json;
use xxhash_rust::xxh3::xxh3_128;

use crate::arguments::Common;
use crate::packed_file::PackedFile;
use crate::pages::Pages;
use crate::progress::{Progress, Unit};
use crate::settings::{ByteSize, FingerprintSettings};
use crate::summary::Summary;

/// Copy the listed records of the inputs, such as the pages that were kept
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Files, folders, globs, or - for standard input
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    input: Vec<PathBuf>,
    /// The ids to keep, one a line, such as keep.txt of an output
    #[arg(long, value_name = "FILE")]
    ids: PathBuf,
    /// Where to; a name that ends in .gz or .zst is compressed. Text files become JSON lines
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
    if are_one(ids, output) {
        return Err(Error::new(Kind::Usage, "the list of ids and the output are one file")
            .at(output)
            .help("choose another output"));
    }
    options.fields.width_bits = Width::W128.bits();
    let wanted = Wanted::read(ids)?;
    let summary = Summary::new().count("ids", wanted.ids.len() as u64).path("output", output);
    if common.dry_run {
        return Ok(summary.count("files", inputs.files().len() as u64));
    }
    let lock = Lock::on_file(output)?;
    let copied = wanted.ids.len() as u64;
    let stood = copy(&inputs, &options, wanted, PackedFile::locked(output, &lock)?, common)?;
    let summary = summary.count("copied", copied);
    Ok(if stood { summary.already_done() } else { summary })
}

/// Ids that are wanted, each by its XXH3-128: 16 to 40 bytes of memory for each, however long it is.
struct Wanted {
    path: PathBuf,
    ids: HashSet<u128>,
}

impl Wanted {
    /// Reads ids by line, in any order.
    fn read(path: &Path) -> Result<Wanted> {
        let mut ids = HashSet::new();
        each_id(path, |id| {
            ids.insert(xxh3_128(id.as_bytes()));
        })?;
        Ok(Wanted { path: path.to_path_buf(), ids })
    }

    /// Whether an id is wanted, and not taken yet.
    fn take(&mut self, id: &str) -> bool {
        self.ids.remove(&xxh3_128(id.as_bytes()))
    }

    /// The smallest id that nobody has taken, read again from the file.
    fn missing(&self) -> Result<Option<String>> {
        let mut smallest: Option<String> = None;
        if !self.ids.is_empty() {
            each_id(&self.path, |id| {
                let is_less = smallest.as_deref().is_none_or(|smallest| id < smallest);
                if is_less && self.ids.contains(&xxh3_128(id.as_bytes())) {
                    smallest = Some(id.to_owned());
                }
            })?;
        }
        Ok(smallest)
    }
}

/// Calls `take` with the ids of a file, one a line.
fn each_id(path: &Path, mut take: impl FnMut(&str)) -> Result<()> {
    for line in BufReader::new(File::open(path).at(path)?).lines() {
        let line = line.at(path)?;
        if !line.is_empty() {
            take(&line);
        }
    }
    Ok(())
}

/// Copies what is wanted, all of it or nothing; says whether the copy stood there already.
fn copy(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: Wanted,
    out: PackedFile,
    common: &Common,
) -> Result<bool> {
    let progress = Arc::new(AtomicU64::new(0));
    let (total, counter) = (inputs.bytes(), Arc::clone(&progress));
    let _shown = Progress::show("filtering", Unit::Bytes, total, counter, common.quiet);
    let mut copier = Copier { fields: &options.fields, wanted, header: None, out };
    let mut outcome = Ok(());
    document::read(inputs, Share::WHOLE, options, &progress, &mut |batch| {
        outcome = copier.batch(&batch);
        outcome.is_ok()
    })?;
    outcome?;
    match copier.wanted.missing()? {
        None => copier.out.finish(common.overwrite),
        Some(id) => Err(Error::new(Kind::BadData, "the inputs lack ids that are listed")
            .found(format!("{} that stand nowhere, such as {id:?}", copier.wanted.ids.len()))
            .help("give the inputs and the fields that the list was made from")),
    }
}

struct Copier<'a> {
    fields: &'a Fields,
    wanted: Wanted,
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
                && self.wanted.take(&document.id)
            {
                outcome = self.record(position, &document);
            }
        });
        outcome
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
