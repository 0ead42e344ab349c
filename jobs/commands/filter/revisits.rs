//! `dupsieve filter --revisits`: all records of web archives, each payload once. The first reading finds the payloads that come again, by
//! sorting them on disk; the second one copies the records.

use std::path::Path;
use std::sync::atomic::AtomicU64;

use dupsieve::document::{
    self, Format, Holder, Inputs, Original, Payload, Position, ReadOptions, Records, Share, revisit,
};
use dupsieve::error::Named;
use dupsieve::output::{Lock, PackedFile, PackedUnit, STDOUT, parent_of};
use dupsieve::runs::{Record, SortedRecords, Sorter};
use dupsieve::step::{self, Step};
use dupsieve::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

use crate::flags::GlobalFlags;
use crate::outcome::{Progress, Summary, Unit, counted};

/// Payloads in order: those of one digest together, first the revisit records that were there already, then the same bytes together.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Seen {
    digest: u128,
    /// None for a revisit record.
    bytes: Option<u128>,
    position: Position,
    original: Option<Original>,
}

impl Record for Seen {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.original.as_ref().map_or(0, Original::text_bytes)
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Again {
    position: Position,
    original: Original,
}

impl Record for Again {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.original.text_bytes()
    }
}

pub(super) fn copy(
    inputs: &Inputs,
    options: &ReadOptions,
    output: &Path,
    global: &GlobalFlags,
) -> Result<Summary> {
    if let Some(file) = inputs.files().iter().find(|file| file.format() != Format::Warc) {
        return Err(Error::new(Kind::Usage, "revisit records are made of WARC files")
            .at(file.path())
            .found(format_args!("it is read as {}", file.format())));
    }
    if inputs.has_stream() {
        return Err(Error::new(Kind::Usage, "standard input cannot be read a second time")
            .help("write it to a file first"));
    }
    let summary = Summary::new().path("output", output);
    if global.dry_run {
        let files = inputs.files().len() as u64;
        let would = format!("would copy the records of {}", counted(files, "file(s)"));
        return Ok(summary.count("files", files).say(would));
    }
    let lock = (output != Path::new(STDOUT)).then(|| Lock::on_file(output)).transpose()?;
    let folder = match lock {
        Some(_) => parent_of(output).to_path_buf(),
        None => std::env::temp_dir(),
    };
    let mut out = match &lock {
        Some(lock) => PackedFile::locked(PackedUnit::Record, output, lock)?,
        None => PackedFile::create_by(PackedUnit::Record, output)?,
    };
    step::begin(Step::Reading);
    let total = 2 * inputs.bytes();
    let (progress, _shown) = Progress::count("filtering", Unit::Bytes, total, global.quiet);
    // Both sorters are full at the same time while the first one is read.
    let memory = usize::try_from(global.budget().whole() / 4).unwrap_or(usize::MAX);
    let mut again = again(inputs, options, &progress, &folder, memory)?.peekable();
    let (mut copied, mut revisits, mut left_out) = (0, 0, 0);
    each_record(inputs, options, &progress, &mut |position, record| {
        if record.is_empty() {
            left_out += 1;
            return Ok(());
        }
        copied += 1;
        let next = again.next_if(|next| next.as_ref().map_or(true, |it| it.position == position));
        match next.transpose()?.and_then(|again| revisit(record, &again.original)) {
            Some(revisit) => {
                revisits += 1;
                out.record(&revisit)
            }
            None => out.record(record),
        }
    })?;
    inputs.check_unchanged(&[])?;
    if left_out > 0 {
        tracing::warn!(
            "{left_out} records are longer than --max-record or break off; they are left out"
        );
    }
    step::begin(Step::Writing);
    let is_old = out.finish(global.overwrite)?;
    let summary = summary.count("copied", copied).count("revisits", revisits);
    let summary = summary.count("left_out", left_out).say(format!(
        "{} to {}, {revisits} of them as revisit records",
        counted(copied, "record(s) copied"),
        output.named()
    ));
    Ok(if is_old { summary.already_done() } else { summary })
}

/// The responses whose payload came before, in the order of the records. A payload that revisit records of the inputs refer to is kept wherever
/// it stands, because they stay as they are, and a revisit must not refer to a revisit.
fn again(
    inputs: &Inputs,
    options: &ReadOptions,
    progress: &AtomicU64,
    folder: &Path,
    memory: usize,
) -> Result<SortedRecords<Again>> {
    let mut seen = Sorter::new(folder, memory);
    each_record(inputs, options, progress, &mut |position, record| {
        let Some(Payload { digest, holder }) = Payload::of(record) else { return Ok(()) };
        let original = match holder {
            Holder::Revisit => None,
            Holder::Response(original) => Some(original),
        };
        let bytes = original.as_ref().map(|original| original.bytes);
        seen.push(Seen { digest, bytes, position, original })
    })?;
    let mut again = Sorter::new(folder, memory);
    let mut first: Option<(u128, Option<Original>)> = None;
    for seen in seen.sorted()? {
        let Seen { digest, position, original, .. } = seen?;
        match &first {
            Some((of, None)) if *of == digest => {}
            Some((of, Some(first)))
                if *of == digest && original.as_ref().is_some_and(|it| it.bytes == first.bytes) =>
            {
                again.push(Again { position, original: first.clone() })?;
            }
            _ => first = Some((digest, original)),
        }
    }
    again.sorted()
}

/// Calls `each` with every record, in order; with no bytes for one that is not whole.
fn each_record(
    inputs: &Inputs,
    options: &ReadOptions,
    progress: &AtomicU64,
    each: &mut dyn FnMut(Position, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut outcome = Ok(());
    document::read(inputs, &Share::whole(), options, progress, &mut |portion: Records| {
        if let Some(header) = portion.header() {
            outcome = Err(not_warc(header));
        }
        portion.raw(&mut |position, record| {
            if outcome.is_ok() {
                outcome = each(position, record);
            }
        });
        outcome.is_ok()
    })?;
    outcome
}

/// Only ARC files have a header.
fn not_warc(header: &[u8]) -> Error {
    let line = header.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Error::new(Kind::Usage, "ARC has no revisit records")
        .expected("WARC files")
        .found(String::from_utf8_lossy(line).into_owned())
}
