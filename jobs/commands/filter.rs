//! `dupsieve filter`: copies the records whose ids are listed, unchanged and in their order; the kept records of all days
//! (`all_days`); or all records of web archives, each payload once (`revisits`).

mod all_days;
mod copied;
mod copier;
mod copies;
mod cutting;
mod kept;
mod revisits;

use std::path::{Path, PathBuf};

use clap::Args;
use dupsieve::document::{Format, IdList, Inputs, ReadOptions, Tolerance};
use dupsieve::error::Named;
use dupsieve::fingerprint::Width;
use dupsieve::output::{Lock, is_same_file, parent_of};
use dupsieve::output::{PackedFile, Packing, STDOUT};
use dupsieve::report::{Made, Report};
use dupsieve::step::{self, Step};
use dupsieve::{Error, Kind, Result};

use copier::Listed;
pub(crate) use cutting::Cutting;
pub(crate) use kept::Kept;

use crate::commands::{PageSource, examples};
use crate::flags::{
    DryRun, GlobalFlags, Memory, Output, Overwrite, PageSettings, Place, Telemetry, shared,
};
use crate::outcome::{Progress, Summary, Unit, counted};

const EXAMPLES: &str = "
# Copy the pages that were kept
dupsieve filter --input crawl/ --ids found/dedup/keep.txt --output kept.jsonl.gz
# Copy the kept pages of all days of `run`
dupsieve filter --config dupsieve.toml --all --output clean
# Make an archive smaller that still replays whole
dupsieve filter --input crawl/ --revisits --output crawl.warc.gz";

/// What to do where one id stands for pages of several days.
const ALL_DAYS: &str = "an id belongs to a day: `dupsieve filter --config FILE --all` copies the kept pages of all days, each by its day";

/// Copy the records whose ids are listed, as they are
#[derive(Args, Debug)]
#[command(args = shared(&[Memory, DryRun, Overwrite, Telemetry]), after_help = examples(EXAMPLES))]
#[command(mut_arg("max_bad", |flag| flag.hide(true).env(None).value_parser(counts_no_bad)))]
pub(crate) struct Arguments {
    /// Files, folders, globs, addresses (s3://BUCKET/...), or - for standard input
    #[arg(long, value_name = "PATH", required_unless_present = "all", num_args = 1..)]
    input: Vec<PathBuf>,
    /// The ids to copy, one a line, such as keep.txt of an output
    #[arg(long, value_name = "FILE", required_unless_present_any = ["all", "revisits"])]
    ids: Option<Place>,
    /// Copy the kept pages of all days of the file given with --config. As the store shows them now: not those that were removed, that
    /// pages of other days have replaced, or whose days have expired. Into a folder for each day, with a file for each file of the input, of
    /// the same name and format
    #[arg(long, conflicts_with_all = ["input", "ids"])]
    all: bool,
    /// Copy these WARC files with each payload once: a response whose payload is byte for byte that of an earlier response becomes a
    /// revisit record, without the payload, with the name of the record that has it. Players of web archives show both
    #[arg(long, conflicts_with_all = ["ids", "all"])]
    revisits: bool,
    /// Output file, or - for standard output; a name that ends in .gz, .zst, .bz2 or .xz is compressed. Files of text
    /// or HTML become JSON lines. Rows of Parquet are copied into Parquet, with all columns. The records of web archives are copied as they are, each compressed by
    /// itself. With --all a folder
    #[arg(long, value_name = "FILE")]
    output: Output,
    #[command(flatten)]
    pages: PageSettings,
}

/// Bad records were counted when the pages were judged.
fn counts_no_bad(_: &str) -> std::result::Result<Tolerance, &'static str> {
    Err("filter copies the records that are listed, and counts no bad ones")
}

