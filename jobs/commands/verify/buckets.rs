//! Checks an output of `lsh`: its files against each other, and all of it against what it was made from.

use std::env;
use std::path::PathBuf;

use dupsieve::rooms::fingerprint::PageTime;
use dupsieve::rooms::flow::Processes;
use dupsieve::rooms::lsh::{Confirmation, Deduplicate, SketchedDocument};
use dupsieve::rooms::matches::{KeepOrder, Near, Similarity};
use dupsieve::rooms::report::{Parameters, format, records};
use dupsieve::rooms::runs::SortedRecords;
use dupsieve::rooms::store::Digest;
use dupsieve::{Kind, Result};

use super::join_output::JoinOutput;
use super::segment::verify_segment;
use crate::commands::lsh::{overlap, read_parameter, scheme_of};
use crate::commands::pages::PageSource;
use crate::commands::reading::Pages;
use crate::flags::global::GlobalFlags;
use crate::flags::settings::{ByteSize, PageSettings};
use crate::outcome::summary::Summary;

/// Verifies an output of `lsh`.
pub(super) fn verify(
    output: &JoinOutput<'_>,
    files_only: bool,
    global: &GlobalFlags,
) -> Result<Summary> {
    output.check_counts()?;
    let least: Similarity = output.parameter("similarity")?.parse()?;
    let confirmation: Confirmation = output.parameter("confirm")?.parse()?;
    let spill = env::temp_dir();
    output.audit_of(Near::Similarity(confirmation.least(least)), &spill)?.run(None)?;
    if files_only {
        return Ok(Summary::new());
    }
    let (inputs, pages) = if output.report.parameters.contains_key("batch") {
        of_batch(output, (confirmation, least), global)?
    } else {
        of_documents(output, global)?
    };
    Ok(Summary::new().count("inputs_verified", inputs).count("made_again", pages))
}

/// Makes the output again from its batch and its store. Gives how many inputs were there, and how many pages were judged again.
fn of_batch(
    output: &JoinOutput<'_>,
    (confirmation, least): (Confirmation, Similarity),
    global: &GlobalFlags,
) -> Result<(u64, u64)> {
    let segment = output.input("batch")?.map(|path| verify_segment(&path)).transpose()?;
    let store = output.input("store")?.map(|path| output.verify_store(&path)).transpose()?;
    let store = store.flatten().filter(|read| read.is_whole).map(|read| read.version);
    let inputs = u64::from(segment.is_some()) + u64::from(store.is_some());
    let Some(segment) = output.is_there(segment.as_ref(), store.as_ref()) else {
        return Ok((inputs, 0));
    };
    output.expect("batch", segment.digest().to_string(), segment.path())?;
    output.expect("records", records(&segment.counts()), segment.path())?;
    let mut overlap = overlap(segment.clone(), store, (confirmation, least), global.budget())?;
    let deduplicate = decided(overlap.deduplicate, output)?;
    overlap.deduplicate = deduplicate;
    output.overlap_again(&overlap)?;
    Ok((inputs, segment.rows()))
}

/// Makes the output again from its documents.
fn of_documents(output: &JoinOutput<'_>, global: &GlobalFlags) -> Result<(u64, u64)> {
    let Some((documents, inputs)) = read_again(output, global)? else { return Ok((0, 0)) };
    let scheme = scheme_of(&output.report.parameters)?;
    let deduplicate = decided(Deduplicate::new(scheme, global.budget()), output)?;
    output.deduplicate_again(&deduplicate, documents)?;
    Ok((inputs, output.report.batch.fingerprinted))
}

/// As the output says that it was made.
fn decided(deduplicate: Deduplicate, output: &JoinOutput<'_>) -> Result<Deduplicate> {
    let mut deduplicate = deduplicate;
    deduplicate.keep = KeepOrder::recorded(output.parameter("keep")?)?;
    deduplicate.detail = output.detail()?;
    deduplicate.max_matches = u64::MAX;
    deduplicate.format = format(&output.report.parameters);
    deduplicate.workers = output.workers;
    Ok(deduplicate)
}

/// The documents that the output was made from, read again.
fn read_again(
    output: &JoinOutput<'_>,
    global: &GlobalFlags,
) -> Result<Option<(SortedRecords<SketchedDocument>, u64)>> {
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
    Ok(Some((found.made()?, pages.size().0)))
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
