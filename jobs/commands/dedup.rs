//! `dupsieve dedup`: which pages of the batch are near-duplicates of pages of the store, or of each other?
//!
//! The flags are here. `batch` makes the output of a batch, and `corpus` that of a folder of documents.

mod batch;
mod corpus;

use clap::{ArgGroup, ArgMatches, Args};
use dupsieve::Result;

use crate::commands::{StoreAt, examples, making, places};
use crate::flags::{
    DedupSettings, FormatFlag, GlobalFlags, JOB, Output, Place, flags_of, shared, typed_flag,
};
use crate::outcome::Summary;
use crate::processes::machines;

pub(crate) use batch::{Request, check_settings, dedup, parameters, recipe, stands};
pub(crate) use corpus::{CorpusFlags, run as dedup_corpus};

const EXAMPLES: &str = "
# Copy what is left of a folder of files without its near-duplicates
dupsieve dedup --input corpus/ --output found --kept kept
# The same in a pipe: JSON Lines or a web archive, plain or compressed
dupsieve dedup --input - --kept -
# Find the near-duplicates inside one batch
dupsieve dedup --batch day.seg --output found
# Find near-duplicates of the pages in a store too
dupsieve dedup --batch day.seg --store store --output found
# Drop a page only if a kept page contains 95 % of it
dupsieve dedup --batch day.seg --containment 0.95 --output found
# Of pages that contain each other, keep the one with the best score
dupsieve dedup --batch day.seg --keep score:max --output found
# Write verdicts and matches for DuckDB, pandas or Polars
dupsieve dedup --batch day.seg --output-format parquet --output found";

/// Drop the near-duplicates of a corpus, or of new pages against a store
#[derive(Args, Debug)]
#[command(args = shared(JOB), after_help = examples(EXAMPLES))]
#[command(group = ArgGroup::new("documents").required(true))]
pub(crate) struct Arguments {
    /// A segment of new pages, as `dupsieve fingerprint` writes it
    #[arg(long, value_name = "FILE.seg", group = "documents")]
    batch: Option<Place>,
    /// The store of earlier pages. Without it, the batch is compared with itself alone
    #[arg(long, value_name = "DIR")]
    store: Option<Place>,
    /// The version of the store to compare with [default: the current one]
    #[arg(long, value_name = "VERSION", requires = "store")]
    as_of: Option<u64>,
    /// Output folder; with --input it has the fingerprints as batch.seg and the results in its folder dedup. Without it,
    /// only --kept is written
    #[arg(long, value_name = "DIR", required_unless_present = "kept")]
    output: Option<Output>,
    #[command(flatten)]
    format: FormatFlag,
    #[command(flatten)]
    settings: DedupSettings,
    #[command(flatten, next_help_heading = "A corpus, in place of --batch")]
    corpus: corpus::CorpusFlags,
}

/// What says that a typed flag has no effect: one of a corpus, with a batch in its place.
pub(crate) fn typed_in_vain(typed: &ArgMatches) -> Option<String> {
    let of_corpus = flags_of::<corpus::CorpusFlags>();
    let flag = typed_flag(typed, of_corpus).filter(|_| typed.contains_id("batch"))?;
    Some(format!("{flag} has no effect with --batch"))
}

pub(crate) fn run(arguments: &Arguments, global: &GlobalFlags) -> Result<Summary> {
    let Arguments { batch, store, as_of, output, format, settings, corpus } = arguments;
    let file = global.config()?;
    let store = match store {
        Some(store) => StoreAt::Version(store.here()?, *as_of),
        None => StoreAt::NoStore,
    };
    let request = Request {
        batch: batch.as_ref().map(Place::here).transpose()?.unwrap_or_default(),
        store,
        output: output.as_ref().map(Output::here).transpose()?.unwrap_or_default(),
        format: format.or(&file.output),
        settings: settings.clone().or(file.dedup),
        ..Request::default()
    };
    let typed = format!("{arguments:?} {:?} {}", request.settings, request.format);
    if batch.is_none() {
        return corpus::run((corpus, &typed), request, file.fingerprint, global);
    }
    let mut processes = machines::join(global, &typed)?;
    let summary = dedup(&mut processes, &request, global)?;
    places::publish_job(&mut processes, global)?;
    if !processes.is_leader() || global.dry_run {
        return Ok(summary);
    }
    Ok(making::say_verdicts(summary, &request.output, request.format))
}