/// Runs `filter`. Of several records with the same id it copies the first, because that one was judged.
pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let output = &*arguments.output.here()?;
    let settings = arguments.settings(global)?;
    match &arguments.ids {
        None if arguments.revisits => {
            let (inputs, options) = settings.inputs(&arguments.input, Width::W128)?;
            check(&inputs, output)?;
            revisits::copy(&inputs, &options, output, global)
        }
        None => all_days::copy(&global.config()?, &settings, output, global),
        Some(ids) => {
            // Records are copied unchanged, so that a ready-made fingerprint may have any width.
            let (inputs, options) = settings.inputs(&arguments.input, Width::W128)?;
            check(&inputs, output)?;
            copy_listed(&ids.here()?, &inputs, &options, output, global)
        }
    }
}

fn check(inputs: &Inputs, output: &Path) -> Result<()> {
    inputs.check_apart(&[output.to_path_buf()])?;
    let format = copied::format(inputs)?;
    copied::check_name(output, format)?;
    if format == Format::Parquet && Packing::named(output).is_some() {
        let what = "Parquet is compressed inside, and nothing reads it compressed once more";
        return Err(Error::new(Kind::Usage, what).at(output).help("name the output .parquet"));
    }
    Ok(())
}

impl Arguments {
    /// How pages are read: as these flags say, else as an output has recorded, else as the configuration file says.
    fn settings(&self, global: &GlobalFlags) -> Result<PageSettings> {
        let ids = self.ids.as_ref().map(Place::here).transpose()?;
        let report = ids.map_or(Ok(None), |ids| Report::read(parent_of(&ids)))?;
        let recorded = report.and_then(|report| PageSource::of_report(&report.run));
        let file = global.config()?.fingerprint.pages;
        Ok(self.pages.clone().or(recorded.unwrap_or_default().settings).or(file))
    }
}

fn copy_listed(
    ids: &Path,
    inputs: &Inputs,
    options: &ReadOptions,
    output: &Path,
    global: &GlobalFlags,
) -> Result<Summary> {
    if is_same_file(ids, output) {
        return Err(Error::new(Kind::Usage, "the list of ids and the output are the same file")
            .at(output)
            .help("choose another output"));
    }
    let wanted = IdList::read(ids, global.budget().whole())?;
    if wanted.repeated() > 0 {
        return Err(Error::new(Kind::Usage, "ids are listed more than once")
            .at(ids)
            .found(format_args!("{} lines with the id of an earlier one", wanted.repeated()))
            .help(ALL_DAYS));
    }
    let summary = Summary::new().count("ids", wanted.len() as u64).path("output", output);
    if global.dry_run {
        let files = inputs.files().len() as u64;
        let would = format!(
            "would copy {} of {}",
            counted(wanted.len() as u64, "record(s)"),
            counted(files, "file(s)")
        );
        return Ok(summary.count("files", files).say(would));
    }
    let lock = (output != Path::new(STDOUT)).then(|| Lock::on_file(output)).transpose()?;
    let copied = wanted.len() as u64;
    let unit = copied::unit(copied::format(inputs)?);
    let out = match &lock {
        Some(lock) => PackedFile::locked(unit, output, lock)?,
        None => PackedFile::create_by(unit, output)?,
    };
    let is_old = copy(inputs, options, wanted, out, global)?;
    let summary = summary.count("copied", copied);
    let summary =
        summary.say(format!("{} to {}", counted(copied, "record(s) copied"), output.named()));
    Ok(if is_old { summary.already_done() } else { summary })
}

/// Copies all wanted records, or fails and writes nothing. Returns whether the same copy existed already.
fn copy(
    inputs: &Inputs,
    options: &ReadOptions,
    wanted: IdList,
    out: PackedFile,
    global: &GlobalFlags,
) -> Result<bool> {
    step::begin(Step::Reading);
    let (progress, _shown) =
        Progress::count("filtering", Unit::Bytes, inputs.bytes(), global.quiet);
    let mut listed = Listed::new(wanted);
    let out = listed.copy(inputs, options, &progress, out)?;
    listed.expect_all()?;
    if listed.again > 0 {
        tracing::warn!(
            "{} records have a listed id that came before, and were not copied; {ALL_DAYS}",
            listed.again
        );
    }
    step::begin(Step::Writing);
    out.finish(global.overwrite)
}
