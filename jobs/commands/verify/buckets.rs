//! Checks an output of `lsh`: its files against each other, and its matches and verdicts against a segment with bands and
//! the store, or against the documents.

use std::env;
use std::path::PathBuf;

use dupsieve::rooms::fingerprint::PageTime;
use dupsieve::rooms::flow::Processes;
use dupsieve::rooms::lsh::{
    ByBuckets, Comparison, Confirmation, SketchedDocument, kept_bands, kept_comparison,
    kept_documents,
};
use dupsieve::rooms::matches::{KeepOrder, Near, Recomputed, Similarity};
use dupsieve::rooms::report::{Parameters, records};
use dupsieve::rooms::runs::SortedRecords;
use dupsieve::rooms::store::{Digest, Segment, Version};
use dupsieve::{Kind, Result};

use super::join_output::JoinOutput;
use super::segment::verify_segment;
use crate::commands::lsh::{read_parameter, scheme_of};
use crate::commands::pages::PageSource;
use crate::commands::reading::Pages;
use crate::flags::global::GlobalFlags;
use crate::flags::settings::{ByteSize, PageSettings};
use crate::outcome::summary::Summary;

/// What an output was made from, as far as it is still there.
struct Inputs {
    documents: SortedRecords<SketchedDocument>,
    comparison: Comparison,
    store: Option<Version>,
    /// Whether nothing is missing.
    is_whole: bool,
    /// How many there are.
    count: u64,
}

/// Verifies an output of `lsh`.
pub(super) fn verify(
    output: &JoinOutput<'_>,
    sample: (u64, u64),
    global: &GlobalFlags,
) -> Result<Summary> {
    output.check_counts()?;
    let least: Similarity = output.parameter("similarity")?.parse()?;
    let confirmation: Confirmation = output.parameter("confirm")?.parse()?;
    let inputs = if output.report.parameters.contains_key("batch") {
        kept(output, (confirmation, least), global)?
    } else {
        read_again(output, global)?
    };
    let spill = env::temp_dir();
    let audit = output.audit_of(Near::Similarity(confirmation.least(least)), &spill)?;
    let mut recomputed = Recomputed::default();
    let mut count = 0;
    match inputs {
        None => audit.run(None)?,
        Some(inputs) => {
            count = inputs.count;
            let keep = KeepOrder::recorded(output.parameter("keep")?)?;
            let Inputs { documents, comparison, store, is_whole, .. } = inputs;
            let (by, judged) =
                ByBuckets::load(documents, comparison, keep, &spill, output.memory_bytes)?;
            audit.run(Some(judged))?;
            let dated = match &store {
                Some(version) => version.dated()?,
                None => Vec::new(),
            };
            let of = output.recompute_of(&dated, sample, &spill)?;
            if is_whole {
                recomputed = by.recompute(&of)?;
                output.say_sampled(&recomputed);
            } else {
                by.check_copies(&of)?;
            }
        }
    }
    Ok(Summary::new()
        .count("inputs_verified", count)
        .count("rows_recomputed", recomputed.rows)
        .count("recomputed", recomputed.pages))
}

/// The documents of the segment that the output was made from, and its store.
fn kept(
    output: &JoinOutput<'_>,
    (confirmation, least): (Confirmation, Similarity),
    global: &GlobalFlags,
) -> Result<Option<Inputs>> {
    let batch = output.input("batch")?.map(|path| verify_segment(&path)).transpose()?;
    let store =
        output.input("store")?.map(|path| output.verify_store(&path)).transpose()?.flatten();
    let is_whole = output.is_there(batch.as_ref(), store.as_ref()).is_some();
    let Some(batch) = &batch else { return Ok(None) };
    check_batch(output, batch)?;
    kept_bands(batch.stamp())?;
    let comparison = kept_comparison(confirmation, least, batch.stamp())?;
    let memory_bytes = global.budget().documents();
    let documents = kept_documents(batch, &comparison, &env::temp_dir(), memory_bytes)?;
    let count = 1 + u64::from(store.is_some());
    Ok(Some(Inputs { documents, comparison, store, is_whole, count }))
}

/// Fails unless this is the segment that the output was made from.
fn check_batch(output: &JoinOutput<'_>, batch: &Segment) -> Result<()> {
    output.expect("batch", batch.digest().to_string(), batch.path())?;
    output.expect("records", records(&batch.counts()), batch.path())
}

/// The documents that the output was made from, read again.
fn read_again(output: &JoinOutput<'_>, global: &GlobalFlags) -> Result<Option<Inputs>> {
    let parameters = &output.report.parameters;
    let source = PageSource::of_report(&output.report.run);
    let (Some(source), true) = (source, parameters.contains_key("inputs")) else {
        output.say_gone("stream");
        return Ok(None);
    };
    let settings = settings(&source, parameters)?;
    let paths: Vec<PathBuf> = source.inputs.iter().map(PathBuf::from).collect();
    let scheme = scheme_of(parameters)?;
    let there = settings.inputs(&paths, scheme.width).and_then(|(inputs, _)| {
        let contents = inputs.contents()?;
        Ok(contents.map(|contents| Digest(inputs.digest(&contents)).to_string()))
    });
    let digest = match there {
        Ok(digest) => digest,
        Err(error) if error.kind() == Kind::Missing => None,
        Err(error) => return Err(error),
    };
    if digest.as_ref() != parameters.get("inputs") {
        output.say_gone("input, or what was in it,");
        return Ok(None);
    }
    // Spilled runs go beside this path, which nothing is written to.
    let beside = env::temp_dir().join("documents");
    let pages = Pages::find(&paths, &beside, &settings, scheme.width, 1)?;
    let mut processes = Processes::alone(output.workers);
    let found = pages.read(&mut processes, global, "sketching", |documents, processes| {
        documents.sketch(processes, &scheme, PageTime::default())
    })?;
    let count = pages.size().0;
    let comparison = scheme.comparison();
    Ok(Some(Inputs { documents: found.made()?, comparison, store: None, is_whole: true, count }))
}
/// How the documents were read.
fn settings(source: &PageSource, parameters: &Parameters) -> Result<PageSettings> {
    let settings = source.settings(PageSettings::default())?;
    let time_field = parameters.get("time_field").filter(|field| !field.is_empty());
    let max_record = read_parameter(parameters, "max_record_bytes", str::parse)?;
    let accept_truncated = read_parameter(parameters, "accept_truncated", str::parse)?;
    Ok(PageSettings {
        time_field: time_field.cloned(),
        max_record: Some(ByteSize(max_record)),
        accept_truncated: Some(accept_truncated),
        ..settings
    })
}
